//! The names of sessions, actions and change records.

use serde::{Deserialize, Serialize};

/// The name that a client gives to one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub String);

/// The name of one action, unique within its session; links a review with its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActionId(pub String);

/// The name of a change record, such as `4f3c9a12`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChangeId(pub String);

impl ChangeId {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SessionId {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ActionId {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
