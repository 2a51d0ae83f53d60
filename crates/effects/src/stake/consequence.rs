//! Effects that follow from where a file lies.

use crate::effect::{Depth, Effect, EffectKind, Reach, Severity, Stake, Target};
use crate::path::AbsolutePath;
use crate::places::{SystemPlace, credential, credential_directory, generated, persistence, system_place};
use crate::world::World;

use super::loss::is_temporary;
use super::pattern::{Matches, PathPattern};
use super::{KEPT_BY_GIT, SETTING_THAT_RUNS_NOTHING};

/// Whether an effect that reads a file reads a secret.
///
/// What the same command has written before (`made`) is no secret to it. A credential that is not there counts: reading it was
/// meant.
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
    match effect.kind {
        EffectKind::FileCreate | EffectKind::FileModify => {}
        EffectKind::FileRead
        | EffectKind::FileDelete
        | EffectKind::PermissionChange
        | EffectKind::SecretRead
        | EffectKind::NetworkRequest
        | EffectKind::DataUpload
        | EffectKind::RemoteCodeExecution
        | EffectKind::PackageInstall
        | EffectKind::ProcessSpawn
        | EffectKind::ProcessKill
        | EffectKind::SystemModification
        | EffectKind::PrivilegeEscalation
        | EffectKind::Persistence
        | EffectKind::VcsLocalLoss
        | EffectKind::VcsHistoryRewrite
        | EffectKind::VcsRemoteUpdate
        | EffectKind::InfrastructureChange
        | EffectKind::InfrastructureDestroy
        | EffectKind::DatastoreChange
        | EffectKind::DatastoreDestroy
        | EffectKind::Publish
        | EffectKind::GuardTampering
        | EffectKind::Opaque => return Vec::new(),
    }
    if effect.note.starts_with(KEPT_BY_GIT) || effect.note.starts_with(SETTING_THAT_RUNS_NOTHING) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for path in written(&effect.target, world) {
        if is_temporary(&path, world) {
            continue;
        }
        if let Some(what) = persistence(&path).filter(|_| generated(&path, world).is_none()) {
            found.push(follow(effect, EffectKind::Persistence, &path, what));
        }
        let machine = match system_place(&path) {
            Some(SystemPlace::Vital) => Some("part of the system"),
            Some(SystemPlace::Kernel) => Some("a switch of the running kernel"),
            Some(SystemPlace::Device) => Some("a device"),
            Some(SystemPlace::Local | SystemPlace::State) | None => None,
        };
        found.extend(machine.map(|what| follow(effect, EffectKind::SystemModification, &path, what)));
    }
    found
}

/// The paths that a write is known to reach, and for a pattern the directory in which it writes.
fn written(target: &Target, world: &dyn World) -> Vec<AbsolutePath> {
    match target {
        Target::Path(path) => vec![path.clone()],
        Target::Glob(text) => match PathPattern::new(text) {
            Some(pattern) => match pattern.expand(world) {
                Matches::Paths(paths) if !paths.is_empty() => paths,
                Matches::Paths(_) | Matches::Unknown => vec![pattern.base.clone()],
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

fn follow(effect: &Effect, kind: EffectKind, path: &AbsolutePath, note: &str) -> Effect {
    Effect {
        kind,
        target: Target::Path(path.clone()),
        certainty: effect.certainty,
        depth: Depth::Single,
        stake: Stake::Nothing,
        severity: Severity::Low,
        reversible: true,
        reach: None::<Reach>,
        cause: effect.cause.clone(),
        note: note.to_owned(),
    }
}
