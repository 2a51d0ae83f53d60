//! Natures that follow from which program an effect is of.
//!
//! The last step of the interpretation, where the cause of an effect still is the program as it was called. From here on it is text for people.

use crate::effect::{Effect, EffectKind};
use crate::nature::Nature;
use crate::world::HostPaths;

/// Sets what follows from the program where nothing else is special about an effect.
pub(super) fn tell(effects: &mut [Effect], place: &HostPaths) {
    for effect in effects.iter_mut().filter(|effect| effect.nature == Nature::Ordinary) {
        let program = effect.cause.as_str();
        effect.nature = match effect.kind {
            EffectKind::PackageInstall if takes_away(program) => Nature::Removal,
            EffectKind::FileModify if is_own_setting(program, effect, place) => Nature::OwnSetting,
            EffectKind::FileCreate | EffectKind::FileModify if program == "ln" => Nature::Link,
            _ => Nature::Ordinary,
        };
    }
}

/// Whether a package manager is told to take something away: `npm uninstall`, `apt remove`, `pnpm unlink`.
fn takes_away(program: &str) -> bool {
    ["uninstall", "remove", "purge", "erase", "unlink"].iter().any(|word| program.contains(word))
}

/// Whether a program changes settings of its own in the home directory: `aws` those in `.aws`, `npm` those in `.npmrc`, `kubectl` those in
/// `.kube`.
fn is_own_setting(program: &str, effect: &Effect, place: &HostPaths) -> bool {
    let program = program.split(' ').next().unwrap_or_default();
    let Some(path) = effect.target.path().and_then(|path| path.relative_to(&place.home)) else {
        return false;
    };
    let is_named_after = |part: &str| {
        let name = part.trim_start_matches('.');
        name.len() >= LEAST_NAME && (program.starts_with(name) || name.starts_with(program))
    };
    path.starts_with('.') && program.len() >= LEAST_NAME && path.split('/').any(is_named_after)
}

/// The least length of a name that says to which program settings belong (ours).
const LEAST_NAME: usize = 3;
