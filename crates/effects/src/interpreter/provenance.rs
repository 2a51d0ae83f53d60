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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::Action;
    use crate::path::AbsolutePath;
    use crate::predict::predict;
    use crate::world::VersionState;
    use checkrein_facts::RecordedWorld;

    fn natures(command: &str, kind: EffectKind) -> Vec<Nature> {
        let home = AbsolutePath::new("/home/dev").unwrap();
        let workspace = home.join("proj");
        let place = HostPaths {
            home: home.clone(),
            user: None,
            workspace: workspace.clone(),
            temporary: vec![],
            guarded: vec![],
            expected: vec![],
        };
        let world = RecordedWorld::complete(place).with_directory(&workspace).with_file(
            &home.join(".npmrc"),
            "x=1",
            VersionState::NoRepository,
        );
        let effects = predict(&Action::command(command, workspace), &world).effects;
        effects.iter().filter(|effect| effect.kind == kind).map(|effect| effect.nature).collect()
    }

    #[test]
    fn what_is_taken_away_is_told_from_what_is_installed() {
        for command in ["npm uninstall x", "apt-get remove x", "yarn unlink x", "uv remove x", "dpkg -P x"] {
            assert_eq!(natures(command, EffectKind::PackageInstall), [Nature::Removal], "{command}");
        }
        for command in ["npm install x", "apt-get install x", "yarn link x", "uv add x", "dpkg -i x"] {
            assert_eq!(natures(command, EffectKind::PackageInstall), [Nature::Ordinary], "{command}");
        }
    }

    #[test]
    fn settings_belong_to_the_program_that_they_are_named_after() {
        let changed = |command: &str| natures(command, EffectKind::FileModify);
        assert_eq!(changed("npm config set x 2"), [Nature::OwnSetting]);
        assert_eq!(changed("cp package.json ~/.npmrc"), [Nature::Ordinary]);
        assert_eq!(changed("echo x >> ~/.npmrc"), [Nature::AppendedByRedirection]);
    }
}
