//! `find` with tests of length, age and mode, against the real program: what it prints is what is found.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

use serde_json::Value as Json;
use support::TestEnvironment;

/// A day and the time of day of most files, in minutes.
const DAY: u64 = 24 * 60;
const LATE: u64 = 5 * 60;

/// Files by name: length, age in minutes, mode. The ages of a few are no whole hours, so that a unit that is begun counts.
const FILES: [(&str, usize, u64, u32); 9] = [
    ("empty", 0, LATE, 0o644),
    ("one", 1, DAY + LATE, 0o600),
    ("block", 512, 3 * DAY + LATE, 0o755),
    ("more", 513, 7 * DAY + LATE, 0o644),
    ("kilo", 1024, 30 * DAY + LATE, 0o640),
    ("large", 1_048_577, 31 * DAY + LATE, 0o444),
    ("old", 2048, 400 * DAY + LATE, 0o4755),
    ("begun", 3, 89, 0o644),
    ("evening", 3, 20 * 60 + 31, 0o644),
];

const TESTS: [&str; 30] = [
    "-size 0",
    "-size 1",
    "-size +1",
    "-size -2",
    "-size 1c",
    "-size +512c",
    "-size -1k",
    "-size 1k",
    "-size +1k",
    "-size +1M",
    "-size -1M",
    "-size 2M",
    "-mtime +30",
    "-mtime -7",
    "-mtime 3",
    "-mtime +6 -size +1",
    "-mmin -60",
    "-mmin +1440",
    "-perm 644",
    "-perm -600",
    "-perm /111",
    "-perm 4755",
    "-perm /0",
    "-newer x/more",
    "! -newer x/kilo",
    "-size +1k -o -perm 600",
    "-not -size +1",
    "-size 1G",
    "-mmin -100",
    "-mmin +120",
];

/// What only the time of the run or an option can tell: it may be, and is not certain where the program does not find it.
const OPEN: [&str; 9] = [
    "-mmin -89",
    "-mmin +88",
    "-mmin 89",
    "-mmin 95",
    "-daystart -mtime +0",
    "-daystart -mtime 0",
    "-newer x/link",
    "-perm -u+x",
    "-newer x/missing",
];

#[test]
fn what_is_deleted_is_what_the_program_finds() {
    let environment = TestEnvironment::new();
    let folder = environment.project().join("x");
    fs::create_dir(&folder).unwrap();
    for (name, length, minutes, mode) in FILES {
        let path = folder.join(name);
        fs::write(&path, vec![b'x'; length]).unwrap();
        let time = SystemTime::now() - Duration::from_secs(minutes * 60 - 30);
        fs::File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    std::os::unix::fs::symlink("kilo", folder.join("link")).unwrap();
    for test in TESTS.into_iter().chain(OPEN) {
        let mut find = environment.command("find");
        let words = ["x", "-type", "f", "("].into_iter().chain(test.split(' ')).chain([")", "-print"]);
        let printed = find.args(words).output().unwrap();
        let text = String::from_utf8(printed.stdout).unwrap();
        let real: BTreeSet<&str> = text.lines().filter_map(|line| line.strip_prefix("x/")).collect();
        let (certain, possible) = predicted(&environment, &format!("find x -type f \\( {test} \\) -delete"));
        let certain: BTreeSet<&str> = certain.iter().map(String::as_str).collect();
        let all: BTreeSet<&str> =
            possible.iter().map(String::as_str).chain(certain.iter().copied()).collect();
        assert!(certain.is_subset(&real) && real.is_subset(&all), "{test}: {real:?}, {certain:?}, {all:?}");
        if !OPEN.contains(&test) {
            assert_eq!(all, real, "{test}");
        }
    }
}

#[test]
fn what_the_action_changed_before_is_open() {
    let environment = TestEnvironment::new();
    let folder = environment.project().join("x");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("a"), "text").unwrap();
    for before in ["truncate -s0 x/a", "touch -d 2001-01-01 x/a", "chmod 777 x/a", "./changer"] {
        for test in ["-size 0", "-mtime +30", "-perm 777"] {
            let (certain, possible) =
                predicted(&environment, &format!("{before}; find x -type f {test} -delete"));
            assert!(certain.is_empty(), "{before}, {test}: {certain:?}");
            assert_eq!(possible, ["a".to_owned()].into(), "{before}, {test}");
        }
    }
}

/// The names that are deleted for certain, and those that may be.
fn predicted(environment: &TestEnvironment, command: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let output = environment.checkrein(&["check", "--json", command]);
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    let mut found = (BTreeSet::new(), BTreeSet::new());
    for effect in
        answer["effects"].as_array().unwrap().iter().filter(|effect| effect["kind"] == "file_delete")
    {
        let Some(name) = effect["target"].as_str().and_then(|path| path.rsplit('/').next()) else { continue };
        // What nothing fits now may fit by then: that is a pattern.
        if name.contains('*') {
            continue;
        }
        let names = if effect["certainty"] == "certain" { &mut found.0 } else { &mut found.1 };
        names.insert(name.to_owned());
    }
    found
}
