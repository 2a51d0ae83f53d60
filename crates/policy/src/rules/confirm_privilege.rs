//! Runs with more rights than the agent has, to change the system or what lies outside the task.

use checkrein_protocol::{Decision, EffectKind, Nature, Severity, Stake};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "confirm_privilege",
    set: RuleSet::All,
    docs: RuleDocs {
        detects: "Runs with more rights than the agent has, to change the system or what lies outside the task.",
        danger: "With more rights the same slip does more harm.",
        example: "sudo rm /etc/hosts",
        instead: "Do without the rights: install for the user, use a port above 1024, write below the workspace.",
        limits: "With a harmless command behind it there is only a warning.",
    },
    check,
    matches: &[
        "privilege_escalation root; file_modify /etc/hosts unsaved",
        "privilege_escalation root; system_modification nginx",
        "privilege_escalation root; file_delete /var/lib/app/cache.db nothing",
        "privilege_escalation root",
    ],
    ignores: &["file_modify /home/dev/proj/a unsaved"],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let raised = context.select(|effect| effect.kind == EffectKind::PrivilegeEscalation);
    let strong = context
        .any(|effect| effect.kind == EffectKind::PrivilegeEscalation && effect.severity >= Severity::High);
    let changes = context.any(|effect| match effect.kind {
        EffectKind::SystemModification
        | EffectKind::Persistence
        | EffectKind::ProcessKill
        | EffectKind::RemoteCodeExecution
        | EffectKind::InfrastructureDestroy
        | EffectKind::DatastoreDestroy
        | EffectKind::GuardTampering
        | EffectKind::Opaque => true,
        // With more rights also that is changed which cannot be seen beforehand.
        EffectKind::FileModify | EffectKind::FileDelete => {
            effect.stake != Stake::Regenerable && context.is_outside(effect)
        }
        EffectKind::PermissionChange => effect.stake > Stake::Regenerable && context.is_outside(effect),
        // An empty directory takes nothing, and holds nothing that runs.
        EffectKind::FileCreate if effect.nature == Nature::EmptyDirectory => false,
        EffectKind::FileCreate => effect.severity >= Severity::Medium && context.is_outside(effect),
        EffectKind::FileRead
        | EffectKind::SecretRead
        | EffectKind::NetworkRequest
        | EffectKind::DataUpload
        | EffectKind::PackageInstall
        | EffectKind::ProcessSpawn
        | EffectKind::PrivilegeEscalation
        | EffectKind::VcsLocalLoss
        | EffectKind::VcsHistoryRewrite
        | EffectKind::VcsRemoteUpdate
        | EffectKind::InfrastructureChange
        | EffectKind::DatastoreChange
        | EffectKind::Publish => false,
    });
    let decision = if strong || changes { Decision::Modify } else { Decision::Warn };
    let reason = format!("this runs with the permissions of {}", context.named(&raised));
    let alternatives = ["run it without elevated permissions", "let the user run the part that needs them"];
    Finding::on(raised, RULE.name, decision, reason, &alternatives)
}
