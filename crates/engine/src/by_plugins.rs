//! What plugins of the user said about a session, as far as it makes the verdict about a call stricter.

use checkrein_protocol::Severity;
use checkrein_review::{Escalation, Factor, RiskLevel, VerdictKind};
use checkrein_session::HeldPluginIssue;

use crate::answering::changes_something;
use crate::docket::{Circumstances, Docket};

/// What a grave issue adds to the risk while it stands: as an issue of our own (seed 002, +.1 for each). One that is among the active
/// issues of the session adds it there.
const OF_ISSUE: f64 = 0.1;
/// What all plugins together add at most (ours): what only reads is never asked about for their sake.
const MOST: f64 = 0.5;

/// Raises the risk by what plugins said, tells the agent of their issues once, and asks about what changes something while a critical one
/// stands.
pub(crate) fn plugins(docket: &mut Docket, now: &Circumstances<'_>) {
    let findings = now.state.plugins();
    let programs = docket.review().programs.clone();
    let mut factors: Vec<Factor> = findings
        .factors()
        .filter(|factor| factor.concerns(&programs))
        .map(|factor| named(&factor.plugin, factor.amount, factor.reason.clone()))
        .collect();
    let grave =
        findings.issues().filter(|issue| issue.severity >= Severity::High && !now.state.is_active(issue));
    factors.extend(grave.map(|issue| named(&issue.plugin, OF_ISSUE, issue.summary.clone())));
    let mut left = MOST;
    for mut factor in factors {
        factor.amount = factor.amount.clamp(0.0, left);
        left -= factor.amount;
        if factor.amount > 0.0 {
            raise(docket, factor, now);
        }
    }
    for issue in findings.issues() {
        tell(docket, issue);
    }
}

fn named(plugin: &str, amount: f64, detail: String) -> Factor {
    Factor { name: format!("plugin {plugin}"), amount, detail }
}

/// Adds a factor. Where it takes the risk into another band, that is the reason of what follows.
fn raise(docket: &mut Docket, factor: Factor, now: &Circumstances<'_>) {
    let (name, detail) = (factor.name.clone(), factor.detail.clone());
    let least = match docket.raise_risk(factor, now.config) {
        None | Some(RiskLevel::Low) => return,
        Some(RiskLevel::Medium) => VerdictKind::Nudge,
        Some(RiskLevel::High | RiskLevel::Critical) => VerdictKind::Escalate,
    };
    let score = docket.review().risk.score;
    docket.escalate(Escalation::new(
        least,
        format!("{name} raises the risk of this call to {score}: {detail}"),
    ));
}

fn tell(docket: &mut Docket, issue: &HeldPluginIssue) {
    let reason = format!("plugin {} sees {}: {}", issue.plugin, issue.kind, issue.summary);
    let asks = issue.severity == Severity::Critical && changes_something(docket.review());
    if asks
        && docket
            .escalate(Escalation::new(VerdictKind::Escalate, reason.as_str()).instead(issue.advice.as_str()))
    {
        return;
    }
    let is_told = issue.is_new()
        && !docket
            .escalate(Escalation::new(VerdictKind::Nudge, reason.as_str()).instead(issue.advice.as_str()));
    if is_told {
        docket.remark(&reason);
        docket.advise(issue.advice.clone());
    }
}
