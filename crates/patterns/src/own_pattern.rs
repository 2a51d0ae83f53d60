//! Patterns and tripwires of the user, and what plugins of theirs see: each firing is evidence for one issue.
//!
//! What such a pattern asks for is done about the call that completes it. Here it is remembered that it fired, so that the ladder of
//! interventions goes on where one word was not enough.

use std::collections::VecDeque;

use checkrein_protocol::Severity;
use serde::{Deserialize, Serialize};

use crate::issue::{ActionNumber, Issue, PatternKind, Share};

/// How many actions a firing is remembered for (ours).
const REMEMBERED: u64 = 30;
/// How many names are kept, the newest (ours): as many patterns may count in a configuration.
const NAMES: usize = 32;

/// A pattern of the user that fired with an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FiredPattern {
    /// What its author calls it.
    pub name: String,
    /// How grave they call it.
    pub severity: Severity,
    /// What was seen, in one clause.
    pub summary: String,
    /// What to do instead, in one clause; empty where its author says nothing.
    pub advice: String,
}

/// Which of them fired lately.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct OwnPatterns {
    all: VecDeque<Firings>,
    /// What plugins saw after the last action: it counts with the next one.
    seen: Vec<FiredPattern>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Firings {
    last: FiredPattern,
    actions: VecDeque<ActionNumber>,
}

impl OwnPatterns {
    /// Takes up which patterns fired with an action.
    pub(crate) fn fired(&mut self, number: ActionNumber, fired: &[FiredPattern]) {
        let seen = std::mem::take(&mut self.seen);
        for pattern in seen.iter().chain(fired) {
            let known = self.all.iter().position(|one| one.last.name == pattern.name);
            let mut firings = known.and_then(|place| self.all.remove(place)).map_or_else(
                || Firings { last: pattern.clone(), actions: VecDeque::new() },
                |known| Firings { last: pattern.clone(), ..known },
            );
            firings.actions.push_back(number);
            while firings.actions.len() > Issue::ACTIONS {
                firings.actions.pop_front();
            }
            while self.all.len() >= NAMES {
                self.all.pop_front();
            }
            self.all.push_back(firings);
        }
        let is_lately = |action: &ActionNumber| number.0.saturating_sub(action.0) < REMEMBERED;
        self.all.iter_mut().for_each(|one| one.actions.retain(is_lately));
        self.all.retain(|one| !one.actions.is_empty());
    }

    /// Takes up what a plugin saw; the same name once.
    pub(crate) fn seen(&mut self, pattern: FiredPattern) {
        self.seen.retain(|one| one.name != pattern.name);
        self.seen.truncate(NAMES - 1);
        self.seen.push(pattern);
    }

    /// Forgets all of it.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The name of the one that is the issue, if any fired.
    pub(crate) fn name(&self) -> Option<&str> {
        self.gravest().map(|one| one.last.name.as_str())
    }

    fn gravest(&self) -> Option<&Firings> {
        self.all.iter().max_by_key(|one| (one.last.severity, one.actions.back().copied()))
    }

    /// The gravest that fired; of equal ones that which fired last.
    pub(crate) fn detect(&self) -> Option<Issue> {
        let Firings { last, actions } = self.gravest()?;
        let times = actions.len();
        let often = if times > 1 { format!(", {times} times") } else { String::new() };
        let advice = if last.advice.is_empty() { "keep to what it is there for" } else { &last.advice };
        Some(Issue {
            kind: PatternKind::OwnPattern,
            severity: last.severity,
            confidence: Share::new(1.0),
            impact: Share::default(),
            signal: u32::try_from(times).map_or(f64::from(u32::MAX), f64::from),
            summary: format!("`{}` fired{often}: {}", last.name, last.summary),
            advice: advice.to_owned(),
            actions: actions.iter().copied().collect(),
            growth: None,
            growths: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(name: &str, severity: Severity) -> FiredPattern {
        FiredPattern { name: name.to_owned(), severity, summary: "seen".to_owned(), advice: String::new() }
    }

    #[test]
    fn the_gravest_is_the_issue_with_the_actions_in_which_it_fired() {
        let mut own = OwnPatterns::default();
        assert_eq!(own.detect(), None);
        own.fired(ActionNumber(3), &[pattern("low", Severity::Low), pattern("grave", Severity::High)]);
        own.fired(ActionNumber(5), &[pattern("low", Severity::Low)]);
        own.fired(ActionNumber(7), &[pattern("grave", Severity::High)]);
        let issue = own.detect().unwrap();
        assert_eq!((issue.kind, issue.severity), (PatternKind::OwnPattern, Severity::High));
        assert_eq!(issue.actions, [ActionNumber(3), ActionNumber(7)]);
        assert!(issue.summary.contains("`grave` fired, 2 times"), "{}", issue.summary);
        own.fired(ActionNumber(36), &[]);
        assert_eq!(own.detect().unwrap().actions, [ActionNumber(7)], "what is long ago does not count");
        own.fired(ActionNumber(60), &[]);
        assert_eq!(own.detect(), None);
    }

    #[test]
    fn what_a_plugin_saw_counts_with_the_next_action_and_nothing_grows() {
        let mut own = OwnPatterns::default();
        own.seen(pattern("p/a", Severity::Medium));
        assert_eq!(own.detect(), None);
        own.fired(ActionNumber(2), &[]);
        assert_eq!(own.detect().unwrap().actions, [ActionNumber(2)]);
        for number in 0..1000 {
            own.seen(pattern(&format!("p/{number}"), Severity::Low));
            own.seen(pattern(&format!("q/{number}"), Severity::Low));
            own.fired(ActionNumber(3 + number), &[pattern("often", Severity::Low)]);
        }
        assert!(own.all.len() <= NAMES && own.all.iter().all(|one| one.actions.len() <= Issue::ACTIONS));
    }
}
