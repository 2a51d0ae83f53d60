//! Reading the sessions again and again: what has not changed is not read again, and of what grew only the end.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt as _;

use checkrein_clients::is_canary;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::text::one_line;
use checkrein_ledger::{FolderName, Tail, is_halted, last};
use checkrein_protocol::{ActionId, OutcomeRecord, Record, RecordBody};
use checkrein_session::{Cost, SessionLedger, SessionState, SessionSummary};

use super::state::{CallRow, SessionRow};
use super::{ENDED, EndedRuns, RECORDS, RUNNING, condition, course};
use crate::commands::Switch;
use crate::commands::answers::answers;
use crate::commands::show::{action, explained, explained_record};
use crate::commands::story::{Entry, SessionHead, StoryLine, at_home, is_told, shortened};
use crate::phrases;
use crate::render::clock;
use crate::terminal::plain;

/// How many of the newest records of the selected session are kept (ours): more than anybody scrolls through.
const KEPT: usize = 600;

/// How often it is looked which runs have ended, in milliseconds (ours): that reads every run.
const RUNS: u64 = 10_000;

/// The longest text of a row, in columns (ours): that of a wide terminal.
const TEXT: usize = 300;

/// What was read so far.
pub(super) struct SessionReader {
    known: HashMap<FolderName, KnownSession>,
    by_runs: Option<(u64, EndedRuns)>,
    selected: Option<(FolderName, Tail)>,
}

/// What is known of a session, as long as its ledger stays as it is.
struct KnownSession {
    mark: FileMark,
    summary: SessionSummary,
    state: SessionState,
    course: &'static str,
    last: Option<u64>,
    head: SessionHead,
}

/// What tells that a file was written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileMark {
    inode: u64,
    length: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl SessionReader {
    /// Returns a reader that has read nothing yet.
    pub(super) fn new() -> Self {
        Self { known: HashMap::new(), by_runs: None, selected: None }
    }

    /// The sessions that are running, or all, the one with the newest record first.
    pub(super) fn sessions(
        &mut self,
        environment: &HostEnvironment,
        all: Switch,
    ) -> Result<Vec<SessionRow>, CommandError> {
        let now = environment.now().0;
        if self.by_runs.as_ref().is_none_or(|(at, _)| now.saturating_sub(*at) >= RUNS) {
            self.by_runs = Some((now, EndedRuns::of(environment)));
        }
        let mut rows = Vec::new();
        let mut there = HashSet::new();
        for folder in environment.state.folders()? {
            let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
            let Ok(metadata) = ledger.path().metadata() else { continue };
            let written = u64::try_from(metadata.mtime()).unwrap_or_default().saturating_mul(1000);
            let is_silent = now.saturating_sub(written) > RUNNING + 1000;
            if is_canary(folder.as_str()) || all == Switch::Off && is_silent {
                continue;
            }
            let mark = FileMark {
                inode: metadata.ino(),
                length: metadata.len(),
                seconds: metadata.mtime(),
                nanoseconds: metadata.mtime_nsec(),
            };
            there.insert(folder.clone());
            let is_known = self.known.get(&folder).is_some_and(|known| known.mark == mark);
            if !is_known {
                let head = self.known.remove(&folder).map(|known| known.head);
                self.known.insert(folder.clone(), known(environment, &ledger, mark, head)?);
            }
            let Some(known) = self.known.get_mut(&folder) else { continue };
            known.summary.halt = is_halted(&environment.state, &folder);
            let is_running = known.summary.last.is_some_and(|last| now.saturating_sub(last.0) < RUNNING);
            let Some((_, by_runs)) = &self.by_runs else { continue };
            let condition = condition(&known.summary, &known.state, known.course, known.last, by_runs);
            if all == Switch::On || is_running && condition != ENDED {
                rows.push(row(environment, known, condition));
            }
        }
        self.known.retain(|folder, _| there.contains(folder));
        rows.sort_by(|one, other| other.last.cmp(&one.last).then_with(|| one.folder.cmp(&other.folder)));
        Ok(rows)
    }

    /// The newest lines of a session, oldest first.
    pub(super) fn calls(
        &mut self,
        environment: &HostEnvironment,
        folder: &FolderName,
    ) -> Result<Vec<CallRow>, CommandError> {
        if self.selected.as_ref().is_none_or(|(selected, _)| selected != folder) {
            let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
            self.selected = Some((folder.clone(), Tail::new(ledger.path(), KEPT)));
        }
        let Some((_, tail)) = &mut self.selected else { return Ok(Vec::new()) };
        tail.read()?;
        let records = tail.records();
        let reviewed: HashSet<&ActionId> = records.iter().filter_map(reviewed).collect();
        let outcomes: HashMap<&ActionId, &OutcomeRecord> = records.iter().filter_map(outcome).collect();
        let answers = answers(records);
        let workspace = self.known.get(folder).and_then(|known| known.summary.workspace.as_ref());
        let workspace = workspace.map(checkrein_protocol::AbsolutePath::as_str);
        let is_shown = |record: &&Record| {
            let is_elsewhere = outcome(record).is_some_and(|(id, _)| reviewed.contains(id));
            !is_elsewhere && is_told(record)
        };
        let row = |record: &Record| {
            let outcome = self::reviewed(record).and_then(|id| outcomes.get(id)).copied();
            let line = StoryLine::of(&Entry { folder, record, outcome }, &answers);
            CallRow {
                seq: record.seq,
                clock: clock(record.at.0),
                verdict: line.verdict,
                answer: line.answer,
                what: shown(&shortened(environment, workspace, &line.what)),
                result: line.result.join(", "),
            }
        };
        Ok(records.iter().filter(is_shown).map(row).collect())
    }

    /// Everything that is known about the record with this number of the session that was read last, as `show` tells it.
    pub(super) fn details(&self, environment: &HostEnvironment, seq: u64) -> Option<String> {
        let (_, tail) = self.selected.as_ref()?;
        let record = tail.records().iter().find(|record| record.seq == seq)?;
        Some(match action(record) {
            Some(id) => explained(environment, tail.records(), &ActionId(id.to_owned())),
            None => explained_record(record),
        })
    }
}

