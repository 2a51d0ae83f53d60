//! Code that a person has arranged to run: hooks of a repository.

use crate::effect::EffectKind;

use super::machine::Machine;

impl Machine<'_> {
    /// Runs `work` as something that a person set up before: what it changes is possible, and that it starts programs, asks hosts
    /// or cannot be followed is theirs and says nothing about this command.
    pub(crate) fn as_arranged(&mut self, work: impl FnOnce(&mut Self)) {
        let from = self.effects.len();
        self.possibly(work);
        let found = self.effects.split_off(from.min(self.effects.len()));
        self.effects.extend(found.into_iter().filter(|effect| says_something(effect.kind)));
    }
}

fn says_something(kind: EffectKind) -> bool {
    match kind {
        EffectKind::FileRead
        | EffectKind::NetworkRequest
        | EffectKind::ProcessSpawn
        | EffectKind::PackageInstall
        | EffectKind::Opaque => false,
        EffectKind::FileCreate
        | EffectKind::FileModify
        | EffectKind::FileDelete
        | EffectKind::PermissionChange
        | EffectKind::SecretRead
        | EffectKind::DataUpload
        | EffectKind::RemoteCodeExecution
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
        | EffectKind::GuardTampering => true,
    }
}
