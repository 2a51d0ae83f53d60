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
fn from_then_on_what_cannot_be_read_is_asked_about_whatever_the_user_wants() {
    for prompt in [None, Some("hi"), Some("run the tool"), Some("Add a login page and open a pull request")] {
        let environment = TestEnvironment::new();
        started(&environment);
        if let Some(prompt) = prompt {
            let fields = json!({ "prompt": prompt });
            environment.answer_to(&environment.payload("s", "UserPromptSubmit", fields));
        }
        begun(&environment, "one", "ls");
        ended(&environment, "one", "ls", 5);
        ended(&environment, "two", "rm -f gone.txt", 5);
        let answer = environment.bash("s", "./frobnicate");
        assert_eq!(decision(&answer), Some("ask"), "{prompt:?}: {answer}");
        for plain in ["ls -l", "git status", "echo done"] {
            assert_eq!(decision(&environment.bash("s", plain)), None, "{plain}");
        }
    }
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

/// What the end of a call in a session is answered with, and what the records of that session say of it.
fn end_in(environment: &TestEnvironment, session: &str, id: &str, command: &str, took: u64) -> String {
    let response = json!({ "tool_response": { "stdout": "", "stderr": "" }, "duration_ms": took });
    let event = environment.payload(session, "PostToolUse", shell_call(id, command, response));
    environment.answer_to(&event).to_string()
}

#[test]
fn an_answer_that_could_not_be_written_down_was_an_answer() {
    let environment = TestEnvironment::new();
    started(&environment);
    let prompt = json!({ "prompt": "words ".repeat(1_500) });
    environment.answer_to(&environment.payload("s", "UserPromptSubmit", prompt));
    let full = |id: &str, command: &str| {
        let payload = environment.payload("s", "PreToolUse", shell_call(id, command, json!({})));
        let file = environment.home().join("payload.json");
        std::fs::write(&file, payload).unwrap();
        let output = environment
            .command("bash")
            .args(["-c", "ulimit -f 4; exec \"$0\" claude", env!("CARGO_BIN_EXE_checkrein-hook")])
            .stdin(std::fs::File::open(&file).unwrap())
            .output()
            .unwrap();
        serde_json::from_slice::<Json>(&output.stdout).unwrap()
    };
    assert_eq!(decision(&full("one", "rm README.md")), Some("ask"));
    assert_eq!(decision(&full("two", "ls")), None);
    assert_eq!(decision(&full("three", "rm -rf ~")), Some("deny"));
    let reviews = || environment.records("s").into_iter().filter(|record| record["body"]["type"] == "review");
    assert_eq!(reviews().count(), 0);
    // The user said yes, and there is space again.
    for (id, command) in [("one", "rm README.md"), ("two", "ls")] {
        let said = ended(&environment, id, command, 5);
        assert!(!said.contains("review"), "{said}");
    }
    assert!(unreviewed(&environment).is_empty());
    // What was refused, and what was not heard of, ran without one.
    ended(&environment, "three", "rm -rf ~", 5);
    ended(&environment, "four", "./frobnicate", 5);
    assert_eq!(unreviewed(&environment).len(), 2);
}

#[test]
fn a_call_that_ends_under_another_name_of_its_session_was_reviewed() {
    let environment = TestEnvironment::new();
    started(&environment);
    begun(&environment, "one", "npm run watch");
    begun(&environment, "two", "rm -rf ~");
    environment.answer_to(&environment.payload("s", "SessionEnd", json!({ "reason": "clear" })));
    environment.answer_to(&environment.payload("next", "SessionStart", json!({ "source": "clear" })));
    let said = end_in(&environment, "next", "one", "npm run watch", 1);
    assert!(!said.contains("without review"), "{said}");
    // A refusal there is one, and a number alone is not enough.
    let said = end_in(&environment, "next", "two", "rm -rf ~", 1);
    assert!(said.contains("although refused"), "{said}");
    let said = end_in(&environment, "next", "one", "./frobnicate", 1);
    assert!(said.contains("without review"), "{said}");
}

#[test]
fn a_matcher_that_leaves_tools_out_is_told_of_once() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    let settings = environment.project().join(".claude/settings.local.json");
    let mut registered: Json = serde_json::from_slice(&std::fs::read(&settings).unwrap()).unwrap();
    registered["hooks"]["PreToolUse"][0]["matcher"] = json!("Bash|Edit|Write");
    std::fs::write(&settings, registered.to_string()).unwrap();
    started(&environment);
    begun(&environment, "one", "ls");
    let end = |id: &str, tool: &str, input: Json| {
        let fields = json!({ "tool_use_id": id, "tool_name": tool, "tool_input": input, "tool_response": {}, "duration_ms": 1 });
        environment.answer_to(&environment.payload("s", "PostToolUse", fields)).to_string()
    };
    let said = end("two", "mcp__files__delete_file", json!({ "path": "notes.txt" }));
    assert!(said.contains("leaves them out") && !said.contains("Stop here"), "{said}");
    for number in 0..5 {
        let said = end(&format!("more-{number}"), "mcp__files__delete_file", json!({ "path": "notes.txt" }));
        assert!(!said.contains("review"), "{said}");
    }
    assert!(unreviewed(&environment).is_empty());
    assert!(!environment.succeed(&["incidents"]).contains("delete_file"));
    // Those that it names are reviewed.
    assert!(ended(&environment, "three", "./frobnicate", 1).contains("ran without review"));
}

