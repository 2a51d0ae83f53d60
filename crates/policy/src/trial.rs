//! Examples and fixtures, played: what was expected and what was found.

use crate::config::{Blueprint, Config};
use crate::governance::{Expectation, Tripwire};
use crate::rule::{CompiledRule, CustomRule, Example};

/// One example, played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// What it is an example of.
    pub of: String,
    /// The example.
    pub example: String,
    /// What it must show.
    pub expected: String,
    /// What it shows.
    pub found: String,
}

/// The words for an example that is caught, and for one that is not.
const CAUGHT: &str = "caught";
const SILENT: &str = "silent";

impl Trial {
    /// Whether it shows what it must.
    pub fn passed(&self) -> bool {
        self.expected == self.found
    }
}

/// Plays every example of rules, tripwires and patterns.
pub fn trials(rules: &[CustomRule], tripwires: &[Tripwire], patterns: &[Tripwire]) -> Vec<Trial> {
    let config = Config::default();
    let mut all = Vec::new();
    for rule in rules {
        let compiled = CompiledRule::new(rule.clone());
        let caught = |text: &str| match Example::parse(text) {
            Ok(example) => match compiled.check(&example.context(&config)) {
                Ok(Some(_)) => CAUGHT.to_owned(),
                Ok(None) => SILENT.to_owned(),
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        };
        let wanted = [(&rule.matches, CAUGHT), (&rule.ignores, SILENT)];
        for (examples, expected) in wanted {
            all.extend(examples.iter().map(|text| Trial {
                of: rule.name.clone(),
                example: text.clone(),
                expected: expected.to_owned(),
                found: caught(text),
            }));
        }
    }
    for tripwire in tripwires.iter().chain(patterns) {
        let wanted = [
            (&tripwire.matches, Expectation::Match, CAUGHT),
            (&tripwire.ignores, Expectation::Silence, SILENT),
        ];
        for (examples, wanted, expected) in wanted {
            all.extend(examples.iter().map(|text| Trial {
                of: tripwire.name.clone(),
                example: text.clone(),
                expected: expected.to_owned(),
                found: match tripwire.rehearse(text, wanted, &config) {
                    Ok(()) => expected.to_owned(),
                    Err(problem) => problem.to_string(),
                },
            }));
        }
    }
    all
}

impl Blueprint {
    /// Plays its fixtures and the examples of its tripwires.
    pub fn trials(&self) -> Vec<Trial> {
        let fixtures = self.fixtures.iter().map(|fixture| Trial {
            of: self.id.clone(),
            example: fixture.name.clone(),
            expected: fixture.expect.name().to_owned(),
            found: match self.judge(&fixture.actions) {
                Ok(verdict) => verdict.name().to_owned(),
                Err(problem) => problem.to_string(),
            },
        });
        fixtures.chain(trials(&[], &self.tripwires, &[])).collect()
    }
}
