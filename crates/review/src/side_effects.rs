//! Side effects: what would change, whether it can be taken back, what softens it (seed 002).

use checkrein_protocol::{AbsolutePath, Aim, Effect, EffectKind, Nature, ResourceUse, Severity, Stake};

use crate::verdict::SideEffects;

/// Sums up the effects of one action that runs these programs, and is given so many bytes to write.
pub(crate) fn summarise(effects: Vec<Effect>, programs: &[String], bytes_written: u64) -> SideEffects {
    let resources = ResourceUse::of(&effects, programs, bytes_written);
    let reversible = effects.iter().all(|effect| effect.reversible);
    let severity = effects.iter().map(|effect| effect.severity).max().unwrap_or(Severity::Low);
    let mut mitigations: Vec<String> = Vec::new();
    for text in effects.iter().filter_map(mitigation) {
        if mitigations.iter().all(|known| known != text) {
            mitigations.push(text.to_owned());
        }
    }
    SideEffects { effects, reversible, severity, resources, mitigations }
}

/// What brings back what an effect takes, or what keeps it beforehand; `None` where nothing is lost, or nothing would help.
fn mitigation(effect: &Effect) -> Option<&'static str> {
    match effect.stake {
        Stake::Nothing => None,
        Stake::Regenerable => made_again(effect.kind),
        Stake::Recoverable if effect.saved => Some("what is saved first comes back with `checkrein undo`"),
        Stake::Recoverable => kept(effect),
        // Nobody commits or copies a whole system or home directory first.
        Stake::Critical if effect.kind == EffectKind::FileDelete => None,
        Stake::Unsaved | Stake::Critical => beforehand(effect),
    }
}

/// What makes again what can be made again.
fn made_again(kind: EffectKind) -> Option<&'static str> {
    match kind.aim() {
        Aim::Files if kind.is_mutating() => {
            Some("what is generated comes back with the next build or install")
        }
        Aim::Files | Aim::Host | Aim::Process | Aim::Reference | Aim::Service => None,
    }
}

/// Where something is kept of what goes.
fn kept(effect: &Effect) -> Option<&'static str> {
    let is_of_git = |path: &AbsolutePath| path.as_str().split('/').any(|name| name == ".git");
    match effect.kind.aim() {
        Aim::Files if !effect.kind.is_mutating() => None,
        Aim::Files if !effect.target.path().is_some_and(is_of_git) => {
            Some("what git holds comes back with `git restore`")
        }
        Aim::Files | Aim::Reference => (effect.nature == Nature::KeptForAWhile
            || effect.kind == EffectKind::VcsLocalLoss)
            .then_some("git keeps the commits for a while: `git reflog` names them"),
        Aim::Host | Aim::Process | Aim::Service => None,
    }
}

