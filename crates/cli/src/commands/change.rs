//! `checkrein change`: change records of production, from opening to closing.

mod running;
mod shown;

use std::io::Read as _;
use std::time::Duration;

use checkrein_engine::asking::{Asker, sign};
use checkrein_engine::change_records::{
    self, ChangeActor, ChangeState, ChangeStep, EVENT, OpenedChange, Opening, RolledBackCommand,
};
use checkrein_engine::context::Context;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_ledger::Durability;
use checkrein_protocol::{ChangeId, RecordBody, Timestamp};
use checkrein_session::SessionLedger;
use serde::Deserialize;
use serde_json::json;

use super::name_choice::{NEWEST, NamedKind};
use super::session_choice::folders;
use super::{ExitStatus, OutputForm, Switch, for_people_only, unconfirmed};
use crate::api;
use crate::terminal::{Reply, confirm, log, page, plain, print, print_exact, table};

/// How much of a command is shown in a list, in letters (ours).
const SHOWN: usize = 80;
/// The longest file of a change, in bytes (ours).
const LONGEST_FILE: u64 = 256 * 1024;
/// An hour in milliseconds.
const HOUR: u64 = 60 * 60 * 1000;

/// What a change is opened with.
#[derive(Debug)]
pub enum OpenRequest {
    /// A file of JSON, or `-`.
    File(String),
    /// The words of the command line.
    Words {
        /// Where it is tracked.
        issue: String,
        /// The command: one text, or its words.
        command: Vec<String>,
        /// The commands that take it back.
        rollback: Vec<String>,
        /// The command that verifies it.
        verification: String,
    },
}

/// What is wanted of a verification.
#[derive(Debug)]
pub struct VerifyRequest {
    /// The start of the name of the change.
    pub change: String,
    /// How long each command may take, in seconds.
    pub seconds: u16,
    /// What is to be done where it fails.
    pub rollback: RollbackWish,
}

/// What is to be done about a verification that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RollbackWish {
    /// The rollback is shown, and no question asked.
    Shown,
    /// It is offered to a person at a terminal.
    Offered,
    /// It is wanted, after a question.
    Wanted,
    /// It is wanted, and the question answered.
    Given,
}

/// A change as a file says it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeFile {
    issue: String,
    command: String,
    rollback: Vec<String>,
    verify: String,
}

/// Opens a change.
pub fn open(
    environment: &HostEnvironment,
    request: OpenRequest,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let by = actor(environment);
    let opening = match request {
        OpenRequest::File(file) => {
            let ChangeFile { issue, command, rollback, verify } = read(&file)?;
            Opening { issue, command, rollback, verification: verify, by }
        }
        OpenRequest::Words { issue, command, rollback, verification } => {
            Opening { issue, command: text_of(&command), rollback, verification, by }
        }
    };
    let cwd = environment.cwd.clone();
    let context = Context::open(environment.clone(), &cwd);
    let record = change_records::open(&context, opening, &cwd)?;
    let change = found(environment, record.id.as_str())?;
    match output {
        OutputForm::Json => shown::json(environment, &change)?,
        OutputForm::Text => {
            print(&shown::whole(environment, &change));
            print(&format!(
                "the user approves it with `checkrein change approve {}`; then run exactly this command here",
                record.id.as_str()
            ));
        }
    }
    Ok(ExitStatus::Done)
}

/// Lists the changes.
pub fn list(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let all = change_records::all(environment)?;
    let now = environment.now();
    match output {
        OutputForm::Json => {
            for change in &all {
                print_exact(&api::line(&shown::entry(environment, change))?);
            }
        }
        OutputForm::Text if all.is_empty() => print("no change was opened"),
        OutputForm::Text => {
            let row = |change: &OpenedChange| {
                vec![
                    change.record.id.as_str().to_owned(),
                    change.state(now).word().to_owned(),
                    plain(&change.record.issue),
                    crate::terminal::cut(&plain(&change.record.command), SHOWN),
                ]
            };
            print(&table(&["change", "state", "issue", "command"], all.iter().map(row).collect()));
        }
    }
    Ok(ExitStatus::Done)
}

