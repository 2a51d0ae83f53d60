//! The numbers and rules behind a verdict, for who wants to know how it came about.

use checkrein_protocol::{GovernanceRecord, Posture, ReviewRecord};
use checkrein_review::sentence;

use crate::phrases;
use crate::render::severity_name;
use crate::terminal::{bold, plain, wrapped};

/// Returns the numbers of a review, in lines that fit the terminal.
pub(super) fn in_words(review: &ReviewRecord) -> String {
    let mut lines = vec![
        format!(
            "{}  verdict {}, decision {}, mode {}, {} µs",
            bold("review"),
            review.verdict.name(),
            review.decision,
            review.mode,
            review.elapsed_us
        ),
        format!("{}  {:.2} {}", bold("risk"), review.risk.score, review.risk.level),
    ];
    lines.extend(review.risk.factors.iter().map(|factor| format!("  {}", plain(factor))));
    match &review.rationality {
        Some(rationality) => {
            lines.push(format!("{}  {:.2} {}", bold("rationality"), rationality.score, rationality.level));
        }
        None => lines.push(format!("{}  not evaluated", bold("rationality"))),
    }
    lines.extend(review.governance.as_deref().map(governance_text));
    if let (Some(confidence), Some(intent)) = (review.confidence, review.intent) {
        lines.push(format!("{}  {confidence:.2}  {}", bold("confidence"), serde_name(&intent)));
    }
    lines.extend(review.policy.as_ref().map(|version| format!("{}  {}", bold("policy"), plain(version))));
    lines.extend(
        review
            .resources
            .map(|resources| resources.in_words())
            .filter(|words| !words.is_empty())
            .map(|words| format!("{}  {words}", bold("resources"))),
    );
    for issue in &review.foreseen {
        let severity = severity_name(issue.severity);
        lines.push(format!(
            "{}  {}, {severity}: {}",
            bold("foreseen"),
            issue.kind.name().replace('_', " "),
            plain(&issue.summary)
        ));
    }
    if !review.effects.is_empty() {
        lines.push(bold("effects"));
    }
    for effect in &review.effects {
        let note = if effect.note.is_empty() { String::new() } else { format!("; {}", effect.note) };
        let cause = if effect.cause.is_empty() { String::new() } else { format!(", by {}", effect.cause) };
        lines.push(plain(&format!(
            "  {} {}, severity {}, stake {}{cause}{note}",
            effect.kind.name(),
            sentence(effect),
            serde_name(&effect.severity),
            serde_name(&effect.stake),
        )));
    }
    let parts =
        [("rule", &review.rules), ("also", &review.further_reasons), ("softened by", &review.mitigations)];
    for (name, texts) in parts {
        lines.extend(texts.iter().map(|text| format!("{}  {}", bold(name), plain(text))));
    }
    if let Some(actor) = &review.actor {
        lines.push(format!("{}  {}", bold("sub-agent"), plain(actor)));
    }
    wrapped(&lines.join("\n"))
}

fn governance_text(governance: &GovernanceRecord) -> String {
    let tier = governance.tier.as_ref().map_or_else(|| "off".to_owned(), |tier| format!("tier {tier}"));
    let mut parts = vec![format!("CTQ {:.2}, {tier}", governance.ctq)];
    let is_remarkable = governance.posture != Posture::Normal;
    parts.extend(is_remarkable.then(|| phrases::posture(governance.posture).to_owned()));
    parts.extend(governance.debt.map(|debt| format!("trust debt {debt:.2}")));
    parts.extend(governance.flag.map(|severity| format!("flag {}", severity_name(severity))));
    if governance.asks_for_review {
        parts.push("asks the user to look at the tier".to_owned());
    }
    parts.extend(governance.fired.iter().map(|fired| format!("fired {}", plain(fired))));
    format!("{}  {}", bold("governance"), parts.join(", "))
}

fn serde_name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
