//! What a session spent: tokens by sort and by model, and money.

use serde::{Deserialize, Serialize};

/// Tokens by sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenCounts {
    /// Read anew.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read and put into the cache.
    pub cache_write: u64,
    /// Read from the cache.
    pub cache_read: u64,
}

/// Millionths of a US dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MicroDollars(pub u64);

/// What one model was given and gave.
///
/// It is kept in the state of a session too, whose form names no fields: none may be left out when it is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ModelUsage {
    /// The model, as the client calls it; empty when it does not say.
    pub model: String,
    /// How many answers.
    pub answers: u64,
    /// The tokens of them.
    pub tokens: TokenCounts,
    /// What they cost; `None` in records of versions that did not estimate.
    pub cost: Option<MicroDollars>,
    /// The listed name by which the price is estimated; `None` when the model is listed itself.
    #[serde(default)]
    pub like: Option<String>,
}

/// What the transcript of a client said since it was read last, as written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UsageRecord {
    /// From which byte on it was read. Two hooks may read the same piece at once; only the first record of it counts.
    pub from: u64,
    /// How far it was read.
    pub mark: TranscriptMark,
    /// What was spent since, by model.
    pub models: Vec<ModelUsage>,
    /// The model that answers from here on, where the client names it once for many answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named: Option<String>,
    /// What could not be told, in one clause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
}

/// How far a transcript was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TranscriptMark {
    /// Fingerprint of its path.
    pub file: u64,
    /// Up to which byte.
    pub offset: u64,
    /// Whether that is in the middle of a line that is too long to be read.
    #[serde(default)]
    pub inside_line: bool,
    /// Fingerprint of the answer that was counted last; it may be written once more with other numbers.
    pub answer: u64,
    /// What was counted for it, or in all where a client counts in all.
    pub counted: TokenCounts,
}

impl TokenCounts {
    /// All of them.
    pub fn all(&self) -> u64 {
        self.counted().saturating_add(self.cache_read)
    }

    /// Those that count against a limit: what is read from the cache was counted when it was put there (ours).
    pub fn counted(&self) -> u64 {
        self.input.saturating_add(self.output).saturating_add(self.cache_write)
    }

    /// All that was sent, known already or not: how long the conversation is.
    pub fn sent(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    /// What is more than in the other.
    #[must_use]
    pub fn beyond(&self, other: &Self) -> Self {
        self.with(other, u64::saturating_sub)
    }

    fn with(&self, other: &Self, join: fn(u64, u64) -> u64) -> Self {
        Self {
            input: join(self.input, other.input),
            output: join(self.output, other.output),
            cache_write: join(self.cache_write, other.cache_write),
            cache_read: join(self.cache_read, other.cache_read),
        }
    }
}

impl MicroDollars {
    /// In dollars.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl std::fmt::Display for MicroDollars {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if (1..5_000).contains(&self.0) {
            return formatter.write_str("less than $0.01");
        }
        write!(formatter, "${:.2}", self.dollars())
    }
}
