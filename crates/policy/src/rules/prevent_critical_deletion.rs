//! Deletes or empties what must never be lost: the home directory, the system, a whole repository, credentials.

use checkrein_protocol::{Decision, EffectKind, Stake};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "prevent_critical_deletion",
    set: RuleSet::Essential,
    docs: RuleDocs {
        detects: "Deletes or empties what must never be lost: the home directory, the system, a whole repository, credentials.",
        danger: "The loss ends the work of the user or the machine, not only of this session.",
        example: "rm ~/.ssh/id_ed25519",
        instead: "Ask the user to do it.",
        limits: "What is critical follows from well-known places; a precious file in an ordinary place counts as unsaved.",
    },
    check,
    matches: &["file_delete /home/dev/.ssh/id_ed25519 critical", "file_delete / recursive critical"],
    ignores: &["file_delete /home/dev/proj/a.txt unsaved", "file_modify /home/dev/proj/a.txt unsaved"],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let lost =
        context.select(|effect| effect.kind == EffectKind::FileDelete && effect.stake == Stake::Critical);
    let reason = format!("this deletes {}, which must never be lost", context.named(&lost));
    Finding::on(lost, RULE.name, Decision::Block, reason, &["leave it alone, or ask the user to delete it"])
}
