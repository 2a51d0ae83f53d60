//! Answers about change records.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Moment, answers};

/// A change of production, and what was done about it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangeEntry {
    /// Its name.
    pub change: String,
    /// How it stands: `waiting for approval`, `approved`, `approval expired`, `running`, `not verified`, `verified`, `verification failed`, `rolled back`, `closed`.
    pub state: String,
    /// Where it is tracked.
    pub issue: String,
    /// The command.
    pub command: String,
    /// Where it runs.
    pub directory: String,
    /// What of production it is on.
    pub site: String,
    /// When it was opened.
    pub opened_at: Moment,
    /// Who opened it: `person` or `agent`.
    pub opened_by: String,
    /// Until when the command may run; null where it may not.
    pub approved_until: Option<Moment>,
    /// Its blast radius: the predicted effects, in words.
    pub effects: Vec<String>,
    /// The files of code that the command runs.
    pub code: Vec<String>,
    /// The commands that take it back.
    pub rollback: Vec<String>,
    /// The command that verifies it.
    pub verification: String,
    /// What was done about it, oldest first.
    pub steps: Vec<ChangeStepEntry>,
}

/// Something that was done about a change.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangeStepEntry {
    /// `approved`, `passed`, `ran`, `verified`, `rolled-back` or `closed`.
    pub step: String,
    /// When.
    pub at: Moment,
    /// What is to be said of it: who, how it ended, what came of it.
    pub about: String,
    /// What was printed, masked; null where nothing ran.
    pub output: Option<String>,
}

answers! {
    ChangeEntry => "change",
}
