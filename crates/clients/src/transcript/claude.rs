//! Claude Code: rows with a `message`, one for each block of an answer; all of them repeat what the answer spent.

use checkrein_protocol::TokenCounts;
use serde_json::Value as Json;

use super::{TokenCountBasis, TranscriptEntry, number, text, texts};

/// The model of messages that the client made up itself.
const MADE_UP: &str = "<synthetic>";

pub(super) fn entries(row: &Json) -> Vec<TranscriptEntry> {
    let mut entries =
        vec![TranscriptEntry::Opened { session: text(row, "sessionId"), cwd: text(row, "cwd") }];
    if row.get("subtype").and_then(Json::as_str) == Some("compact_boundary") {
        entries.push(TranscriptEntry::Condensed);
    }
    let Some(message) = row.get("message") else { return entries };
    let said = |who: &str, words: String| match who {
        "user" => TranscriptEntry::Person(words),
        _ => TranscriptEntry::Agent(words),
    };
    let Some(who @ ("user" | "assistant")) = row.get("type").and_then(Json::as_str) else { return entries };
    // What the client adds for the model is nobody's word.
    let is_meta = |key: &str| row.get(key).and_then(Json::as_bool) == Some(true);
    let is_said = !is_meta("isMeta") && !is_meta("isCompactSummary");
    match message.get("content") {
        Some(Json::String(words)) if is_said => entries.push(said(who, words.clone())),
        Some(Json::Array(blocks)) => {
            for block in blocks {
                entries.extend(match block.get("type").and_then(Json::as_str) {
                    Some("text") if is_said => text(block, "text").map(|words| said(who, words)),
                    Some("tool_use") => text(block, "name").map(|tool| TranscriptEntry::Call {
                        id: text(block, "id"),
                        tool,
                        input: block.get("input").cloned().unwrap_or(Json::Null),
                    }),
                    Some("tool_result") => text(block, "tool_use_id").map(|id| TranscriptEntry::Answer {
                        id,
                        output: texts(block.get("content")),
                        failed: block.get("is_error").and_then(Json::as_bool).unwrap_or(false),
                    }),
                    _ => None,
                });
            }
        }
        _ => {}
    }
    let model = text(message, "model").filter(|model| model != MADE_UP);
    if let (Some(usage), Some(model)) = (message.get("usage"), model) {
        entries.push(TranscriptEntry::Usage {
            answer: text(message, "id"),
            model: Some(model),
            tokens: TokenCounts {
                input: number(usage, "input_tokens"),
                output: number(usage, "output_tokens"),
                cache_write: number(usage, "cache_creation_input_tokens"),
                cache_read: number(usage, "cache_read_input_tokens"),
            },
            counted: TokenCountBasis::Answer,
        });
    }
    entries
}
