//! `checkrein issue mark` and `checkrein issue stats`: what people say about detections, and what follows from it.
//!
//! Nothing is changed by a mark: it is counted, and a setting is suggested that a user may make.

use std::collections::BTreeMap;

use checkrein_ledger::{Durability, lines};
use checkrein_patterns::{Issue, PatternKind};
use checkrein_protocol::{Judgement, RecordBody, Timestamp};
use checkrein_session::SessionLedger;

use super::session_choice::{folders, only_folder};
use super::short_names::ShortNames;
use super::{ExitStatus, OutputForm, for_people_only};
use crate::api::{self, recorded};
use crate::render::{judgement_words, severity_name, time};
use crate::terminal::{dim, log, plain, print, print_exact, table};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// From how many marks on something is suggested (ours).
const ENOUGH: usize = 5;

/// Below this share of right detections something is suggested (upstream 1.2, `adjustment_threshold`).
const ACCURATE: f64 = 0.7;

/// Records what a user says about the issue `SESSION:NUMBER`; for one that was missed the session alone is named, and the pattern.
pub fn mark(
    environment: &HostEnvironment,
    id: &str,
    judgement: Judgement,
    pattern: Option<&str>,
    note: &str,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "issue mark")?;
    let (session, number) = match id.rsplit_once(':') {
        Some((session, number)) => (session, number.parse::<u64>().ok()),
        None => (id, None),
    };
    let folder = only_folder(environment, session)?;
    let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
    let (record, kind) = match (judgement, number, pattern) {
        (Judgement::Missed, None, Some(name)) => (0, named(name)?),
        (Judgement::Missed, _, _) => {
            return Err(CommandError::user(
                "what was missed has no record",
                "name the session and the pattern: `checkrein issue mark 4f3c missed --pattern stuck_loop`",
            ));
        }
        (Judgement::Confirmed | Judgement::FalseAlarm, Some(number), _) => {
            (number, issue(&ledger, number)?.kind)
        }
        (Judgement::Confirmed | Judgement::FalseAlarm, None, _) => {
            return Err(CommandError::user(
                format!("`{id}` does not name an issue"),
                "`checkrein issue list` shows each as SESSION:NUMBER",
            ));
        }
    };
    let body = RecordBody::Marked { record, kind, judgement, note: note.to_owned() };
    ledger.append(environment.now(), body, Durability::Durable)?;
    match output {
        OutputForm::Json => print_exact(&api::pretty(&api::sessions::Mark {
            record,
            kind: recorded(&kind),
            judgement: recorded(&judgement),
        })?),
        OutputForm::Text => print(&format!("{} is marked as {}", kind.name(), judgement_words(judgement))),
    }
    Ok(ExitStatus::Done)
}

fn named(name: &str) -> Result<PatternKind, CommandError> {
    PatternKind::of_name(name).ok_or_else(|| {
        let names: Vec<&str> = PatternKind::ALL.iter().map(|kind| kind.name()).collect();
        CommandError::user(format!("no pattern is called `{name}`"), format!("one of {}", names.join(", ")))
    })
}

fn issue(ledger: &SessionLedger, number: u64) -> Result<Issue, CommandError> {
    let mut records = lines(&ledger.path())?.filter_map(|line| line.ok()?.record);
    match records.find(|record| record.seq == number).map(|record| record.body) {
        Some(RecordBody::Issue(issue)) => Ok(*issue),
        Some(_) => Err(CommandError::user(
            format!("record {number} is not an issue"),
            "`checkrein issue list` shows each as SESSION:NUMBER",
        )),
        None => Err(CommandError::user(
            format!("there is no record {number}"),
            "`checkrein log --json` shows them",
        )),
    }
}

/// What is known about one pattern.
#[derive(Debug, Default)]
struct Column {
    detected: usize,
    confirmed: usize,
    false_alarms: usize,
    missed: usize,
}

/// An issue with what was said about it last.
struct Judged {
    id: String,
    /// When it was found.
    at: Timestamp,
    /// When it was over; `None` while it stands, as far as is known.
    ended: Option<Timestamp>,
    issue: Issue,
    judgement: Option<Judgement>,
    /// Whether a later record is about the same issue, which went on or got worse.
    goes_on: bool,
}

