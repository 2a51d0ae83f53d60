//! `checkrein audit`: whether the records are whole, a copy of them, and how long they stay.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::thread;
use std::time::Duration;

use checkrein_clients::is_canary;
use checkrein_ledger::{
    EventForm, ExportError, FolderName, RecordedAuthentication, Verification, event_line, export_csv,
    export_csv_header, export_json_lines, lines_from,
};
use checkrein_policy::ExportFormat;
use checkrein_protocol::RecordBody;
use checkrein_session::SessionLedger;
use checkrein_world::find_workspace;

use super::name_choice::NamedKind;
use super::{ExitStatus, OutputForm, Switch, for_people_only};
use crate::api;
use crate::api::installation::{AuditPruned, AuditedAuthentication, AuditedSession, PrunedStore};
use crate::terminal::{Health, Reply, confirm, counted, log_all, mark, plain, print, print_exact, table};
use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::retention::{self, Carry, DueRecords};
use checkrein_engine::session_ledger;
use checkrein_engine::text::time;

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportForm {
    /// The records as they stand, so that the copy can be verified too.
    JsonLines,
    /// A table.
    Csv,
    /// What is worth a look, for tools for security events.
    Events(EventForm),
}

/// Whether an export goes on with what comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Going {
    /// It ends with what is recorded.
    Ends,
    /// It goes on until the process is ended.
    On,
}

/// How often new records are looked for (ours).
const LOOK: Duration = Duration::from_millis(500);

/// Verifies every ledger, or those of the sessions whose name begins so.
pub fn verify(
    environment: &HostEnvironment,
    session: Option<&str>,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let all = checkrein_ledger::verify_against(&environment.state, anchor(environment).as_deref())?;
    let chosen: Vec<(&String, &Verification)> = all
        .sessions
        .iter()
        .filter(|(folder, _)| session.is_none_or(|text| folder.starts_with(text)))
        .collect();
    let is_known = |text: &str| !chosen.is_empty() || all.missing.keys().any(|name| name.starts_with(text));
    if let Some(text) = session.filter(|text| text.is_empty() || !is_known(text)) {
        if let Some(ended) = pruned(environment, text, output)? {
            return Ok(ended);
        }
        return Err(NamedKind::Session.unknown(text));
    }
    // What belongs to no ledger is said when everything is looked at, not when one session is.
    let (around, beside) = match session {
        None => (
            all.problems.as_slice(),
            [
                ("(removed sessions)", all.retention.as_ref()),
                ("(authentications)", all.authentications.as_ref()),
                ("(pipelines)", all.pipelines.as_ref()),
            ],
        ),
        Some(_) => (&[][..], [("", None); 3]),
    };
    let named: Vec<(&str, &Verification)> =
        beside.into_iter().filter_map(|(name, found)| Some((name, found?))).collect();
    let missing: Vec<(&String, &checkrein_ledger::Broken)> = all
        .missing
        .iter()
        .filter(|(folder, _)| session.is_none_or(|text| folder.starts_with(text)))
        .collect();
    let whole = around.is_empty()
        && missing.is_empty()
        && chosen.iter().all(|(_, verification)| verification.is_whole())
        && named.iter().all(|(_, found)| found.is_whole());
    for (name, verification) in
        chosen.iter().map(|(name, verification)| (name.as_str(), *verification)).chain(named)
    {
        let texts = |broken: &[checkrein_ledger::Broken]| broken.iter().map(describe).collect::<Vec<_>>();
        let (problems, repairs) = (texts(&verification.problems), texts(&verification.repairs));
        match output {
            OutputForm::Json => print_exact(&api::line(&AuditedSession {
                session: Some(name.to_string()),
                records: verification.records,
                problems: problems.clone(),
                repairs: repairs.clone(),
            })?),
            OutputForm::Text => {
                let well = if verification.is_whole() { Health::Well } else { Health::Broken };
                print(&format!("{} {name}  {}", mark(well), counted(verification.records, "record")));
                problems.iter().for_each(|problem| print(&format!("     {problem}")));
                repairs.iter().for_each(|repair| print(&format!("     repaired: {repair}")));
            }
        }
    }
    for (name, problem) in &missing {
        let problem = describe(problem);
        match output {
            OutputForm::Json => print_exact(&api::line(&AuditedSession {
                session: Some((*name).clone()),
                records: 0,
                problems: vec![problem],
                repairs: Vec::new(),
            })?),
            OutputForm::Text => print(&format!("{} {name}\n     {problem}", mark(Health::Broken))),
        }
    }
    if let Some(testimony) = environment.state.testimony()
        && !missing.is_empty()
        && output == OutputForm::Text
    {
        let folder = testimony.folder().display();
        print(&format!("To accept the loss of whole sessions, remove `{folder}` in a terminal."));
    }
    for problem in around {
        match output {
            OutputForm::Json => print_exact(&api::line(&AuditedSession {
                session: None,
                records: 0,
                problems: vec![describe(problem)],
                repairs: Vec::new(),
            })?),
            OutputForm::Text => print(&format!("{} {}", mark(Health::Broken), describe(problem))),
        }
    }
    if output == OutputForm::Text {
        let records: u64 = chosen.iter().map(|(_, verification)| verification.records).sum();
        let verdict = if whole { "intact" } else { "NOT intact" };
        let (records, sessions) = (counted(records, "record"), counted(chosen.len() as u64, "session"));
        print(&format!("{records} in {sessions}: {verdict}"));
    }
    Ok(if whole { ExitStatus::Done } else { ExitStatus::Failed })
}

