//! Throws away work that is in no commit, or commits that nothing names any more.

use checkrein_protocol::{Decision, Effect, EffectKind, Nature, Severity, Stake, Target};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "prevent_version_control_loss",
    set: RuleSet::Essential,
    docs: RuleDocs {
        detects: "Throws away work that is in no commit, or commits that nothing names any more.",
        danger: "Version control is what brings work back; what it never held, or no longer names, is gone.",
        example: "git reset --hard, with changed files",
        instead: "`git stash`, or a commit on a branch of its own.",
        limits: "Silent when nothing is lost, such as a hard reset of a clean work tree.",
    },
    check,
    matches: &[
        "vcs_local_loss HEAD unsaved",
        "vcs_local_loss refs/stash severity=high",
        "vcs_local_loss . critical",
    ],
    ignores: &["vcs_local_loss HEAD nothing", "vcs_local_loss feature recoverable"],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let lost = |effect: &Effect| {
        effect.kind == EffectKind::VcsLocalLoss
            && match effect.target {
                // A name can be given again as long as its commits are reachable; how bad its loss is, its severity says.
                Target::Reference(_) => effect.severity >= Severity::High,
                Target::Path(_)
                | Target::Glob(_)
                | Target::Host(_)
                | Target::Process(_)
                | Target::Service(_)
                | Target::Unknown => effect.stake >= Stake::Unsaved || effect.severity >= Severity::High,
            }
    };
    let losses = context.select(lost);
    let grave = context.any(|effect| {
        lost(effect) && (effect.stake == Stake::Critical || effect.severity == Severity::Critical)
    });
    let decision = if grave { Decision::Block } else { Decision::Modify };
    let reason = format!("this discards work that is in no commit: {}", context.named(&losses));
    // Commits that nothing names are in no work tree: no stash and no commit brings them back.
    let mut meant = losses.iter().filter_map(|place| context.effects.get(*place));
    let alternatives = if meant.all(|effect| effect.nature == Nature::ClearedAway) {
        ["git gc, which keeps what is younger than two weeks", "git branch NAME COMMIT, which keeps a commit"]
    } else {
        ["git stash push --include-untracked, then go on", "commit it on a branch of its own first"]
    };
    Finding::on(losses, RULE.name, decision, reason, &alternatives)
}
