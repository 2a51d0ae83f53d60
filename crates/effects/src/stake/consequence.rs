//! Effects that follow from where a file lies.

use crate::effect::{Certainty, Depth, Effect, EffectKind, FileChange, Severity, Target};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::places::{
    SHADOWS, SystemPlace, credential, credential_directory, is_for_tests, is_home_of_somebody,
    is_known_at_home, is_lifeline, is_program_directory, names_watcher, persistence, system_place, watcher,
    watchers_below,
};
use crate::world::{Entry, World};
use checkrein_facts::generated;

use super::loss::is_temporary;
use crate::world::{Matches, PathPattern};

/// Whether an effect that reads a file reads a secret.
///
/// What the same command has written before (`made`) is no secret to it, nor is what a commit holds for tests. A credential that is not
/// there counts: reading it was meant.
pub(crate) fn reads_secret(effect: &Effect, made: &[AbsolutePath], world: &dyn World) -> bool {
    if effect.kind != EffectKind::FileRead {
        return false;
    }
    let home = &world.place().home;
    let secret = |path: &AbsolutePath| {
        let by_name = credential(path, home).is_some();
        let by_depth = effect.depth == Depth::Recursive && credential_directory(path).is_some();
        (by_name || by_depth)
            && !is_temporary(path, world)
            && !world.history().created.contains(path)
            && !made.contains(path)
            && !is_for_tests(path, world)
    };
    match &effect.target {
        Target::Path(path) => secret(path) && generated(path, world).is_none(),
        Target::Glob(text) => PathPattern::new(text).is_some_and(|pattern| {
            let all_of_secrets = pattern.names_everything() && credential_directory(&pattern.base).is_some();
            all_of_secrets
                || match pattern.expand(world) {
                    Matches::Paths(paths) => paths.iter().any(secret),
                    Matches::Unknown => false,
                }
        }),
        Target::Host(_)
        | Target::Process(_)
        | Target::Service(_)
        | Target::Reference(_)
        | Target::Unknown => false,
    }
}

/// Further effects of writing where something runs later, or where the machine keeps its own files.
pub(crate) fn consequences(effect: &Effect, world: &dyn World) -> Vec<Effect> {
    match effect.kind.file_change() {
        Some(FileChange::Create | FileChange::Modify) => {}
        Some(FileChange::Delete | FileChange::Permissions) => return unwatched(effect, world),
        None if matches!(effect.kind, EffectKind::PackageInstall | EffectKind::ProcessKill) => {
            return without_guard(effect);
        }
        None => return Vec::new(),
    }
    if effect.nature.is_kept_by_version_control() || effect.nature == Nature::SettingThatRunsNothing {
        // What git brings back of a guard is another guard than the one that looks on.
        return unwatched(effect, world);
    }
    let mut found = Vec::new();
    // Which of the files that are there an archive replaces is not known; of the guard it is asked about as such.
    let spread = matches!(&effect.target, Target::Glob(text) if text.ends_with("/**"))
        && effect.kind == EffectKind::FileCreate;
    let is_bounded = effect.nature == Nature::WithinBounds;
    let is_unlisted = is_bounded
        || matches!(&effect.target, Target::Glob(text) if text.ends_with("/**"))
            && matches!(
                effect.nature,
                Nature::ArchiveUnread | Nature::ArchiveWithoutGuard | Nature::PatchUnread
            );
    // In a home directory it is the start-up files of the user that may be replaced.
    let place = world.place();
    let is_project = !place.home.is_within(&place.workspace);
    let is_guarded =
        |path: &AbsolutePath| world.place().guarded.iter().any(|known| path.is_within(&known.path));
    for path in written(&effect.target, world) {
        let is_put_back = || is_put_back(&path, &place.workspace) || is_guarded(&path);
        if is_temporary(&path, world) || spread && is_guarded(&path) || is_bounded && is_put_back() {
            continue;
        }
        // A second name for a program that is there runs nothing else, and an empty directory runs nothing yet.
        let is_other = |what: &&str| {
            effect.nature != Nature::EmptyDirectory && (*what != SHADOWS || effect.nature != Nature::Link)
        };
        if let Some(what) = persistence(&path, &world.place().home)
            .filter(is_other)
            .filter(|_| is_known_at_home(&path, &world.place().home) || generated(&path, world).is_none())
            .filter(|_| !is_of_new_project(effect, &path, world))
        {
            let by_chance = is_unlisted && is_project && path.is_within(&place.workspace);
            let mut follows = follow(effect, EffectKind::Persistence, &path, what);
            if by_chance {
                follows.certainty = Certainty::Possible;
                follows.nature = Nature::ByChance;
                follows.note = format!("may be among what comes: {what}");
            }
            found.push(follows);
        } else if let Some(what) = watcher(&path) {
            found.push(grave(follow(effect, EffectKind::SystemModification, &path, what)));
        }
        if path.name().is_some_and(|name| name.starts_with("terraform.tfstate")) {
            let record = "the record of what infrastructure exists";
            found.push(grave(follow(effect, EffectKind::InfrastructureChange, &path, record)));
        }
        found.extend(change_of_machine(effect, &path));
    }
    found
}

/// Whether a file of settings comes into a project that is not there: a copy of one, outside the home directories and the workspace. Nobody
/// works in it yet, and whoever does later has it looked at then.
fn is_of_new_project(effect: &Effect, path: &AbsolutePath, world: &dyn World) -> bool {
    let place = world.place();
    let is_of_somebody = || {
        std::iter::successors(Some(path.clone()), AbsolutePath::parent)
            .any(|above| is_home_of_somebody(&above))
    };
    let hidden = std::iter::successors(path.parent(), AbsolutePath::parent)
        .filter(|above| above.name().is_some_and(|name| name.starts_with('.')))
        .last();
    effect.kind == EffectKind::FileCreate
        && !path.is_within(&place.workspace)
        && !path.is_within(&place.home)
        && system_place(path).is_none()
        && hidden.is_some_and(|directory| world.entry(&directory) == Entry::Missing)
        && !is_of_somebody()
}

