//! A client that calls the hooks of another one beside its own: Copilot CLI calls those in the settings of Claude Code.

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
use support::client_calls::answer;

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
