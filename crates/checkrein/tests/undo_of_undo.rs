//! The line that every `undo` ends with: `checkrein snapshot restore N` takes it back. Followed word for word it leads to the state before
//! that `undo`: contents, modes, links, directories, and nothing more than was there.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::json;
use support::{TestEnvironment, shell_call};

/// Calls that lose something, each in a project with `a` (untracked), `d/k`, `d/deep/l`, a link `s` to `a`, and `b`, a second name of `a`.
const CALLS: [&str; 16] = [
    "rm a",
    "rm -rf d",
    "rm -rf d a s b",
    "echo new > d/k",
    "rm -rf d; echo text > d",
    "rm a; mkdir a; echo in > a/in",
    "mv d e",
    "mv a e; mv d/k a",
    "chmod -R 600 d/deep/l",
    "rm s; ln -s d s",
    "ln -sf d/k a",
    "sed -i s/a/b/ d/k",
    ": > d/k; rm d/deep/l",
    "rm -rf d; mkdir -p d/deep; echo other > d/deep/l",
    "rm b; echo text > b",
    "find . -name 'l' -delete; rm d/k",
];

/// Everything in the project but what git keeps, by name.
fn picture(project: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![project.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            let facts = fs::symlink_metadata(&path).unwrap();
            let mode = facts.permissions().mode() & 0o7777;
            let what = if facts.is_symlink() {
                format!("link to {}", fs::read_link(&path).unwrap().display())
            } else if facts.is_dir() {
                if path.ends_with(".git") {
                    continue;
                }
                waiting.push(path.clone());
                format!("directory {mode:o}")
            } else {
                format!("file {mode:o} of {} names: {}", facts.nlink(), fs::read_to_string(&path).unwrap())
            };
            found.insert(path.strip_prefix(project).unwrap().to_string_lossy().into_owned(), what);
        }
    }
    found
}

/// The words of the line that takes an `undo` back.
fn advice(said: &str) -> Option<Vec<&str>> {
    let line = said.split('`').find(|part| part.starts_with("checkrein snapshot restore "))?;
    Some(line.split(' ').skip(1).chain(["--yes"]).collect())
}

/// What is said where the line does not lead back; `None` where it does.
fn fault(call: &str, is_told: bool) -> Option<String> {
    let environment = TestEnvironment::new();
    let project = environment.project();
    let run = |command: &str| {
        let mut bash = environment.command("bash");
        assert!(bash.args(["-c", command]).status().unwrap().success(), "{command}");
    };
    run("echo a > a; ln a b; mkdir -p d/deep; echo k > d/k; echo l > d/deep/l; ln -s a s");
    environment.answer_to(&environment.payload("s", "PreToolUse", shell_call("c", call, json!({}))));
    thread::sleep(Duration::from_millis(45));
    run(call);
    thread::sleep(Duration::from_millis(45));
    if is_told {
        let ended = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
        environment.answer_to(&environment.payload("s", "PostToolUse", shell_call("c", call, ended)));
    }
    let before = picture(&project);
    // Where nobody was told of the end, a user has to say that all of it is the call's.
    let options: &[&str] =
        if is_told { &["undo", "--yes"] } else { &["undo", "--yes", "--force", "--remove-new"] };
    let said = String::from_utf8_lossy(&environment.checkrein(options).stdout).into_owned();
    let Some(words) = advice(&said) else { return Some(format!("no line to follow: {said}")) };
    let output = environment.checkrein(&words);
    let now = picture(&project);
    if now == before && output.status.success() {
        return None;
    }
    let differs: Vec<String> = before
        .keys()
        .chain(now.keys())
        .filter(|name| before.get(*name) != now.get(*name))
        .map(|name| format!("{name}: {:?} -> {:?}", before.get(name), now.get(name)))
        .collect();
    Some(format!("{}: {differs:?}\n{said}\n{}", output.status, String::from_utf8_lossy(&output.stdout)))
}

#[test]
fn the_line_under_an_undo_leads_to_the_state_before_it() {
    let mut faults = Vec::new();
    for call in CALLS {
        for is_told in [true, false] {
            if let Some(fault) = fault(call, is_told) {
                faults.push(format!(
                    "`{call}`, its end {}: {fault}",
                    if is_told { "told" } else { "not told" }
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), 2 * CALLS.len(), faults.join("\n\n"));
}

#[test]
fn what_somebody_changed_after_an_undo_stays() {
    let environment = TestEnvironment::new();
    let path = environment.project().join("a");
    environment.write("a", "one\n");
    environment.bash("s", "rm a");
    fs::remove_file(&path).unwrap();
    let said = environment.succeed(&["undo", "--yes"]);
    fs::write(&path, "one, and more\n").unwrap();
    environment.checkrein(&advice(&said).unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), "one, and more\n");
}
