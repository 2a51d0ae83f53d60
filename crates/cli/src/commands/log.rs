//! `checkrein log`: what happened, newest last. People read it as a story (`story.rs`), programs record by record.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use checkrein_ledger::{FolderName, LedgerFile, last, lines};
use checkrein_protocol::{ActionId, OutcomeRecord, Record, RecordBody};
use checkrein_session::SessionLedger;
use checkrein_world::find_workspace;

use super::session_choice::folders;
use super::story::{Entry, SessionHead, Story, is_risky, is_told};
use super::{ExitStatus, OutputForm, Switch, line, tell_fallen};
use crate::terminal::{
    ReadFrom, dim, log as remark, page_from, plain, print, print_exact, reader_is_gone, wrapped,
};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// What to show.
#[derive(Debug, Clone)]
pub struct LogFilter {
    /// One session, by the beginning of its name; every session by default.
    pub session: Option<String>,
    /// At most so many records, the newest.
    pub count: usize,
    /// Only reviews with this verdict.
    pub verdict: Option<String>,
    /// Only sessions of the workspace here.
    pub here: Switch,
    /// Only the last day.
    pub today: Switch,
    /// Only what came since this moment, in milliseconds since 1970.
    pub since: Option<u64>,
    /// Only what was not plainly fine.
    pub risky: Switch,
    /// Whether what comes is shown too, until the reader has enough.
    pub follow: Switch,
}

/// How often a followed log looks for new records (ours): a person sees no delay, and the disk rests.
const LOOK: Duration = Duration::from_millis(500);

/// How many records of one session are read first of what came in between (ours); where there are more, more are read.
const AT_ONCE: usize = 200;

/// How many records are shown where nobody says how many (ours): about a screen.
pub const NUMBER: usize = 30;

/// What `--today` goes back, in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Shows the newest records.
pub fn log(
    environment: &HostEnvironment,
    selection: &LogFilter,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    tell_fallen(environment, output);
    // Before anything is read, so that what comes meanwhile is not passed over.
    let seen = match selection.follow {
        Switch::On => newest(environment, selection)?,
        Switch::Off => HashMap::new(),
    };
    let (found, is_cut) = found(environment, selection, output)?;
    match output {
        OutputForm::Json => found.iter().try_for_each(|(folder, record, _)| print_json(folder, record))?,
        OutputForm::Text if found.is_empty() && selection.follow == Switch::Off => {
            let is_chosen = selection.count == 0
                || selection.verdict.is_some()
                || selection.session.is_some()
                || selection.since.is_some()
                || [selection.here, selection.today, selection.risky].contains(&Switch::On);
            let is_only_here = selection.here == Switch::On
                && selection.verdict.is_none()
                && selection.session.is_none()
                && selection.since.is_none()
                && [selection.today, selection.risky].iter().all(|one| *one == Switch::Off);
            print(&wrapped(match (is_chosen && has_any(environment), is_only_here) {
                (true, true) => {
                    "no session of this project is recorded yet: it begins with the next session of the agent; `checkrein doctor` shows \
                     whether the hooks are registered here"
                }
                (true, false) => "no record fits; `checkrein log` shows the newest of all",
                (false, _) => {
                    "nothing is recorded yet: run `checkrein init`, then restart the agent, and its calls appear here"
                }
            }));
        }
        OutputForm::Text => {
            let mut text = Story::new(environment).told(&entries(&found));
            if is_cut {
                let more = selection.count.saturating_mul(3).max(100);
                text.insert_str(
                    0,
                    &format!("{}\n", dim(&format!("earlier records are left out; `-n {more}` shows them"))),
                );
            }
            if selection.follow == Switch::Off { page_from(&text, ReadFrom::End) } else { print(&text) }
        }
    }
    if selection.follow == Switch::On {
        follow(environment, selection, output, &found, seen)?;
    }
    Ok(ExitStatus::Done)
}

