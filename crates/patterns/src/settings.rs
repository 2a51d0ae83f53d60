//! What a policy may set about the detectors.

use crate::issue::{Issue, PatternKind, Share};

/// Which detectors run, and how easily they see something.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternSettings {
    /// The patterns that are looked for.
    pub enabled: Vec<PatternKind>,
    /// How easily.
    pub sensitivity: PatternSensitivity,
    /// Whether somebody is there to answer what the agent asks.
    pub audience: Audience,
    /// Detections that are less sure are left out.
    pub least_confidence: Share,
}

/// Whether somebody is there to answer what the agent asks: then offers of new work are recorded only, for the person decides (seed 004 speaks of
/// approval without a person).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Audience {
    /// A person reads along.
    #[default]
    Person,
    /// Nobody does.
    Nobody,
}

/// How easily a pattern is seen (seed 001).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PatternSensitivity {
    /// One repetition more than usual is needed (ours).
    Low,
    /// As documented.
    #[default]
    Medium,
    /// As documented: earlier would stop honest work (ours).
    High,
}

impl Default for PatternSettings {
    fn default() -> Self {
        Self {
            enabled: PatternKind::ALL.to_vec(),
            sensitivity: PatternSensitivity::default(),
            audience: Audience::default(),
            least_confidence: Share::default(),
        }
    }
}

impl PatternSettings {
    /// Whether a pattern is looked for.
    pub fn looks_for(&self, kind: PatternKind) -> bool {
        self.enabled.contains(&kind)
    }

    /// Whether an issue counts: its pattern is looked for, and it is sure enough.
    pub(crate) fn counts(&self, issue: &Issue) -> bool {
        self.looks_for(issue.kind) && issue.confidence >= self.least_confidence
    }

    /// How many repetitions more are needed.
    pub(crate) fn slack(&self) -> usize {
        match self.sensitivity {
            PatternSensitivity::Low => 1,
            PatternSensitivity::Medium | PatternSensitivity::High => 0,
        }
    }
}
