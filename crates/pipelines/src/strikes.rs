//! When a loop is over: its cap, the same failure twice, rounds without progress (seed 004; upstream 3.8).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What a loop is about; its cap follows from that (seed 004: testing 10, requirements 20, completeness 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopKind {
    /// Tests are run until they pass.
    Testing,
    /// A document is written until it is accepted.
    Requirements,
    /// Code is written until nothing is left out.
    Completeness,
}

/// When two failures count as the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// All of their problems are the same: gates and tests name theirs exactly.
    Exact,
    /// More than half of the present ones are: reviewers use other words each time (upstream 3.8).
    MoreThanHalf,
}

/// Rounds without fewer problems after which a loop stands still (ours).
const STANDING_STILL: u32 = 3;

/// What is known of a loop after its last round.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LoopRound {
    /// Rounds that failed.
    pub rounds: u32,
    /// The problems of the last one.
    pub problems: BTreeSet<String>,
    /// Rounds in a row with the same problems, the last one included.
    pub same: u32,
    /// The fewest problems of any round.
    pub fewest: Option<u64>,
    /// Rounds since there were fewer than ever, or more was covered than ever.
    pub without_progress: u32,
    /// The most that tests covered in any round, in thousandths of a percent.
    #[serde(default)]
    pub most_covered: Option<u64>,
}

/// What one round came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundOutcome {
    /// What is wrong, one entry for each problem, in words that stay the same while it does.
    pub problems: BTreeSet<String>,
    /// How many problems there are, where they can be counted.
    pub count: Option<u64>,
    /// Equal rounds that are too many: two, or three where part of it works (upstream 3.8).
    pub strikes: u32,
    /// How much tests covered, in thousandths of a percent, where the round told it.
    pub covered: Option<u64>,
}

/// Whether a loop goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopVerdict {
    /// One more round.
    Again,
    /// So many rounds are the most.
    CapReached,
    /// The same failure again: another try of the same kind changes nothing.
    SameAgain,
    /// Rounds differ, and none has fewer problems or covers more.
    StandsStill,
}

impl LoopKind {
    /// The most rounds of a loop of this kind.
    pub fn cap(self) -> u32 {
        match self {
            Self::Testing => 10,
            Self::Requirements => 20,
            Self::Completeness => 3,
        }
    }

    /// Its word in a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Testing => "testing",
            Self::Requirements => "requirements",
            Self::Completeness => "completeness",
        }
    }

    /// What a word stands for.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Testing, Self::Requirements, Self::Completeness].into_iter().find(|kind| kind.name() == name)
    }
}

