//! The same word of the reviewer again and again: calls of which each is another, and all are refused or hinted at for one reason.
//!
//! A call that is repeated is a loop, and found as one. Here the agent tries what it was refused in other words, or goes on with what it was
//! hinted at (seed 001: the controller is given the review as well as the patterns). What a user let pass is no refusal.

use std::collections::VecDeque;

use checkrein_protocol::{Fingerprint, Severity, VerdictKind};
use serde::{Deserialize, Serialize};

use crate::issue::{ActionNumber, Issue, PatternKind, Share};

/// Over how many actions verdicts are counted (ours).
const VIEW: u64 = 16;
/// How many different calls must have been refused for one reason (ours): who is refused twice may have had two things to do.
const REFUSALS: usize = 4;
/// From how many on it is grave (ours).
const GRAVE: usize = 7;
/// How many different calls must have been hinted at for one reason (ours): a hint may be left aside, so it takes nearly all of what is in view.
const HINTS: usize = 14;

/// Why an action did not pass plainly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictCause {
    /// What was said.
    pub verdict: VerdictKind,
    /// For what: the rule, or the sort of effect.
    pub reason: String,
}

/// The verdicts of the last actions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Verdicts {
    all: VecDeque<Judged>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Judged {
    number: ActionNumber,
    action: Fingerprint,
    cause: VerdictCause,
}

impl Verdicts {
    /// Takes up a verdict about an action: one that was hinted at and ran, or was refused.
    pub(crate) fn judged(&mut self, number: ActionNumber, action: Fingerprint, cause: &VerdictCause) {
        self.moved_to(number);
        self.all.push_back(Judged { number, action, cause: cause.clone() });
    }

    /// Takes up that an action was made: what lies further back does not count.
    pub(crate) fn moved_to(&mut self, number: ActionNumber) {
        self.all.retain(|one| number.0.saturating_sub(one.number.0) < VIEW);
    }

    /// Forgets all of it.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
    }

    /// The reason for which most was refused, else the one that was hinted at.
    pub(crate) fn detect(&self) -> Option<Issue> {
        let last = self.all.back()?;
        let is_refusal = last.cause.verdict >= VerdictKind::Escalate;
        let same = self.all.iter().filter(|one| {
            one.cause.reason == last.cause.reason
                && (one.cause.verdict >= VerdictKind::Escalate) == is_refusal
        });
        let same: Vec<&Judged> = same.collect();
        let mut calls: Vec<Fingerprint> = same.iter().map(|one| one.action).collect();
        calls.sort_unstable();
        calls.dedup();
        let count = calls.len();
        let severity = match (is_refusal, count) {
            (true, GRAVE..) => Severity::High,
            (true, REFUSALS..) => Severity::Medium,
            (false, HINTS..) => Severity::Low,
            (true | false, _) => return None,
        };
        let what = if is_refusal { "refused" } else { "hinted at" };
        let reason = last.cause.reason.replace('_', " ");
        let advice = if is_refusal {
            "leave that as it is, and reach the goal without it, or tell the user what is in the way"
        } else {
            "do what the hint says, or say why not"
        };
        let skipped = same.len().saturating_sub(Issue::ACTIONS);
        Some(Issue {
            kind: PatternKind::RepeatedVerdicts,
            severity,
            confidence: Share::new(0.9),
            impact: Share::default(),
            signal: u32::try_from(count).map_or(f64::from(u32::MAX), f64::from),
            summary: format!("{count} different calls were {what} for one reason ({reason})"),
            advice: advice.to_owned(),
            actions: same.iter().skip(skipped).map(|one| one.number).collect(),
            growth: None,
            growths: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(calls: &[(u64, &str, VerdictKind, &str)]) -> Option<(Severity, usize)> {
        let mut verdicts = Verdicts::default();
        for (number, action, verdict, reason) in calls {
            let cause = VerdictCause { verdict: *verdict, reason: (*reason).to_owned() };
            verdicts.judged(ActionNumber(*number), Fingerprint::of(action), &cause);
        }
        verdicts.detect().map(|issue| (issue.severity, issue.actions.len()))
    }

    #[test]
    fn one_reason_for_many_calls_is_an_issue_and_many_reasons_are_none() {
        use VerdictKind::{Block, Escalate, Nudge};
        let refused = |count: u64, reason: &'static str| -> Vec<(u64, String, VerdictKind, &'static str)> {
            (1..=count).map(|number| (number, format!("call {number}"), Block, reason)).collect()
        };
        let of = |calls: &[(u64, String, VerdictKind, &'static str)]| {
            let calls: Vec<_> = calls.iter().map(|(n, a, v, r)| (*n, a.as_str(), *v, *r)).collect();
            judged(&calls)
        };
        assert_eq!(of(&refused(3, "a")), None);
        assert_eq!(of(&refused(4, "a")), Some((Severity::Medium, 4)));
        assert_eq!(of(&refused(7, "a")), Some((Severity::High, 7)));
        let one = (0..8).map(|number| (number, "same", Block, "a")).collect::<Vec<_>>();
        assert_eq!(judged(&one), None, "one call again and again is a loop, which is found as such");
        let mixed: Vec<_> = (0..8_u64)
            .map(|number| {
                (
                    number,
                    format!("c{number}"),
                    Escalate,
                    if number % 3 == 0 {
                        "a"
                    } else if number % 3 == 1 {
                        "b"
                    } else {
                        "c"
                    },
                )
            })
            .collect();
        assert_eq!(of(&mixed), None);
        let hints: Vec<_> = (0..13_u64).map(|number| (number, format!("c{number}"), Nudge, "a")).collect();
        assert_eq!(of(&hints), None);
        let far: Vec<_> = (0..8_u64).map(|number| (number * 6, format!("c{number}"), Block, "a")).collect();
        assert_eq!(of(&far), None, "now and then is no pattern");
    }
}
