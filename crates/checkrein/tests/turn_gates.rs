//! Gates at the end of a turn, with real hook processes: what is unfinished goes back to the agent, at most twice, and what did not run is said.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use support::{TestEnvironment, copy_program, processes_in, shell_call};

const ASKED: &str = "gates:\n  at_turn_end: [completeness]\n";
const STUB: &str = "def load(path):\n    raise NotImplementedError\n";

/// A session that has begun, over a project with a commit, with these settings.
fn session(settings: &str) -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", settings);
    environment.write("src/lib.py", "def add(a, b):\n    return a + b\n");
    environment.write("old.py", STUB);
    environment.git(&["add", "--all"]);
    environment.commit("before");
    // What the user was at before counts as theirs.
    environment.write("draft.py", STUB);
    thread::sleep(Duration::from_millis(60));
    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
    called(&environment);
    environment
}

/// A call of the turn.
fn called(environment: &TestEnvironment) {
    let call = |more: Json| shell_call("call", "ls", more);
    environment.answer_to(&environment.payload("s", "PreToolUse", call(json!({}))));
    let response = json!({ "tool_response": { "stdout": "", "stderr": "" } });
    environment.answer_to(&environment.payload("s", "PostToolUse", call(response)));
}

fn stop(environment: &TestEnvironment) -> Json {
    environment.answer_to(&environment.payload("s", "Stop", json!({ "stop_hook_active": false })))
}

/// The answers of gates on record.
fn answers(environment: &TestEnvironment) -> Vec<String> {
    let records = environment.records("s").into_iter().map(|record| record["body"].clone());
    let gates = records.filter(|body| body["name"] == "checkrein.gate");
    gates.map(|body| body["fields"]["answer"].as_str().unwrap().to_owned()).collect()
}

// Source: seed 004-43, 002-28, 004-11, 004-70
#[test]
fn what_is_unfinished_goes_back_twice_and_then_to_the_user() {
    let environment = session(ASKED);
    assert_eq!(stop(&environment), json!({}), "nothing of the session is unfinished");
    environment.write("src/new.py", STUB);
    for _ in 0..2 {
        let answer = stop(&environment);
        assert_eq!(answer["decision"], "block", "{answer}");
        let reason = answer["reason"].as_str().unwrap();
        assert!(reason.contains("src/new.py:2 in `load`"), "{reason}");
        assert!(!reason.contains("old.py") && !reason.contains("draft.py"), "{reason}");
        // A line moves; what is unfinished is the same.
        environment.write("src/new.py", &format!("\n{STUB}").replacen('\n', "", 1));
    }
    let answer = stop(&environment);
    assert!(answer["decision"].is_null(), "{answer}");
    let said = answer["systemMessage"].as_str().unwrap();
    assert!(said.contains("stopped all the same") && said.contains("src/new.py:2"), "{said}");
    assert_eq!(answers(&environment), ["passed", "sent_back", "sent_back", "let_go"]);

    environment.write("src/new.py", "def load(path):\n    return open(path).read()\n");
    assert_eq!(stop(&environment), json!({}));
    assert_eq!(answers(&environment).last().unwrap(), "passed");
}

// Source: seed 004-43
#[test]
fn new_findings_are_sent_back_at_most_three_times_in_a_turn() {
    let environment = session(ASKED);
    for turn in 0..5 {
        environment.write(&format!("src/new{turn}.py"), STUB);
        let blocks = stop(&environment)["decision"] == "block";
        assert_eq!(blocks, turn < 3, "turn {turn}");
    }
    // The user speaks: a new turn.
    environment.answer_to(&environment.payload("s", "UserPromptSubmit", json!({ "prompt": "go on" })));
    called(&environment);
    environment.write("src/more.py", STUB);
    assert_eq!(stop(&environment)["decision"], "block");
}

#[test]
fn what_was_committed_in_the_session_counts_too() {
    let environment = session(ASKED);
    environment.write("src/new.py", STUB);
    environment.git(&["add", "src/new.py"]);
    environment.commit("done");
    assert_eq!(stop(&environment)["decision"], "block");
}

#[test]
fn a_gate_that_did_not_run_is_said_and_no_pass() {
    let environment = session(ASKED);
    fs::rename(environment.project().join(".git"), environment.home().join("away")).unwrap();
    let answer = stop(&environment);
    let said = answer["systemMessage"].as_str().unwrap();
    assert!(said.contains("gate completeness did not run") && said.contains("not a git work tree"), "{said}");
    assert_eq!(answers(&environment), ["not_run"]);

    fs::rename(environment.home().join("away"), environment.project().join(".git")).unwrap();
    environment.write("big.py", &"x = 1\n".repeat(200_000));
    let answer = stop(&environment);
    assert!(answer["systemMessage"].as_str().unwrap().contains("did not read `big.py`"), "{answer}");
    assert_eq!(answers(&environment), ["not_run", "not_run"]);
}

#[test]
fn nothing_is_asked_where_nothing_is_wanted_or_was_done() {
    let environment = session("");
    environment.write("src/new.py", STUB);
    assert_eq!(stop(&environment), json!({}));
    assert!(answers(&environment).is_empty(), "off where nothing is said");

    let environment = session(&format!("mode: observe\n{ASKED}"));
    environment.write("src/new.py", STUB);
    assert_eq!(stop(&environment), json!({}), "observed only");
    assert_eq!(answers(&environment), ["sent_back"]);

    environment.answer_to(&environment.payload("s", "UserPromptSubmit", json!({ "prompt": "thanks" })));
    assert_eq!(stop(&environment), json!({}));
    assert_eq!(answers(&environment).len(), 1, "a turn without a call changed nothing");
}

#[test]
fn a_gate_that_hangs_is_ended_with_what_it_started() {
    let environment = session(ASKED);
    environment.write("src/new.py", STUB);
    let folder = environment.home().join("bin");
    fs::create_dir_all(&folder).unwrap();
    copy_program(env!("CARGO_BIN_EXE_checkrein-hook"), folder.join("checkrein-hook"));
    fs::write(folder.join("checkrein"), "#!/bin/sh\nsleep 600 &\nsleep 600\n").unwrap();
    fs::set_permissions(folder.join("checkrein"), fs::Permissions::from_mode(0o755)).unwrap();
    let started = Instant::now();
    let mut child = environment
        .command(folder.join("checkrein-hook"))
        .arg("claude")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &environment.payload("s", "Stop", json!({})))
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert!(answer["systemMessage"].as_str().unwrap().contains("took longer than"), "{answer}");
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_eq!(answers(&environment), ["not_run"]);
    thread::sleep(Duration::from_millis(100));
    assert_eq!(processes_in(&environment.project()), Vec::<String>::new());
}

#[test]
fn only_gates_that_need_nothing_but_the_changes_are_settings() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "gates:\n  at_turn_end: [completness]\n");
    let output = environment.checkrein(&["config", "check"]);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(said.contains("did you mean `completeness`?"), "{said}");
}
