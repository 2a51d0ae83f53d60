//! The guard's own paths and processes, which the agent must not touch.
//!
//! Reading them, copying them elsewhere and listing them is fine: only what changes the guard counts.

mod naming;
mod settings;

use naming::finds;
pub(crate) use settings::leaves_hooks;

use std::rc::Rc;

use crate::effect::{Certainty, Depth, Effect, EffectKind, Severity, Stake, Target};
use crate::interpreter::guarded::PARENT;
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::stake::PathPattern;
use crate::world::{Entry, GuardedPath, Listing, World};

/// The name of the guard as a program, a service and a package.
const NAME: &str = "checkrein";
/// The program that the client starts for each call, with its command line.
const HOOK: &str = "checkrein-hook claude";

/// What is said of what an archive brings.
pub(crate) const OF_ARCHIVE: &str = "what the archive holds";
/// The same, of a patch.
pub(crate) const OF_PATCH: &str = "what the patch changes";
/// What is said besides when what comes may lie elsewhere than below the directory, or is made by another program.
pub(crate) const UNBOUND: &str = "in a way of its own";
/// What is said of what a copied tree brings.
pub(crate) const OF_TREE: &str = "what the other tree holds";
/// Whether an effect touches a path of the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Touch {
    /// Not as far as is known.
    Not,
    /// It may: what it brings is not known.
    Perhaps,
    /// It does.
    Surely,
}

/// Adds an effect of kind [`EffectKind::GuardTampering`] for every effect that changes what the guard needs: its paths, the
/// directories that hold them, its processes and services. Adds at most one for each guarded path or process. What only may reach
/// the guard, because nobody can say what it brings, is not critical: it is asked about.
pub(crate) fn mark(effects: &mut Vec<Effect>, world: &dyn World) {
    let mut found: Vec<Effect> = Vec::new();
    let changes = effects.iter().any(|effect| sweep(effect) != Sweep::None);
    let guarded = if changes { world.guarded() } else { Rc::default() };
    for effect in effects.iter().filter(|effect| effect.kind != EffectKind::GuardTampering) {
        for guarded in guarded.iter() {
            let touch = touches(effect, guarded, world);
            if touch != Touch::Not {
                add(&mut found, effect, Target::Path(guarded.path.clone()), &guarded.role, touch);
            }
        }
        let stopped = stops_guard(effect);
        if stopped != Touch::Not {
            add(&mut found, effect, effect.target.clone(), "the guard itself", stopped);
        }
    }
    effects.extend(found);
}

fn add(found: &mut Vec<Effect>, effect: &Effect, target: Target, role: &str, touch: Touch) {
    let (certainty, severity, note) = match touch {
        Touch::Surely => (effect.certainty, Severity::Critical, format!("changes {role}")),
        Touch::Not | Touch::Perhaps => (
            Certainty::Possible,
            Severity::High,
            format!("may change {role}: which files come there, or are written there, is not known"),
        ),
    };
    if let Some(known) = found.iter_mut().find(|known| known.target == target) {
        known.certainty = known.certainty.max(certainty);
        if severity > known.severity {
            (known.severity, known.note, known.cause) = (severity, note, effect.cause.clone());
        }
        return;
    }
    found.push(Effect {
        certainty,
        stake: Stake::Critical,
        severity,
        reversible: false,
        cause: effect.cause.clone(),
        note,
        ..Effect::new(EffectKind::GuardTampering, target)
    });
}

/// How far below its target an effect is taken to change things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sweep {
    /// Every path below goes.
    All,
    /// What is written below is some of it; a program that may write anywhere in a tree is not taken to write everywhere.
    Some,
    /// It changes no files.
    None,
}

