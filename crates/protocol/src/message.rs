//! What a message of the agent says, as far as it is kept.

use serde::{Deserialize, Serialize};

use crate::issue::Share;

/// The level of a score (seed 004).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CascadeLevel {
    /// Below .3: nothing.
    #[default]
    None,
    /// Below .5: recorded.
    Low,
    /// Below .7: recorded.
    Medium,
    /// Below .9: nobody is there to approve it, so it must not be approved by itself.
    High,
    /// From .9.
    Critical,
}

impl CascadeLevel {
    /// The level of a score (seed 004): .3, .5, .7, .9.
    pub fn of(score: Share) -> Self {
        match score.value() {
            score if score < 0.3 => Self::None,
            score if score < 0.5 => Self::Low,
            score if score < 0.7 => Self::Medium,
            score if score < 0.9 => Self::High,
            _ => Self::Critical,
        }
    }
}

/// What a message says about new work.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Cascade {
    /// The sum over categories of the greatest weight in each, from 0 to 1 (upstream 3.1).
    pub score: Share,
    /// The level of the score.
    pub level: CascadeLevel,
    /// The patterns that were found, such as `CP-001`.
    pub patterns: Vec<String>,
}

/// Something that a message says was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// Some tests pass.
    TestsPass,
    /// All of them do.
    AllTestsPass,
}
