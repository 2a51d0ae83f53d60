//! How calls are called and what became of them, for clients that give them no id, or the same ones again and again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;

use checkrein_clients::CLIENTS;
use serde_json::{Value as Json, json};
use support::TestEnvironment;
use support::client_calls::{dangerous, said};

/// A list of settings whose secrets are masked where a client takes a changed call.
const SETTINGS: &str = "API_KEY=abcDEF123456ghi\n";

fn copilot(environment: &TestEnvironment, session: &str, command: &str) {
    let payload = json!({ "sessionId": session, "timestamp": 1, "cwd": environment.project(), "toolName": "bash",
        "toolArgs": { "command": command } });
    said(environment, "copilot", &payload);
}

/// A call of the shell by a client that counts its calls anew in each session.
fn qwen(environment: &TestEnvironment, session: &str, id: &str, command: &str) -> Json {
    let payload = json!({ "session_id": session, "transcript_path": "", "cwd": environment.project(),
        "hook_event_name": "PreToolUse", "permission_mode": "default", "tool_name": "run_shell_command",
        "tool_use_id": id, "tool_input": { "command": command } });
    let output = said(environment, "qwen", &payload);
    serde_json::from_slice(&output.object).unwrap()
}

fn refused(environment: &TestEnvironment, words: &[&str]) -> String {
    let output = environment.checkrein(words);
    assert!(!output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stdout));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn id_of_review(environment: &TestEnvironment, session: &str) -> String {
    let records = environment.records(session);
    let review = records.iter().find(|record| record["body"]["type"] == "review").unwrap();
    review["body"]["action_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_call_without_an_id_gets_one_that_no_other_session_has() {
    let environment = TestEnvironment::new();
    copilot(&environment, "one", "ls -a");
    copilot(&environment, "two", "ls -l");
    let (one, two) = (id_of_review(&environment, "one"), id_of_review(&environment, "two"));
    assert_ne!(one, two);
    let shown = environment.succeed(&["show", &one]);
    assert!(shown.contains("ls -a") && !shown.contains("ls -l"), "{shown}");
    // What both begin with stands for neither, and each is named.
    let said = refused(&environment, &["show", "action-1"]);
    assert!(said.contains(&one) && said.contains(&two), "{said}");
    // What the log shows is enough for the door.
    let log = environment.succeed(&["log"]);
    let line = log.lines().find(|line| line.contains("ls -l")).unwrap();
    let id = line.split_whitespace().nth(1).unwrap();
    assert!(environment.succeed(&["show", id]).contains("ls -l"), "{log}");
}

#[test]
fn an_id_of_several_sessions_names_no_call_at_any_door() {
    let environment = TestEnvironment::new();
    for session in ["first", "second"] {
        fs::write(environment.project().join("draft.txt"), "the only copy\n").unwrap();
        qwen(&environment, session, "call_1", "rm draft.txt");
        fs::remove_file(environment.project().join("draft.txt")).unwrap();
        qwen(&environment, session, "call_2", "git push --force origin main");
    }
    for words in [
        &["show", "call_1"][..],
        &["allow", "call_2", "--yes"],
        &["wrong", "call_2"],
        &["missed", "call_1"],
        &["undo", "call_1", "--yes"],
    ] {
        let said = refused(&environment, words);
        assert!(said.contains("calls of 2 sessions have the id"), "{words:?}: {said}");
        assert!(said.contains("`first:") && said.contains("`second:"), "{words:?}: {said}");
        assert!(said.contains("SESSION:NUMBER"), "{words:?}: {said}");
    }
    // The log shows such a call by what all of them take.
    let log = environment.succeed(&["log", "--session", "first"]);
    let both = environment.succeed(&["log"]);
    assert!(
        [&log, &both].iter().all(|log| log.contains("first:1") && !log.contains("call_1")),
        "{log}\n{both}"
    );
    let line = both.lines().find(|line| line.contains("second:") && line.contains("draft.txt")).unwrap();
    let id = line.split_whitespace().nth(1).unwrap();
    let shown = environment.succeed(&["show", id]);
    assert!(shown.contains("rm draft.txt") && shown.contains(&format!("checkrein undo {id}")), "{shown}");
    environment.succeed(&["undo", id, "--yes"]);
    assert!(environment.project().join("draft.txt").exists());
}

#[test]
fn a_session_has_one_ending() {
    let environment = TestEnvironment::new();
    copilot(&environment, "one", "ls -a");
    let end = |session: &str| {
        let payload = json!({ "sessionId": session, "timestamp": 2, "cwd": environment.project(), "reason": "complete" });
        said(&environment, "copilot", &payload);
    };
    end("one");
    end("one");
    // Of this one no hook ever heard.
    end("other");
    let log = environment.succeed(&["log"]);
    assert_eq!(log.matches("the session ended").count(), 1, "{log}");
    assert!(!environment.succeed(&["session", "list"]).contains("other"));
    let names: Vec<Json> = environment.records("one").iter().map(|one| one["body"]["name"].clone()).collect();
    assert_eq!(names.iter().filter(|name| **name == "SessionEnd").count(), 1, "{names:?}");
    // Who works on has another one.
    copilot(&environment, "one", "ls -l");
    end("one");
    assert_eq!(environment.succeed(&["log"]).matches("the session ended").count(), 2);
}

/// What a client cannot take it hears as a refusal, and everybody who is asked about the call says so.
#[test]
fn what_was_refused_at_the_door_is_known_as_refused_everywhere() {
    for client in CLIENTS {
        let name = client.client.name();
        let environment = TestEnvironment::new();
        environment.write(".env", SETTINGS);
        let output = said(&environment, name, &dangerous(client, &environment, "cat .env"));
        let records = environment.records("of-a-test");
        let review = records.iter().find(|record| record["body"]["type"] == "review").unwrap();
        assert_eq!(review["body"]["verdict"], "nudge", "{name}");
        let is_refused = client.canary.is_denied(&output);
        assert_eq!(review["body"]["answered"].is_string(), is_refused, "{name}: {review}");
        let log = environment.succeed(&["log"]);
        let line = log.lines().find(|line| line.contains("cat .env")).unwrap();
        assert_eq!(line.contains(" stopped "), is_refused, "{name}: {log}");
        let shown = environment.succeed(&["show", "LAST"]);
        assert_eq!(shown.contains("stopped it"), is_refused, "{name}: {shown}");
        let session = environment.succeed(&["session", "show", "of-a-test"]);
        assert_eq!(session.contains("1 stopped"), is_refused, "{name}: {session}");
        let allowed = environment.checkrein(&["allow", "LAST", "--yes"]);
        assert_eq!(allowed.status.success(), is_refused, "{name}");
        if is_refused {
            let again = said(&environment, name, &dangerous(client, &environment, "cat .env"));
            assert!(!client.canary.is_denied(&again), "{name}: the user allowed the call as it is");
            let third = said(&environment, name, &dangerous(client, &environment, "cat .env"));
            assert!(client.canary.is_denied(&third), "{name}: they allowed it once");
        }
    }
}

/// Cline runs a command that says why in place of a refused one; its end is not that of the call.
#[test]
fn what_a_client_runs_to_refuse_a_call_is_not_told_as_the_call() {
    let environment = TestEnvironment::new();
    let call = |id: &str, more: Json| {
        let mut payload =
            json!({ "taskId": "task", "workspaceRoots": [environment.project()], "agent_id": "a" });
        let mut call = json!({ "id": id, "name": "run_commands", "input": { "commands": ["rm -rf ~"] } });
        for (name, value) in more.as_object().unwrap() {
            call[name] = value.clone();
        }
        let (kind, field) = if more.get("output").is_some() {
            ("tool_result", "tool_result")
        } else {
            ("tool_call", "tool_call")
        };
        payload["hookName"] = json!(kind);
        payload[field] = call;
        payload
    };
    let answer = said(&environment, "cline", &call("c1", json!({})));
    let answer: Json = serde_json::from_slice(&answer.object).unwrap();
    let instead = answer["overrideInput"].clone();
    let told = json!({ "input": instead, "durationMs": 40,
        "output": [{ "query": "printf", "result": "checkrein stopped this call", "error": "exit 1", "success": false }] });
    said(&environment, "cline", &call("c1", told));
    let log = environment.succeed(&["log"]);
    assert!(log.contains("stopped") && !log.contains("failed") && !log.contains("40 ms"), "{log}");
    let shown = environment.succeed(&["show", "c1"]);
    assert!(shown.contains("it did not run") && !shown.contains("failed"), "{shown}");
}

#[test]
fn a_patch_is_named_by_its_files() {
    let environment = TestEnvironment::new();
    let patch = "*** Begin Patch\n*** Add File: src/new.rs\n+fn main() {}\n*** End Patch\n";
    let payload = json!({ "session_id": "s", "cwd": environment.project(), "hook_event_name": "PreToolUse",
        "tool_name": "apply_patch", "tool_use_id": "p1", "tool_input": { "command": patch } });
    said(&environment, "codex", &payload);
    let log = environment.succeed(&["log"]);
    assert!(log.contains("apply_patch src/new.rs") && !log.contains("Begin Patch"), "{log}");
    assert!(environment.succeed(&["show", "p1"]).contains("change `src/new.rs` by a patch"));
}

/// The home directory is the user's; that the guard lies in it comes after.
#[test]
fn what_the_user_would_lose_is_told_before_the_guard() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    environment.bash("s", "rm -rf ~/.config/checkrein ~");
    let shown = environment.succeed(&["show", "LAST"]);
    let text = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let seen = text.split_once("seen ").unwrap().1;
    assert!(seen.starts_with("deletes ~ and everything below"), "{shown}");
    let barred = text.split_once("it cannot be allowed: ").unwrap().1;
    assert!(
        barred.starts_with(
            "it destroys `~`, which must not be lost, and it changes or deletes Checkrein itself"
        ),
        "{shown}"
    );
}