/// Whether what a bounded command writes to a path of the project is put back when it is over, besides what guards the project: what git
/// runs by itself, and the servers that clients start.
fn is_put_back(path: &AbsolutePath, workspace: &AbsolutePath) -> bool {
    [".git/hooks", ".git/config", ".git/config.worktree", ".mcp.json"]
        .iter()
        .any(|place| path.is_within(&workspace.join(place)))
}

/// What writing to a path changes of the machine.
fn change_of_machine(effect: &Effect, path: &AbsolutePath) -> Option<Effect> {
    let changed = |what| follow(effect, EffectKind::SystemModification, path, what);
    let is_new = effect.kind == EffectKind::FileCreate;
    match system_place(path)? {
        // What is new beside the programs and libraries of the system stops none of them.
        SystemPlace::Vital if is_new && is_lifeline(path) && !path.as_str().starts_with("/etc/") => {
            Some(grave(changed("part of the system")))
        }
        // An empty directory changes nothing yet.
        SystemPlace::Vital if is_new && effect.nature == Nature::EmptyDirectory => {
            Some(Effect { severity: Severity::Medium, ..changed("part of the system") })
        }
        SystemPlace::Vital => Some(changed("part of the system")),
        SystemPlace::Kernel => Some(changed("a switch of the running kernel")),
        SystemPlace::Device => Some(changed("a device")),
        SystemPlace::Local if is_program_directory(path) => {
            let draft = changed("a program of everybody on this machine");
            Some(if is_new { Effect { severity: Severity::Medium, ..draft } } else { grave(draft) })
        }
        SystemPlace::Local | SystemPlace::State => None,
    }
}

/// What keeps the agent in check, taken away or opened to others.
fn unwatched(effect: &Effect, world: &dyn World) -> Vec<Effect> {
    // What git takes away or brings it knows by name.
    let goes_with_folder = effect.kind == EffectKind::FileDelete
        && (effect.depth == Depth::Recursive || matches!(effect.target, Target::Glob(_)))
        && !effect.nature.is_kept_by_version_control()
        && !matches!(
            effect.nature,
            Nature::NothingFits | Nature::KeptByVersionControl | Nature::WrittenByVersionControl
        );
    let is_there = |path: &AbsolutePath| !matches!(world.entry(path), Entry::Missing);
    let watching = |path: AbsolutePath| {
        if let Some(what) = watcher(&path) {
            return Some((path, what));
        }
        let below = watchers_below(&path).filter(|_| goes_with_folder).find(is_there)?;
        watcher(&below).map(|what| (below, what))
    };
    let named = || effect.target.path().cloned().into_iter().collect();
    let paths: Vec<AbsolutePath> = if goes_with_folder { written(&effect.target, world) } else { named() };
    let found = paths.into_iter().filter(|path| !is_temporary(path, world)).find_map(watching);
    found
        .map(|(path, what)| grave(follow(effect, EffectKind::SystemModification, &path, what)))
        .into_iter()
        .collect()
}

/// A guard of agents that is installed, replaced, removed or ended.
fn without_guard(effect: &Effect) -> Vec<Effect> {
    let named = effect.target.text().is_some_and(|text| text.split_whitespace().any(names_watcher));
    if !named {
        return Vec::new();
    }
    let mut follows = effect.clone();
    follows.kind = EffectKind::SystemModification;
    follows.nature = Nature::Ordinary;
    "a guard of agents".clone_into(&mut follows.note);
    vec![grave(follows)]
}

fn grave(effect: Effect) -> Effect {
    Effect { severity: Severity::High, ..effect }
}

/// The paths that a write is known to reach, and for a pattern the directory in which it writes.
fn written(target: &Target, world: &dyn World) -> Vec<AbsolutePath> {
    match target {
        Target::Path(path) => vec![path.clone()],
        Target::Glob(text) => match PathPattern::new(text) {
            Some(pattern) => match pattern.expand(world) {
                Matches::Paths(paths) if !paths.is_empty() => paths,
                Matches::Paths(_) | Matches::Unknown => {
                    let new = new_in_each(text, world);
                    if new.is_empty() { vec![pattern.base.clone()] } else { new }
                }
            },
            None => Vec::new(),
        },
        Target::Host(_)
        | Target::Process(_)
        | Target::Service(_)
        | Target::Reference(_)
        | Target::Unknown => Vec::new(),
    }
}

/// The files that come where only their directories match a pattern: `projects/*/.git/hooks/pre-push`.
fn new_in_each(text: &str, world: &dyn World) -> Vec<AbsolutePath> {
    let Some((above, name)) = text.rsplit_once('/') else { return Vec::new() };
    if name.is_empty() || name.contains(['*', '?', '[', '{']) {
        return Vec::new();
    }
    match PathPattern::new(above).map(|pattern| pattern.expand(world)) {
        Some(Matches::Paths(directories)) => {
            directories.iter().map(|directory| directory.join(name)).collect()
        }
        Some(Matches::Unknown) | None => Vec::new(),
    }
}

fn follow(effect: &Effect, kind: EffectKind, path: &AbsolutePath, note: &str) -> Effect {
    Effect {
        certainty: effect.certainty,
        cause: effect.cause.clone(),
        note: note.to_owned(),
        ..Effect::new(kind, Target::Path(path.clone()))
    }
}
