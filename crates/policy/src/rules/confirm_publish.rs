//! Makes something public: packages, releases, posts.

use checkrein_protocol::{Decision, EffectKind, Severity};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "confirm_publish",
    set: RuleSet::All,
    docs: RuleDocs {
        detects: "Makes something public: packages, releases, posts.",
        danger: "What is public stays public; a version number is used up for ever.",
        example: "npm publish",
        instead: "`npm publish --dry-run`, and let the user publish.",
        limits: "A private registry is not told apart from a public one.",
    },
    check,
    matches: &["publish my-package", "publish registry/image severity=medium"],
    ignores: &["publish preview severity=low", "vcs_remote_update origin/main"],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let published =
        context.select(|effect| effect.kind == EffectKind::Publish && effect.severity > Severity::Low);
    let serious =
        context.any(|effect| effect.kind == EffectKind::Publish && effect.severity >= Severity::High);
    // What can be edited or closed later is no version that is used up for ever.
    let lasts =
        if serious { "which cannot be taken back" } else { "and others may read it before it is taken back" };
    let reason = format!("this publishes {}, {lasts}", context.named(&published));
    let decision = if serious { Decision::Modify } else { Decision::Warn };
    let alternatives = ["do a dry run and show what would be published", "let the user publish"];
    Finding::on(published, RULE.name, decision, reason, &alternatives)
}
