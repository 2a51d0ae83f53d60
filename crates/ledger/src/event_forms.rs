//! Events in the forms that tools for security events (SIEM) read, one a line.
//!
//! CEF after "Implementing ArcSight Common Event Format", version 25; OCSF after its schema 1.3.0, class Detection Finding with the profile
//! Security Control. Like the event log, no line holds a command, a prompt or content.

use std::fmt::Write as _;

use checkrein_protocol::{Record, RecordBody, VerdictKind};
use serde_json::{Map, Value as Json, json};

use crate::event_log::{Event, EventLevel, event_of};

/// A form of lines for events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventForm {
    /// Common Event Format.
    Cef,
    /// Open Cybersecurity Schema Framework, as JSON.
    Ocsf,
}

/// Returns the line of the event that a record tells, without a line end; `None` where it tells none that is worth a look. `version` is
/// that of the product.
pub fn event_line(form: EventForm, version: &str, session: &str, record: &Record) -> Option<String> {
    let event = event_of(&record.body)?;
    if event.level == EventLevel::Debug {
        return None;
    }
    Some(match form {
        EventForm::Cef => cef(version, session, record, &event),
        EventForm::Ocsf => ocsf(version, session, record, &event).to_string(),
    })
}

/// What happened, in words.
fn title(name: &str) -> &'static str {
    match name {
        "session.start" => "Agent session began",
        "session.end" => "Agent session ended",
        "session.halt" => "Agent session halted",
        "session.resume" => "Agent session resumed",
        "tool.review" => "Tool call reviewed",
        "tool.complete" => "Tool call ended",
        "tool.error" => "Tool call failed",
        "tool.unreviewed" => "Tool call ran without a review",
        "tool.unanswered" => "Tool call ran without the answer it needed",
        "issue.detected" => "Behaviour pattern detected",
        "issue.ended" => "Behaviour pattern ended",
        "intervention" => "Intervention",
        "cascade.detected" => "Cascade detected",
        "approval.asked" => "Question waits for an answer",
        "approval.answered" => "Question answered",
        "approval.forged" => "Answer forged",
        "recovery.rollback" => "Files set back",
        "config.changed" => "Settings of the agent changed",
        "check.failed" => "Check did not run",
        "ledger.repaired" => "Damaged records repaired",
        _ => "Event",
    }
}

/// The sentence that an event brings along, where it does.
fn said(fields: &Map<String, Json>) -> Option<&str> {
    ["reason", "summary", "detail", "text", "error"].iter().find_map(|name| fields.get(*name)?.as_str())
}

fn cef(version: &str, session: &str, record: &Record, event: &Event) -> String {
    // From 0 to 10; from 7 on it counts as high, from 9 on as very high.
    let severity = match event.level {
        EventLevel::Debug => 1,
        EventLevel::Info => 3,
        EventLevel::Warning => 6,
        EventLevel::Critical => 9,
    };
    let head = ["Checkrein", "checkrein", version, event.name, title(event.name)].map(in_head).join("|");
    let mut line = format!(
        "CEF:0|{head}|{severity}|rt={} externalId={} cs1Label=session cs1={}",
        record.at.0,
        record.seq,
        in_value(session)
    );
    let mut add = |name: &str, text: &str| {
        let _ = write!(line, " {name}={}", in_value(text));
    };
    if let RecordBody::Review(review) = &record.body {
        add("act", review.verdict.name());
    }
    if let Some(said) = said(&event.fields) {
        add("msg", said);
    }
    for (name, value) in &event.fields {
        match value {
            Json::Null => {}
            Json::String(text) => add(&key(name), text),
            other => add(&key(name), &other.to_string()),
        }
    }
    line
}

/// A field of ours as a key: producers put their name in front.
fn key(name: &str) -> String {
    name.split('_').fold("checkrein".to_owned(), |mut key, word| {
        let mut letters = word.chars();
        key.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        key.push_str(letters.as_str());
        key
    })
}

/// A text as a part of the head: one line, with `\` and `|` escaped.
fn in_head(text: &str) -> String {
    text.replace('\\', r"\\").replace('|', r"\|").replace(['\n', '\r'], " ")
}

/// A text as a value: `\` and `=` escaped, and ends of lines as signs.
fn in_value(text: &str) -> String {
    text.replace('\\', r"\\").replace('=', r"\=").replace('\r', r"\r").replace('\n', r"\n")
}

fn ocsf(version: &str, session: &str, record: &Record, event: &Event) -> Json {
    let (severity_id, severity) = match event.level {
        EventLevel::Debug | EventLevel::Info => (1, "Informational"),
        EventLevel::Warning => (3, "Medium"),
        EventLevel::Critical => (5, "Critical"),
    };
    let unique = format!("{session}:{}", record.seq);
    let (title, description) = (title(event.name), said(&event.fields).map(str::to_owned));
    let message = description.as_ref().map_or_else(|| title.to_owned(), |said| format!("{title}: {said}"));
    let mut line = json!({
        "metadata": {
            "version": "1.3.0",
            "product": { "name": "checkrein", "vendor_name": "Checkrein", "version": version },
            "profiles": ["security_control"],
            "uid": unique,
            "event_code": event.name,
            "correlation_uid": session,
        },
        "time": record.at.0,
        "category_uid": 2,
        "category_name": "Findings",
        "class_uid": 2004,
        "class_name": "Detection Finding",
        "activity_id": 1,
        "activity_name": "Create",
        "type_uid": 200_401,
        "type_name": "Detection Finding: Create",
        "severity_id": severity_id,
        "severity": severity,
        "is_alert": event.level == EventLevel::Critical,
        "finding_info": { "uid": unique, "title": title, "types": [event.name], "created_time": record.at.0 },
        "message": message,
        "unmapped": event.fields,
    });
    if let (Some(said), Some(finding)) = (description, line["finding_info"].as_object_mut()) {
        finding.insert("desc".to_owned(), said.into());
    }
    if let (RecordBody::Review(review), Some(fields)) = (&record.body, line.as_object_mut()) {
        let (action, action_name, disposition, disposition_name) = match review.verdict {
            VerdictKind::Ok | VerdictKind::Nudge => (1, "Allowed", 1, "Allowed"),
            // What the user said to it is another record.
            VerdictKind::Escalate => (0, "Unknown", 0, "Unknown"),
            VerdictKind::Block | VerdictKind::Halt => (2, "Denied", 2, "Blocked"),
        };
        fields.insert("action_id".to_owned(), action.into());
        fields.insert("action".to_owned(), action_name.into());
        fields.insert("disposition_id".to_owned(), disposition.into());
        fields.insert("disposition".to_owned(), disposition_name.into());
    }
    line
}

#[cfg(test)]
mod tests;
