//! `checkrein log`: what happened, newest last.

use checkrein_clients::CANARY_SESSION;
use checkrein_effects::Severity;
pub use checkrein_engine::text::{call, rollback_stage, time};
use checkrein_ledger::{FolderName, SessionLedger, last, lines};
use checkrein_protocol::{Judgement, Record, RecordBody, VerdictKind};

use super::surprises::surprises_in_one_line;
use super::{Exit, Output, line, tell_fallen};
use crate::terminal::{cut, dim, plain, print, table, verdict};
use checkrein_engine::environment::Surroundings;
use checkrein_engine::error::CommandError;

/// What to show.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// One session, by the beginning of its name; every session by default.
    pub session: Option<String>,
    /// At most so many records, the newest.
    pub count: usize,
    /// Only reviews with this verdict.
    pub verdict: Option<String>,
}

/// Shows the newest records.
pub fn log(surroundings: &Surroundings, selection: &Selection, output: Output) -> Result<Exit, CommandError> {
    tell_fallen(surroundings, output);
    let mut records = Vec::new();
    for folder in folders(surroundings, selection.session.as_deref())? {
        let ledger = SessionLedger::of_folder(&surroundings.state, folder.clone());
        // With a filter the newest matches may lie far back; without one the end of the file is enough.
        let found = match &selection.verdict {
            None => last(&ledger.path(), selection.count)?,
            Some(_) => lines(&ledger.path())?.filter_map(|line| line.ok()?.record).collect(),
        };
        records.extend(found.into_iter().map(|record| (folder.clone(), record)));
    }
    records.retain(|(_, record)| matches_verdict(record, selection.verdict.as_deref()));
    if output == Output::Text {
        // What was spent stands in the list of sessions; here it would stand between the calls.
        records.retain(|(_, record)| !matches!(record.body, RecordBody::Usage(_)));
    }
    records.sort_by_key(|(_, record)| record.at);
    let newest = records.len().saturating_sub(selection.count);
    let records = records.split_off(newest);
    match output {
        Output::Json => {
            for (folder, record) in &records {
                let mut value = serde_json::to_value(record).unwrap_or_default();
                if let Some(fields) = value.as_object_mut() {
                    fields.insert("session".to_owned(), folder.as_str().into());
                }
                print(&line(&value)?);
            }
        }
        Output::Text if records.is_empty() => {
            print("nothing is recorded yet; `checkrein init` registers the hooks");
        }
        Output::Text => {
            let rows = records.iter().map(|(folder, record)| row(folder, record)).collect();
            print(&table(&["time", "session", "verdict", "what", "why"], rows));
        }
    }
    Ok(Exit::Done)
}

/// The folders of the sessions whose name begins so; without a beginning all but what `doctor` tries, which is no work of an agent.
pub fn folders(
    surroundings: &Surroundings,
    beginning: Option<&str>,
) -> Result<Vec<FolderName>, CommandError> {
    let all = checkrein_ledger::sessions(&surroundings.state)?;
    let folders: Vec<FolderName> = all
        .into_iter()
        .filter(|session| {
            let name = session.folder.as_str();
            beginning.map_or(name != CANARY_SESSION, |text| name.starts_with(text))
        })
        .map(|session| session.folder)
        .collect();
    match beginning {
        Some(text) if folders.is_empty() => Err(CommandError::user(
            format!("no session begins with `{text}`"),
            "`checkrein sessions` lists them",
        )),
        _ => Ok(folders),
    }
}

/// The folder of the one session whose name begins so.
pub fn only_folder(surroundings: &Surroundings, beginning: &str) -> Result<FolderName, CommandError> {
    let found = folders(surroundings, Some(beginning))?;
    match found.as_slice() {
        [folder] => Ok(folder.clone()),
        many => Err(CommandError::user(
            format!("{} sessions begin with `{beginning}`", many.len()),
            "give more of the name",
        )),
    }
}

fn matches_verdict(record: &Record, wanted: Option<&str>) -> bool {
    match (wanted, &record.body) {
        (None, _) => true,
        (Some(wanted), RecordBody::Review(review)) => review.verdict.name() == wanted,
        (Some(_), _) => false,
    }
}

fn row(folder: &FolderName, record: &Record) -> Vec<String> {
    let (mark, what, why) = describe(record);
    vec![
        dim(&time(record.at.0)),
        dim(&cut(folder.as_str(), 9)),
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
        RecordBody::Told { text, .. } => plainly("told".to_owned(), text.clone()),
        RecordBody::SessionStarted { workspace, source, .. } => {
            plainly(format!("session {source}"), workspace.clone())
        }
        RecordBody::Prompt { text } => plainly("prompt".to_owned(), text.clone()),
        RecordBody::Event { name, .. } => plainly(name.clone(), String::new()),
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

/// A severity in one word.
pub fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "low",
        Severity::Medium => "medium",
        Severity::High => "high",
        Severity::Critical => "critical",
    }
}

/// A judgement in words, as it is given.
pub fn judgement_words(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Confirmed => "confirmed",
        Judgement::FalseAlarm => "false-alarm",
        Judgement::Missed => "missed",
    }
}
