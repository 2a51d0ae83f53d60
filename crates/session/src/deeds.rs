//! What an action leaves behind, as far as the next one could take it back.

use checkrein_facts::PastDeed;
use checkrein_protocol::{Certainty, Effect, EffectKind, FileChange, Nature};

use crate::state::bounds;

/// What these effects certainly leave behind, at most [`bounds::PATHS`] things. What version control keeps of its own is none of it.
pub(crate) fn deeds(effects: &[Effect]) -> Vec<PastDeed> {
    let certain = effects.iter().filter(|effect| effect.certainty == Certainty::Certain);
    certain.filter_map(deed).take(bounds::PATHS).collect()
}

fn deed(effect: &Effect) -> Option<PastDeed> {
    let is_short = effect.target.text().is_some_and(|text| text.len() <= bounds::TEXT_BYTES);
    if effect.nature == Nature::Removal || !is_short {
        return None;
    }
    if matches!(effect.kind.file_change(), Some(FileChange::Create | FileChange::Modify)) {
        let own = effect.nature.is_kept_by_version_control();
        return effect.target.path().filter(|_| !own).cloned().map(PastDeed::Wrote);
    }
    if matches!(effect.kind, EffectKind::VcsRemoteUpdate | EffectKind::VcsHistoryRewrite) {
        return Some(PastDeed::Pushed);
    }
    let name = effect.target.text().filter(|_| effect.kind == EffectKind::PackageInstall)?;
    Some(PastDeed::Installed(name.to_owned()))
}
