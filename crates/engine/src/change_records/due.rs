//! What is told of changes that ran and are not verified.

use checkrein_protocol::{ActionId, ChangeId};
use checkrein_session::{DueChange, SessionState};

use super::record::ChangeStep;
use super::store;
use crate::context::Context;
use crate::notification::{self, Notice};

pub use checkrein_session::CHANGE_EVENT as EVENT;

/// Takes down that the command of a change ended, and says what is due: for the model, and for the user.
pub(crate) fn ran(
    context: &Context,
    state: &SessionState,
    action: &ActionId,
    failed: bool,
) -> Option<(String, String)> {
    let due = state.changes().find(|change| change.action == *action)?;
    let environment = context.environment();
    let step = ChangeStep::Ran { at: environment.now(), failed };
    if let Err(error) = store::add(environment, &due.change, &step) {
        environment.diagnostics.add(format!("not noted with the change: {error}"));
    }
    let id = due.change.as_str();
    let ended = if failed { "failed" } else { "ran" };
    Some((
        format!(
            "The command of change {id} {ended}. Its verification is due: run `checkrein change verify {id}` now, and tell the user what it says."
        ),
        format!("checkrein: change {id} {ended}; `checkrein change verify {id}` is due"),
    ))
}

/// What the user reads at the end of a turn of changes that are not verified; `None` where none is.
pub(crate) fn unverified(state: &SessionState) -> Option<String> {
    let due: Vec<&DueChange> = state.changes().collect();
    let first = due.first()?;
    let id = first.change.as_str();
    let more = match due.len() {
        1 => String::new(),
        all => format!(" (and {} more: `checkrein change list`)", all - 1),
    };
    Some(format!("checkrein: change {id} is not verified; run `checkrein change verify {id}`{more}"))
}

/// Tells people that a session ended with changes that are not verified; their names.
pub(crate) fn before_the_end(context: &Context, session: &str, state: &SessionState) -> Vec<ChangeId> {
    let due: Vec<ChangeId> = state.changes().map(|change| change.change.clone()).collect();
    let Some(text) = unverified(state) else { return due };
    let environment = context.environment();
    let notice = Notice {
        event: "change".to_owned(),
        session: session.to_owned(),
        workspace: context.workspace().clone(),
        at: environment.now(),
        title: "checkrein: a session ended with an unverified change".to_owned(),
        text: text.trim_start_matches("checkrein: ").to_owned(),
        incident: None,
        question: None,
    };
    if let Err(error) = notification::send(environment, context.policy().config(), &notice) {
        environment.diagnostics.add(format!("nobody is told: {error}"));
    }
    due
}

/// What the user reads at the start of a session of changes of the one before that are still not verified.
pub(crate) fn session_before(due: &[ChangeId]) -> Option<String> {
    let id = due.first()?.as_str();
    Some(format!(
        "checkrein: change {id} of the session before is not verified; run `checkrein change verify {id}`"
    ))
}
