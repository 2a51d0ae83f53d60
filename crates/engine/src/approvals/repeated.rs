//! A call that was refused by the user and is made again unchanged: they need not say no once more.

use checkrein_ledger::last;
use checkrein_protocol::{RecordBody, Timestamp};
use checkrein_session::SessionLedger;

use super::pending::{self, ApprovalAnswer, ApprovalEnd, ApprovalRequest};
use super::waiting::{AGAIN, Asked, SAID_NO, Waited};
use crate::context::Context;
use crate::text::counted;

/// For how long a no holds for the same call of its session without another question, in milliseconds (ours).
const NO_HOLDS: u64 = 10 * 60 * 1000;
/// In how many of the newest records it is looked for that the user spoke (ours).
const LOOKED_THROUGH: usize = 256;

/// The answer that the user gave a moment ago to the same call of the session, unchanged: a no, which they need not say again. What they
/// allowed since is asked about no more, and what they wrote since may have lifted it.
pub(super) fn said_no_before(context: &Context, ledger: &SessionLedger, asked: &Asked<'_>) -> Option<Waited> {
    let environment = context.environment();
    let now = environment.now();
    let is_same = |one: &ApprovalRequest| {
        let review = &one.review;
        one.session == *ledger.folder()
            && review.digest.is_some()
            && (&review.digest, &review.cwd, &review.code)
                == (&asked.record.digest, &asked.record.cwd, &asked.record.code)
    };
    let newest = pending::all(environment).ok()?.into_iter().rfind(is_same)?;
    let settled = newest.settled.filter(|settled| settled.end == ApprovalEnd::Denied)?;
    let Some(ApprovalAnswer::No { message }) = &settled.answer else { return None };
    let since = now.0.checked_sub(settled.at.0).filter(|since| *since < NO_HOLDS)?;
    if has_spoken_since(ledger, settled.at) {
        return None;
    }
    let said = message.as_ref().map(|message| format!("The user says: {message}\n")).unwrap_or_default();
    let ago = counted(since.div_ceil(60_000).max(1), "minute");
    Some(Waited::Refused {
        why: format!("the user was asked about this very call less than {ago} ago and said no"),
        next: format!("{said}{AGAIN}, unless the user's words say otherwise: go on without it."),
        in_the_record: match said.trim() {
            "" => format!("{SAID_NO} less than {ago} ago"),
            said => format!("{SAID_NO} less than {ago} ago. {said}"),
        },
        acknowledgement: None,
    })
}

/// Whether the user wrote something since then, as far as the newest records tell.
fn has_spoken_since(ledger: &SessionLedger, at: Timestamp) -> bool {
    let newest = last(&ledger.path(), LOOKED_THROUGH).unwrap_or_default();
    newest.iter().any(|record| record.at > at && matches!(record.body, RecordBody::Prompt { .. }))
}
