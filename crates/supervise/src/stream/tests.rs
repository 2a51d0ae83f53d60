use serde_json::json;

use super::*;
use crate::event_queue::{Waiting, backlog};

fn answer(id: &str, tokens: u64, block: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"{id}","model":"claude-sonnet-4-5","usage":{{"input_tokens":{tokens},"output_tokens":10}},"content":[{block}]}}}}"#
    ) + "\n"
}
const CALL: &str = r#"{"type":"tool_use","id":"t","name":"Bash","input":{}}"#;
const TEXT: &str = r#"{"type":"text","text":"done"}"#;

#[test]
fn rows_of_one_answer_count_once() {
    let mut listener = StreamParser::new(Prices::default());
    listener.hear((answer("m1", 100, TEXT) + &answer("m1", 100, CALL) + &answer("m2", 200, TEXT)).as_bytes());
    let progress = listener.progress();
    assert_eq!((progress.iterations, progress.tokens.input, progress.tokens.output), (2, 300, 20));
    assert_eq!((progress.last_sent, progress.goes_on), (200, false));
    assert!((progress.dollars() - (300.0 * 3.0 + 20.0 * 15.0) / 1e6).abs() < 1e-12);
}

#[test]
fn bytes_may_come_in_any_pieces() {
    let text = answer("m1", 100, CALL) + "not json\n" + &answer("m2", 50, TEXT);
    let mut whole = StreamParser::new(Prices::default());
    whole.hear(text.as_bytes());
    let mut pieces = StreamParser::new(Prices::default());
    text.as_bytes().chunks(7).for_each(|piece| {
        pieces.hear(piece);
    });
    assert_eq!(whole.progress().tokens, pieces.progress().tokens);
    assert_eq!(pieces.progress().iterations, 2);
}

#[test]
fn a_model_that_is_not_listed_is_estimated_and_told() {
    let heard = hear(&[&answer("m1", 1_000_000, TEXT).replace("claude-sonnet-4-5", "claude-opus-4-99")]);
    assert_eq!(
        heard.estimated,
        Some(Estimate { model: "claude-opus-4-99".into(), like: "claude-opus-4".into() })
    );
    assert!(heard.dollars() > 15.0);
    assert_eq!(hear(&[&answer("m1", 1, TEXT)]).estimated, None);
}

fn hear(lines: &[&str]) -> RunProgress {
    let mut listener = StreamParser::new(Prices::default());
    for line in lines {
        listener.hear(line.as_bytes());
    }
    listener.finish();
    listener.progress().clone()
}

const OPENED: &str = "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n";

#[test]
fn tokens_count_however_they_are_written() {
    let plain = answer("m1", 2_000_000, TEXT);
    let object = plain.trim_end();
    let typed = "\"type\":\"assistant\"";
    let variants = [
        plain.replace("2000000", "2e6"),
        plain.replace("2000000", "2000000.0"),
        plain.replace("\"type\":\"assistant\"", "\"typ\\u0065\":\"assistant\""),
        plain.replace(&format!("{{{typed},"), "{").replace("]}}", &format!("]}},{typed}}}")),
        format!("\u{feff}{plain}"),
        format!("[{object}]\n"),
        format!("{object}\r"),
        object.to_owned(),
        plain.replace("\"input_tokens\":2000000", "\"input_tokens\":2000000,\"input_tokens\":3"),
        plain.replace("m1", "m1\u{fffd}"),
        answer("m1", 7, TEXT) + &answer("m1", 2_000_000, TEXT) + &answer("m1", 9, TEXT),
    ];
    for variant in variants {
        let progress = hear(&[&variant]);
        assert_eq!((progress.tokens.input, progress.iterations), (2_000_000, 1), "{variant}");
        assert_eq!(progress.uncounted, None, "{variant}");
    }
    let mut listener = StreamParser::new(Prices::default());
    listener.hear(
        plain
            .replace("done", "DONE")
            .as_bytes()
            .iter()
            .map(|byte| if *byte == b'D' { 0xff } else { *byte })
            .collect::<Vec<u8>>()
            .as_slice(),
    );
    assert_eq!(listener.progress().tokens.input, 2_000_000);
}

