//! Destroys infrastructure: clusters, instances, stacks, buckets, networks.

use checkrein_effects::{EffectKind, Severity};

use crate::decision::Decision;
use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "prevent_infrastructure_destruction",
    set: RuleSet::Essential,
    docs: RuleDocs {
        detects: "Destroys infrastructure: clusters, instances, stacks, buckets, networks.",
        danger: "It takes running systems away from the people who use them.",
        example: "terraform destroy",
        instead: "Show the plan and let the person apply it.",
        limits: "Test and production are told apart only by name.",
    },
    check,
    matches: &["infrastructure_destroy aws_instance.web", "infrastructure_destroy cluster severity=critical"],
    ignores: &["infrastructure_change deployment/web", "infrastructure_destroy kind-cluster severity=low"],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let lost = context
        .select(|effect| effect.kind == EffectKind::InfrastructureDestroy && effect.severity > Severity::Low);
    let grave = context.any(|effect| {
        effect.kind == EffectKind::InfrastructureDestroy && effect.severity == Severity::Critical
    });
    let decision = if grave { Decision::Block } else { Decision::Modify };
    let reason = format!("this destroys infrastructure: {}{}", context.names(&lost), context.note(&lost));
    let alternatives = ["show what would be destroyed (plan, dry run) and let the person decide"];
    Finding::on(lost, RULE.name, decision, reason, &alternatives)
}
