//! Questions that are not put again: about a call that the user refused and that is made again unchanged, and to nobody who hears them.

use checkrein_ledger::last;
use checkrein_protocol::{RecordBody, Timestamp};
use checkrein_session::SessionLedger;

use super::pending::{self, ApprovalAnswer, ApprovalEnd, ApprovalRequest};
use super::waiting::{AGAIN, Asked, SAID_NO, Waited};
use crate::context::Context;
use crate::servers;
use crate::text::counted;

/// For how long a no holds for the same call of its session without another question, in milliseconds (ours).
const NO_HOLDS: u64 = 10 * 60 * 1000;
/// After how many questions of a session that nobody answered the next ones do not wait, where nobody hears of them (ours).
const UNHEARD: usize = 2;
/// For how long that holds, in milliseconds (ours).
const UNHEARD_HOLDS: u64 = NO_HOLDS;
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

/// Whether nobody hears a question: no channel tells of it, no server shows it, and the newest ones of the session had no answer. A user
/// who looks at the list of their own accord had the time for it.
pub(super) fn is_unheard(context: &Context, ledger: &SessionLedger) -> bool {
    let environment = context.environment();
    let channels = &context.policy().config().interventions.emergency_stop.notification_channels;
    if !channels.is_empty() || !servers::answering(environment).is_empty() {
        return false;
    }
    let Ok(all) = pending::all(environment) else { return false };
    let settled: Vec<_> = all
        .into_iter()
        .filter(|one| one.session == *ledger.folder())
        .filter_map(|one| one.settled)
        .rev()
        .take(UNHEARD)
        .collect();
    let [newest, ..] = settled.as_slice() else { return false };
    let now = environment.now();
    settled.len() == UNHEARD
        && settled.iter().all(|one| one.end == ApprovalEnd::Expired)
        && now.0.saturating_sub(newest.at.0) < UNHEARD_HOLDS
        && !has_spoken_since(ledger, newest.at)
}

/// Whether the user wrote something since then, as far as the newest records tell.
fn has_spoken_since(ledger: &SessionLedger, at: Timestamp) -> bool {
    let newest = last(&ledger.path(), LOOKED_THROUGH).unwrap_or_default();
    newest.iter().any(|record| record.at > at && matches!(record.body, RecordBody::Prompt { .. }))
}
