//! Whether the client's own hook reviewed a call already: its record tells, by the number that the model has for the call.
//!
//! Client, hook and gateway see the same call one after the other. What the hook asked about, the user has answered when the call comes here,
//! so nobody is asked twice.

use std::fs;
use std::time::SystemTime;

use checkrein_engine::environment::HostEnvironment;
use checkrein_ledger::{FolderName, last};
use checkrein_protocol::{Action, Enforcement, RecordBody, ReviewRecord, VerdictKind};
use checkrein_review::ActionFingerprint;

/// In how many of the newest sessions a review is looked for (ours): the hook ran a moment ago, or a user just answered.
const SESSIONS: usize = 16;

/// In how many of the newest records of each (ours): calls may run side by side.
const RECORDS: usize = 48;

/// What the client's hook said about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HookReview {
    /// It passed without a question.
    Passed,
    /// The user was asked, and the client went on.
    Asked,
    /// It was refused, and the client went on all the same.
    Refused(String),
}

/// Returns what the client's hook said about a call with this number; `None` where no record tells.
pub(crate) fn of_call(environment: &HostEnvironment, number: &str, action: &Action) -> Option<HookReview> {
    let exact = ActionFingerprint::of(action, &[], &[]).exact;
    // What cannot be read tells nothing, so the call is judged here.
    let mut sessions: Vec<(SystemTime, FolderName)> = Vec::new();
    for folder in environment.state.folders().ok()? {
        let written = fs::metadata(environment.state.ledger(&folder)).and_then(|facts| facts.modified());
        sessions.extend(written.ok().map(|written| (written, folder)));
    }
    sessions.sort_by(|(one, _), (other, _)| other.cmp(one));
    sessions.into_iter().take(SESSIONS).find_map(|(_, folder)| {
        let records = last(&environment.state.ledger(&folder), RECORDS).ok()?;
        records.into_iter().rev().find_map(|record| match record.body {
            RecordBody::Review(review) if is_of(&review, number, action, exact) => Some(said(&review)),
            _ => None,
        })
    })
}

/// Whether a review is of this very call: number, tool and arguments.
fn is_of(review: &ReviewRecord, number: &str, action: &Action, exact: u64) -> bool {
    review.action_id.as_str() == number && review.tool == action.tool && review.exact == exact
}

fn said(review: &ReviewRecord) -> HookReview {
    if review.mode != Enforcement::Enforce {
        return HookReview::Passed;
    }
    match review.verdict {
        VerdictKind::Ok | VerdictKind::Nudge => HookReview::Passed,
        VerdictKind::Escalate if review.answered.is_none() => HookReview::Asked,
        VerdictKind::Escalate | VerdictKind::Block | VerdictKind::Halt => {
            HookReview::Refused(review.reason.clone())
        }
    }
}
