//! A record in one line, for lists and events.

use checkrein_protocol::{RecordBody, ReviewRecord};
use serde_json::Value as Json;

/// The longest line, in characters (ours).
const LONGEST: usize = 160;

/// The name of the type of a record, as its line has it.
pub(super) fn kind(body: &RecordBody) -> &'static str {
    match body {
        RecordBody::SessionStarted { .. } => "session_started",
        RecordBody::Prompt { .. } => "prompt",
        RecordBody::Review(_) => "review",
        RecordBody::Outcome(_) => "outcome",
        RecordBody::Unanswered(_) => "unanswered",
        RecordBody::Unreviewed(_) => "unreviewed",
        RecordBody::Told { .. } => "told",
        RecordBody::Event { .. } => "event",
        RecordBody::Issue(_) => "issue",
        RecordBody::IssueEnded { .. } => "issue_ended",
        RecordBody::Intervention(_) => "intervention",
        RecordBody::Marked { .. } => "marked",
        RecordBody::Rollback(_) => "rollback",
        RecordBody::Usage(_) => "usage",
        RecordBody::Message { .. } => "message",
        RecordBody::Condensed => "condensed",
        RecordBody::Halted { .. } => "halted",
        RecordBody::ReviewClosed { .. } => "review_closed",
        RecordBody::Resumed { .. } => "resumed",
        RecordBody::ConfigChanged { .. } => "config_changed",
        RecordBody::Failure { .. } => "failure",
        RecordBody::Retention { .. } => "retention",
        RecordBody::Anchor { .. } => "anchor",
        RecordBody::Repaired { .. } => "repaired",
        RecordBody::Unknown => "unknown",
    }
}

/// What a record says, in one line.
pub(super) fn line(body: &RecordBody) -> String {
    let text = match body {
        RecordBody::SessionStarted { client, workspace, source, .. } => {
            format!("{client} in {workspace} ({source})")
        }
        RecordBody::Review(review) => call(review),
        RecordBody::Outcome(outcome) => match &outcome.error {
            Some(error) => format!("failed: {error}"),
            None if outcome.failed => "failed".to_owned(),
            None => format!("done, {} bytes", outcome.output_bytes),
        },
        RecordBody::Unanswered(unanswered) => format!("ran without an answer: {}", unanswered.call),
        RecordBody::Unreviewed(_) => "a call ran without a review".to_owned(),
        RecordBody::Prompt { text } | RecordBody::Told { text, .. } => text.clone(),
        RecordBody::Event { name, .. } => name.clone(),
        RecordBody::Issue(issue) => {
            format!("{} ({}): {}", issue.kind.name(), super::sums::severity(issue.severity), issue.summary)
        }
        RecordBody::IssueEnded { kind } => format!("{} ended", kind.name()),
        RecordBody::Intervention(one) => {
            format!("{} about {}: {}", one.kind.name(), one.pattern.name(), one.reason)
        }
        RecordBody::Marked { kind, note, .. } => format!("{} was marked {note}", kind.name()),
        RecordBody::Rollback(rollback) => rollback.text.clone(),
        RecordBody::Usage(usage) => {
            let tokens: u64 = usage.models.iter().map(|one| one.tokens.counted()).sum();
            format!("{tokens} tokens")
        }
        RecordBody::Message { .. } => "the agent said something".to_owned(),
        RecordBody::Condensed => "the conversation was shortened".to_owned(),
        RecordBody::Halted { reason, by, .. } => format!("halted by {by}: {reason}"),
        RecordBody::ReviewClosed { note, by, .. } => format!("ticket closed by {by}: {note}"),
        RecordBody::Resumed { by, .. } => format!("resumed by {by}"),
        RecordBody::ConfigChanged { file, decision } => format!("{file}: {decision}"),
        RecordBody::Failure { stage, kind, detail, .. } => format!("{stage} failed ({kind}): {detail}"),
        RecordBody::Retention { reason, .. } => format!("sessions were removed: {reason}"),
        RecordBody::Anchor { session, .. } => format!("head of {session}"),
        RecordBody::Repaired { reason, .. } => reason.clone(),
        RecordBody::Unknown => "a record of a later version".to_owned(),
    };
    one_line(&text)
}

/// The call of a review: its command, its file, or its tool.
pub(super) fn call(review: &ReviewRecord) -> String {
    let fields = ["command", "file_path", "path", "url", "pattern", "query"];
    let found = fields.iter().find_map(|name| review.input.get(name).and_then(Json::as_str));
    match found {
        Some(text) => format!("{}: {text}", review.tool.as_str()),
        None => review.tool.as_str().to_owned(),
    }
}

/// The beginning of a text, on one line, without control characters.
fn one_line(text: &str) -> String {
    let mut line: String =
        text.chars().take(LONGEST).map(|one| if one.is_control() { ' ' } else { one }).collect();
    if text.chars().nth(LONGEST).is_some() {
        line.push('…');
    }
    line
}
