//! Changes a remote repository, infrastructure or a store in a grave way, such as who may do what.

use checkrein_protocol::{Decision, EffectKind, Severity};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet};

pub(super) static RULE: Rule = Rule {
    name: "confirm_remote_change",
    set: RuleSet::All,
    docs: RuleDocs {
        detects: "Changes a remote repository, infrastructure or a store in a grave way, such as who may do what.",
        danger: "It takes effect at once, for others, outside of this machine.",
        example: "gcloud projects add-iam-policy-binding prod --member=allUsers",
        instead: "Show the change and let the user make it.",
        limits: "Ordinary pushes, deployments and writes are not asked about.",
    },
    check,
    matches: &[
        "vcs_remote_update origin severity=high",
        "infrastructure_change iam severity=high",
        "datastore_change grants severity=high",
    ],
    ignores: &[
        "vcs_remote_update origin/main",
        "infrastructure_change deployment/web",
        "datastore_change users",
    ],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let grave = context.select(|effect| {
        effect.severity >= Severity::High
            && matches!(
                effect.kind,
                EffectKind::VcsRemoteUpdate | EffectKind::InfrastructureChange | EffectKind::DatastoreChange
            )
    });
    let reason = format!("this changes {}, which affects others at once", context.named(&grave));
    Finding::on(grave, RULE.name, Decision::Modify, reason, &["show the change and let the user make it"])
}
