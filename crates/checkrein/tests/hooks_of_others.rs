//! A client that calls the hooks of another one beside its own: Copilot CLI calls those in the settings of Claude Code.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value as Json, json};
use support::client_calls::answer;
use support::driven::run;
use support::{AT_ONCE, TestEnvironment};

fn recorded(name: &str, session: &str, environment: &TestEnvironment) -> Json {
    let text = fs::read(format!("tests/payloads/copilot-pascal/{name}.json")).unwrap();
    let mut payload: Json = serde_json::from_slice(&text).unwrap();
    payload["session_id"] = json!(session);
    payload["cwd"] = json!(environment.project());
    payload
}

fn deletion(session: &str, environment: &TestEnvironment) -> Json {
    let mut payload = recorded("PreToolUse-Bash", session, environment);
    payload["tool_input"]["command"] = json!("rm -rf ~");
    payload
}

fn is_refused(answer: &Json) -> bool {
    answer["permissionDecision"] == "deny" || answer["hookSpecificOutput"]["permissionDecision"] == "deny"
}

#[test]
fn the_hooks_of_another_client_review_its_calls_where_it_has_none_of_its_own() {
    let environment = TestEnvironment::new();
    assert!(is_refused(&answer(&environment, "claude", &deletion("alone", &environment))));
    assert!(!environment.records("alone").is_empty());
}

#[test]
fn a_call_counts_once_where_it_has_hooks_of_its_own() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--client", "copilot", "--yes"]);
    assert_eq!(answer(&environment, "claude", &deletion("both", &environment)), json!({}));
    assert!(environment.records("both").is_empty(), "the other one records it");
    assert!(is_refused(&answer(&environment, "copilot", &deletion("both", &environment))));
    assert!(!environment.records("both").is_empty());
}

#[test]
fn settings_of_a_project_do_not_say_that_it_has_hooks_of_its_own() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--client", "copilot", "--yes"]);
    let own = environment.home().join(".copilot/hooks/checkrein.json");
    let of_project = environment.project().join(".github/hooks");
    fs::create_dir_all(&of_project).unwrap();
    fs::rename(own, of_project.join("checkrein.json")).unwrap();
    assert!(is_refused(&answer(&environment, "claude", &deletion("project", &environment))));
}

#[test]
fn a_patch_is_one_by_the_name_of_an_edit_too() {
    let environment = TestEnvironment::new();
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+x\n*** End Patch\n";
    for (number, input) in
        [json!(patch), json!({ "input": patch }), json!({ "patch": patch })].into_iter().enumerate()
    {
        let session = format!("patch-{number}");
        let mut payload = recorded("PreToolUse-Edit", &session, &environment);
        payload["tool_input"] = input.clone();
        let answer = answer(&environment, "claude", &payload);
        assert!(!is_refused(&answer), "{input}: {answer}");
        let records = environment.records(&session);
        let review = records.iter().find(|record| record["body"]["type"] == "review").unwrap();
        let effects = review["body"]["effects"].to_string();
        assert!(effects.contains("file_create") && effects.contains("new.txt"), "{input}: {effects}");
    }
}

/// Every review that any session of a home has on record, by its command.
fn reviewed(environment: &TestEnvironment) -> Vec<String> {
    let folders = fs::read_dir(environment.state().join("sessions")).unwrap().flatten();
    let sessions = folders.map(|entry| entry.file_name().into_string().unwrap());
    let records = sessions.flat_map(|session| environment.records(&session));
    let reviews = records.filter(|record| record["body"]["type"] == "review");
    reviews.map(|record| record["body"]["input"]["command"].as_str().unwrap_or_default().to_owned()).collect()
}

/// A hook program that dies of one call and answers to every other.
const FAILING: &str = "#!/bin/sh\ninput=$(cat)\ncase $input in *dies.txt*) kill -9 $$ ;; esac\nprintf '%s' \"$input\" | HOOK \"$@\"\n";

#[test]
fn the_real_copilot_beside_claude_code_counts_each_call_once_and_fails_closed() {
    for scope in ["--user", "--local"] {
        let environment = TestEnvironment::new();
        environment.configure("config.yaml", AT_ONCE);
        let program = environment.home().join("checkrein-hook");
        fs::write(&program, FAILING.replace("HOOK", env!("CARGO_BIN_EXE_checkrein-hook"))).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let hook = program.to_str().unwrap();
        environment.succeed(&["init", "--client", "claude", scope, "--yes", "--hook", hook]);
        environment.succeed(&["init", "--client", "copilot", "--user", "--yes", "--hook", hook]);
        let canary = environment.home().join("precious.txt");
        fs::write(&canary, "precious\n").unwrap();
        let calls = ["echo one > one.txt", "rm -rf ~", "echo dead > dies.txt", "echo two > two.txt"];
        let Some(heard) = run(&environment, "copilot", &calls) else { return };
        assert!(canary.exists(), "{scope}: the deletion ran");
        assert!(heard.contains("checkrein stopped this call"), "{scope}: {heard}");
        let there = |name: &str| environment.project().join(name).exists();
        assert!(there("one.txt") && there("two.txt"), "{scope}: {heard}");
        assert!(!there("dies.txt"), "{scope}: it ran without a review: {heard}");
        let reviewed = reviewed(&environment);
        for (call, times) in calls.iter().zip([1, 1, 0, 1]) {
            let count = reviewed.iter().filter(|command| command == call).count();
            assert_eq!(count, times, "{scope}: {call}: {reviewed:?}");
        }
        environment.succeed(&["audit", "verify"]);
    }
}