/// Shows a change.
pub fn show(environment: &HostEnvironment, id: &str, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let change = found(environment, id)?;
    match output {
        OutputForm::Json => shown::json(environment, &change)?,
        OutputForm::Text => page(&shown::whole(environment, &change)),
    }
    Ok(ExitStatus::Done)
}

/// Approves a change.
pub fn approve(
    environment: &HostEnvironment,
    id: &str,
    hours: u16,
    yes: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "change approve")?;
    let change = found_by_name(environment, id)?;
    match change.state(environment.now()) {
        ChangeState::Waiting | ChangeState::Expired | ChangeState::Approved(_) => {}
        state @ (ChangeState::Running
        | ChangeState::Unverified
        | ChangeState::Verified
        | ChangeState::Failed
        | ChangeState::RolledBack
        | ChangeState::Closed) => {
            return Err(CommandError::user(
                format!("change {} cannot be approved: it is {}", change.record.id.as_str(), state.word()),
                "an approval lets one call pass; open another change for another call",
            ));
        }
    }
    if output == OutputForm::Text {
        page(&shown::whole(environment, &change));
    }
    if yes == Switch::Off {
        match confirm("Let exactly this command pass once?") {
            Reply::Yes => {}
            reply => return unconfirmed(reply, output),
        }
    }
    let at = environment.now();
    let step = ChangeStep::Approved {
        at,
        until: Timestamp(at.0.saturating_add(u64::from(hours) * HOUR)),
        by: environment.user.clone().unwrap_or_else(|| "unknown".to_owned()),
        record: change.digest.clone(),
    };
    change_records::add(environment, &change.record.id, &step)?;
    told(environment, &change.record.id, output, |_| {
        format!("approved for {hours} h: the agent may run the command once")
    })?;
    Ok(ExitStatus::Done)
}

/// Runs the verification of a change, and what is wanted where it fails.
pub fn verify(
    environment: &HostEnvironment,
    request: &VerifyRequest,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let is_wanted = match request.rollback {
        RollbackWish::Wanted | RollbackWish::Given => true,
        RollbackWish::Shown | RollbackWish::Offered => false,
    };
    if is_wanted {
        for_people_only(environment, "change verify --rollback")?;
    }
    let change = found(environment, &request.change)?;
    let id = &change.record.id;
    match change.state(environment.now()) {
        ChangeState::Running | ChangeState::Unverified | ChangeState::Verified | ChangeState::Failed => {}
        state @ (ChangeState::Waiting
        | ChangeState::Approved(_)
        | ChangeState::Expired
        | ChangeState::RolledBack
        | ChangeState::Closed) => {
            return Err(CommandError::user(
                format!("change {} has nothing to verify: it is {}", id.as_str(), state.word()),
                "a verification runs after the command of its change",
            ));
        }
    }
    let time = Duration::from_secs(u64::from(request.seconds));
    let by = actor(environment);
    let ran = running::run(&change.record.verification, &change.record.directory, time);
    let step = ChangeStep::Verified {
        at: environment.now(),
        by,
        passed: ran.succeeded,
        ended: ran.ended.clone(),
        output: masked_by(environment, &ran.output),
    };
    change_records::add(environment, id, &step)?;
    note(environment, &change, if ran.succeeded { "verified" } else { "failed" });
    if ran.succeeded {
        told(environment, id, output, |_| {
            format!("change {}: verified, the verification {}", id.as_str(), ran.ended)
        })?;
        return Ok(ExitStatus::Done);
    }
    if output == OutputForm::Text {
        print(&shown::failed(&change, &ran.ended, &masked_by(environment, &ran.output)));
    }
    if may_roll_back(environment, request.rollback, output)? {
        roll_back(environment, &change, time, output)?;
    } else if output == OutputForm::Json {
        told(environment, id, output, |_| String::new())?;
    }
    Ok(ExitStatus::Blocked)
}