/// What keeps the only copy of something before it goes.
fn beforehand(effect: &Effect) -> Option<&'static str> {
    let is_file_of_data = matches!(effect.nature, Nature::DatabaseFile | Nature::DataInAFile);
    match effect.kind {
        EffectKind::FileCreate
        | EffectKind::FileModify
        | EffectKind::FileDelete
        | EffectKind::Persistence => Some("commit or copy what is not saved anywhere before it goes"),
        EffectKind::PermissionChange => Some("write down modes and owners before they change (`getfacl -R`)"),
        EffectKind::VcsLocalLoss => {
            Some("give commits that are still needed a branch of their own before they go")
        }
        EffectKind::VcsHistoryRewrite | EffectKind::VcsRemoteUpdate => {
            Some("keep the old commit under a branch of its own before it is replaced")
        }
        EffectKind::DatastoreChange | EffectKind::DatastoreDestroy if is_file_of_data => {
            Some("copy the database file before its data goes")
        }
        EffectKind::DatastoreChange | EffectKind::DatastoreDestroy => Some("export the data before it goes"),
        EffectKind::InfrastructureChange | EffectKind::InfrastructureDestroy => {
            Some("export its definition and its data before it goes")
        }
        EffectKind::SystemModification => Some("back up what the system holds there before it changes"),
        EffectKind::FileRead
        | EffectKind::SecretRead
        | EffectKind::NetworkRequest
        | EffectKind::DataUpload
        | EffectKind::RemoteCodeExecution
        | EffectKind::PackageInstall
        | EffectKind::ProcessSpawn
        | EffectKind::ProcessKill
        | EffectKind::PrivilegeEscalation
        | EffectKind::Publish
        | EffectKind::GuardTampering
        | EffectKind::Opaque => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use checkrein_protocol::{Certainty, Depth, Target};

    fn effect(kind: EffectKind, target: Target, stake: Stake) -> Effect {
        Effect {
            kind,
            target,
            certainty: Certainty::Certain,
            depth: Depth::Single,
            stake,
            severity: Severity::High,
            reversible: false,
            reach: None,
            nature: Nature::Ordinary,
            saved: false,
            sites: Vec::new(),
            cause: String::new(),
            note: String::new(),
        }
    }

    fn file(path: &str) -> Target {
        Target::Path(AbsolutePath::new(path).unwrap())
    }

    // Source: seed 002-38
    #[test]
    fn what_softens_an_effect_fits_what_it_takes() {
        let service = || Target::Service("x".to_owned());
        let reference = || Target::Reference("v1".to_owned());
        for (kind, target, stake, words) in [
            (EffectKind::FileDelete, file("/p/a"), Stake::Unsaved, Some("commit or copy")),
            (EffectKind::FileDelete, file("/p/a"), Stake::Recoverable, Some("`git restore`")),
            (EffectKind::FileModify, file("/p/.git/config"), Stake::Recoverable, None),
            (EffectKind::FileDelete, file("/p/target"), Stake::Regenerable, Some("next build")),
            (EffectKind::FileRead, file("/p/a"), Stake::Unsaved, None),
            (EffectKind::PermissionChange, file("/etc"), Stake::Critical, Some("modes and owners")),
            (EffectKind::VcsLocalLoss, reference(), Stake::Unsaved, Some("a branch of their own")),
            (EffectKind::VcsLocalLoss, reference(), Stake::Recoverable, Some("`git reflog`")),
            (EffectKind::VcsHistoryRewrite, reference(), Stake::Unsaved, Some("the old commit")),
            (EffectKind::DatastoreDestroy, service(), Stake::Unsaved, Some("export the data")),
            (EffectKind::DatastoreDestroy, service(), Stake::Regenerable, None),
            (EffectKind::InfrastructureDestroy, service(), Stake::Unsaved, Some("its definition")),
            (EffectKind::SystemModification, service(), Stake::Critical, Some("back up")),
            (EffectKind::Publish, service(), Stake::Unsaved, None),
        ] {
            let found = mitigation(&effect(kind, target, stake));
            let fits = match words {
                Some(words) => found.is_some_and(|found| found.contains(words)),
                None => found.is_none(),
            };
            assert!(fits, "{kind:?} {stake:?}: {found:?}");
        }
        let data = effect(EffectKind::DatastoreDestroy, service(), Stake::Unsaved);
        let data = Effect { nature: Nature::DataInAFile, ..data };
        assert!(mitigation(&data).unwrap().contains("copy the database file"));
    }

    #[test]
    fn only_files_are_committed_or_restored() {
        for kind in EffectKind::ALL.into_iter().filter(|kind| kind.aim() != Aim::Files) {
            for stake in [Stake::Regenerable, Stake::Recoverable, Stake::Unsaved, Stake::Critical] {
                let words =
                    mitigation(&effect(kind, Target::Service("x".to_owned()), stake)).unwrap_or_default();
                let is_of_files =
                    ["commit or copy", "git restore", "next build"].iter().any(|of| words.contains(of));
                assert!(!is_of_files, "{kind:?} {stake:?}: {words}");
            }
        }
    }

    #[test]
    fn what_is_saved_comes_back_with_undo_and_is_said_once() {
        let saved = |path: &str| Effect {
            saved: true,
            ..effect(EffectKind::FileDelete, file(path), Stake::Recoverable)
        };
        let all = summarise(vec![saved("/p/a"), saved("/p/b")], &[], 0);
        assert_eq!(all.mitigations, ["what is saved first comes back with `checkrein undo`"]);
    }
}
