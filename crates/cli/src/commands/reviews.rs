//! `checkrein ticket list`: what was flagged for a user to look at, and that they did.

use checkrein_ledger::{Durability, FolderName, Line, lines};
use checkrein_protocol::{Record, RecordBody, ReviewRecord, VerdictKind};
use checkrein_session::SessionLedger;

use super::name_choice::{NEWEST, NamedKind};
use super::session_choice::folders;
use super::short_names::ShortNames;
use super::story::{SessionHead, at_home};
use super::{ExitStatus, OutputForm, for_people_only};
use crate::api::sessions::Ticket;
use crate::api::{self, recorded};
use crate::render::{call, severity_name, time};
use crate::terminal::{brief, dim, log, plain, print, print_exact, table, verdict_word};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// How much of a reason is shown, in characters (ours): some three lines of a usual terminal.
const WHY: usize = 200;

/// What is shown of each ticket.
const TICKETS: [&str; 9] =
    ["time", "ticket", "agent", "project", "severity", "verdict", "state", "what", "why"];

/// Which tickets are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Those that nobody has closed.
    Open,
    /// All of them.
    All,
}

/// One flagged action, its record and its time in milliseconds.
struct Known {
    ticket: Ticket,
    at: u64,
    verdict: VerdictKind,
    record: u64,
}

/// Lists tickets, newest last.
pub fn reviews(
    environment: &HostEnvironment,
    shown: Shown,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let mut all = Vec::new();
    for folder in folders(environment, None)? {
        all.extend(tickets(environment, &folder)?);
    }
    all.retain(|known| shown == Shown::All || known.ticket.closed.is_none());
    all.sort_by_key(|known| known.at);
    match output {
        OutputForm::Json => {
            for known in &all {
                print_exact(&api::line(&known.ticket)?);
            }
        }
        OutputForm::Text if all.is_empty() => print(match shown {
            Shown::Open => "nothing waits for your review",
            Shown::All => "nothing was ever flagged",
        }),
        OutputForm::Text => {
            let names = ShortNames::of_sessions(environment);
            let rows = all.iter().map(|Known { ticket, at, verdict: given, .. }| {
                let what = match ticket.about {
                    "tier" => format!("the tier of the agent, after {}", ticket.call),
                    _ => ticket.call.clone(),
                };
                let state =
                    ticket.closed.as_ref().map_or_else(|| "open".to_owned(), |note| dim(&plain(note)));
                vec![
                    dim(&time(*at)),
                    names.of_record(&ticket.id),
                    owner(ticket.client.as_deref()),
                    at_home(environment, &owner(ticket.project.as_deref())),
                    ticket.severity.clone(),
                    verdict_word(*given),
                    state,
                    brief(&at_home(environment, &plain(&what)), 50),
                    brief(&at_home(environment, &plain(&ticket.reason)), WHY),
                ]
            });
            print(&table(&TICKETS, rows.collect()));
            if all.iter().any(|known| known.ticket.closed.is_none()) {
                log(
                    "`checkrein show TICKET` shows an action; `checkrein ticket close TICKET --note TEXT` closes a ticket that you looked at",
                );
            }
        }
    }
    Ok(ExitStatus::Done)
}

/// To whom something belongs; a dash where no record says it.
fn owner(name: Option<&str>) -> String {
    name.map_or_else(|| "-".to_owned(), plain)
}

/// The name of the newest ticket that is open.
fn newest_open(environment: &HostEnvironment) -> Result<String, CommandError> {
    let mut all = Vec::new();
    for folder in folders(environment, None)? {
        all.extend(tickets(environment, &folder)?);
    }
    let open = all.into_iter().filter(|known| known.ticket.closed.is_none());
    let newest = open.max_by_key(|known| known.at);
    newest
        .map(|known| known.ticket.id)
        .ok_or_else(|| CommandError::user("no ticket is open", "`checkrein ticket list` lists all of them"))
}