/// Whether the rollback is to run: only a person says so.
fn may_roll_back(
    environment: &HostEnvironment,
    wish: RollbackWish,
    output: OutputForm,
) -> Result<bool, CommandError> {
    let question = "Run the rollback now?";
    match wish {
        RollbackWish::Given => Ok(true),
        RollbackWish::Shown => Ok(false),
        RollbackWish::Wanted => match confirm(question) {
            Reply::Yes => Ok(true),
            Reply::No => Ok(false),
            Reply::Nobody => Err(CommandError::user(
                "the rollback did not run: there is no terminal to ask at",
                "`--rollback --yes` runs it without a question",
            )),
        },
        RollbackWish::Offered => {
            let is_person = sign(environment, Asker::Person).is_none();
            Ok(is_person && output == OutputForm::Text && confirm(question) == Reply::Yes)
        }
    }
}

/// Takes back a change that ran, whatever its verification says.
pub fn rollback(
    environment: &HostEnvironment,
    id: &str,
    seconds: u16,
    yes: Switch,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "change rollback")?;
    let change = found_by_name(environment, id)?;
    match change.state(environment.now()) {
        ChangeState::Running | ChangeState::Unverified | ChangeState::Verified | ChangeState::Failed => {}
        state @ (ChangeState::Waiting
        | ChangeState::Approved(_)
        | ChangeState::Expired
        | ChangeState::RolledBack
        | ChangeState::Closed) => {
            return Err(CommandError::user(
                format!(
                    "change {} has nothing to take back: it is {}",
                    change.record.id.as_str(),
                    state.word()
                ),
                "a rollback runs after the command of its change",
            ));
        }
    }
    if output == OutputForm::Text {
        print(&shown::steps_back(&change));
    }
    if yes == Switch::Off {
        match confirm("Run the rollback now?") {
            Reply::Yes => {}
            reply => return unconfirmed(reply, output),
        }
    }
    roll_back(environment, &change, Duration::from_secs(u64::from(seconds)), output)
}

/// Runs the commands of the rollback in their order, up to the first that fails.
fn roll_back(
    environment: &HostEnvironment,
    change: &OpenedChange,
    time: Duration,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let mut commands = Vec::new();
    let mut done = true;
    for command in &change.record.rollback {
        let ran = running::run(command, &change.record.directory, time);
        done = ran.succeeded;
        commands.push(RolledBackCommand {
            command: command.clone(),
            ended: ran.ended,
            output: masked_by(environment, &ran.output),
        });
        if !done {
            break;
        }
    }
    let last = commands.last().map(|last| (last.command.clone(), last.ended.clone()));
    let step = ChangeStep::RolledBack { at: environment.now(), done, commands };
    change_records::add(environment, &change.record.id, &step)?;
    if done {
        note(environment, change, "rolled-back");
    }
    told(environment, &change.record.id, output, |_| match last {
        Some((command, ended)) if !done => {
            format!("the rollback stopped: `{}` {ended}; run the rest yourself", plain(&command))
        }
        Some(_) | None => format!("change {} is rolled back", change.record.id.as_str()),
    })?;
    Ok(if done { ExitStatus::Done } else { ExitStatus::Blocked })
}

