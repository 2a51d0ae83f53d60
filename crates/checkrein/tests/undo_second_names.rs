//! Files with several names (hard links): `undo` gives the content back under each of them, and makes them one file again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::Stdio;

use serde_json::json;
use support::{TestEnvironment, decision, shell_call};

const TEXT: &str = "only here\n";

/// A project, and beside it a folder with a file that is `here.txt` in the project as well.
fn project() -> TestEnvironment {
    let environment = TestEnvironment::new();
    let other = environment.home().join("other/deep");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("letter.txt"), TEXT).unwrap();
    fs::hard_link(other.join("letter.txt"), environment.project().join("here.txt")).unwrap();
    environment.write("own.txt", TEXT);
    environment
}

fn perform(environment: &TestEnvironment, command: &str) {
    let call = |event: &str, more| {
        environment.answer_to(&environment.payload("s", event, shell_call("call", command, more)))
    };
    let answer = call("PreToolUse", json!({}));
    assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
    let status = environment.command("bash").args(["-c", command]).stdin(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command}");
    call("PostToolUse", json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } }));
}

#[test]
fn a_name_outside_the_workspace_is_the_same_file_again() {
    for command in [
        "echo x > here.txt",
        "rm here.txt",
        "sed -i s/only/nowhere/ here.txt",
        "mv own.txt here.txt",
        "python3 -c 'import os; os.remove(input() if 0 else \"here.txt\")'",
    ] {
        let environment = project();
        let letter = environment.home().join("other/deep/letter.txt");
        let number = fs::metadata(&letter).unwrap().ino();
        perform(&environment, command);
        let said = environment.checkrein(&["undo", "--yes"]);
        let here = environment.project().join("here.txt");
        assert_eq!(fs::read_to_string(&letter).unwrap(), TEXT, "{command}: {said:?}");
        assert_eq!(fs::read_to_string(&here).unwrap(), TEXT, "{command}: {said:?}");
        assert_eq!(fs::metadata(&here).unwrap().ino(), number, "{command}: {said:?}");
    }
}

#[test]
fn what_was_written_by_a_name_that_the_same_call_made_is_taken_back() {
    for command in [
        "ln own.txt second.txt && echo x > second.txt",
        "cp -l own.txt second.txt && echo x > second.txt",
        "ln own.txt second.txt; ln second.txt third.txt; echo x > third.txt",
    ] {
        let environment = project();
        perform(&environment, command);
        let own = environment.project().join("own.txt");
        assert_ne!(fs::read_to_string(&own).unwrap(), TEXT, "{command}: changed nothing");
        let said = environment.checkrein(&["undo", "--yes"]);
        assert_eq!(fs::read_to_string(&own).unwrap(), TEXT, "{command}: {said:?}");
        assert!(!environment.project().join("second.txt").exists(), "{command}: {said:?}");
    }
}
