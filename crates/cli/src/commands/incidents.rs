//! `checkrein incident list`, `checkrein incident show ID` and `checkrein incident close ID`: what was saved of emergency stops.

use std::collections::BTreeSet;
use std::fs;

use checkrein_intervention::{Incident, IncidentClosing};

use super::name_choice::NamedKind;
use super::{ExitStatus, OutputForm, for_people_only};
use crate::api;
use crate::phrases;
use crate::terminal::{brief, dim, plain, print, print_exact, table};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::incident::{self, folder, report};

/// Where a user closes an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClosingSource {
    /// A terminal.
    CommandLine,
    /// A page of the server.
    Console,
    /// Its API.
    Api,
}

impl ClosingSource {
    fn word(self) -> &'static str {
        match self {
            Self::CommandLine => "command_line",
            Self::Console => "console",
            Self::Api => "api",
        }
    }
}

/// Lists all incidents, newest last.
pub fn incidents(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let all = read(environment)?;
    match output {
        OutputForm::Json => {
            for incident in &all {
                print_exact(&api::line(&told(incident))?);
            }
        }
        OutputForm::Text if all.is_empty() => print("no session was ever stopped"),
        OutputForm::Text => {
            let rows = all.iter().map(|incident| {
                let issue = incident.issue.as_ref();
                let seen = plain(issue.map_or(&incident.root_cause, |issue| &issue.summary));
                vec![
                    incident.id.0.clone(),
                    if incident.session.is_empty() { "none".to_owned() } else { incident.session.clone() },
                    issue.map_or_else(
                        || phrases::by(&incident.by).to_owned(),
                        |issue| phrases::pattern(issue.kind).to_owned(),
                    ),
                    incident
                        .closed
                        .as_ref()
                        .map_or_else(|| "open".to_owned(), |closed| dim(&brief(&plain(&closed.note), 40))),
                    seen,
                ]
            });
            print(&table(&["incident", "session", "why", "state", "what"], rows.collect()));
        }
    }
    Ok(ExitStatus::Done)
}

/// Shows the incident whose name begins so.
pub fn show(environment: &HostEnvironment, id: &str, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let all = read(environment)?;
    let name = NamedKind::Incident.newest_or_only(id, all.iter().map(|incident| incident.id.0.as_str()))?;
    let found = all.iter().find(|incident| incident.id.0 == name);
    let one = found.ok_or_else(|| NamedKind::Incident.unknown(id))?;
    match output {
        OutputForm::Json => print_exact(&api::pretty(&told(one))?),
        OutputForm::Text => print(&one.markdown(|moment| crate::render::time(moment.0))),
    }
    Ok(ExitStatus::Done)
}

/// Closes the incident whose name begins so, with the word of a user.
pub fn close(
    environment: &HostEnvironment,
    id: &str,
    (note, source): (&str, ClosingSource),
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "incident close")?;
    if note.trim().is_empty() {
        return Err(CommandError::user("the note is empty", "say what you found"));
    }
    let all = read(environment)?;
    let name =
        NamedKind::Incident.newest_or_only(id, all.iter().map(|incident| incident.id.0.as_str()))?.to_owned();
    let found = all.into_iter().find(|incident| incident.id.0 == name);
    let found = found.ok_or_else(|| NamedKind::Incident.unknown(id))?;
    if found.closed.is_some() {
        return Err(CommandError::user(
            format!("`{name}` is closed already"),
            "`checkrein incident show` tells by what note",
        ));
    }
    let closing = IncidentClosing {
        at: environment.now(),
        by: environment.user.clone().unwrap_or_else(|| "unknown".to_owned()),
        source: source.word().to_owned(),
        note: note.to_owned(),
    };
    let closed = incident::close(environment, found, closing)
        .map_err(|error| CommandError::file("close", &name, &error))?;
    match output {
        OutputForm::Json => print_exact(&api::pretty(&told(&closed))?),
        OutputForm::Text => print(&format!("closed {name}")),
    }
    Ok(ExitStatus::Done)
}

/// How many incidents there were in these sessions since a moment in milliseconds since 1970.
pub(super) fn of_sessions(
    environment: &HostEnvironment,
    sessions: &BTreeSet<&str>,
    since: u64,
) -> Result<u64, CommandError> {
    let all = read(environment)?;
    let is_meant =
        |incident: &&Incident| sessions.contains(incident.session.as_str()) && incident.at.0 >= since;
    Ok(all.iter().filter(is_meant).count() as u64)
}

/// An incident as its report holds it.
fn told(incident: &Incident) -> api::sessions::IncidentReport {
    api::sessions::IncidentReport(api::recorded(incident).as_object().cloned().unwrap_or_default())
}

/// All incidents, oldest first; the names begin with the time. A report that cannot be read is an error, never left out.
pub(super) fn read(environment: &HostEnvironment) -> Result<Vec<Incident>, CommandError> {
    let folder = folder(environment);
    let shown = folder.display().to_string();
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(CommandError::file("read", &shown, &error)),
    };
    let mut all: Vec<Incident> = Vec::new();
    for entry in entries {
        let path =
            entry.map_err(|error| CommandError::file("read", &shown, &error))?.path().join("report.json");
        // Whoever wrote it was ended before the report stood there.
        if !path.exists() {
            continue;
        }
        let name = path.display().to_string();
        let text = report(environment, path.parent().unwrap_or(&path))
            .map_err(|error| CommandError::file("read", &name, &error))?;
        let incident = serde_json::from_slice(&text).map_err(|error| {
            CommandError::user(
                format!("`{name}`: {error}"),
                "remove its folder if it was written by another program",
            )
        })?;
        all.push(incident);
    }
    all.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(all)
}
