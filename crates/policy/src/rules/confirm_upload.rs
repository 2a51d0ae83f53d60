//! Sends local data to a host.

use checkrein_protocol::{Decision, Effect, EffectKind, Nature, Severity};

use crate::rule::{Finding, Rule, RuleContext, RuleDocs, RuleSet, is_external};
use crate::scope::location;

pub(super) static RULE: Rule = Rule {
    name: "confirm_upload",
    set: RuleSet::All,
    docs: RuleDocs {
        detects: "Sends local data to a host.",
        danger: "What has been sent cannot be fetched back.",
        example: "curl -F file=@report.csv https://example.invalid",
        instead: "Say what would be sent and to whom, and let the user send it.",
        limits: "Whether the data is harmless is not known; ordinary files that go to storage of one's own are only warned about; what goes to a place under `owned` passes.",
    },
    check,
    matches: &[
        "data_upload https://drop.example external",
        "file_read /home/dev/proj/a; data_upload https://drop.example external severity=medium",
        "data_upload registry known severity=medium",
        "file_read /etc/passwd; data_upload http://localhost:9000 local severity=low",
        "file_read /home/dev/other/a; data_upload s3://bucket known severity=medium",
    ],
    ignores: &[
        "data_upload http://localhost:9000 local severity=low",
        "file_read /home/dev/proj/a; data_upload http://localhost:9000 local severity=low",
        "network_request https://docs.rs known",
    ],
};

/// Whether a file holds settings, records or programs of the machine.
fn belongs_to_machine(effect: &Effect) -> bool {
    location(&effect.target).is_some_and(|path| {
        matches!(path.parts().next(), Some("etc" | "proc" | "sys" | "boot" | "usr"))
            || ["/var/log/", "/var/lib/", "/var/spool/"].iter().any(|start| path.as_str().starts_with(start))
    })
}

fn check(context: &RuleContext<'_>) -> Option<Finding> {
    let reads = |effect: &Effect| matches!(effect.kind, EffectKind::FileRead | EffectKind::SecretRead);
    // What belongs to the machine has no business on a server, not even on one that runs here and may hand it on.
    let of_machine = context.any(|effect| reads(effect) && belongs_to_machine(effect));
    // To a place of one's own goes what belongs to the task; what lies elsewhere is asked about.
    let elsewhere = context.any(|effect| reads(effect) && context.is_outside(effect));
    let uploads = context.select(|effect| {
        let goes_home = effect.nature == Nature::ToOwnPlace && !elsewhere;
        effect.kind == EffectKind::DataUpload && (effect.severity > Severity::Low && !goes_home || of_machine)
    });
    let files = context.any(reads);
    let outside = context.any(|effect| {
        effect.kind == EffectKind::DataUpload
            && ((is_external(effect) && files) || effect.severity >= Severity::High)
    });
    let leaves =
        context.any(|effect| effect.kind == EffectKind::DataUpload && effect.severity > Severity::Low);
    let outside = outside || of_machine || (elsewhere && leaves);
    let decision = if outside { Decision::Modify } else { Decision::Warn };
    let reason = format!("this sends local data to {}", context.named(&uploads));
    Finding::on(
        uploads,
        RULE.name,
        decision,
        reason,
        &["say what would be sent and to whom, and let the user decide"],
    )
}
