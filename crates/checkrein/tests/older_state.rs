//! What an older version left on the disk still reads: ledger, session state, halt and snapshots (`older_state/README.md` says what it holds).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value as Json, json};

const HOME: &str = "/tmp/checkrein-older-state";

fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("HOME", HOME).env("PATH", "/usr/bin:/bin").current_dir(format!("{HOME}/project"));
    command
}

fn checkrein(arguments: &[&str]) -> Output {
    command(env!("CARGO_BIN_EXE_checkrein")).args(arguments).output().unwrap()
}

fn succeed(arguments: &[&str]) -> String {
    let output = checkrein(arguments);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{arguments:?}: {said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

fn answer_to(call: &str) -> Json {
    let payload = json!({
        "session_id": "older", "cwd": format!("{HOME}/project"), "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_use_id": "later", "permission_mode": "default", "tool_input": { "command": call },
    });
    let mut child = command(env!("CARGO_BIN_EXE_checkrein-hook"))
        .arg("claude")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn what_an_older_version_left_is_read_and_gone_on_with() {
    let home = Path::new(HOME);
    if home.exists() {
        fs::remove_dir_all(home).unwrap();
    }
    fs::create_dir(home).unwrap();
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/older_state/home.tar.gz");
    assert!(
        Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(home).status().unwrap().success(),
        "unpacked"
    );

    // The ledger is whole, and says what happened.
    succeed(&["audit", "verify"]);
    let log = succeed(&["log", "--json"]);
    for part in ["rm -rf drafts", "\"block\"", "[masked:key:", "halted"] {
        assert!(log.contains(part), "{part}: {log}");
    }
    // The halt holds until a user lifts it; the session goes on in the same ledger.
    assert_eq!(answer_to("ls")["hookSpecificOutput"]["permissionDecision"], "deny");
    succeed(&["resume", "older"]);
    assert_eq!(answer_to("ls"), json!({}));
    succeed(&["audit", "verify"]);

    // What was saved comes back. That version left no trace of what an action made, and unpacking changed the file: it goes back by force alone.
    let (notes, draft) = (home.join("project/notes.txt"), home.join("project/drafts/one.txt"));
    assert_eq!(fs::read_to_string(&notes).unwrap(), "changed\n");
    assert!(!draft.exists());
    succeed(&["undo", "3", "--force", "--yes"]);
    assert_eq!(fs::read_to_string(&notes).unwrap(), "only here\n");
    succeed(&["undo", "2", "--yes"]);
    assert_eq!(fs::read_to_string(&draft).unwrap(), "chapter one\n");
    fs::remove_dir_all(home).unwrap();
}
