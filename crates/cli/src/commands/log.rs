//! `checkrein log`: what happened, newest last.

use std::collections::HashMap;

use checkrein_ledger::{FolderName, last, lines};
use checkrein_protocol::{ActionId, Record, RecordBody, VerdictKind};
use checkrein_session::SessionLedger;

use super::answers::{QuestionOutcome, answers};
use super::session_choice::folders;
use super::{ExitStatus, OutputForm, line, tell_fallen};
use crate::render::{call, judgement_words, rollback_stage, severity_name, surprises_in_one_line, time};
use crate::terminal::{cut, dim, plain, print, table, verdict};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// What to show.
#[derive(Debug, Clone, Default)]
pub struct LogFilter {
    /// One session, by the beginning of its name; every session by default.
    pub session: Option<String>,
    /// At most so many records, the newest.
    pub count: usize,
    /// Only reviews with this verdict.
    pub verdict: Option<String>,
}

/// Shows the newest records.
pub fn log(
    environment: &HostEnvironment,
    selection: &LogFilter,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    tell_fallen(environment, output);
    let mut records = Vec::new();
    let mut all_answers = HashMap::new();
    // Of what stands in the records text shows less than half.
    let read = if output == OutputForm::Text { selection.count.saturating_mul(5) } else { selection.count };
    for folder in folders(environment, selection.session.as_deref())? {
        let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
        // With a filter the newest matches may lie far back; without one the end of the file is enough.
        let found = match &selection.verdict {
            None => last(&ledger.path(), read)?,
            Some(_) => lines(&ledger.path())?.filter_map(|line| line.ok()?.record).collect(),
        };
        all_answers.extend(answers(&found));
        records.extend(found.into_iter().map(|record| (folder.clone(), record)));
    }
    records.retain(|(_, record)| matches_verdict(record, selection.verdict.as_deref()));
    if output == OutputForm::Text {
        records.retain(|(_, record)| is_told(record));
    }
    records.sort_by_key(|(_, record)| record.at);
    let newest = records.len().saturating_sub(selection.count);
    let records = records.split_off(newest);
    match output {
        OutputForm::Json => {
            for (folder, record) in &records {
                let mut value = serde_json::to_value(record).unwrap_or_default();
                if let Some(fields) = value.as_object_mut() {
                    fields.insert("session".to_owned(), folder.as_str().into());
                }
                print(&line(&value)?);
            }
        }
        OutputForm::Text if records.is_empty() => {
            let is_chosen =
                selection.count == 0 || selection.verdict.is_some() || selection.session.is_some();
            print(if is_chosen && has_any(environment) {
                "no record fits; `checkrein log` shows the newest of all"
            } else {
                "nothing is recorded yet; `checkrein init` registers the hooks"
            });
        }
        OutputForm::Text => {
            let rows = records.iter().map(|(folder, record)| row(folder, record, &all_answers)).collect();
            print(&table(&["time", "session", "id", "verdict", "what", "why"], rows));
        }
    }
    Ok(ExitStatus::Done)
}

/// Whether anything is recorded.
fn has_any(environment: &HostEnvironment) -> bool {
    folders(environment, None).is_ok_and(|folders| !folders.is_empty())
}

fn matches_verdict(record: &Record, wanted: Option<&str>) -> bool {
    match (wanted, &record.body) {
        (None, _) => true,
        (Some(wanted), RecordBody::Review(review)) => review.verdict.name() == wanted,
        (Some(_), _) => false,
    }
}

/// How much of a name is shown, in characters (ours): enough to tell those of one day apart, and to be typed.
const SESSION: usize = 8;
const ACTION: usize = 14;

/// Whether a record says more than the row of its call: what was spent stands in the list of sessions, and a
/// call without a word ran.
fn is_told(record: &Record) -> bool {
    match &record.body {
        // Anchors tie the chains of sessions together, and only `audit` has a use for them.
        RecordBody::Usage(_) | RecordBody::Message { .. } | RecordBody::Anchor { .. } => false,
        // What the client tells of its own turns is the frame of the calls, and no call.
        RecordBody::Event { name, .. } => name.starts_with("checkrein.") || name == "PermissionDenied",
        RecordBody::Outcome(outcome) => {
            outcome.failed || outcome.verification.as_deref().and_then(surprises_in_one_line).is_some()
        }
        _ => true,
    }
}

/// What `show`, `undo` and `session rollback --before` take for this record: the beginning of the name of its action, else session and number.
fn id(folder: &FolderName, record: &Record) -> String {
    let beginning = |text: &str, length: usize| text.chars().take(length).collect::<String>();
    let action = match &record.body {
        RecordBody::Review(review) => Some(&review.action_id),
        RecordBody::Outcome(outcome) => Some(&outcome.action_id),
        RecordBody::Unanswered(unanswered) => Some(&unanswered.action_id),
        RecordBody::Unreviewed(unreviewed) => Some(&unreviewed.action_id),
        _ => None,
    };
    match action {
        Some(id) => beginning(id.as_str(), ACTION),
        None => format!("{}:{}", beginning(folder.as_str(), SESSION), record.seq),
    }
}

