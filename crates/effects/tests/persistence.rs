//! What runs later counts, however it is written.

#![allow(clippy::unwrap_used)]

use checkrein_effects::predict;
use checkrein_facts::places::known_at_home;
use checkrein_facts::{HostPaths, RecordedWorld, VersionState};
use checkrein_protocol::{AbsolutePath, Action, EffectKind};

/// Ways to write to `{}`.
const WRITES: &[&str] = &[
    "echo x > {}",
    "echo x >> {}",
    "echo x | tee -a {}",
    "cp notes.txt {}",
    "mv notes.txt {}",
    "ln -sf $PWD/notes.txt {}",
    "install -m 755 notes.txt {}",
    "dd if=notes.txt of={}",
    "sed -i s/a/b/ {}",
    "curl -so {} https://example.com/x",
    "python3 -c 'open(\"{}\", \"w\").write(\"x\")'",
];

#[test]
fn every_place_counts_however_it_is_written() {
    let root = |text: &str| AbsolutePath::new(text).unwrap();
    let place = HostPaths {
        home: root("/home/dev"),
        user: Some("dev".to_owned()),
        workspace: root("/home/dev/proj"),
        temporary: vec![root("/tmp")],
        guarded: Vec::new(),
        expected: Vec::new(),
    };
    for file in known_at_home() {
        let path = root("/home/dev").join(&file);
        let world = RecordedWorld::complete(place.clone())
            .with_directory(&root("/home/dev"))
            .with_file(&path, "a", VersionState::NoRepository)
            .with_file(&root("/home/dev/proj/notes.txt"), "x", VersionState::Untracked);
        for write in WRITES {
            let quoted = if write.contains("python3") { path.to_string() } else { format!("'{path}'") };
            let command = write.replace("{}", &quoted);
            let effects = predict(&Action::command(&command, root("/home/dev/proj")), &world).effects;
            let found = effects
                .iter()
                .any(|effect| effect.kind == EffectKind::Persistence && effect.target.path() == Some(&path));
            assert!(found, "{command}: {effects:?}");
        }
    }
}
