//! Warnings at half and at four fifths of a session's budget: on record, as a notice, and for the user who reads along, each once. Below a run
//! the run warns, which knows the whole.

use checkrein_ledger::Durability;
use checkrein_policy::Config;
use checkrein_protocol::{AbsolutePath, RecordBody};
use checkrein_session::{Cost, SessionLedger, SessionState};
use checkrein_supervise::SpendingShare;
use serde_json::json;

use crate::context::Context;
use crate::environment::HostEnvironment;
use crate::notification::{self, Notice};

/// The record of a warning.
pub const SPENDING: &str = "checkrein.spending";

/// What a session has cost as far as that is known, in US dollars.
pub fn dollars(state: &SessionState) -> f64 {
    match state.spent().cost() {
        Some(Cost::Known(known) | Cost::About(known) | Cost::AtLeast(known)) => known.dollars(),
        None => 0.0,
    }
}

/// The line for the user where a session that had cost `before` US dollars has now reached a share of its budget. Tells people as well.
pub(crate) fn warning(
    context: &Context,
    ledger: &SessionLedger,
    before: f64,
    state: &SessionState,
) -> Option<String> {
    if context.environment().run_limits.is_some() {
        return None;
    }
    let config = context.policy().config();
    let (limit, now) = (config.dollar_limit()?, dollars(state));
    let share = SpendingShare::reached(before, now, limit)?;
    let fields = json!({ "percent": share.percent(), "dollars": now, "limit": limit });
    let body = RecordBody::Event { name: SPENDING.to_owned(), fields };
    let environment = context.environment();
    if let Err(error) = ledger.append(environment.now(), body, Durability::Plain) {
        environment.diagnostics.add(format!("not recorded: {error}"));
    }
    let text = share.in_words(now, limit);
    tell(environment, config, context.workspace(), ledger.folder().as_str(), &text);
    Some(format!("checkrein: {text} (`limits.dollars`)"))
}

/// Tells people that a share of a budget is spent; what cannot be told is a remark.
pub fn tell(
    environment: &HostEnvironment,
    config: &Config,
    workspace: &AbsolutePath,
    session: &str,
    text: &str,
) {
    let notice = Notice {
        event: "spending".to_owned(),
        session: session.to_owned(),
        workspace: workspace.clone(),
        at: environment.now(),
        title: "checkrein: a budget is being used up".to_owned(),
        text: text.to_owned(),
        incident: None,
        question: None,
    };
    if let Err(error) = notification::send(environment, config, &notice) {
        environment.diagnostics.add(format!("nobody is told: {error}"));
    }
}