/// Shows who showed what to get in, newest last.
pub fn authentications(
    environment: &HostEnvironment,
    count: usize,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let mut all = checkrein_ledger::authentications(&environment.state)?;
    all.drain(..all.len().saturating_sub(count));
    let rows = all.into_iter().map(|RecordedAuthentication { record, at, authentication: one }| {
        AuditedAuthentication {
            record,
            at: at.0,
            act: one.act.name().to_owned(),
            subject: one.subject,
            by: one.by,
            from: one.from,
            result: one.result.name().to_owned(),
            detail: one.detail,
        }
    });
    match output {
        OutputForm::Json => {
            for row in rows {
                print_exact(&api::line(&row)?);
            }
        }
        OutputForm::Text => {
            let cells = rows.map(|row| {
                let why = if row.detail.is_empty() { String::new() } else { format!(": {}", row.detail) };
                vec![
                    time(row.at),
                    row.act.replace('_', " "),
                    plain(&row.subject),
                    plain(&row.by),
                    plain(&row.from),
                    plain(&format!("{}{why}", row.result)),
                ]
            });
            let cells: Vec<Vec<String>> = cells.collect();
            print(&if cells.is_empty() {
                "nobody authenticated yet".to_owned()
            } else {
                table(&["when", "what", "with", "by", "from", "result"], cells)
            });
        }
    }
    Ok(ExitStatus::Done)
}

