//! From where an action may have taken what it wrote, as its review says.

use std::path::{Path, PathBuf};

use checkrein_policy::location;
use checkrein_protocol::{Effect, EffectKind, Nature, ReviewRecord};
use checkrein_snapshot::{ActionSources, VersionControlPart};

/// The places that an action was to read or to move, and whether it had version control write files. Of a pattern it is where it begins.
pub(super) fn sources_of(review: &ReviewRecord) -> ActionSources {
    let is_source = |effect: &&Effect| match effect.kind {
        EffectKind::FileRead | EffectKind::SecretRead => true,
        EffectKind::FileDelete => effect.nature == Nature::Moved,
        _ => false,
    };
    let places = review.effects.iter().filter(is_source).filter_map(|effect| location(&effect.target));
    let mut places: Vec<PathBuf> = places.flat_map(|path| names(Path::new(path.as_str()))).collect();
    places.sort();
    places.dedup();
    // What nobody could see through may have called version control too.
    let writes = |effect: &Effect| {
        effect.nature.is_kept_by_version_control()
            || matches!(effect.kind, EffectKind::VcsLocalLoss | EffectKind::Opaque)
    };
    let version_control = if review.effects.iter().any(writes) {
        VersionControlPart::MayWrite
    } else {
        VersionControlPart::None
    };
    ActionSources { places, version_control }
}

/// Where a path lies, as the steps of a restore name it, and where it leads to: what stood there may be gone.
fn names(path: &Path) -> Vec<PathBuf> {
    let above = path.parent().and_then(|above| std::fs::canonicalize(above).ok());
    let own = above.zip(path.file_name()).map_or_else(|| path.to_owned(), |(above, name)| above.join(name));
    std::fs::canonicalize(path).into_iter().chain([own]).collect()
}
