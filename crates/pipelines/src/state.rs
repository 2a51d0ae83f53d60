//! What is known of a run of a pipeline.

use std::collections::BTreeMap;
use std::path::PathBuf;

use checkrein_supervise::Route;
use checkrein_supervise::runs::RunId;
use serde::{Deserialize, Serialize};

use crate::strikes::{LoopRound, LoopVerdict};

/// How it stands with a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// Its turn has not come.
    Waiting,
    /// It runs, or was cut off.
    Running,
    /// It did what it should.
    Passed,
    /// It is not wanted: its condition does not hold.
    LeftOut,
    /// It ran, and what it should show does not hold.
    Failed,
    /// A user, a rule or a reviewer said that it must not go on.
    Refused,
    /// Its loop is over without success: a user has to look at it.
    Halted,
    /// It did not run to its end, so nothing is known: what it needs failed, its program is not there, nobody answered.
    DidNotRun,
}

/// One time that a step ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepAttempt {
    /// When it began, in milliseconds since 1970.
    pub began: u64,
    /// When it ended; `None` while it runs, and where it was cut off.
    pub ended: Option<u64>,
    /// How it ended.
    pub outcome: StepOutcome,
    /// In a sentence.
    pub summary: String,
}

/// A file that a step made, as it was when the step passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptOutput {
    /// Where it stands, from the directory of the steps.
    pub path: String,
    /// The SHA-256 of what it held.
    pub digest: String,
    /// What is kept of it, below the folder of the run.
    pub artifact: String,
}

/// What is known of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepState {
    /// Its name.
    pub name: String,
    /// How it stands.
    pub outcome: StepOutcome,
    /// Why, in a sentence; empty where that says itself.
    pub reason: String,
    /// Every time that it ran.
    pub attempts: Vec<StepAttempt>,
    /// How often it failed by itself since it was begun anew.
    pub failures: u32,
    /// What it wrote last, cut.
    pub text: String,
    /// What it made.
    pub outputs: BTreeMap<String, KeptOutput>,
    /// What is wrong, for the step that the pipeline goes back to.
    pub feedback: String,
    /// What was made of its last output, where it runs tests.
    pub route: Option<Route>,
    /// What is known of its loop.
    pub rounds: LoopRound,
    /// The question that waits for a user, by its name.
    pub question: Option<String>,
    /// What reviewers said, first first.
    pub reviews: Vec<ReviewRecordEntry>,
    /// The exemptions from its gate that came with the change, where it asks one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exemptions: Vec<String>,
}

/// What became of asking one reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewRecordEntry {
    /// The reviewer.
    pub reviewer: String,
    /// The model that was asked for.
    pub asked: String,
    /// The model that the answer says it came from.
    pub answered: Option<String>,
    /// The verdict, where there is one.
    pub verdict: Option<String>,
    /// Why there is none.
    pub cause: Option<String>,
}

/// How a run of a pipeline ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PipelineEnd {
    /// Every step passed or was not wanted.
    Passed,
    /// A step failed.
    Failed,
    /// Something said that it must not go on.
    Refused,
    /// A loop is over without success: a user has to look.
    Halted,
    /// A step did not run, so that nothing is known of it.
    Incomplete,
    /// It was interrupted.
    Interrupted,
    /// A user gave it up.
    GivenUp,
}

impl PipelineEnd {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Halted => "halted",
            Self::Incomplete => "incomplete",
            Self::Interrupted => "interrupted",
            Self::GivenUp => "given_up",
        }
    }

    /// The exit status that says it: 1 is an error of ours, 2 something is wrong, 3 a user has to look, 4 something did not run.
    pub fn status(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed | Self::Refused => 2,
            Self::Halted => 3,
            Self::Incomplete => 4,
            Self::Interrupted => 130,
            Self::GivenUp => 1,
        }
    }
}

/// Why a pipeline stopped, and what to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineHalt {
    /// The step.
    pub step: String,
    /// By what.
    pub verdict: LoopVerdict,
    /// How many rounds it had.
    pub rounds: u32,
    /// What is wrong: the first of it, and how many more.
    pub look_at: Vec<String>,
}

/// What is known of a run of a pipeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PipelineState {
    /// The form of this text.
    pub version: u32,
    /// Its name.
    pub id: RunId,
    /// The name of the pipeline.
    pub pipeline: String,
    /// The task: one run at a time works on it.
    pub task: String,
    /// The file, as it was given.
    pub file: String,
    /// The SHA-256 of the text of the file.
    pub digest: String,
    /// Whether the file is the user's own, so that it may loosen.
    pub is_own: bool,
    /// The workspace.
    pub workspace: PathBuf,
    /// Where the steps work.
    pub directory: PathBuf,
    /// The worktree, where it has one of its own.
    pub worktree: Option<String>,
    /// What it was given, masked.
    pub inputs: BTreeMap<String, String>,
    /// When it began, in milliseconds since 1970.
    pub created: u64,
    /// When this was written.
    pub written: u64,
    /// How it ended last; `None` while it runs, and where it was cut off.
    pub end: Option<PipelineEnd>,
    /// Why it was halted.
    pub halt: Option<PipelineHalt>,
    /// Its steps, in the order of the file.
    pub steps: Vec<StepState>,
}

impl StepOutcome {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Passed => "passed",
            Self::LeftOut => "left_out",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Halted => "halted",
            Self::DidNotRun => "did_not_run",
        }
    }

    /// Whether what waits for it may begin.
    pub fn lets_on(self) -> bool {
        match self {
            Self::Passed | Self::LeftOut => true,
            Self::Waiting | Self::Running | Self::Failed | Self::Refused | Self::Halted | Self::DidNotRun => {
                false
            }
        }
    }
}

impl StepState {
    /// A step whose turn has not come.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            outcome: StepOutcome::Waiting,
            reason: String::new(),
            attempts: Vec::new(),
            failures: 0,
            text: String::new(),
            outputs: BTreeMap::new(),
            feedback: String::new(),
            route: None,
            rounds: LoopRound::default(),
            question: None,
            reviews: Vec::new(),
            exemptions: Vec::new(),
        }
    }

    /// Has its turn come again. What it did stays written down.
    pub fn wait_again(&mut self) {
        self.outcome = StepOutcome::Waiting;
        self.reason.clear();
        self.failures = 0;
    }
}

impl PipelineState {
    /// The form that is written here.
    pub const VERSION: u32 = 1;
}