/// Removes what is older than the configuration keeps it, in every store. A user at a terminal is asked first, unless they said yes already.
pub fn prune(
    environment: &HostEnvironment,
    dry: Switch,
    yes: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "audit prune")?;
    let config = config_files::load(environment, &find_workspace(&environment.cwd))?.config;
    if dry == Switch::Off && yes == Switch::Off {
        if output == OutputForm::Json {
            return Err(CommandError::user(
                "`--json` cannot ask, so nothing was deleted",
                "give `--yes` too, or `--dry-run` to see what would go",
            ));
        }
        let due = retention::all(environment, &config, Carry::Look)?;
        let entries: u64 = due.stores.iter().map(|store| store.entries).sum();
        let what = format!(
            "{}, {} and {}",
            counted(due.sessions, "session"),
            counted(due.snapshots, "snapshot"),
            counted(entries, "other entry")
        );
        if due != DueRecords::default() && confirm(&format!("Delete {what} for good?")) == Reply::No {
            print("nothing was deleted");
            return Ok(ExitStatus::Done);
        }
    }
    let (carry, verb) = match dry {
        Switch::On => (Carry::Look, "would delete"),
        Switch::Off => (Carry::Out, "deleted"),
    };
    let due = retention::all(environment, &config, carry)?;
    match output {
        OutputForm::Json => {
            let stores = due.stores.into_iter().map(|store| PrunedStore {
                store: store.store,
                entries: store.entries,
                oldest: store.oldest.0,
                newest: store.newest.0,
            });
            print_exact(&api::pretty(&AuditPruned {
                sessions: due.sessions,
                snapshots: due.snapshots,
                stores: stores.collect(),
                deleted: carry == Carry::Out,
            })?);
        }
        OutputForm::Text => {
            print(&format!(
                "{verb} {} and {}",
                counted(due.sessions, "session"),
                counted(due.snapshots, "snapshot")
            ));
            for store in due.stores {
                let (entries, newest) = (counted(store.entries, "entry"), time(store.newest.0));
                print(&format!("{verb} {entries} of `{}`, the newest of {newest}", store.store));
            }
        }
    }
    log_all(&environment.diagnostics.take());
    Ok(ExitStatus::Done)
}

/// Says of sessions whose records were pruned what is known of them; `None` where no such name was.
fn pruned(
    environment: &HostEnvironment,
    text: &str,
    output: OutputForm,
) -> Result<Option<ExitStatus>, CommandError> {
    let removals = checkrein_ledger::removals(&environment.state)?;
    let found = removals.iter().filter_map(|record| match &record.body {
        RecordBody::Retention { removed, .. } => Some((record.at, removed)),
        _ => None,
    });
    let mut found = found
        .flat_map(|(at, removed)| removed.iter().map(move |one| (at, one)))
        .filter(|(_, one)| one.session.starts_with(text))
        .peekable();
    if text.is_empty() || found.peek().is_none() {
        return Ok(None);
    }
    for (at, one) in found {
        let said = format!(
            "pruned {}: {} until {}, the last with the hash {}",
            time(at.0),
            counted(one.records, "record"),
            time(one.last.0),
            one.hash.as_str()
        );
        match output {
            OutputForm::Json => print_exact(&api::line(&AuditedSession {
                session: Some(one.session.clone()),
                records: 0,
                problems: Vec::new(),
                repairs: vec![said],
            })?),
            OutputForm::Text => print(&format!("{} {}  {said}", mark(Health::Well), one.session)),
        }
    }
    Ok(Some(ExitStatus::Done))
}

/// The file of heads outside the state directory that the configuration names.
fn anchor(environment: &HostEnvironment) -> Option<std::path::PathBuf> {
    let loaded = config_files::load(environment, &find_workspace(&environment.cwd)).ok()?;
    session_ledger::anchor(environment, &loaded.config.audit)
}

/// The form of an export when none is named: what `audit.export_format` says.
fn usual_form(environment: &HostEnvironment) -> ExportForm {
    let loaded = config_files::load(environment, &find_workspace(&environment.cwd));
    match loaded.map(|loaded| loaded.config.audit.export_format) {
        Ok(ExportFormat::Csv) => ExportForm::Csv,
        Ok(ExportFormat::Cef) => ExportForm::Events(EventForm::Cef),
        Ok(ExportFormat::Ocsf) => ExportForm::Events(EventForm::Ocsf),
        Ok(ExportFormat::JsonLines | ExportFormat::Json) | Err(_) => ExportForm::JsonLines,
    }
}

fn describe(broken: &checkrein_ledger::Broken) -> String {
    let place = broken.line.map(|line| format!("line {line}: ")).unwrap_or_default();
    format!("{place}{}: {}", format!("{:?}", broken.kind).to_lowercase(), broken.detail)
}

