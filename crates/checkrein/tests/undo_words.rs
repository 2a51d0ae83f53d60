//! What `undo` says of what it leaves: by name, with one command for all of it, and without one where that would lose somebody's work.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use support::{TestEnvironment, decision, shell_call};

/// A program that nobody reads, since it is made up while it runs.
const UNREAD: &str = "python3 -c \"exec(bytes.fromhex('6f70656e28276f75742e747874272c20277727292e777269746528277827290a').decode())\"";

fn perform(environment: &TestEnvironment, id: &str, command: &str) {
    let call = |event: &str, more| {
        environment.answer_to(&environment.payload("s", event, shell_call(id, command, more)))
    };
    let answer = call("PreToolUse", json!({}));
    assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
    environment.command("bash").args(["-c", command]).stdin(Stdio::null()).output().unwrap();
    call("PostToolUse", json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } }));
    std::thread::sleep(Duration::from_millis(60));
}

/// Whether it succeeded, and what it said.
fn undo(environment: &TestEnvironment, more: &[&str]) -> (bool, String) {
    let output = environment.checkrein(&[&["undo", "--yes"][..], more].concat());
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

fn read(environment: &TestEnvironment, name: &str) -> String {
    fs::read_to_string(environment.project().join(name)).unwrap_or_else(|_| "-".to_owned())
}

/// Tries something in a fresh project until the looks after its calls reached everything, which they may not on a busy machine: `attempt`
/// prepares it, and the rest is judged.
fn with_whole_looks(attempt: impl Fn(&TestEnvironment)) -> TestEnvironment {
    for _ in 0..20 {
        let environment = TestEnvironment::new();
        attempt(&environment);
        let records = environment.records("s");
        let mut looks = records.iter().map(|record| &record["body"]["verification"]["looked"]);
        if looks.all(|looked| looked.is_null() || looked == "whole") {
            return environment;
        }
    }
    panic!("the machine is too busy");
}

#[test]
fn what_a_call_made_that_lost_nothing_is_named_with_the_way_to_remove_it() {
    let environment = TestEnvironment::new();
    perform(&environment, "call", UNREAD);
    assert_eq!(read(&environment, "out.txt"), "x");
    let (is_done, said) = undo(&environment, &[]);
    assert!(!is_done && said.contains("`out.txt`: made by a call that lost nothing"), "{said}");
    assert!(said.contains("`checkrein undo 1` removes it"), "{said}");
    let (is_done, said) = undo(&environment, &["1"]);
    assert!(is_done && read(&environment, "out.txt") == "-", "{said}");
}

#[test]
fn no_command_is_offered_that_writes_over_what_only_somebody_else_changed() {
    let environment = with_whole_looks(|environment| {
        ["a.txt", "b.txt", "c.txt"].iter().for_each(|name| environment.write(name, "before\n"));
        perform(environment, "call", UNREAD);
    });
    environment.write("a.txt", "of the user\n");
    environment.write("b.txt", "of the user too\n");
    let (is_done, said) = undo(&environment, &[]);
    assert!(is_done && !said.contains("--force"), "{said}");
    assert!(said.contains("a.txt  changed since, when the action had ended"), "{said}");
    assert_eq!(
        (read(&environment, "a.txt").as_str(), read(&environment, "out.txt").as_str()),
        ("of the user\n", "-")
    );
}

/// A call that did nothing is not in the way of an older one.
#[test]
fn a_call_after_which_only_others_changed_something_is_passed_over_by_name() {
    let environment = with_whole_looks(|environment| {
        environment.write("a.txt", "before\n");
        environment.write("lost.txt", "lost\n");
        perform(environment, "first", "rm lost.txt");
        perform(environment, "second", "python3 -c \"exec(bytes.fromhex('70617373').decode())\"");
    });
    environment.write("a.txt", "of the user\n");
    let (is_done, said) = undo(&environment, &[]);
    assert!(is_done && read(&environment, "lost.txt") == "lost\n", "{said}");
    assert!(
        said.contains("`a.txt` was changed since, when it had ended") && !said.contains("--force"),
        "{said}"
    );
    assert_eq!(read(&environment, "a.txt"), "of the user\n");
}

#[test]
fn what_is_kept_is_named_and_one_command_takes_all_of_it_back() {
    let environment = TestEnvironment::new();
    let names: Vec<String> = (0..8).map(|number| format!("note{number}.txt")).collect();
    names.iter().for_each(|name| environment.write(name, "before\n"));
    environment.write("lost.txt", "lost\n");
    perform(&environment, "first", "rm lost.txt");
    perform(&environment, "second", "for f in note*.txt; do echo two > $f; done");
    names.iter().for_each(|name| environment.write(name, "of the user\n"));
    let (is_done, said) = undo(&environment, &[]);
    assert!(!is_done && said.contains("`note0.txt`, `note1.txt`"), "{said}");
    assert!(said.contains("and 3 more were changed since and kept"), "{said}");
    let way = said.split('`').find(|part| part.starts_with("checkrein undo") && part.ends_with("--force"));
    let way = way.unwrap_or_else(|| panic!("{said}")).to_owned();
    assert_eq!(said.matches(&way).count(), 1, "{said}");
    let number = way.split(' ').nth(2).unwrap();
    let (_, said) = undo(&environment, &[number]);
    assert_eq!(said.matches(&way).count(), 1, "{said}");
    assert_eq!(said.matches("changed since; `--force`").count(), 8, "{said}");
    let (is_done, said) = undo(&environment, &[number, "--force"]);
    assert!(is_done && read(&environment, "note7.txt") == "before\n", "{said}");
}

#[test]
fn changed_rights_of_a_repository_come_back() {
    for command in
        ["chmod -R 000 .git", "chmod 500 .git", "chmod -R u-w .git", "chmod -R go+w .git/objects .git"]
    {
        let environment = TestEnvironment::new();
        let modes = || -> BTreeMap<PathBuf, u32> {
            let mut found = BTreeMap::new();
            let mut waiting = vec![environment.project().join(".git")];
            while let Some(path) = waiting.pop() {
                let facts = fs::symlink_metadata(&path).unwrap();
                if facts.is_dir() {
                    waiting
                        .extend(fs::read_dir(&path).into_iter().flatten().map(|entry| entry.unwrap().path()));
                }
                found.insert(path, facts.permissions().mode());
            }
            found
        };
        let before = modes();
        perform(&environment, "call", command);
        let (is_done, said) = undo(&environment, &[]);
        assert_eq!(modes(), before, "{command}: {said}");
        assert!(is_done, "{command}: {said}");
    }
}

#[test]
fn a_push_is_passed_over_and_its_remote_is_spoken_of_once() {
    let environment = TestEnvironment::new();
    let remote = environment.home().join("app.git");
    environment.git(&["init", "-q", "--bare", remote.to_str().unwrap()]);
    environment.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
    environment.write("notes.txt", "the only copy\n");
    perform(&environment, "remove", "rm notes.txt");
    perform(&environment, "push", "git push -q -u origin main");
    let known =
        || environment.command("git").args(["rev-parse", "-q", "--verify", "origin/main"]).output().unwrap();
    assert!(known().status.success(), "the push has run");
    let (is_done, said) = undo(&environment, &[]);
    assert!(is_done && read(&environment, "notes.txt") == "the only copy\n", "{said}");
    assert!(known().status.success(), "nobody meant the push: {said}");
    assert!(said.contains("what was pushed belongs to others") && !said.contains("stays as it is"), "{said}");
    let (is_done, said) = undo(&environment, &["push"]);
    assert!(is_done && !known().status.success(), "by its name it is taken back: {said}");
    assert_eq!(said.matches("stays as it is").count(), 1, "{said}");
}

#[test]
fn a_checkout_that_lost_nothing_does_not_stand_in_the_way_after_a_commit() {
    let environment = TestEnvironment::new();
    environment.write("notes.txt", "the only copy\n");
    perform(&environment, "remove", "rm notes.txt");
    perform(&environment, "checkout", "git checkout -- README.md");
    // The logs of git know seconds only.
    std::thread::sleep(Duration::from_millis(1_100));
    environment.write("README.md", "# project\nmore\n");
    let commit = "git add README.md && git -c user.name=dev -c user.email=d@l commit -qm two";
    perform(&environment, "commit", commit);
    let (is_done, said) = undo(&environment, &[]);
    assert!(is_done && read(&environment, "notes.txt") == "the only copy\n", "{said}");
    assert!(read(&environment, "README.md").ends_with("more\n"), "the commit stays: {said}");
    // One that lost something is the one that is meant, as before.
    environment.write("README.md", "work of an hour\n");
    perform(&environment, "lost", "git checkout -- README.md");
    std::thread::sleep(Duration::from_millis(1_100));
    perform(&environment, "empty", "git -c user.name=dev -c user.email=d@l commit -q --allow-empty -m three");
    let (_, said) = undo(&environment, &[]);
    assert_eq!(read(&environment, "README.md"), "work of an hour\n", "{said}");
}