fn row(folder: &FolderName, record: &Record, answers: &HashMap<ActionId, QuestionOutcome>) -> Vec<String> {
    let (mut mark, what, why) = describe(record);
    if let RecordBody::Review(review) = &record.body
        && let Some(answer) = answers.get(&review.action_id)
    {
        mark = format!("{mark}: {}", answer.word());
    }
    vec![
        dim(&time(record.at.0)),
        dim(&folder.as_str().chars().take(SESSION).collect::<String>()),
        plain(&id(folder, record)),
        mark,
        cut(&plain(&what), 60),
        cut(&plain(&why), 70),
    ]
}

/// A record in three cells: verdict, what, why.
fn describe(record: &Record) -> (String, String, String) {
    let plainly = |what: String, why: String| (dim("-"), what, why);
    match &record.body {
        RecordBody::Review(review) => (verdict(review.verdict), call(review), review.reason.clone()),
        RecordBody::Outcome(outcome) => {
            let how = if outcome.failed { "failed" } else { "done" };
            let surprise = outcome.verification.as_deref().and_then(surprises_in_one_line);
            let why = surprise.or_else(|| outcome.error.clone()).unwrap_or_default();
            plainly(format!("{} {how}", outcome.tool.as_str()), why)
        }
        RecordBody::Unanswered(unanswered) => (
            verdict(VerdictKind::Escalate),
            format!("ran unanswered: {}", unanswered.call),
            unanswered.reason.clone(),
        ),
        RecordBody::Unreviewed(unreviewed) => (
            verdict(VerdictKind::Block),
            format!("ran {}: {}", unreviewed.lack.in_words(), unreviewed.call),
            unreviewed.reason.clone(),
        ),
        RecordBody::Told { text, .. } => plainly("told".to_owned(), text.clone()),
        RecordBody::SessionStarted { workspace, source, .. } => {
            plainly(format!("session {source}"), workspace.clone())
        }
        RecordBody::Prompt { text } => plainly("prompt".to_owned(), text.clone()),
        RecordBody::Event { name, .. } => plainly(event_in_words(name).to_owned(), String::new()),
        RecordBody::Issue(issue) => plainly(
            format!("issue: {}, {}", issue.kind.name(), severity_name(issue.severity)),
            issue.summary.clone(),
        ),
        RecordBody::IssueEnded { kind } => plainly(format!("issue over: {}", kind.name()), String::new()),
        RecordBody::Intervention(made) => plainly(
            format!("intervention: {} about {}", made.kind.name(), made.pattern.name()),
            made.text.clone(),
        ),
        RecordBody::Rollback(rollback) => plainly(
            format!("rollback {}: before action {}", rollback_stage(rollback.stage), rollback.before.0),
            rollback.text.clone(),
        ),
        RecordBody::Marked { kind, judgement, note, .. } => {
            plainly(format!("marked: {} {}", kind.name(), judgement_words(*judgement)), note.clone())
        }
        RecordBody::Usage(usage) => {
            let tokens = usage.models.iter().map(|one| one.tokens.counted()).sum::<u64>();
            plainly(format!("spent {tokens} tokens"), usage.gap.clone().unwrap_or_default())
        }
        RecordBody::Message { .. } => plainly("message".to_owned(), String::new()),
        RecordBody::Condensed => plainly("conversation condensed".to_owned(), String::new()),
        RecordBody::Halted { reason, by, .. } => {
            (verdict(VerdictKind::Halt), format!("halted by {by}"), reason.clone())
        }
        RecordBody::ReviewClosed { ticket, note, by } => {
            plainly(format!("flag of record {ticket} closed by {by}"), note.clone())
        }
        RecordBody::Resumed { by, .. } => plainly(format!("resumed by {by}"), String::new()),
        RecordBody::ConfigChanged { file, decision } => plainly(format!("settings {file}"), decision.clone()),
        RecordBody::Failure { stage, kind, detail, verdict: answered } => {
            (verdict(*answered), format!("did not run: {stage} {kind}"), detail.clone())
        }
        RecordBody::Retention { removed, reason } => {
            plainly(format!("{} sessions removed", removed.len()), reason.clone())
        }
        RecordBody::Anchor { session, seq, .. } => plainly(format!("anchor {session} {seq}"), String::new()),
        RecordBody::Repaired { reason, lost_bytes, .. } => {
            plainly(format!("repaired, {lost_bytes} bytes"), reason.clone())
        }
        RecordBody::Unknown => plainly("unknown record".to_owned(), "written by a newer version".to_owned()),
    }
}

/// What an event of ours is called, for people; one of a client has the name that the client gives it.
fn event_in_words(name: &str) -> &str {
    match name {
        "checkrein.snapshot" => "the work tree was saved",
        "checkrein.snapshots_pruned" => "old snapshots were removed",
        "checkrein.incidents_removed" => "old incident reports were removed",
        "checkrein.restored" => "a snapshot was restored",
        "checkrein.merged" => "a worktree was merged",
        "checkrein.notified" => "a user was told",
        "checkrein.stopped" => "the session was stopped",
        other => other,
    }
}
