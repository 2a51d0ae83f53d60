//! Rewrites history that others may have.

use checkrein_protocol::{Decision, EffectKind, Severity};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "prevent_history_rewrite",
    set: RuleSet::Essential,
    docs: RuleDocs {
        detects: "Rewrites history that others may have.",
        danger: "Commits of others disappear from the branch without a trace in it.",
        example: "git push --force",
        instead: "`git push --force-with-lease`, or a new branch.",
        limits: "Whether others have the commits is not known; a branch that is one's own is asked about too.",
    },
    check,
    matches: &["vcs_history_rewrite origin/main", "vcs_history_rewrite main severity=critical"],
    ignores: &["vcs_remote_update origin/feature", "vcs_history_rewrite feature severity=low"],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let rewrites = context
        .select(|effect| effect.kind == EffectKind::VcsHistoryRewrite && effect.severity >= Severity::Medium);
    let grave = context
        .any(|effect| effect.kind == EffectKind::VcsHistoryRewrite && effect.severity == Severity::Critical);
    let decision = if grave { Decision::Block } else { Decision::Modify };
    let reason = format!(
        "this rewrites the history of {}{}, and commits of others can be lost by it",
        context.names(&rewrites),
        context.note(&rewrites)
    );
    let alternatives = ["git push --force-with-lease, after a fetch", "push to a new branch"];
    Finding::on(rewrites, RULE.name, decision, reason, &alternatives)
}
