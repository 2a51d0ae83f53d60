//! Keys of snapshots and of containment.

use std::time::{Duration, SystemTime};

use serde_json::{Value as Json, json};

use crate::scene::Scene;
use crate::{Pair, Row, row};

/// Nobody is near.
const UNATTENDED: &[Pair] = &[("profile", r#""unattended""#)];

/// No snapshot is too old.
const FOR_EVER: Pair = ("snapshots.retention_days", "100000");

/// Twenty days from now.
const LATER: u64 = 20 * 24 * 60 * 60;

pub fn rows() -> Vec<Row> {
    vec![
        row("snapshots.enabled", ["true", "false"], &[], |scene| {
            scene.write("project/notes.txt", "precious\n");
            scene.verdict("rm notes.txt");
            let kept: Vec<bool> =
                scene.bodies("review").iter().map(|body| body["snapshot"].is_object()).collect();
            format!("{kept:?}")
        }),
        row("snapshots.max_files", ["10000", "1"], &[], |scene| {
            for name in ["one", "two", "three"] {
                scene.write(&format!("project/notes/{name}"), "precious\n");
            }
            scene.verdict("rm -rf notes")
        }),
        row("snapshots.max_megabytes", ["256", "1"], &[], |scene| {
            large(scene);
            scene.verdict("rm large.bin")
        }),
        row("snapshots.max_ms", ["600000", "1"], &[], |scene| {
            // Up to 1,000 files no clock counts.
            for number in 0..1_500 {
                scene.write(&format!("project/notes/{number}"), &format!("precious {number}\n"));
            }
            scene.verdict("rm -rf notes")
        }),
        row("snapshots.approve", [r#""never""#, r#""recoverable""#], &[], |scene| {
            scene.verdict("echo x > src/main.rs")
        }),
        row("snapshots.session_start", ["true", "false"], &[], |scene| {
            start(scene, "s");
            kept(scene).len().to_string()
        }),
        row("snapshots.interval_minutes", ["100000", "30"], &[], |scene| {
            start(scene, "s");
            scene.write("project/fresh.txt", "fresh\n");
            let seen = found(scene, "seen");
            let hour_ago = SystemTime::now() - Duration::from_hours(1);
            std::fs::File::options().append(true).open(seen).unwrap().set_modified(hour_ago).unwrap();
            scene.verdict("mkdir made");
            kept(scene).len().to_string()
        }),
        row("snapshots.largest_file_megabytes", ["64", "1"], &[], |scene| {
            large(scene);
            start(scene, "s");
            let bytes: u64 = kept(scene).iter().map(|one| one["bytes"].as_u64().unwrap()).sum();
            (bytes > 1_000_000).to_string()
        }),
        row("snapshots.retention_days", ["100000", "14"], &[], cleared),
        row("snapshots.retention_count", ["1000", "1"], &[FOR_EVER], cleared),
        row("snapshots.retention_megabytes", ["5000", "1"], &[FOR_EVER], |scene| {
            large(scene);
            cleared(scene)
        }),
        row("snapshots.encrypt", ["true", "false"], &[], |scene| {
            scene.write("project/notes.txt", "marmalade\n");
            scene.verdict("rm notes.txt");
            let pack = std::fs::read(found(scene, "1")).unwrap();
            pack.windows(9).any(|part| part == b"marmalade").to_string()
        }),
        row("containment.commands", [r#""opaque""#, r#""off""#], UNATTENDED, |scene| scene.verdict("./tool")),
        row("containment.network", [r#""loopback""#, r#""none""#], UNATTENDED, |scene| {
            scene.asked("./tool")["hookSpecificOutput"]["updatedInput"]["command"].to_string()
        }),
    ]
}

/// A file of two megabytes that cannot be packed and is in no commit.
fn large(scene: &Scene) {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let bytes: Vec<u8> = (0..2 << 20).map(|_| next()).collect();
    std::fs::write(scene.at("project/large.bin"), bytes).unwrap();
}

fn start(scene: &Scene, session: &str) {
    let environment = &scene.environment;
    environment.answer_to(&environment.payload(session, "SessionStart", json!({ "source": "startup" })));
}

fn kept(scene: &Scene) -> Vec<Json> {
    let listed = scene.succeed(&["snapshots", "--json"]);
    listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// How many of two snapshots are left when another session starts twenty days later.
fn cleared(scene: &Scene) -> String {
    start(scene, "s");
    scene.write("project/fresh.txt", "fresh\n");
    scene.succeed(&["snapshot", "create"]);
    scene.machine().ahead(LATER).hook(&scene.environment.payload(
        "t",
        "SessionStart",
        json!({ "source": "startup" }),
    ));
    kept(scene).len().to_string()
}

/// The only file of this name in the state.
fn found(scene: &Scene, name: &str) -> std::path::PathBuf {
    let mut waiting = vec![scene.environment.state()];
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(directory).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => waiting.push(entry.path()),
                false if entry.file_name() == name => return entry.path(),
                false => {}
            }
        }
    }
    panic!("no file `{name}`")
}
