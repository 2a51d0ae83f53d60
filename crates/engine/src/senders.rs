//! What agent frameworks ask about by message (ACGP, EVAL and TRACE). The review is that of `check`; beside it the question is on record, what
//! it comes to counts against the trust of its sender, across sessions and starts of the server, and a tier that a person gave the sender
//! holds.
//!
//! A sender is known by the name that it gives of itself, in a project. Whoever may send messages may give another name, which gains no more
//! than what a new sender has, and may use up the trust of another sender: debt only makes verdicts stricter.

use std::time::Instant;

use checkrein_facts::{History, TrustDebt, World as _};
use checkrein_ledger::Durability;
use checkrein_policy::{Config, PolicyVersion};
use checkrein_protocol::{AbsolutePath, Action, ActionId, RecordBody, SessionId};
use checkrein_review::{Forecast, Review, ReviewCache, Saved, VerdictKind};
use checkrein_session::sessions;

use crate::adjudication::{Surface, adjudicate};
use crate::approvals::FRAMEWORK;
use crate::checkpoint::{self, Protection};
use crate::context::Context;
use crate::docket::Circumstances;
use crate::engine::halted;
use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::records::review_record;
use crate::session_ledger;
use crate::unhooked::alone;

/// An action that a sender of messages wants to take.
#[derive(Debug, Clone)]
pub struct SentAction {
    /// The name that the sender gives of itself.
    pub sender: String,
    /// The session that it counts to.
    pub session: SessionId,
    /// What it wants to do.
    pub action: Action,
}

/// What becomes of a question beside its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// It is on record, and counts.
    Recorded,
    /// Nothing: who asks wants to know how closely it is overseen.
    Nothing,
}

/// What the records call the client of a sender.
pub fn client_of(sender: &str) -> String {
    format!("{FRAMEWORK}:{sender}")
}

/// Reviews an action of a sender.
///
/// # Errors
///
/// The records of its session cannot be read or written: what a sender does is not answered without being written down.
pub fn evaluate(
    environment: &HostEnvironment,
    sent: &SentAction,
    keeping: Keeping,
    cache: Option<&mut ReviewCache>,
) -> Result<(Review, PolicyVersion), CommandError> {
    let started = Instant::now();
    let action = &sent.action;
    let client = client_of(&sent.sender);
    let context = Context::open(environment.clone(), &action.cwd).overseeing(&client);
    let there = context.at(action);
    let context = there.as_ref().unwrap_or(&context);
    let config = context.policy().config();
    let ledger = session_ledger::ledger(environment, &sent.session, config);
    let unwritten = |error: &dyn std::fmt::Display| {
        CommandError::user(
            format!("the question cannot be written down: {error}"),
            "check that the state directory can be written to",
        )
    };
    let mut state = ledger.state().map_err(|error| unwritten(&error))?;
    let mut trust = state.trust();
    if state.records() == 0 {
        let debt = brought_along(environment, &client, context.workspace(), config);
        if debt > 0.0 {
            trust = TrustDebt { debt, at: environment.now(), review_asked: false };
        }
        if keeping == Keeping::Recorded {
            let body = begun(sent.session.clone(), client, action, context, debt);
            ledger.append(environment.now(), body, Durability::Plain).map_err(|error| unwritten(&error))?;
            state = ledger.state().map_err(|error| unwritten(&error))?;
        }
    }
    let world = context.world(History { trust, ..History::default() });
    let forecast = Forecast::of(action, &world, context.policy());
    let plain = match cache {
        Some(cache) => cache.judge(&forecast),
        None => forecast.judge(&Saved::default()),
    };
    let protected = checkpoint::protect(context, &forecast, &plain, &Protection::Ask);
    let review = protected.judge(&forecast, plain);
    drop(forecast);
    let halted = halted(environment, &sent.session);
    let circumstances =
        Circumstances { halted: halted.as_deref(), ..alone(context, action, &state, world.history()) };
    let review = adjudicate(review, &circumstances, Surface::Message).review;
    if keeping == Keeping::Recorded {
        let id = ActionId(format!("{FRAMEWORK}-{}-{}", environment.now().0, checkrein_files::aside()));
        let mut record = review_record(&review, action, id, None, config.mode, started.elapsed().as_micros());
        record.policy = record.intent.map(|_| context.policy().version().to_string());
        let durability = match review.verdict.kind {
            VerdictKind::Block | VerdictKind::Halt => Durability::Durable,
            VerdictKind::Ok | VerdictKind::Nudge | VerdictKind::Escalate => Durability::Plain,
        };
        let body = RecordBody::Review(Box::new(record));
        ledger.append(environment.now(), body, durability).map_err(|error| unwritten(&error))?;
    }
    Ok((review, context.policy().version()))
}

/// The first record of a session of a sender.
pub(crate) fn begun(
    session: SessionId,
    client: String,
    action: &Action,
    context: &Context,
    debt: f64,
) -> RecordBody {
    RecordBody::SessionStarted {
        session,
        client,
        cwd: action.cwd.to_string(),
        workspace: context.workspace().to_string(),
        source: "message".to_owned(),
        beginning: None,
        debt: Some(debt).filter(|debt| *debt > 0.0),
    }
}

/// The debt that a sender brings into a new session.
pub(crate) fn brought_along(
    environment: &HostEnvironment,
    client: &str,
    workspace: &AbsolutePath,
    config: &Config,
) -> f64 {
    let all = sessions(&environment.state).unwrap_or_default();
    session_ledger::inherited_debt(environment, &all, client, workspace, config)
}
