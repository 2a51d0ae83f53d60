//! Interventions: the ladder, and what is written down when something was done about an issue.

use serde::{Deserialize, Serialize};

use crate::issue::{ActionNumber, PatternKind, Share};
use crate::levels::Severity;
use crate::mark::Fingerprint;

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
    /// The end of the session until a user resumes it.
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

    /// What it does, for people, as a clause, such as `tightened the limits`.
    pub fn deed(self) -> &'static str {
        match self {
            Self::SoftCorrection => "gave the agent a hint",
            Self::ContextReinforcement => "reminded the agent of the task",
            Self::ResourceThrottling => "tightened the limits",
            Self::CheckpointRollback => "chose to take the last calls back",
            Self::EmergencyStop => "stopped the session",
        }
    }

    /// What it is called for people, as a noun, such as `tighter limits`.
    pub fn noun(self) -> &'static str {
        match self {
            Self::SoftCorrection => "hint",
            Self::ContextReinforcement => "reminder",
            Self::ResourceThrottling => "tighter limits",
            Self::CheckpointRollback => "rollback",
            Self::EmergencyStop => "stop",
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

/// Whether a user must agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryConsent {
    /// A user must.
    #[default]
    Required,
    /// Nobody need.
    NotNeeded,
}

/// What is done about an issue, and what is written down of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intervention {
    /// Which of the five.
    pub kind: InterventionKind,
    /// The pattern that it is about.
    pub pattern: PatternKind,
    /// How grave the issue was.
    pub severity: Severity,
    /// The score with which it was chosen, from 0 to 1.
    pub score: Share,
    /// How strong the signal of the issue was; whether it falls afterwards says whether this helped.
    pub signal: f64,
    /// The action after which it came.
    pub action: ActionNumber,
    /// Why this rung: one clause.
    pub reason: String,
    /// What the agent reads.
    pub text: String,
    /// The limits that hold from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle: Option<Throttle>,
    /// Where to go back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback: Option<Rollback>,
}

/// What a session may use only so much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitedResource {
    /// Changes of files.
    FileOperations,
    /// Tokens of the model.
    Tokens,
    /// Money, in dollars.
    Dollars,
    /// Time, in seconds.
    Seconds,
    /// Memory of the client and what it started, in megabytes; how much is in use is measured where it could matter.
    Megabytes,
}

/// Limits that are tighter for a while.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Throttle {
    /// What limits are multiplied with, from 0 to 1; the smallest of `each`, where that tells them apart.
    pub factor: f64,
    /// What single limits are multiplied with, where each has its own factor: the others stay as they are then. Empty where all have the same.
    #[serde(default)]
    pub each: Vec<(LimitedResource, f64)>,
    /// The action after which they began.
    #[serde(default)]
    pub since: ActionNumber,
    /// How many other calls must run before the refused ones may again; what is refused does not count.
    #[serde(default)]
    pub left: u64,
    /// The marks of the calls that are refused meanwhile, because repeating them was the trouble, until something is changed; at most 8
    /// (ours).
    pub refused: Vec<Fingerprint>,
}

/// A wish to go back: to what stood before an action. Who holds snapshots carries it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rollback {
    /// The action with which the trouble began.
    pub before: ActionNumber,
    /// How many snapshots of the workspace back it may go (seed 000, `max_rollback_depth`).
    pub depth: u64,
    /// Whether a user must agree first.
    #[serde(default)]
    pub consent: RecoveryConsent,
}

/// What a call that ran did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ran {
    /// It changed something.
    Changed,
    /// It changed nothing that is known, or failed.
    Otherwise,
}

impl Throttle {
    /// For how many calls limits stay tight (ours). Of those that run, where calls are refused: refusals cost no time and show nothing.
    pub const LASTING: u64 = 10;

    /// Limits by a factor, from an action on.
    pub fn new(factor: f64, from: ActionNumber, mut refused: Vec<Fingerprint>) -> Self {
        refused.sort_unstable();
        refused.dedup();
        refused.truncate(8);
        Self { factor, each: Vec::new(), since: from, left: Self::LASTING, refused }
    }