/// Writes all records, or those of the sessions whose name begins so, to a file or to standard output.
pub fn export(
    environment: &HostEnvironment,
    session: Option<&str>,
    form: Option<ExportForm>,
    file: Option<&str>,
    (going, output): (Going, OutputForm),
) -> Result<ExitStatus, CommandError> {
    let form = match (form, output) {
        (Some(ExportForm::Csv | ExportForm::Events(EventForm::Cef)), OutputForm::Json) => {
            return Err(CommandError::user(
                "`--json` and `--form` ask for different formats",
                "leave one of them out; `--form jsonl` and `--form ocsf` are JSON",
            ));
        }
        (Some(form), _) => form,
        (None, OutputForm::Json) => ExportForm::JsonLines,
        (None, OutputForm::Text) => usual_form(environment),
    };
    if going == Going::On && !matches!(form, ExportForm::Events(_)) {
        return Err(CommandError::user(
            "`--follow` goes on with events only",
            "add `--form cef` or `--form ocsf`; `checkrein log --follow --json` goes on with records",
        ));
    }
    let folders = super::session_choice::folders(environment, session)?;
    let mut writer: Box<dyn Write> = match file {
        Some(path) => Box::new(BufWriter::new(
            File::create(path).map_err(|error| CommandError::file("write", path, &error))?,
        )),
        None => Box::new(BufWriter::new(io::stdout().lock())),
    };
    let written = match form {
        ExportForm::Events(form) => {
            let listed = || -> Result<Vec<FolderName>, ExportError> {
                let mut folders = environment.state.folders()?;
                folders.retain(|folder| {
                    let name = folder.as_str();
                    session.map_or(!is_canary(name), |beginning| name.starts_with(beginning))
                });
                Ok(folders)
            };
            write_events(environment, form, (folders, &listed), going, &mut writer)
        }
        ExportForm::JsonLines | ExportForm::Csv => write_all(environment, form, folders, &mut writer),
    };
    match written {
        Ok(()) => Ok(ExitStatus::Done),
        // A reader that has gone away (`| head`) has what it wanted.
        Err(ExportError::Sink(error)) if error.kind() == io::ErrorKind::BrokenPipe && file.is_none() => {
            Ok(ExitStatus::Done)
        }
        Err(ExportError::Sink(error)) => {
            Err(CommandError::file("write", file.unwrap_or("standard output"), &error))
        }
        Err(error) => Err(CommandError::user(error.to_string(), "run `checkrein audit verify`")),
    }
}

fn write_all(
    environment: &HostEnvironment,
    form: ExportForm,
    folders: Vec<FolderName>,
    writer: &mut dyn Write,
) -> Result<(), ExportError> {
    if form == ExportForm::Csv {
        export_csv_header(writer)?;
    }
    for folder in folders {
        let path = SessionLedger::of_folder(&environment.state, folder.clone()).path();
        match form {
            ExportForm::JsonLines => export_json_lines(&path, writer)?,
            ExportForm::Csv => export_csv(&folder, &path, writer)?,
            ExportForm::Events(_) => 0,
        };
    }
    Ok(writer.flush()?)
}

/// Writes the events of these sessions, each once; with [`Going::On`] also those that come, and of sessions that `listed` finds later.
fn write_events(
    environment: &HostEnvironment,
    form: EventForm,
    (mut folders, listed): (Vec<FolderName>, &dyn Fn() -> Result<Vec<FolderName>, ExportError>),
    going: Going,
    writer: &mut dyn Write,
) -> Result<(), ExportError> {
    let mut read: HashMap<FolderName, u64> = HashMap::new();
    loop {
        for folder in folders {
            let path = SessionLedger::of_folder(&environment.state, folder.clone()).path();
            // The folder is there before the first record.
            if !path.exists() {
                continue;
            }
            let before = read.get(&folder).copied().unwrap_or_default();
            let mut lines = lines_from(&path, before)?;
            for line in lines.by_ref() {
                let Some(record) = line?.record else { continue };
                if let Some(line) = event_line(form, env!("CARGO_PKG_VERSION"), folder.as_str(), &record) {
                    writeln!(writer, "{line}")?;
                }
            }
            read.insert(folder, lines.position());
        }
        writer.flush()?;
        match going {
            Going::Ends => return Ok(()),
            Going::On => thread::sleep(LOOK),
        }
        folders = listed()?;
    }
}
