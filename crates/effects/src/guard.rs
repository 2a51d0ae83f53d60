//! The guard's own paths and processes, which the agent must not touch.
//!
//! Reading them, copying them elsewhere and listing them is fine: only what changes the guard counts.

use crate::effect::{Certainty, Depth, Effect, EffectKind, Reach, Severity, Stake, Target};
use crate::path::AbsolutePath;
use crate::stake::PathPattern;
use crate::world::{Entry, GuardedPath, World};

/// The name of the guard as a program, a service and a package.
const NAME: &str = "checkrein";

/// Adds an effect of kind [`EffectKind::GuardTampering`] for every effect that changes what the guard needs: its paths, the
/// directories that hold them, its processes and services. Adds at most one for each guarded path or process.
pub(crate) fn mark(effects: &mut Vec<Effect>, world: &dyn World) {
    let mut found: Vec<Effect> = Vec::new();
    for effect in effects.iter().filter(|effect| effect.kind != EffectKind::GuardTampering) {
        for guarded in world.place().guarded.iter().filter(|guarded| touches(effect, guarded, world)) {
            add(&mut found, effect, Target::Path(guarded.path.clone()), &guarded.role);
        }
        if stops_guard(effect) {
            add(&mut found, effect, effect.target.clone(), "the guard itself");
        }
    }
    effects.extend(found);
}

fn add(found: &mut Vec<Effect>, effect: &Effect, target: Target, role: &str) {
    if let Some(known) = found.iter_mut().find(|known| known.target == target) {
        known.certainty = known.certainty.max(effect.certainty);
        return;
    }
    found.push(Effect {
        kind: EffectKind::GuardTampering,
        target,
        certainty: effect.certainty,
        depth: Depth::Single,
        stake: Stake::Critical,
        severity: Severity::Critical,
        reversible: false,
        reach: None::<Reach>,
        cause: effect.cause.clone(),
        note: format!("changes {role}"),
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

fn touches(effect: &Effect, guarded: &GuardedPath, world: &dyn World) -> bool {
    let sweep = sweep(effect);
    if sweep == Sweep::None {
        return false;
    }
    // A sweep over a directory finds what is there; a file of the guard that does not exist is not lost by it.
    let is_there = || !matches!(world.entry(&guarded.path), Entry::Missing);
    match &effect.target {
        Target::Path(path) => {
            path.is_within(&guarded.path)
                || (reaches_down(effect, sweep, guarded, world) && guarded.path.is_within(path) && is_there())
        }
        Target::Glob(text) => PathPattern::new(text).is_some_and(|pattern| {
            let certain = effect.certainty == Certainty::Certain;
            let sweeps = if text.contains("**") {
                // What is unpacked or formatted somewhere below a directory is some of the files there, not each of them; so is
                // what a walk finds whose conditions say nothing about names.
                sweep == Sweep::All && (certain || !pattern.names_everything())
            } else {
                sweep == Sweep::All || certain
            };
            pattern.base.is_within(&guarded.path)
                || (sweeps && pattern.matches(&guarded.path) && is_there())
                || (reaches_down(effect, sweep, guarded, world)
                    && ancestors(&guarded.path).any(|above| pattern.matches(&above))
                    && is_there())
        }),
        Target::Host(_)
        | Target::Process(_)
        | Target::Service(_)
        | Target::Reference(_)
        | Target::Unknown => false,
    }
}

/// Whether an effect on a directory is an effect on what lies deep in it. Permissions of a whole home directory reach the
/// guard; those of a project, or a formatter that rewrites some of its files, are ordinary work.
fn reaches_down(effect: &Effect, sweep: Sweep, guarded: &GuardedPath, world: &dyn World) -> bool {
    let permissions =
        effect.kind == EffectKind::PermissionChange && !guarded.path.is_within(&world.place().workspace);
    effect.depth == Depth::Recursive && (sweep == Sweep::All || permissions)
}

fn ancestors(path: &AbsolutePath) -> impl Iterator<Item = AbsolutePath> {
    std::iter::successors(path.parent(), AbsolutePath::parent)
}

/// Whether an effect ends, disables or removes the guard by its name.
fn stops_guard(effect: &Effect) -> bool {
    let named = match &effect.target {
        Target::Process(text) | Target::Service(text) => names_guard(text),
        Target::Path(_) | Target::Glob(_) | Target::Host(_) | Target::Reference(_) | Target::Unknown => false,
    };
    if !named {
        return false;
    }
    let takes_away = || {
        ["uninstall", "remove", "purge", "erase", "unlink"]
            .iter()
            .any(|word| effect.cause.contains(word) || effect.note.contains(word))
    };
    matches!(effect.kind, EffectKind::ProcessKill | EffectKind::SystemModification)
        || (effect.kind == EffectKind::PackageInstall && takes_away())
}

/// Whether a process pattern or a service name means the guard: `checkrein`, `checkrein-hook`, `checkrein.service`.
fn names_guard(text: &str) -> bool {
    text.split(|character: char| !character.is_ascii_alphanumeric()).any(|word| word == NAME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::RecordedWorld;
    use crate::world::{Place, VersionState};

    fn path(text: &str) -> AbsolutePath {
        AbsolutePath::new(text).unwrap()
    }

    fn world() -> RecordedWorld {
        let guarded = |text: &str, role: &str| GuardedPath { path: path(text), role: role.to_owned() };
        RecordedWorld::complete(Place {
            home: path("/home/dev"),
            user: None,
            workspace: path("/home/dev/proj"),
            temporary: vec![path("/tmp")],
            guarded: vec![
                guarded("/home/dev/.local/state/checkrein", "the records of the guard"),
                guarded("/home/dev/.claude/settings.json", "the hook settings of Claude Code"),
                guarded("/home/dev/proj/.claude/settings.json", "the hook settings of Claude Code"),
            ],
            expected: Vec::new(),
        })
        .with_directory(&path("/home/dev/.local/state/checkrein"))
        .with_file(&path("/home/dev/.claude/settings.json"), "{}", VersionState::Untracked)
    }

    fn effect(kind: EffectKind, target: Target, depth: Depth, certainty: Certainty) -> Effect {
        Effect {
            kind,
            target,
            certainty,
            depth,
            stake: Stake::Nothing,
            severity: Severity::Low,
            reversible: true,
            reach: None,
            cause: "test".to_owned(),
            note: String::new(),
        }
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
        let service = Target::Service("checkrein.service".to_owned());
        assert!(is_marked(EffectKind::SystemModification, service, Depth::Single, Certainty::Certain));
        let package = Target::Service("checkrein".to_owned());
        assert!(
            !is_marked(EffectKind::PackageInstall, package, Depth::Single, Certainty::Certain),
            "an update is no harm"
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
