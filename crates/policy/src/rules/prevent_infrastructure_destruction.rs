//! Destroys infrastructure: clusters, instances, stacks, buckets, networks.

use checkrein_protocol::{Decision, EffectKind, Severity};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "prevent_infrastructure_destruction",
    set: RuleSet::Essential,
    docs: RuleDocs {
        detects: "Destroys infrastructure: clusters, instances, stacks, buckets, networks.",
        danger: "It takes running systems away from the people who use them.",
        example: "terraform destroy",
        instead: "Show the plan and let the user apply it.",
        limits: "Test and production are told apart only by name; a virtual machine of one's own or a single image is only warned about.",
    },
    check,
    matches: &["infrastructure_destroy aws_instance.web", "infrastructure_destroy cluster severity=critical"],
    ignores: &["infrastructure_change deployment/web", "infrastructure_destroy kind-cluster severity=low"],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let lost = context
        .select(|effect| effect.kind == EffectKind::InfrastructureDestroy && effect.severity > Severity::Low);
    let worst =
        lost.iter().filter_map(|index| context.effects.get(*index)).map(|effect| effect.severity).max();
    let decision = match worst {
        Some(Severity::Critical) => Decision::Block,
        Some(Severity::High) => Decision::Modify,
        Some(Severity::Medium | Severity::Low) | None => Decision::Warn,
    };
    let reason = format!("this destroys infrastructure: {}", context.named(&lost));
    let alternatives = ["show what would be destroyed (plan, dry run) and let the user decide"];
    Finding::on(lost, RULE.name, decision, reason, &alternatives)
}
