//! Interventions: the ladder, and what is written down when something was done about an issue.

use serde::{Deserialize, Serialize};

use crate::effect::Severity;
use crate::issue::{ActionNumber, PatternKind, Share};
use crate::mark::Mark;

/// The five interventions, mildest first (seed 000).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InterventionKind {
    /// A hint.
    SoftCorrection,
    /// The task said again.
    ContextReinforcement,
    /// Tighter limits.
    ResourceThrottling,
    /// Back to a snapshot.
    CheckpointRollback,
    /// The end of the session until a person resumes it.
    EmergencyStop,
}

impl InterventionKind {
    /// All of them, mildest first.
    pub const LADDER: [Self; 5] = [
        Self::SoftCorrection,
        Self::ContextReinforcement,
        Self::ResourceThrottling,
        Self::CheckpointRollback,
        Self::EmergencyStop,
    ];

    /// The name on the wire and in configuration, such as `soft_correction`.
    pub fn name(self) -> &'static str {
        match self {
            Self::SoftCorrection => "soft_correction",
            Self::ContextReinforcement => "context_reinforcement",
            Self::ResourceThrottling => "resource_throttling",
            Self::CheckpointRollback => "checkpoint_rollback",
            Self::EmergencyStop => "emergency_stop",
        }
    }

    /// The next stronger one; the strongest stays.
    #[must_use]
    pub fn stronger(self) -> Self {
        match self {
            Self::SoftCorrection => Self::ContextReinforcement,
            Self::ContextReinforcement => Self::ResourceThrottling,
            Self::ResourceThrottling => Self::CheckpointRollback,
            Self::CheckpointRollback | Self::EmergencyStop => Self::EmergencyStop,
        }
    }

    /// The next milder one; the mildest stays.
    #[must_use]
    pub fn milder(self) -> Self {
        match self {
            Self::SoftCorrection | Self::ContextReinforcement => Self::SoftCorrection,
            Self::ResourceThrottling => Self::ContextReinforcement,
            Self::CheckpointRollback => Self::ResourceThrottling,
            Self::EmergencyStop => Self::CheckpointRollback,
        }
    }

    /// Its place on the ladder, from 0.
    pub fn index(self) -> usize {
        match self {
            Self::SoftCorrection => 0,
            Self::ContextReinforcement => 1,
            Self::ResourceThrottling => 2,
            Self::CheckpointRollback => 3,
            Self::EmergencyStop => 4,
        }
    }
}

/// Whether a person must agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryConsent {
    /// A person must.
    #[default]
    Required,
    /// Nobody need.
    NotNeeded,
}

/// What was done about an issue, as written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InterventionRecord {
    /// Which of the five.
    pub kind: InterventionKind,
    /// The pattern that it is about.
    pub pattern: PatternKind,
    /// How grave the issue was.
    pub severity: Severity,
    /// The score with which it was chosen, from 0 to 1.
    pub score: Share,
    /// How strong the signal of the issue was.
    pub signal: f64,
    /// The action after which it came.
    pub action: ActionNumber,
    /// Why this rung: one clause.
    pub reason: String,
    /// What the agent read.
    pub text: String,
    /// The limits that held from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle: Option<ThrottleRecord>,
    /// Where to go back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback: Option<RollbackWish>,
}

/// Limits that are tighter for a while, as written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThrottleRecord {
    /// What limits are multiplied with, from 0 to 1.
    pub factor: f64,
    /// The action after which they began.
    #[serde(default)]
    pub since: ActionNumber,
    /// How many other calls must run before the refused ones may again.
    #[serde(default)]
    pub left: u64,
    /// The marks of the calls that are refused meanwhile.
    pub refused: Vec<Mark>,
}

/// A wish to go back to what stood before an action, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RollbackWish {
    /// The action with which the trouble began.
    pub before: ActionNumber,
    /// How many snapshots of the workspace back it may go.
    pub depth: u64,
    /// Whether a person must agree first.
    #[serde(default)]
    pub consent: RecoveryConsent,
}
