//! `checkrein watch`: the sessions that are running, as they run. At a terminal an interface shows them (`interface.rs`), elsewhere a table.

mod acting;
mod drawing;
mod input;
mod interface;
mod reading;
mod screen;
mod state;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::thread;
use std::time::Duration;

use checkrein_clients::is_canary;
use checkrein_ledger::{FolderName, last};
use checkrein_protocol::{HaltScope, Record, RecordBody, ReviewRecord, SessionId, VerdictKind};
use checkrein_session::{SessionLedger, SessionState, SessionSummary};
use checkrein_supervise::runs::{RunStage, Runs};
use rustix::termios::tcgetwinsize;

use super::sessions::{spent, tokens_in_words};
use super::{ExitStatus, OutputForm, Switch, tell_fallen};
use crate::api::{self, recorded};
use crate::phrases;
use crate::render::{call, severity_name, time};
use crate::terminal::{
    bold, brief, counted, cut, dim, fits, hanging, plain, print, print_exact, reader_is_gone, table,
    verdict_word,
};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::usage::cost_in_words;

/// A session that was written to within this time counts as running, in milliseconds (ours).
const RUNNING: u64 = 60 * 60 * 1000;

/// In how many of the newest records the last call is looked for (ours).
const RECORDS: usize = 32;

/// The condition of a session of which the client said that it is over.
const ENDED: &str = "ended";

/// The condition of a session that is halted, by itself or with all others.
const HALTED: &str = "halted";

/// How often it is looked again (ours).
const INTERVAL: Duration = Duration::from_secs(2);

/// What is known of one session at the moment.
struct Seen {
    summary: SessionSummary,
    state: SessionState,
    call: Option<Box<ReviewRecord>>,
    condition: &'static str,
}

/// Shows the running sessions, again and again, or once.
pub fn watch(
    environment: &HostEnvironment,
    once: Switch,
    all: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let is_live = io::stdout().is_terminal() && once == Switch::Off;
    if is_live && output == OutputForm::Text && io::stdin().is_terminal() && screen::is_usable(environment) {
        return interface::run(environment, all);
    }
    loop {
        let seen = look(environment, all)?;
        match output {
            OutputForm::Json => {
                for one in &seen {
                    print_exact(&api::line(&told(one))?);
                }
            }
            OutputForm::Text => {
                if is_live {
                    // Home and clear: what is shown is always what is now.
                    print("\u{1b}[H\u{1b}[2J");
                    print(&dim(&format!("checkrein watch  {}", time(environment.now().0))));
                }
                let shown = shown(&seen, all);
                print_exact(&if is_live { fitted(&shown, height()) } else { shown });
                tell_fallen(environment, output);
            }
        }
        if !is_live && (output == OutputForm::Text || once == Switch::On) {
            return Ok(ExitStatus::Done);
        }
        if reader_is_gone() {
            return Ok(ExitStatus::Done);
        }
        thread::sleep(INTERVAL);
    }
}

/// The height of the terminal, in lines; `None` where it tells none.
fn height() -> Option<usize> {
    let rows = tcgetwinsize(io::stdout()).ok()?.ws_row;
    (rows > 0).then_some(usize::from(rows))
}

/// Lines of the window that are not of the table (ours): the title above it, what is left out below it, and that of the cursor.
const AROUND: usize = 3;

/// The first lines, as many as the window holds: the newest sessions stand first.
fn fitted(text: &str, height: Option<usize>) -> String {
    let most = height.map_or(usize::MAX, |height| height.saturating_sub(AROUND).max(1));
    let count = text.lines().count();
    if count <= most {
        return text.to_owned();
    }
    let mut lines: Vec<&str> = text.lines().take(most).collect();
    let more =
        format!("{} below; `checkrein watch --once` shows all", counted((count - most) as u64, "more line"));
    lines.push(&more);
    lines.join("\n")
}

/// The sessions of runs that have ended or were stopped, with when that was, in milliseconds since 1970.
pub(super) struct EndedRuns(BTreeMap<FolderName, u64>);

impl EndedRuns {
    /// How long after the end of a run its hooks may still write, in milliseconds (ours).
    const LATE: u64 = 2000;