/// What was not plainly fine in a session, as the log tells it but for its head; empty where there is nothing. At most so many records as
/// a log shows.
pub(super) fn remarkable(environment: &HostEnvironment, folder: &FolderName) -> Result<String, CommandError> {
    let selection = LogFilter {
        session: Some(folder.as_str().to_owned()),
        count: NUMBER,
        verdict: None,
        here: Switch::Off,
        today: Switch::Off,
        since: None,
        risky: Switch::On,
        follow: Switch::Off,
    };
    let (mut found, _) = found(environment, &selection, OutputForm::Text)?;
    found.retain(|(of, _, _)| of == folder);
    Ok(Story::of_session(environment, folder).told(&entries(&found)))
}

/// A record with its session and, of a review, what came of the call.
type Found = (FolderName, Record, Option<OutcomeRecord>);

fn entries(found: &[Found]) -> Vec<Entry<'_>> {
    found
        .iter()
        .map(|(folder, record, outcome)| Entry { folder, record, outcome: outcome.as_ref() })
        .collect()
}

/// The newest records that fit, oldest first, and whether there are older ones.
fn found(
    environment: &HostEnvironment,
    selection: &LogFilter,
    output: OutputForm,
) -> Result<(Vec<Found>, bool), CommandError> {
    let mut all: Vec<Found> = Vec::new();
    // Of what stands in the records text shows less than half.
    let read = if output == OutputForm::Text { selection.count.saturating_mul(5) } else { selection.count };
    let is_filtered =
        selection.verdict.is_some() || selection.since.is_some() || selection.risky == Switch::On;
    for folder in chosen(environment, selection)? {
        let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
        // With a filter the newest matches may lie far back; without one the end of the file is enough.
        if selection.since.is_some_and(|since| is_older(&ledger.path(), since)) {
            continue;
        }
        let records: Result<Vec<Record>, _> = if is_filtered {
            lines(&ledger.path()).map(|lines| lines.filter_map(|line| line.ok()?.record).collect())
        } else {
            last(&ledger.path(), read)
        };
        let records = match records {
            Ok(records) => records,
            // Of one session that is asked for that is the answer; among all it is no reason to hide the others.
            Err(error) if selection.session.is_some() => return Err(error.into()),
            Err(error) => {
                remark(&format!("checkrein: left out: {}", plain(&error.to_string())));
                continue;
            }
        };
        all.extend(fitting(environment, selection, output, &folder, records));
    }
    all.sort_by_key(|(_, record, _)| record.at);
    let newest = all.len().saturating_sub(selection.count);
    Ok((all.split_off(newest), newest > 0))
}

/// Whether nothing was written to a file since a moment in milliseconds since 1970, so that none of its records is younger.
fn is_older(path: &Path, since: u64) -> bool {
    let modified = std::fs::metadata(path).and_then(|facts| facts.modified());
    let age = modified.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    age.is_some_and(|age| age.as_millis() < u128::from(since))
}

/// Those records of one session that are wanted; in text, what came of a call stands with its review.
fn fitting(
    environment: &HostEnvironment,
    selection: &LogFilter,
    output: OutputForm,
    folder: &FolderName,
    records: Vec<Record>,
) -> Vec<Found> {
    let since = match (selection.since, selection.today) {
        (Some(since), _) => since,
        (None, Switch::On) => environment.now().0.saturating_sub(DAY),
        (None, Switch::Off) => 0,
    };
    let reviewed: HashSet<ActionId> = match output {
        OutputForm::Json => HashSet::new(),
        OutputForm::Text => records.iter().filter_map(reviewed).collect(),
    };
    let mut outcomes: HashMap<ActionId, OutcomeRecord> =
        records.iter().filter_map(outcome).filter(|(id, _)| reviewed.contains(id)).collect();
    let mut fitting = Vec::new();
    for record in records {
        let is_elsewhere = outcome(&record).is_some_and(|(id, _)| reviewed.contains(&id));
        let is_shown = output == OutputForm::Json || !is_elsewhere && is_told(&record);
        if record.at.0 < since || !is_shown || !matches_verdict(&record, selection.verdict.as_deref()) {
            continue;
        }
        let outcome = reviewed_action(&record).and_then(|id| outcomes.remove(id));
        if selection.risky == Switch::Off || is_risky(&record, outcome.as_ref()) {
            fitting.push((folder.clone(), record, outcome));
        }
    }
    fitting
}