/// Cline is a program of Bun, which runs what a key outside the tables of this file names in the folder where it is started.
#[test]
fn code_that_a_client_runs_when_it_starts_is_guarded_in_its_sessions() {
    let environment = TestEnvironment::new();
    let cases = [
        ("preload = [\"./a.ts\"]\n", true),
        ("\"preload\" = \"./a.ts\"\n[test]\nroot = \"x\"\n", true),
        ("x = [\n  [1],\n]\npreload = \"./a.ts\"\n", true),
        ("[test]\npreload = [\"./setup.ts\"]\n", false),
        ("preload = []\n[install]\nexact = true\n", false),
        ("# preload = \"a\"\nsmol = true\n", false),
    ];
    for (text, is_code) in cases {
        // Bun runs it whoever starts it there; nobody can be asked in either.
        for name in ["cline", "qwen"] {
            let client = checkrein_clients::named(name).unwrap();
            let written = text.replace('\n', "\\n").replace('"', "\\\"");
            let command = format!("printf \"{written}\" > bunfig.toml");
            let output = said(&environment, name, &dangerous(client, &environment, &command));
            assert_eq!(client.canary.is_denied(&output), is_code, "{name}: {command}: {output:?}");
        }
    }
    let doctor =
        || String::from_utf8(environment.checkrein(&["doctor", "--client", "cline"]).stdout).unwrap();
    let start = json!({ "taskId": "task", "workspaceRoots": [environment.project()], "agent_id": "a",
        "hookName": "TaskStart" });
    for (text, is_code) in [(cases[3].0, false), (cases[0].0, true)] {
        environment.write("bunfig.toml", text);
        assert_eq!(doctor().contains("bunfig.toml: Cline runs"), is_code, "{}", doctor());
        said(&environment, "cline", &start);
        let told = environment
            .succeed(&["log", "--session", "task"])
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert_eq!(told.contains("bunfig.toml: Cline runs"), is_code, "{told}");
    }
}