    pub(super) fn of(environment: &HostEnvironment) -> Self {
        let found = Runs::new(environment.state.root()).all().unwrap_or_default().into_iter();
        let over = found.filter_map(|found| {
            let state = found.loaded.ok()?.state;
            let is_over = !matches!(state.stage, RunStage::Prepared | RunStage::Started);
            let session = SessionId(state.session().filter(|_| is_over)?.to_owned());
            Some((FolderName::of(&session), state.written))
        });
        let mut all = BTreeMap::new();
        for (folder, at) in over {
            let known = all.entry(folder).or_insert(at);
            *known = at.max(*known);
        }
        Self(all)
    }

    /// Whether nothing was recorded of a session since its run was over. `last` is when that was done last, in milliseconds since 1970.
    pub(super) fn covers(&self, folder: &FolderName, last: Option<u64>) -> bool {
        let over = self.0.get(folder).map(|at| at.saturating_add(Self::LATE));
        over.is_some_and(|over| last.is_none_or(|last| last <= over))
    }
}

fn look(environment: &HostEnvironment, all: Switch) -> Result<Vec<Seen>, CommandError> {
    let now = environment.now().0;
    let by_runs = EndedRuns::of(environment);
    let mut seen = Vec::new();
    for summary in checkrein_session::sessions(&environment.state)? {
        let is_running = summary.last.is_some_and(|last| now.saturating_sub(last.0) < RUNNING);
        // What `doctor` tries is no work of an agent.
        if all == Switch::Off && !is_running || is_canary(summary.folder.as_str()) {
            continue;
        }
        let ledger = SessionLedger::of_folder(&environment.state, summary.folder.clone());
        // One whose records cannot be read is shown as that, and hides no other.
        let state = ledger.state().unwrap_or_default();
        let records = last(&ledger.path(), RECORDS).unwrap_or_default();
        let last = records.last().map(|last| last.at.0);
        let condition = condition(&summary, &state, course(&summary, &records), last, &by_runs);
        if all == Switch::Off && condition == ENDED {
            continue;
        }
        let call = records.into_iter().rev().find_map(|record| match record.body {
            RecordBody::Review(review) => Some(review),
            _ => None,
        });
        seen.push(Seen { summary, state, call, condition });
    }
    Ok(seen)
}

/// The word for a session of which nothing is known.
const UNREADABLE: &str = "unreadable";

/// In one word: unreadable, halted, waiting (a user is asked), ended, at rest (the turn is over), or working.
/// `last` is when its newest record was written.
fn condition(
    summary: &SessionSummary,
    state: &SessionState,
    course: &'static str,
    last: Option<u64>,
    by_runs: &EndedRuns,
) -> &'static str {
    let course = match course {
        "working" | "at rest" if by_runs.covers(&summary.folder, last) => ENDED,
        course => course,
    };
    if summary.unreadable.is_some() && summary.halt.is_none() {
        return UNREADABLE;
    }
    match summary.halt.as_ref().map(|halt| halt.scope) {
        Some(HaltScope::Session) => HALTED,
        // A halt of all makes nothing of what is over.
        Some(HaltScope::All) if course != ENDED => HALTED,
        Some(HaltScope::All) | None if state.controller().awaits().is_some() => "waiting",
        Some(HaltScope::All) | None => course,
    }
}

/// What the newest records tell of a session. One that nobody began and in which nothing was done, such as the records of a merge, is over.
fn course(summary: &SessionSummary, records: &[Record]) -> &'static str {
    let newest = records.iter().rev().find_map(|record| match &record.body {
        RecordBody::Event { name, .. } if name == "SessionEnd" => Some(ENDED),
        RecordBody::Event { name, .. } if name == "Stop" => Some("at rest"),
        RecordBody::Review(review) if review.verdict == VerdictKind::Escalate => Some("waiting"),
        // A merge has an outcome, and nobody asked for a review of it.
        RecordBody::Outcome(_) => (summary.actions > 0).then_some("working"),
        RecordBody::Review(_) | RecordBody::Prompt { .. } | RecordBody::SessionStarted { .. } => {
            Some("working")
        }
        _ => None,
    });
    newest.unwrap_or(if summary.actions > 0 { "working" } else { ENDED })
}

