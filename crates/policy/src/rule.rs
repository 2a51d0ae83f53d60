//! Rules: conditions over the effects of an action, each with a decision and a reason.

mod context;
mod custom;
mod example;
mod exemption;
mod expression;
pub(crate) mod tools;

use checkrein_facts::{History, HostPaths};
use checkrein_protocol::{Action, Decision, Effect, Intent};
use serde::{Deserialize, Serialize};

use crate::config::Config;

pub(crate) use context::is_external;
pub use custom::{CompiledRule, CustomRule, RuleProblem};
pub use example::{Example, ExampleError};
pub use exemption::Exemption;
pub(crate) use expression::Condition;

/// The name of a rule, such as `prevent_recursive_deletion`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RuleName(pub String);

impl RuleName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a rule may rest on.
#[derive(Debug, Clone, Copy)]
pub struct RuleContext<'a> {
    /// What the agent wants to do.
    pub action: &'a Action,
    /// What that would change.
    pub effects: &'a [Effect],
    /// Where things are on this machine.
    pub place: &'a HostPaths,
    /// What has happened in the session so far.
    pub history: &'a History,
    /// The effective configuration.
    pub config: &'a Config,
    /// What the action is for.
    pub intent: Intent,
    /// Whether something of a secret that it reads may go into a file.
    pub writes_secret: bool,
}

/// The sets of built-in rules (seed 002).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSet {
    /// Without these nothing is safe.
    Essential,
    /// The others.
    All,
}

/// What a user should know about a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleDocs {
    /// What it detects.
    pub detects: &'static str,
    /// Why that is dangerous.
    pub danger: &'static str,
    /// A command that it stops.
    pub example: &'static str,
    /// What to do instead.
    pub instead: &'static str,
    /// What it does not see, or sees although it is harmless.
    pub limits: &'static str,
}

/// A built-in rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// The set it belongs to.
    pub set: RuleSet,
    /// What a user should know about it.
    pub docs: RuleDocs,
    /// What it says about an action; `None` when nothing.
    pub check: fn(&RuleContext<'_>) -> Option<Finding>,
    /// Examples that it must catch, in the text form of [`crate::Example`].
    pub matches: &'static [&'static str],
    /// Examples on which it must stay silent.
    pub ignores: &'static [&'static str],
}

/// What a rule says about an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule.
    pub rule: RuleName,
    /// What should be done.
    pub decision: Decision,
    /// One sentence: what was seen and why it matters.
    pub reason: String,
    /// What to do instead, best first.
    pub alternatives: Vec<String>,
    /// The effects it rests on, as indices into the list of effects.
    pub effects: Vec<usize>,
}

/// What all rules say about an action.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RuleReport {
    /// The findings, strictest first; of equal ones in the order of the rules.
    pub findings: Vec<Finding>,
    /// The rules that could not be evaluated. An error is never a pass: see [`RuleReport::decision`].
    pub errors: Vec<RuleError>,
}

impl RuleReport {
    /// The strictest finding; a rule that failed counts as [`Decision::Modify`], since nobody knows what it would
    /// have said.
    pub fn decision(&self) -> Decision {
        let found = self.findings.first().map_or(Decision::Allow, |finding| finding.decision);
        if self.errors.is_empty() { found } else { found.strictest(Decision::Modify) }
    }
}

/// A rule that could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rule `{}` was not evaluated: {cause}", rule.0)]
pub struct RuleError {
    /// The rule.
    pub rule: RuleName,
    /// Why it failed.
    pub cause: RuleFailure,
}

/// Why a rule could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleFailure {
    /// The condition is not a valid expression.
    #[error("its condition does not parse: {0}")]
    Parse(String),
    /// The condition failed on this action.
    #[error("its condition failed: {0}")]
    Evaluation(String),
    /// The condition names something that does not exist.
    #[error("its condition failed: {0}")]
    Undeclared(String),
    /// The condition gave something else than true or false.
    #[error("its condition gave {0} instead of true or false")]
    NotBoolean(String),
    /// What is to be counted is no number.
    #[error("what it counts is {0} instead of a number")]
    NotNumber(String),
    /// Evaluating it could take too long.
    #[error("its condition is too costly for {elements} elements: loops are nested {nesting} deep")]
    TooCostly {
        /// The length of the longest list it may walk: effects, or a list in the input.
        elements: usize,
        /// How deep loops are nested in the condition.
        nesting: usize,
    },
}
