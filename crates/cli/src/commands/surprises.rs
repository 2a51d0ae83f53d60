//! `checkrein surprise list`: what changed although it was not predicted, by program.

use std::collections::BTreeMap;

use checkrein_ledger::{FolderName, lines};
use checkrein_protocol::{OutcomeRecord, RecordBody, SurpriseRecord, SurpriseRecordKind, VerificationRecord};
use checkrein_session::SessionLedger;

use super::session_choice::folders;
use super::story::{ACTION, at_home};
use super::{ExitStatus, OutputForm};
use crate::api::{self, recorded};
use crate::render::time;
use crate::terminal::{bold, brief, cut, dim, hanging, plain, plain_name, print, print_exact, wrapped};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// What the line of a record with surprises holds, as records are written.
const MARK: &str = "\"surprises\":[{";

/// What to show.
#[derive(Debug, Clone, Default)]
pub struct SurpriseFilter {
    /// One session, by the beginning of its name; every session by default.
    pub session: Option<String>,
    /// At most so many calls, the newest.
    pub number: usize,
}

/// A call after which something else was seen than predicted.
struct Surprised {
    folder: FolderName,
    at: u64,
    outcome: OutcomeRecord,
    verification: VerificationRecord,
}

/// Lists the surprises of the newest calls, grouped by program, the program with the most surprising calls first.
pub fn surprises(
    environment: &HostEnvironment,
    selection: &SurpriseFilter,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let mut calls = Vec::new();
    for folder in folders(environment, selection.session.as_deref())? {
        calls.extend(of_session(environment, &folder)?);
    }
    calls.sort_by_key(|call| call.at);
    let newest = calls.len().saturating_sub(selection.number);
    let calls = calls.split_off(newest);
    match output {
        OutputForm::Json => {
            for call in &calls {
                print_exact(&api::line(&api::sessions::SurprisingCall {
                    session: call.folder.as_str().to_owned(),
                    at: call.at.into(),
                    action_id: recorded(&call.outcome.action_id),
                    programs: recorded(&call.verification.programs),
                    call: recorded(&call.verification.call),
                    looked: recorded(&call.verification.looked),
                    surprises: recorded(&call.verification.surprises),
                    more_surprises: recorded(&call.verification.more_surprises),
                    other_causes: recorded(&call.verification.other_causes),
                    gaps: recorded(&call.verification.gaps),
                })?);
            }
        }
        OutputForm::Text if calls.is_empty() => {
            print(&wrapped(
                "no surprises: every change that was looked for had been predicted, or nothing was recorded yet",
            ));
        }
        OutputForm::Text => {
            print(&told(environment, &calls).join("\n"));
            print(&dim(&wrapped(&format!(
                "\nA surprise is not a proof. To teach what a program does, describe it in {}/catalogue/NAME.toml as docs/catalogue.md says; \
                 `checkrein check COMMAND` then shows it. `checkrein show ID` tells the whole of a call.",
                at_home(environment, environment.configuration.as_str())
            ))));
        }
    }
    Ok(ExitStatus::Done)
}

fn of_session(environment: &HostEnvironment, folder: &FolderName) -> Result<Vec<Surprised>, CommandError> {
    let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
    let mut found = Vec::new();
    for line in lines(&ledger.path())?.holding(MARK) {
        let line = line?;
        if let Some(record) = line.record
            && let RecordBody::Outcome(outcome) = record.body
            && let Some(verification) = outcome.verification.as_deref().cloned()
            && !verification.surprises.is_empty()
        {
            found.push(Surprised { folder: folder.clone(), at: record.at.0, outcome, verification });
        }
    }
    Ok(found)
}

/// What a call ran, in words; records of older versions hold empty names.
fn program(verification: &VerificationRecord) -> String {
    let names = verification.programs.iter().map(String::as_str).filter(|name| !name.is_empty());
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [] => "unknown".to_owned(),
        names => names.join(", "),
    }
}

/// What was seen, in words. What was predicted and did not happen is not gone.
fn seen(surprise: &SurpriseRecord) -> String {
    let path = plain_name(&surprise.path);
    match surprise.kind {
        SurpriseRecordKind::Missing => format!("nothing happened at {path}"),
        kind => format!("{kind} {path}"),
    }
}

/// Each program with its calls, and below a call what was seen after it and what had been predicted.
fn told(environment: &HostEnvironment, calls: &[Surprised]) -> Vec<String> {
    let mut programs: BTreeMap<String, Vec<&Surprised>> = BTreeMap::new();
    for call in calls {
        programs.entry(program(&call.verification)).or_default().push(call);
    }
    let mut groups: Vec<_> = programs.into_iter().collect();
    groups.sort_by_key(|(_, calls)| std::cmp::Reverse(calls.len()));
    let mut lines = Vec::new();
    for (program, calls) in groups {
        lines.push(bold(&cut(&plain(&program), 60)));
        for call in calls {
            let id: String = call.outcome.action_id.as_str().chars().take(ACTION).collect();
            let command = brief(&plain(&call.verification.call), 60);
            let head = format!("  {}  {}  {command}", dim(&time(call.at)), plain_name(&id));
            lines.push(hanging(&head, 4));
            let doubtful = if call.verification.other_causes.is_empty() { "" } else { " (or another call)" };
            for surprise in &call.verification.surprises {
                let predicted =
                    surprise.predicted.replacen("that ", "", 1).replace("``, ", "").replace(", ``", "");
                let text =
                    format!("{}{doubtful}; predicted: {}", seen(surprise), brief(&plain(&predicted), 80));
                lines.push(hanging(&format!("    {}", at_home(environment, &text)), 6));
            }
            if call.verification.more_surprises > 0 {
                lines.push(format!("    and {} more", call.verification.more_surprises));
            }
        }
    }
    lines
}
