//! What a plugin sees of a session.

use checkrein_engine::error::CommandError;
use checkrein_ledger::last;
use checkrein_protocol::{
    ActionNumber, InterventionKind, Issue, OutcomeRecord, PatternKind, PluginAction, Record, RecordBody,
    ReviewRecord, Timestamp,
};
use checkrein_session::SessionLedger;

/// The most actions that a plugin sees (ours).
const ACTIONS: usize = 50;
/// How many of the last records are looked through for them (ours).
const RECORDS: usize = 400;
/// The longest text of an input, in characters (ours).
const TEXT: usize = 2_000;

/// The last actions of a session, oldest first.
pub(super) fn actions(ledger: &SessionLedger) -> Result<Vec<PluginAction>, CommandError> {
    let records = last(&ledger.path(), RECORDS)?;
    let mut found: Vec<(checkrein_protocol::ActionId, PluginAction)> = Vec::new();
    for Record { at, body, .. } in records {
        match body {
            RecordBody::Review(review) => found.push((review.action_id.clone(), action(&review, at))),
            RecordBody::Outcome(outcome) => {
                let of = found.iter_mut().rev().find(|(id, _)| *id == outcome.action_id);
                if let Some((_, action)) = of {
                    ended(action, &outcome);
                }
            }
            _ => {}
        }
    }
    let total = ledger.state()?.actions();
    let first = total.saturating_sub(found.len() as u64);
    let numbered = found
        .into_iter()
        .zip(1..)
        .map(|((_, action), place)| PluginAction { number: ActionNumber(first + place), ..action });
    let mut numbered: Vec<PluginAction> = numbered.collect();
    Ok(numbered.split_off(numbered.len().saturating_sub(ACTIONS)))
}

fn action(review: &ReviewRecord, at: Timestamp) -> PluginAction {
    let mut input = review.input.clone();
    shorten(&mut input);
    PluginAction {
        number: ActionNumber(0),
        at,
        tool: review.tool.as_str().to_owned(),
        input,
        cwd: review.cwd.clone(),
        programs: review.programs.clone(),
        effects: review.effects.clone(),
        verdict: review.verdict,
        risk: review.risk.score,
        failed: None,
        error: None,
    }
}

fn ended(action: &mut PluginAction, outcome: &OutcomeRecord) {
    action.failed = Some(outcome.failed);
    action.error.clone_from(&outcome.error);
}

/// Cuts the long texts of an input, so that all of it stays readable.
fn shorten(input: &mut serde_json::Value) {
    match input {
        serde_json::Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(TEXT) {
                text.truncate(end);
                text.push('…');
            }
        }
        serde_json::Value::Array(all) => all.iter_mut().for_each(shorten),
        serde_json::Value::Object(all) => all.values_mut().for_each(shorten),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}

/// The issues among these records, each once as it was found last, with what was done about it behind that.
pub(super) fn issues<'a>(
    records: impl Iterator<Item = &'a Record>,
) -> Vec<(Issue, Option<InterventionKind>)> {
    let mut found: Vec<(Issue, Option<InterventionKind>)> = Vec::new();
    let drop_of = |found: &mut Vec<(Issue, Option<InterventionKind>)>, kind: PatternKind| {
        found.retain(|(issue, _)| issue.kind != kind);
    };
    for record in records {
        match &record.body {
            RecordBody::Issue(issue) => {
                drop_of(&mut found, issue.kind);
                found.push(((**issue).clone(), None));
            }
            RecordBody::IssueEnded { kind } => drop_of(&mut found, *kind),
            RecordBody::Intervention(made) => {
                for (issue, rung) in &mut found {
                    if issue.kind == made.pattern {
                        *rung = Some(made.kind);
                    }
                }
            }
            _ => {}
        }
    }
    found
}