/// Closes a ticket: a user looked at it.
pub fn close(
    environment: &HostEnvironment,
    id: &str,
    note: &str,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "ticket close")?;
    let newest;
    let id = if id == NEWEST {
        newest = newest_open(environment)?;
        newest.as_str()
    } else {
        id
    };
    let unknown = || {
        CommandError::user(
            format!("no ticket begins with `{id}`"),
            "`checkrein ticket list --open` lists them",
        )
    };
    let (session, number) = id.rsplit_once(':').ok_or_else(unknown)?;
    let mut found: Vec<(FolderName, Known)> = Vec::new();
    for folder in folders(environment, Some(session))? {
        let all = tickets(environment, &folder)?;
        let named = all.into_iter().filter(|known| known.record.to_string() == number);
        found.extend(named.map(|known| (folder.clone(), known)));
    }
    if found.is_empty() {
        return Err(unknown());
    }
    let name = NamedKind::Session
        .newest_or_only(session, found.iter().map(|(folder, _)| folder.as_str()))?
        .to_owned();
    let mut found = found.into_iter().filter(|(folder, _)| folder.as_str() == name);
    let (folder, Known { ticket, record, .. }) = found.next().ok_or_else(unknown)?;
    if ticket.closed.is_some() {
        return Err(CommandError::user(
            format!("`{}` is closed already", ticket.id),
            "`checkrein ticket list` shows by what note",
        ));
    }
    let body = RecordBody::ReviewClosed { ticket: record, note: note.to_owned(), by: "person".to_owned() };
    SessionLedger::of_folder(&environment.state, folder).append(
        environment.now(),
        body,
        Durability::Durable,
    )?;
    let closed = Ticket { closed: Some(note.to_owned()), ..ticket };
    match output {
        OutputForm::Json => print_exact(&api::pretty(&closed)?),
        OutputForm::Text if closed.about == "tier" => {
            print(&format!(
                "closed {}; the agent starts afresh, what counted against it is cleared",
                closed.id
            ));
        }
        OutputForm::Text => print(&format!("closed {}", closed.id)),
    }
    Ok(ExitStatus::Done)
}

/// The tickets of a session, oldest first. Most records are passed over without being parsed.
fn tickets(environment: &HostEnvironment, folder: &FolderName) -> Result<Vec<Known>, CommandError> {
    let path = SessionLedger::of_folder(&environment.state, folder.clone()).path();
    let mut all = Vec::new();
    for line in lines(&path)?.holding("\"flagged\":true") {
        all.extend(ticket(folder, &line?));
    }
    if all.is_empty() {
        return Ok(all);
    }
    let SessionHead { client, workspace, .. } = SessionHead::of(environment, folder);
    for known in &mut all {
        known.ticket.client.clone_from(&client);
        known.ticket.project.clone_from(&workspace);
    }
    for line in lines(&path)?.holding("review_closed") {
        let Some(Record { body: RecordBody::ReviewClosed { ticket, note, .. }, .. }) = line?.record else {
            continue;
        };
        all.iter_mut().filter(|known| known.record == ticket).for_each(|known| {
            known.ticket.closed.get_or_insert_with(|| note.clone());
        });
    }
    Ok(all)
}

fn ticket(folder: &FolderName, line: &Line) -> Option<Known> {
    let record = line.record.as_ref()?;
    let RecordBody::Review(review) = &record.body else { return None };
    if !review.flagged {
        return None;
    }
    let ReviewRecord { governance, verdict, reason, .. } = review.as_ref();
    let governance = governance.as_deref();
    let ticket = Ticket {
        id: format!("{}:{}", folder.as_str(), record.seq),
        about: if governance.is_some_and(|governance| governance.asks_for_review) {
            "tier"
        } else {
            "action"
        },
        at: record.at.into(),
        severity: governance.and_then(|governance| governance.flag).map_or("-", severity_name).to_owned(),
        verdict: recorded(verdict),
        call: call(review),
        reason: reason.clone(),
        fired: governance.map(|governance| governance.fired.clone()).unwrap_or_default(),
        closed: None,
        client: None,
        project: None,
    };
    Some(Known { ticket, at: record.at.0, verdict: *verdict, record: record.seq })
}
