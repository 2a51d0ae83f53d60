//! Hallucination (upstream 1.2): references to things that do not exist, files that are read and modules that are loaded as if they were there.

use std::collections::VecDeque;

use checkrein_effects::Severity;
use serde::{Deserialize, Serialize};

use crate::issue::{ActionNumber, Issue, PatternKind, Share, newest};
use crate::mark::Mark;
use crate::observation::{ErrorCategory, ErrorSignature};
use crate::settings::PatternSettings;
use crate::step::Deed;

/// How far back is looked, in actions (ours).
const HORIZON: u64 = 32;

/// How many are remembered (ours).
const WINDOW: usize = 8;

/// From how many on (upstream 1.2, `min_occurrences`).
const THRESHOLD: usize = 2;

/// The last references to things that were not there, each once.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Phantoms(VecDeque<(ActionNumber, Mark)>);

impl Phantoms {
    /// Takes up an error, if it is of this sort: looking whether something is there (`ls`, `test -f`) is not.
    pub(crate) fn failed(&mut self, number: ActionNumber, action: Mark, deed: Deed, error: ErrorSignature) {
        let assumed = match error.category {
            ErrorCategory::NotFound => deed == Deed::Looks,
            ErrorCategory::Import => true,
            ErrorCategory::PermissionDenied
            | ErrorCategory::Syntax
            | ErrorCategory::Timeout
            | ErrorCategory::Network
            | ErrorCategory::TestFailure
            | ErrorCategory::Type
            | ErrorCategory::Usage
            | ErrorCategory::Resources
            | ErrorCategory::Conflict
            | ErrorCategory::Other => false,
        };
        if !assumed || self.0.iter().any(|(_, known)| *known == action) {
            return;
        }
        while self.0.len() >= WINDOW {
            self.0.pop_front();
        }
        self.0.push_back((number, action));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn detect(&self, now: ActionNumber, settings: &PatternSettings) -> Option<Issue> {
        self.0.back().filter(|(number, _)| now.0.saturating_sub(number.0) <= 1)?;
        let recent = || self.0.iter().filter(|(number, _)| now.0.saturating_sub(number.0) < HORIZON);
        let count = recent().count();
        if count < THRESHOLD + settings.slack() {
            return None;
        }
        Some(Issue {
            kind: PatternKind::Hallucination,
            severity: match count {
                0..=3 => Severity::Low,
                4 | 5 => Severity::Medium,
                _ => Severity::High,
            },
            // min(10 x count / history, 1) (upstream 1.2).
            confidence: Share::new(10.0 * count as f64 / now.0.max(1) as f64),
            impact: Share::default(),
            signal: count as f64,
            summary: format!("{count} different things were used that do not exist"),
            advice: "list or search before using a name: what was assumed is not there".to_owned(),
            actions: newest(recent().map(|(number, _)| *number)),
            growth: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::{Observation, Success};

    fn played(texts: &[(&str, Deed)]) -> Option<Issue> {
        let mut phantoms = Phantoms::default();
        for (index, (text, deed)) in texts.iter().enumerate() {
            let error = Observation::of(text, Success::Failed).error.unwrap();
            phantoms.failed(ActionNumber(index as u64 + 1), Mark::of(text), *deed, error);
        }
        phantoms.detect(ActionNumber(texts.len() as u64), &PatternSettings::default())
    }

    #[test]
    fn two_different_phantoms_upstream_1_2() {
        let found =
            played(&[("cat: a.rs: No such file", Deed::Looks), ("No module named 'b'", Deed::Runs)]).unwrap();
        assert_eq!((found.severity, found.confidence), (Severity::Low, Share::new(1.0)));
    }

    #[test]
    fn the_same_one_twice_or_a_missing_program_are_none() {
        assert_eq!(played(&[("cat: a.rs: No such file", Deed::Looks); 2]), None);
        assert_eq!(played(&[("make: x: not found", Deed::Runs), ("make: y: not found", Deed::Runs)]), None);
    }
}
