//! Makes something run later by itself: shell start-up files, cron, git hooks, ssh keys, units.

use checkrein_protocol::{Decision, EffectKind, Severity};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "confirm_persistence",
    set: RuleSet::All,
    docs: RuleDocs {
        detects: "Makes something run later by itself: shell start-up files, cron, git hooks, ssh keys, units.",
        danger: "It goes on after the session has ended, out of everyone's sight.",
        example: "echo 'alias ls=...' >> ~/.bashrc",
        instead: "Run it when it is needed, or show the line and let the user add it.",
        limits: "Start-up places are a list of well-known ones.",
    },
    check,
    matches: &["persistence /home/dev/.bashrc", "persistence crontab severity=medium"],
    ignores: &[
        "file_modify /home/dev/proj/setup.sh unsaved",
        "persistence /home/dev/proj/.git/hooks/pre-commit severity=low",
    ],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let lasting =
        context.select(|effect| effect.kind == EffectKind::Persistence && effect.severity > Severity::Low);
    let grave =
        context.any(|effect| effect.kind == EffectKind::Persistence && effect.severity == Severity::Critical);
    let serious =
        context.any(|effect| effect.kind == EffectKind::Persistence && effect.severity >= Severity::High);
    let decision = match (grave, serious) {
        (true, _) => Decision::Block,
        (false, true) => Decision::Modify,
        (false, false) => Decision::Warn,
    };
    let reason = format!("this sets up something that runs later by itself: {}", context.named(&lasting));
    let alternatives = ["show the lines and let the user add them", "do it for this session only"];
    Finding::on(lasting, RULE.name, decision, reason, &alternatives)
}
