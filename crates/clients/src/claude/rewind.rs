//! Going on with a session of Claude Code from before one of its calls.

use std::collections::HashMap;
use std::ffi::OsString;

use serde_json::Value as Json;

use super::resume::resume;
use crate::rewind::{EarlierTurn, Rewind};

/// `claude --resume ID --resume-session-at TURN -p MESSAGE`: what came behind that turn is not in the conversation. Only `-p` takes that.
pub(super) const REWIND: Rewind = Rewind { before, words };

/// A row of a transcript, as far as its place in the conversation is concerned.
struct Row {
    parent: Option<String>,
    is_of_user: bool,
}

/// The row of the user before a call: a prompt, or what the call before it gave. Several calls of one message are rows of their own, each
/// below the one before it.
fn before(transcript: &str, call: &str) -> Option<String> {
    let mut rows: HashMap<String, Row> = HashMap::new();
    let mut calling = None;
    for line in transcript.lines() {
        let Ok(row) = serde_json::from_str::<Json>(line) else { continue };
        let text = |key: &str| row.get(key).and_then(Json::as_str).map(str::to_owned);
        let Some(name) = text("uuid") else { continue };
        // What a sub-agent did is another conversation.
        if row.get("isSidechain").and_then(Json::as_bool) == Some(true) {
            continue;
        }
        let blocks = row.pointer("/message/content").and_then(Json::as_array);
        let is_the_call = |block: &Json| {
            block.get("type").and_then(Json::as_str) == Some("tool_use")
                && block.get("id").and_then(Json::as_str) == Some(call)
        };
        if blocks.is_some_and(|blocks| blocks.iter().any(is_the_call)) {
            calling = Some(name.clone());
        }
        let is_of_user = text("type").as_deref() == Some("user");
        rows.insert(name, Row { parent: text("parentUuid"), is_of_user });
    }
    let mut at = rows.get(&calling?)?.parent.clone()?;
    // As many steps as there are rows: a circle ends too.
    for _ in 0..rows.len() {
        let row = rows.get(&at)?;
        if row.is_of_user {
            return Some(at);
        }
        at = row.parent.clone()?;
    }
    None
}

fn words(words: &[OsString], turn: &EarlierTurn<'_>) -> Option<Vec<OsString>> {
    let place = words.iter().position(|word| word == "-p" || word == "--print" || word == "--")?;
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let prompt = place + 1;
    if words.get(place)? == "--" || words.get(prompt).is_none_or(is_option) {
        return None;
    }
    // What is read as a stream of messages has no prompt on its command line.
    if words.iter().any(|word| word.to_str().is_some_and(|word| word.starts_with("--input-format"))) {
        return None;
    }
    let mut changed = words.to_vec();
    *changed.get_mut(prompt)? = turn.message.into();
    let mut going = resume(&changed, turn.session)?;
    going.splice(3..3, ["--resume-session-at".into(), turn.turn.into()]);
    Some(going)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(line: &str) -> Option<String> {
        let given: Vec<OsString> = line.split(' ').map(Into::into).collect();
        let turn = EarlierTurn { session: "s1", turn: "t1", message: "learned" };
        let words = words(&given, &turn)?;
        Some(words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn the_prompt_becomes_what_was_learned() {
        for (line, expected) in [
            ("claude -p task", Some("claude --resume s1 --resume-session-at t1 -p learned")),
            (
                "claude --model m --print task --verbose",
                Some("claude --resume s1 --resume-session-at t1 --model m --print learned --verbose"),
            ),
            ("claude -r old -p task", Some("claude --resume s1 --resume-session-at t1 -p learned")),
            ("claude task", None),
            ("claude -p --verbose task", None),
            ("claude -p", None),
            ("claude -- -p task", None),
            ("claude -p task --input-format stream-json", None),
        ] {
            assert_eq!(started(line).as_deref(), expected, "{line}");
        }
    }

    /// Rows as the client writes them: a prompt, what it adds, a call and its answer, two calls of one message.
    const ROWS: &str = r#"{"type":"queue-operation"}
{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"task"}}
{"type":"attachment","uuid":"x1","parentUuid":"u1"}
{"type":"assistant","uuid":"a1","parentUuid":"x1","message":{"id":"m1","content":[{"type":"tool_use","id":"c1"}]}}
{"type":"user","uuid":"u2","parentUuid":"a1","message":{"content":[{"type":"tool_result","tool_use_id":"c1"}]}}
{"type":"assistant","uuid":"a2","parentUuid":"u2","message":{"id":"m2","content":[{"type":"text","text":"so"}]}}
{"type":"assistant","uuid":"a3","parentUuid":"a2","message":{"id":"m2","content":[{"type":"tool_use","id":"c2"}]}}
{"type":"assistant","uuid":"a4","parentUuid":"a3","message":{"id":"m2","content":[{"type":"tool_use","id":"c3"}]}}
{"type":"assistant","isSidechain":true,"uuid":"b1","parentUuid":"a4","message":{"content":[{"type":"tool_use","id":"c9"}]}}
{"type":"user","uuid":"u3","parentUu"#;

    #[test]
    fn a_session_goes_on_behind_what_was_seen_before_the_call() {
        for (call, turn) in
            [("c1", Some("u1")), ("c2", Some("u2")), ("c3", Some("u2")), ("c9", None), ("none", None)]
        {
            assert_eq!(before(ROWS, call).as_deref(), turn, "{call}");
        }
        let circle = r#"{"type":"assistant","uuid":"a","parentUuid":"a","message":{"content":[{"type":"tool_use","id":"c"}]}}"#;
        assert_eq!(before(circle, "c"), None);
    }
}
