//! What an action leaves behind, as far as the next one could take it back.

use checkrein_facts::PastDeed;
use checkrein_protocol::{Certainty, Effect, EffectKind, FileChange, Nature, ReviewRecord};

use crate::state::bounds;

/// What an action certainly leaves behind, at most [`bounds::PATHS`] things, and what was there before as far as it is known. What version
/// control keeps of its own is none of it.
pub(crate) fn deeds(review: &ReviewRecord) -> Vec<PastDeed> {
    let certain = review.effects.iter().filter(|effect| effect.certainty == Certainty::Certain);
    let is_short = |path: &str| path.len() <= bounds::TEXT_BYTES;
    let replaced = review.former_texts.iter().filter(|former| is_short(former.path.as_str()));
    let replaced = replaced.cloned().map(PastDeed::Replaced).take(bounds::PATHS);
    certain.filter_map(deed).take(bounds::PATHS).chain(replaced).collect()
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
