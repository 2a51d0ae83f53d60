//! The end of a turn: what the agent said last is weighed, and answered where that is needed.
//!
//! A user who reads along is told. Where nobody does, the agent is told, and has one more turn to put it right. An agent that offers new
//! work again then is stopped (seed 004: high and critical cascades are blocked), whatever it looked at in between.

use checkrein_ledger::Durability;
use checkrein_patterns::{Issue, PatternKind};
use checkrein_policy::{Mode, Profile};
use checkrein_protocol::{HookEvent, HookEventKind, HookResponse, MessagePlace, RecordBody};
use checkrein_session::{CallCounts, KnownSession, SessionLedger, SessionState};
use checkrein_supervise::runs::HookSwitch;
use serde_json::json;

use crate::answering::pattern_settings;
use crate::beginning;
use crate::change_records;
use crate::context::Context;
use crate::interventions::tell;
use crate::monitor::{self, Noticed};
use crate::records::{event_record, message_record};
use crate::spending;
use crate::stop::{Barrier, Stopping, stop_session};
use crate::text::counted;
use crate::turn_gates;
use crate::usage;

/// By whom a session is stopped that offers itself new work again and again.
const CASCADE: &str = "cascade";

/// Records the end of a turn, with what the agent said last, and answers it.
pub(crate) fn turn_ended(
    context: &mut Context,
    event: &HookEvent,
    ledger: &SessionLedger,
    message: Option<&str>,
) -> HookResponse {
    let known = ledger.known().unwrap_or_else(|_| KnownSession::unknown());
    beginning::hold(context, ledger, event, known.state());
    let offered = known.state().controller().heard_about_offers();
    let is_halted = known.state().halted().is_some();
    let read = usage::transcribed(context, event, &known, usage::AT_THE_END, message);
    let spent = spending::used(context, known.state());
    let own = &context.policy().config().patterns.cascade_patterns;
    let said = message.map(|text| message_record(text, MessagePlace::End, own));
    let bodies = read.into_iter().chain(said).chain([event_record(event, json!({}))]).collect();
    let now = context.environment().now();
    let config = context.policy().config();
    let appended = match ledger.append_all_to(known, now, bodies, Durability::Plain) {
        Ok(appended) => appended,
        Err(error) => {
            context.environment().diagnostics.add(format!("not recorded: {error}"));
            return HookResponse::NoOpinion;
        }
    };
    let state = &appended.state;
    let warned = spending::warnings(context, ledger, &spent, state).for_user;
    let texts = || beginning::intervention_texts(context, ledger);
    let environment = context.environment();
    let mut noticed = monitor::look(state, &pattern_settings(config), config, environment, &texts, now);
    // A session that is halted ends here in any case, and was reported once.
    let is_answered = config.mode == Mode::Enforce
        && !is_halted
        && matches!(event.moment, HookEventKind::TurnEnding { .. });
    let issues = state.behaviour().issues(&pattern_settings(config));
    let cascade = issues.iter().find(|issue| issue.kind == PatternKind::Cascade);
    if let (true, true, Some(issue)) = (is_answered, offered, cascade) {
        noticed.records.retain(|body| !matches!(body, RecordBody::Intervention(_)));
        return stop_cascade(context, ledger, state, issue, noticed);
    }
    let about = noticed.about.take().filter(|issue| is_answered && is_about_words(issue));
    if about.is_none() {
        // Nothing can be done about what the agent did once its turn is over: it is taken up after its next call.
        noticed.records.retain(|body| !matches!(body, RecordBody::Intervention(_)));
    }
    if !noticed.records.is_empty()
        && let Err(error) = ledger.append_all(now, noticed.records, Durability::Plain)
    {
        context.environment().diagnostics.add(format!("not recorded: {error}"));
    }
    let (Some(issue), Some(made)) = (about, noticed.intervention) else {
        let summary = is_answered.then(|| summary(state)).flatten();
        let said = summary
            .into_iter()
            .chain(warned.filter(|_| is_answered))
            .chain(is_answered.then(|| change_records::unverified(state)).flatten())
            .reduce(|one, other| format!("{one}\n{other}"));
        return at_rest(context, event, ledger, state, said);
    };
    if issue.kind == PatternKind::Cascade {
        tell(context, ledger, CASCADE, "checkrein: an agent offers itself new work", &issue.summary);
    }
    match config.profile {
        Profile::Interactive => HookResponse::Context { text: made.text },
        Profile::Unattended | Profile::Strict => HookResponse::Deny { reason: made.text },
    }
}

/// The answer where nothing that was said is in the way: gates look, and the user reads what became of the calls.
fn at_rest(
    context: &Context,
    event: &HookEvent,
    ledger: &SessionLedger,
    state: &SessionState,
    summary: Option<String>,
) -> HookResponse {
    let is_turn = matches!(event.moment, HookEventKind::TurnEnding { .. }) && state.halted().is_none();
    let looked = is_turn.then(|| turn_gates::look(context, ledger, state)).flatten();
    match (looked, summary) {
        (Some(HookResponse::Context { text }), Some(summary)) => {
            HookResponse::Context { text: format!("{text}\n{summary}") }
        }
        (Some(answer), _) => answer,
        (None, Some(text)) => HookResponse::Context { text },
        (None, None) => HookResponse::NoOpinion,
    }
}

/// What became of the calls of the turn, for the user; `None` where nothing but `ok` was said.
fn summary(state: &SessionState) -> Option<String> {
    let (turn, all) = (state.calls_of_turn(), state.calls());
    if turn.remarkable() == 0 {
        return None;
    }
    let calls = |counts: CallCounts| counted(counts.calls(), "call");
    let session =
        if turn == all { String::new() } else { format!(" (session: {}, {} ok)", calls(all), all.ok) };
    Some(format!("checkrein: {}: {}{session}; `checkrein log`", calls(turn), turn.in_words()))
}

fn stop_cascade(
    context: &Context,
    ledger: &SessionLedger,
    state: &SessionState,
    issue: &Issue,
    noticed: Noticed,
) -> HookResponse {
    let reason = "it offered itself new work again after it was told that nobody is there to answer";
    let stopping = Stopping {
        environment: context.environment(),
        config: context.policy().config(),
        workspace: context.workspace(),
        ledger: Some(ledger),
        state,
        barrier: Barrier::Halt,
        by: CASCADE,
        reason,
        issue: Some(issue),
        switch: Some(HookSwitch::Cascade),
        since: None,
    };
    let saved = stop_session(&stopping, noticed.records);
    HookResponse::Halt { reason: format!("checkrein stopped the session: {reason}{saved}") }
}

/// Whether an issue is about what was said, which the end of a turn is the moment to answer.
fn is_about_words(issue: &Issue) -> bool {
    matches!(issue.kind, PatternKind::Cascade | PatternKind::Hallucination)
}
