//! Stopping: the one way that every stop takes, whoever decides it. First what keeps the session from going on, then the record, then the
//! report on the incident, then the people who want to be told.
//!
//! Several may stop a session at one moment: its hooks, the run above them, a user. One after the other: who comes second finds the stop that
//! stands, adds itself to its report, and tells people only where the first did not come to it.

mod standing;

use std::fs;
use std::io;

use checkrein_intervention::{FurtherStop, IncidentId};
use checkrein_ledger::{Durability, HaltTarget, halt, mask::mask_text};

use checkrein_patterns::Issue;
use checkrein_policy::{Config, Profile};
use checkrein_protocol::{AbsolutePath, HaltScope, RecordBody, Timestamp};
use checkrein_session::{SessionLedger, SessionState};

use checkrein_review::VerdictKind;
use checkrein_supervise::runs::{HookStop, HookSwitch};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::cleanup;
use crate::environment::HostEnvironment;
use crate::incident::{self, Report};
use crate::lineage;
use crate::notification::{self, Notice};
use standing::{StandingStop, Turn};

/// What keeps a stopped session from going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barrier {
    /// Its halt file: every further call is refused until a user resumes.
    Halt,
    /// The halt file of all sessions, which is there already.
    HaltOfAll,
    /// Nothing more: its processes are ended, or each call is refused anyway.
    None,
}

/// A stop that was decided.
#[derive(Debug)]
pub struct Stopping<'a> {
    /// What was found around.
    pub environment: &'a HostEnvironment,
    /// The configuration in force.
    pub config: &'a Config,
    /// Where the agent works; its configuration says who is told.
    pub workspace: &'a AbsolutePath,
    /// The session; `None` when the client never named one.
    pub ledger: Option<&'a SessionLedger>,
    /// What the records of the session come to.
    pub state: &'a SessionState,
    /// What keeps the session from going on.
    pub barrier: Barrier,
    /// By whom: `person`, `emergency_stop`, `tripwire NAME`, `run: SWITCH`, `budget`.
    pub by: &'a str,
    /// Why, in one sentence.
    pub reason: &'a str,
    /// What the detectors found, when it is for that.
    pub issue: Option<&'a Issue>,
    /// By what the run above the session ends, when the run has to end for it.
    pub switch: Option<HookSwitch>,
    /// When what is stopped began, where that is known: a stop before it was one of something else.
    pub since: Option<Timestamp>,
}

/// By whom a session is stopped whose limits are reached.
pub(crate) const BUDGET: &str = "budget";

/// Stops a session. What goes wrong on the way is said and keeps nothing else from being done. `before` are records that belong in front of
/// that of the stop. Answers a line that names the report, beginning with the end of the line before.
pub fn stop_session(stopping: &Stopping<'_>, before: Vec<RecordBody>) -> String {
    let Stopping { environment, config, ledger, reason, by, .. } = *stopping;
    let now = environment.now();
    // The run hears first why: it takes a halt that it knows nothing else of for the word of a user.
    end_run(stopping, None);
    // The halt stands before the record: a stop that could not be written down is a stop all the same.
    if let (Barrier::Halt, Some(ledger)) = (stopping.barrier, ledger)
        && let Err(error) = halt(&environment.state, HaltTarget::Session(ledger.folder()), reason)
    {
        environment.diagnostics.add(format!("not halted: {error}"));
    }
    // Held until people are told: who waits for it finds all of that done, or does it.
    let _turn = ledger.map(|ledger| Turn::wait(environment, ledger));
    let standing = ledger.and_then(|ledger| StandingStop::find(stopping, ledger, now));
    if let Some(ledger) = ledger {
        let mut records = before;
        records.push(match &standing {
            Some(standing) if standing.is_halted || stopping.barrier != Barrier::Halt => {
                further_record(stopping, &standing.incident.id)
            }
            Some(_) | None => record(stopping),
        });
        if let Err(error) = ledger.append_all(now, records, Durability::Durable) {
            environment.diagnostics.add(format!("not recorded: {error}"));
        }
    }
    if let Some(standing) = standing {
        return add_to(stopping, standing, now);
    }
    let report = Report { ledger, state: stopping.state, issue: stopping.issue, by, reason, config, at: now };
    let mut incident = None;
    let saved = match incident::save(environment, &report) {
        Ok(id) => {
            if config.interventions.emergency_stop.auto_cleanup {
                let created = stopping.state.history().created;
                cleanup::move_away(environment, stopping.workspace, created, &id);
            }
            named(&incident.insert(id).0)
        }
        Err(error) => format!("\nNo report could be saved: {error}"),
    };
    end_run(stopping, Some(saved.trim_start().to_owned()));
    tell(stopping, &saved, incident);
    end_client(stopping);
    if let Some(ledger) = ledger {
        let kept = &config.interventions.emergency_stop;
        if let Err(error) = incident::clear_away(environment, ledger, kept, now) {
            environment.diagnostics.add(format!("old incidents were not removed: {error}"));
        }
    }
    saved
}

/// Adds a stop to the one that stands; the line that names its report.
fn add_to(stopping: &Stopping<'_>, standing: StandingStop, now: Timestamp) -> String {
    let environment = stopping.environment;
    let StandingStop { mut incident, is_told, .. } = standing;
    let stop = FurtherStop { at: now, by: stopping.by.to_owned(), reason: stopping.reason.to_owned() };
    if let Err(error) = incident::add(environment, &mut incident, stop) {
        environment.diagnostics.add(format!("the report could not be added to: {error}"));
    }
    let saved = named(&incident.id.0);
    end_run(stopping, Some(saved.trim_start().to_owned()));
    if !is_told {
        tell(stopping, &saved, Some(incident.id));
    }
    end_client(stopping);
    saved
}