    /// The same with a factor for each limit; one that is not named stays as it is.
    #[must_use]
    pub fn with_each(mut self, each: Vec<(LimitedResource, f64)>) -> Self {
        self.factor = each.iter().map(|(_, factor)| *factor).fold(1.0, f64::min);
        self.each = each;
        self
    }

    /// What a limit is multiplied with while they hold.
    pub fn factor_of(&self, resource: LimitedResource) -> f64 {
        if self.each.is_empty() {
            return self.factor;
        }
        self.each.iter().find(|(of, _)| *of == resource).map_or(1.0, |(_, factor)| *factor)
    }

    /// Whether they still hold.
    pub fn holds(&self) -> bool {
        self.left > 0
    }

    /// Takes up that a call ran.
    pub fn ran(&mut self, ran: Ran) {
        self.left = self.left.saturating_sub(1);
        if ran == Ran::Changed {
            // What failed before may come out otherwise now.
            self.refused.clear();
        }
    }

    /// What a limit is multiplied with for an action; 1 once they have held long enough. Here every call counts, or a session whose limit is
    /// used up would stand still for good.
    pub fn factor_for(&self, resource: LimitedResource, action: ActionNumber) -> f64 {
        let holds = action.0 <= self.since.0.saturating_add(Self::LASTING);
        if holds { self.factor_of(resource) } else { 1.0 }
    }

    /// A limit under them for an action, rounded; at least 1.
    pub fn reduced(&self, resource: LimitedResource, limit: u64, action: ActionNumber) -> u64 {
        // Limits are far below the numbers that a double holds exactly.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to the limit")]
        let reduced = (limit as f64 * self.factor_for(resource, action)).round() as u64;
        reduced.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Source: seed 000-30
    #[test]
    fn limits_are_rounded_and_never_nothing() {
        let throttle =
            Throttle::new(0.5, ActionNumber(7), vec![Fingerprint(2), Fingerprint(1), Fingerprint(2)]);
        assert_eq!(throttle.reduced(LimitedResource::Tokens, 101, ActionNumber(17)), 51);
        assert_eq!(throttle.reduced(LimitedResource::Tokens, 0, ActionNumber(17)), 1);
        assert_eq!(throttle.reduced(LimitedResource::Tokens, 101, ActionNumber(18)), 101);
        assert_eq!(throttle.refused, [Fingerprint(1), Fingerprint(2)]);
    }

    // Source: seed 000-25, 000-28
    #[test]
    fn each_limit_has_a_factor_of_its_own_and_one_without_stays() {
        let each = vec![(LimitedResource::Tokens, 0.5), (LimitedResource::Seconds, 0.85)];
        let throttle = Throttle::new(1.0, ActionNumber(7), Vec::new()).with_each(each);
        let of = |resource| throttle.reduced(resource, 100, ActionNumber(8));
        assert_eq!((of(LimitedResource::Tokens), of(LimitedResource::Seconds)), (50, 85));
        assert_eq!(of(LimitedResource::FileOperations), 100);
        assert!((throttle.factor - 0.5).abs() < f64::EPSILON);
        // Records of before have one factor for all.
        let before = r#"{"factor": 0.7, "since": 7, "left": 10, "refused": []}"#;
        let before: Throttle = serde_json::from_str(before).unwrap();
        assert_eq!(before.reduced(LimitedResource::FileOperations, 100, ActionNumber(8)), 70);
    }

    #[test]
    fn they_hold_for_calls_that_run_and_a_change_lets_the_refused_ones_through() {
        let mut throttle = Throttle::new(0.5, ActionNumber(7), vec![Fingerprint(1)]);
        (1..Throttle::LASTING).for_each(|_| throttle.ran(Ran::Otherwise));
        assert!(throttle.holds() && throttle.refused == [Fingerprint(1)]);
        throttle.ran(Ran::Changed);
        assert!(!throttle.holds() && throttle.refused.is_empty());
    }
}
