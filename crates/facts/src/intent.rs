//! What an action is for, seen from what it would change.

use checkrein_protocol::{Action, Effect, EffectKind, Intent};

/// The intent that the effects of an action show: the gravest file effect, else network, else a system command.
pub fn intent(action: &Action, effects: &[Effect]) -> Intent {
    let has = |kinds: &[EffectKind]| effects.iter().any(|effect| kinds.contains(&effect.kind));
    if has(&[EffectKind::FileDelete]) {
        Intent::FileDeletion
    } else if has(&[EffectKind::FileModify]) {
        Intent::FileModification
    } else if has(&[EffectKind::FileCreate]) {
        Intent::FileCreation
    } else if has(&[EffectKind::NetworkRequest, EffectKind::DataUpload, EffectKind::RemoteCodeExecution]) {
        Intent::NetworkRequest
    } else if action.shell_text().is_some() {
        Intent::SystemCommand
    } else if has(&[EffectKind::FileRead, EffectKind::SecretRead]) {
        Intent::FileRead
    } else if effects.is_empty() {
        Intent::Unknown
    } else {
        Intent::SystemCommand
    }
}
