//! Exploration wandering (upstream 1.2): looking here and there without doing anything.

use std::collections::VecDeque;

use checkrein_policy::ExplorationWanderingThresholds;
use checkrein_protocol::{Fingerprint, Severity};
use serde::{Deserialize, Serialize};

use crate::issue::{ActionNumber, Issue, PatternKind, Share, newest};
use crate::settings::entries;
use crate::step::VisitedPlace;

/// How many looks are remembered (ours).
const WINDOW: usize = 24;

/// Such a deviation of depths counts in full, in parts of a path (ours).
const DEVIATION: f64 = 3.0;

/// The looks since the last change.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Wandering(VecDeque<Look>);

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Look {
    number: ActionNumber,
    place: VisitedPlace,
}

impl Wandering {
    pub(crate) fn looked(&mut self, number: ActionNumber, place: VisitedPlace) {
        while self.0.len() >= WINDOW {
            self.0.pop_front();
        }
        self.0.push_back(Look { number, place });
    }

    /// Something was changed: what was looked for has been found.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn detect(
        &self,
        now: ActionNumber,
        thresholds: &ExplorationWanderingThresholds,
    ) -> Option<Issue> {
        self.0
            .back()
            .filter(|look| look.number == now && self.0.len() >= entries(thresholds.looks).min(WINDOW))?;
        let score = self.score(thresholds);
        if score <= thresholds.score {
            return None;
        }
        let directories = distinct(self.0.iter().map(|look| look.place.directory));
        Some(Issue {
            kind: PatternKind::ExplorationWandering,
            severity: if score > 0.85 { Severity::Medium } else { Severity::Low },
            confidence: Share::new(score),
            impact: Share::default(),
            signal: score,
            summary: format!(
                "{} looks into {directories} directories, back and forth, and nothing was changed",
                self.0.len()
            ),
            advice:
                "say what is being looked for, search for it by name or content, and stay with what is found"
                    .to_owned(),
            actions: newest(self.0.iter().map(|look| look.number)),
            growth: None,
            growths: Vec::new(),
        })
    }

    /// .3 x unique directories + .3 x returns + .2 x variance of depth + .2 x (1 - focus), each from 0 to 1 (upstream 1.2). The focus
    /// counts against wandering, as its name says. The limits beside the measures make them comparable.
    fn score(&self, thresholds: &ExplorationWanderingThresholds) -> f64 {
        let looks = self.0.len().max(1) as f64;
        let directories: Vec<Fingerprint> = self.0.iter().map(|look| look.place.directory).collect();
        let unique = (distinct(directories.iter().copied()) as f64 / thresholds.directories as f64).min(1.0);
        let returns = directories
            .iter()
            .enumerate()
            .filter(|(index, directory)| {
                let before = directories.get(..*index).unwrap_or_default();
                before.last() != Some(*directory) && before.contains(*directory)
            })
            .count();
        let returned = (returns as f64 / looks / thresholds.returns.max(0.01)).min(1.0);
        let mean = self.0.iter().map(|look| f64::from(look.place.depth)).sum::<f64>() / looks;
        let variance =
            self.0.iter().map(|look| (f64::from(look.place.depth) - mean).powi(2)).sum::<f64>() / looks;
        let deviation = (variance.sqrt() / DEVIATION).min(1.0);
        let most =
            directories.iter().map(|one| directories.iter().filter(|other| *other == one).count()).max();
        let focus = most.unwrap_or_default() as f64 / looks;
        0.3 * unique + 0.3 * returned + 0.2 * deviation + 0.2 * (1.0 - focus)
    }
}

fn distinct(marks: impl Iterator<Item = Fingerprint>) -> usize {
    let mut seen: Vec<Fingerprint> = marks.collect();
    seen.sort_unstable();
    seen.dedup();
    seen.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(paths: impl Iterator<Item = String>) -> Option<Issue> {
        let mut state = Wandering::default();
        let mut now = ActionNumber(0);
        for (index, path) in paths.enumerate() {
            now = ActionNumber(index as u64 + 1);
            state.looked(now, VisitedPlace::of(&path));
        }
        state.detect(now, &ExplorationWanderingThresholds::default())
    }

    #[test]
    fn back_and_forth_all_over_the_tree_is_wandering() {
        let path = |index: u32| {
            let place = if index % 3 == 2 { index % 2 } else { index };
            format!("/{}d{place}/file{index}", "deep/".repeat(place as usize % 8))
        };
        assert!(looked((0..24).map(path)).is_some());
    }

    #[test]
    fn reading_one_part_after_the_other_is_not() {
        assert_eq!(looked((0..40).map(|index| format!("/proj/src/part{}/file{index}", index / 8))), None);
        assert_eq!(looked((0..40).map(|index| format!("/proj/src/file{index}"))), None);
    }
}
