//! Answers about runs, confined commands and tests. Those of `exec`, `run` and `route` go to standard error: standard output is the program's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Moment, answers};

/// A run of an agent, from its records.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunAnswer {
    /// Its name.
    #[schemars(with = "String")]
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
    #[schemars(with = "super::parts::LimitsOfRun")]
    pub limits: Json,
    /// What the kernel kept it within; null where nothing did.
    pub bounds: Option<BoundsOfRun>,
    /// Whether the client told what it spent.
    pub told: bool,
    /// What it spent.
    #[schemars(with = "super::parts::SpentByRun")]
    pub spent: Json,
    /// Each start of the agent.
    #[schemars(with = "Vec<super::parts::AttemptOfRun>")]
    pub attempts: Json,
}

/// What an agent may change, read and talk to. An empty list is as wide as an agent usually needs.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct BoundsOfRun {
    /// What it may change beside its own state and temporary files.
    pub write: Vec<String>,
    /// What it may read.
    pub read: Vec<String>,
    /// Whom it may talk to.
    pub network: Vec<String>,
}

/// The end of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunEndAnswer {
    /// The exit status.
    #[schemars(with = "u8")]
    pub status: Json,
    /// What stopped it.
    #[schemars(with = "Option<String>")]
    pub stopped_by: Json,
    /// Why, in words.
    pub reason: Option<String>,
    /// What kind of failure it was.
    #[schemars(with = "Option<super::parts::FailureOfProvider>")]
    pub failure: Json,
    /// The state of the provider.
    #[schemars(with = "String")]
    pub provider: Json,
    /// When a retry may succeed.
    #[schemars(with = "Option<String>")]
    pub earliest_retry: Json,
    /// How often the agent was started.
    #[schemars(with = "u32")]
    pub attempts: Json,
    /// Whether the client told what it spent.
    #[schemars(with = "bool")]
    pub told: Json,
    /// The session.
    #[schemars(with = "Option<String>")]
    pub session: Json,
    /// Seconds that it took.
    #[schemars(with = "f64")]
    pub seconds: Json,
    /// Seconds from the decision to stop to the end of the last process.
    #[schemars(with = "Option<f64>")]
    pub stopping_seconds: Json,
    /// Tokens; null is not known.
    #[schemars(with = "Option<super::parts::Tokens>")]
    pub tokens: Json,
    /// US dollars; null is not known.
    #[schemars(with = "Option<f64>")]
    pub cost: Json,
    /// Whether the price is an estimate.
    #[schemars(with = "Option<super::parts::PriceEstimate>")]
    pub estimated: Json,
    /// What was not counted.
    #[schemars(with = "Option<String>")]
    pub uncounted: Json,
    /// What could not be read.
    #[schemars(with = "u64")]
    pub unread: Json,
    /// Answers of the model.
    #[schemars(with = "u64")]
    pub iterations: Json,
    /// How the processes ended.
    #[schemars(with = "usize")]
    pub ended: Json,
    /// What is still there.
    #[schemars(with = "usize")]
    pub left: Json,
    /// What the detectors saw.
    #[schemars(with = "super::parts::JudgedCalls")]
    pub watched: Json,
    /// What the reviews of its calls came to: how many of each verdict, and which calls were blocked.
    #[schemars(with = "super::parts::ReviewsOfRun")]
    pub reviews: Json,
    /// What held the processes together.
    #[schemars(with = "String")]
    pub held_by: Json,
    /// The name of the run.
    #[schemars(with = "String")]
    pub run: Json,
    /// The name of its worktree.
    #[schemars(with = "Option<String>")]
    pub worktree: Json,
    /// The working directory.
    #[schemars(with = "String")]
    pub directory: Json,
    /// What changed in the repository itself.
    #[schemars(with = "Vec<String>")]
    pub repository: Json,
}

/// The end of a confined command.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExecEnd {
    /// The exit status.
    #[schemars(with = "u8")]
    pub status: Json,
    /// `itself`, or what ended it.
    #[schemars(with = "String")]
    pub ended_by: Json,
    /// What was refused.
    pub refused: Vec<Refused>,
    /// How many more refusals there were.
    #[schemars(with = "usize")]
    pub refused_more: Json,
    /// Processes that were left behind and ended.
    #[schemars(with = "usize")]
    pub left_behind: Json,
    /// Processes that could not be ended.
    #[schemars(with = "usize")]
    pub still_there: Json,
    /// Settings of clients that were put back.
    pub put_back: Vec<String>,
}

/// Something that a scope refused.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Refused {
    /// The program.
    #[schemars(with = "String")]
    pub program: Json,
    /// What it tried.
    pub refused: String,
    /// The options that would allow it.
    #[schemars(with = "Vec<String>")]
    pub allowed_by: Json,
}

/// The failure of tests.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TestRoute {
    /// What kind of failure it was and what is next: `docs/scripts.md`.
    #[schemars(with = "super::parts::RouteOfTests")]
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