/// The line that names a report.
fn named(incident: &str) -> String {
    format!("\nThe report: `checkrein incident show {incident}`")
}

/// Has the run above the session end, where there is one and it has to; with the line that names the report, once there is one.
fn end_run(stopping: &Stopping<'_>, report: Option<String>) {
    let environment = stopping.environment;
    let Some((run, switch)) = environment.run_limits.as_deref().zip(stopping.switch) else { return };
    let reason = environment.state.mask_key().map_or_else(
        |_| "its hooks stopped it".to_owned(),
        |key| mask_text(stopping.reason, &key).into_owned(),
    );
    if let Err(error) = run.stop(&HookStop { switch, reason, report, back: None }) {
        environment.diagnostics.add(format!("the run was not told to end: {error}"));
    }
}

/// Ends the process of the client of a session that its hook halts, where nobody is there who could end it and no run above does (seed 003: a halt
/// shuts the agent down). Where a user is near it is theirs: every call of it is refused.
fn end_client(stopping: &Stopping<'_>) {
    let Stopping { environment, config, ledger, barrier, switch, .. } = *stopping;
    let is_alone = match config.profile {
        Profile::Unattended | Profile::Strict => environment.run_limits.is_none(),
        Profile::Interactive => false,
    };
    let (Barrier::Halt, Some(_), Some(ledger), true) = (barrier, switch, ledger, is_alone) else { return };
    let Some(number) = lineage::client_of(environment, ledger.folder()) else { return };
    let fields = json!({ "process": number });
    let body = RecordBody::Event { name: "client_ended".to_owned(), fields };
    if let Err(error) = ledger.append(environment.now(), body, Durability::Durable) {
        environment.diagnostics.add(format!("not recorded: {error}"));
    }
    let ended = Pid::from_raw(number).map(|process| kill_process(process, Signal::TERM));
    if let Some(Err(error)) = ended {
        environment.diagnostics.add(format!("the process of the client was not ended: {error}"));
    }
}

/// The record of a stop. Only a halt keeps a session from going on, so only a halt is recorded as one.
fn record(stopping: &Stopping<'_>) -> RecordBody {
    let (reason, by) = (stopping.reason.to_owned(), stopping.by.to_owned());
    match stopping.barrier {
        Barrier::Halt => RecordBody::Halted { scope: HaltScope::Session, reason, by },
        Barrier::HaltOfAll => RecordBody::Halted { scope: HaltScope::All, reason, by },
        Barrier::None => RecordBody::Event {
            name: "checkrein.stopped".to_owned(),
            fields: json!({ "reason": reason, "by": by }),
        },
    }
}

/// The record of a stop of what was stopped already: nothing more was done to it.
fn further_record(stopping: &Stopping<'_>, standing: &IncidentId) -> RecordBody {
    RecordBody::Event {
        name: "checkrein.stopped_again".to_owned(),
        fields: json!({ "reason": stopping.reason, "by": stopping.by, "incident": standing.0 }),
    }
}

fn tell(stopping: &Stopping<'_>, saved: &str, incident: Option<IncidentId>) {
    let Stopping { environment, config, ledger, reason, by, .. } = *stopping;
    let text = stopping.issue.map_or(reason, |issue| issue.summary.as_str());
    let key = environment.state.mask_key();
    let text =
        key.map_or_else(|_| String::new(), |key| mask_text(&format!("{text}{saved}"), &key).into_owned());
    let notice = Notice {
        event: if by == "emergency_stop" { by } else { "stop" }.to_owned(),
        session: ledger.map(|ledger| ledger.folder().as_str().to_owned()).unwrap_or_default(),
        workspace: stopping.workspace.clone(),
        at: environment.now(),
        title: match by {
            "emergency_stop" => "checkrein stopped a session".to_owned(),
            by => format!("checkrein stopped a session ({by})"),
        },
        text,
        incident: incident.map(|incident| incident.0),
        question: None,
    };
    // The run ends now, and with it whatever would send the notice from here.
    let is_left = stopping.switch.is_some() && environment.run_limits.is_some();
    let way = if is_left { notification::leave } else { notification::send };
    if let Err(error) = way(environment, config, &notice) {
        let detail = error.to_string();
        environment.diagnostics.add(format!("nobody was told: {detail}"));
        let failure = RecordBody::Failure {
            stage: "notify".to_owned(),
            kind: "not_started".to_owned(),
            detail,
            verdict: VerdictKind::Ok,
        };
        if let Some(ledger) = ledger
            && let Err(error) = ledger.append(environment.now(), failure, Durability::Plain)
        {
            environment.diagnostics.add(format!("not recorded: {error}"));
        }
    }
}

/// Whether there is a report on a stop of this session by the same, so that what is refused again and again is reported once.
pub(crate) fn is_reported(
    environment: &HostEnvironment,
    ledger: &SessionLedger,
    by: &str,
) -> io::Result<bool> {
    let entries = match fs::read_dir(incident::folder(environment)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let text = fs::read(entry?.path().join("report.json")).unwrap_or_default();
        let Ok(report) = serde_json::from_slice::<serde_json::Value>(&text) else { continue };
        if report["session"] == ledger.folder().as_str() && report["by"] == by {
            return Ok(true);
        }
    }
    Ok(false)
}
