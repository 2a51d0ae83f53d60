//! The bands that a review puts an action into, and what governance makes of them.

use serde::{Deserialize, Serialize};

/// How bad an effect is if it was not wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// No harm.
    Low,
    /// Some work to put right.
    Medium,
    /// Much work to put right, or a loss that hurts.
    High,
    /// A disaster.
    Critical,
}

/// The bands of risk: low < .6 <= medium < .8 <= high < .95 <= critical (seed 002; configurable).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RiskLevel {
    /// Below the medium threshold.
    Low,
    /// From the medium threshold.
    Medium,
    /// From the high threshold.
    High,
    /// From the critical threshold.
    Critical,
}

impl RiskLevel {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// Whether an action stays where the task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScopeReach {
    /// It does, as far as files are concerned.
    Inside,
    /// A change or a secret read lies elsewhere.
    Outside,
}

/// The bands of rationality: high >= .8, medium >= .5, low below (seed 002; configurable).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RationalityLevel {
    /// Below the medium threshold.
    Low,
    /// From the medium threshold.
    Medium,
    /// From the high threshold.
    High,
}

impl RationalityLevel {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// What the debt of an agent leads to, mildest first. None of them halts, and none changes the tier (ACGP).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Posture {
    /// Nothing.
    #[default]
    Normal,
    /// Warnings that would go to the record only are said.
    ElevatedMonitoring,
    /// As before, and the thresholds of one tier stricter hold.
    RestrictedMode,
    /// As before, and a user is asked to look at the tier.
    ReTieringReview,
}

impl Posture {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::ElevatedMonitoring => "elevated_monitoring",
            Self::RestrictedMode => "restricted_mode",
            Self::ReTieringReview => "re_tiering_review",
        }
    }
}

/// How closely an agent is overseen (ACGP: Governance Tier). Later is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TierLevel {
    /// Read-only bots.
    #[serde(rename = "0")]
    Zero,
    /// Scripted agents.
    #[serde(rename = "1")]
    One,
    /// The recommended one.
    #[serde(rename = "2")]
    Two,
    /// Business processes.
    #[serde(rename = "3")]
    Three,
    /// Money and critical operations.
    #[serde(rename = "4")]
    Four,
    /// Life safety.
    #[serde(rename = "5")]
    Five,
}

impl TierLevel {
    /// The name on the wire: its digit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zero => "0",
            Self::One => "1",
            Self::Two => "2",
            Self::Three => "3",
            Self::Four => "4",
            Self::Five => "5",
        }
    }
}

/// Whether verdicts are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enforcement {
    /// Everything is recorded, nothing is enforced.
    Observe,
    /// Verdicts are enforced.
    Enforce,
}

impl Enforcement {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Enforce => "enforce",
        }
    }
}