fn sweep(effect: &Effect) -> Sweep {
    match effect.kind {
        // What git takes away it knows by name.
        EffectKind::FileDelete
            if matches!(effect.nature, Nature::KeptByVersionControl | Nature::WrittenByVersionControl) =>
        {
            Sweep::None
        }
        EffectKind::FileDelete => Sweep::All,
        EffectKind::PermissionChange
        | EffectKind::FileCreate
        | EffectKind::FileModify
        | EffectKind::Persistence
        | EffectKind::SystemModification
        | EffectKind::DatastoreChange
        | EffectKind::DatastoreDestroy
        | EffectKind::VcsLocalLoss => Sweep::Some,
        EffectKind::FileRead
        | EffectKind::SecretRead
        | EffectKind::NetworkRequest
        | EffectKind::DataUpload
        | EffectKind::RemoteCodeExecution
        | EffectKind::PackageInstall
        | EffectKind::ProcessSpawn
        | EffectKind::ProcessKill
        | EffectKind::PrivilegeEscalation
        | EffectKind::VcsHistoryRewrite
        | EffectKind::VcsRemoteUpdate
        | EffectKind::InfrastructureChange
        | EffectKind::InfrastructureDestroy
        | EffectKind::Publish
        | EffectKind::GuardTampering
        | EffectKind::Opaque => Sweep::None,
    }
}

fn touches(effect: &Effect, guarded: &GuardedPath, world: &dyn World) -> Touch {
    let sweep = sweep(effect);
    if sweep == Sweep::None {
        return Touch::Not;
    }
    // A sweep over a directory finds what is there; a file of the guard that does not exist is not lost by it.
    let is_there = || !matches!(world.entry(&guarded.path), Entry::Missing);
    // A search looked at what stands in the work tree, and chose none of it.
    if effect.nature == Nature::NothingFits && guarded.path.is_within(&world.place().workspace) && is_there()
    {
        return Touch::Not;
    }
    // What shuts out of a project takes no policy and no settings away where there are none.
    let can_be_shut_out = || !guarded.path.is_within(&world.place().workspace) || is_there();
    let surely = |does: bool| if does { Touch::Surely } else { Touch::Not };
    match &effect.target {
        Target::Path(path) if path.is_within(&guarded.path) => Touch::Surely,
        Target::Path(path) if guarded.path.is_within(path) => {
            let shuts_out = effect.kind == EffectKind::PermissionChange
                && effect.nature == Nature::TakesRights
                && can_be_shut_out();
            let reaches =
                reaches_down(effect, sweep, guarded, world) || opens_folder(effect, path, guarded, world);
            if shuts_out || reaches && is_there() {
                Touch::Surely
            } else if effect.depth == Depth::Recursive {
                brought_over(effect, guarded, world)
            } else {
                Touch::Not
            }
        }
        Target::Path(path) => {
            surely(effect.kind != EffectKind::FileDelete && is_second_name(path, &guarded.path, world))
        }
        Target::Glob(text) => PathPattern::new(text).map_or(Touch::Not, |pattern| {
            let certain = effect.certainty == Certainty::Certain;
            let sweeps = if text.contains("**") {
                // What is unpacked or formatted somewhere below a directory is some of the files there, not each of them; so is
                // what a walk finds whose conditions say nothing about names.
                sweep == Sweep::All && (certain || !pattern.names_everything())
            } else {
                sweep == Sweep::All || certain
            };
            // Rights of a directory that are taken shut out what is below it; a walk changes those of files.
            let shuts_out = effect.kind == EffectKind::PermissionChange
                && effect.nature == Nature::TakesRights
                && !text.contains("**")
                && can_be_shut_out()
                && ancestors(&guarded.path).any(|above| pattern.matches(&above));
            let touched = pattern.base.is_within(&guarded.path)
                || shuts_out
                || (sweeps && pattern.matches(&guarded.path) && is_there())
                || ((sweep == Sweep::All || certain) && reaches_below(text, &guarded.path) && is_there())
                || (reaches_down(effect, sweep, guarded, world)
                    && ancestors(&guarded.path).any(|above| pattern.matches(&above))
                    && is_there());
            if !touched && text.contains("**") {
                let reaches = pattern.matches(&guarded.path);
                if reaches && text.ends_with("/**") && brought_over(effect, guarded, world) == Touch::Perhaps
                    || (reaches || means_below(&pattern, guarded, world))
                        && found_by_walk(effect, guarded, world)
                {
                    return Touch::Perhaps;
                }
            }
            surely(touched)
        }),
        Target::Host(_)
        | Target::Process(_)
        | Target::Service(_)
        | Target::Reference(_)
        | Target::Unknown => Touch::Not,
    }
}

