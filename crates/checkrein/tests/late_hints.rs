//! Hints before a call, for clients that drop them: the model reads them with the result.

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

/// A call that passes with a hint.
const HINTED: &str = "curl https://docs.stranger.example/a";
/// The clients that drop what is said before a call, with the names of recorded payloads before and after one.
const CLIENTS: &[(&str, &str, &str, &str)] = &[
    ("gemini", "gemini-cli", "BeforeTool-run_shell_command", "AfterTool-run_shell_command"),
    ("qwen", "qwen-code", "PreToolUse-run_shell_command", "PostToolUse-run_shell_command"),
    ("droid", "droid", "PreToolUse-Execute", "PostToolUse-Execute"),
];

/// What the model reads of a call that runs this command, with its result.
fn read_afterwards(client: &str, folder: &str, before: &str, after: &str, command: &str) -> Json {
    let environment = TestEnvironment::new();
    let read = |name: &str| -> Json {
        serde_json::from_slice(&fs::read(format!("tests/payloads/{folder}/{name}.json")).unwrap()).unwrap()
    };
    let (mut call, mut end) = (read(before), read(after));
    for payload in [&mut call, &mut end] {
        payload["cwd"] = json!(environment.project());
        payload["session_id"] = json!("one");
        payload["tool_input"]["command"] = json!(command);
        if payload["tool_use_id"].is_string() {
            payload["tool_use_id"] = json!("call-1");
        }
    }
    answer(&environment, client, &call);
    answer(&environment, client, &end)["hookSpecificOutput"]["additionalContext"].clone()
}

#[test]
fn the_model_reads_a_hint_with_the_result_where_the_client_drops_it_before() {
    for (client, folder, before, after) in CLIENTS {
        let told = read_afterwards(client, folder, before, after, HINTED);
        let told = told.as_str().unwrap_or_else(|| panic!("{client} is told nothing"));
        assert!(
            told.starts_with("checkrein, of this call: ") && told.contains("docs.stranger.example"),
            "{told}"
        );
    }
}

#[test]
fn a_call_that_passes_without_a_word_has_none_with_its_result() {
    for (client, folder, before, after) in CLIENTS {
        assert_eq!(read_afterwards(client, folder, before, after, "ls"), Json::Null, "{client}");
    }
}
