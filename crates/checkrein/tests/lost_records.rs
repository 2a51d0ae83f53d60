//! Records that go while a session runs: the next event of the session says so, and what can be put back is.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, shell_call};

/// A call of which nobody can say what it does.
const UNREAD: &str = "./frobnicate";

/// A project whose hooks were registered by a user, and a session that begins and runs something unread.
fn running() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    environment.answer_to(&environment.payload("one", "SessionStart", json!({ "source": "startup" })));
    environment.answer_to(&environment.payload("one", "PreToolUse", shell_call("call", UNREAD, json!({}))));
    assert_eq!(environment.records("one").last().unwrap()["body"]["type"], "review");
    environment
}

fn ended(environment: &TestEnvironment) -> Json {
    let response = json!({ "tool_response": { "stdout": "", "stderr": "" } });
    environment.answer_to(&environment.payload("one", "PostToolUse", shell_call("call", UNREAD, response)))
}

fn outcome(environment: &TestEnvironment) -> Json {
    let records = environment.records("one");
    records.into_iter().rev().find(|record| record["body"]["type"] == "outcome").unwrap()
}

/// What `checkrein audit verify` and `doctor` say, and whether the first finds the records whole.
fn verified(environment: &TestEnvironment) -> (String, bool, String) {
    let verify = environment.checkrein(&["audit", "verify"]);
    let doctor = environment.checkrein(&["doctor"]);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&verify.stdout), verify.status.success(), text(&doctor.stdout))
}

#[test]
fn a_call_during_which_the_guard_was_registered_lost_no_records() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    let ended = |session: &str, milliseconds: u64| {
        let response =
            json!({ "tool_response": { "stdout": "", "stderr": "" }, "duration_ms": milliseconds });
        let payload = environment.payload(session, "PostToolUse", shell_call("call", UNREAD, response));
        environment.answer_to(&payload).to_string()
    };
    let said = ended("one", 3_600_000);
    assert!(said.contains("registered while this call ran") && !said.contains("are gone"), "{said}");
    // One that began behind that had its review.
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    let response = json!({ "tool_response": { "stdout": "", "stderr": "" }, "duration_ms": 1 });
    let payload = environment.payload("two", "PostToolUse", shell_call("call", UNREAD, response));
    let said = environment.answer_to(&payload).to_string();
    assert!(said.contains("records of this session are gone"), "{said}");
}

