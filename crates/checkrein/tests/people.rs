//! What people name and answer at the command line, and what they read about it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::process::Output;

use serde_json::json;
use support::terminal::typed;
use support::{TestEnvironment, shell_call};

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_empty_name_and_one_that_several_have_are_errors() {
    let environment = TestEnvironment::new();
    for session in ["one", "only"] {
        for number in 1..5 {
            let id = format!("toolu_{session}_{number}");
            let call = shell_call(&id, "ls", json!({}));
            environment.answer_to(&environment.payload(session, "PreToolUse", call));
        }
    }
    environment.succeed(&["run", "--", "true"]);
    environment.succeed(&["run", "--", "true"]);
    // A whole name, though another one begins with it.
    let call = shell_call("toolu_one", "ls", json!({}));
    environment.answer_to(&environment.payload("one", "PreToolUse", call));
    assert!(environment.succeed(&["show", "toolu_one"]).contains("toolu_one\n"));
    for arguments in [
        &["show"][..],
        &["run", "show"],
        &["incident", "show"],
        &["undo", "--yes"],
        &["log", "--session"],
        &["audit", "verify"],
        &["audit", "export"],
        &["surprise", "list", "--session"],
        &["session", "recover"],
        &["session", "rollback", "--before", "1", "--dry-run"],
    ] {
        let empty = environment.checkrein(&[arguments, &[""]].concat());
        assert_eq!(empty.status.code(), Some(1), "{arguments:?}: {}", said(&empty));
        let words = said(&empty);
        assert!(words.contains(" is empty\nhint: `checkrein "), "{arguments:?}: {words}");
        assert!(empty.stdout.is_empty(), "{arguments:?}");
    }
    for (arguments, words) in [
        (&["show", "toolu_on"][..], "9 actions begin with `toolu_on`: `toolu_on"),
        (&["show", "on:1"], "2 sessions begin with `on`: `on"),
        (&["session", "recover", "on"], "2 sessions begin with `on`: `on"),
        (&["halt", "on"], "; nothing was changed"),
        (&["run", "show", "20"], "2 runs begin with `20`: `20"),
        (
            &["session", "rollback", "one", "--before", "toolu_", "--dry-run"],
            "5 actions begin with `toolu_`: `toolu_one",
        ),
    ] {
        let ambiguous = environment.checkrein(arguments);
        assert_eq!(ambiguous.status.code(), Some(1), "{arguments:?}: {}", said(&ambiguous));
        assert!(said(&ambiguous).contains(words), "{arguments:?}: {}", said(&ambiguous));
        assert!(said(&ambiguous).contains("\nhint: give more of the name"), "{arguments:?}");
        assert!(ambiguous.stdout.is_empty(), "{arguments:?}");
    }
    assert!(said(&environment.checkrein(&["show", "toolu_on"])).contains(", and 4 more\n"));
}

#[test]
fn a_no_is_not_an_error() {
    let environment = TestEnvironment::new();
    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
    environment.write("notes.txt", "one\n");
    environment.bash("s", "rm notes.txt");
    fs::remove_file(environment.project().join("notes.txt")).unwrap();
    environment.succeed(&["run", "--worktree", "task", "--", "touch", "made"]);
    let program = env!("CARGO_BIN_EXE_checkrein");
    for command in [
        "undo",
        "snapshot restore 2",
        "session rollback s --before 1",
        "worktree merge task",
        "worktree discard task",
        "init",
    ] {
        let terminal = typed(&environment, &format!("{program} {command}"), "n\n");
        assert!(terminal.contains("[y/N]") && terminal.ends_with("status:1\n"), "{command}: {terminal}");
        assert!(!terminal.contains("error") && !terminal.contains("hint"), "{command}: {terminal}");
        let arguments: Vec<&str> = command.split(' ').collect();
        let unasked = environment.checkrein(&arguments);
        let words = said(&unasked);
        assert_eq!(unasked.status.code(), Some(1), "{command}: {words}");
        assert!(
            words.contains("there is no terminal to ask at") && words.contains("`--yes`"),
            "{command}: {words}"
        );
    }
    assert!(!environment.project().join("notes.txt").exists());
}
