//! What is wanted of a run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use checkrein_policy::{LimitPreset, Profile};
use checkrein_sandbox::Bytes;
use checkrein_supervise::runs::StepSettings;

use super::super::Switch;
use super::scope::AgentBounds;
use super::session::RunSessionOptions;
use crate::credentials::RunCredential;

/// The command line in our words.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// US dollars; 0 is no limit.
    pub budget: Option<f64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Answers of the model.
    pub iterations: Option<u64>,
    /// Time by the clock.
    pub time: Option<Duration>,
    /// Time without a word from the agent.
    pub idle: Option<Duration>,
    /// Memory of all processes together.
    pub memory: Option<Bytes>,
    /// Processes and threads at one time; what is usual when `None`, and no limit for 0.
    pub processes: Option<u32>,
    /// Which limits hold besides; those of the configuration when `None`.
    pub profile: Option<Profile>,
    /// Which numbers hold for limits that nobody set; those of the configuration when `None`.
    pub preset: Option<LimitPreset>,
    /// One price for every model, in the words of the command line; those of the lists when `None`.
    pub price: Option<String>,
    /// The pipeline that the agent works in, for `safety.pipelines`.
    pub pipeline: Option<String>,
    /// The step of it.
    pub step: Option<String>,
    /// What the file of the pipeline sets for that.
    pub settings: Option<StepSettings>,
    /// Where these stand, until they are read.
    pub settings_file: Option<PathBuf>,
    /// Only the plainest variables and these; all when `None`.
    pub keeps: Option<Vec<OsString>>,
    /// What the kernel keeps the agent within; nothing when `None`.
    pub scope: Option<AgentBounds>,
    /// Credentials, each with the variable that the agent finds it in.
    pub credentials: Vec<RunCredential>,
    /// How often the agent is started again after a failure that may pass.
    pub retries: u32,
    /// Whether the agent is started although its provider is known to fail.
    pub ignore_breaker: Switch,
    /// Who ends the agent when all processes of ours are killed at once.
    pub hold: KillGuarantee,
    /// The agent and its arguments; empty only when a run goes on as it was.
    pub agent: Vec<OsString>,
    /// Where it works, and what is gone on with.
    pub keeping: RunSessionOptions,
}

/// Who ends the agent when all processes of ours are killed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KillGuarantee {
    /// What fits the profile, and is to be had.
    Profile,
    /// Nobody; what it started stays then.
    Processes,
    /// The kernel, or nothing runs.
    Namespace,
}

impl KillGuarantee {
    /// Its word on the command line; `None` when it is what fits the profile.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Profile => None,
            Self::Processes => Some("processes"),
            Self::Namespace => Some("namespace"),
        }
    }

    /// What a word stands for; a word that is not known for what fits the profile.
    pub fn from_word(word: Option<&str>) -> Self {
        [Self::Processes, Self::Namespace]
            .into_iter()
            .find(|hold| hold.word() == word)
            .unwrap_or(Self::Profile)
    }
}
