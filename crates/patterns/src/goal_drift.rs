//! Goal drift (upstream 1.2): actions that serve the goals less and less.

use std::collections::VecDeque;

use checkrein_policy::GoalDriftThresholds;
use checkrein_protocol::Severity;
use serde::{Deserialize, Serialize};

use crate::issue::{ActionNumber, Issue, PatternKind, Share, newest};
use crate::settings::entries;

/// How many actions are remembered (upstream 1.2, `trend_window`).
const WINDOW: usize = 20;

/// Below these means it is medium (seed 001), high and critical (ours). Words that do not meet prove little, so nothing lies below .4 for
/// them alone: the first is near that bottom, and the others are reached only by what the user said not to do.
const GRAVE: [(f64, Severity); 3] =
    [(0.15, Severity::Critical), (0.3, Severity::High), (0.48, Severity::Medium)];

/// Below this an action does what the user said not to do, in hundredths.
const FORBIDDEN: u8 = 40;

/// The alignments of the last actions, in hundredths.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Drift(VecDeque<(ActionNumber, u8)>);

impl Drift {
    pub(crate) fn aligned(&mut self, number: ActionNumber, hundredths: u8) {
        while self.0.len() >= WINDOW {
            self.0.pop_front();
        }
        self.0.push_back((number, hundredths));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn detect(&self, now: ActionNumber, thresholds: &GoalDriftThresholds) -> Option<Issue> {
        let seen = entries(thresholds.window).min(self.0.len());
        self.0.back().filter(|(number, _)| *number == now && seen >= entries(thresholds.actions))?;
        let values: Vec<f64> = self.values().skip(self.0.len() - seen).collect();
        let mean = values.iter().sum::<f64>() / seen as f64;
        if mean >= thresholds.alignment || slope(&values, mean) >= -thresholds.fall {
            return None;
        }
        Some(Issue {
            kind: PatternKind::GoalDrift,
            severity: GRAVE
                .into_iter()
                .find_map(|(below, severity)| (mean < below).then_some(severity))
                .unwrap_or(Severity::Low),
            confidence: Share::new(1.0 - mean),
            impact: Share::default(),
            signal: 1.0 - mean,
            summary: match self.0.iter().rev().take(seen).filter(|(_, value)| *value < FORBIDDEN).count() {
                0 => format!("the last {seen} actions have less and less to do with the goal"),
                1 => format!(
                    "the last {seen} actions have less and less to do with the goal, and one does what the user said not to do"
                ),
                against => format!(
                    "the last {seen} actions have less and less to do with the goal, and {against} do what the user said not to do"
                ),
            },
            advice: "say which part of the task comes next, and leave what does not belong to it".to_owned(),
            actions: newest(self.0.iter().map(|(number, _)| *number)),
            growth: None,
            growths: Vec::new(),
        })
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.0.iter().map(|(_, hundredths)| f64::from(*hundredths) / 100.0)
    }
}

/// By how much the line through the values falls from the first to the last (upstream 1.2; the unit is ours): least squares over the window,
/// which is one long.
fn slope(values: &[f64], mean: f64) -> f64 {
    let last = (values.len() - 1) as f64;
    let (mut products, mut squares) = (0.0, 0.0);
    for (index, value) in values.iter().enumerate() {
        let place = index as f64 / last - 0.5;
        products += place * (value - mean);
        squares += place * place;
    }
    products / squares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned(values: impl Iterator<Item = u8>) -> Option<Issue> {
        let mut drift = Drift::default();
        let mut now = ActionNumber(0);
        for value in values {
            now = ActionNumber(now.0 + 1);
            drift.aligned(now, value);
        }
        drift.detect(now, &GoalDriftThresholds::default())
    }

    #[test]
    fn low_and_falling_is_drift_upstream_1_2() {
        let found = aligned((0..20).map(|index| 80 - index * 4)).unwrap();
        assert!((found.confidence.value() - 0.58).abs() < 1e-9, "1 - the mean");
    }

    // Source: seed 001-19
    #[test]
    fn what_ends_with_nothing_of_the_goal_is_medium_seed_001() {
        // As low as an alignment can be, after a beginning that served the goal.
        let fallen =
            |good: usize| aligned(std::iter::repeat_n(100, good).chain(std::iter::repeat_n(40, 20 - good)));
        assert_eq!(fallen(2).map(|issue| issue.severity), Some(Severity::Medium));
        assert_eq!(fallen(3).map(|issue| issue.severity), Some(Severity::Low));
    }

    #[test]
    fn what_the_user_forbade_again_and_again_is_graver() {
        let forbidden =
            |good: usize| aligned(std::iter::repeat_n(100, good).chain(std::iter::repeat_n(0, 20 - good)));
        assert_eq!(forbidden(6).map(|issue| issue.severity), Some(Severity::Medium), "the mean is .3");
        assert_eq!(forbidden(5).map(|issue| issue.severity), Some(Severity::High));
        let worst = forbidden(2).unwrap();
        assert_eq!(worst.severity, Severity::Critical);
        assert!(worst.summary.ends_with("and 18 do what the user said not to do"), "{}", worst.summary);
    }

    #[test]
    fn low_alone_and_falling_alone_are_not() {
        assert_eq!(aligned((0..20).map(|_| 10)), None);
        assert_eq!(aligned((0..20).map(|index| 100 - index)), None);
        assert_eq!(aligned((0..8).map(|index| 80 - index * 10)), None);
    }
}