#[test]
fn what_began_before_the_session_is_known_is_passed_over() {
    let environment = TestEnvironment::new();
    started(&environment);
    begun(&environment, "two", "ls");
    assert_eq!(ended(&environment, "one", "npm test", 600_000), "{}");
    assert!(unreviewed(&environment).is_empty());
}

#[test]
fn hooks_that_came_back_while_a_call_ran_are_told_of_without_blame() {
    let environment = TestEnvironment::new();
    started(&environment);
    begun(&environment, "one", "ls");
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    environment.succeed(&["init", "--yes"]);
    let said = ended(&environment, "two", "npm test", 1_000);
    assert!(said.contains("settings with the hooks were changed"), "{said}");
    assert!(unreviewed(&environment).is_empty());
}

#[test]
fn calls_with_one_number_are_told_apart() {
    let environment = TestEnvironment::new();
    started(&environment);
    begun(&environment, "functions.Bash:0", "ls");
    begun(&environment, "functions.Bash:0", "rm -rf ~");
    assert_eq!(ended(&environment, "functions.Bash:0", "ls", 5), "{}");
    assert!(unreviewed(&environment).is_empty());
    assert!(ended(&environment, "functions.Bash:0", "rm -rf ~", 5).contains("although refused"));
}

#[test]
fn a_call_that_ran_with_the_review_of_another_command_is_told_of() {
    let environment = TestEnvironment::new();
    started(&environment);
    begun(&environment, "one", "ls");
    let said = ended(&environment, "one", "rm -rf src", 5);
    assert!(said.contains("`Bash rm -rf src` ran with the review of another command"), "{said}");
    assert_eq!(unreviewed(&environment)[0]["lack"], "another");
    // Other hooks of the client put their own words around a command, or take others for it that do no more.
    for (id, reviewed, ran) in [
        ("two", "git status", "rtk git status"),
        ("three", "grep -rn main src", "rg main src"),
        ("four", "npm test", "cd . && npm test"),
    ] {
        begun(&environment, id, reviewed);
        ended(&environment, id, ran, 5);
    }
    assert_eq!(unreviewed(&environment).len(), 1);
}

#[test]
fn a_tool_that_changes_nothing_has_nothing_to_take_back_and_reports_are_bounded() {
    let environment = TestEnvironment::new();
    started(&environment);
    begun(&environment, "one", "ls");
    let secret = environment.home().join(".ssh/id_ed25519");
    let fields = json!({ "tool_use_id": "two", "tool_name": "Read", "tool_input": { "file_path": secret },
        "tool_response": { "file": { "content": "key" } } });
    let said = environment.answer_to(&environment.payload("s", "PostToolUse", fields)).to_string();
    assert!(said.contains("without review") && !said.contains("take it back"), "{said}");
    for number in 0..6 {
        let said = ended(&environment, &format!("more-{number}"), "./frobnicate", 5);
        assert!(said.contains("take it back"), "{said}");
    }
    assert_eq!(unreviewed(&environment).len(), 7);
    assert_eq!(std::fs::read_dir(environment.state().join("incidents")).unwrap().count(), 3);
}