fn reviewed_action(record: &Record) -> Option<&ActionId> {
    match &record.body {
        RecordBody::Review(review) => Some(&review.action_id),
        _ => None,
    }
}

fn reviewed(record: &Record) -> Option<ActionId> {
    reviewed_action(record).cloned()
}

fn outcome(record: &Record) -> Option<(ActionId, OutcomeRecord)> {
    match &record.body {
        RecordBody::Outcome(outcome) => Some((outcome.action_id.clone(), outcome.clone())),
        _ => None,
    }
}

/// The sessions to look into.
fn chosen(environment: &HostEnvironment, selection: &LogFilter) -> Result<Vec<FolderName>, CommandError> {
    let mut folders = folders(environment, selection.session.as_deref())?;
    if selection.here == Switch::On {
        let here = find_workspace(&environment.cwd);
        folders.retain(|folder| {
            SessionHead::of(environment, folder).workspace.is_some_and(|workspace| workspace == here.as_str())
        });
    }
    Ok(folders)
}

/// The number of the newest record of each session.
fn newest(
    environment: &HostEnvironment,
    selection: &LogFilter,
) -> Result<HashMap<FolderName, u64>, CommandError> {
    let mut newest = HashMap::new();
    for folder in chosen(environment, selection)? {
        let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
        newest.extend(last(&ledger.path(), 1)?.first().map(|record| (folder, record.seq)));
    }
    Ok(newest)
}

/// The records after the one with this number, all of them.
fn after(path: &LedgerFile, seen: Option<u64>) -> Result<Vec<Record>, CommandError> {
    let is_new = |record: &Record| seen.is_none_or(|seen| record.seq > seen);
    let mut asked = AT_ONCE;
    loop {
        let mut records = last(path, asked)?;
        let is_reached = records.len() < asked || records.first().is_none_or(|first| !is_new(first));
        if is_reached {
            records.retain(is_new);
            return Ok(records);
        }
        asked = asked.saturating_mul(4);
    }
}

/// Shows what comes, until the process is ended or nobody reads it.
fn follow(
    environment: &HostEnvironment,
    selection: &LogFilter,
    output: OutputForm,
    shown: &[Found],
    mut seen: HashMap<FolderName, u64>,
) -> Result<(), CommandError> {
    let mut story = Story::going_on(environment, &entries(shown));
    let shown: HashSet<(FolderName, u64)> =
        shown.iter().map(|(folder, record, _)| (folder.clone(), record.seq)).collect();
    while !reader_is_gone() {
        thread::sleep(LOOK);
        let mut fresh: Vec<Found> = Vec::new();
        for folder in chosen(environment, selection)? {
            let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
            let records = after(&ledger.path(), seen.get(&folder).copied())?;
            seen.extend(records.last().map(|record| (folder.clone(), record.seq)));
            fresh.extend(fitting(environment, selection, output, &folder, records));
        }
        fresh.retain(|(folder, record, _)| !shown.contains(&(folder.clone(), record.seq)));
        fresh.sort_by_key(|(_, record, _)| record.at);
        match output {
            OutputForm::Json => {
                fresh.iter().try_for_each(|(folder, record, _)| print_json(folder, record))?;
            }
            OutputForm::Text if fresh.is_empty() => {}
            OutputForm::Text => print(&story.told(&entries(&fresh))),
        }
    }
    Ok(())
}

fn print_json(folder: &FolderName, record: &Record) -> Result<(), CommandError> {
    let mut value = serde_json::to_value(record).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("session".to_owned(), folder.as_str().into());
    }
    print_exact(&line(&value)?);
    Ok(())
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
