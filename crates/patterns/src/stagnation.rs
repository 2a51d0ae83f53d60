//! Stagnation: tests that are run again and come out the same (seed 004: two strikes; upstream 3.8: two when nothing passes, three when
//! some do). What counts as progress: other counts, or other failures.

use checkrein_policy::StagnationThresholds;
use checkrein_protocol::{Fingerprint, Observation, Severity, TestCounts};
use serde::{Deserialize, Serialize};

use crate::issue::{ActionNumber, Issue, PatternKind, Share};

/// The last run of the tests and how often it came out the same.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Stagnation(Option<Runs>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Runs {
    action: Fingerprint,
    counts: TestCounts,
    digest: Fingerprint,
    same: u32,
    /// How many of them were refused and did not run.
    #[serde(default)]
    refused: u32,
    actions: Vec<ActionNumber>,
}

impl Runs {
    fn again(&mut self, number: ActionNumber) {
        self.same = self.same.saturating_add(1);
        if self.actions.len() >= Issue::ACTIONS {
            self.actions.remove(0);
        }
        self.actions.push(number);
    }
}

impl Stagnation {
    pub(crate) fn ran(&mut self, number: ActionNumber, action: Fingerprint, observation: &Observation) {
        let Some(counts) = observation.tests else { return };
        if counts.failed == 0 {
            self.0 = None;
            return;
        }
        let digest = observation.digest;
        match &mut self.0 {
            Some(runs) if runs.action == action && runs.counts == counts && runs.digest == digest => {
                runs.again(number);
            }
            // Another selection of tests says nothing about this one.
            Some(runs) if runs.action != action && counts == runs.counts => {}
            _ => self.0 = Some(Runs { action, counts, digest, same: 1, refused: 0, actions: vec![number] }),
        }
    }

    /// The same run was refused: nothing has changed, so that it would have come out the same once more.
    pub(crate) fn refused(&mut self, number: ActionNumber, action: Fingerprint) {
        if let Some(runs) = self.0.as_mut().filter(|runs| runs.action == action) {
            runs.again(number);
            runs.refused = runs.refused.saturating_add(1);
        }
    }

    /// The same before the first action of another session.
    pub(crate) fn carried(&self) -> Self {
        let before =
            |runs: &Runs| Runs { actions: vec![ActionNumber::default(); runs.actions.len()], ..runs.clone() };
        Self(self.0.as_ref().map(before))
    }

    pub(crate) fn clear(&mut self) {
        self.0 = None;
    }

    /// The counts of the last run of the tests, if it was this action.
    pub(crate) fn counts_of(&self, action: Fingerprint) -> Option<TestCounts> {
        self.0.as_ref().filter(|runs| runs.action == action).map(|runs| runs.counts)
    }

    pub(crate) fn detect(&self, now: ActionNumber, thresholds: StagnationThresholds) -> Option<Issue> {
        let runs = self.0.as_ref().filter(|runs| runs.actions.last() == Some(&now))?;
        let needed = needed(runs.counts, thresholds);
        if runs.same < needed {
            return None;
        }
        let beyond = runs.same - needed;
        let TestCounts { passed, failed } = runs.counts;
        Some(Issue {
            kind: PatternKind::Stagnation,
            severity: match beyond {
                0 | 1 => Severity::Low,
                2 | 3 => Severity::Medium,
                4 | 5 => Severity::High,
                _ => Severity::Critical,
            },
            confidence: Share::new(f64::from(runs.same) / 5.0),
            impact: Share::default(),
            signal: f64::from(runs.same),
            summary: match runs.refused {
                0 => {
                    format!(
                        "the tests came out the same {} times: {passed} passed, {failed} failed",
                        runs.same
                    )
                }
                refused => format!(
                    "the tests came out the same in {} of {} runs, the other {refused} were refused: {passed} passed, {failed} failed",
                    runs.same.saturating_sub(refused),
                    runs.same
                ),
            },
            advice: "stop and find out why the last change had no effect on the tests, before the next one"
                .to_owned(),
            actions: runs.actions.clone(),
            growth: None,
            growths: Vec::new(),
        })
    }
}

/// The strikes: those for when nothing passes, or those for when something does (upstream 3.8).
fn needed(counts: TestCounts, thresholds: StagnationThresholds) -> u32 {
    let needed = if counts.passed == 0 { thresholds.none_passing } else { thresholds.some_passing };
    u32::try_from(needed).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::{ActionSuccess, observation};

    fn played(outputs: &[&str]) -> Option<Issue> {
        let mut state = Stagnation::default();
        for (index, output) in outputs.iter().enumerate() {
            let observation = observation(output, ActionSuccess::Failed);
            state.ran(ActionNumber(index as u64 + 1), Fingerprint(1), &observation);
        }
        state.detect(ActionNumber(outputs.len() as u64), StagnationThresholds::default())
    }

    #[test]
    fn two_strikes_when_nothing_passes_three_otherwise_upstream_3_8() {
        assert!(played(&["0 passed, 3 failed in 1.0s", "0 passed, 3 failed in 2.0s"]).is_some());
        assert_eq!(played(&["3 passed, 22 failed"; 2]), None);
        assert_eq!(played(&["3 passed, 22 failed"; 3]).unwrap().severity, Severity::Low);
    }

    #[test]
    fn runs_that_end_well_and_badly_in_turn_and_show_the_same_are_the_same() {
        let mut state = Stagnation::default();
        for number in 1..=8 {
            let (output, success) = if number % 2 == 0 {
                ("Exit code 1\n3 passed, 22 failed", ActionSuccess::Failed)
            } else {
                ("3 passed, 22 failed", ActionSuccess::Succeeded)
            };
            state.ran(ActionNumber(number), Fingerprint(1), &observation(output, success));
        }
        let issue = state.detect(ActionNumber(8), StagnationThresholds::default()).unwrap();
        assert!((issue.signal - 8.0).abs() < f64::EPSILON && issue.severity == Severity::High, "{issue:?}");
    }

    #[test]
    fn what_goes_on_for_long_is_critical() {
        assert_eq!(played(&["0 passed, 3 failed"; 7]).unwrap().severity, Severity::High);
        assert_eq!(played(&["0 passed, 3 failed"; 8]).unwrap().severity, Severity::Critical);
    }

    #[test]
    fn a_refused_run_counts_as_one_that_came_out_the_same() {
        let mut state = Stagnation::default();
        let observation = observation("0 passed, 3 failed", ActionSuccess::Failed);
        state.ran(ActionNumber(1), Fingerprint(1), &observation);
        state.refused(ActionNumber(2), Fingerprint(2));
        assert_eq!(state.detect(ActionNumber(2), StagnationThresholds::default()), None, "another call");
        state.refused(ActionNumber(3), Fingerprint(1));
        let signal = state.detect(ActionNumber(3), StagnationThresholds::default()).map(|issue| issue.signal);
        assert_eq!(signal, Some(2.0));
    }

    #[test]
    fn other_counts_or_other_failures_are_progress() {
        assert_eq!(played(&["0 passed, 3 failed", "1 passed, 2 failed"]), None);
        assert_eq!(played(&["0 passed, 1 failed: a", "0 passed, 1 failed: b"]), None);
        assert_eq!(played(&["0 passed, 1 failed", "3 passed", "0 passed, 1 failed"]), None);
    }
}
