//! Warnings at half and at four fifths of a budget, each once: in the client, the log, the status line, by a notice, and in the lines of a run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use support::terminal::at_a_terminal;
use support::{TestEnvironment, shell_call};

const MODEL: &str = "claude-sonnet-4-5-20250929";

/// One more call after an answer that costs about 15 cents; the line for the user.
fn call(environment: &TestEnvironment, number: u32) -> String {
    let transcript = environment.home().join("transcript.jsonl");
    let row = json!({ "type": "assistant", "message": {
        "id": format!("m{number}"), "model": MODEL, "content": [{ "type": "text", "text": "working" }],
        "usage": { "input_tokens": 0, "output_tokens": 10_000 },
    }});
    let mut file = fs::OpenOptions::new().create(true).append(true).open(&transcript).unwrap();
    writeln!(file, "{row}").unwrap();
    let mut fields = shell_call(
        &format!("call-{number}"),
        &format!("cat README.md # {number}"),
        json!({ "transcript_path": transcript }),
    );
    environment.answer_to(&environment.payload("s", "PreToolUse", fields.clone()));
    fields["tool_response"] = json!({ "stdout": format!("# {number}"), "stderr": "" });
    let after = environment.answer_to(&environment.payload("s", "PostToolUse", fields));
    after["systemMessage"].as_str().unwrap_or_default().to_owned()
}

fn status_line(environment: &TestEnvironment) -> String {
    let mut child = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .arg("statusline")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(br#"{"session_id": "s"}"#).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn a_session_is_warned_of_at_each_share_once() {
    let environment = TestEnvironment::new();
    environment.configure(
        "config.yaml",
        "limits:\n  dollars: 1\ninterventions:\n  emergency_stop:\n    notification_channels: [command]\nnotifications:\n  command: cat >> told.json; echo >> told.json\n",
    );
    let mut lines = Vec::new();
    for number in 1..=3 {
        lines.push(call(&environment, number));
    }
    assert!(!status_line(&environment).contains('%'), "{}", status_line(&environment));
    for number in 4..=6 {
        lines.push(call(&environment, number));
    }
    let said: Vec<(usize, &String)> = lines.iter().enumerate().filter(|(_, line)| !line.is_empty()).collect();
    let [(half_at, half), (most_at, most)] = said.as_slice() else { panic!("{lines:?}") };
    assert!((*half_at, *most_at) == (3, 5), "{lines:?}");
    assert!(half.contains("50 % of the budget is spent: 0.60 of 1.00 dollars"), "{half}");
    assert!(most.contains("80 % of the budget is spent: 0.90 of 1.00 dollars"), "{most}");
    let log = environment.succeed(&["log", "-n", "100"]);
    assert_eq!(log.matches("warned you of what is spent").count(), 2, "{log}");
    assert!(log.contains("80 % of the budget"), "{log}");
    let line = status_line(&environment);
    assert!(line.contains("90 % of $1.00"), "{line}");
    let told = || {
        let text = fs::read_to_string(environment.project().join("told.json")).unwrap_or_default();
        text.matches("of the budget is spent").count()
    };
    let patience = Instant::now() + Duration::from_secs(20);
    while told() < 2 && Instant::now() < patience {
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(told(), 2, "a notice for each");
}

// Each limit has a ladder of its own: the user is warned at half, the user and the agent at four fifths, and then the call is refused.
#[test]
fn each_limit_warns_with_its_own_numbers() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "limits:\n  file_operations: 10\n  tokens: 900000000\n");
    let mut said = Vec::new();
    for number in 1..=11 {
        let id = format!("w{number}");
        let command = format!("echo {number} > file{number}.txt");
        let before = environment.answer_to(&environment.payload(
            "s",
            "PreToolUse",
            shell_call(&id, &command, json!({})),
        ));
        environment.write(&format!("file{number}.txt"), "x\n");
        let response = json!({ "stdout": "", "stderr": "", "interrupted": false });
        let after = environment.answer_to(&environment.payload(
            "s",
            "PostToolUse",
            shell_call(&id, &command, json!({ "tool_response": response })),
        ));
        said.push((before, after));
    }
    let line = |number: usize| said[number - 1].1["systemMessage"].as_str().unwrap_or_default().to_owned();
    let hint = |number: usize| said[number - 1].1["hookSpecificOutput"]["additionalContext"].to_string();
    let half =
        "checkrein: 50 % of the file operations of this session are used: 5 of 10 (`limits.file_operations`)";
    assert_eq!(line(5), half);
    assert!(!hint(5).contains("Finish"), "the agent hears of it when it is late: {}", hint(5));
    assert!(
        line(8).contains("80 % of the file operations") && hint(8).contains("8 of 10. Finish what"),
        "{said:?}"
    );
    assert!([4, 6, 7, 9, 10].iter().all(|number| !line(*number).contains('%')), "{said:?}");
    let refused = said[10].0["hookSpecificOutput"]["permissionDecisionReason"].to_string();
    assert!(refused.contains("10"), "{refused}");
    let log = environment.succeed(&["log", "-n", "100"]);
    assert!(log.contains("80 % of the file operations"), "{log}");
}

