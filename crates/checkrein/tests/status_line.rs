//! The status line: one line from what the client says, whatever it says, and its place in the settings of the client.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value as Json, json};
use support::TestEnvironment;

/// What Claude Code 2.1.197 wrote to its status line, with another session.
const STATUS: &str = include_str!("payloads/claude-code-status/Status.json");

fn shown(environment: &TestEnvironment, input: &[u8]) -> String {
    said(environment, &["statusline"], input)
}

fn said(environment: &TestEnvironment, arguments: &[&str], input: &[u8]) -> String {
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let mut child = command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may have read enough before the end.
    drop(child.stdin.take().unwrap().write_all(input));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let line = String::from_utf8(output.stdout).unwrap();
    assert!(line.ends_with('\n') && line.lines().count() == 1 && line.chars().count() <= 121, "{line:?}");
    line.trim_end().to_owned()
}

#[test]
fn the_line_counts_the_calls_of_the_session_and_says_when_it_is_halted() {
    let environment = TestEnvironment::new();
    environment.write("notes/a.md", "the only copy\n");
    let status = |session: &str| {
        let mut status: Json = serde_json::from_str(STATUS).unwrap();
        status["session_id"] = json!(session);
        shown(&environment, status.to_string().as_bytes())
    };
    assert_eq!(status("s"), "checkrein no call reviewed yet | 1050 tokens | $0.03");
    assert!(!environment.state().join("sessions/s").exists(), "looking writes nothing");
    for command in ["ls", "rm -rf notes", "rm -rf ~"] {
        environment.bash("s", command);
    }
    assert_eq!(status("s"), "checkrein 3 calls: 1 ok, 1 saved, 1 stopped | 1050 tokens | $0.03");
    environment.succeed(&["halt", "--all", "--reason", "enough\u{1b}[2J\nfor today"]);
    let halted = status("s");
    assert_eq!(halted, "checkrein HALTED (`checkrein resume`) | … 1 stopped | 1050 tokens | $0.03");
    let reason = shown(&environment, br#"{"session_id": "none"}"#);
    assert!(reason.starts_with("checkrein HALTED (`checkrein resume`): enough"), "{reason}");
    assert!(!reason.contains('\u{1b}'), "{reason}");
    environment.succeed(&["resume", "--all"]);
    let line = "checkrein 3 calls: 1 ok, 1 saved, 1 stopped";
    assert_eq!(shown(&environment, br#"{"session_id": "s"}"#), line);
    environment.answer_to(&environment.payload("s", "SessionEnd", json!({ "reason": "exit" })));
    assert_eq!(
        shown(&environment, br#"{"session_id": "s"}"#),
        line,
        "the end of a session takes nothing away"
    );
    let told = said(&environment, &["--json", "statusline"], br#"{"session_id": "s"}"#);
    let told: Json = serde_json::from_str(&told).unwrap();
    assert_eq!(told, json!({ "schema": "checkrein/status-line/1", "line": line }));
}

#[test]
fn it_never_fails() {
    let environment = TestEnvironment::new();
    let deep = "[".repeat(200_000);
    let long = format!("{{\"session_id\": \"{}\"}}", "x".repeat(2 * 1024 * 1024));
    for input in ["", "{", "3", "null", "[]", "{}", "{\"session_id\": 3}", "\u{1b}[2J", &deep, &long] {
        assert!(
            shown(&environment, input.as_bytes()).starts_with("checkrein: the status on standard input"),
            "{input:.40}"
        );
    }
    for session in ["../../etc/passwd", "a/b", "\u{1b}[2J", &"x".repeat(5000)] {
        let line = shown(
            &environment,
            json!({ "session_id": session, "cost": 3, "context_window": [] }).to_string().as_bytes(),
        );
        assert_eq!(line, "checkrein no call reviewed yet", "{session:.40}");
    }
    fs::create_dir_all(environment.state().join("sessions/s")).unwrap();
    fs::write(environment.state().join("sessions/s/ledger.jsonl"), b"\xff\x00 not a record").unwrap();
    shown(&environment, br#"{"session_id": "s"}"#);
    // Nor where no home is known.
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let output = command.arg("statusline").env_remove("HOME").stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn it_is_registered_on_request_alone_and_never_in_place_of_another() {
    let environment = TestEnvironment::new();
    let settings = environment.project().join(".claude/settings.local.json");
    let line = || {
        let text = fs::read_to_string(&settings).unwrap_or_default();
        let value: Json = serde_json::from_str(&text).unwrap_or_default();
        value["statusLine"]["command"].as_str().map(str::to_owned)
    };
    environment.succeed(&["init", "--yes"]);
    assert_eq!(line(), None);
    let shown = environment.succeed(&["init", "--yes", "--statusline"]);
    assert!(shown.contains("status line"), "{shown}");
    let command = line().unwrap();
    assert!(command.ends_with(" statusline"), "{command}");
    let again = environment.succeed(&["init", "--yes", "--statusline"]);
    assert!(again.contains("nothing changed"), "{again}");
    assert!(environment.succeed(&["init", "--yes"]).contains("nothing changed"));
    assert_eq!(line().as_ref(), Some(&command), "`init` alone leaves it");
    let told = environment.checkrein(&["doctor"]);
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("status line"), "{told}");
    // The client runs the command line by a shell.
    let mut shell = environment.command("sh");
    let output = shell.args(["-c", &command]).stdin(Stdio::null()).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("checkrein: "));
    environment.succeed(&["uninstall", "--yes"]);
    assert!(!settings.exists(), "nothing is left of it");

    // That of the user for all projects stays, and is not covered by one of this project.
    let own = environment.home().join(".claude/settings.json");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    let text = r#"{"statusLine": {"type": "command", "command": "~/line.sh"}}"#;
    fs::write(&own, text).unwrap();
    let shown = environment.succeed(&["init", "--yes", "--statusline"]);
    assert!(shown.contains("stays as it is") && shown.contains("~/line.sh"), "{shown}");
    assert_eq!(line(), None);
    assert_eq!(fs::read_to_string(&own).unwrap(), text);
    environment.succeed(&["init", "--yes", "--user", "--statusline"]);
    let after: Json = serde_json::from_str(&fs::read_to_string(&own).unwrap()).unwrap();
    assert_eq!(after["statusLine"]["command"], "~/line.sh");
    environment.succeed(&["uninstall", "--yes", "--user"]);
    let after: Json = serde_json::from_str(&fs::read_to_string(&own).unwrap()).unwrap();
    assert_eq!(after["statusLine"]["command"], "~/line.sh");
}
