//! Calls that ran although no review had let them run.
//!
//! A client takes a hook that was killed together with the line around it for consent. Nothing can be told before such a call. Its end is
//! told of, though, by another process, and then the review is missing, or says that the call was refused. That is written down, told to
//! the model and to people, and a report is kept.

use checkrein_clients::CANARY_SESSION;
use checkrein_effects::predict_with;
use checkrein_facts::History;
use checkrein_intervention::{IncidentId, RecoveryPolicy};
use checkrein_ledger::lines;
use checkrein_protocol::{
    ActionId, Effect, EffectKind, Enforcement, HookEvent, HookResponse, Outcome, Record, RecordBody,
    ReviewLack, ReviewRecord, SuccessReporting, Timestamp, UnreviewedRecord, VerdictKind,
};
use checkrein_session::{SessionLedger, SessionState};

use crate::checkpoint;
use crate::context::Context;
use crate::incident::{self, Report};
use crate::interventions::{before_other_words, tell};
use crate::records::switched_off_for;
use crate::text::cut;
use crate::verification::Found;

/// By whom the report is.
const BY: &str = "unreviewed";

/// The record that a call ran which no review had let run; `None` for every other call. Where a client gives its calls no numbers, none of
/// them can be told from another.
pub(crate) fn found(
    context: &Context,
    ledger: &SessionLedger,
    event: &HookEvent,
    outcome: &Outcome,
    state: &SessionState,
) -> Option<UnreviewedRecord> {
    let id = outcome.call.as_ref()?;
    // Where records are gone the loss is told, and with them the review may be gone.
    if event.session.as_str() == CANARY_SESSION || context.unrecorded.is_some() || state.records() == 0 {
        return None;
    }
    let (lack, reason) = match Found::newest(ledger, id) {
        Some(found) if was_refused(&found.review) => {
            // What a refusal kept from running ends as a failure, if its end is told at all.
            if outcome.failed || outcome.success == SuccessReporting::NotTold {
                return None;
            }
            (ReviewLack::Refused, format!("it was refused: {}", found.review.reason))
        }
        Some(_) => return None,
        None => {
            // A tool of the client that only looks may be one that its user leaves out of the review.
            if only_looks(context, outcome) || !is_missing(ledger, id, outcome, context.environment().now()) {
                return None;
            }
            (
                ReviewLack::Missing,
                "no review of it is on record: checkrein was kept from answering".to_owned(),
            )
        }
    };
    let call = outcome.action.shell_text().map_or_else(|| outcome.action.input.to_string(), str::to_owned);
    let call = format!("{} {call}", outcome.action.tool.as_str());
    Some(UnreviewedRecord {
        action_id: id.clone(),
        call: checkpoint::masked(context, &cut(&call, 200)),
        lack,
        reason,
    })
}

/// Whether a call is of a tool other than the shell that changes nothing and shows no secret. What a command changed cannot be foretold any
/// more.
fn only_looks(context: &Context, outcome: &Outcome) -> bool {
    if outcome.action.shell_text().is_some() || !outcome.reported.is_empty() {
        return false;
    }
    let world = context.world(History::default());
    let weighs = |effect: &Effect| {
        effect.kind.is_mutating() || matches!(effect.kind, EffectKind::Opaque | EffectKind::SecretRead)
    };
    !predict_with(&outcome.action, &world, context.policy().catalogue()).effects.iter().any(weighs)
}

/// Whether the client was told not to run a call.
fn was_refused(review: &ReviewRecord) -> bool {
    review.mode == Enforcement::Enforce
        && match review.verdict {
            VerdictKind::Block | VerdictKind::Halt => true,
            VerdictKind::Escalate => review.answered.is_some(),
            VerdictKind::Ok | VerdictKind::Nudge => false,
        }
}

/// Whether a ledger that goes back to before the call has no word about it. It is read as a whole, since a call may end after thousands of
/// others, as that of a subagent does.
fn is_missing(ledger: &SessionLedger, id: &ActionId, outcome: &Outcome, now: Timestamp) -> bool {
    let Ok(mut all) = lines(&ledger.path()) else { return false };
    let Some(Ok(first)) = all.next() else { return false };
    // The hooks may have been registered while the call ran.
    let began_before = |record: &Record| match (outcome.duration_ms, &record.body) {
        (_, RecordBody::SessionStarted { .. }) => false,
        (Some(took), _) => now.0.saturating_sub(took) < record.at.0,
        (None, _) => true,
    };
    if first.record.as_ref().is_none_or(began_before) {
        return false;
    }
    let Ok(all) = lines(&ledger.path()) else { return false };
    let tells = |body: &RecordBody| match body {
        RecordBody::Review(review) => review.action_id == *id,
        body => switched_off_for(body, id),
    };
    // What cannot be read may be the review.
    all.holding(id.as_str())
        .all(|line| line.is_ok_and(|line| line.record.is_some_and(|record| !tells(&record.body))))
}

/// Tells people and the model of such a call, and keeps a report, besides what else is answered to its outcome.
pub(crate) fn tell_of(
    context: &Context,
    ledger: &SessionLedger,
    record: &UnreviewedRecord,
    state: &SessionState,
    answer: HookResponse,
) -> HookResponse {
    let environment = context.environment();
    let how = record.lack.in_words();
    let what = format!("`{}` ran {how}: {}", record.call, record.reason);
    let report = Report {
        ledger: Some(ledger),
        state,
        issue: None,
        by: BY,
        reason: &what,
        policy: RecoveryPolicy::of(context.policy().config().profile),
        at: environment.now(),
    };
    let report = match incident::save(environment, &report) {
        Ok(IncidentId(id)) => format!("\nThe report for the user: `checkrein incident show {id}`"),
        Err(error) => {
            environment.diagnostics.add(format!("no report could be saved: {error}"));
            String::new()
        }
    };
    tell(context, ledger, "unreviewed", &format!("checkrein: a call ran {how}"), &what);
    let text = format!(
        "checkrein: {what}\nIt may not be possible to take it back. Stop here and tell the user what was run.{report}"
    );
    before_other_words(text, answer)
}
