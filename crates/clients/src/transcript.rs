//! Transcripts: what clients write down of a session, in their own forms, as entries that are the same for all.
//!
//! | module | holds |
//! |---|---|
//! | `claude` | rows of Claude Code |
//! | `codex` | rows of Codex |
//! | `copilot` | events of Copilot CLI |
//! | `gemini` | messages of Gemini CLI |
//! | `meter` | what was spent, read piece by piece |
//! | `place` | where they are |
//! | `qwen` | rows of Qwen Code |
//!
//! The forms are internal to the clients and change: what is not known is passed over, never an error.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod meter;
mod place;
mod qwen;

use checkrein_protocol::TokenCounts;
use serde_json::Value as Json;

pub use gemini::messages as gemini_messages;
pub use meter::{Meter, TranscriptReading};
pub use place::{PathStep, TranscriptPlace};

/// What one row of a transcript says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// When, in the client's words (ISO 8601).
    pub at: Option<String>,
    /// What, in order.
    pub entries: Vec<TranscriptEntry>,
}

/// One thing that a transcript says.
#[derive(Debug, Clone, PartialEq)]
pub enum TranscriptEntry {
    /// Which session it is, and where it works.
    Opened {
        /// Its name.
        session: Option<String>,
        /// The working directory.
        cwd: Option<String>,
    },
    /// The user said something.
    Person(String),
    /// The agent said something.
    Agent(String),
    /// The agent called a tool.
    Call {
        /// The name of the call, when it has one.
        id: Option<String>,
        /// The tool.
        tool: String,
        /// What it was given.
        input: Json,
    },
    /// What a call answered.
    Answer {
        /// The name of the call.
        id: String,
        /// As text.
        output: String,
        /// Whether it failed.
        failed: bool,
    },
    /// What was spent.
    Usage {
        /// The answer of the model that it is for, when it has a name.
        answer: Option<String>,
        /// The model, when it is named.
        model: Option<String>,
        /// The tokens.
        tokens: TokenCounts,
        /// What they are counted from.
        counted: TokenCountBasis,
    },
    /// The model that answers from here on.
    Model(String),
    /// The conversation was shortened.
    Condensed,
}

/// What numbers of tokens are counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenCountBasis {
    /// The beginning of the answer.
    Answer,
    /// The beginning of the session.
    Session,
}

/// What a row says, whichever client wrote it.
pub fn row(value: &Json) -> Row {
    let at = value.get("timestamp").and_then(Json::as_str).map(str::to_owned);
    let entries = if value.get("payload").is_some() {
        codex::entries(value)
    } else if value.get("type").and_then(Json::as_str) == Some(copilot::USAGE) {
        copilot::entries(value)
    } else if value.get("systemPayload").is_some() {
        qwen::entries(value)
    } else if value.get("message").is_some() || value.get("subtype").is_some() {
        claude::entries(value)
    } else {
        gemini::entries(value)
    };
    Row { at, entries }
}

/// A text in a field.
fn text(value: &Json, key: &str) -> Option<String> {
    value.get(key).and_then(Json::as_str).map(str::to_owned)
}

/// A number in a field; nothing there is none.
fn number(value: &Json, key: &str) -> u64 {
    value.get(key).and_then(Json::as_u64).unwrap_or_default()
}

/// The texts in a content that is a text, or parts with texts.
fn texts(content: Option<&Json>) -> String {
    match content {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text").and_then(Json::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
