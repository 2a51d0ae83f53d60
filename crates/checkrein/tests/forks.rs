//! A halted conversation that goes on as a session of another name.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, reason, shell_call};

/// A call, as the client tells it with its transcript.
fn call(environment: &TestEnvironment, session: &str, id: &str, transcript: &Path) -> Json {
    let mut fields = shell_call(id, "touch one", json!({}));
    fields["transcript_path"] = json!(transcript);
    environment.answer_to(&environment.payload(session, "PreToolUse", fields))
}

/// The line of a transcript for a call: a fork copies it, with the name of the new session.
fn line(session: &str, id: &str) -> String {
    let message = json!({ "content": [{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": "touch one" } }] });
    format!("{}\n", json!({ "type": "assistant", "sessionId": session, "message": message }))
}

#[test]
fn a_fork_of_a_halted_session_is_halted_too_and_no_other() {
    let environment = TestEnvironment::new();
    let transcript = |name: &str, text: &str| {
        let path = environment.home().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let first = transcript("first.jsonl", &line("first", "toolu_of_first"));
    assert_ne!(decision(&call(&environment, "first", "toolu_of_first", &first)), Some("deny"));
    let fork = transcript("fork.jsonl", &(line("fork", "toolu_of_first") + &line("fork", "toolu_of_fork")));
    assert_ne!(decision(&call(&environment, "earlier", "toolu_a", &fork)), Some("deny"), "nothing is halted");
    environment.succeed(&["halt", "first", "--reason", "wrong branch"]);
    let answer = call(&environment, "fork", "toolu_of_fork", &fork);
    assert_eq!(decision(&answer), Some("deny"), "{answer}");
    assert!(reason(&answer).contains("wrong branch") && reason(&answer).contains("first"), "{answer}");
    // Who only speaks of the call is no fork of it.
    let quoting =
        line("other", "toolu_of_other") + &json!({ "text": line("first", "toolu_of_first") }).to_string();
    let other = transcript("other.jsonl", &quoting);
    assert_ne!(decision(&call(&environment, "other", "toolu_of_other", &other)), Some("deny"));
    // A user lets it go on, and it does.
    environment.succeed(&["resume", "fork"]);
    assert_ne!(decision(&call(&environment, "fork", "toolu_more", &fork)), Some("deny"));
}
