//! The conversation set back below a run: the agent is ended, and goes on from before the trouble, with what was learned as its first message.
//!
//! The hook says where, the run above does it. Of a client that cannot, and without a run, files, goals and limits go back alone.

use checkrein_intervention::{RecoveryConsent, Rollback};
use checkrein_ledger::last;
use checkrein_patterns::{ActionNumber, Issue};
use checkrein_protocol::{HookEvent, Record, RecordBody, ReviewRecord};
use checkrein_session::{SessionLedger, SessionState};
use checkrein_supervise::runs::{HookStop, HookSwitch, SetBack};

use crate::checkpoint;
use crate::context::Context;

/// How much of a transcript is looked through (ours).
const TRANSCRIPT: u64 = 64 * 1024 * 1024;
/// How many of the newest records are looked through for the call (ours).
const RECORDS: usize = 16_384;
/// How many calls of the trouble are named (ours).
const NAMED: usize = 3;
/// How much is told of each, in characters (ours).
const LONGEST_CALL: usize = 80;

/// The record of a conversation that goes on after it was set back.
pub(crate) const GOES_ON: &str = "conversation_goes_on";

/// Whether a prompt is what the run above tells an agent that it set back.
pub(crate) fn is_message(context: &Context, text: &str) -> bool {
    let run = context.environment().run_limits.as_deref();
    run.and_then(|run| run.said.as_deref()).is_some_and(|said| said == text)
}

/// Has the run above set the conversation back to before the trouble; the reason to stop now, or `None` where it cannot.
pub(crate) fn set_back(
    context: &Context,
    (ledger, state): (&SessionLedger, &SessionState),
    event: &HookEvent,
    (rollback, files): (Rollback, &str),
    issue: &Issue,
) -> Option<String> {
    let environment = context.environment();
    let run = environment.run_limits.as_deref().filter(|run| run.rewinds > 0)?;
    if rollback.consent == RecoveryConsent::Required {
        return None;
    }
    let rewind = environment.client.rewind?;
    let transcript = event.transcript.as_ref()?;
    let text = checkrein_files::read_text(transcript.as_str(), TRANSCRIPT).ok()?;
    let records = last(&ledger.path(), RECORDS).ok()?;
    let reviews: Vec<&ReviewRecord> = records.iter().filter_map(review).collect();
    let numbered = |number: ActionNumber| {
        // The newest review is that of the last action.
        let back = usize::try_from(state.actions().checked_sub(number.0)?).ok()?;
        reviews.get(reviews.len().checked_sub(back + 1)?).copied()
    };
    let turn = (rewind.before)(&text, numbered(rollback.before)?.action_id.as_str())?;
    let mut tried: Vec<String> =
        issue.actions.iter().rev().filter_map(|number| numbered(*number)).map(call_of).collect();
    tried.dedup();
    tried.truncate(NAMED);
    let before = rollback.before.0;
    let reason =
        format!("the conversation goes back to before action {before}, and on with what was learned");
    let back = SetBack {
        session: event.session.as_str().to_owned(),
        turn,
        message: checkpoint::masked(context, &message(issue, &tried, files)),
        before,
    };
    let fields = serde_json::json!({ "before": before, "message": back.message });
    let stop = HookStop {
        switch: HookSwitch::SetBack,
        report: Some(format!("The agent is set back to before action {before}.")),
        reason: reason.clone(),
        back: Some(back),
    };
    if let Err(error) = run.stop(&stop) {
        environment.diagnostics.add(format!("the conversation was not set back: {error}"));
        return None;
    }
    context.record(ledger, RecordBody::Event { name: "conversation_set_back".to_owned(), fields });
    Some(format!("checkrein: {reason}"))
}

fn review(record: &Record) -> Option<&ReviewRecord> {
    match &record.body {
        RecordBody::Review(review) => Some(review),
        _ => None,
    }
}

/// A call as the agent knows it.
fn call_of(review: &ReviewRecord) -> String {
    let command = review.input.get("command").and_then(serde_json::Value::as_str);
    let first = command.and_then(|command| command.lines().next()).unwrap_or(review.tool.as_str());
    let kept: String = first.chars().take(LONGEST_CALL).collect();
    format!("`{kept}`")
}

/// What the agent reads first, in five lines at most.
fn message(issue: &Issue, tried: &[String], files: &str) -> String {
    let files = files.lines().next().unwrap_or_default();
    let tried = match tried {
        [] => String::new(),
        tried => format!("\nTried without success: {}.", tried.join(", ")),
    };
    format!(
        "checkrein set this conversation back, because it did not get on: {}.{tried}\nInstead: {}.\n{files}\nGo on with the task from here, another way.",
        issue.summary, issue.advice
    )
}

#[cfg(test)]
mod tests {
    use checkrein_patterns::{PatternKind, Share};
    use checkrein_protocol::Severity;

    use super::*;

    #[test]
    fn the_first_message_has_five_lines_at_most_and_says_what_was_tried() {
        let issue = Issue {
            kind: PatternKind::StuckLoop,
            severity: Severity::High,
            confidence: Share::new(1.0),
            impact: Share::default(),
            signal: 4.0,
            summary: "`make` was run four times with the same result".to_owned(),
            advice: "read the first error".to_owned(),
            actions: vec![ActionNumber(3)],
            growth: None,
            growths: Vec::new(),
        };
        let text = message(&issue, &["`make`".to_owned()], "2 files were set back.\nmore");
        assert_eq!(text.lines().count(), 5, "{text}");
        assert!(text.contains("Tried without success: `make`") && text.contains("2 files were set back."));
        assert!(message(&issue, &[], "").lines().count() <= 5);
    }
}
