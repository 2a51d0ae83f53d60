//! Sends local data to a host.

use checkrein_effects::{EffectKind, Severity};

use crate::decision::Decision;
use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet, is_external};

pub(super) static RULE: Rule = Rule {
    name: "confirm_upload",
    set: RuleSet::All,
    docs: RuleDocs {
        detects: "Sends local data to a host.",
        danger: "What has been sent cannot be fetched back.",
        example: "curl -F file=@report.csv https://example.invalid",
        instead: "Say what would be sent and to whom, and let the person send it.",
        limits: "Whether the data is harmless is not known.",
    },
    check,
    matches: &[
        "data_upload https://drop.example external",
        "file_read /home/dev/proj/a; data_upload https://drop.example external severity=medium",
        "data_upload registry known severity=medium",
    ],
    ignores: &[
        "data_upload http://localhost:9000 local severity=low",
        "network_request https://docs.rs known",
    ],
};

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let uploads =
        context.select(|effect| effect.kind == EffectKind::DataUpload && effect.severity > Severity::Low);
    let files = context.any(|effect| matches!(effect.kind, EffectKind::FileRead | EffectKind::SecretRead));
    let outside = context.any(|effect| {
        effect.kind == EffectKind::DataUpload
            && is_external(effect)
            && (files || effect.severity >= Severity::High)
    });
    let decision = if outside { Decision::Modify } else { Decision::Warn };
    let reason = format!("this sends local data to {}{}", context.names(&uploads), context.note(&uploads));
    Finding::on(
        uploads,
        RULE.name,
        decision,
        reason,
        &["say what would be sent and to whom, and let the person decide"],
    )
}
