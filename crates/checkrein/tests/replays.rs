//! Recorded sessions of three clients, played; and two policies compared over one session.

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

/// What `replay --json` says of rows that are written one a line.
fn replayed(rows: &[Json], more: &[&str]) -> Json {
    let environment = TestEnvironment::new();
    let file = environment.home().join("recording");
    let lines: Vec<String> = rows.iter().map(Json::to_string).collect();
    fs::write(&file, lines.join("\n")).unwrap();
    let mut arguments = vec!["replay", file.to_str().unwrap(), "--json"];
    arguments.extend(more);
    serde_json::from_str(&environment.succeed(&arguments)).unwrap()
}

fn codex(kind: &str, payload: &Json) -> Json {
    json!({ "timestamp": "2026-08-20T10:11:12.000Z", "type": kind, "payload": payload })
}

#[test]
fn a_rollout_of_codex_is_played() {
    let mut rows = vec![
        codex("session_meta", &json!({ "id": "codex-1", "cwd": "/proj" })),
        codex("turn_context", &json!({ "model": "gpt-5-codex" })),
        codex(
            "response_item",
            &json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "tidy up" }] }),
        ),
    ];
    let commands = ["ls", "ls", "ls", "ls", "rm -rf ~"]
        .map(|text| json!({ "command": ["bash", "-lc", text] }).to_string());
    for (index, arguments) in commands.iter().enumerate() {
        let id = format!("call-{index}");
        rows.push(codex(
            "response_item",
            &json!({ "type": "function_call", "name": "shell", "arguments": arguments, "call_id": id }),
        ));
        let output = json!({ "output": "a b", "metadata": { "exit_code": 0 } }).to_string();
        rows.push(codex(
            "response_item",
            &json!({ "type": "function_call_output", "call_id": id, "output": output }),
        ));
    }
    let said = replayed(&rows, &[]);
    assert_eq!((&said["id"], &said["steps"]), (&json!("codex-1"), &json!(5)));
    assert_eq!(said["detections"][0]["type"], "stuck_loop", "{said}");
    assert_eq!(said["verdicts"]["block"], 1, "{said}");
}

#[test]
fn a_chat_of_gemini_is_played_in_both_of_its_forms() {
    let call = |id: &str, code: u8| {
        let output = json!({ "output": format!("Output: no such file\nExit Code: {code}") });
        json!({
            "id": id, "name": "run_shell_command", "args": { "command": "cat nope" }, "status": "success",
            "result": [{ "functionResponse": { "id": id, "response": output } }],
        })
    };
    let mut messages = vec![json!({ "type": "user", "content": "look" })];
    messages.extend((0..4).map(|index| {
        json!({ "type": "gemini", "content": "", "toolCalls": [call(&format!("c{index}"), 1)], "model": "gemini-2.5-pro" })
    }));
    let mut lines = vec![json!({ "sessionId": "gemini-1", "projectHash": "x" })];
    lines.extend(messages.clone());
    let environment = TestEnvironment::new();
    let file = environment.home().join("chat.json");
    let whole = json!({ "sessionId": "gemini-1", "messages": messages });
    fs::write(&file, serde_json::to_string_pretty(&whole).unwrap()).unwrap();
    let text = environment.succeed(&["replay", file.to_str().unwrap(), "--json"]);
    let said: Json = serde_json::from_str(&text).unwrap();
    assert_eq!((&said["id"], &said["steps"]), (&json!("gemini-1"), &json!(4)));
    assert_eq!(said["detections"][0]["type"], "stuck_loop", "a failing call three times: {said}");
    assert_eq!(replayed(&lines, &[]), said);
}

#[test]
fn a_replay_ends_with_what_was_said_how_often() {
    let environment = TestEnvironment::new();
    let file = support::repository().join("examples/session.jsonl");
    let text = environment.succeed(&["replay", file.to_str().unwrap()]);
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("11 calls: ") && last.contains(" ok, ") && last.contains(" stopped"), "{last}");
}

#[test]
fn two_policies_are_compared_over_one_session() {
    let environment = TestEnvironment::new();
    let other = environment.home().join("other.yaml");
    let rule = "step_reviewer:\n  rules:\n    custom:\n      - name: no_listing\n        when: action.tool == \"Bash\"\n        decision: block\n        reason: nothing is listed here\n";
    fs::write(&other, rule).unwrap();
    let steps = json!([{ "tool": "Bash", "input": "ls", "output": "a" }, { "tool": "Read", "input": { "file_path": "/proj/a" }, "output": "x" }]);
    let session = json!({ "id": 1, "steps": steps });
    let said = replayed(std::slice::from_ref(&session), &["--against", other.to_str().unwrap()]);
    let [one] = said["differences"].as_array().unwrap().as_slice() else { panic!("{said}") };
    assert_eq!((&one["step"], &one["verdict"], &one["against"]), (&json!(1), &json!("ok"), &json!("block")));
    let file = environment.home().join("session.jsonl");
    fs::write(&file, session.to_string()).unwrap();
    let text = environment.succeed(&["replay", file.to_str().unwrap(), "--against", other.to_str().unwrap()]);
    assert!(text.contains("nothing is listed here") && text.contains("1 of 2 calls differ"), "{text}");
    fs::write(&other, "step_reviewer:\n  nonsense: 1\n").unwrap();
    let failed =
        environment.checkrein(&["replay", file.to_str().unwrap(), "--against", other.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&failed.stderr).contains("nonsense"), "a mistake in the file is told");
}

#[test]
fn a_recording_that_is_none_is_an_error_with_its_line() {
    let environment = TestEnvironment::new();
    let file = environment.home().join("broken");
    fs::write(&file, "{\"id\":1,\"steps\":[]}\n{oops\n").unwrap();
    let failed = environment.checkrein(&["replay", file.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&failed.stderr).contains("line 2, column 2"), "{failed:?}");
}

/// A client that was killed leaves calls without an answer: they are played all the same, in their place.
#[test]
fn a_call_without_an_answer_holds_nothing_up() {
    let mut rows = Vec::new();
    for number in 0..1_100 {
        let id = format!("c{number}");
        let input = json!({ "command": format!("cat notes{number}.txt") });
        rows.push(json!({
            "type": "assistant", "sessionId": "s", "cwd": "/proj",
            "message": { "content": [{ "type": "tool_use", "id": id, "name": "Bash", "input": input }] },
        }));
        if number != 0 && number != 1_099 {
            rows.push(json!({
                "type": "user", "sessionId": "s",
                "message": { "content": [{ "type": "tool_result", "tool_use_id": id, "content": "text" }] },
            }));
        }
    }
    let said = replayed(&rows, &[]);
    assert_eq!((&said["steps"], &said["verdicts"]), (&json!(1_100), &json!({ "ok": 1_100 })));
}

/// A hint at the task can only name a task that is known.
#[test]
fn what_a_session_was_for_may_be_said_by_hand() {
    let steps: Vec<Json> = (0..24)
        .map(|_| json!({ "tool": "Bash", "input": "ls", "output": "a b", "is_error": false }))
        .collect();
    let environment = TestEnvironment::new();
    environment.write("steps.jsonl", &json!({ "id": 1, "steps": steps }).to_string());
    let plain = environment.succeed(&["replay", "steps.jsonl"]);
    let told = environment.succeed(&["replay", "steps.jsonl", "--goal", "make the parser accept comments"]);
    assert!(!plain.contains("make the parser") && told.contains("make the parser accept comments"), "{told}");
}
