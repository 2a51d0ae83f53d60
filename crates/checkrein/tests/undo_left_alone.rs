//! What an action was about and left as it was is not offered for taking back: if it differs by now, that is somebody else's work.

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

use serde_json::json;
use support::{TestEnvironment, decision, shell_call};

fn run(environment: &TestEnvironment, command: &str) {
    environment.command("bash").args(["-c", command]).stdin(Stdio::null()).output().unwrap();
}

fn perform(environment: &TestEnvironment, command: &str) {
    let event = |name: &str, more| {
        environment.answer_to(&environment.payload("s", name, shell_call("call", command, more)))
    };
    let answer = event("PreToolUse", json!({}));
    assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
    run(environment, command);
    event("PostToolUse", json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } }));
}

fn undo(environment: &TestEnvironment, options: &[&str]) -> String {
    let output = environment.checkrein(&[&["undo", "--yes"], options].concat());
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn what_an_action_left_as_it_was_is_not_offered() {
    for command in [
        "sed -i s/nothing/something/ a",
        "touch a",
        "chmod 644 a",
        "cp a a.copy; mv a.copy a",
        "git checkout -q -- README.md",
        "git stash -q; git stash pop -q",
        "python3 -c pass",
    ] {
        let environment = TestEnvironment::new();
        environment.write("a", "one\n");
        perform(&environment, command);
        std::thread::sleep(std::time::Duration::from_millis(30));
        environment.write("a", "work of the user\n");
        run(&environment, "git status");
        for options in [&[][..], &["--remove-new"], &["--force"]] {
            let said = undo(&environment, options);
            assert!(!said.contains("--force"), "{command}, {options:?}: {said}");
            let stands = fs::read_to_string(environment.project().join("a")).unwrap();
            assert_eq!(stands, "work of the user\n", "{command}, {options:?}: {said}");
        }
    }
}

/// A directory that may be written to but not listed cannot be saved. Moved, it stays where it is as long as something in it does.
#[test]
fn what_cannot_be_listed_is_left_where_it_was_moved_to() {
    let environment = TestEnvironment::new();
    environment.write("in/known", "only here\n");
    let mode = |name: &str, mode| {
        fs::set_permissions(environment.project().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("in", 0o300);
    // Nothing is closed to who has all rights: there it goes back like any other.
    let lists_everything = fs::read_dir(environment.project().join("in")).is_ok();
    perform(&environment, "mv in out");
    let said = undo(&environment, &[]);
    if lists_everything {
        let known = fs::read_to_string(environment.project().join("in/known"));
        assert_eq!(known.ok().as_deref(), Some("only here\n"), "{said}");
        return;
    }
    assert!(said.contains("something in it is kept") && !said.contains("not empty"), "{said}");
    mode("out", 0o700);
    let known = fs::read_to_string(environment.project().join("out/known"));
    assert_eq!(known.ok().as_deref(), Some("only here\n"), "{said}");
}

#[test]
fn what_became_a_directory_comes_back_when_what_is_new_may_go() {
    for command in ["rm link; mkdir link; touch link/x", "rm a; mkdir a; echo x > a/x"] {
        let environment = TestEnvironment::new();
        environment.write("a", "one\n");
        std::os::unix::fs::symlink("a", environment.project().join("link")).unwrap();
        perform(&environment, command);
        let said = undo(&environment, &["--remove-new"]);
        let at = |name: &str| fs::symlink_metadata(environment.project().join(name)).unwrap();
        assert!(at("link").is_symlink() && at("a").is_file(), "{command}: {said}");
    }
}
