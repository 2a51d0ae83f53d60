//! The event log: what records tell that is worth a look, one JSON object a line, a file a day, for whatever gathers logs. It holds no
//! prompt and no content of a file, and what it takes over from a record is masked already. Beside sealed records it holds no words at all: they
//! stand in the records. The ledger is the truth: what cannot be written here
//! is lost, and says so to nobody but a problem of the append.

use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use checkrein_protocol::{CascadeLevel, Record, RecordBody, Severity, Timestamp, VerdictKind};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::state_directory::append_private;

/// The longest text of an event, in characters (upstream 3.4).
const LONGEST: usize = 500;
/// The ending of the files.
const ENDING: &str = ".jsonl";
/// The length of a day as a name: `2026-11-27`.
const DAY: usize = 10;

/// Which events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventDetail {
    /// What is worth a look.
    Notable,
    /// Also calls that pass without a word, and outcomes.
    All,
}

/// Whether events say in words what records say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventWords {
    /// They do.
    Told,
    /// They hold names and numbers alone: the records are sealed, and words beside them would tell what they hide.
    Withheld,
}

/// The fields of events that hold words of a record, or places.
const WORDS: [&str; 8] = ["detail", "error", "file", "reason", "summary", "text", "why", "workspace"];

/// Where events are written, and which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventLog {
    folder: PathBuf,
    detail: EventDetail,
    words: EventWords,
}

/// How urgent an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventLevel {
    /// Routine.
    Debug,
    /// Worth a look.
    Info,
    /// Something was held back, or did not run.
    Warning,
    /// Somebody should look now: an alert.
    Critical,
}

/// An event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// What happened, such as `session.start`.
    pub name: &'static str,
    /// How urgent it is.
    pub level: EventLevel,
    /// What is known of it.
    pub fields: Map<String, Json>,
}

impl EventLog {
    /// Writes into files of this folder.
    pub fn new(folder: PathBuf, detail: EventDetail, words: EventWords) -> Self {
        Self { folder, detail, words }
    }

    /// Appends the events of these records.
    pub(crate) fn write(&self, session: &str, records: &[Record]) -> io::Result<()> {
        let (mut text, mut last) = (String::new(), Timestamp(0));
        for record in records {
            let Some(mut event) = event_of(&record.body) else { continue };
            if event.level == EventLevel::Debug && self.detail < EventDetail::All {
                continue;
            }
            match self.words {
                EventWords::Told => {}
                EventWords::Withheld => event.fields.retain(|name, _| !WORDS.contains(&name.as_str())),
            }
            last = record.at;
            text.push_str(&line(session, record, event).to_string());
            text.push('\n');
        }
        if text.is_empty() {
            return Ok(());
        }
        let path = self.folder.join(day_of(last) + ENDING);
        let mut file = match append_private(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
                append_private(&path)?
            }
            opened => opened?,
        };
        // One write: lines of processes that write at once stay whole.
        file.write_all(text.as_bytes())
    }
}

/// The files of days before this time, oldest first; other files are nobody's to remove.
///
/// # Errors
///
/// The folder cannot be read.
pub fn old_events(folder: &Path, oldest: Timestamp) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let first = day_of(oldest);
    let mut old = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let day = name.to_str().and_then(|name| name.strip_suffix(ENDING)).unwrap_or_default();
        let is_day = day.len() == DAY && day.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if is_day && day < first.as_str() && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            old.push(entry.path());
        }
    }
    old.sort();
    Ok(old)
}

fn day_of(at: Timestamp) -> String {
    at.calendar().to_rfc3339().chars().take(DAY).collect()
}

