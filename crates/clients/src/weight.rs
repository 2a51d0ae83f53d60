//! How much memory a payload takes once it is read, told from its bytes before anything is read.
//!
//! A text takes little more than its length, whatever its length; a thousand small values take a hundred times theirs. So what is bounded is not
//! the length alone: of a payload that would take too much only what is used is read, and only while there is room for it.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde_json::{Map, Value as Json};

use crate::error::DecodeError;

/// The greatest weight of a payload, in bytes of memory, about: what the longest one takes that is a single text, and room for some ten
/// thousand values beside it (ours).
const LIMIT: usize = 56 * 1024 * 1024;

/// What each byte of a payload takes (ours): it is read, decoded, and kept in parts for the record.
const BYTE: usize = 4;

/// What a value takes at most, in bytes, with the copies that are made of it (ours): measured by the test of large payloads.
const VALUE: usize = 400;

/// What an array takes beside its values (ours).
const ARRAY: usize = 400;

/// What an object takes beside its values (ours): a node for eleven names and values at once.
const OBJECT: usize = 1200;

/// The fields that any client's payload is read for; what else there is goes into the record of events of which nothing is known.
const USED: &[&str] = &[
    "hook_event_name",
    "session_id",
    "cwd",
    "agent_id",
    "agent_transcript_path",
    "transcript_path",
    "permission_mode",
    "tool_name",
    "tool_input",
    "tool_use_id",
    "tool_response",
    "error",
    "prompt",
    "prompt_response",
    "source",
    "last_assistant_message",
    "file_path",
    "duration_ms",
    "mcp_context",
    "server_name",
    "sessionId",
    "toolName",
    "toolArgs",
    "toolInput",
    "toolResult",
    "tool_result",
    "hookName",
    "parentAgentId",
    "parent_agent_id",
    "agentId",
    "stopReason",
    "taskId",
    "sessionContext",
    "workspaceRoots",
    "workspace_roots",
    "tool_call",
    "preToolUse",
    "conversation_id",
    "tool_output",
    "agent_action_name",
    "trajectory_id",
    "tool_info",
];

/// The fields of which parts may be left out: what a call answered is looked at, and nothing is decided by it.
const ANSWERS: [&str; 4] = ["tool_response", "toolResult", "tool_result", "tool_output"];

/// What stands in the place of an answer that is not read.
const LEFT_OUT: &str = "[not read: too many values]";

/// The object that a payload is, without what would take too much memory.
pub(crate) fn read(text: &str) -> Result<Map<String, Json>, DecodeError> {
    let not_json = |cause| DecodeError::NotJson { cause };
    if weight(text) <= LIMIT {
        return match once(text)? {
            Json::Object(fields) => Ok(fields),
            _ => Err(DecodeError::NotAnObject),
        };
    }
    // From here on the text is known to be JSON.
    serde_json::from_str::<IgnoredAny>(text).map_err(not_json)?;
    let mut names = 0_usize;
    let members = members(text, |name| {
        let is_used = USED.contains(&name);
        names += usize::from(is_used);
        is_used
    });
    let members = members.ok_or(DecodeError::NotAnObject)?;
    if names != members.len() {
        return Err(DecodeError::Twofold);
    }
    let mut left = LIMIT.saturating_sub(text.len());
    let mut fields = Map::new();
    for (name, value) in members {
        let value = match (take(value, &mut left), name.as_str()) {
            (true, _) => once(value)?,
            (false, name) if ANSWERS.contains(&name) => {
                Json::Object(lightest(value, &mut left).map_err(not_json)?)
            }
            (false, _) => return Err(DecodeError::TooManyValues { field: name.chars().take(64).collect() }),
        };
        fields.insert(name, value);
    }
    Ok(fields)
}

/// A value in which no object has a name twice: which of two a client takes, nobody knows.
fn once(text: &str) -> Result<Json, DecodeError> {
    let value = serde_json::from_str(text).map_err(|cause| DecodeError::NotJson { cause })?;
    if has_each_name_once(text, &value) { Ok(value) } else { Err(DecodeError::Twofold) }
}

/// Whether a text that was read as this value has each name once in each of its objects.
fn has_each_name_once(text: &str, value: &Json) -> bool {
    // Each name has a colon behind it, and there are no others outside of texts.
    let mut colons = 0_usize;
    scan(text, |byte, _| colons += usize::from(byte == b':'));
    colons == names(value)
}

