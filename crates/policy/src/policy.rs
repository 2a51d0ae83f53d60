//! The policy: configuration and the rules that it switches on.

use std::sync::OnceLock;

use checkrein_catalogue::UserCatalogue;
use checkrein_protocol::Effect;

use crate::config::{BuiltinRules, Config, PolicyVersion};
use crate::governance::CompiledTripwire;
use crate::rule::{CompiledRule, Exemption, Finding, Rule, RuleContext, RuleReport, RuleSet};
use crate::rules;

/// The effective configuration with the rules that it switches on.
#[derive(Debug)]
pub struct Policy {
    config: Config,
    version: OnceLock<PolicyVersion>,
    builtin: Vec<&'static Rule>,
    exemptions: Vec<Exemption>,
    custom: Vec<CompiledRule>,
    tripwires: Vec<CompiledTripwire>,
    catalogue: UserCatalogue,
}

impl Policy {
    /// The policy that a configuration describes.
    pub fn new(config: Config) -> Self {
        let settings = &config.step_reviewer.rules;
        let applies = |name: &str| !settings.disabled.iter().any(|disabled| disabled == name);
        let builtin = rules::ALL
            .iter()
            .copied()
            .filter(|rule| match settings.builtin {
                BuiltinRules::None => false,
                BuiltinRules::Essential => rule.set == RuleSet::Essential,
                BuiltinRules::All => true,
            })
            .filter(|rule| applies(rule.name))
            .collect();
        let exemptions = settings.exempt.iter().filter_map(|text| Exemption::parse(text)).collect();
        let custom = settings
            .custom
            .iter()
            .filter(|rule| applies(&rule.name))
            .cloned()
            .map(CompiledRule::new)
            .collect();
        let own = config.governance.tripwires.iter().chain(&config.patterns.custom_patterns);
        let tripwires = own.cloned().map(CompiledTripwire::new).collect();
        let catalogue = UserCatalogue::default();
        Self { version: OnceLock::new(), config, builtin, exemptions, custom, tripwires, catalogue }
    }

    /// The same policy with commands that a user has described, which go before the built-in catalogue.
    #[must_use]
    pub fn with_catalogue(mut self, catalogue: UserCatalogue) -> Self {
        self.catalogue = catalogue;
        self
    }

    /// The commands that a user has described.
    pub fn catalogue(&self) -> &UserCatalogue {
        &self.catalogue
    }

    /// A hash of everything that the policy rests on: equal policies have equal versions.
    pub fn version(&self) -> PolicyVersion {
        *self.version.get_or_init(|| PolicyVersion::of(&self.config))
    }

    /// The built-in rules that apply.
    pub fn builtin_rules(&self) -> &[&'static Rule] {
        &self.builtin
    }

    /// The custom rules that apply.
    pub fn custom_rules(&self) -> &[CompiledRule] {
        &self.custom
    }

    /// The tripwires and own patterns.
    pub fn tripwires(&self) -> &[CompiledTripwire] {
        &self.tripwires
    }

    /// The effective configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }
}

impl Default for Policy {
    /// The policy of the built-in settings.
    fn default() -> Self {
        Self::new(Config::default())
    }
}

/// What all rules of a policy say about an action.
pub fn check_rules(context: &RuleContext<'_>, policy: &Policy) -> RuleReport {
    let mut report = RuleReport::default();
    report.findings.extend(policy.builtin.iter().filter_map(|rule| builtin_finding(rule, context, policy)));
    for rule in &policy.custom {
        match rule.check(context) {
            Ok(finding) => report.findings.extend(finding),
            Err(error) => report.errors.push(error),
        }
    }
    report.findings.sort_by_key(|finding| std::cmp::Reverse(finding.decision));
    report
}

/// What a built-in rule says about an action: nothing where all that it rests on is exempt from it. What it rests on beside these it still sees.
fn builtin_finding(rule: &Rule, context: &RuleContext<'_>, policy: &Policy) -> Option<Finding> {
    let mut finding = (rule.check)(context)?;
    let of_rule: Vec<&Exemption> = policy.exemptions.iter().filter(|one| one.rule == rule.name).collect();
    if of_rule.is_empty() {
        return Some(finding);
    }
    let is_exempt = |effect: &Effect| of_rule.iter().any(|one| one.covers(context.action, effect));
    let mut places: Vec<usize> = (0..context.effects.len()).collect();
    // A rule tells one thing at a time, and may have another to tell without it.
    loop {
        let (exempt, kept): (Vec<usize>, Vec<usize>) = places.iter().copied().partition(|place| {
            finding.effects.contains(place) && context.effects.get(*place).is_some_and(is_exempt)
        });
        if exempt.len() < finding.effects.len() {
            return Some(finding);
        }
        let effects: Vec<Effect> =
            kept.iter().filter_map(|place| context.effects.get(*place)).cloned().collect();
        let next = (rule.check)(&RuleContext { effects: &effects, ..*context })?;
        let rests_on = next.effects.iter().filter_map(|place| kept.get(*place).copied()).collect();
        finding = Finding { effects: rests_on, ..next };
        places = kept;
    }
}
