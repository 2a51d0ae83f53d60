//! Whether the client's own hook reviewed a call already: its record tells, by the number that the model has for the call, or, where the client
//! sends none, by what the newest call of the client's session is.
//!
//! Client, hook and gateway see the same call one after the other. What the hook asked about, the user has answered when the call comes here,
//! so nobody is asked twice.

use std::collections::HashSet;
use std::fs;
use std::time::SystemTime;

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::lineage;
use checkrein_ledger::{FolderName, last};
use checkrein_protocol::{Action, ActionId, CallDisposition, RecordBody, ReviewRecord};
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

/// Returns the same by the content of the call alone: the newest review of just this call in the session of the client that started this
/// gateway, where that call has not ended. The hook comes right before the server, so this is the call that it let go on.
pub(crate) fn of_content(environment: &HostEnvironment, action: &Action) -> Option<HookReview> {
    let exact = ActionFingerprint::of(action, &[], &[]).exact;
    let session = lineage::session_above(environment)?;
    let records = last(&environment.state.ledger(&session), RECORDS).ok()?;
    let mut ended: HashSet<&ActionId> = HashSet::new();
    for record in records.iter().rev() {
        match &record.body {
            RecordBody::Outcome(outcome) => {
                ended.insert(&outcome.action_id);
            }
            RecordBody::Review(review) if review.tool == action.tool && review.exact == exact => {
                return (!ended.contains(&review.action_id)).then(|| said(review));
            }
            _ => {}
        }
    }
    None
}

/// Whether a review is of this very call: number, tool and arguments.
fn is_of(review: &ReviewRecord, number: &str, action: &Action, exact: u64) -> bool {
    review.action_id.as_str() == number && review.tool == action.tool && review.exact == exact
}

fn said(review: &ReviewRecord) -> HookReview {
    match review.disposition() {
        CallDisposition::LetRun => HookReview::Passed,
        CallDisposition::Asked => HookReview::Asked,
        CallDisposition::Refused => HookReview::Refused(review.reason.clone()),
    }
}
