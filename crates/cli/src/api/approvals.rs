//! Answers about calls that wait for an answer.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::{Moment, answers};

/// All questions of the last days, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct ApprovalList(pub Vec<ApprovalEntry>);

/// A call that waits for an answer, or did.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApprovalEntry {
    /// The name of the question.
    pub id: String,
    /// The session.
    pub session: String,
    /// The client.
    pub client: String,
    /// The project.
    pub project: String,
    /// The directory in which the call runs.
    pub directory: String,
    /// The id of the call, as `checkrein show` takes it.
    pub action_id: String,
    /// The call in words, masked.
    pub action: String,
    /// The tool.
    pub tool: String,
    /// What the tool is given, masked.
    pub input: Json,
    /// What runs in place of the call after a yes; null where it runs as it is.
    pub rewrite: Option<String>,
    /// The verdict.
    pub verdict: String,
    /// The level of risk.
    pub risk: String,
    /// Why it is asked about, the main reason first.
    pub reasons: Vec<String>,
    /// What it would do, in words.
    pub effects: Vec<String>,
    /// Why nobody is asked at the client.
    pub why: String,
    /// Who put it by message, in their own words; null for a call of a hook.
    pub asked_by: Option<String>,
    /// The digest of the action as it was sent by message; null for a call of a hook.
    pub action_hash: Option<String>,
    /// What who put it says about it; null where they said nothing.
    pub asked_with: Option<String>,
    /// When it was asked.
    pub asked_at: Moment,
    /// When the answer is no.
    pub expires_at: Moment,
    /// The digest of what is shown of it: an answer names it, so that it counts for that alone.
    pub shown: String,
    /// `pending`, `allowed`, `denied`, `expired` or `gone`.
    pub state: String,
    /// The answers that can be given: of `once`, `session`, `always`, `no`; empty where nothing waits any more.
    pub answers: Vec<String>,
    /// Why it can be allowed for the waiting call only: `critical`, `unseen_code` and others; empty where it can be for longer.
    pub once_only: Vec<String>,
    /// The answer: `once`, `session`, `always` or `no`; null where there was none.
    pub answer: Option<String>,
    /// The words to the agent.
    pub message: Option<String>,
    /// Who answered.
    pub answered_by: Option<ApprovalBy>,
    /// When it was answered, or ended otherwise.
    pub ended_at: Option<Moment>,
}

/// Who answered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApprovalBy {
    /// Their name.
    pub name: String,
    /// From where: `command_line`, `console`, `link` or `api`.
    pub source: String,
    /// What more is known of it.
    pub place: Option<String>,
}

/// An answer that took effect.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApprovalGiven {
    /// The question, with what became of it.
    pub approval: ApprovalEntry,
    /// Whether the call went on.
    pub went_on: bool,
    /// The name of what is allowed beyond the call, for `checkrein allow --forget`; null where nothing is.
    pub allowance: Option<String>,
}

answers! {
    ApprovalEntry => "approval",
    ApprovalGiven => "approval-answer",
}