impl LoopRound {
    /// Takes up a round that failed, and says whether there is another one. `cap` is the most rounds.
    pub fn take(&mut self, outcome: RoundOutcome, likeness: Likeness, cap: u32) -> LoopVerdict {
        self.rounds = self.rounds.saturating_add(1);
        // More that is covered is progress, whatever still fails; as much as before is none, whatever fails now.
        let covers_more = outcome.covered.zip(self.most_covered).is_some_and(|(now, most)| now > most);
        let covers_no_more = outcome.covered.zip(self.most_covered).is_some_and(|(now, most)| now <= most);
        self.most_covered = self.most_covered.max(outcome.covered);
        let is_same = !covers_more
            && !outcome.problems.is_empty()
            && self.rounds > 1
            && match likeness {
                Likeness::Exact => outcome.problems == self.problems,
                Likeness::MoreThanHalf => {
                    outcome.problems.intersection(&self.problems).count() * 2 > outcome.problems.len()
                }
            };
        self.same = if is_same { self.same.saturating_add(1) } else { 1 };
        self.problems = outcome.problems;
        let has_fewer = match (outcome.count, self.fewest) {
            (Some(count), Some(fewest)) => count < fewest,
            (Some(_), None) => true,
            // What cannot be counted cannot stand still, unless what is covered does.
            (None, _) => !covers_no_more,
        };
        self.without_progress =
            if has_fewer || covers_more { 0 } else { self.without_progress.saturating_add(1) };
        self.fewest = match (outcome.count, self.fewest) {
            (Some(count), Some(fewest)) => Some(count.min(fewest)),
            (count, fewest) => count.or(fewest),
        };
        if self.same >= outcome.strikes.max(2) {
            LoopVerdict::SameAgain
        } else if self.without_progress >= STANDING_STILL {
            LoopVerdict::StandsStill
        } else if self.rounds >= cap {
            LoopVerdict::CapReached
        } else {
            LoopVerdict::Again
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(problems: &[&str], strikes: u32) -> RoundOutcome {
        RoundOutcome {
            problems: problems.iter().map(|one| (*one).to_owned()).collect(),
            count: u64::try_from(problems.len()).ok(),
            strikes,
            covered: None,
        }
    }

    // Source: seed 004-59
    #[test]
    fn the_same_failure_twice_ends_a_loop() {
        let mut known = LoopRound::default();
        assert_eq!(known.take(round(&["a", "b"], 2), Likeness::Exact, 10), LoopVerdict::Again);
        assert_eq!(known.take(round(&["a"], 2), Likeness::Exact, 10), LoopVerdict::Again);
        assert_eq!(known.take(round(&["a"], 2), Likeness::Exact, 10), LoopVerdict::SameAgain);
        let mut some_pass = LoopRound::default();
        let three = [(); 3].map(|()| some_pass.take(round(&["a"], 3), Likeness::Exact, 10));
        assert_eq!(three, [LoopVerdict::Again, LoopVerdict::Again, LoopVerdict::SameAgain]);
    }

    #[test]
    fn a_review_that_says_most_of_it_again_is_the_same() {
        let mut known = LoopRound::default();
        known.take(round(&["a", "b", "c"], 2), Likeness::MoreThanHalf, 20);
        let mut half = known.clone();
        assert_eq!(half.take(round(&["a", "d"], 2), Likeness::MoreThanHalf, 20), LoopVerdict::Again);
        assert_eq!(
            known.take(round(&["a", "b", "d"], 2), Likeness::MoreThanHalf, 20),
            LoopVerdict::SameAgain
        );
    }

    #[test]
    fn rounds_that_differ_and_get_nowhere_end_it_too() {
        let mut known = LoopRound::default();
        let said: Vec<_> =
            ["a", "b", "c", "d"].map(|one| known.take(round(&[one], 2), Likeness::Exact, 10)).into();
        assert_eq!(said.last(), Some(&LoopVerdict::StandsStill));
        assert!(said[..3].iter().all(|one| *one == LoopVerdict::Again), "{said:?}");
    }

    #[test]
    fn the_cap_holds_where_each_round_has_fewer_problems() {
        let mut known = LoopRound::default();
        let all: Vec<String> = (0..9).map(|number| number.to_string()).collect();
        let verdicts: Vec<_> = (0..3)
            .map(|less| {
                let problems = all[less..].iter().cloned().collect::<BTreeSet<_>>();
                let count = u64::try_from(problems.len()).ok();
                let outcome = RoundOutcome { problems, count, strikes: 2, covered: None };
                known.take(outcome, Likeness::Exact, LoopKind::Completeness.cap())
            })
            .collect();
        assert_eq!(verdicts, [LoopVerdict::Again, LoopVerdict::Again, LoopVerdict::CapReached]);
        assert_eq!([LoopKind::Testing, LoopKind::Requirements].map(LoopKind::cap), [10, 20]);
    }

    // Source: seed 004-85
    #[test]
    fn coverage_that_does_not_rise_ends_a_loop_and_coverage_that_rises_goes_on() {
        let covering = |covered, number: usize| RoundOutcome {
            problems: BTreeSet::from([format!("{number} lines are not covered")]),
            count: None,
            strikes: 2,
            covered: Some(covered),
        };
        let mut still = LoopRound::default();
        let said: Vec<_> =
            (0..4).map(|number| still.take(covering(80_000, number), Likeness::Exact, 10)).collect();
        assert_eq!(said[..3], [LoopVerdict::Again; 3]);
        assert_eq!(said[3], LoopVerdict::StandsStill);
        // The same words, and more is covered each time.
        let mut rising = LoopRound::default();
        for covered in 0..9 {
            let verdict = rising.take(covering(80_000 + covered, 7), Likeness::Exact, 10);
            assert_eq!(verdict, LoopVerdict::Again, "{covered}");
        }
        assert_eq!(rising.take(covering(80_008, 7), Likeness::Exact, 20), LoopVerdict::SameAgain);
    }

    #[test]
    fn a_failure_that_names_nothing_is_never_the_same() {
        let mut known = LoopRound::default();
        let nothing = || RoundOutcome { problems: BTreeSet::new(), count: None, strikes: 2, covered: None };
        assert_eq!(known.take(nothing(), Likeness::Exact, 3), LoopVerdict::Again);
        assert_eq!(known.take(nothing(), Likeness::Exact, 3), LoopVerdict::Again);
        assert_eq!(known.take(nothing(), Likeness::Exact, 3), LoopVerdict::CapReached);
    }
}
