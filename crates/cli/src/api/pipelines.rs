//! Answers about pipelines.

use std::collections::BTreeMap;

use checkrein_pipelines::ReviewRecordEntry;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Moment, answers};

/// A run of a pipeline.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PipelineAnswer {
    /// Its name.
    pub run: String,
    /// The name of the pipeline.
    pub pipeline: String,
    /// The task that it works on.
    pub task: String,
    /// The file of the pipeline.
    pub file: String,
    /// `passed`, `failed`, `refused`, `halted`, `incomplete` (a step did not run), `interrupted`, `given_up`; nothing while it runs, and
    /// where it was cut off.
    pub end: Option<String>,
    /// When it began.
    pub began: Moment,
    /// Where its steps work.
    pub directory: String,
    /// The worktree of the task, where it has one.
    pub worktree: Option<String>,
    /// The folder with everything that it made and was told.
    pub lineage: String,
    /// The SHA-256 that seals that folder, once it is done.
    pub seal: Option<String>,
    /// Why it was halted.
    pub halt: Option<PipelineHaltEntry>,
    /// Its steps, in the order of the file.
    pub steps: Vec<PipelineStepEntry>,
}

/// Why a pipeline was halted, and what to look at.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PipelineHaltEntry {
    /// The step.
    pub step: String,
    /// `same_again`, `stands_still` or `cap_reached`.
    pub cause: String,
    /// How many rounds its loop had.
    pub rounds: u32,
    /// What is wrong: the first of it, and how many more.
    pub look_at: Vec<String>,
}

/// A step of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PipelineStepEntry {
    /// Its name.
    pub name: String,
    /// `waiting`, `running`, `passed`, `left_out` (its condition does not hold), `failed`, `refused`, `halted`, `did_not_run`.
    pub outcome: String,
    /// Why.
    pub reason: String,
    /// How often it ran.
    pub attempts: usize,
    /// How long it ran in all.
    pub milliseconds: u64,
    /// How often it sent the pipeline back.
    pub rounds: u32,
    /// The question that waits for a user.
    pub question: Option<String>,
    /// Files that it made, by name.
    pub outputs: BTreeMap<String, String>,
    /// What reviewers said.
    pub reviews: Vec<PipelineReview>,
}

/// What became of asking a reviewer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PipelineReview {
    /// The reviewer.
    pub reviewer: String,
    /// The model that was asked for.
    pub asked: String,
    /// The model that the answer came from, as its client says.
    pub answered: Option<String>,
    /// `APPROVED`, `REVISE` or `BLOCKED`; nothing where there is no verdict.
    pub verdict: Option<String>,
    /// Why there is none.
    pub cause: Option<String>,
}

impl From<ReviewRecordEntry> for PipelineReview {
    fn from(entry: ReviewRecordEntry) -> Self {
        let ReviewRecordEntry { reviewer, asked, answered, verdict, cause } = entry;
        Self { reviewer, asked, answered, verdict, cause }
    }
}

/// A pipeline file: what would run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PipelinePlan {
    /// The name of the pipeline.
    pub pipeline: String,
    /// The file.
    pub file: String,
    /// Whether it is the user's own, so that it may loosen settings.
    pub is_own: bool,
    /// What it is given.
    pub inputs: Vec<PlannedInput>,
    /// Its steps, in the order of the file.
    pub steps: Vec<PlannedStep>,
}

/// An input of a pipeline.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlannedInput {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What it is where nobody says; nothing where it must be given.
    pub default: Option<String>,
    /// The words that it may be; any where there are none.
    pub one_of: Vec<String>,
}

/// A step that would run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlannedStep {
    /// Its name.
    pub name: String,
    /// `command`, `gate`, `agent`, `review`, `approve` or `pull_request`.
    pub kind: String,
    /// The steps that it waits for.
    pub needs: Vec<String>,
    /// How many steps stand before it at least; those of one level can run at one time.
    pub level: usize,
    /// Its condition.
    pub when: Option<String>,
    /// The step that the pipeline goes back to where it fails.
    pub back_to: Option<String>,
    /// How many rounds that may have.
    pub at_most: Option<u32>,
    /// What would be done, in words.
    pub does: String,
    /// What would not let it: the verdict on its command, a program that is not there.
    pub obstacle: Option<String>,
}

/// Whether a run that is done is still what it was.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerifiedPipeline {
    /// Its name.
    pub run: String,
    /// The SHA-256 that seals it.
    pub seal: String,
    /// Whether nothing differs.
    pub intact: bool,
    /// What differs.
    pub differences: Vec<String>,
}

answers! {
    PipelineAnswer => "pipeline",
    PipelinePlan => "pipeline-plan",
    VerifiedPipeline => "pipeline-verified",
}
