//! What the detectors would say of an action that has not run yet (seed 001: patterns are looked for in the history with the new action).
//!
//! How it will end is not known. What was run before, and behind which nothing was changed, is supposed to end as it did then; everything
//! else is supposed to succeed with a result of its own, so that nothing is held against an action that may come out otherwise.

use checkrein_protocol::{Fingerprint, ForeseenIssue, Observation};

use super::DetectorState;
use crate::observation::ActionSuccess;
use crate::settings::PatternSettings;
use crate::step::{ActionFacts, Activity, Bearing, OutcomeFacts, Run, Step};

impl DetectorState {
    /// The issues that would begin or grow with an action, gravest first. Nothing is taken up.
    pub fn foreseen(&self, plan: &ActionFacts, settings: &PatternSettings) -> Vec<ForeseenIssue> {
        let mut then = self.clone();
        let (success, observation) = self.supposed(plan);
        let ending = OutcomeFacts {
            success,
            observation: &observation,
            output_bytes: 0,
            duration_ms: None,
            pause_ms: 0,
            error: (success == ActionSuccess::Failed).then_some(self.error_text.as_str()),
        };
        then.finished(plan, &ending);
        let mut issues = then.issues(settings);
        issues.retain(|issue| issue.latest() == Some(plan.number));
        if issues.is_empty() {
            return Vec::new();
        }
        let standing = self.issues(settings);
        issues
            .into_iter()
            .filter(|issue| {
                let known = standing.iter().map(|now| (now.kind, now.severity));
                let noted = self.standing.iter().map(|noted| (noted.kind, noted.severity));
                !known.chain(noted).any(|(kind, severity)| kind == issue.kind && severity >= issue.severity)
            })
            .map(|issue| ForeseenIssue {
                kind: issue.kind,
                severity: issue.severity,
                confidence: issue.confidence,
                summary: issue.summary,
            })
            .collect()
    }

    /// How an action is supposed to end.
    fn supposed(&self, plan: &ActionFacts) -> (ActionSuccess, Observation) {
        let Some(last) = self.unchanged_since(plan) else {
            let digest = Fingerprint::of(&format!("{}\u{0}{}", plan.number.0, plan.name));
            return (ActionSuccess::Succeeded, Observation { digest, ..Observation::default() });
        };
        let failure =
            (last.success == ActionSuccess::Failed).then(|| self.errors.last_of(plan.action)).flatten();
        let tests = failure.and_then(|(_, tests)| tests).or_else(|| self.stagnation.counts_of(plan.action));
        let error = failure.map(|(error, _)| error);
        (
            last.success,
            Observation { digest: last.result, error, tests, missing: None, failure: last.failure },
        )
    }

    /// The last run of an action, where nothing since then is known to have changed how it ends, and it does not wait for something.
    fn unchanged_since(&self, plan: &ActionFacts) -> Option<Step> {
        match plan.deed {
            Activity::Waits | Activity::Retries => return None,
            Activity::Looks | Activity::Changes | Activity::Runs => {}
        }
        let is_last =
            |step: &Step| step.actor == plan.actor && step.action == plan.action && step.run == Run::Done;
        let place = self.steps.iter().rposition(is_last)?;
        let last = *self.steps.get(place)?;
        let changes = |step: &Step| {
            step.run == Run::Done
                && step.deed == Activity::Changes
                && step.bearing == Bearing::Counts
                && step.success == ActionSuccess::Succeeded
        };
        let is_changed = self.steps.iter().skip(place + 1).any(changes);
        (last.turn == self.turn && !is_changed).then_some(last)
    }
}
