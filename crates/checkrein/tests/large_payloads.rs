//! The hook answers payloads of any length within bounded memory. The kernel counts the memory of a process from that of the one which
//! started it, so this test writes its payloads piece by piece and has a program of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs::File;
use std::io::{BufWriter, Write as _};

use serde_json::{Value as Json, json};
use support::memory::{MOST, peak};
use support::{TestEnvironment, decision, reason, shell_call};

/// The same for an ordinary call.
const ORDINARY: i64 = if cfg!(debug_assertions) { 48 } else { 8 };

/// One MiB of a text in JSON.
fn piece() -> String {
    "line of text\\n".repeat(1024 * 1024 / 14)
}

/// What the hook answers to a payload in which a mark stands for so many MiB of text.
fn answer(environment: &TestEnvironment, payload: &[u8], megabytes: usize) -> Json {
    answer_of(environment, payload, &piece(), megabytes)
}

/// The same with so many MiB of something else.
fn answer_of(environment: &TestEnvironment, payload: &[u8], piece: &str, megabytes: usize) -> Json {
    let text = std::str::from_utf8(payload).unwrap();
    let (before, after) = text.split_once("MARK").unwrap_or((text, ""));
    let path = environment.home().join("payload");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    file.write_all(before.as_bytes()).unwrap();
    for _ in 0..megabytes {
        file.write_all(piece.as_bytes()).unwrap();
    }
    file.write_all(after.as_bytes()).unwrap();
    file.flush().unwrap();
    let output = environment.hook().stdin(File::open(path).unwrap()).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_payload_of_any_length_is_answered_within_bounded_memory() {
    let environment = TestEnvironment::new();
    // First, since the kernel tells the greatest of all that ended.
    let ordinary = environment.payload("s", "PreToolUse", shell_call("one", "cargo test", json!({})));
    assert_eq!(answer(&environment, &ordinary, 0), json!({}));
    assert!(peak() < ORDINARY, "an ordinary call: {} MiB", peak());
    std::thread::scope(|scope| {
        let others = scope.spawn(|| of_many_values(&TestEnvironment::new()));
        of_long_texts(&environment);
        of_many_members(&environment);
        others.join().unwrap();
    });
}

fn of_long_texts(environment: &TestEnvironment) {
    let path = environment.project().join("large.txt");
    for megabytes in [1, 8, 11, 13, 40, 100] {
        let input = json!({ "file_path": path, "content": "MARK" });
        let write = json!({ "tool_name": "Write", "tool_input": input, "tool_use_id": "write" });
        let written = answer(environment, &environment.payload("s", "PreToolUse", write.clone()), megabytes);
        assert_eq!(decision(&written) == Some("deny"), megabytes > 12, "{megabytes}: {written}");
        assert!(peak() < MOST, "written, {megabytes}: {} MiB", peak());
        let mut outcome = write;
        outcome["tool_response"] = json!({ "type": "update", "filePath": path, "originalFile": "MARK" });
        answer(environment, &environment.payload("s", "PostToolUse", outcome), megabytes);
        assert!(peak() < MOST, "written over, {megabytes}: {} MiB", peak());
        let command = "cat <<'END' > large.txt\nMARK\nEND";
        let shell = environment.payload("s", "PreToolUse", shell_call("shell", command, json!({})));
        let shell = answer(environment, &shell, megabytes);
        assert!(megabytes < 2 || decision(&shell) == Some("deny"), "{megabytes}: {shell}");
        assert!(peak() < MOST, "in the shell, {megabytes}: {} MiB", peak());
    }
}

/// Names of nothing that is used, in the payload itself and in what a call answered.
fn of_many_members(environment: &TestEnvironment) {
    let piece = "\"k\":1,".repeat(128 * 1024 / 6);
    let before = environment.payload("members", "PreToolUse", shell_call("one", "rm -rf ~", json!({})));
    let before = String::from_utf8(before).unwrap();
    let before = format!("{},MARK\"end\":1}}", before.trim_end().strip_suffix('}').unwrap());
    let answered = answer_of(environment, before.as_bytes(), &piece, 88);
    assert!(reason(&answered).contains("the home directory"), "{answered}");
    let mut outcome = shell_call("one", "ls", json!({}));
    outcome["tool_response"] = json!("LIST");
    let after = String::from_utf8(environment.payload("members", "PostToolUse", outcome)).unwrap();
    let after = after.replace("\"LIST\"", "{MARK\"end\":1}");
    answer_of(environment, after.as_bytes(), &piece, 88);
    assert!(peak() < MOST, "members: {} MiB", peak());
}

/// Small values take a hundred times their length when they are read. In one test with the other: the kernel tells the greatest of all.
fn of_many_values(environment: &TestEnvironment) {
    let families = ["1,", "[],", "{},", "[[[1]]],", "{\"a\":{}},", "{\"a\":[{\"b\":{}}]},", "\"\\u00e9\","];
    // What ends the list differs from what stands in it, so that the text is JSON.
    let list = json!("LIST");
    let with = |payload: Vec<u8>| String::from_utf8(payload).unwrap().replace("\"LIST\"", "[MARK0]");
    for (number, family) in families.into_iter().enumerate() {
        let session = format!("s{number}");
        // An eighth of a MiB.
        let piece = family.repeat(128 * 1024 / family.len());
        let ask = |payload: Vec<u8>, pieces: usize| {
            let answer = answer_of(environment, with(payload).as_bytes(), &piece, pieces);
            assert!(peak() < MOST, "{family} {pieces}: {} MiB", peak());
            answer
        };
        // Around what there is room for, and close to the longest.
        for pieces in [1, 2, 4, 6, 88] {
            let input = json!({ "tool_name": "mcp__a__b", "tool_input": { "x": list }, "tool_use_id": "m" });
            let answered = ask(environment.payload(&session, "PreToolUse", input), pieces);
            assert!(pieces < 88 || decision(&answered) == Some("deny"), "{family} {pieces}: {answered}");
        }
        let mut unused = shell_call("one", "rm -rf ~", json!({}));
        unused["z"] = list.clone();
        let answered = ask(environment.payload(&session, "PreToolUse", unused), 88);
        assert!(reason(&answered).contains("the home directory"), "{family}: {answered}");
        let mut outcome = shell_call("one", "ls", json!({}));
        outcome["tool_response"] = json!({ "stdout": "done", "rows": list });
        for pieces in [2, 88] {
            let answered = ask(environment.payload(&session, "PostToolUse", outcome.clone()), pieces);
            assert_eq!(answered.get("decision"), None, "{family} {pieces}: {answered}");
        }
        ask(environment.payload(&session, "Foo", json!({ "z": list })), 2);
    }
}
