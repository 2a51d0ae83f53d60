//! What is written down, in which form, for how long, and who can tell that something was cut off.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use checkrein_ledger::{Durability, StateDirectory};
use checkrein_protocol::{RecordBody, SessionId, Timestamp};
use checkrein_session::SessionLedger;

use serde_json::{Value as Json, json};
use support::TestEnvironment;

fn ledger(environment: &TestEnvironment, session: &str) -> String {
    fs::read_to_string(environment.state().join("sessions").join(session).join("ledger.jsonl")).unwrap()
}

fn start(environment: &TestEnvironment, session: &str) {
    environment.answer_to(&environment.payload(session, "SessionStart", json!({ "source": "startup" })));
}

const PERSON: &str = "mail to Ann at ann@shop.example.com or +49 30 901820, card 4111 1111 1111 1111, account DE89370400440532013000";

#[test]
fn the_event_log_is_off_by_a_variable_and_goes_with_its_records() {
    let environment = TestEnvironment::new();
    let folder = environment.state().join("events");
    let call = environment.payload("s", "PreToolUse", support::shell_call("one", "rm -rf ~", json!({})));
    let hook = |variable: &str| {
        let mut hook = environment.command(env!("CARGO_BIN_EXE_checkrein-hook"));
        hook.arg("claude").env("CHECKREIN_TELEMETRY", variable);
        hook.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = hook.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), &call).unwrap();
        assert!(child.wait_with_output().unwrap().status.success());
    };
    hook("0");
    assert!(!folder.exists());
    hook("1");
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|one| one.unwrap().path()).collect();
    let text = std::fs::read_to_string(&names[0]).unwrap();
    let told: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let review = told.iter().find(|one| one["event"] == "tool.review").unwrap();
    assert_eq!((&review["verdict"], &review["level"]), (&json!("block"), &json!("warning")), "{text}");
    assert!(!text.contains("rm -rf"), "no command stands in it: {text}");
    // Days beyond the retention go when a session starts.
    std::fs::write(folder.join("2020-01-01.jsonl"), "{}\n").unwrap();
    environment.answer_to(&environment.payload("t", "SessionStart", json!({ "source": "startup" })));
    assert!(!folder.join("2020-01-01.jsonl").exists() && names[0].exists());
}

#[test]
fn what_says_who_somebody_is_is_masked_unless_that_is_switched_off() {
    let environment = TestEnvironment::new();
    let prompt = |session: &str| {
        environment.answer_to(&environment.payload(session, "UserPromptSubmit", json!({ "prompt": PERSON })));
        ledger(&environment, session)
    };
    let masked = prompt("masked");
    for clear in ["ann@shop", "901820", "4111 1111", "DE8937"] {
        assert!(!masked.contains(clear), "{clear} stands in {masked}");
    }
    for kind in ["email", "phone", "card", "iban"] {
        assert!(masked.contains(&format!("[masked:{kind}:")), "{kind} is missing in {masked}");
    }
    environment.configure("config.yaml", "audit:\n  mask:\n    personal_data: false\n    literals: [Ann]\n");
    let clear = prompt("clear");
    assert!(clear.contains("4111 1111 1111 1111") && clear.contains("[masked:literal:"), "{clear}");
}

#[test]
fn a_file_of_heads_elsewhere_shows_that_the_end_was_cut_off() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "audit:\n  anchor: heads.txt\n");
    start(&environment, "s");
    environment.bash("s", "rm -rf ~");
    environment.succeed(&["audit", "verify"]);
    let anchored = fs::read_to_string(environment.home().join("heads.txt")).unwrap();
    assert!(anchored.lines().any(|line| line.starts_with("s ")), "{anchored}");
    // Whoever can write to the state directory can make it agree with itself, but not with what lies elsewhere.
    let folder = environment.state().join("sessions/s");
    let first = ledger(&environment, "s").lines().next().unwrap().to_owned();
    fs::write(folder.join("ledger.jsonl"), format!("{first}\n")).unwrap();
    for cache in ["state", "state.twin"] {
        drop(fs::remove_file(folder.join(cache)));
    }
    fs::remove_file(environment.state().join("heads")).unwrap();
    let output = environment.checkrein(&["audit", "verify"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("the file of heads outside"), "{text}");
}