/// How many names the objects in a value have, its own and those within.
fn names(value: &Json) -> usize {
    match value {
        Json::Object(fields) => fields.len() + fields.values().map(names).sum::<usize>(),
        Json::Array(items) => items.iter().map(names).sum(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => 0,
    }
}

/// The members of an object for which there is room; for those for which there is none a word.
fn lightest(text: &str, left: &mut usize) -> Result<Map<String, Json>, serde_json::Error> {
    let mut all = Map::new();
    for (name, value) in members(text, |_| true).unwrap_or_default() {
        let room = name.len().saturating_mul(BYTE).saturating_add(OBJECT);
        if *left < room {
            break;
        }
        *left -= room;
        let value =
            if take(value, left) { serde_json::from_str(value)? } else { Json::String(LEFT_OUT.to_owned()) };
        all.insert(name, value);
    }
    if all.is_empty() {
        all.insert("stdout".to_owned(), Json::String(LEFT_OUT.to_owned()));
    }
    Ok(all)
}

/// Takes the room that a text needs, if there is so much.
fn take(text: &str, left: &mut usize) -> bool {
    let wanted = weight(text);
    let is_room = wanted <= *left;
    if is_room {
        *left -= wanted;
    }
    is_room
}

/// The memory that reading a text may take, in bytes, about. Counts separators and brackets outside of texts, in one pass; text that is no JSON
/// is weighed too, and refused by who reads it.
fn weight(text: &str) -> usize {
    let mut weight = text.len().saturating_mul(BYTE);
    scan(text, |byte, _| {
        weight = weight.saturating_add(match byte {
            b',' => VALUE,
            b'[' => ARRAY,
            b'{' => OBJECT,
            _ => 0,
        });
    });
    weight
}

/// The most members that are taken of one object (ours): many times what any client's payload has.
const MEMBERS: usize = 8_192;

/// The members of the object that a text is whose names are wanted, the last of each name, with their values as they are written, as many
/// as are taken; `None` when it is none. The text must be JSON.
fn members(text: &str, mut is_wanted: impl FnMut(&str) -> bool) -> Option<BTreeMap<String, &str>> {
    let text = text.trim();
    text.starts_with('{').then_some(())?;
    let mut depth = 0_usize;
    let (mut begin, mut colon) = (1, None);
    let mut all = BTreeMap::new();
    scan(text, |byte, at| match byte {
        b'{' | b'[' => depth += 1,
        b':' if depth == 1 => colon = Some(at),
        b'}' | b']' | b',' => {
            let is_end = depth == 1;
            if byte != b',' {
                depth = depth.saturating_sub(1);
            }
            if is_end && let Some(colon) = colon.take() {
                let name = text.get(begin..colon).and_then(|name| serde_json::from_str::<String>(name).ok());
                let value = text.get(colon + 1..at).map(str::trim);
                if let (Some(name), Some(value)) = (name.filter(|name| is_wanted(name)), value)
                    && (all.len() < MEMBERS || all.contains_key(&name))
                {
                    all.insert(name, value);
                }
                begin = at + 1;
            }
        }
        _ => {}
    });
    Some(all)
}

/// Calls with each byte outside of texts, and where it is.
fn scan(text: &str, mut see: impl FnMut(u8, usize)) {
    let (mut in_text, mut is_escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        if in_text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => in_text = false,
                _ => {}
            }
        } else if byte == b'"' {
            in_text = true;
        } else {
            see(byte, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_weigh_and_what_stands_in_a_text_does_not() {
        assert_eq!(weight(""), 0);
        assert_eq!(weight(r#""a,[{\",{""#), 10 * BYTE);
        assert_eq!(weight("[1,2]"), 5 * BYTE + ARRAY + VALUE);
        assert_eq!(weight(r#"{"a":{}}"#), 8 * BYTE + 2 * OBJECT);
        assert_eq!(weight(r#"["\\",1]"#), 8 * BYTE + ARRAY + VALUE, "an escaped backslash ends no text");
    }

    #[test]
    fn members_are_those_that_a_parser_finds() {
        let texts = [
            "{}",
            " { } ",
            r#"{"a":1}"#,
            r#"{"a" : [1,{"b":[]},"x,:}"] , "b":{"c":{"d":"\"}"}},"a":null}"#,
            r#"{"a,b:{":"}","\u0063":-1.5e3 , "":""}"#,
        ];
        for text in texts {
            let parsed: Map<String, Json> = serde_json::from_str(text).unwrap();
            let found = members(text, |_| true).unwrap();
            let found: Map<String, Json> =
                found.into_iter().map(|(name, value)| (name, serde_json::from_str(value).unwrap())).collect();
            assert_eq!(found, parsed, "{text}");
        }
        assert!(members("[1]", |_| true).is_none());
    }

    #[test]
    fn a_name_that_stands_twice_is_refused_however_deep_and_however_heavy() {
        let heavy = format!(r#""z":[{}1]"#, "1,".repeat(1_000_000));
        for beside in ["\"z\":1", heavy.as_str()] {
            for twice in [
                r#""tool_input":{"command":"a"},"tool_input":{"command":"b"}"#,
                r#""tool_input":{"command":"a","comm\u0061nd":"b"}"#,
                r#""tool_input":{"a":[{"b":{"c":1,"c":1}}]}"#,
            ] {
                for text in [format!("{{{twice},{beside}}}"), format!("{{{beside},{twice}}}")] {
                    let read = read(&text);
                    assert!(matches!(read, Err(DecodeError::Twofold)), "{twice}: {read:?}");
                }
            }
            let once =
                format!(r#"{{"tool_input":{{"a":":\":","b":{{"a":[{{"a":1}},{{"a":2}}]}}}},{beside}}}"#);
            assert!(read(&once).is_ok());
        }
    }

    #[test]
    fn what_is_too_much_is_left_out_where_nothing_is_decided_by_it() {
        let many = format!("[{}1]", "1,".repeat(1_000_000));
        let unused = format!(r#"{{"z":{many},"session_id":"s","tool_input":{{"command":"ls"}}}}"#);
        let fields = read(&unused).unwrap();
        assert_eq!(fields.keys().collect::<Vec<_>>(), ["session_id", "tool_input"]);
        let answer = format!(r#"{{"tool_response":{{"rows":{many},"stdout":"done"}},"session_id":"s"}}"#);
        let fields = read(&answer).unwrap();
        assert_eq!(fields["tool_response"]["stdout"], "done");
        assert_eq!(fields["tool_response"]["rows"], LEFT_OUT);
        assert!(read(&format!(r#"{{"tool_response":{many}}}"#)).is_ok());
        let input = format!(r#"{{"tool_input":{{"command":"ls","x":{many}}}}}"#);
        assert!(matches!(read(&input), Err(DecodeError::TooManyValues { .. })));
        assert!(matches!(read(&many), Err(DecodeError::NotAnObject)));
        assert!(matches!(read(&many[1..]), Err(DecodeError::NotJson { .. })));
    }
}
