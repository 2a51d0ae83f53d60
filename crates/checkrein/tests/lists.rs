//! What lists show tells one thing from another, when it was, and what to do.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeSet;

use checkrein_ledger::{Durability, StateDirectory};
use checkrein_protocol::{RecordBody, SessionId, Timestamp};
use checkrein_session::SessionLedger;
use serde_json::json;
use support::{TestEnvironment, shell_call};

#[test]
fn an_id_in_the_log_means_one_call_of_all_that_are_on_record() {
    let environment = TestEnvironment::new();
    for number in 0..9 {
        let session = format!("session-{number}");
        let call = shell_call(&format!("call_0000000000{number}"), "ls", json!({}));
        environment.answer_to(&environment.payload(&session, "PreToolUse", call));
    }
    let log = environment.succeed(&["log", "--number", "1"]);
    let id = log.split_whitespace().find(|word| word.starts_with("call_")).unwrap();
    let shown = environment.succeed(&["show", id]);
    assert!(shown.contains("ls"), "{log}\n{shown}");
}

#[test]
fn an_issue_is_listed_once_with_its_time_and_whether_it_is_over() {
    let environment = TestEnvironment::new();
    environment.bash("s", "ls");
    let ledger = SessionLedger::open(&StateDirectory::new(environment.state()), &SessionId("s".to_owned()));
    let issue = |signal: f64| {
        let issue = json!({
            "kind": "stuck_loop", "severity": "high", "confidence": 0.9, "impact": 0.5, "signal": signal,
            "summary": format!("round {signal}"), "advice": "stop", "actions": [1],
        });
        RecordBody::Issue(Box::new(serde_json::from_value(issue).unwrap()))
    };
    let at = Timestamp(1_796_000_000_000);
    let ended = |body: RecordBody| {
        let serde_json::Value::Object(mut fields) = serde_json::to_value(&body).unwrap() else {
            unreachable!()
        };
        let kind = fields.remove("kind").unwrap();
        serde_json::from_value::<RecordBody>(json!({ "type": "issue_ended", "kind": kind })).unwrap()
    };
    for body in [issue(3.0), issue(4.0), issue(5.0), ended(issue(5.0)), issue(6.0)] {
        ledger.append(at, body, Durability::Plain).unwrap();
    }
    let told = environment.succeed(&["issue", "list"]);
    assert!(!told.contains("round 3") && !told.contains("round 4"), "{told}");
    let line = |text: &str| told.lines().find(|line| line.contains(text)).unwrap().to_owned();
    assert!(line("round 5").contains("over since 20") && line("round 6").contains("stands"), "{told}");
    let rows = environment.succeed(&["--json", "issue", "list"]);
    let ends: BTreeSet<bool> = rows
        .lines()
        .map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap()["ended"].is_null())
        .collect();
    assert_eq!(ends.len(), 2, "{rows}");
}

#[test]
fn trust_names_what_was_and_what_is() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "limits:\n  dollars: 3\n");
    environment.answer_to(&environment.payload("one", "SessionStart", json!({ "source": "startup" })));
    environment.configure("config.yaml", "mode: observe\n");
    let told = environment.succeed(&["trust", "show"]);
    assert!(told.contains("mode: enforce before, observe now"), "{told}");
}

#[test]
fn a_list_of_tickets_says_what_to_do_with_them() {
    let environment = TestEnvironment::new();
    environment.bash("s", "rm -rf ~");
    let output = environment.checkrein(&["ticket", "list"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("checkrein ticket close"), "{told} {}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn an_engine_that_is_set_and_does_not_count_here_says_why() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "engine:\n  resident: true\n");
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let above = environment.home().parent().unwrap().to_owned();
    let output = command.arg("engine").current_dir(above).stdin(std::process::Stdio::null());
    let mut child = output.stderr(std::process::Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(3));
    // One that counts goes on.
    drop(child.kill());
    let told = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.contains("does not count here"), "{told}");
}
