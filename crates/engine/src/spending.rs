//! Warnings at half and at four fifths of each limit of a session: on record, as a notice, and for the user who reads along, each once; at four
//! fifths for the agent too. Below a run the run warns, which knows the whole.

use checkrein_intervention::{LimitedResource, SessionLimit};
use checkrein_ledger::Durability;
use checkrein_policy::Config;
use checkrein_protocol::{AbsolutePath, RecordBody, ReviewRecord};
use checkrein_session::{Cost, SessionLedger, SessionState, file_operations};
use checkrein_supervise::SpendingShare;
use serde_json::json;

use crate::context::Context;
use crate::environment::HostEnvironment;
use crate::monitor;
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

/// What is said where a limit is being used up.
#[derive(Debug, Default)]
pub(crate) struct LimitWarnings {
    /// For the user: at half, and at four fifths.
    pub(crate) for_user: Option<String>,
    /// For the agent: at four fifths, so that it ends what it began before it is stopped.
    pub(crate) for_agent: Option<String>,
}

/// What a session has used of each of its limits, at its last record.
pub(crate) fn used(context: &Context, state: &SessionState) -> Vec<SessionLimit> {
    let config = context.policy().config();
    let at = state.last().unwrap_or_else(|| context.environment().now());
    monitor::limits(state, config, &monitor::held_by(context.environment(), at))
}

/// The same before a call that ended by now: what it changes counts from when it runs, so that it is taken off again. `review` is looked for only
/// where there is such a limit.
pub(crate) fn without_call(
    mut before: Vec<SessionLimit>,
    after: &SessionState,
    review: impl FnOnce() -> Option<Box<ReviewRecord>>,
) -> Vec<SessionLimit> {
    let files = before.iter_mut().find(|limit| limit.resource == LimitedResource::FileOperations);
    if let Some((limit, review)) = files.and_then(|limit| Some((limit, review()?))) {
        let made = file_operations(&review.effects).saturating_add(review.further_file_operations);
        limit.used = after.file_operations().saturating_sub(made) as f64;
    }
    before
}

/// What is said where a session that had used `before` of its limits has now reached a share of one: each limit by itself, each share once.
/// Tells people as well.
pub(crate) fn warnings(
    context: &Context,
    ledger: &SessionLedger,
    before: &[SessionLimit],
    state: &SessionState,
) -> LimitWarnings {
    if context.environment().run_limits.is_some() {
        return LimitWarnings::default();
    }
    let (mut for_user, mut for_agent) = (Vec::new(), Vec::new());
    for now in used(context, state) {
        let earlier =
            before.iter().find(|limit| limit.resource == now.resource).map_or(0.0, |limit| limit.used);
        let Some(share) = SpendingShare::reached(earlier, now.used, now.limit) else { continue };
        let (text, key) = in_words(share, now);
        record(context, ledger, share, now);
        let environment = context.environment();
        tell(environment, context.policy().config(), context.workspace(), ledger.folder().as_str(), &text);
        for_user.push(format!("checkrein: {text} (`{key}`)"));
        if share == SpendingShare::FourFifths {
            for_agent.push(format!(
                "checkrein hint: {text}. Finish what is begun, and leave what can wait: at the limit the session stops"
            ));
        }
    }
    let hints = context.policy().config().interventions.soft_correction.enabled;
    let all = |lines: Vec<String>| lines.into_iter().reduce(|one, other| format!("{one}\n{other}"));
    LimitWarnings { for_user: all(for_user), for_agent: all(for_agent).filter(|_| hints) }
}

/// That a share of a limit was reached, and the setting of the limit.
fn in_words(share: SpendingShare, limit: SessionLimit) -> (String, &'static str) {
    let percent = share.percent();
    let counted =
        |what: &str| format!("{percent} % of the {what} are used: {:.0} of {:.0}", limit.used, limit.limit);
    match limit.resource {
        LimitedResource::Dollars => (share.in_words(limit.used, limit.limit), "limits.dollars"),
        LimitedResource::Tokens => (counted("tokens of this session"), "limits.tokens"),
        LimitedResource::FileOperations => {
            (counted("file operations of this session"), "limits.file_operations")
        }
        LimitedResource::Seconds => (
            format!(
                "{percent} % of the time of this session is over: {:.0} of {:.0} s",
                limit.used, limit.limit
            ),
            "limits.execution_seconds",
        ),
        LimitedResource::Megabytes => (counted("megabytes of memory"), "limits.memory_mb"),
    }
}

fn record(context: &Context, ledger: &SessionLedger, share: SpendingShare, limit: SessionLimit) {
    let fields = match limit.resource {
        LimitedResource::Dollars => {
            json!({ "percent": share.percent(), "dollars": limit.used, "limit": limit.limit })
        }
        LimitedResource::Tokens
        | LimitedResource::FileOperations
        | LimitedResource::Seconds
        | LimitedResource::Megabytes => {
            json!({ "percent": share.percent(), "resource": limit.resource, "used": limit.used, "limit": limit.limit })
        }
    };
    let body = RecordBody::Event { name: SPENDING.to_owned(), fields };
    let environment = context.environment();
    if let Err(error) = ledger.append(environment.now(), body, Durability::Plain) {
        environment.diagnostics.add(format!("not recorded: {error}"));
    }
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
