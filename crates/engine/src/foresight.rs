//! What the detectors would say once a call has run, as a part of its review (seed 001).

use checkrein_protocol::{ForeseenIssue, Severity};
use checkrein_review::{Escalation, Factor, Review, RiskLevel, VerdictKind};
use checkrein_session::{PlannedCall, file_operations};

use crate::answering::pattern_settings;
use crate::docket::{Circumstances, Docket};
use crate::records::{RECORDED_EFFECTS, RECORDED_PROGRAMS};

/// What an issue that would be grave adds to the risk: as one that stands (seed 002, +.1 for each).
const OF_ISSUE: f64 = 0.1;

/// Hands the call to the detectors as if it had run, and notes what they would say. A grave issue raises the risk as it will once it stands;
/// what that changes is a hint at most, since how the call ends is not known.
pub(crate) fn foreseen(docket: &mut Docket, now: &Circumstances<'_>) {
    if now.halted.is_some() || docket.review().verdict.kind >= VerdictKind::Block {
        // It will not run.
        return;
    }
    let issues = now.state.foreseen(&planned(docket.review(), now), &pattern_settings(now.config));
    let grave: Vec<ForeseenIssue> =
        issues.iter().filter(|issue| issue.severity >= Severity::High).cloned().collect();
    docket.foresee(issues);
    for issue in grave {
        let summary = issue.summary.clone();
        let factor = Factor { name: "foreseen".to_owned(), amount: OF_ISSUE, detail: issue.summary };
        match docket.raise_risk(factor, now.config) {
            None | Some(RiskLevel::Low) => {}
            Some(RiskLevel::Medium | RiskLevel::High | RiskLevel::Critical) => {
                let score = docket.review().risk.score;
                let reason =
                    format!("with this call the session goes wrong, which makes its risk {score}: {summary}");
                docket.escalate(Escalation::new(VerdictKind::Nudge, reason));
            }
        }
    }
}

/// The call, as the detectors will be told of it by its record.
pub(crate) fn planned<'a>(review: &'a Review, now: &Circumstances<'a>) -> PlannedCall<'a> {
    let all = review.side_effects.effects.as_slice();
    let (effects, further) = all.split_at(all.len().min(RECORDED_EFFECTS));
    let programs = review.programs.as_slice();
    PlannedCall {
        tool: &now.action.tool,
        input: &now.action.input,
        cwd: now.action.cwd.as_str(),
        actor: now.actor.map(|actor| actor.0.as_str()),
        effects,
        further_file_operations: file_operations(further),
        programs: programs.get(..RECORDED_PROGRAMS).unwrap_or(programs),
        goal_alignment: review.rationality.goal_alignment.map(checkrein_review::Score::value),
        exact: review.fingerprint.exact,
        substance: review.fingerprint.substance,
        without_options: review.fingerprint.without_options,
    }
}
