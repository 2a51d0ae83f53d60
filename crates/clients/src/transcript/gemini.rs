//! Gemini CLI: one JSON object with `messages`, in newer versions one message a line.

use checkrein_protocol::TokenCounts;
use serde_json::{Value as Json, json};

use super::{TokenCountBasis, TranscriptEntry, number, text, texts};

/// The rows of a transcript that is one object; `None` when it is not of this form.
pub fn messages(value: &Json) -> Option<Vec<Json>> {
    let messages = value.get("messages")?.as_array()?;
    let head = json!({ "sessionId": value.get("sessionId")? });
    Some(std::iter::once(head).chain(messages.iter().cloned()).collect())
}

pub(super) fn entries(row: &Json) -> Vec<TranscriptEntry> {
    let mut entries = Vec::new();
    match row.get("type").and_then(Json::as_str) {
        Some("user") => entries.push(TranscriptEntry::Person(texts(row.get("content")))),
        Some("gemini") => {
            let said = texts(row.get("content"));
            if !said.is_empty() {
                entries.push(TranscriptEntry::Agent(said));
            }
            for call in row.get("toolCalls").and_then(Json::as_array).into_iter().flatten() {
                entries.extend(call_and_answer(call));
            }
            entries.extend(usage(row));
        }
        Some(_) => {}
        None => entries.push(TranscriptEntry::Opened { session: text(row, "sessionId"), cwd: None }),
    }
    entries
}

fn call_and_answer(call: &Json) -> Vec<TranscriptEntry> {
    let Some(tool) = text(call, "name") else { return Vec::new() };
    let input = call.get("args").cloned().unwrap_or(Json::Null);
    let id = text(call, "id");
    let mut entries = vec![TranscriptEntry::Call { id: id.clone(), tool, input }];
    let status = call.get("status").and_then(Json::as_str);
    if let (Some(id), Some(status)) = (id, status) {
        let output = answer_text(call);
        // A command that fails is a call that succeeded; its exit code stands in the text.
        let failed = status == "error" || exit_code(&output).is_some_and(|code| code != 0);
        entries.push(TranscriptEntry::Answer { id, output, failed });
    }
    entries
}

/// The parts of a result hold `functionResponse.response.output`; what is shown to the user stands for it where they do not.
fn answer_text(call: &Json) -> String {
    let response = |part: &Json| {
        let response = part.get("functionResponse")?.get("response")?;
        text(response, "output").or_else(|| text(response, "error"))
    };
    let parts = call.get("result").and_then(Json::as_array).into_iter().flatten();
    let output = parts.filter_map(response).collect::<Vec<_>>().join("\n");
    if output.is_empty() { text(call, "resultDisplay").unwrap_or_default() } else { output }
}

fn exit_code(output: &str) -> Option<i64> {
    output.lines().rev().find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok())
}

/// Cached tokens are part of the input; thoughts are written like the rest.
fn usage(row: &Json) -> Option<TranscriptEntry> {
    let tokens = row.get("tokens").filter(|tokens| tokens.is_object())?;
    let cached = number(tokens, "cached");
    Some(TranscriptEntry::Usage {
        answer: text(row, "id"),
        model: text(row, "model"),
        tokens: TokenCounts {
            input: number(tokens, "input").saturating_sub(cached),
            output: number(tokens, "output").saturating_add(number(tokens, "thoughts")),
            cache_write: 0,
            cache_read: cached,
        },
        counted: TokenCountBasis::Answer,
    })
}