/// Whether a pattern names something below a path: its first parts, without a walk among them, name the path itself.
fn reaches_below(pattern: &str, path: &AbsolutePath) -> bool {
    let depth = path.as_str().split('/').count();
    let parts: Vec<&str> = pattern.split('/').collect();
    let first = parts.get(..depth).filter(|first| parts.len() > depth && !first.contains(&"**"));
    first.is_some_and(|first| {
        PathPattern::new(&first.join("/"))
            .is_some_and(|pattern| !pattern.names_everything() && pattern.matches(path))
    })
}

/// How deep a directory of the guard is looked through for another name of a file (ours): its folder of sessions holds folders of files.
const LOOKED_THROUGH: usize = 2;

/// Whether a file is also a file of the guard, by another name. Few files have two, so that directories are looked through seldom.
fn is_second_name(path: &AbsolutePath, guarded: &AbsolutePath, world: &dyn World) -> bool {
    fn is_below(path: &AbsolutePath, directory: &AbsolutePath, world: &dyn World, left: usize) -> bool {
        let Listing::Names(names) = world.children(directory) else { return false };
        names.iter().map(|name| directory.join(name)).any(|child| match world.entry(&child) {
            Entry::File(_) => world.is_same_file(path, &child),
            Entry::Directory => left.checked_sub(1).is_some_and(|left| is_below(path, &child, world, left)),
            Entry::Symlink(_) | Entry::Special | Entry::Missing | Entry::Unknown => false,
        })
    }
    world.is_same_file(path, guarded)
        || world.is_same_file(path, path)
            && world.entry(guarded) == Entry::Directory
            && is_below(path, guarded, world, LOOKED_THROUGH)
}

/// Whether something is brought over a directory above a path of the guard, and nobody knows what it holds. In the workspace, where
/// programs make files all day, that is so of what is known to come from elsewhere, and only where there is something to replace.
fn brought_over(effect: &Effect, guarded: &GuardedPath, world: &dyn World) -> Touch {
    if effect.kind != EffectKind::FileCreate
        || matches!(effect.nature, Nature::BroughtWithoutGuard | Nature::ArchiveWithoutGuard)
    {
        return Touch::Not;
    }
    let place = world.place();
    let is_work = guarded.path.is_within(&place.workspace);
    // In the very folder of a file of the guard, what comes under names that nobody knows may be that file.
    let folder = guarded.path.parent().filter(|folder| ![&place.workspace, &place.home].contains(&folder));
    if folder.is_some() && effect.target.path() == folder.as_ref() {
        return Touch::Perhaps;
    }
    let is_there = || !matches!(world.entry(&guarded.path), Entry::Missing);
    let comes_from_elsewhere = matches!(effect.nature, Nature::BroughtUnread | Nature::ArchiveUnread);
    if !is_work || comes_from_elsewhere && is_there() { Touch::Perhaps } else { Touch::Not }
}

/// Whether a pattern means files as the guard keeps in a directory of its own: by the ends of their names.
fn means_below(pattern: &PathPattern<'_>, guarded: &GuardedPath, world: &dyn World) -> bool {
    const ENDS: [&str; 6] = ["jsonl", "json", "key", "yaml", "toml", "state"];
    let last = pattern.last().unwrap_or_default();
    let end = last.rsplit_once('.').map_or("", |(_, end)| end);
    guarded.path.is_within(&pattern.base)
        && world.entry(&guarded.path) == Entry::Directory
        && (end.is_empty() || end.contains(['*', '?', '[']) || ENDS.contains(&end))
}

/// Whether files are written whose names come out of a walk over a directory that holds the guard. What git brings is told apart by
/// what its commits hold.
fn found_by_walk(effect: &Effect, guarded: &GuardedPath, world: &dyn World) -> bool {
    effect.kind == EffectKind::FileModify
        && !effect.nature.is_kept_by_version_control()
        && !guarded.path.is_within(&world.place().workspace)
        && !matches!(world.entry(&guarded.path), Entry::Missing)
}

