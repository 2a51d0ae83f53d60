//! Actions that ran although no review had let them run.

use serde::{Deserialize, Serialize};

use crate::id::ActionId;

/// An action that ran although no review had let it run, as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreviewedRecord {
    /// The action.
    pub action_id: ActionId,
    /// The call in one line, cut and masked.
    pub call: String,
    /// What its review says.
    pub lack: ReviewLack,
    /// In words.
    pub reason: String,
}

/// Why no review lets an action run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewLack {
    /// None is on record: the guard was not asked, or was kept from its answer.
    Missing,
    /// It was refused: the refusal did not reach the client.
    Refused,
    /// It is of another command.
    Another,
}

impl ReviewLack {
    /// In words behind "ran".
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Missing => "without review",
            Self::Refused => "although refused",
            Self::Another => "with the review of another command",
        }
    }
}
