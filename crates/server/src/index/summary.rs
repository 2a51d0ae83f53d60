//! A record in one line, for lists and events.

use checkrein_engine::approvals::{ANSWERED, ASKED, FORGED};
use checkrein_engine::incident::CLOSED;
use checkrein_engine::text::patched_files;
use checkrein_protocol::{ActionId, OutcomeRecord, RecordBody, ReviewRecord, VerificationRecord};
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
        RecordBody::Review(review) => match review.snapshot.as_ref().filter(|saved| saved.entries > 0) {
            Some(saved) => {
                format!("{} (saved first: snapshot {})", cut(&call(review), LONGEST - 40), saved.id)
            }
            None => call(review),
        },
        RecordBody::Outcome(outcome) => ended(outcome),
        RecordBody::Unanswered(unanswered) => format!("ran without an answer: {}", unanswered.call),
        RecordBody::Unreviewed(_) => "a call ran without a review".to_owned(),
        RecordBody::Prompt { text } | RecordBody::Told { text, .. } => text.clone(),
        RecordBody::Event { name, fields } => event(name, fields),
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

/// How a call ended, and how much of it was not foreseen.
fn ended(outcome: &OutcomeRecord) -> String {
    let end = match &outcome.error {
        Some(error) => format!("failed: {error}"),
        None if outcome.failed => "failed".to_owned(),
        None => format!("done, {} bytes", outcome.output_bytes),
    };
    match outcome.verification.as_deref().map_or(0, surprises) {
        0 => end,
        1 => format!("{}; 1 surprise", cut(&end, LONGEST - 40)),
        many => format!("{}; {many} surprises", cut(&end, LONGEST - 40)),
    }
}

/// How many changes were not as predicted.
pub(super) fn surprises(seen: &VerificationRecord) -> u64 {
    (seen.surprises.len() as u64).saturating_add(seen.more_surprises)
}

/// What an event of ours says; of those of a client the name.
fn event(name: &str, fields: &Json) -> String {
    let text = |name: &str| fields[name].as_str().unwrap_or_default();
    match name {
        ASKED => format!("waits for an answer: {}", text("call")),
        ANSWERED => {
            let by = &fields["by"];
            let who = by["name"].as_str().map_or_else(String::new, |who| format!(" by {who}"));
            let door = by["source"].as_str().map_or_else(String::new, |door| format!(" ({door})"));
            let said = match (text("end"), fields["answer"].as_str()) {
                ("allowed", Some("once") | None) => "allowed".to_owned(),
                ("allowed", Some(span)) => format!("allowed ({span})"),
                ("stopped", _) => format!("refused, since something changed: {}", text("why")),
                (end, _) => end.to_owned(),
            };
            format!("the question was {said}{who}{door}")
        }
        CLOSED => format!("the incident was closed: {}", text("note")),
        FORGED => format!("an answer that does not count: {}", text("why")),
        _ => name.to_owned(),
    }
}

/// The call that an event is about.
pub(super) fn action_of(fields: &Json) -> Option<ActionId> {
    fields["action"].as_str().map(|id| ActionId(id.to_owned()))
}

fn cut(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The last call of a session in one line.
pub(super) fn call_line(review: &ReviewRecord) -> String {
    one_line(&call(review))
}

/// The call of a review: its command, its file, or its tool.
pub(super) fn call(review: &ReviewRecord) -> String {
    let fields = ["command", "file_path", "path", "url", "pattern", "query"];
    let found = fields.iter().find_map(|name| review.input.get(name).and_then(Json::as_str));
    let files =
        found.map(patched_files).filter(|_| review.tool.as_str() == "apply_patch").unwrap_or_default();
    match found {
        Some(_) if !files.is_empty() => format!("{}: {}", review.tool.as_str(), files.join(", ")),
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
