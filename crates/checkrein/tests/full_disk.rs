//! A disk on which nothing can be written any more: what looks goes on with a hint, what changes something is asked about or refused, and the
//! answer says why. When there is space again the session goes on with whole records.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::process::Command;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, shell_call};

/// How the disk is full.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Full {
    /// No file may grow: a limit of the process, which stands for a quota.
    Limit,
    /// A file system with no space left, where the state is kept.
    Space,
}

/// A shell script that runs the rest of its arguments where the disk is full.
fn script(full: Full) -> &'static str {
    match full {
        Full::Limit => "ulimit -f 0; shift; exec \"$@\"",
        Full::Space => {
            "mount -t tmpfs -o size=64k none \"$1\" && cp -r \"$1.before/.\" \"$1/\" && { cat /dev/zero > \"$1/fill\" || true; } 2> /dev/null; shift; exec \"$@\""
        }
    }
}

/// The hook where the disk is full.
fn hook(environment: &TestEnvironment, full: Full, profile: &str, payload: &[u8]) -> Json {
    let file = environment.home().join("payload.json");
    fs::write(&file, payload).unwrap();
    let mut command = match full {
        Full::Limit => environment.command("bash"),
        Full::Space => {
            let mut command = environment.command("unshare");
            command.args(["--user", "--map-root-user", "--mount", "bash"]);
            command
        }
    };
    let output = command
        .args(["-c", script(full), "bash"])
        .arg(environment.state())
        .args([env!("CARGO_BIN_EXE_checkrein-hook"), "claude"])
        .env("CHECKREIN_PROFILE", profile)
        .stdin(fs::File::open(&file).unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{full:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{full:?}: {error}: {output:?}"))
}

/// Whether this machine lets a test have a file system of its own.
fn has_own_mounts() -> bool {
    Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs none /tmp"])
        .output()
        .is_ok_and(|output| output.status.success())
}

fn nothing_unrecorded_passes(full: Full) {
    let environment = TestEnvironment::new();
    fs::create_dir_all(environment.state()).unwrap();
    fs::create_dir_all(environment.state().with_extension("before")).unwrap();
    let asked = |profile: &str, command: &str| {
        let payload = environment.payload("s", "PreToolUse", shell_call("call", command, json!({})));
        hook(&environment, full, profile, &payload)
    };
    let why = match full {
        Full::Limit => "File too large",
        Full::Space => "No space left on device",
    };
    for command in ["ls", "cat README.md"] {
        let answer = asked("interactive", command);
        assert_eq!(decision(&answer), None, "{full:?} {command}: {answer}");
        let hint = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
        assert!(hint.contains("cannot be recorded") && hint.contains(why), "{full:?} {command}: {answer}");
    }
    for command in ["echo b > b.txt", "rm README.md", "git reset --hard", "npm install left-pad"] {
        let answer = asked("interactive", command);
        assert_eq!(decision(&answer), Some("ask"), "{full:?} {command}: {answer}");
        assert!(answer.to_string().contains(why), "{full:?} {command}: {answer}");
        assert_eq!(decision(&asked("unattended", command)), Some("deny"), "{full:?} {command}");
    }
    assert_eq!(decision(&asked("interactive", "rm -rf ~")), Some("deny"));
    for (event, fields) in [
        ("SessionStart", json!({ "source": "startup" })),
        ("UserPromptSubmit", json!({ "prompt": "go on" })),
        ("Stop", json!({})),
    ] {
        let answer = hook(&environment, full, "interactive", &environment.payload("s", event, fields));
        // At the end of a turn nothing can be told to the model any more without going on with it.
        if event != "Stop" {
            let told = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
            assert!(
                told.contains("cannot record this session") && told.contains(why),
                "{full:?} {event}: {answer}"
            );
        }
    }
}

#[test]
fn nothing_unrecorded_passes_where_no_file_may_grow() {
    nothing_unrecorded_passes(Full::Limit);
}

#[test]
fn nothing_unrecorded_passes_where_no_space_is_left() {
    if has_own_mounts() {
        nothing_unrecorded_passes(Full::Space);
    } else {
        checkrein_testkit::not_run("no file systems of one's own");
    }
}

#[test]
fn a_session_goes_on_with_whole_records_when_there_is_space_again() {
    let environment = TestEnvironment::new();
    let call =
        |id: &str, command: &str| environment.payload("s", "PreToolUse", shell_call(id, command, json!({})));
    environment.answer_to(&call("one", "ls"));
    let full = hook(&environment, Full::Limit, "interactive", &call("two", "touch b.txt"));
    assert_eq!(decision(&full), Some("ask"), "{full}");
    assert_eq!(environment.answer_to(&call("three", "touch c.txt")), json!({}));
    let verified = environment.succeed(&["audit", "verify"]);
    assert!(verified.contains("intact"), "{verified}");
    let named = environment.records("s");
    let named = |id: &str| named.iter().any(|record| record["body"]["action_id"] == id);
    assert!(named("one") && !named("two") && named("three"));
}