fn line(session: &str, record: &Record, event: Event) -> Json {
    let mut line = Map::new();
    line.insert("timestamp".to_owned(), json!(record.at.calendar().to_rfc3339()));
    line.insert("event".to_owned(), json!(event.name));
    line.insert("level".to_owned(), json!(event.level));
    if event.level == EventLevel::Critical {
        line.insert("alert".to_owned(), json!(true));
    }
    line.insert("session".to_owned(), json!(session));
    line.insert("record".to_owned(), json!(record.seq));
    line.extend(event.fields);
    Json::Object(line)
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// What a record tells as an event; `None` where it tells none.
pub fn event_of(body: &RecordBody) -> Option<Event> {
    let (name, level, fields) = match body {
        RecordBody::SessionStarted { client, workspace, source, .. } => (
            "session.start",
            EventLevel::Info,
            json!({ "client": client, "workspace": workspace, "source": source }),
        ),
        RecordBody::Review(review) => {
            let level = match review.verdict {
                VerdictKind::Ok if review.flagged => EventLevel::Info,
                VerdictKind::Ok => EventLevel::Debug,
                VerdictKind::Nudge => EventLevel::Info,
                VerdictKind::Escalate | VerdictKind::Block => EventLevel::Warning,
                VerdictKind::Halt => EventLevel::Critical,
            };
            let fields = json!({
                "action": review.action_id, "tool": review.tool, "decision": review.decision,
                "verdict": review.verdict, "flagged": review.flagged, "risk": review.risk.score,
                "risk_level": review.risk.level, "rules": review.rules, "duration_us": review.elapsed_us,
            });
            ("tool.review", level, fields)
        }
        RecordBody::Outcome(outcome) => (
            if outcome.failed { "tool.error" } else { "tool.complete" },
            EventLevel::Debug,
            json!({
                "action": outcome.action_id, "tool": outcome.tool, "duration_ms": outcome.duration_ms,
                "output_bytes": outcome.output_bytes, "secrets_masked": outcome.masked.len(),
                "error": outcome.error.as_deref().map(cut),
            }),
        ),
        RecordBody::Unreviewed(unreviewed) => {
            ("tool.unreviewed", EventLevel::Critical, json!({ "action": unreviewed.action_id }))
        }
        RecordBody::Unanswered(unanswered) => {
            ("tool.unanswered", EventLevel::Critical, json!({ "action": unanswered.action_id }))
        }
        RecordBody::Issue(issue) => (
            "issue.detected",
            match issue.severity {
                Severity::Low | Severity::Medium => EventLevel::Info,
                Severity::High => EventLevel::Warning,
                Severity::Critical => EventLevel::Critical,
            },
            json!({
                "issue": issue.kind, "severity": issue.severity, "confidence": issue.confidence,
                "summary": cut(&issue.summary),
            }),
        ),
        RecordBody::IssueEnded { kind } => ("issue.ended", EventLevel::Info, json!({ "issue": kind })),
        RecordBody::Intervention(one) => (
            "intervention",
            EventLevel::Warning,
            json!({
                "type": one.kind, "issue": one.pattern, "severity": one.severity, "score": one.score,
                "reason": cut(&one.reason),
            }),
        ),
        RecordBody::Message { cascade: Some(cascade), .. } => {
            let (level, taken) = match cascade.level {
                CascadeLevel::None => return None,
                CascadeLevel::Low | CascadeLevel::Medium => (EventLevel::Info, "recorded"),
                CascadeLevel::High => (EventLevel::Warning, "not approved by itself"),
                CascadeLevel::Critical => (EventLevel::Critical, "not approved by itself, alert"),
            };
            let fields = json!({
                "cascade_level": cascade.level, "score": cascade.score, "patterns": cascade.patterns,
                "action_taken": taken,
            });
            ("cascade.detected", level, fields)
        }
        RecordBody::Rollback(rollback) => {
            ("recovery.rollback", EventLevel::Warning, json!({ "text": cut(&rollback.text) }))
        }
        RecordBody::Halted { scope, reason, by } => {
            ("session.halt", EventLevel::Critical, json!({ "scope": scope, "reason": cut(reason), "by": by }))
        }
        RecordBody::Resumed { by, .. } => ("session.resume", EventLevel::Info, json!({ "by": by })),
        RecordBody::ConfigChanged { file, decision } => {
            ("config.changed", EventLevel::Warning, json!({ "file": file, "decision": decision }))
        }
        RecordBody::Failure { stage, kind, detail, verdict } => (
            "check.failed",
            EventLevel::Warning,
            json!({ "stage": stage, "kind": kind, "detail": cut(detail), "verdict": verdict }),
        ),
        RecordBody::Repaired { reason, .. } => {
            ("ledger.repaired", EventLevel::Warning, json!({ "reason": cut(reason) }))
        }
        RecordBody::Event { name, fields } => return own_event(name, fields),
        RecordBody::Prompt { .. }
        | RecordBody::Told { .. }
        | RecordBody::Message { cascade: None, .. }
        | RecordBody::Marked { .. }
        | RecordBody::Usage(_)
        | RecordBody::Condensed
        | RecordBody::ReviewClosed { .. }
        | RecordBody::Retention { .. }
        | RecordBody::Anchor { .. }
        | RecordBody::Unknown => return None,
    };
    let Json::Object(fields) = fields else { return None };
    Some(Event { name, level, fields })
}

/// Events that have no record of a type of their own.
fn own_event(name: &str, fields: &Json) -> Option<Event> {
    let (name, level, kept): (_, _, &[&str]) = match name {
        "checkrein.approval_asked" => {
            ("approval.asked", EventLevel::Info, &["approval", "action", "expires_at"])
        }
        "checkrein.approval_answered" => {
            ("approval.answered", EventLevel::Info, &["approval", "action", "end", "answer", "by"])
        }
        "checkrein.approval_forged" => {
            ("approval.forged", EventLevel::Critical, &["approval", "action", "why"])
        }
        "SessionEnd" => ("session.end", EventLevel::Info, &["reason"]),
        _ => return None,
    };
    let taken = kept.iter().filter_map(|field| Some(((*field).to_owned(), fields.get(*field)?.clone())));
    Some(Event { name, level, fields: taken.collect() })
}

/// All events by name, for the page that lists them.
pub const EVENTS: [&str; 20] = [
    "session.start",
    "session.end",
    "session.halt",
    "session.resume",
    "tool.review",
    "tool.complete",
    "tool.error",
    "tool.unreviewed",
    "tool.unanswered",
    "issue.detected",
    "issue.ended",
    "intervention",
    "cascade.detected",
    "approval.asked",
    "approval.answered",
    "approval.forged",
    "recovery.rollback",
    "config.changed",
    "check.failed",
    "ledger.repaired",
];

#[cfg(test)]
mod tests;
