//! Oscillating edits: a change, its opposite, and the change again. One reversal is an honest undo (a debugging line that goes away
//! again); the pattern begins when what was undone is done again (ours).

use std::collections::VecDeque;

use checkrein_policy::OscillatingEditsThresholds;
use checkrein_protocol::{Fingerprint, Severity};
use serde::{Deserialize, Serialize};

use crate::issue::{ActionNumber, Issue, PatternKind, Share, newest};
use crate::settings::entries;
use crate::step::Edit;

/// How many edits are remembered (ours).
const WINDOW: usize = 16;

/// The last edits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Edits(VecDeque<PastEdit>);

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct PastEdit {
    number: ActionNumber,
    edit: Edit,
}

impl Edits {
    pub(crate) fn made(&mut self, number: ActionNumber, mut edit: Edit) {
        if edit.before == Fingerprint::default() {
            let last = self.0.iter().rev().find(|past| past.edit.path == edit.path);
            edit.before = last.map(|past| past.edit.after).unwrap_or_default();
        }
        while self.0.len() >= WINDOW {
            self.0.pop_front();
        }
        self.0.push_back(PastEdit { number, edit });
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn detect(&self, now: ActionNumber, thresholds: OscillatingEditsThresholds) -> Option<Issue> {
        let last = self.0.back().filter(|past| past.number == now)?;
        // The same edit and its opposite in turn, among the edits of this file, backwards from the last.
        let mut wanted = last.edit;
        let mut chain = Vec::new();
        for past in self.0.iter().rev().filter(|past| past.edit.path == last.edit.path) {
            if past.edit != wanted {
                continue;
            }
            chain.push(past.number);
            wanted = Edit { before: wanted.after, after: wanted.before, ..wanted };
        }
        let changed = last.edit.before != last.edit.after;
        if !changed || chain.len() < entries(thresholds.edits) {
            return None;
        }
        let more = chain.len() - entries(thresholds.edits);
        Some(Issue {
            kind: PatternKind::OscillatingEdits,
            severity: if more >= 2 { Severity::High } else { Severity::Medium },
            confidence: Share::new(0.5 + 0.1 * more as f64),
            impact: Share::new(0.1 * more as f64),
            signal: chain.len() as f64,
            summary: format!(
                "one change to a file was made and undone in turn, {} edits so far",
                chain.len()
            ),
            advice: "decide which of the two is right by a test or by what the task says, then leave it"
                .to_owned(),
            actions: newest(chain.into_iter().rev()),
            growth: None,
            growths: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(edits: &[(u32, u32)]) -> Option<Issue> {
        let mut state = Edits::default();
        for (index, (before, after)) in edits.iter().enumerate() {
            let edit =
                Edit { path: Fingerprint(7), before: Fingerprint(*before), after: Fingerprint(*after) };
            state.made(ActionNumber(index as u64 + 1), edit);
        }
        state.detect(ActionNumber(edits.len() as u64), OscillatingEditsThresholds::default())
    }

    #[test]
    fn there_and_back_and_there_again() {
        assert_eq!(played(&[(1, 2), (2, 1)]), None);
        let found = played(&[(1, 2), (2, 1), (1, 2)]).unwrap();
        assert_eq!((found.kind, found.actions.len()), (PatternKind::OscillatingEdits, 3));
        assert_eq!(played(&[(1, 2), (2, 3), (3, 4), (4, 5)]), None);
    }

    #[test]
    fn whole_files_are_compared_with_what_was_written_before() {
        assert!(played(&[(0, 1), (0, 2), (0, 1), (0, 2)]).is_some());
        assert_eq!(played(&[(0, 1), (0, 1), (0, 1), (0, 1)]), None);
    }
}