#[test]
fn an_agent_brings_along_the_trust_debt_of_its_last_session_in_the_same_project() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "governance: {tier: 4}\n");
    start(&environment, "first");
    for _ in 0..4 {
        environment.bash("first", "rm -rf ~");
    }
    // In another project it begins anew.
    let other = environment.home().join("other");
    fs::create_dir(&other).unwrap();
    let mut payload: Json = serde_json::from_slice(&environment.payload(
        "elsewhere",
        "SessionStart",
        json!({ "source": "startup" }),
    ))
    .unwrap();
    payload["cwd"] = json!(other);
    environment.answer_to(payload.to_string().as_bytes());
    let records = environment.records("elsewhere");
    let started = records.iter().find(|record| record["body"]["type"] == "session_started").unwrap();
    assert!(started["body"]["debt"].is_null(), "{started}");
    start(&environment, "second");
    let records = environment.records("second");
    let started = records.iter().find(|record| record["body"]["type"] == "session_started").unwrap();
    assert!(started["body"]["debt"].as_f64().unwrap() > 6.0, "{started}");
    // Where the debt decides, it is the reason, with what the user can do.
    let prompt = json!({ "prompt": "Explain how the parser of dates works" });
    environment.answer_to(&environment.payload("second", "UserPromptSubmit", prompt));
    let answer = environment.bash("second", "npm install left-pad").to_string();
    assert!(
        answer.contains("many hints, questions and refusals") && answer.contains("checkrein ticket list"),
        "{answer}"
    );
    assert!(!answer.contains("Side effects"), "{answer}");
    environment.configure("config.yaml", "governance:\n  trust_debt:\n    enabled: false\n");
    environment.succeed(&["trust", "--yes"]);
    start(&environment, "third");
    let records = environment.records("third");
    let started = records.iter().find(|record| record["body"]["type"] == "session_started").unwrap();
    assert!(started["body"]["debt"].is_null(), "{started}");
}

#[test]
fn the_diagnostic_log_says_as_much_as_it_is_asked_for() {
    let lines = |level: &str| {
        let environment = TestEnvironment::new();
        environment.configure("config.yaml", &format!("audit:\n  log_level: {level}\n"));
        environment.bash("s", "ls");
        environment.bash("s", "rm -rf ~");
        let said = fs::read_to_string(environment.state().join("diagnostics.log")).unwrap_or_default();
        // A machine that is busy has warnings to add about time.
        said.lines().filter(|line| !line.contains(" warn ")).count()
    };
    assert_eq!(lines("error"), 0);
    assert_eq!(lines("info"), 1, "the refusal");
    assert!(lines("debug") >= 3, "every call as well");
}

#[test]
fn exports_have_the_form_that_is_configured() {
    let environment = TestEnvironment::new();
    environment.bash("s", "ls");
    assert!(environment.succeed(&["audit", "export"]).starts_with('{'));
    environment.configure("config.yaml", "audit:\n  export_format: csv\n");
    assert!(!environment.succeed(&["audit", "export"]).starts_with('{'));
    assert!(environment.succeed(&["audit", "export", "--form", "jsonl"]).starts_with('{'));
}

#[test]
fn records_stay_as_long_as_they_are_to_be_kept() {
    let environment = TestEnvironment::new();
    let state = StateDirectory::new(environment.state());
    let days_ago = |days: u64| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        Timestamp(u64::try_from(now).unwrap() - days * 24 * 60 * 60 * 1000)
    };
    for (session, days) in [("last-week", 7), ("last-year", 400)] {
        let said = RecordBody::Prompt { text: "hello".to_owned() };
        let ledger = SessionLedger::open(&state, &SessionId(session.to_owned()));
        ledger.append(days_ago(days), said, Durability::Plain).unwrap();
    }
    let exists = |session: &str| environment.state().join("sessions").join(session).exists();
    start(&environment, "a");
    assert!(exists("last-week") && !exists("last-year"), "90 days are kept");
    environment.configure("config.yaml", "audit:\n  enabled: false\n");
    environment.succeed(&["trust", "--yes"]);
    start(&environment, "b");
    assert!(!exists("last-week") && exists("a"), "nothing is kept but what may still be going on");
    environment.succeed(&["audit", "verify"]);
}

#[test]
fn file_operations_that_are_not_written_down_count_too() {
    for count in [1_u64, 64, 65, 150] {
        let environment = TestEnvironment::new();
        let names: Vec<String> = (0..count).map(|number| format!("file{number}")).collect();
        environment.bash("s", &format!("touch {}", names.join(" ")));
        let text = environment.succeed(&["sessions", "--json"]);
        let session: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(session["spent"]["file_operations"], json!(count), "{text}");
    }
}
