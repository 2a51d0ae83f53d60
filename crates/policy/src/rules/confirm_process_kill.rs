//! Ends processes that may not belong to the session.

use checkrein_protocol::{Decision, EffectKind, Severity};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "confirm_process_kill",
    set: RuleSet::All,
    docs: RuleDocs {
        detects: "Ends processes that may not belong to the session.",
        danger: "The work of other programs, or of the user, ends with them.",
        example: "pkill -f python",
        instead: "End the process by the number under which this session started it.",
        limits: "Which processes the session started is not always known.",
    },
    check,
    matches: &["process_kill python severity=high", "process_kill -1 severity=critical"],
    ignores: &["process_kill 4711", "process_kill vite severity=low"],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let ended =
        context.select(|effect| effect.kind == EffectKind::ProcessKill && effect.severity >= Severity::High);
    let grave =
        context.any(|effect| effect.kind == EffectKind::ProcessKill && effect.severity == Severity::Critical);
    let decision = if grave { Decision::Block } else { Decision::Modify };
    let reason = format!("this ends processes that may not belong to this task: {}", context.named(&ended));
    let alternatives = ["end the process by its number, after looking at what it is"];
    Finding::on(ended, RULE.name, decision, reason, &alternatives)
}
