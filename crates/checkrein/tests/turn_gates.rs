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

/// The end of the turn where gates are run by another program.
fn stop_with(environment: &TestEnvironment, script: &str) -> Json {
    let folder = environment.home().join("bin");
    fs::create_dir_all(&folder).unwrap();
    copy_program(env!("CARGO_BIN_EXE_checkrein-hook"), folder.join("checkrein-hook"));
    fs::write(folder.join("checkrein"), format!("#!/bin/sh\n{script}")).unwrap();
    fs::set_permissions(folder.join("checkrein"), fs::Permissions::from_mode(0o755)).unwrap();
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
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn what_one_gate_said_counts_though_the_next_hangs() {
    let environment = session("gates:\n  at_turn_end: [secrets, completeness]\n");
    let report = r#"{"passed": false, "not_examined": [], "findings": [{"path": "a.py", "line": 2, "kind": "not_implemented",
        "weight": "error", "function": "load", "text": "pass", "seen": "it is a stub", "advice": "write it"}]}"#;
    // One process looks for all: what changed is found out once.
    let script =
        format!("echo \"$@\" >> {}/asked\necho '{report}'\nsleep 600\n", environment.home().display());
    let answer = stop_with(&environment, &script);
    assert_eq!(answer["decision"], "block", "{answer}");
    assert!(answer["reason"].as_str().unwrap().contains("a.py:2"), "{answer}");
    let asked = fs::read_to_string(environment.home().join("asked")).unwrap();
    assert_eq!(asked.lines().count(), 1, "{asked}");
    assert!(asked.contains("gate completeness --together secrets"), "{asked}");
    let records = environment.records("s");
    let last = records.iter().rfind(|record| record["body"]["name"] == "checkrein.gate").unwrap();
    let not_run = last["body"]["fields"]["not_run"].to_string();
    assert!(not_run.contains("gate secrets did not run: it took longer than"), "{not_run}");
}

#[test]
fn gates_that_look_together_say_each_what_they_say_alone() {
    let environment = session("gates:\n  at_turn_end: [completeness, licences, phantoms, secrets]\n");
    environment.write("src/new.py", &format!("import no_such_package_at_all\n{STUB}"));
    environment.write("pyproject.toml", "[project]\nname = \"app\"\ndependencies = []\n");
    // Longer than code may be, and not longer than what is looked through for secrets.
    environment.write("long.py", &"x = 1\n".repeat(200_000));
    let names = ["completeness", "licences", "phantoms", "secrets"];
    let alone: Vec<Json> = names
        .iter()
        .map(|name| serde_json::from_slice(&environment.checkrein(&["--json", "gate", name]).stdout).unwrap())
        .collect();
    let together = environment.checkrein(&["--json", "gate", names[0], "--together", &names[1..].join(",")]);
    assert_eq!(together.status.code(), Some(2));
    let together: Vec<Json> =
        serde_json::Deserializer::from_slice(&together.stdout).into_iter().map(Result::unwrap).collect();
    assert_eq!(together, alone);
    let outcomes: Vec<&str> = together.iter().map(|one| one["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["failed", "passed", "failed", "passed"], "{together:#?}");
}

#[test]
fn a_gate_that_hangs_is_ended_with_what_it_started() {
    let environment = session(ASKED);
    environment.write("src/new.py", STUB);
    let started = Instant::now();
    let answer = stop_with(&environment, "sleep 600 &\nsleep 600\n");
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
