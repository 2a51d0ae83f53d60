//! Codex: rows `{timestamp, type, payload}`; what was spent is counted from the beginning of the session.

use checkrein_protocol::TokenCounts;
use serde_json::{Value as Json, json};

use super::{TokenCountBasis, TranscriptEntry, number, text, texts};

pub(super) fn entries(row: &Json) -> Vec<TranscriptEntry> {
    let Some(payload) = row.get("payload") else { return Vec::new() };
    let sort = payload.get("type").and_then(Json::as_str);
    match (row.get("type").and_then(Json::as_str), sort) {
        (Some("session_meta"), _) => {
            vec![TranscriptEntry::Opened { session: text(payload, "id"), cwd: text(payload, "cwd") }]
        }
        (Some("turn_context"), _) => text(payload, "model").map(TranscriptEntry::Model).into_iter().collect(),
        (Some("compacted"), _) => vec![TranscriptEntry::Condensed],
        (Some("event_msg"), Some("token_count")) => usage(payload).into_iter().collect(),
        (Some("response_item"), Some("message")) => message(payload).into_iter().collect(),
        (Some("response_item"), Some("function_call" | "custom_tool_call" | "local_shell_call")) => {
            vec![call(payload)]
        }
        (Some("response_item"), Some("function_call_output" | "custom_tool_call_output")) => {
            answer(payload).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn message(payload: &Json) -> Option<TranscriptEntry> {
    let words = texts(payload.get("content"));
    match payload.get("role").and_then(Json::as_str)? {
        // What the client puts before the first prompt stands in tags.
        "user" if !words.trim_start().starts_with('<') => Some(TranscriptEntry::Person(words)),
        "assistant" => Some(TranscriptEntry::Agent(words)),
        _ => None,
    }
}

/// The shells of Codex are given a list of words or a text under names of their own.
fn call(payload: &Json) -> TranscriptEntry {
    let given = payload.get("arguments").or_else(|| payload.get("input")).or_else(|| payload.get("action"));
    let given = match given {
        Some(Json::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        Some(other) => other.clone(),
        None => Json::Null,
    };
    let tool = text(payload, "name").unwrap_or_else(|| "shell".to_owned());
    let id = text(payload, "call_id");
    let command = given.get("command").or_else(|| given.get("cmd"));
    let command = match command {
        Some(Json::String(text)) => Some(text.clone()),
        Some(Json::Array(words)) => Some(command_line(words)),
        _ => None,
    };
    match (tool.as_str(), command) {
        ("shell" | "local_shell" | "shell_command" | "exec_command" | "container.exec", Some(command)) => {
            TranscriptEntry::Call { id, tool: "Bash".to_owned(), input: json!({ "command": command }) }
        }
        ("apply_patch", _) => {
            let patch = given.as_str().map(str::to_owned).or_else(|| text(&given, "input"));
            TranscriptEntry::Call {
                id,
                tool,
                input: patch.map_or(given, |patch| json!({ "command": patch })),
            }
        }
        _ => TranscriptEntry::Call { id, tool, input: given },
    }
}

/// `bash -lc TEXT` is that text; other words are quoted.
fn command_line(words: &[Json]) -> String {
    let words: Vec<&str> = words.iter().filter_map(Json::as_str).collect();
    match words.as_slice() {
        [shell, "-lc" | "-c", text] if shell.ends_with("sh") => (*text).to_owned(),
        words => {
            let is_plain = |word: &str| {
                !word.is_empty()
                    && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c))
            };
            let quoted = words.iter().map(|word| {
                if is_plain(word) { (*word).to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
            });
            quoted.collect::<Vec<_>>().join(" ")
        }
    }
}

/// The output is a text, or JSON with an exit code beside it.
fn answer(payload: &Json) -> Option<TranscriptEntry> {
    let id = text(payload, "call_id")?;
    let raw = match payload.get("output")? {
        Json::String(text) => text.clone(),
        Json::Array(_) => texts(payload.get("output")),
        other => other.to_string(),
    };
    let inner = serde_json::from_str::<Json>(&raw).ok().filter(Json::is_object);
    let output = inner.as_ref().and_then(|inner| text(inner, "output")).unwrap_or_else(|| raw.clone());
    let status = inner.as_ref().and_then(|inner| inner.get("metadata")?.get("exit_code")?.as_i64());
    let status = status.or_else(|| exit_code(&raw));
    Some(TranscriptEntry::Answer { id, output, failed: status.is_some_and(|status| status != 0) })
}

/// Newer versions say `Process exited with code 1` or `Exit code: 1` in the first lines.
fn exit_code(text: &str) -> Option<i64> {
    text.lines().take(8).find_map(|line| {
        let rest =
            line.strip_prefix("Exit code: ").or_else(|| line.strip_prefix("Process exited with code "))?;
        rest.trim().parse().ok()
    })
}

/// Cached tokens are part of the input.
fn usage(payload: &Json) -> Option<TranscriptEntry> {
    let total = payload.get("info")?.get("total_token_usage")?;
    let cached = number(total, "cached_input_tokens");
    Some(TranscriptEntry::Usage {
        answer: None,
        model: None,
        tokens: TokenCounts {
            input: number(total, "input_tokens").saturating_sub(cached),
            output: number(total, "output_tokens"),
            cache_write: 0,
            cache_read: cached,
        },
        counted: TokenCountBasis::Session,
    })
}