/// Whether an effect on a directory is an effect on what lies deep in it. Permissions of a whole home directory reach the
/// guard; those of a project, or a formatter that rewrites some of its files, are ordinary work.
fn reaches_down(effect: &Effect, sweep: Sweep, guarded: &GuardedPath, world: &dyn World) -> bool {
    let permissions = effect.kind == EffectKind::PermissionChange
        && !guarded.path.is_within(&world.place().workspace)
        && effect.nature != Nature::LeavesRights;
    effect.depth == Depth::Recursive && (sweep == Sweep::All || permissions)
}

/// Whether everybody may write to all that lies in the very folder of a guarded file: that is about the file as much as if it were named.
fn opens_folder(effect: &Effect, path: &AbsolutePath, guarded: &GuardedPath, world: &dyn World) -> bool {
    let place = world.place();
    effect.kind == EffectKind::PermissionChange
        && effect.depth == Depth::Recursive
        && effect.nature == Nature::OpensRights
        && guarded.path.parent().as_ref() == Some(path)
        && *path != place.workspace
        && *path != place.home
}

fn ancestors(path: &AbsolutePath) -> impl Iterator<Item = AbsolutePath> {
    std::iter::successors(path.parent(), AbsolutePath::parent)
}

/// Whether an effect ends, disables, removes or replaces the guard by its name.
fn stops_guard(effect: &Effect) -> Touch {
    let text = match &effect.target {
        Target::Process(text) | Target::Service(text) => text,
        Target::Path(_) | Target::Glob(_) | Target::Host(_) | Target::Reference(_) | Target::Unknown => {
            return Touch::Not;
        }
    };
    let named = names_guard(text);
    match effect.kind {
        EffectKind::ProcessKill if named || is_client(text) => Touch::Surely,
        // Programs that end others by a pattern of their names; a window or container of that name is another matter.
        EffectKind::ProcessKill if effect.nature == Nature::Signal && finds(text, HOOK) => Touch::Surely,
        EffectKind::ProcessKill if effect.nature == Nature::HoldsUp && is_held_up(text) => Touch::Surely,
        EffectKind::SystemModification if named => Touch::Surely,
        EffectKind::PackageInstall if named && effect.nature == Nature::Removal => Touch::Surely,
        // Another version is another guard.
        EffectKind::PackageInstall if named => Touch::Perhaps,
        _ => Touch::Not,
    }
}

/// Whether the number or pattern of a process means the client or the guard.
pub(crate) fn is_held_up(text: &str) -> bool {
    names_guard(text) || is_client(text) || finds(text, HOOK)
}

/// Whether a process pattern or a service name means the guard: `checkrein`, `checkrein-hook`, `checkrein.service`.
fn names_guard(text: &str) -> bool {
    text.split(|character: char| !character.is_ascii_alphanumeric()).any(|word| word == NAME)
}

