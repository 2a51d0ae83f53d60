//! `checkrein history`, and what a session is told when it is given a goal at which earlier work failed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;

use serde_json::{Value as Json, json};
use support::TestEnvironment;

const GOAL: &str = "fix the flaky login test in cypress";

/// What the client is told at a prompt.
fn prompt(environment: &TestEnvironment, session: &str, text: &str) -> String {
    let payload = environment.payload(session, "UserPromptSubmit", json!({ "prompt": text }));
    environment.answer_to(&payload)["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// A session that was given a goal, and stopped.
fn stopped(environment: &TestEnvironment, session: &str, goal: &str) {
    environment.answer_to(&environment.payload(session, "SessionStart", json!({ "source": "startup" })));
    prompt(environment, session, goal);
    environment.bash(session, "npx cypress run");
    environment.succeed(&["halt", session, "--reason", "it waits for a server that nobody starts"]);
}

fn found(environment: &TestEnvironment, arguments: &[&str]) -> Vec<Json> {
    let arguments: Vec<&str> = ["history", "--json"].iter().chain(arguments).copied().collect();
    let output = environment.checkrein(&arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

// Source: seed 004-67, 004-68
#[test]
fn work_is_found_by_what_was_wanted_and_by_what_was_run() {
    let environment = TestEnvironment::new();
    prompt(&environment, "one", "upgrade OpenSSL in the base image");
    environment.bash("one", "docker compose build gateway");
    prompt(&environment, "two", "add pagination to the orders API");
    environment.bash("two", "cargo test orders");
    for words in [&["openssl"][..], &["gateway", "compose"], &["base", "images"]] {
        let all = found(&environment, words);
        assert_eq!(all.len(), 1, "{words:?}: {all:?}");
        assert_eq!(all[0]["wanted"], "upgrade OpenSSL in the base image");
        assert_eq!(all[0]["kind"], "session");
    }
    assert!(found(&environment, &["kubernetes"]).is_empty());
    assert!(found(&environment, &["--since", "0m", "openssl"]).is_empty());
    let said = environment.succeed(&["history", "orders", "pagination"]);
    assert!(said.contains("wanted: add pagination to the orders API"), "{said}");
    let shown = said.lines().find_map(|line| line.trim().strip_prefix("checkrein ")).unwrap();
    environment.succeed(&shown.split(' ').collect::<Vec<_>>());
    assert_eq!(environment.checkrein(&["history", "--", "-"]).status.code(), Some(1));
}

#[test]
fn a_stop_is_found_once_with_its_cause() {
    let environment = TestEnvironment::new();
    stopped(&environment, "one", GOAL);
    let all = found(&environment, &["login", "cypress"]);
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0]["end"].as_str().unwrap().contains("a server that nobody starts"), "{all:?}");
    assert!(found(&environment, &["--here", "login"]).len() == 1);
    let incident = found(&environment, &["nobody", "starts"]);
    assert_eq!(incident[0]["kind"], "incident", "{incident:?}");
}

// Source: seed 004-67, 001-10
#[test]
fn a_goal_at_which_a_session_failed_is_told_to_the_next_one_once() {
    let environment = TestEnvironment::new();
    stopped(&environment, "one", GOAL);
    assert_eq!(prompt(&environment, "two", "add a logout button beside the login form"), "");
    let told = prompt(&environment, "two", "The login test in cypress is flaky, please fix it");
    assert!(told.contains(GOAL) && told.contains("a server that nobody starts"), "{told}");
    let shown = told.split('`').find_map(|part| part.strip_prefix("checkrein incident ")).unwrap();
    environment.succeed(&[&["incident"][..], &shown.split(' ').collect::<Vec<_>>()].concat());
    assert_eq!(prompt(&environment, "two", GOAL), "", "it was told already");
    assert_ne!(prompt(&environment, "three", GOAL), "", "another session hears of it too");
    let records = environment.records("two");
    assert!(records.iter().any(|record| record.to_string().contains("checkrein.earlier_failure")));
}

#[test]
fn it_is_not_told_where_it_does_not_belong() {
    let environment = TestEnvironment::new();
    stopped(&environment, "one", GOAL);
    // Another project.
    let other = environment.home().join("other");
    fs::create_dir_all(&other).unwrap();
    let fields = json!({ "prompt": GOAL, "cwd": other });
    let answer = environment.answer_to(&environment.payload("two", "UserPromptSubmit", fields));
    assert_eq!(answer, json!({}));
    // The session itself, which goes on.
    environment.succeed(&["resume", "one"]);
    assert_eq!(prompt(&environment, "one", GOAL), "");
    assert_ne!(prompt(&environment, "three", GOAL), "");
}

#[test]
fn nobody_is_told_where_hints_are_off_or_nothing_is_enforced() {
    for settings in ["interventions:\n  soft_correction:\n    enabled: false\n", "mode: observe\n"] {
        let environment = TestEnvironment::new();
        environment.configure("config.yaml", settings);
        stopped(&environment, "one", GOAL);
        assert_eq!(prompt(&environment, "two", GOAL), "", "{settings}");
    }
}

#[test]
fn what_cannot_be_read_of_it_keeps_nobody_from_working() {
    let environment = TestEnvironment::new();
    stopped(&environment, "one", GOAL);
    let lessons = environment.state().join("lessons");
    let folder = fs::read_dir(&lessons).unwrap().next().unwrap().unwrap().path();
    let file = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    for broken in ["", "{", "[]", "{\"at\": 1}"] {
        fs::write(&file, broken).unwrap();
        assert_eq!(prompt(&environment, "two", GOAL), "");
    }
    fs::remove_file(&file).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RUSR).unwrap();
    assert_eq!(prompt(&environment, "two", GOAL), "");
}

// Source: seed 004-68
#[test]
fn a_pipeline_that_failed_is_found_and_told_of() {
    let environment = TestEnvironment::new();
    let steps = "name: p\nworktree: none\ninputs:\n  issue:\nsteps:\n  - {name: try, command: 'echo no server; false', retries: 0}\n";
    environment.write("p.yaml", steps);
    let input = format!("issue={GOAL}");
    let output = environment.checkrein(&["pipeline", "run", "p.yaml", "--input", &input]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let all = found(&environment, &["cypress"]);
    assert_eq!(all[0]["kind"], "pipeline", "{all:?}");
    assert!(all[0]["end"].as_str().unwrap().contains("`try`"), "{all:?}");
    environment.succeed(&all[0]["more"].as_str().unwrap().split(' ').skip(1).collect::<Vec<_>>());
    let told = prompt(&environment, "one", GOAL);
    assert!(told.contains("the pipeline ended as failed at step `try`"), "{told}");
    assert!(told.contains("no server"), "what the step said is what was learned: {told}");
}

#[test]
fn a_lesson_goes_when_it_is_as_old_as_an_incident_may_be() {
    let environment = TestEnvironment::new();
    let place = environment.state().join("lessons/0123456789abcdef");
    fs::create_dir_all(&place).unwrap();
    let names = ["0001500000000000-old.json", "9999999999999999-new.json", "notes.txt"];
    names.iter().for_each(|name| fs::write(place.join(name), "{}").unwrap());
    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
    let left = names.map(|name| place.join(name).exists());
    assert_eq!(left, [false, true, true]);
}

#[test]
fn a_session_that_cannot_be_read_hides_no_other_one() {
    let environment = TestEnvironment::new();
    for session in ["one", "two"] {
        prompt(&environment, session, "upgrade OpenSSL in the base image");
        environment.bash(session, "docker compose build");
    }
    let ledger = environment.state().join("sessions/one/ledger.jsonl");
    fs::remove_file(&ledger).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &ledger, rustix::fs::Mode::RUSR).unwrap();
    let all = found(&environment, &["openssl"]);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0]["name"], "two");
}