/// Lists the newest issues with what was said about them, newest last.
pub fn issues(
    environment: &HostEnvironment,
    count: usize,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let (mut judged, _) = read(environment)?;
    judged.retain(|one| !one.goes_on || one.judgement.is_some());
    judged.sort_by_key(|one| one.at);
    let shown = judged.split_off(judged.len().saturating_sub(count));
    match output {
        OutputForm::Json => {
            for one in &shown {
                print_exact(&api::line(&api::sessions::DetectedIssue {
                    id: one.id.clone(),
                    at: one.at.into(),
                    ended: one.ended.map(Into::into),
                    judgement: recorded(&one.judgement),
                    issue: recorded(&one.issue),
                })?);
            }
        }
        OutputForm::Text if shown.is_empty() => print("no issue was detected yet"),
        OutputForm::Text => {
            let names = ShortNames::of_sessions(environment);
            let rows = shown.iter().map(|one| {
                let state = match (one.ended, one.goes_on) {
                    (Some(at), _) => format!("over since {}", time(at.0)),
                    (None, true) => "see below".to_owned(),
                    (None, false) => "stands".to_owned(),
                };
                vec![
                    dim(&time(one.at.0)),
                    names.of_record(&one.id),
                    one.issue.kind.name().to_owned(),
                    severity_name(one.issue.severity).to_owned(),
                    state,
                    one.judgement.map_or("", judgement_words).to_owned(),
                    plain(&one.issue.summary),
                ]
            });
            print(&table(&["time", "issue", "pattern", "severity", "state", "mark", "what"], rows.collect()));
            if !judged.is_empty() {
                log(&format!("and {} older ones; `--number` shows more", judged.len()));
            }
        }
    }
    Ok(ExitStatus::Done)
}

/// Shows the confusion table of each pattern, what is not marked yet, and what is suggested.
pub fn marks(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let (judged, missed) = read(environment)?;
    let mut columns: BTreeMap<PatternKind, Column> = BTreeMap::new();
    for one in &judged {
        let column = columns.entry(one.issue.kind).or_default();
        column.detected += 1;
        match one.judgement {
            Some(Judgement::Confirmed) => column.confirmed += 1,
            Some(Judgement::FalseAlarm) => column.false_alarms += 1,
            Some(Judgement::Missed) | None => {}
        }
    }
    missed.into_iter().for_each(|kind| columns.entry(kind).or_default().missed += 1);
    let suggested = suggestions(&columns, &judged);
    let open: Vec<&Judged> = judged.iter().rev().filter(|one| one.judgement.is_none()).take(10).collect();
    match output {
        OutputForm::Json => {
            let patterns = columns
                .iter()
                .map(|(kind, column)| api::sessions::PatternStats {
                    pattern: kind.name().to_owned(),
                    detected: column.detected,
                    confirmed: column.confirmed,
                    false_alarms: column.false_alarms,
                    missed: column.missed,
                    accuracy: column.accuracy(),
                })
                .collect();
            let not_marked = open.iter().map(|one| one.id.clone()).collect();
            let suggestions = suggested;
            print_exact(&api::pretty(&api::sessions::IssueStats { patterns, suggestions, not_marked })?);
        }
        OutputForm::Text if columns.is_empty() => print("no issue was detected yet"),
        OutputForm::Text => {
            let row = |(kind, column): (&PatternKind, &Column)| {
                let accuracy =
                    column.accuracy().map_or_else(|| "unknown".to_owned(), |share| format!("{share:.2}"));
                let counts = [column.detected, column.confirmed, column.false_alarms, column.missed];
                let mut row = vec![kind.name().to_owned()];
                row.extend(counts.iter().map(ToString::to_string));
                row.push(accuracy);
                row
            };
            let head = ["pattern", "detected", "confirmed", "false alarms", "missed", "right"];
            print(&table(&head, columns.iter().map(row).collect()));
            if !open.is_empty() {
                let names = ShortNames::of_sessions(environment);
                let rows = open.iter().map(|one| {
                    vec![
                        names.of_record(&one.id),
                        one.issue.kind.name().to_owned(),
                        plain(&one.issue.summary),
                    ]
                });
                print(&format!("\n{}", table(&["not marked", "pattern", "what"], rows.collect())));
            }
            suggested.iter().for_each(|text| print(&format!("\nsuggested: {text}")));
        }
    }
    Ok(ExitStatus::Done)
}

