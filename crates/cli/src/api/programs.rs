//! Answers about runs, confined commands and tests. Those of `exec`, `run` and `route` go to standard error: standard output is the program's.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::{Moment, answers};

/// A run of an agent, from its records.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunAnswer {
    /// Its name.
    pub run: Json,
    /// When it began.
    pub created: Moment,
    /// How far it is: one word.
    pub stage: String,
    /// The same with its end.
    pub state: String,
    /// Why it was stopped.
    pub reason: Option<String>,
    /// Whether it is archived.
    pub archived: bool,
    /// What differs from the archive; null where that was not checked or nothing differs.
    pub changed: Option<Vec<String>>,
    /// The agent and its arguments.
    pub agent: Vec<String>,
    /// The workspace.
    pub workspace: String,
    /// The working directory of the agent.
    pub directory: String,
    /// The name of its worktree.
    pub worktree: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// Its limits.
    pub limits: Json,
    /// Whether the client told what it spent.
    pub told: bool,
    /// What it spent.
    pub spent: Json,
    /// Each start of the agent.
    pub attempts: Json,
}

/// The end of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunEndAnswer {
    /// The exit status.
    pub status: Json,
    /// What stopped it.
    pub stopped_by: Json,
    /// Why, in words.
    pub reason: Option<String>,
    /// What kind of failure it was.
    pub failure: Json,
    /// The state of the provider.
    pub provider: Json,
    /// When a retry may succeed.
    pub earliest_retry: Json,
    /// How often the agent was started.
    pub attempts: Json,
    /// Whether the client told what it spent.
    pub told: Json,
    /// The session.
    pub session: Json,
    /// Seconds that it took.
    pub seconds: Json,
    /// Seconds from the decision to stop to the end of the last process.
    pub stopping_seconds: Json,
    /// Tokens.
    pub tokens: Json,
    /// US dollars.
    pub cost: Json,
    /// Whether the price is an estimate.
    pub estimated: Json,
    /// What was not counted.
    pub uncounted: Json,
    /// What could not be read.
    pub unread: Json,
    /// Answers of the model.
    pub iterations: Json,
    /// How the processes ended.
    pub ended: Json,
    /// What is still there.
    pub left: Json,
    /// What the detectors saw.
    pub watched: Json,
    /// What held the processes together.
    pub held_by: Json,
    /// The name of the run.
    pub run: Json,
    /// The name of its worktree.
    pub worktree: Json,
    /// The working directory.
    pub directory: Json,
    /// What changed in the repository itself.
    pub repository: Json,
}

/// The end of a confined command.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExecEnd {
    /// The exit status.
    pub status: Json,
    /// `itself`, or what ended it.
    pub ended_by: Json,
    /// What was refused.
    pub refused: Vec<Refused>,
    /// How many more refusals there were.
    pub refused_more: Json,
    /// Processes that were left behind and ended.
    pub left_behind: Json,
    /// Processes that could not be ended.
    pub still_there: Json,
    /// Settings of clients that were put back.
    pub put_back: Vec<String>,
}

/// Something that a scope refused.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Refused {
    /// The program.
    pub program: Json,
    /// What it tried.
    pub refused: String,
    /// The options that would allow it.
    pub allowed_by: Json,
}

/// The failure of tests.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TestRoute {
    /// What kind of failure it was and what is next: `docs/scripts.md`.
    pub route: Json,
    /// The same in words.
    pub advice: String,
    /// The exit status; null at a timeout.
    pub status: Option<u8>,
}

answers! {
    RunAnswer => "run",
    RunEndAnswer => "run-end",
    ExecEnd => "exec-end",
    TestRoute => "route",
}
