//! Changes: what was really seen to change, after an action ran.

use serde::{Deserialize, Serialize};

use crate::path::AbsolutePath;

/// How something changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is there and was not.
    Created,
    /// Its content, mode or owner is another one.
    Modified,
    /// It was there and is gone.
    Deleted,
    /// Names in this directory came or went, and it is not known which.
    Rearranged,
}

impl ChangeKind {
    /// The name used on the wire, such as `created`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Rearranged => "rearranged",
        }
    }
}

/// One change that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Change {
    /// Where.
    pub path: AbsolutePath,
    /// How.
    pub kind: ChangeKind,
}

/// What stands at a path that was predicted to change, after the action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathState {
    /// Nothing.
    Missing,
    /// Something that changed since the action began.
    Changed,
    /// Something as it was before.
    Unchanged,
    /// It could not be found out.
    Unknown,
}
