//! Custom rules: conditions as data.

use std::sync::OnceLock;

use checkrein_protocol::{Decision, EffectKind};

use super::expression::Condition;
use super::tools;
use super::{Example, ExampleError, Finding, RuleContext, RuleError, RuleFailure, RuleName};
use crate::config::Config;

/// A rule of the user: a condition in the Common Expression Language (CEL) and what follows when it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomRule {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The condition.
    pub when: String,
    /// What should be done when the condition holds. [`Decision::Allow`] is recorded and loosens nothing.
    pub decision: Decision,
    /// One sentence: what was seen and why it matters.
    pub reason: String,
    /// What to do instead, best first.
    pub alternatives: Vec<String>,
    /// The condition is only looked at when an effect has one of these kinds; empty: always.
    pub kinds: Vec<EffectKind>,
    /// The condition is only looked at for these tools; empty: for all. `mcp__SERVER` means all tools of an MCP server, `*` any rest of a name.
    pub tools: Vec<String>,
    /// Examples that it must catch, in the text form of [`crate::Example`].
    pub matches: Vec<String>,
    /// Examples on which it must stay silent.
    pub ignores: Vec<String>,
}

/// What is wrong with a custom rule, found without any action.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleProblem {
    /// It does not run.
    #[error(transparent)]
    Error(#[from] RuleError),
    /// An example cannot be read.
    #[error(transparent)]
    Example(#[from] ExampleError),
    /// An example that it must catch is not caught.
    #[error("rule `{rule}` does not catch `{example}`")]
    Missed {
        /// The rule.
        rule: String,
        /// The example.
        example: String,
    },
    /// An example on which it must stay silent is caught.
    #[error("rule `{rule}` catches `{example}` although it must not")]
    Caught {
        /// The rule.
        rule: String,
        /// The example.
        example: String,
    },
}

impl RuleProblem {
    /// The example that it is about; `None` when it is about the rule.
    pub(crate) fn example(&self) -> Option<&str> {
        match self {
            Self::Error(_) => None,
            Self::Example(error) => Some(&error.text),
            Self::Missed { example, .. } | Self::Caught { example, .. } => Some(example),
        }
    }
}

/// Actions of several sorts on which every condition can be tried.
const SAMPLES: [&str; 4] = [
    "$ ls =>",
    "$ rm -rf build => file_delete /home/dev/proj/build",
    "$ curl https://docs.rs => network_request docs.rs",
    "Write => file_modify /etc/hosts",
];

impl CustomRule {
    /// Parses the condition, tries it and runs the examples; returns everything that is wrong.
    pub fn problems(&self, config: &Config) -> Vec<RuleProblem> {
        let compiled = CompiledRule::new(self.clone());
        match compiled.condition() {
            Err(cause) => return vec![RuleProblem::Error(compiled.error(cause))],
            Ok(condition) => {
                if let Some(cause) = failure_on_samples(condition, config) {
                    return vec![RuleProblem::Error(compiled.error(cause))];
                }
            }
        }
        let catches = |text: &String| -> Result<bool, RuleProblem> {
            let example = Example::parse(text)?;
            Ok(compiled.check(&example.context(config))?.is_some())
        };
        let missed = self.matches.iter().filter_map(|text| match catches(text) {
            Ok(true) => None,
            Ok(false) => Some(RuleProblem::Missed { rule: self.name.clone(), example: text.clone() }),
            Err(problem) => Some(problem),
        });
        let caught = self.ignores.iter().filter_map(|text| match catches(text) {
            Ok(false) => None,
            Ok(true) => Some(RuleProblem::Caught { rule: self.name.clone(), example: text.clone() }),
            Err(problem) => Some(problem),
        });
        missed.chain(caught).collect()
    }
}

/// Why a condition fails on some action, where it can work on none: it names what does not exist, or gives no answer whatever happens.
fn failure_on_samples(condition: &Condition, config: &Config) -> Option<RuleFailure> {
    let examples: Vec<Example> = SAMPLES.iter().filter_map(|text| Example::parse(text).ok()).collect();
    let failures: Vec<RuleFailure> =
        examples.iter().filter_map(|example| condition.holds(&example.context(config), None).err()).collect();
    let is_undeclared =
        |failure: &&RuleFailure| matches!(failure, RuleFailure::Undeclared(_) | RuleFailure::NotBoolean(_));
    let undeclared = failures.iter().find(is_undeclared).cloned();
    // What a tool is given may hold what these samples do not.
    let always = failures.len() == examples.len() && !condition.names_arguments();
    undeclared.or_else(|| failures.into_iter().next().filter(|_| always))
}

/// A custom rule whose condition is parsed when it is needed first.
#[derive(Debug)]
pub struct CompiledRule {
    rule: CustomRule,
    condition: OnceLock<Result<Condition, RuleFailure>>,
}

impl CompiledRule {
    /// The rule, not parsed yet.
    pub fn new(rule: CustomRule) -> Self {
        Self { rule, condition: OnceLock::new() }
    }

    /// The rule as it was written.
    pub fn rule(&self) -> &CustomRule {
        &self.rule
    }

    /// What the rule says about an action; `None` when nothing.
    pub fn check(&self, context: &RuleContext<'_>) -> Result<Option<Finding>, RuleError> {
        if !self.concerns(context) {
            return Ok(None);
        }
        let condition = self.condition().map_err(|cause| self.error(cause))?;
        if !condition.holds(context, None).map_err(|cause| self.error(cause))? {
            return Ok(None);
        }
        let kinds = &self.rule.kinds;
        Ok(Some(Finding {
            rule: RuleName(self.rule.name.clone()),
            decision: self.rule.decision,
            reason: self.rule.reason.clone(),
            alternatives: self.rule.alternatives.clone(),
            effects: context.select(|effect| kinds.is_empty() || kinds.contains(&effect.kind)),
        }))
    }

    /// Whether the condition has to be looked at.
    fn concerns(&self, context: &RuleContext<'_>) -> bool {
        let tool = context.action.tool.as_str();
        let tools = &self.rule.tools;
        let kinds = &self.rule.kinds;
        tools::holds(tools, tool) && (kinds.is_empty() || context.any(|effect| kinds.contains(&effect.kind)))
    }

    fn condition(&self) -> Result<&Condition, RuleFailure> {
        let parse = || Condition::parse(&self.rule.when).map_err(|bad| RuleFailure::Parse(bad.message));
        self.condition.get_or_init(parse).as_ref().map_err(Clone::clone)
    }

    fn error(&self, cause: RuleFailure) -> RuleError {
        RuleError { rule: RuleName(self.rule.name.clone()), cause }
    }
}
