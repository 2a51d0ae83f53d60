//! Examples of tripwires and own patterns, played one action after the other as a session would.

use checkrein_facts::Tally;
use checkrein_protocol::{Timestamp, VerdictKind};

use super::tripwire::{CompiledTripwire, Tripwire, check_tripwires};
use crate::config::Config;
use crate::rule::{Example, ExampleError};

/// How many actions one example may have (ours).
const ACTIONS_LIMIT: usize = 256;
/// How much time lies between two actions of an example, in milliseconds (ours).
const STEP_MS: u64 = 1000;

/// What is wrong with an example of a tripwire.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TripwireProblem {
    /// It cannot be read.
    #[error(transparent)]
    Example(#[from] ExampleError),
    /// It is longer than any example needs to be.
    #[error("the example has more than {ACTIONS_LIMIT} actions")]
    TooLong,
    /// A condition failed on it.
    #[error("`{name}` could not be evaluated on it: {failure}")]
    Failed {
        /// The tripwire.
        name: String,
        /// Why.
        failure: String,
    },
    /// It must be caught and is not.
    #[error("`{name}` does not catch it")]
    Missed {
        /// The tripwire.
        name: String,
    },
    /// It must not be caught and is.
    #[error("`{name}` catches it although it must not")]
    Caught {
        /// The tripwire.
        name: String,
    },
}

/// What an example must show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation {
    /// The last action is caught.
    Match,
    /// No action is.
    Silence,
}

impl Tripwire {
    /// Plays an example: `3 times A --> B` is three actions A, then one B, a second apart. Whether it fired, on any action but,
    /// when it must match, the last one alone.
    pub fn rehearse(&self, text: &str, wanted: Expectation, config: &Config) -> Result<(), TripwireProblem> {
        let compiled = CompiledTripwire::new(self.clone());
        let mut tally = self.count.as_ref().map(|count| Tally::new(self.key(), count.window));
        let mut fired_last = false;
        let mut fired_ever = false;
        for (index, example) in actions(text)?.into_iter().enumerate() {
            let number = index as u64 + 1;
            let now = Timestamp(number * STEP_MS);
            let mut example = example;
            example.history.actions = example.history.actions.max(number - 1);
            example.history.tallies = tally.iter().cloned().collect();
            let (finding, counted) = compiled.check(&example.context(config), now);
            if let Some(failure) = finding.as_ref().and_then(|finding| finding.failure.clone()) {
                return Err(TripwireProblem::Failed { name: self.name.clone(), failure });
            }
            fired_last = finding.is_some();
            fired_ever |= fired_last;
            if let (Some(tally), Some(counted)) = (&mut tally, counted) {
                tally.take(&counted, now, example.history.actions + 1);
            }
        }
        match wanted {
            Expectation::Match if !fired_last => Err(TripwireProblem::Missed { name: self.name.clone() }),
            Expectation::Silence if fired_ever => Err(TripwireProblem::Caught { name: self.name.clone() }),
            Expectation::Match | Expectation::Silence => Ok(()),
        }
    }
}

/// The strictest verdict that tripwires ask for on the last action of an example.
pub(crate) fn play(
    tripwires: &[CompiledTripwire],
    text: &str,
    config: &Config,
) -> Result<VerdictKind, TripwireProblem> {
    let mut tallies: Vec<Tally> = Vec::new();
    let mut verdict = VerdictKind::Ok;
    for (index, mut example) in actions(text)?.into_iter().enumerate() {
        let number = index as u64 + 1;
        let now = Timestamp(number * STEP_MS);
        example.history.actions = example.history.actions.max(number - 1);
        example.history.tallies.clone_from(&tallies);
        let report = check_tripwires(tripwires, &example.context(config), now);
        if let Some((name, failure)) =
            report.findings.iter().find_map(|finding| Some((&finding.name, finding.failure.as_ref()?)))
        {
            return Err(TripwireProblem::Failed { name: name.clone(), failure: failure.clone() });
        }
        verdict = report.findings.first().map_or(VerdictKind::Ok, |finding| finding.verdict);
        // What is refused does not happen, so it does not count.
        let runs = verdict < VerdictKind::Block;
        for counted in report.counted.iter().filter(|_| runs) {
            let place = tallies.iter().position(|tally| tally.key() == counted.key).unwrap_or_else(|| {
                tallies.push(Tally::new(counted.key, counted.window));
                tallies.len() - 1
            });
            tallies[place].take(counted, now, example.history.actions + 1);
        }
    }
    Ok(verdict)
}

/// The actions of an example.
fn actions(text: &str) -> Result<Vec<Example>, TripwireProblem> {
    let mut all = Vec::new();
    for step in text.split("-->").map(str::trim) {
        let repeated = step.split_once(" times ").and_then(|(count, rest)| Some((count.parse().ok()?, rest)));
        let (count, step) = repeated.unwrap_or((1_usize, step));
        if all.len().saturating_add(count) > ACTIONS_LIMIT {
            return Err(TripwireProblem::TooLong);
        }
        let example = Example::parse(step)?;
        all.extend(std::iter::repeat_n(example, count));
    }
    Ok(all)
}