fn told(one: &Seen) -> api::sessions::WatchEntry {
    let standing = one.state.behaviour().standing().iter();
    let issues = standing.map(|issue| api::sessions::StandingIssue {
        kind: issue.kind.name().to_owned(),
        severity: severity_name(issue.severity).to_owned(),
    });
    let rung = one.state.controller().rung().map(checkrein_intervention::InterventionKind::name);
    api::sessions::WatchEntry {
        session: one.summary.folder.as_str().to_owned(),
        client: one.summary.client.clone(),
        last: one.summary.last.map(Into::into),
        actions: one.summary.actions,
        call: one.call.as_deref().map(call),
        verdict: recorded(&one.call.as_deref().map(|review| &review.verdict)),
        verdicts: recorded(&one.summary.verdicts),
        issues: issues.collect(),
        rung: rung.map(str::to_owned),
        spent: spent(&one.summary),
        condition: one.condition.to_owned(),
    }
}

fn shown(seen: &[Seen], all: Switch) -> String {
    if seen.is_empty() {
        return match all {
            Switch::On => "no session is recorded yet".to_owned(),
            Switch::Off => "no session is running; `--all` shows those of the past".to_owned(),
        };
    }
    let row = |one: &Seen| {
        let verdicts = &one.summary.verdicts;
        let issues: Vec<&str> =
            one.state.behaviour().standing().iter().map(|issue| phrases::pattern(issue.kind)).collect();
        let rung = one.state.controller().rung().map_or("", phrases::intervention_noun);
        let latest = one.call.as_deref();
        vec![
            cut(one.summary.folder.as_str(), 9),
            one.summary.client.clone().unwrap_or_default(),
            bold(one.condition),
            one.summary.actions.to_string(),
            format!("{} / {} / {}", verdicts.nudge, verdicts.escalate, verdicts.block),
            latest.map(|review| verdict_word(review.verdict)).unwrap_or_default(),
            latest.map(|review| brief(&plain(&call(review)), 40)).unwrap_or_default(),
            issues.join("; "),
            rung.to_owned(),
            tokens_in_words(&one.summary),
            cost_in_words(one.summary.spent.cost()),
        ]
    };
    let head = [
        "session",
        "client",
        "state",
        "calls",
        "hint/asked/stopped",
        "last",
        "call",
        "noticed",
        "done",
        "tokens",
        "cost",
    ];
    let rows: Vec<Vec<String>> = seen.iter().map(row).collect();
    if fits(&head, &rows) {
        table(&head, rows)
    } else {
        seen.iter().map(told_in_lines).collect::<Vec<_>>().join("\n")
    }
}

/// A session in a few lines, for a narrow terminal: how it stands, its last call, what was noticed, what it spent.
fn told_in_lines(one: &Seen) -> String {
    let summary = &one.summary;
    let calls = summary.calls.summary().unwrap_or_else(|| counted(summary.actions, "call"));
    let client = summary.client.as_deref().map(|name| format!("  {}", plain(name))).unwrap_or_default();
    let name = cut(summary.folder.as_str(), 9);
    let mut lines = vec![hanging(&format!("{name}{client}  {}  {calls}", bold(one.condition)), 2)];
    if let Some(review) = &one.call {
        let what = brief(&plain(&call(review)), 60);
        lines.push(hanging(&format!("  last call  {}  {what}", verdict_word(review.verdict)), 4));
    }
    let standing = one.state.behaviour().standing().iter();
    let issues: Vec<&str> = standing.map(|issue| phrases::pattern(issue.kind)).collect();
    if !issues.is_empty() {
        let rung = one.state.controller().rung().map(phrases::intervention_noun);
        let done = rung.map(|rung| format!("; done about it: {rung}")).unwrap_or_default();
        lines.push(hanging(&format!("  noticed  {}{done}", issues.join("; ")), 4));
    }
    let cost = cost_in_words(summary.spent.cost());
    lines.push(hanging(&format!("  tokens {}, cost {cost}", tokens_in_words(summary)), 4));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_sessions_stay_in_the_window() {
        let text = "head\none\ntwo\nthree";
        assert_eq!(fitted(text, None), text);
        assert_eq!(fitted(text, Some(7)), text);
        assert_eq!(
            fitted(text, Some(6)),
            "head\none\ntwo\n1 more line below; `checkrein watch --once` shows all"
        );
        assert!(fitted(text, Some(1)).starts_with("head\n3 more lines"));
    }
}
