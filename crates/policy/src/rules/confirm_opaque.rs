//! Runs something that cannot be understood and shows signs of harm.

use checkrein_protocol::{Decision, EffectKind, Severity};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "confirm_opaque",
    set: RuleSet::All,
    docs: RuleDocs {
        detects: "Runs something that cannot be understood and shows signs of harm.",
        danger: "Code that cannot be read cannot be judged, and code that was made unreadable is suspicious.",
        example: "eval \"$(echo cm0gLXJmIH4= | base64 -d)\", when it cannot be decoded",
        instead: "Write the command out.",
        limits: "Ordinary unknown programs are not asked about.",
    },
    check,
    matches: &["opaque ? severity=high", "opaque script.sh severity=critical"],
    ignores: &["opaque ./my-tool", "opaque ? severity=low"],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let unknown =
        context.select(|effect| effect.kind == EffectKind::Opaque && effect.severity >= Severity::High);
    let grave =
        context.any(|effect| effect.kind == EffectKind::Opaque && effect.severity == Severity::Critical);
    let decision = if grave { Decision::Block } else { Decision::Modify };
    let is_named = context.select(|effect| effect.target.text().is_some());
    let (what, note) = (context.names(&unknown), context.note(&unknown));
    let reason = if unknown.iter().any(|one| is_named.contains(one)) {
        format!("what {what} would do cannot be determined before it runs{note}")
    } else {
        format!("what this would do cannot be determined before it runs{note}")
    };
    let alternatives = ["write the command in plain text", "do it in smaller steps that can be read"];
    Finding::on(unknown, RULE.name, decision, reason, &alternatives)
}
