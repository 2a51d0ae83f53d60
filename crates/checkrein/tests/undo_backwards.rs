//! Going back only ever goes back: what an undo took back stays taken back, what was not there stays unless that is asked for, and a call
//! that never ran is no step.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, shell_call};

fn call(
    environment: &TestEnvironment,
    session: &str,
    event: &str,
    id: &str,
    command: &str,
    more: Json,
) -> Json {
    environment.answer_to(&environment.payload(session, event, shell_call(id, command, more)))
}

fn perform_in(environment: &TestEnvironment, session: &str, id: &str, command: &str) {
    let answer = call(environment, session, "PreToolUse", id, command, json!({}));
    assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
    let status = environment.command("bash").args(["-c", command]).stdin(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command}");
    let told = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
    call(environment, session, "PostToolUse", id, command, told);
}

fn perform(environment: &TestEnvironment, id: &str, command: &str) {
    perform_in(environment, "s", id, command);
}

/// Within one tick of the clock of the file system nobody can tell what came first.
fn tick() {
    std::thread::sleep(Duration::from_millis(60));
}

fn undo(environment: &TestEnvironment, more: &[&str]) -> String {
    let output = environment.checkrein(&[&["undo", "--yes"], more].concat());
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn mode(environment: &TestEnvironment, name: &str) -> u32 {
    fs::metadata(environment.project().join(name)).unwrap().permissions().mode() & 0o7777
}

fn set_mode(environment: &TestEnvironment, name: &str, mode: u32) {
    fs::set_permissions(environment.project().join(name), fs::Permissions::from_mode(mode)).unwrap();
}

fn exists(environment: &TestEnvironment, name: &str) -> bool {
    environment.project().join(name).exists()
}

fn project() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write("tests/one.txt", "one\n");
    environment.write("other.txt", "other\n");
    for (name, mode) in [(".", 0o755), ("tests", 0o755), ("tests/one.txt", 0o644), ("other.txt", 0o644)] {
        set_mode(&environment, name, mode);
    }
    environment
}

#[test]
fn force_never_removes_what_was_not_there() {
    for command in [
        "chmod -R 700 .",
        "find . -name '*.pyc' -delete; chmod -R 700 tests; python3 -c 'import os; os.remove(\"other.txt\")'",
    ] {
        let environment = project();
        perform(&environment, "call", command);
        tick();
        environment.write("mine.txt", "of the user\n");
        environment.write("tests/mine.txt", "of the user\n");
        fs::create_dir(environment.project().join("tests/empty")).unwrap();
        for more in [&["1"][..], &["1", "--force"], &["1", "--force"]] {
            let said = undo(&environment, more);
            for name in ["mine.txt", "tests/mine.txt", "tests/empty"] {
                assert!(exists(&environment, name), "{command} {more:?} {name}: {said}");
            }
            assert!(!said.contains("mine.txt  changed since"), "{command}: {said}");
        }
        assert_eq!(mode(&environment, "tests"), 0o755, "{command}");
        let shown = environment.checkrein(&["undo", "1", "--dry-run"]);
        let said = String::from_utf8_lossy(&shown.stdout);
        assert!(said.contains("mine.txt  was made after the action had ended"), "{command}: {said}");
        assert!(!said.contains("--remove-new"), "{command}: {said}");
        let said = undo(&environment, &["1", "--remove-new"]);
        assert!(exists(&environment, "tests/mine.txt"), "{command}: {said}");
    }
}

#[test]
fn what_a_later_call_made_stays_also_after_that_one_was_taken_back() {
    let environment = project();
    perform(&environment, "first", "rm -f nothing; chmod -R 750 .");
    tick();
    perform(&environment, "second", "python3 - <<'EOF'\nopen('gen.txt', 'w').write('hi')\nEOF");
    environment.write("mine.txt", "of the user\n");
    tick();
    perform(&environment, "third", "chmod -R 777 .");
    let said = undo(&environment, &[]);
    assert_eq!((mode(&environment, "tests"), mode(&environment, "gen.txt")), (0o750, 0o644), "{said}");
    let said = undo(&environment, &["first"]);
    assert_eq!(mode(&environment, "tests"), 0o755, "{said}");
    assert!(exists(&environment, "gen.txt") && exists(&environment, "mine.txt"), "{said}");
}

#[test]
fn modes_that_were_taken_back_stay_so() {
    for later in [
        "tar czf a.tgz other.txt && rm a.tgz",
        "rm other.txt",
        "sed -i s/other/more/ other.txt",
        "chmod 700 other.txt",
    ] {
        let environment = project();
        perform(&environment, "first", "chmod -R 777 .");
        tick();
        perform(&environment, "second", later);
        let said = undo(&environment, &["first"]);
        let modes = || [".", "tests", "tests/one.txt"].map(|name| mode(&environment, name));
        assert_eq!(modes(), [0o755, 0o755, 0o644], "{later}: {said}");
        let said = undo(&environment, &["second"]);
        assert_eq!(modes(), [0o755, 0o755, 0o644], "{later}: {said}");
        let said = undo(&environment, &["second", "--force"]);
        assert_eq!(modes(), [0o755, 0o755, 0o644], "{later}: {said}");
    }
}

#[test]
fn times_that_were_taken_back_stay_so() {
    let environment = project();
    let time = || fs::metadata(environment.project().join("tests/one.txt")).unwrap().modified().unwrap();
    let earlier = time();
    perform(&environment, "first", "touch -d 2001-01-01 tests/one.txt");
    tick();
    perform(&environment, "second", "chmod -R 700 .");
    undo(&environment, &["first", "--force"]);
    assert_eq!(time(), earlier);
    undo(&environment, &["second"]);
    assert_eq!((time(), mode(&environment, "tests")), (earlier, 0o755));
}

#[test]
fn a_call_that_never_ran_is_no_step() {
    let environment = project();
    environment.git(&["add", "-A"]);
    environment.commit("all");
    environment.git(&["remote", "add", "origin", "https://example.org/project.git"]);
    perform(&environment, "first", "rm other.txt");
    let answer = call(&environment, "s", "PreToolUse", "push", "git push --force origin main", json!({}));
    assert_eq!(decision(&answer), Some("ask"), "{answer}");
    environment.answer_to(&environment.payload("s", "PostToolBatch", json!({})));
    // Git writes its index anew when the times of a file are others.
    environment.write("tests/one.txt", "one\n");
    environment.git(&["status", "--short"]);
    let said = undo(&environment, &[]);
    assert!(exists(&environment, "other.txt") && !said.contains("push"), "{said}");
}

#[test]
fn a_session_is_not_newer_by_its_halt() {
    let environment = project();
    perform_in(&environment, "a", "first", "rm other.txt");
    tick();
    perform_in(&environment, "b", "second", "rm tests/one.txt");
    tick();
    environment.succeed(&["halt", "a"]);
    environment.succeed(&["resume", "a"]);
    let said = undo(&environment, &[]);
    assert!(exists(&environment, "tests/one.txt") && !said.contains("nothing is left"), "{said}");
}
