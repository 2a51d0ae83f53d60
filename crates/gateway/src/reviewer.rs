//! Who decides about what passes: the relay asks, and knows nothing of files or rules.

use std::time::Duration;

use checkrein_ledger::mask::MaskKey;
use checkrein_protocol::Action;
use serde_json::Value as Json;

use crate::definition::{ToolDefinition, ToolHints};
use crate::pins::Standing;

/// A call of a tool, as the client wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRequest {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Json,
    /// What the server says of the tool, where it listed it.
    pub hints: ToolHints,
    /// The number by which the model knows the call, where the client says so.
    pub model_id: Option<String>,
    /// Whether the user can be asked through the client.
    pub asking: Asking,
}

/// Whether a user can be asked through the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// The client shows questions of servers.
    Possible,
    /// It does not, or not for this call.
    Impossible,
}

/// A call that may go on.
#[derive(Debug, Clone, PartialEq)]
pub struct CallPassage {
    /// The action, where its outcome is to be told; `None` where the client's own hook tells it.
    pub action: Option<Action>,
    /// Other arguments in place of those that the model wrote; `None` where these stay.
    pub arguments: Option<Json>,
    /// What the model is told beside the result.
    pub note: Option<String>,
}

/// What is done about a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Ruling {
    /// It goes on.
    Passes(CallPassage),
    /// It goes on when the user says yes.
    Asked {
        /// What the user is asked.
        question: String,
        /// The call, when they say yes.
        passage: CallPassage,
    },
    /// It does not.
    Refused(String),
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEnding {
    /// The server says that it worked.
    Succeeded,
    /// The server says that it failed.
    Failed,
}

/// What a user said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserAnswer {
    /// Yes.
    Allowed,
    /// No.
    Declined,
    /// Nothing: the question was closed, or nobody saw it.
    Unanswered,
}

/// Decides about what passes. Each of its answers must be safe to obey: what cannot be decided is refused, and no method waits for a user.
pub trait Reviewer: Send + Sync {
    /// Returns what is done about a call before the server sees it.
    fn before(&self, call: &CallRequest) -> Ruling;

    /// Takes up how a call went that passed; what the model is told about it.
    fn after(&self, action: &Action, ending: CallEnding, output: String, took: Duration) -> Option<String>;

    /// Takes up what a user said about a call.
    fn answered(&self, call: &CallRequest, answer: UserAnswer);

    /// Returns how tools stand, in their order, by what the server says of them now.
    fn standings(&self, definitions: &[ToolDefinition]) -> Vec<Standing>;

    /// Returns why a tool waits for a user that the server did not list in this connection; `None` where it does not wait.
    fn waiting(&self, tool: &str) -> Option<String>;

    /// Takes up that the connection is over.
    fn ended(&self) {}

    /// Returns the key that masks what the model reads. Fails where there is none.
    fn key(&self) -> Result<MaskKey, String>;
}