#[test]
fn what_cannot_be_counted_is_known_to_be_uncounted() {
    let plain = answer("m1", 2_000_000, TEXT);
    let variants = [
        plain.replace("2000000", "\"2000000\""),
        plain.replace("2000000", "-5"),
        plain.replace("2000000", "NaN"),
        plain.replace("2000000", "1e999"),
        plain.replace("2000000", "2.5"),
        plain.replace("usage", "used"),
        plain.replace("input_tokens", "tokens_in").replace("output_tokens", "tokens_out"),
        "{\"type\":\"assistant\",".to_owned() + &"x".repeat(LONGEST) + "\n",
        "{\"type\":\"result\",\"total_cost_usd\":-7}\n".to_owned(),
        "{\"type\":\"turn.completed\",\"usage\":{\"inputs\":9}}\n".to_owned(),
    ];
    for variant in variants {
        let shown: String = variant.chars().take(200).collect();
        assert!(hear(&[OPENED, &variant]).uncounted.is_some(), "{shown}");
    }
    let results = "{\"type\":\"user\",".to_owned() + &"x".repeat(LONGEST) + "\n";
    assert_eq!(hear(&[OPENED, &results]).uncounted, None, "results of tools count nothing");
    assert_eq!(hear(&["{not json\n", "{}\n", "[]\n"]).uncounted, None, "other programs say what they like");
    assert!(hear(&[OPENED]).untold().is_some() && hear(&[OPENED, &plain]).untold().is_none());
    let nothing = "{\"type\":\"result\",\"total_cost_usd\":0}\n";
    assert_eq!(hear(&[OPENED, nothing]).untold(), None, "it told that it spent nothing");
}

#[test]
fn what_was_spent_never_goes_down() {
    let told = |cost: &str| format!("{{\"type\":\"result\",\"total_cost_usd\":{cost}}}\n");
    assert!((hear(&[&told("0.9"), &told("0"), &told("-7")]).dollars() - 0.9).abs() < 1e-9);
    // Rows of sub-agents come between those of one answer.
    let progress = hear(&[&answer("m1", 5, TEXT), &answer("m2", 5, TEXT), &answer("m1", 5, TEXT)]);
    assert_eq!((progress.iterations, progress.tokens.input), (2, 10));
}

#[test]
fn turns_of_codex_are_counted_by_their_steps() {
    let mut listener = StreamParser::new(Prices::default());
    listener.hear(
        br#"{"type":"thread.started","thread_id":"abc"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"i0","type":"command_execution","command":"ls","exit_code":0}}
{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"there are two"}}
{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":400,"output_tokens":50}}
"#,
    );
    let progress = listener.progress();
    assert_eq!(progress.session.as_deref(), Some("abc"));
    assert_eq!((progress.iterations, progress.said.as_str()), (2, "there are two"));
    assert_eq!((progress.tokens.input, progress.tokens.cache_read, progress.tokens.output), (600, 400, 50));
}

