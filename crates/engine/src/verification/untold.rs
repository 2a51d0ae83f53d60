//! What a call left whose client never tells of an end: its session goes on by itself, so the call is over, and what stands there at that
//! moment is looked at as it would be at its end.

use checkrein_ledger::last;
use checkrein_protocol::{AbsolutePath, CallDisposition, Record, RecordBody, VerdictKind};
use checkrein_session::{SessionLedger, SessionState, TURN_END_EVENTS};
use checkrein_world::changes::{Before, real_path};
use checkrein_world::find_workspace;

use super::{Found, RECORDS, keep_footprint, look_around, since, store, stored};
use crate::context::Context;
use crate::session_ledger;

/// Keeps what the newest call of a session left, which goes on by itself: with another call, or at the end of a turn.
///
/// Only in a session that never told of an end. Where others are told, one that is missing was not reached: the user said no to the call, or
/// interrupted it, and may have worked on its files since. So they may where they spoke meanwhile.
pub(crate) fn look_after_untold(context: &Context, ledger: &SessionLedger, state: &SessionState) {
    if state.outcomes() > 0 || state.actions() == 0 {
        return;
    }
    let Some(found) = unended(ledger).filter(|found| found.review.snapshot.is_some()) else { return };
    let Some(cwd) = AbsolutePath::new(&found.review.cwd) else { return };
    let of = find_workspace(&cwd);
    let now = context.environment().now();
    let work_tree = context.work_tree().filter(|_| of == *context.workspace());
    let key = session_ledger::mask_key(context.environment(), context.policy().config());
    let (Some(work_tree), Ok(key)) = (work_tree, key) else {
        keep_footprint(context, &of, &found, now, &[]);
        return;
    };
    let stored = stored(ledger);
    let before = Before::picture(stored.as_ref());
    let since = since(found.at, None, now);
    let look = look_around(context, &work_tree, &real_path(&cwd), since, &before, &key);
    store(context, ledger, &look);
    let others: Vec<_> = look.changes.iter().map(|change| change.path.as_str().into()).collect();
    keep_footprint(context, &of, &found, now, &others);
}

/// What came last in a session, as far as it bears on a call without an end.
enum Newest {
    /// This call, which may have run.
    Call(Found),
    /// Something after which there is no call to look after.
    Other,
}

/// The newest call of a session, where nobody was to be asked about it, it may have run, and nothing but the session itself came after it.
fn unended(ledger: &SessionLedger) -> Option<Found> {
    for count in RECORDS {
        let records = last(&ledger.path(), count).ok()?;
        let is_whole = records.len() < count;
        match records.into_iter().rev().find_map(Newest::of) {
            Some(Newest::Call(found)) => return Some(found),
            Some(Newest::Other) => return None,
            None if is_whole => return None,
            None => {}
        }
    }
    None
}

impl Newest {
    /// What a record says of that; `None` where it says nothing.
    fn of(record: Record) -> Option<Self> {
        match record.body {
            RecordBody::Prompt { .. } | RecordBody::SessionStarted { .. } => Some(Self::Other),
            // It was looked at the end of the turn, and what came since may be the user's. Where they said no, it never ran.
            RecordBody::Event { name, .. }
                if TURN_END_EVENTS.contains(&name.as_str())
                    || ["SessionEnd", "PermissionDenied"].contains(&name.as_str()) =>
            {
                Some(Self::Other)
            }
            RecordBody::Review(review) => {
                let may_have_run = review.disposition() == CallDisposition::LetRun
                    && review.verdict != VerdictKind::Escalate;
                let found = Found { at: record.at, number: record.seq, review };
                Some(if may_have_run { Self::Call(found) } else { Self::Other })
            }
            _ => None,
        }
    }
}
