//! Natures that follow from which program an effect is of.

#![allow(clippy::unwrap_used)]

use checkrein_effects::predict;
use checkrein_facts::VersionState;
use checkrein_protocol::{AbsolutePath, Action, EffectKind, Nature};
use checkrein_testkit::world::bare;

fn natures(command: &str, kind: EffectKind) -> Vec<Nature> {
    let home = AbsolutePath::new("/home/dev").unwrap();
    let workspace = home.join("proj");
    let world = bare().with_file(&home.join(".npmrc"), "x=1", VersionState::NoRepository);
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