/// Whether a process is the one that started this shell: the client, which asks the guard.
fn is_client(text: &str) -> bool {
    text.trim_start_matches('-') == PARENT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{HostPaths, VersionState};
    use checkrein_facts::RecordedWorld;
    use checkrein_testkit::world::{host_paths, path};

    fn world() -> RecordedWorld {
        let guarded = |text: &str, role: &str| GuardedPath { path: path(text), role: role.to_owned() };
        RecordedWorld::complete(HostPaths {
            guarded: vec![
                guarded("/home/dev/.local/state/checkrein", "the records of the guard"),
                guarded("/home/dev/.claude/settings.json", "the hook settings of Claude Code"),
                guarded("/home/dev/proj/.claude/settings.json", "the hook settings of Claude Code"),
            ],
            ..host_paths()
        })
        .with_directory(&path("/home/dev/.local/state/checkrein"))
        .with_file(&path("/home/dev/.claude/settings.json"), "{}", VersionState::Untracked)
    }

    fn effect(kind: EffectKind, target: Target, depth: Depth, certainty: Certainty) -> Effect {
        Effect { certainty, depth, cause: "test".to_owned(), ..Effect::new(kind, target) }
    }

    fn is_marked(kind: EffectKind, target: Target, depth: Depth, certainty: Certainty) -> bool {
        let mut effects = vec![effect(kind, target, depth, certainty)];
        mark(&mut effects, &world());
        effects
            .iter()
            .any(|effect| effect.kind == EffectKind::GuardTampering && effect.severity == Severity::Critical)
    }

    #[test]
    fn changes_of_the_guard_are_marked() {
        use Certainty::{Certain, Possible};
        use Depth::{Recursive, Single};
        use EffectKind::{FileCreate, FileDelete, FileModify, PermissionChange};
        let at = |text: &str| Target::Path(path(text));
        let glob = |text: &str| Target::Glob(text.to_owned());
        for (kind, target, depth, certainty) in [
            (FileModify, at("/home/dev/.claude/settings.json"), Single, Certain),
            (FileDelete, at("/home/dev/.claude"), Recursive, Certain),
            (FileDelete, at("/home/dev/.local"), Recursive, Possible),
            (FileDelete, at("/home/dev/.local/state/checkrein/sessions/1/ledger.jsonl"), Single, Certain),
            (FileCreate, at("/home/dev/.local/state/checkrein/approvals/x"), Single, Certain),
            (FileDelete, glob("/home/dev/.*"), Recursive, Certain),
            (FileDelete, glob("/home/dev/.claude/*"), Single, Certain),
            (FileModify, glob("/home/dev/.claude/*.json"), Single, Certain),
            (FileModify, glob("/home/dev/.local/state/check*/*"), Single, Certain),
            (FileModify, glob("/home/dev/.local/state/check*/**/*"), Single, Certain),
            (FileModify, glob("/home/dev/.local/state/checkrein/**"), Single, Possible),
            (PermissionChange, at("/home/dev/.claude"), Recursive, Certain),
            (FileDelete, glob("/home/dev/**/settings*.json"), Single, Possible),
            (FileDelete, glob("/home/dev/**"), Single, Certain),
        ] {
            assert!(is_marked(kind, target.clone(), depth, certainty), "{kind:?} {target:?}");
        }
    }

    #[test]
    fn the_rest_is_left_alone() {
        use Certainty::{Certain, Possible};
        use Depth::{Recursive, Single};
        use EffectKind::{FileCreate, FileDelete, FileModify, FileRead, PermissionChange};
        let at = |text: &str| Target::Path(path(text));
        for (kind, target, depth, certainty) in [
            (FileRead, at("/home/dev/.claude/settings.json"), Single, Certain),
            (FileModify, at("/home/dev/.claude/history.jsonl"), Single, Certain),
            (FileDelete, at("/home/dev/.claude"), Single, Certain),
            (FileModify, at("/home/dev/proj"), Recursive, Possible),
            (FileCreate, at("/home/dev/proj"), Recursive, Certain),
            (FileModify, Target::Glob("/home/dev/proj/**/*.json".to_owned()), Single, Possible),
            (FileCreate, Target::Glob("/home/dev/.local/**".to_owned()), Single, Certain),
            (FileDelete, at("/home/dev/.local/state/checkrein-notes"), Recursive, Certain),
            (FileDelete, Target::Glob("/home/dev/proj/**".to_owned()), Single, Possible),
            (PermissionChange, at("/home/dev/proj"), Recursive, Certain),
            // It is not there.
            (FileDelete, at("/home/dev/proj/.claude"), Recursive, Certain),
        ] {
            assert!(!is_marked(kind, target.clone(), depth, certainty), "{kind:?} {target:?}");
        }
    }

    /// How grave it is that an effect touches the guard; `None` when it does not.
    fn gravity(mut effect: Effect, nature: Nature) -> Option<Severity> {
        effect.nature = nature;
        let mut effects = vec![effect];
        mark(&mut effects, &world());
        effects
            .iter()
            .filter(|effect| effect.kind == EffectKind::GuardTampering)
            .map(|effect| effect.severity)
            .max()
    }

    #[test]
    fn what_is_brought_unread_over_a_directory_above_is_asked_about() {
        use Certainty::Certain;
        use Depth::{Recursive, Single};
        use EffectKind::FileCreate;
        let at = |text: &str| Target::Path(path(text));
        let glob = |text: &str| Target::Glob(text.to_owned());
        for (target, depth, nature) in [
            (at("/home/dev/.local"), Recursive, Nature::Ordinary),
            (at("/home/dev"), Recursive, Nature::BroughtUnread),
            (glob("/home/dev/.local/**"), Single, Nature::BroughtUnread),
            // It is not there yet, and comes with what is brought.
            (glob("/home/dev/.claude/**"), Single, Nature::BroughtUnread),
        ] {
            let found = gravity(effect(FileCreate, target.clone(), depth, Certain), nature);
            assert_eq!(found, Some(Severity::High), "{target:?} {nature:?}");
        }
        for (target, depth, nature) in [
            (at("/home/dev/.local"), Single, Nature::Ordinary),
            (at("/home/dev/.local"), Recursive, Nature::BroughtWithoutGuard),
            (at("/home/dev/.local/share"), Recursive, Nature::BroughtUnread),
            // In the project, nothing is there that could be replaced.
            (glob("/home/dev/proj/**"), Single, Nature::BroughtUnread),
        ] {
            let found = gravity(effect(FileCreate, target.clone(), depth, Certain), nature);
            assert_eq!(found, None, "{target:?} {nature:?}");
        }
    }

    #[test]
    fn rights_of_a_directory_above_count_when_they_are_taken() {
        let change = |depth| {
            effect(
                EffectKind::PermissionChange,
                Target::Path(path("/home/dev/.local")),
                depth,
                Certainty::Certain,
            )
        };
        assert_eq!(gravity(change(Depth::Single), Nature::TakesRights), Some(Severity::Critical));
        assert_eq!(gravity(change(Depth::Single), Nature::Ordinary), None);
        assert_eq!(gravity(change(Depth::Recursive), Nature::Ordinary), Some(Severity::Critical));
        assert_eq!(gravity(change(Depth::Recursive), Nature::LeavesRights), None);
    }

    #[test]
    fn a_link_to_the_guard_and_a_second_name_of_it_are_the_guard() {
        let mut world = world();
        world
            .place
            .guarded
            .push(GuardedPath { path: path("/home/dev/link/config.yaml"), role: "linked".to_owned() });
        world.entries.insert(path("/home/dev/link"), Entry::Symlink("/home/dev/dotfiles".to_owned()));
        let second = (path("/home/dev/proj/second"), path("/home/dev/.claude/settings.json"));
        world.same_files.push(second);
        for target in ["/home/dev/dotfiles/config.yaml", "/home/dev/proj/second"] {
            let mut effects = vec![effect(
                EffectKind::FileModify,
                Target::Path(path(target)),
                Depth::Single,
                Certainty::Certain,
            )];
            mark(&mut effects, &world);
            assert_eq!(effects.len(), 2, "{target}");
        }
    }

    #[test]
    fn stopping_the_guard_is_marked() {
        let process = |text: &str| Target::Process(text.to_owned());
        assert!(is_marked(
            EffectKind::ProcessKill,
            process("checkrein-hook"),
            Depth::Single,
            Certainty::Certain
        ));
        assert!(!is_marked(EffectKind::ProcessKill, process("node"), Depth::Single, Certainty::Certain));
        assert!(is_marked(EffectKind::ProcessKill, process(PARENT), Depth::Single, Certainty::Certain));
        let service = Target::Service("checkrein.service".to_owned());
        assert!(is_marked(EffectKind::SystemModification, service, Depth::Single, Certainty::Certain));
        let package = Target::Service("checkrein".to_owned());
        assert!(
            !is_marked(EffectKind::PackageInstall, package, Depth::Single, Certainty::Certain),
            "an update is asked about"
        );
    }

    #[test]
    fn one_mark_for_one_path() {
        let target = Target::Path(path("/home/dev/.claude/settings.json"));
        let mut effects = vec![
            effect(EffectKind::FileModify, target.clone(), Depth::Single, Certainty::Possible),
            effect(EffectKind::Persistence, target, Depth::Single, Certainty::Certain),
        ];
        mark(&mut effects, &world());
        assert_eq!(effects.len(), 3);
        assert_eq!(effects[2].certainty, Certainty::Certain);
        assert_eq!(effects[2].note, "changes the hook settings of Claude Code");
    }
}
