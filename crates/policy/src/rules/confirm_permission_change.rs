//! Changes who may read, write or run what: of something that must not be touched, of a whole tree outside the task, or of files that only
//! the output of a program names.

use checkrein_protocol::{Decision, Depth, Effect, EffectKind, Nature, Severity, Stake};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "confirm_permission_change",
    set: RuleSet::All,
    docs: RuleDocs {
        detects: "Changes who may read, write or run what: of something that must not be touched, of a whole tree outside the task, or of files that only the output of a program names.",
        danger: "The old permissions are not recorded anywhere.",
        example: "chmod -R 777 /",
        instead: "Change the mode of the files that need it, by name.",
        limits: "Modes are not judged, only where they change.",
    },
    check,
    matches: &[
        "permission_change /etc critical recursive",
        "permission_change /home/dev/other recursive recoverable",
        "permission_change /home/dev/proj/a unsaved severity=high",
    ],
    ignores: &[
        "permission_change /home/dev/proj/run.sh recoverable",
        "permission_change /home/dev/proj/bin recursive recoverable",
        "permission_change /tmp/x recursive recoverable",
        "permission_change /srv/gone recursive nothing",
    ],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let changes = |effect: &Effect| effect.kind == EffectKind::PermissionChange;
    let critical = context.any(|effect| {
        changes(effect) && (effect.stake == Stake::Critical || effect.severity == Severity::Critical)
    });
    let named = context.select(|effect| {
        changes(effect) && effect.nature == Nature::NamedByOutput && effect.stake == Stake::Unsaved
    });
    if !named.is_empty() && !critical {
        return Finding::on(
            named,
            RULE.name,
            Decision::Modify,
            "this changes the permissions of files that the output of a program names; which ones, and where, cannot be determined \
             before it runs, and the old permissions are not recorded anywhere"
                .to_owned(),
            &["print the list first, and give the files that have to change by name"],
        );
    }
    let grave = context.select(|effect| {
        changes(effect)
            && effect.target.text().is_some()
            && (effect.severity >= Severity::High
                || effect.stake == Stake::Critical
                || (effect.depth == Depth::Recursive
                    && effect.stake > Stake::Nothing
                    && context.is_outside(effect)))
    });
    let decision = if critical { Decision::Block } else { Decision::Modify };
    let reason = format!(
        "this changes the permissions of {}, and the old permissions are not recorded anywhere",
        context.named(&grave)
    );
    Finding::on(grave, RULE.name, decision, reason, &["change the mode of the files that need it, by name"])
}
