//! What a restore leaves alone: the places of the guard, and what an earlier undo put back; and how far back further ones go.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::process::{Output, Stdio};

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision};

const SETTINGS: &str = ".claude/settings.local.json";
const LOOSER: &str = "step_reviewer:\n  rules:\n    disabled: [prevent_history_rewrite]\n";

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn read(environment: &TestEnvironment, name: &str) -> Option<String> {
    fs::read_to_string(environment.project().join(name)).ok()
}

/// A call of a tool: the hook is asked, `done` happens, the hook is told.
fn perform(environment: &TestEnvironment, id: &str, tool: &str, input: &Json, done: impl FnOnce()) {
    let fields = json!({ "tool_name": tool, "tool_input": input, "tool_use_id": id });
    let answer = environment.answer_to(&environment.payload("s", "PreToolUse", fields.clone()));
    assert_ne!(decision(&answer), Some("deny"), "{input}: {answer}");
    done();
    let mut told = fields;
    told["tool_response"] = json!({ "stdout": "", "stderr": "", "interrupted": false });
    environment.answer_to(&environment.payload("s", "PostToolUse", told));
}

fn bash(environment: &TestEnvironment, id: &str, command: &str) {
    perform(environment, id, "Bash", &json!({ "command": command }), || {
        let mut shell = environment.command("bash");
        shell.args(["-c", command]).stdin(Stdio::null()).output().unwrap();
    });
}

fn write(environment: &TestEnvironment, id: &str, name: &str, text: &str) {
    let path = environment.project().join(name);
    perform(environment, id, "Write", &json!({ "file_path": path, "content": text }), || {
        environment.write(name, text);
    });
}

/// The settings that call the hook came after the snapshot: going back to it takes them away for nobody but a user who says so.
#[test]
fn no_restore_takes_the_settings_of_the_guard_away_unasked() {
    let environment = TestEnvironment::new();
    environment.write("notes.txt", "one\n");
    environment.succeed(&["snapshot", "create"]);
    environment.succeed(&["init", "--yes"]);
    environment.write("later.txt", "new\n");
    let settings = read(&environment, SETTINGS).expect("`init` writes them");
    let output = environment.checkrein(&["rollback", "1", "--remove-new", "--yes", "--force"]);
    assert_eq!(read(&environment, SETTINGS), Some(settings), "{}", said(&output));
    assert_eq!(read(&environment, "later.txt"), None, "the rest goes");
    assert!(said(&output).contains("--with-guard-files"), "{}", said(&output));
    let arguments = ["rollback", "1", "--remove-new", "--yes", "--with-guard-files"];
    let mut of_agent = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let refused = of_agent.args(arguments).env("CLAUDECODE", "1").stdin(Stdio::null()).output().unwrap();
    assert!(!refused.status.success() && said(&refused).contains("is for humans only"), "{}", said(&refused));
    assert!(read(&environment, SETTINGS).is_some());
    environment.succeed(&arguments);
    assert_eq!(read(&environment, SETTINGS), None, "the user may");
}

/// A looser policy does not come back by a restore, and when a user brings it back it waits for trust again.
#[test]
fn a_policy_that_was_replaced_comes_back_neither_by_a_restore_nor_trusted() {
    let environment = TestEnvironment::new();
    let forces = || environment.checkrein(&["check", "git push --force origin main"]).status.code();
    let strict = forces();
    environment.write("checkrein.yaml", LOOSER);
    environment.succeed(&["trust", "--yes"]);
    assert_ne!(forces(), strict, "it is trusted");
    environment.succeed(&["snapshot", "create"]);
    environment.write("checkrein.yaml", "profile: interactive\n");
    assert_eq!(forces(), strict);
    for more in [&["checkrein.yaml"][..], &[]] {
        let arguments = [&["rollback", "1"][..], more, &["--yes", "--force"]].concat();
        let output = environment.checkrein(&arguments);
        assert_eq!(read(&environment, "checkrein.yaml").unwrap(), "profile: interactive\n", "{more:?}");
        assert!(said(&output).contains("--with-guard-files"), "{}", said(&output));
    }
    let output = environment.checkrein(&["rollback", "1", "checkrein.yaml", "--yes", "--with-guard-files"]);
    assert_eq!(read(&environment, "checkrein.yaml").unwrap(), LOOSER, "{}", said(&output));
    assert_eq!(forces(), strict, "what came back is not trusted by itself: {}", said(&output));
    assert!(said(&output).contains("checkrein trust"), "{}", said(&output));
    environment.succeed(&["trust", "--yes"]);
    assert_ne!(forces(), strict);
}