#[test]
fn a_run_warns_at_each_share_once_and_tells_of_an_estimate_once() {
    let environment = TestEnvironment::new();
    let mut script = String::from("echo '{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}'\n");
    for number in 1..=9 {
        let row: Json = json!({ "type": "assistant", "session_id": "s", "message": {
            "id": format!("m{number}"), "model": "claude-opus-nobody", "content": [],
            "usage": { "input_tokens": 0, "output_tokens": 10_000 },
        }});
        script.extend(["echo '", &row.to_string(), "'; sleep 0.3\n"]);
    }
    environment.write("agent.sh", &script);
    let priced = ["run", "--price", "0,10", "--budget", "1", "--", "sh", "agent.sh"];
    let output = environment.checkrein(&priced);
    let said = String::from_utf8(output.stderr).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(said.matches("50 % of the budget").count(), 1, "{said}");
    assert_eq!(said.matches("80 % of the budget").count(), 1, "{said}");
    let output = environment.checkrein(&["run", "--budget", "90", "--", "sh", "agent.sh"]);
    let said = String::from_utf8(output.stderr).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(said.matches("no price is listed").count(), 1, "{said}");
    // Without a budget nothing rests on it while the agent runs: it is told at the end.
    let output = environment.checkrein(&["run", "--", "sh", "agent.sh"]);
    let said = String::from_utf8(output.stderr).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(said.matches("no price is listed").count(), 1, "{said}");
}

/// How it goes stands on one line that is written over; a warning takes its place and begins a line of its own.
#[test]
fn a_warning_beside_the_line_of_progress_begins_a_line() {
    let environment = TestEnvironment::new();
    let mut script = String::from("echo '{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}'\n");
    for number in 1..=4 {
        let row: Json = json!({ "type": "assistant", "session_id": "s", "message": {
            "id": format!("m{number}"), "model": MODEL, "content": [],
            "usage": { "input_tokens": 0, "output_tokens": 10_000 },
        }});
        script.extend(["echo '", &row.to_string(), "'; sleep 1.2\n"]);
    }
    environment.write("agent.sh", &script);
    let program = env!("CARGO_BIN_EXE_checkrein");
    // Nothing but what is said beside the agent reaches the terminal.
    let session = format!(
        "export TERM=xterm; stty rows 24 cols 100; {program} run --budget 1 -- sh agent.sh > out.jsonl"
    );
    let (mut child, keyboard) = at_a_terminal(&environment, &session);
    let mut written = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut written).unwrap();
    drop(keyboard);
    child.wait().unwrap();
    let text = String::from_utf8_lossy(&written);
    assert!(text.contains(" answers \u{b7} "), "no line of progress was shown: {text}");
    let mut screen = vt100::Parser::new(24, 100, 0);
    screen.process(&written);
    let rows: Vec<String> = screen.screen().rows(0, 100).collect();
    assert!(rows.iter().any(|row| row.starts_with("checkrein: 50 % of the budget")), "{rows:#?}");
    assert!(!rows.iter().any(|row| row.find("checkrein: ").is_some_and(|place| place > 0)), "{rows:#?}");
    assert!(
        !rows.iter().any(|row| row.contains(" answers \u{b7} ") && !row.contains('(')),
        "it stays: {rows:#?}"
    );
}

#[test]
fn one_session_that_cannot_be_read_hides_no_other_and_keeps_nobody_from_halting() {
    let environment = TestEnvironment::new();
    environment.bash("good", "ls -a");
    environment.bash("bad", "ls -l");
    let ledger = environment.state().join("sessions/bad/ledger.jsonl");
    fs::remove_file(&ledger).unwrap();
    let pipe = environment.home().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink(&pipe, &ledger).unwrap();
    for cached in ["state", "state.twin"] {
        drop(fs::remove_file(ledger.with_file_name(cached)));
    }
    let log = environment.checkrein(&["log"]);
    let text = String::from_utf8(log.stdout).unwrap();
    assert!(log.status.success() && text.contains("ls -a"), "{text}");
    assert!(String::from_utf8(log.stderr).unwrap().contains("bad"), "it is named");
    let listed = environment.succeed(&["session", "list"]);
    assert!(listed.contains("good") && listed.contains("cannot be read"), "{listed}");
    assert!(environment.succeed(&["stats"]).contains("1 call"));
    assert!(environment.succeed(&["watch", "--once", "--all"]).contains("good"));
    environment.succeed(&["halt", "good"]);
    environment.succeed(&["halt", "bad"]);
    environment.succeed(&["halt", "--all"]);
    for session in ["good", "bad"] {
        let answer = environment.bash(session, "ls");
        assert!(answer.to_string().contains("halted"), "{session}: {answer}");
    }
    environment.succeed(&["resume", "--all"]);
}
