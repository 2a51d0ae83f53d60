//! Changes the machine: services, kernel, users, disks, firewall.

use checkrein_protocol::{Decision, EffectKind, Severity};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "prevent_system_modification",
    set: RuleSet::Essential,
    docs: RuleDocs {
        detects: "Changes the machine: services, kernel, users, disks, firewall.",
        danger: "It concerns everything that runs on the machine, and no snapshot of files takes it back.",
        example: "mkfs.ext4 /dev/sda1",
        instead: "Say what should change and why, and let the user do it.",
        limits: "Containers are not told apart from the machine itself.",
    },
    check,
    matches: &[
        "system_modification /dev/sda severity=critical",
        "system_modification nginx",
        "system_modification kernel severity=medium",
    ],
    ignores: &["process_spawn server", "system_modification clock severity=low"],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let changes = context
        .select(|effect| effect.kind == EffectKind::SystemModification && effect.severity > Severity::Low);
    let grave = context
        .any(|effect| effect.kind == EffectKind::SystemModification && effect.severity == Severity::Critical);
    let serious = context
        .any(|effect| effect.kind == EffectKind::SystemModification && effect.severity >= Severity::High);
    let decision = match (grave, serious) {
        (true, _) => Decision::Block,
        (false, true) => Decision::Modify,
        (false, false) => Decision::Warn,
    };
    let reason = format!(
        "this changes the machine itself: {}, which affects more than this task",
        context.named(&changes)
    );
    Finding::on(
        changes,
        RULE.name,
        decision,
        reason,
        &["say what should change and why, and let the user do it"],
    )
}
