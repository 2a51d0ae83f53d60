//! Rows of Copilot CLI: events, of which one tells what an answer took.

use checkrein_protocol::TokenCounts;
use serde_json::Value as Json;

use super::{TokenCountBasis, TranscriptEntry, number, text};

/// The event that tells it.
pub(super) const USAGE: &str = "session.usage_record";

/// What a row says.
pub(super) fn entries(value: &Json) -> Vec<TranscriptEntry> {
    let usage = value.get("data").and_then(|data| data.get("usage"));
    usage.map(told).into_iter().collect()
}

/// What was read from the cache is part of the input.
fn told(usage: &Json) -> TranscriptEntry {
    let cached = number(usage, "cacheReadTokens");
    TranscriptEntry::Usage {
        answer: text(usage, "apiCallId"),
        model: text(usage, "model"),
        tokens: TokenCounts {
            input: number(usage, "inputTokens").saturating_sub(cached),
            output: number(usage, "outputTokens"),
            cache_write: number(usage, "cacheWriteTokens"),
            cache_read: cached,
        },
        counted: TokenCountBasis::Answer,
    }
}