impl Column {
    /// The share of right ones among all that were marked; `None` when none was.
    fn accuracy(&self) -> Option<f64> {
        let all = self.confirmed + self.false_alarms + self.missed;
        (all > 0).then(|| self.confirmed as f64 / all as f64)
    }
}

/// Every issue with its last mark, oldest first, and the patterns that were missed.
fn read(environment: &HostEnvironment) -> Result<(Vec<Judged>, Vec<PatternKind>), CommandError> {
    let (mut judged, mut missed): (Vec<Judged>, Vec<PatternKind>) = (Vec::new(), Vec::new());
    for folder in folders(environment, None)? {
        let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
        let mut numbers = BTreeMap::new();
        // The issue of each pattern that stands, by its place.
        let mut standing: BTreeMap<PatternKind, usize> = BTreeMap::new();
        // Issues and marks only: the others need not be parsed.
        for record in lines(&ledger.path())?.holding("\"kind\":\"").filter_map(|line| line.ok()?.record) {
            match record.body {
                RecordBody::Issue(issue) => {
                    let before = standing.insert(issue.kind, judged.len());
                    if let Some(before) = before.and_then(|place| judged.get_mut(place)) {
                        before.goes_on = true;
                    }
                    numbers.insert(record.seq, judged.len());
                    let id = format!("{}:{}", folder.as_str(), record.seq);
                    judged.push(Judged {
                        id,
                        at: record.at,
                        ended: None,
                        issue: *issue,
                        judgement: None,
                        goes_on: false,
                    });
                }
                RecordBody::IssueEnded { kind } => {
                    let ended = standing.remove(&kind).and_then(|place| judged.get_mut(place));
                    ended.into_iter().for_each(|one| one.ended = Some(record.at));
                }
                RecordBody::Marked { judgement: Judgement::Missed, kind, .. } => missed.push(kind),
                RecordBody::Marked { record, judgement, .. } => {
                    let one = numbers.get(&record).and_then(|place| judged.get_mut(*place));
                    one.into_iter().for_each(|one| one.judgement = Some(judgement));
                }
                _ => {}
            }
        }
    }
    Ok((judged, missed))
}

/// What a user might set, each in one sentence with its reason.
fn suggestions(columns: &BTreeMap<PatternKind, Column>, judged: &[Judged]) -> Vec<String> {
    let mut suggested = Vec::new();
    for (kind, column) in columns {
        let wrong = column.false_alarms;
        if column.confirmed + wrong >= ENOUGH && column.accuracy().is_some_and(|share| share < ACCURATE) {
            suggested.push(if column.confirmed == 0 {
                format!(
                    "take `{}` out of `patterns.enabled_patterns`: it was never right in {wrong} times",
                    kind.name()
                )
            } else {
                format!(
                    "`patterns.sensitivity: low`: `{}` was wrong {wrong} times in {}",
                    kind.name(),
                    column.confirmed + wrong
                )
            });
        }
        if column.missed >= ENOUGH && column.missed > wrong {
            suggested.push(format!(
                "`patterns.sensitivity: high`: `{}` was missed {} times",
                kind.name(),
                column.missed
            ));
        }
    }
    suggested.extend(least_confidence(judged));
    suggested
}

/// The confidence below which every marked detection was a false alarm.
fn least_confidence(judged: &[Judged]) -> Option<String> {
    let of = |wanted: Judgement| {
        judged.iter().filter(move |one| one.judgement == Some(wanted)).map(|one| one.issue.confidence.value())
    };
    let least = of(Judgement::Confirmed).reduce(f64::min)?;
    let spared = of(Judgement::FalseAlarm).filter(|confidence| *confidence < least).count();
    (spared >= ENOUGH).then(|| {
        format!(
            "`patterns.least_confidence: {least:.2}`: it leaves out {spared} false alarms and nothing that was confirmed"
        )
    })
}