/// Closes a change.
pub fn close(
    environment: &HostEnvironment,
    id: &str,
    outcome: Option<String>,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "change close")?;
    let change = found(environment, id)?;
    let state = change.state(environment.now());
    let id = change.record.id.as_str();
    // What was verified or taken back says itself what came of it.
    let hint = match state {
        ChangeState::Verified | ChangeState::RolledBack => None,
        ChangeState::Running | ChangeState::Unverified | ChangeState::Failed => {
            Some("`checkrein change verify` runs its verification; `--outcome TEXT` closes it as it is")
        }
        ChangeState::Waiting | ChangeState::Approved(_) | ChangeState::Expired => {
            Some("its command did not run: `--outcome TEXT` says why it is closed")
        }
        ChangeState::Closed => {
            return Err(CommandError::user(
                format!("change {id} is closed already"),
                format!("`checkrein change show {id}` shows what came of it"),
            ));
        }
    };
    if let (Some(hint), None) = (hint, &outcome) {
        return Err(CommandError::user(
            format!("change {id} is {}, so its outcome must be said", state.word()),
            hint,
        ));
    }
    let outcome = outcome.unwrap_or_else(|| state.word().to_owned());
    let outcome = masked_by(environment, &outcome);
    let step = ChangeStep::Closed { at: environment.now(), outcome };
    change_records::add(environment, &change.record.id, &step)?;
    note(environment, &change, "closed");
    told(environment, &change.record.id, output, |_| {
        format!("change {} is closed", change.record.id.as_str())
    })?;
    Ok(ExitStatus::Done)
}

/// Writes into the ledger of the session that made a change what became of it.
fn note(environment: &HostEnvironment, change: &OpenedChange, step: &str) {
    let Some((session, _)) = change.passed() else { return };
    let known = folders(environment, None).unwrap_or_default();
    let Some(folder) = known.into_iter().find(|folder| folder.as_str() == session) else { return };
    let ledger = SessionLedger::of_folder(&environment.state, folder);
    let fields = json!({ "change": change.record.id, "step": step });
    let body = RecordBody::Event { name: EVENT.to_owned(), fields };
    if let Err(error) = ledger.append(environment.now(), body, Durability::Durable) {
        log(&format!("not recorded: {error}"));
    }
}

/// Says how a change stands now.
fn told(
    environment: &HostEnvironment,
    id: &ChangeId,
    output: OutputForm,
    words: impl FnOnce(&OpenedChange) -> String,
) -> Result<(), CommandError> {
    let change = found(environment, id.as_str())?;
    match output {
        OutputForm::Json => shown::json(environment, &change),
        OutputForm::Text => {
            print(&words(&change));
            Ok(())
        }
    }
}

/// The same where something is let pass: `LAST` may mean another one than was read.
fn found_by_name(environment: &HostEnvironment, id: &str) -> Result<OpenedChange, CommandError> {
    if id == NEWEST { Err(NamedKind::Change.must_be_named()) } else { found(environment, id) }
}

/// The change whose name begins so; `LAST` is the newest.
fn found(environment: &HostEnvironment, id: &str) -> Result<OpenedChange, CommandError> {
    let all = change_records::all(environment)?;
    let name =
        NamedKind::Change.newest_or_only(id, all.iter().map(|change| change.record.id.as_str()))?.to_owned();
    all.into_iter()
        .find(|change| change.record.id.as_str() == name)
        .ok_or_else(|| NamedKind::Change.unknown(id))
}

/// Who gives this command.
fn actor(environment: &HostEnvironment) -> ChangeActor {
    match sign(environment, Asker::PersonOrService) {
        None => ChangeActor::Person,
        Some(_) => ChangeActor::Agent,
    }
}

/// What was printed, masked as records are.
fn masked_by(environment: &HostEnvironment, text: &str) -> String {
    change_records::masked(&Context::open(environment.clone(), &environment.cwd), text)
}

/// The text of a command that is given as one word, or as its words.
fn text_of(words: &[String]) -> String {
    match words {
        [only] => only.clone(),
        words => words.iter().map(|word| running::quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

fn read(file: &str) -> Result<ChangeFile, CommandError> {
    let text = if file == "-" {
        let mut text = String::new();
        let taken = std::io::stdin().lock().take(LONGEST_FILE).read_to_string(&mut text);
        taken.map_err(|error| CommandError::file("read", "standard input", &error))?;
        text
    } else {
        checkrein_files::read_text(std::path::Path::new(file), LONGEST_FILE)
            .map_err(|error| CommandError::file("read", file, &error))?
    };
    serde_json::from_str(&text).map_err(|error| {
        CommandError::user(
            format!("`{}` is not a change: {error}", plain(file)),
            "`checkrein change open --help` shows the fields",
        )
    })
}
