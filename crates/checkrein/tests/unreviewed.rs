//! A call that ran although no review had let it run is noticed at its end, written down, and told.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, reason, shell_call};

/// A call that ends with the client: what its end is answered with.
fn ended(environment: &TestEnvironment, id: &str, command: &str, took: u64) -> String {
    let response = json!({ "tool_response": { "stdout": "", "stderr": "" }, "duration_ms": took });
    let event = environment.payload("s", "PostToolUse", shell_call(id, command, response));
    environment.answer_to(&event).to_string()
}

fn begun(environment: &TestEnvironment, id: &str, command: &str) -> Json {
    environment.answer_to(&environment.payload("s", "PreToolUse", shell_call(id, command, json!({}))))
}

fn started(environment: &TestEnvironment) {
    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
}

fn unreviewed(environment: &TestEnvironment) -> Vec<Json> {
    let bodies = environment.records("s").into_iter().map(|record| record["body"].clone());
    bodies.filter(|body| body["type"] == "unreviewed").collect()
}

#[test]
fn a_call_without_a_review_is_told_of_and_what_it_changed_with_it() {
    let environment = TestEnvironment::new();
    started(&environment);
    begun(&environment, "one", "ls");
    assert_eq!(ended(&environment, "one", "ls", 5), "{}");

    // The hook and the line around it were killed: the client ran the call, and only its end is heard of.
    environment.write("left-behind.txt", "by the call\n");
    let said = ended(&environment, "two", "./frobnicate", 5);
    for part in ["`Bash ./frobnicate` ran without review", "tell the user", "incident show"] {
        assert!(said.contains(part), "{said}");
    }
    let found = unreviewed(&environment);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["action_id"], &found[0]["lack"]), (&json!("two"), &json!("missing")));
    let outcome = environment.records("s").into_iter().rfind(|record| record["body"]["type"] == "outcome");
    let surprises = outcome.unwrap()["body"]["verification"]["surprises"].to_string();
    assert!(surprises.contains("left-behind.txt"), "{surprises}");

    assert!(environment.succeed(&["log"]).contains("ran without review"));
    assert!(environment.succeed(&["show", "two"]).contains("ran without review"));
    assert!(environment.succeed(&["incidents"]).contains("frobnicate"));
    let doctor = String::from_utf8_lossy(&environment.checkrein(&["doctor"]).stdout).into_owned();
    assert!(doctor.contains("1 call of the last 7 days ran"), "{doctor}");
}

#[test]
fn from_then_on_what_cannot_be_read_weighs_most() {
    let risk = |environment: &TestEnvironment| {
        begun(environment, "unread", "./frobnicate --all");
        let records = environment.records("s");
        let review = records.iter().rev().find(|record| record["body"]["type"] == "review").unwrap().clone();
        review["body"]["risk"]["score"].as_f64().unwrap()
    };
    let (plain, warned) = (TestEnvironment::new(), TestEnvironment::new());
    for environment in [&plain, &warned] {
        started(environment);
        begun(environment, "one", "ls");
        ended(environment, "one", "ls", 5);
    }
    ended(&warned, "two", "true", 5);
    assert!(risk(&warned) > risk(&plain) + 0.1);
    // What is asked about stays a question, and what is refused is refused.
    let asked = begun(&warned, "three", "echo x >> ~/.bashrc");
    assert_eq!(decision(&asked), Some("ask"), "{asked}");
    let denied = begun(&warned, "four", "rm -rf ~");
    assert_eq!(decision(&denied), Some("deny"), "{}", reason(&denied));
}

#[test]
fn a_refused_call_that_ran_is_told_of() {
    let environment = TestEnvironment::new();
    started(&environment);
    assert_eq!(decision(&begun(&environment, "one", "rm -rf ~")), Some("deny"));
    let said = ended(&environment, "one", "rm -rf ~", 5);
    assert!(said.contains("ran although refused"), "{said}");
    assert_eq!(unreviewed(&environment)[0]["lack"], "refused");

    // The end of one that failed tells of no run.
    assert_eq!(decision(&begun(&environment, "two", "rm -rf ~/.ssh")), Some("deny"));
    let failure = json!({ "error": "denied" });
    let event = environment.payload("s", "PostToolUseFailure", shell_call("two", "rm -rf ~/.ssh", failure));
    environment.answer_to(&event);
    assert_eq!(unreviewed(&environment).len(), 1);
}

#[test]
fn what_began_before_the_hooks_did_is_passed_over() {
    // A session that is heard of for the first time.
    let environment = TestEnvironment::new();
    environment.bash("another", "ls");
    assert_eq!(ended(&environment, "one", "ls", 5), "{}");
    assert!(unreviewed(&environment).is_empty());
    // A call that was under way when the hooks were registered.
    let environment = TestEnvironment::new();
    begun(&environment, "two", "ls");
    ended(&environment, "one", "npm test", 600_000);
    assert!(unreviewed(&environment).is_empty());
    // Calls that the user does not want reviewed.
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "step_reviewer:\n  enabled: false\n");
    started(&environment);
    begun(&environment, "one", "ls");
    ended(&environment, "one", "ls", 5);
    assert!(unreviewed(&environment).is_empty());
}

#[test]
fn a_call_that_ends_after_many_others_is_found() {
    let environment = TestEnvironment::new();
    started(&environment);
    begun(&environment, "first", "./work");
    for number in 0..300 {
        let prompt = json!({ "prompt": format!("{number} and so on") });
        environment.answer_to(&environment.payload("s", "UserPromptSubmit", prompt.clone()));
        environment.answer_to(&environment.payload("s", "Notification", prompt));
    }
    ended(&environment, "first", "./work", 60_000);
    assert!(unreviewed(&environment).is_empty());
}

#[test]
fn a_tool_that_only_looks_may_be_left_out_of_the_review() {
    let environment = TestEnvironment::new();
    environment.write("notes.txt", "a note\n");
    started(&environment);
    begun(&environment, "one", "ls");
    ended(&environment, "one", "ls", 5);
    let end = |id: &str, tool: &str, input: Json, response: Json| {
        let fields =
            json!({ "tool_use_id": id, "tool_name": tool, "tool_input": input, "tool_response": response });
        environment.answer_to(&environment.payload("s", "PostToolUse", fields)).to_string()
    };
    let path = environment.project().join("notes.txt");
    end("two", "Read", json!({ "file_path": path }), json!({ "file": { "content": "a note" } }));
    end("three", "Glob", json!({ "pattern": "*.txt" }), json!({ "filenames": ["notes.txt"] }));
    end("four", "TodoWrite", json!({ "todos": [] }), json!({}));
    assert!(unreviewed(&environment).is_empty());
    // One that shows a secret or changes something may not.
    let secret = environment.home().join(".ssh/id_ed25519");
    end("five", "Read", json!({ "file_path": secret }), json!({ "file": { "content": "key" } }));
    end("six", "mcp__files__delete_file", json!({ "path": path }), json!({}));
    assert_eq!(unreviewed(&environment).len(), 2);
}

#[test]
fn a_report_that_was_never_finished_does_not_hide_the_others() {
    let environment = TestEnvironment::new();
    started(&environment);
    begun(&environment, "one", "ls");
    ended(&environment, "two", "./frobnicate", 5);
    std::fs::create_dir(environment.state().join("incidents/20200101T000000Z-unfinished")).unwrap();
    assert!(environment.succeed(&["incidents"]).contains("frobnicate"));
}
