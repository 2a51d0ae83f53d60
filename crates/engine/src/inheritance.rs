//! A conversation that was halted and goes on under another name.
//!
//! A client can take what was said so far into a new session (`claude --resume SESSION --fork-session`). The new session has another name,
//! and nothing in the payload names the old one. But its transcript holds the calls of the old session, under the names that the client
//! gave them. So a new session is compared with those that are halted.

use std::io::{Read as _, Seek as _, SeekFrom};

use checkrein_ledger::{Durability, FolderName, HaltTarget, StateDirectory, halt, halted, is_halted, last};
use checkrein_protocol::{AbsolutePath, HaltScope, HookEvent, RecordBody};
use checkrein_session::{SessionLedger, SessionState};

use crate::context::Context;

/// Who a halt is from that was inherited.
const BY: &str = "conversation";

/// For how many actions a session counts as new (ours): the client may write its transcript a moment late.
const NEW: u64 = 3;

/// How much of the end of a transcript is looked at (ours).
const TAIL: u64 = 1024 * 1024;

/// How many of the newest records of a halted session are compared (ours), and of the own ones.
const RECORDS: usize = 256;

/// The reason of the halt that a new session takes over from the one whose conversation it continues; it is halted then. Costs one look
/// into a directory as long as no session is halted.
pub(crate) fn halt_of_origin(
    context: &Context,
    event: &HookEvent,
    ledger: &SessionLedger,
    state: &SessionState,
) -> Option<String> {
    if state.actions() >= NEW {
        return None;
    }
    let home = &context.environment().state;
    let own = ledger.folder();
    let candidates: Vec<FolderName> = halted(home).ok()?.into_iter().filter(|folder| folder != own).collect();
    if candidates.is_empty() {
        return None;
    }
    let text = tail(event.transcript.as_ref()?)?;
    let origin = candidates.into_iter().find(|folder| holds_a_call_of(&text, home, folder))?;
    // What a user has let go on goes on.
    let is_known = |record: &checkrein_protocol::Record| matches!(&record.body, RecordBody::Halted { by, .. } if by == BY);
    if last(&ledger.path(), RECORDS).unwrap_or_default().iter().any(is_known) {
        return None;
    }
    let why = is_halted(home, &origin)?.reason;
    let reason = format!("it continues session {}, which is halted: {why}", origin.as_str());
    if let Err(error) = halt(home, HaltTarget::Session(own), &reason) {
        context.environment().diagnostics.add(format!("the halt was not written: {error}"));
    }
    let body = RecordBody::Halted { scope: HaltScope::Session, reason: reason.clone(), by: BY.to_owned() };
    if let Err(error) = ledger.append(context.environment().now(), body, Durability::Durable) {
        context.environment().diagnostics.add(format!("not recorded: {error}"));
    }
    Some(reason)
}

/// The end of a transcript; `None` when it cannot be read.
fn tail(path: &AbsolutePath) -> Option<String> {
    let mut file = checkrein_files::open(path.as_str()).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether a transcript holds a call that a session made. What only speaks of such a call has the quotes escaped.
fn holds_a_call_of(transcript: &str, home: &StateDirectory, session: &FolderName) -> bool {
    let ledger = SessionLedger::of_folder(home, session.clone());
    let records = last(&ledger.path(), RECORDS).unwrap_or_default();
    let mut calls = records.iter().filter_map(|record| match &record.body {
        RecordBody::Review(review) => Some(review.action_id.as_str()),
        _ => None,
    });
    calls.any(|call| !call.is_empty() && transcript.contains(&format!("\"id\":\"{call}\"")))
}
