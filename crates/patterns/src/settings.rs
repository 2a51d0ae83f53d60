//! What a policy may set about the detectors.

use checkrein_policy::PatternThresholds;

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
    /// When each detector sees something, at medium sensitivity.
    pub thresholds: PatternThresholds,
    /// The longest pause in the work over which growth is measured, in seconds.
    pub metrics_window_seconds: u64,
}

/// Whether somebody is there to answer what the agent asks: then offers of new work are recorded only, for the user decides (seed 004 speaks of
/// approval without a user).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Audience {
    /// A user reads along.
    #[default]
    Person,
    /// Nobody does.
    Nobody,
}

/// How easily a pattern is seen (seed 001).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PatternSensitivity {
    /// One repetition more than the threshold is needed, or a quarter more of it (ours).
    Low,
    /// As documented.
    #[default]
    Medium,
    /// One repetition less, or a sixth less; never fewer than two, but for what does not exist (ours).
    High,
}

impl Default for PatternSettings {
    fn default() -> Self {
        Self {
            enabled: PatternKind::ALL.to_vec(),
            sensitivity: PatternSensitivity::default(),
            audience: Audience::default(),
            least_confidence: Share::default(),
            thresholds: PatternThresholds::default(),
            metrics_window_seconds: 60,
        }
    }
}

/// A threshold as a number of things that are held in memory.
pub(crate) fn entries(threshold: u64) -> usize {
    usize::try_from(threshold).unwrap_or(usize::MAX)
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

    /// The thresholds with the sensitivity in them.
    pub(crate) fn felt(&self) -> PatternThresholds {
        let sensitivity = self.sensitivity;
        let count = |threshold: &mut u64, least: u64| {
            *threshold = match sensitivity {
                PatternSensitivity::Low => threshold.saturating_add(1),
                PatternSensitivity::Medium => *threshold,
                PatternSensitivity::High => threshold.saturating_sub(1).max(least.min(*threshold)),
            };
        };
        let above = |threshold: &mut f64| {
            *threshold *= match sensitivity {
                PatternSensitivity::Low => 1.25,
                PatternSensitivity::Medium => 1.0,
                PatternSensitivity::High => 1.0 / 1.2,
            };
        };
        let mut felt = self.thresholds;
        let PatternThresholds {
            stuck_loop,
            repetitive_errors,
            stagnation,
            oscillating_edits,
            scope_creep,
            goal_drift,
            resource_spiral,
            exploration_wandering,
            hallucination,
            cascade,
        } = &mut felt;
        for threshold in [
            &mut stuck_loop.rounds,
            &mut stuck_loop.failing_rounds,
            &mut stuck_loop.pair_rounds,
            &mut stuck_loop.messages,
            &mut stuck_loop.condensations,
            &mut repetitive_errors.threshold,
            &mut stagnation.none_passing,
            &mut stagnation.some_passing,
            &mut oscillating_edits.edits,
        ] {
            count(threshold, 2);
        }
        count(&mut hallucination.occurrences, 1);
        for threshold in [
            &mut scope_creep.ratio,
            &mut goal_drift.fall,
            &mut resource_spiral.growth,
            &mut exploration_wandering.score,
            &mut cascade.score,
        ] {
            above(threshold);
        }
        felt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One number of each detector, in which lower sees more.
    fn numbers(sensitivity: PatternSensitivity) -> [f64; 10] {
        let felt = PatternSettings { sensitivity, ..PatternSettings::default() }.felt();
        [
            felt.stuck_loop.rounds as f64,
            felt.repetitive_errors.threshold as f64,
            felt.stagnation.some_passing as f64,
            felt.oscillating_edits.edits as f64,
            felt.scope_creep.ratio,
            felt.goal_drift.fall,
            felt.resource_spiral.growth,
            felt.exploration_wandering.score,
            felt.hallucination.occurrences as f64,
            felt.cascade.score,
        ]
    }

    // Source: seed 001-45
    #[test]
    fn the_three_sensitivities_differ_for_every_detector_seed_001() {
        let [low, medium, high] =
            [PatternSensitivity::Low, PatternSensitivity::Medium, PatternSensitivity::High].map(numbers);
        for (index, medium) in medium.iter().enumerate() {
            assert!(low[index] > *medium && *medium > high[index], "{index}: {low:?} {high:?}");
        }
    }

    #[test]
    fn high_never_sees_a_repetition_in_one() {
        let felt =
            PatternSettings { sensitivity: PatternSensitivity::High, ..PatternSettings::default() }.felt();
        assert_eq!((felt.stagnation.none_passing, felt.stuck_loop.failing_rounds), (2, 2));
        assert_eq!(felt.hallucination.occurrences, 1, "what does not exist is one thing");
    }
}
