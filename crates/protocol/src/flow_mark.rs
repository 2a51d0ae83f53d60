//! What an action of the session read that later actions must not send on: what came from outside, and what is private.

use serde::{Deserialize, Serialize};

/// Something that an action read, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowMark {
    /// Where it came from.
    pub origin: FlowOrigin,
    /// Its name: a host, a tool, a path.
    pub source: String,
}

/// Where something that was read came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowOrigin {
    /// A page or a file of another machine.
    Page,
    /// A connected service: issues, mails, messages.
    Service,
    /// A file that a package brought along.
    Dependency,
    /// A secret, shown as it is.
    Secret,
    /// A project of the user that is not the one at hand.
    OtherProject,
    /// A folder of the user's own.
    PersonalFolder,
}

/// On which side something that was read stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowSide {
    /// Others wrote it, who may want the agent to do something.
    Outside,
    /// It is the user's, and not for others.
    Private,
}

impl FlowOrigin {
    /// On which side it stands.
    pub fn side(self) -> FlowSide {
        match self {
            Self::Page | Self::Service | Self::Dependency => FlowSide::Outside,
            Self::Secret | Self::OtherProject | Self::PersonalFolder => FlowSide::Private,
        }
    }

    /// What it is, in words that stand before its name.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Page => "the page",
            Self::Service => "the connected service",
            Self::Dependency => "the dependency",
            Self::Secret => "the secret",
            Self::OtherProject => "the other project",
            Self::PersonalFolder => "the personal file",
        }
    }
}

/// The actions whose readings lead to a question about sending something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowRecord {
    /// The number of the action that read something from outside.
    pub outside: u64,
    /// The number of the action that read something private; `None` where what was read from outside gave orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private: Option<u64>,
}