fn item(kind: &str, more: &str) -> String {
    format!(r#"{{"type":"item.completed","item":{{"id":"i","type":"{kind}"{more}}}}}"#) + "\n"
}
const TURN: &str = "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"turn.started\"}\n";

fn turn_told(input: u64, output: u64) -> String {
    format!(r#"{{"type":"turn.completed","usage":{{"input_tokens":{input},"output_tokens":{output}}}}}"#)
        + "\n"
}

#[test]
fn an_item_of_codex_that_is_a_step_counts_as_an_answer_and_words_do_not_come_without_end() {
    let answers = |items: &str| hear(&[TURN, items]).iterations;
    let step =
        item("reasoning", "") + &item("agent_message", r#","text":"now""#) + &item("command_execution", "");
    assert_eq!(answers(&step.repeat(30)), 30, "words on the way to a step are of the same answer");
    for kind in ["file_change", "mcp_tool_call", "web_search", "collab_tool_call", "not_known_yet"] {
        assert_eq!(answers(&item(kind, "").repeat(7)), 7, "{kind}");
    }
    assert_eq!(answers(&item("error", r#","message":"x""#).repeat(7)), 0);
    let list = item("todo_list", "");
    assert_eq!(
        answers(&(list.replace("completed", "updated").repeat(3) + &list)),
        4,
        "each change of the list"
    );
    assert!(answers(&item("reasoning", "").repeat(300)) > 20);
    assert_eq!(answers(&(item("reasoning", "").repeat(5) + &item("agent_message", ""))), 0);
}

#[test]
fn a_turn_of_codex_is_counted_by_what_it_holds_until_it_tells() {
    let words = item("agent_message", &format!(r#","text":"{}""#, "x".repeat(4_000)));
    let read = format!(r#","command":"{}","aggregated_output":"{}""#, "c".repeat(40), "o".repeat(1 << 20));
    let read = item("command_execution", &read);
    let gone = format!(r#","changes":[{{"path":"a","kind":"delete","diff":"{}"}}]"#, "d".repeat(40_000));
    let held = words + &read + &item("file_change", &gone);
    let progress = hear(&[TURN, &held]);
    assert_eq!((progress.tokens.output, progress.tokens.input, progress.last_sent), (1_010, 1_024, 0));
    assert!(progress.dollars() > 0.0 && progress.uncounted.is_none());
    assert!(progress.untold().unwrap().contains("never told its tokens"));
    let told = hear(&[TURN, &held, &turn_told(50_000, 900)]);
    assert_eq!((told.tokens.input, told.tokens.output, told.last_sent), (50_000, 1_010, 50_000));
    assert_eq!((told.untold(), told.uncounted), (None, None));
}

#[test]
fn a_turn_of_codex_that_does_not_tell_its_tokens_is_uncounted() {
    let step = item("command_execution", "");
    let why = |lines: &str| hear(&[TURN, lines]).uncounted;
    let turn = "{\"type\":\"turn.started\"}\n";
    assert!(why(&(step.clone() + turn)).unwrap().contains("did not tell its tokens"));
    assert!(why(&(step.clone() + &turn_told(0, 0))).unwrap().contains("no tokens"));
    assert_eq!(why(&(step.clone() + &turn_told(9, 1) + turn + &step + &turn_told(9, 1))), None);
    assert_eq!(why(turn), None, "a turn without anything");
    let failed = "{\"type\":\"turn.failed\",\"error\":{\"message\":\"busy\"}}\n";
    assert_eq!(why(&(step + failed + turn)), None, "who failed is tried again");
}

#[test]
fn an_answer_is_counted_from_its_beginning_and_once_and_what_is_nested_counts_too() {
    let event = |event: &str| format!(r#"{{"type":"stream_event","event":{event},"session_id":"s"}}"#) + "\n";
    let begun = event(
        r#"{"type":"message_start","message":{"id":"m1","model":"claude-sonnet-4-5","usage":{"input_tokens":100,"output_tokens":1},"content":[]}}"#,
    );
    let parts = event(r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}"#)
        + &event(r#"{"type":"message_delta","usage":{"output_tokens":10}}"#)
        + &event(r#"{"type":"message_stop"}"#);
    let early = hear(&[OPENED, &begun]);
    assert_eq!((early.iterations, early.tokens.input), (1, 100));
    let whole = hear(&[OPENED, &begun, &parts, &answer("m1", 100, TEXT)]);
    assert_eq!((whole.iterations, whole.tokens.input, whole.tokens.output), (1, 100, 10));
    assert_eq!(whole.uncounted, None);
    let no_use = begun.replace("usage", "used");
    assert_eq!(hear(&[OPENED, &no_use, &answer("m1", 100, TEXT)]).uncounted, None, "the row tells it");
    let nested = hear(&[OPENED, &event(answer("m1", 2_000_000, TEXT).trim_end())]);
    assert_eq!((nested.iterations, nested.tokens.input), (1, 2_000_000));
}

/// The end of an answer tells what it wrote; the rows tell what its beginning told.
#[test]
fn the_end_of_an_answer_counts_as_soon_as_it_is_told() {
    let event = |event: &str| format!(r#"{{"type":"stream_event","event":{event},"session_id":"s"}}"#) + "\n";
    let begun = event(
        r#"{"type":"message_start","message":{"id":"m1","model":"claude-sonnet-4-5","usage":{"input_tokens":100,"output_tokens":1},"content":[]}}"#,
    );
    let end = event(r#"{"type":"message_delta","delta":{},"usage":{"output_tokens":20000}}"#);
    let row = answer("m1", 100, TEXT);
    let known = hear(&[OPENED, &begun, &row, &end]);
    assert_eq!((known.iterations, known.tokens.input, known.tokens.output), (1, 100, 20_000));
    assert!((known.dollars() - (100.0 * 3.0 + 20_000.0 * 15.0) / 1e6).abs() < 1e-9);
    // Of an answer that nobody began nothing is known.
    assert_eq!(hear(&[OPENED, &end]).iterations, 0);
}

#[test]
fn what_the_client_makes_up_itself_is_no_answer() {
    let made_up = r#"{"type":"assistant","message":{"id":"m1","model":"<synthetic>","usage":{"input_tokens":0,"output_tokens":0},"content":[{"type":"text","text":"Invalid API key, which is a long text"}]}}"#;
    let heard = hear(&[OPENED, &(made_up.to_owned() + "\n")]);
    assert_eq!((heard.estimated, heard.iterations, heard.tokens), (None, 0, TokenCounts::default()));
    assert!(heard.cost == 0.0 && heard.uncounted.is_none());
}

fn told(stream: &str) -> Vec<StreamEvent> {
    let (speaker, backlog) = backlog();
    StreamParser::new(Prices::default()).telling(Some(speaker)).hear(stream.as_bytes());
    let next = || match backlog.next(std::time::Duration::ZERO) {
        Waiting::Heard(heard) => Some(heard),
        Waiting::Nothing | Waiting::Closed => None,
    };
    std::iter::from_fn(next).collect()
}

// Source: seed 001-39
#[test]
fn calls_and_answers_of_claude_are_told_on() {
    let heard = told(
        r#"{"type":"system","subtype":"init","session_id":"s1"}
{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}
{"type": "user", "message": {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a b","is_error":false}]}}
{"type":"system","subtype":"permission_denied","tool_use_id":"t2","session_id":"s1"}
"#,
    );
    let call = StreamEvent::Call { id: "t1".into(), tool: "Bash".into(), input: json!({ "command": "ls" }) };
    let answer = StreamEvent::Answer { id: "t1".into(), output: "a b".into(), failed: false };
    assert_eq!(
        heard,
        [StreamEvent::Opened("s1".into()), call, answer, StreamEvent::Refused { id: "t2".into() }]
    );
}

#[test]
fn steps_of_codex_are_told_once_whether_their_beginning_was_heard_or_not() {
    let item = |kind: &str, id: &str, more: &str| {
        format!(
            r#"{{"type":"item.{kind}","item":{{"id":"{id}","type":"command_execution","command":"ls"{more}}}}}"#
        ) + "\n"
    };
    let done = r#","aggregated_output":"a","exit_code":1,"status":"failed""#;
    let heard =
        told(&(item("started", "i1", "") + &item("completed", "i1", done) + &item("completed", "i2", done)));
    let call = |id: &str| StreamEvent::Call {
        id: id.into(),
        tool: "Bash".into(),
        input: json!({ "command": "ls" }),
    };
    let answer = |id: &str| StreamEvent::Answer { id: id.into(), output: "a".into(), failed: true };
    assert_eq!(heard, [call("i1"), answer("i1"), call("i2"), answer("i2")]);
    let change = r#"{"type":"item.completed","item":{"id":"i3","type":"file_change","changes":[{"path":"src/a.rs","kind":"delete"}],"status":"completed"}}"#;
    let Some(StreamEvent::Call { tool, input, .. }) = told(&(change.to_owned() + "\n")).first().cloned()
    else {
        panic!("no call")
    };
    assert_eq!(tool, "apply_patch");
    assert!(input["command"].as_str().unwrap().contains("*** Delete File: src/a.rs"));
}

#[test]
fn an_answer_that_is_told_while_it_is_written_counts_by_what_it_holds_and_the_end_tells_all() {
    let mut listener = StreamParser::new(Prices::default());
    let part = |content: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m1","model":"claude-sonnet-4-5","usage":{{"input_tokens":10,"output_tokens":1}},"content":[{content}]}}}}"#
        ) + "\n"
    };
    let text = |length: usize| format!(r#"{{"type":"text","text":"{}"}}"#, "x".repeat(length));
    listener.hear(part(&text(400)).as_bytes());
    assert_eq!(listener.progress().tokens.output, 100);
    let call = format!(
        r#"{{"type":"tool_use","id":"t1","name":"Write","input":{{"content":"{}"}}}}"#,
        "y".repeat(3_986)
    );
    listener.hear(part(&call).as_bytes());
    assert_eq!((listener.progress().tokens.output, listener.progress().iterations), (1_100, 1));
    let end = r#"{"type":"result","subtype":"success","modelUsage":{"a":{"inputTokens":10,"outputTokens":900},"b":{"outputTokens":600,"cacheReadInputTokens":7}}}"#;
    listener.hear((end.to_owned() + "\n").as_bytes());
    let tokens = listener.progress().tokens;
    assert_eq!((tokens.input, tokens.output, tokens.cache_read), (10, 1_500, 7));
    listener.hear(b"{\"type\":\"result\",\"modelUsage\":{\"a\":{\"outputTokens\":-1}}}\n");
    assert!(listener.progress().uncounted.is_some());
}

#[test]
fn an_error_of_the_provider_is_known_until_an_answer_comes() {
    let mut listener = StreamParser::new(Prices::default());
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":1,"error_status":529,"error":"overloaded","session_id":"s"}"#;
    listener.hear((retry.to_owned() + "\n").as_bytes());
    assert_eq!(listener.progress().error.as_ref().and_then(|error| error.status), Some(529));
    listener.hear(answer("m1", 1, TEXT).as_bytes());
    assert_eq!(listener.progress().error, None);
    let end = r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 500 {}","session_id":"s"}"#;
    listener.hear((end.to_owned() + "\n").as_bytes());
    assert_eq!(listener.progress().error.as_ref().and_then(|error| error.status), Some(500));
    listener.hear(b"{\"type\":\"turn.failed\",\"error\":{\"message\":\"stream disconnected\"}}\n");
    assert_eq!(listener.progress().error.as_ref().unwrap().message, "stream disconnected");
}

#[test]
fn a_line_without_an_end_is_bounded_and_said() {
    let mut listener = StreamParser::new(Prices::default());
    listener.hear(&vec![b'x'; LONGEST + 10]);
    listener.hear(b"y\n");
    listener.hear(answer("m1", 5, TEXT).as_bytes());
    assert_eq!((listener.progress().unread, listener.progress().iterations), (1, 1));
}

#[test]
fn steps_of_opencode_tell_tokens_cost_and_calls() {
    let row = |kind: &str, part: serde_json::Value| {
        json!({ "type": kind, "timestamp": 1, "sessionID": "ses_1", "part": part }).to_string() + "\n"
    };
    let step = |reason: &str| {
        row(
            "step_finish",
            json!({ "type": "step-finish", "reason": reason, "cost": 0.25,
                "tokens": { "total": 1050, "input": 1000, "output": 40, "reasoning": 10, "cache": { "write": 5, "read": 7 } } }),
        )
    };
    let call = row(
        "tool_use",
        json!({ "type": "tool", "tool": "bash", "callID": "c1",
            "state": { "status": "completed", "input": { "command": "ls" }, "output": "x", "metadata": { "exit": 3 } } }),
    );
    let text = row("text", json!({ "type": "text", "text": "done" }));
    let all = row("step_start", json!({})) + &call + &step("tool-calls") + &text + &step("stop");
    let mut listener = StreamParser::new(Prices::default());
    listener.hear(all.as_bytes());
    let progress = listener.progress();
    assert_eq!(progress.session.as_deref(), Some("ses_1"));
    assert_eq!((progress.iterations, progress.goes_on, progress.said.as_str()), (2, false, "done"));
    assert_eq!(progress.tokens, TokenCounts { input: 2000, output: 100, cache_write: 10, cache_read: 14 });
    assert_eq!((progress.told_cost, progress.untold()), (Some(0.5), None));
    let heard = format!("{:?}", told(&all));
    assert!(heard.contains("Call {") && heard.contains("failed: true"), "{heard}");
}

#[test]
fn droid_tells_its_tokens_at_the_end_and_is_counted_until_then() {
    let row = |mut row: serde_json::Value| {
        row["session_id"] = json!("d1");
        row.to_string() + "\n"
    };
    let start = row(json!({ "type": "system", "subtype": "init", "model": "glm-5" }));
    let call = row(json!({ "type": "tool_call", "id": "c1", "messageId": "m1", "toolName": "Execute",
        "parameters": { "command": "ls", "summary": "x".repeat(400) } }));
    let result = row(json!({ "type": "tool_result", "id": "c1", "isError": false, "value": "a\nb" }));
    let words = row(json!({ "type": "message", "role": "assistant", "id": "m2", "text": "done" }));
    let end = row(
        json!({ "type": "completion", "finalText": "done", "numTurns": 2, "usage": { "input_tokens": 2000,
        "output_tokens": 150, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 0 } }),
    );
    let mut listener = StreamParser::new(Prices::default());
    listener.hear((start + &call + &result).as_bytes());
    assert!(listener.progress().tokens.output > 100, "what it wrote is counted already");
    assert_eq!(listener.progress().untold(), Some("its last turn never told its tokens"));
    listener.hear((words + &end).as_bytes());
    let progress = listener.progress();
    assert_eq!(progress.tokens, TokenCounts { input: 2000, output: 150, cache_write: 0, cache_read: 30 });
    assert_eq!((progress.iterations, progress.goes_on, progress.untold()), (2, false, None));
    assert_eq!((progress.session.as_deref(), progress.model.as_deref()), (Some("d1"), Some("glm-5")));
}

#[test]
fn copilot_tells_its_answers_and_calls_and_no_tokens() {
    let row = |kind: &str, data: serde_json::Value| {
        json!({ "type": kind, "data": data, "id": "x", "timestamp": "t" }).to_string() + "\n"
    };
    let answer = |text: &str, calls: serde_json::Value| {
        row("assistant.message", json!({ "model": "gpt-5.4", "content": text, "toolRequests": calls }))
    };
    let call = row(
        "tool.execution_start",
        json!({ "toolCallId": "c1", "toolName": "bash", "arguments": { "command": "ls" } }),
    );
    let done = row(
        "tool.execution_complete",
        json!({ "toolCallId": "c1", "success": true, "shellExecution": { "exitCode": 2 }, "result": { "content": "no" } }),
    );
    let end = json!({ "type": "result", "sessionId": "p1", "exitCode": 0, "usage": { "premiumRequests": 0 } })
        .to_string() + "\n";
    let mut listener = StreamParser::new(Prices::default());
    let text =
        answer("", json!([{ "toolCallId": "c1" }])) + &call + &done + &answer("done", json!([])) + &end;
    listener.hear(text.as_bytes());
    let progress = listener.progress();
    assert_eq!((progress.iterations, progress.said.as_str(), progress.goes_on), (2, "done", false));
    assert_eq!((progress.session.as_deref(), progress.model.as_deref()), (Some("p1"), Some("gpt-5.4")));
    assert_eq!(progress.untold(), Some("the client told of its session and never of tokens"));
    let heard = format!("{:?}", told(&text));
    assert!(heard.contains("Call {") && heard.contains("failed: true"), "{heard}");
}

#[test]
fn gemini_tells_its_tokens_by_model_at_the_end_and_is_counted_until_then() {
    let row = |mut row: serde_json::Value| {
        row["timestamp"] = json!("2026-11-29T13:14:28.094Z");
        row.to_string() + "\n"
    };
    let start = row(json!({ "type": "init", "session_id": "g1", "model": "gemini-2.5-flash" }));
    let prompt = row(json!({ "type": "message", "role": "user", "content": "do it" }));
    let part =
        |text: &str| row(json!({ "type": "message", "role": "assistant", "content": text, "delta": true }));
    let call = |id: &str| {
        row(json!({ "type": "tool_use", "tool_name": "run_shell_command", "tool_id": id,
            "parameters": { "command": "ls", "description": "x".repeat(400) } }))
    };
    let result = |id: &str, output: &str| {
        row(json!({ "type": "tool_result", "tool_id": id, "status": "success", "output": output }))
    };
    let first = start + &prompt + &part("I will ") + &part("look.") + &call("c1") + &call("c2");
    let results = result("c1", "a") + &result("c2", "Command exited with code: 3");
    let end = row(
        json!({ "type": "result", "status": "success", "stats": { "total_tokens": 3200, "models": {
        "gemini-2.5-flash": { "total_tokens": 2130, "input_tokens": 2000, "output_tokens": 100, "cached": 40 },
        "gemini-2.5-pro": { "total_tokens": 1050, "input_tokens": 1000, "output_tokens": 50, "cached": 0 } } } }),
    );
    let mut listener = StreamParser::new(Prices::default());
    listener.hear((first.clone() + &results).as_bytes());
    let early = listener.progress();
    assert!(early.tokens.output > 200, "what it wrote is counted already: {:?}", early.tokens);
    assert_eq!((early.iterations, early.goes_on), (1, true), "two calls of one answer");
    assert_eq!(early.untold(), Some("its last turn never told its tokens"));
    listener.hear((part("done") + &end).as_bytes());
    let progress = listener.progress();
    let output = progress.tokens.output;
    // More was written than it told: nothing goes down.
    assert_eq!(progress.tokens, TokenCounts { input: 2960, output, cache_write: 0, cache_read: 40 });
    assert!((180..=260).contains(&output), "{output}");
    assert_eq!((progress.iterations, progress.goes_on, progress.untold()), (2, false, None));
    assert_eq!((progress.session.as_deref(), progress.said.as_str()), (Some("g1"), "done"));
    let heard = told(&(first + &results + &part("done") + &end));
    let said: Vec<&StreamEvent> =
        heard.iter().filter(|heard| matches!(heard, StreamEvent::Said(_))).collect();
    assert_eq!(said, [&StreamEvent::Said("I will look.".into()), &StreamEvent::Said("done".into())]);
    let failed: Vec<bool> = heard
        .iter()
        .filter_map(|heard| match heard {
            StreamEvent::Answer { failed, .. } => Some(*failed),
            _ => None,
        })
        .collect();
    assert_eq!(failed, [false, true]);
}

#[test]
fn gemini_fails_by_its_errors_and_not_by_its_warnings() {
    let row = |row: &str| format!("{{{row},\"timestamp\":\"t\"}}\n");
    let warning = row(r#""type":"error","severity":"warning","message":"Loop detected""#);
    assert!(hear(&[&warning]).error.is_none());
    let error = row(r#""type":"error","severity":"error","message":"503 busy""#);
    assert_eq!(hear(&[&error]).error.unwrap().message, "503 busy");
    let end =
        row(r#""type":"result","status":"error","error":{"type":"x","message":"429 quota"},"stats":{}"#);
    assert_eq!(hear(&[&end]).error.unwrap().message, "429 quota");
}

/// Its rows are those of Claude, but what came from the cache is part of the input, and the end tells of sub-agents too.
#[test]
fn qwen_counts_its_cache_once_and_its_end_tells_all() {
    let usage = json!({ "input_tokens": 1000, "output_tokens": 50, "cache_read_input_tokens": 400, "total_tokens": 1050 });
    let answer = json!({ "type": "assistant", "message": { "id": "q1", "model": "qwen3-coder", "usage": usage,
        "content": [{ "type": "text", "text": "done" }] } });
    let heard = hear(&[OPENED, &format!("{answer}\n")]);
    assert_eq!(heard.tokens, TokenCounts { input: 600, output: 50, cache_write: 0, cache_read: 400 });
    let all = json!({ "input_tokens": 3000, "output_tokens": 150, "cache_read_input_tokens": 500, "total_tokens": 3150 });
    let end =
        json!({ "type": "result", "subtype": "success", "is_error": false, "result": "done", "usage": all });
    let ended = hear(&[OPENED, &format!("{answer}\n{end}\n")]);
    assert_eq!(ended.tokens, TokenCounts { input: 2500, output: 150, cache_write: 0, cache_read: 500 });
    assert!(ended.cost > heard.cost && ended.uncounted.is_none());
    // The end of Claude tells of its last answer alone.
    let other = format!("{end}\n").replace("total_tokens", "other_tokens");
    assert_eq!(hear(&[OPENED, &format!("{answer}\n"), &other]).tokens, heard.tokens);
}
