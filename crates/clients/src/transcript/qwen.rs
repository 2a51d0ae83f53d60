//! Rows of Qwen Code: what the model answered is told in its telemetry, which stands in the transcript.

use checkrein_protocol::TokenCounts;
use serde_json::Value as Json;

use super::{TokenCountBasis, TranscriptEntry, number, text};

/// The event of an answer.
pub(super) const ANSWER: &str = "qwen-code.api_response";

/// What a row says.
pub(super) fn entries(value: &Json) -> Vec<TranscriptEntry> {
    let event = value.get("systemPayload").and_then(|payload| payload.get("uiEvent"));
    event.and_then(usage).into_iter().collect()
}

/// Cached tokens are part of the input.
fn usage(event: &Json) -> Option<TranscriptEntry> {
    if text(event, "event.name")? != ANSWER {
        return None;
    }
    let cached = number(event, "cached_content_token_count");
    Some(TranscriptEntry::Usage {
        answer: text(event, "response_id"),
        model: text(event, "model"),
        tokens: TokenCounts {
            input: number(event, "input_token_count").saturating_sub(cached),
            output: number(event, "output_token_count"),
            cache_write: 0,
            cache_read: cached,
        },
        counted: TokenCountBasis::Answer,
    })
}