/// The way back of a session spares them too, and a project below has settings of its own.
#[test]
fn an_undo_and_the_way_back_of_a_session_spare_them_too() {
    let environment = TestEnvironment::new();
    environment.write("sub/checkrein.yaml", LOOSER);
    environment.write("checkrein.yaml", LOOSER);
    environment.write("notes.txt", "one\n");
    bash(&environment, "first", "python3 -m unittest -q; rm notes.txt");
    for name in ["checkrein.yaml", "sub/checkrein.yaml"] {
        environment.write(name, "profile: interactive\n");
    }
    environment.checkrein(&["rollback", "--session", "s", "--before", "1", "--yes"]);
    environment.checkrein(&["undo", "first", "--yes", "--force", "--remove-new"]);
    for name in ["checkrein.yaml", "sub/checkrein.yaml"] {
        assert_eq!(read(&environment, name).unwrap(), "profile: interactive\n", "{name}");
    }
    assert_eq!(read(&environment, "notes.txt").unwrap(), "one\n");
}

fn undo(environment: &TestEnvironment) -> Output {
    environment.checkrein(&["undo", "--yes"])
}

/// Each further undo goes one action further back, over actions that had everything saved and changed nothing, until nothing is left.
#[test]
fn repeated_undo_goes_back_and_never_forward() {
    let environment = TestEnvironment::new();
    environment.write("a.txt", "a\n");
    environment.write("b.txt", "b\n");
    environment.write("notes/n", "note\n");
    environment.write("t/test_none.py", "import unittest\n");
    let test = "python3 -m unittest discover -s t -q";
    bash(&environment, "1", test);
    bash(&environment, "2", "rm -rf notes");
    bash(&environment, "3", test);
    write(&environment, "4", "b.txt", "EDITED\n");
    bash(&environment, "5", test);
    write(&environment, "6", "new.txt", "NEW\n");
    write(&environment, "7", "a.txt", "EDITED\n");
    bash(&environment, "8", test);
    let state =
        || ["a.txt", "b.txt", "notes/n", "new.txt"].map(|name| read(&environment, name).unwrap_or_default());
    for expected in
        [["a\n", "EDITED\n", "", "NEW\n"], ["a\n", "b\n", "", "NEW\n"], ["a\n", "b\n", "note\n", "NEW\n"]]
    {
        let output = undo(&environment);
        assert_eq!(state(), expected, "{}", said(&output));
        assert!(output.status.success(), "{}", said(&output));
    }
    for _ in 0..3 {
        let output = undo(&environment);
        assert_eq!(state(), ["a\n", "b\n", "note\n", "NEW\n"], "{}", said(&output));
        assert!(said(&output).contains("is left to take back"), "{}", said(&output));
    }
    // New work is taken back as ever, and no more than that.
    write(&environment, "9", "b.txt", "AGAIN\n");
    bash(&environment, "10", test);
    undo(&environment);
    assert_eq!(state(), ["a\n", "b\n", "note\n", "NEW\n"]);
    undo(&environment);
    assert_eq!(state(), ["a\n", "b\n", "note\n", "NEW\n"]);
}

/// The way forward is what the undo names.
#[test]
fn an_undo_is_taken_back_by_the_rollback_that_it_names() {
    let environment = TestEnvironment::new();
    environment.write("a.txt", "a\n");
    write(&environment, "1", "a.txt", "EDITED\n");
    bash(&environment, "2", "python3 -m unittest -q");
    let told = said(&undo(&environment));
    let named =
        told.split("`checkrein snapshot restore ").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    assert_eq!(read(&environment, "a.txt").unwrap(), "a\n");
    environment.succeed(&["rollback", named, "--yes"]);
    assert_eq!(read(&environment, "a.txt").unwrap(), "EDITED\n");
    undo(&environment);
    assert_eq!(read(&environment, "a.txt").unwrap(), "a\n", "and back again");
}

/// What was added by a push belongs to others: an undo says so and leaves it, and so does going back as a whole, there and back.
#[test]
fn a_repository_that_a_push_only_added_to_changes_by_no_undo() {
    for push in ["git push -q up main", "git push -q ../up.git main"] {
        let environment = TestEnvironment::new();
        environment.git(&["clone", "-q", "--bare", ".", "../up.git"]);
        environment.git(&["remote", "add", "up", "../up.git"]);
        environment.write("more.txt", "more\n");
        environment.git(&["add", "-A"]);
        environment.commit("second");
        let remote = environment.home().join("up.git");
        let holds = || {
            let mut git = environment.command("git");
            let output = git.args(["for-each-ref"]).current_dir(&remote).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let before = holds();
        bash(&environment, "1", push);
        let pushed = holds();
        assert_ne!(pushed, before, "{push}");
        for arguments in
            [&["undo", "--yes"][..], &["undo", "1", "--yes", "--force"], &["rollback", "1", "--yes"]]
        {
            let output = environment.checkrein(arguments);
            assert_eq!(holds(), pushed, "{push}: {arguments:?}: {}", said(&output));
            if arguments == ["undo", "--yes"] {
                assert!(said(&output).contains("what was pushed"), "{}", said(&output));
            }
        }
        let place = remote.to_str().unwrap();
        let output = environment.checkrein(&["rollback", "1", place, "--yes", "--remove-new"]);
        assert_eq!(holds(), before, "{push}: asked for by its path: {}", said(&output));
    }
}