fn known(
    environment: &HostEnvironment,
    ledger: &SessionLedger,
    mark: FileMark,
    head: Option<SessionHead>,
) -> Result<KnownSession, CommandError> {
    let state = ledger.state()?;
    let summary = checkrein_session::summary(&environment.state, ledger.folder().clone(), &state);
    let records = last(&ledger.path(), RECORDS)?;
    let course = course(&summary, &records);
    // The beginning of a ledger is read until the user has said something.
    let head = match head {
        Some(head) if head.prompt.is_some() => head,
        Some(_) | None => SessionHead::of(environment, ledger.folder()),
    };
    Ok(KnownSession { mark, course, last: records.last().map(|last| last.at.0), summary, state, head })
}

fn row(environment: &HostEnvironment, known: &KnownSession, condition: &'static str) -> SessionRow {
    let KnownSession { summary, state, head, .. } = known;
    let workspace = summary.workspace.as_ref().map(|path| path.as_str().to_owned());
    let place = workspace.or_else(|| head.workspace.clone()).unwrap_or_default();
    let project = place.rsplit('/').next().unwrap_or_default();
    let mut issues: Vec<&str> =
        state.behaviour().standing().iter().map(|issue| phrases::pattern(issue.kind)).collect();
    issues.extend(state.controller().rung().map(phrases::intervention_noun));
    let tokens = summary.spent.tokens().all();
    SessionRow {
        folder: summary.folder.clone(),
        project: shown(project),
        place: shown(&at_home(environment, &place)),
        prompt: shown(head.prompt.as_deref().unwrap_or_default()),
        agent: shown(summary.client.as_deref().unwrap_or_default()),
        condition,
        halt: summary.halt.as_ref().map(|halt| halt.scope),
        last: summary.last.map_or(0, |last| last.0),
        calls: summary.actions,
        nudges: summary.verdicts.nudge,
        questions: summary.verdicts.escalate,
        blocks: summary.verdicts.block + summary.verdicts.halt,
        tokens: if summary.spent.is_metered() { rounded(tokens) } else { String::new() },
        cost: match summary.spent.cost() {
            Some(Cost::Known(known)) => known.to_string(),
            Some(Cost::About(known)) => format!("~{known}"),
            Some(Cost::AtLeast(known)) if known.0 > 0 => format!(">{known}"),
            Some(Cost::AtLeast(_)) | None => String::new(),
        },
        issues: issues.join("; "),
    }
}

/// A text of somebody else, fit to be shown in one line.
fn shown(text: &str) -> String {
    one_line(&plain(text), TEXT)
}

/// A number of tokens in a few characters.
fn rounded(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

fn reviewed(record: &Record) -> Option<&ActionId> {
    match &record.body {
        RecordBody::Review(review) => Some(&review.action_id),
        _ => None,
    }
}

fn outcome(record: &Record) -> Option<(&ActionId, &OutcomeRecord)> {
    match &record.body {
        RecordBody::Outcome(outcome) => Some((&outcome.action_id, outcome)),
        _ => None,
    }
}
