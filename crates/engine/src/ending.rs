//! What became of the calls of a session, when it is over: on record, and for the user at the start of the next one.
//!
//! A client shows nothing that a hook says when a session ends: Claude Code drops the fields of that answer, and calls a hook that writes to
//! standard error failed. So the user reads it where the client shows a line: at the start of the session that follows here.

use checkrein_clients::is_canary;
use checkrein_ledger::{Durability, FolderName, last};
use checkrein_protocol::{ChangeId, HookEvent, RecordBody};
use checkrein_session::{
    CARRIED_EVENT, KnownSession, SESSION_END, SessionLedger, SessionState, SessionSummary,
};
use serde_json::{Value as Json, json};

use crate::change_records;
use crate::context::Context;
use crate::lineage;
use crate::records::event_record;
use crate::usage;

/// How old the session before may be to be told of, in milliseconds (ours): a day.
const RECENT: u64 = 24 * 60 * 60 * 1000;

/// The field of the record of an end that holds the summary.
pub const SUMMARY: &str = "summary";

/// The field that names the changes that ran and were not verified by then.
const UNVERIFIED: &str = "unverified_changes";

/// Records the end of a session, and what was spent last: a client may write down its last answer after the end of the turn, and who started
/// the session counts it.
pub(crate) fn session_ended(context: &Context, ledger: &SessionLedger, event: &HookEvent) {
    let environment = context.environment();
    lineage::end(context, ledger);
    if is_over(ledger) {
        return;
    }
    let known = ledger.known().unwrap_or_else(|_| KnownSession::unknown());
    let read = usage::transcribed(context, event, &known, usage::AT_THE_END, None);
    let state = ledger.state().unwrap_or_default();
    let due = change_records::before_the_end(context, ledger.folder().as_str(), &state);
    let bodies = read.into_iter().chain([event_record(event, fields(&state, &due))]).collect();
    if let Err(error) = ledger.append_all_to(known, environment.now(), bodies, Durability::Plain) {
        environment.diagnostics.add(format!("not recorded: {error}"));
    }
}

/// How many of the newest records are looked at for the end of a session (ours): behind it stands little but what was spent.
const RECORDS: usize = 16;

/// Whether nothing is left to end: the end is on record already, or nothing of the session is. Some clients tell of an end once for each
/// place where the hook is registered, and of ends of conversations of their own of which no hook ever heard.
pub(crate) fn is_over(ledger: &SessionLedger) -> bool {
    if !ledger.path().exists() {
        return true;
    }
    let Ok(records) = last(&ledger.path(), RECORDS) else { return false };
    let newest = records.iter().rev().find_map(|record| match &record.body {
        RecordBody::Event { name, .. } if name == SESSION_END => Some(true),
        // The frame of a session, which says nothing of its going on.
        RecordBody::Usage(_) | RecordBody::Anchor { .. } => None,
        RecordBody::Event { name, .. } if name.starts_with("checkrein.") => None,
        _ => Some(false),
    });
    newest.unwrap_or(records.len() < RECORDS)
}

/// What is written down beside the end of a session.
fn fields(state: &SessionState, unverified: &[ChangeId]) -> Json {
    let mut fields = serde_json::Map::new();
    if let Some(summary) = state.calls_at_the_end().summary() {
        fields.insert(SUMMARY.to_owned(), Json::String(summary));
    }
    if !unverified.is_empty() {
        fields.insert(UNVERIFIED.to_owned(), json!(unverified));
    }
    Json::Object(fields)
}

/// The line about the session before in this workspace, where something was said or done about a call in it; `None` otherwise, and where the
/// conversation goes on.
pub(crate) fn of_session_before(
    context: &Context,
    event: &HookEvent,
    earlier: &[SessionSummary],
    source: &str,
) -> Option<String> {
    if !matches!(source, "startup" | "clear") {
        return None;
    }
    let before = newest_before(context, event, earlier)?;
    let due = change_records::session_before(&before.unverified);
    let summary = before.calls.summary().filter(|_| before.calls.remarkable() > 0);
    let told = summary.map(|summary| {
        format!("checkrein: the session before: {summary}; `checkrein log --here` shows them")
    });
    due.into_iter().chain(told).reduce(|one, other| format!("{one}\n{other}"))
}

/// The newest session of the same client in the same workspace that did something lately.
fn newest_before<'a>(
    context: &Context,
    event: &HookEvent,
    earlier: &'a [SessionSummary],
) -> Option<&'a SessionSummary> {
    let now = context.environment().now().0;
    let own = FolderName::of(&event.session);
    let is_before = |session: &&SessionSummary| {
        session.folder != own
            && !is_canary(session.folder.as_str())
            && session.workspace.as_ref() == Some(context.workspace())
            && session.client.as_deref() == Some(event.client.name())
            && session.last.is_some_and(|last| now.saturating_sub(last.0) < RECENT)
    };
    earlier.iter().filter(is_before).max_by_key(|session| session.last)
}

/// How long what a session did counts in the one that goes on in its place, in milliseconds (ours).
const GOES_ON: u64 = 10 * 60 * 1000;

/// The record with which a session goes on where the one before it was cleared: who clears a conversation in the middle of a loop does not
/// end the loop. `None` where nothing was cleared, or nothing of it matters.
pub(crate) fn carried(
    context: &Context,
    event: &HookEvent,
    earlier: &[SessionSummary],
    source: &str,
) -> Option<RecordBody> {
    if source != "clear" {
        return None;
    }
    let before = newest_before(context, event, earlier)?;
    let now = context.environment().now().0;
    before.worked.filter(|worked| now.saturating_sub(worked.0) < GOES_ON)?;
    let state = SessionLedger::of_folder(&context.environment().state, before.folder.clone()).state().ok()?;
    let fields = state.to_carry(before.folder.as_str())?;
    Some(RecordBody::Event { name: CARRIED_EVENT.to_owned(), fields })
}
