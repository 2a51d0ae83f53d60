//! The ladder of interventions.

use serde::{Deserialize, Serialize};

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
    pub(crate) fn index(self) -> usize {
        match self {
            Self::SoftCorrection => 0,
            Self::ContextReinforcement => 1,
            Self::ResourceThrottling => 2,
            Self::CheckpointRollback => 3,
            Self::EmergencyStop => 4,
        }
    }
}