#[test]
fn a_call_that_removes_the_state_is_told_of_at_its_end() {
    let environment = running();
    let settings = environment.project().join(".claude/settings.local.json");
    let before = fs::read_to_string(&settings).unwrap();
    fs::remove_dir_all(environment.state()).unwrap();
    fs::remove_file(&settings).unwrap();
    environment.write("checkrein.yaml", "mode: observe\n");
    fs::write(environment.project().join(".git/hooks/pre-push"), "#!/bin/sh\n").unwrap();

    let said = ended(&environment).to_string();
    assert!(said.contains("records of this session are gone"), "{said}");
    assert!(said.contains("tell the user"), "{said}");
    assert!(said.contains("was put back"), "{said}");
    assert!(said.contains(".git/hooks/pre-push") && said.contains("checkrein.yaml"), "{said}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), before);

    // It is on record, weighs on what nobody can read, and there is a report.
    let records = environment.records("one");
    assert!(records.iter().any(|record| record["body"]["damage"] == "lost"), "{records:?}");
    let surprises = outcome(&environment)["body"]["verification"]["surprises"].to_string();
    assert!(surprises.contains("pre-push"), "{surprises}");
    assert!(environment.succeed(&["incidents"]).contains("records"));
    // The rules are those with which the session began, whatever the project says by now.
    let denied = environment.bash("one", "rm -rf ~").to_string();
    assert!(denied.contains("deny"), "{denied}");

    let (verify, whole, doctor) = verified(&environment);
    assert!(!whole && verify.contains("are gone"), "{verify}");
    assert!(doctor.contains("1 problem"), "{doctor}");
}

#[test]
fn the_next_call_tells_what_the_end_of_a_call_did_not() {
    let environment = running();
    fs::remove_dir_all(environment.state().join("sessions")).unwrap();
    let said = environment.bash("one", "ls").to_string();
    assert!(said.contains("records of this session are gone"), "{said}");
    let said = environment.bash("one", "ls src").to_string();
    assert!(!said.contains("are gone"), "said once: {said}");
}

#[test]
fn a_ledger_that_was_cut_is_told_of() {
    // With and without the state beside it, which tells by itself how long the ledger was.
    for with_state in [true, false] {
        let environment = running();
        let folder = environment.state().join("sessions/one");
        let ledger = fs::read_to_string(folder.join("ledger.jsonl")).unwrap();
        let first: String = ledger.split_inclusive('\n').take(1).collect();
        fs::write(folder.join("ledger.jsonl"), first).unwrap();
        if !with_state {
            fs::remove_file(folder.join("state")).unwrap();
            drop(fs::remove_file(folder.join("state.twin")));
        }
        let said = ended(&environment).to_string();
        assert!(said.contains("records of this session are gone"), "{with_state}: {said}");
    }
}

#[test]
fn a_snapshot_that_is_gone_is_told_of() {
    let environment = running();
    fs::remove_dir_all(environment.state().join("snapshots")).unwrap();
    let said = ended(&environment).to_string();
    assert!(said.contains("snapshot"), "{said}");
    assert!(said.contains("tell the user"), "{said}");
}

#[test]
fn sessions_that_are_gone_as_a_whole_are_known_from_outside() {
    let environment = running();
    ended(&environment);
    fs::remove_dir_all(environment.state()).unwrap();
    let (verify, whole, doctor) = verified(&environment);
    assert!(!whole && verify.contains("the ledger is gone"), "{verify}");
    assert!(doctor.contains("records were lost"), "{doctor}");
    // A user accepts that by removing what knows of it.
    let place: PathBuf = environment.home().join(".local/share/checkrein/testimony");
    assert!(verify.contains(place.to_str().unwrap()), "{verify}");
    fs::remove_dir_all(place).unwrap();
    assert!(verified(&environment).1);
}

#[test]
fn records_that_stand_are_not_missed() {
    let environment = running();
    let said = ended(&environment).to_string();
    assert!(!said.contains("are gone"), "{said}");
    // What the guard itself keeps beside the records is a cache.
    let folder = environment.state().join("sessions/one");
    for cache in ["state", "state.twin", "settings.json"] {
        drop(fs::remove_file(folder.join(cache)));
    }
    let (verify, whole, _) = verified(&environment);
    assert!(whole, "{verify}");
    let said = environment.bash("one", "ls").to_string();
    assert!(!said.contains("are gone"), "{said}");
}

#[test]
fn hooks_that_begin_a_session_at_one_moment_miss_no_records() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    for round in 1..=20 {
        let name = format!("round-{round}");
        let children: Vec<_> = (0..6)
            .map(|number| {
                let call = shell_call(&format!("call-{number}"), "ls", json!({}));
                let payload = environment.payload(&name, "PreToolUse", call);
                let mut child = environment.hook().spawn().unwrap();
                child.stdin.take().unwrap().write_all(&payload).unwrap();
                child
            })
            .collect();
        for child in children {
            let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
            assert!(!said.contains("are gone"), "{said}");
        }
    }
}

#[test]
fn what_was_never_recorded_is_not_missed() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    // Nothing can be written where the ledger of the session belongs.
    let ledger = environment.state().join("sessions/one/ledger.jsonl");
    fs::create_dir_all(&ledger).unwrap();
    let said = environment.bash("one", "ls").to_string();
    assert!(said.contains("cannot be read"), "{said}");
    fs::remove_dir(&ledger).unwrap();
    let response = json!({ "tool_response": { "stdout": "", "stderr": "" } });
    let outcome = environment.payload("one", "PostToolUse", shell_call("call", "ls", response));
    let said = environment.answer_to(&outcome).to_string();
    assert!(!said.contains("are gone"), "{said}");
    assert_eq!(environment.records("one").len(), 1);
}

#[test]
fn the_agent_may_not_touch_what_knows_of_the_records() {
    let environment = running();
    for command in [
        "rm -rf ~/.local/share/checkrein/testimony",
        "rm -rf ~/.local/share/checkrein",
        "echo x > ~/.local/share/checkrein/testimony/x",
    ] {
        let said = environment.bash("one", command).to_string();
        assert!(said.contains("deny"), "{command}: {said}");
    }
}
