//! `checkrein halt` and `checkrein resume`: stopping sessions, and letting them go on.

use checkrein_ledger::{Durability, FolderName, HaltTarget, Lifted, StateDirectory, is_halted, last};
use checkrein_protocol::{HaltScope, Record, RecordBody, SessionId};
use checkrein_session::{ResumeTerms, SessionLedger, TERMS_EVENT};
use checkrein_supervise::runs::{Runs, Whereabouts};
use checkrein_world::find_workspace;

use super::lifted_halts::note_lifted;
use super::name_choice::{self, NamedKind, is_near};
use super::session_choice::{folders, only_folder};
use super::watch::EndedRuns;
use super::{ExitStatus, OutputForm, Switch, for_no_agent, for_people_only};
use crate::api;
use crate::terminal::{log, log_all, plain, print, print_exact};
use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::stop::{Barrier, Stopping, stop_session};

/// Why a session is halted, where a user gives no reason.
pub const NO_REASON: &str = "a human stopped it";

/// Who speaks in the records of these commands.
const PERSON: &str = "person";

/// For how long after its last record a session counts as one that is at work, in milliseconds: longer than any call of Claude Code may take
/// (ours). A halt of all is reported for those.
const AT_WORK: u64 = 15 * 60 * 1000;

/// Halts a session, or all of them: every further call is refused until a user resumes.
pub fn halt(
    environment: &HostEnvironment,
    session: Option<&str>,
    reason: &str,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let Some(text) = session else { return halt_all(environment, reason, output) };
    let folder = target(environment, text)?;
    let said = stop(environment, &folder, Barrier::Halt, reason)?;
    let resume = format!("checkrein resume {}", folder.as_str());
    say(
        output,
        Some(&folder),
        "halted",
        &format!("every further call is refused until you run `{resume}`{said}"),
    )
}

/// Halts a session that is given up, where it is not halted already; nothing is printed.
pub(super) fn give_up(environment: &HostEnvironment, folder: &FolderName) -> Result<(), CommandError> {
    if is_halted(&environment.state, folder).is_none() {
        stop(environment, folder, Barrier::Halt, "the user gave it up")?;
    }
    Ok(())
}

/// What a halt of all does.
const REFUSED: &str = "every further call is refused until you run `checkrein resume --all`";

fn halt_all(
    environment: &HostEnvironment,
    reason: &str,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    // Whose sessions stand still is for their user to say; an agent would stop what others work on.
    for_no_agent(environment, "halt --all")?;
    // First the file, which is all that it takes.
    checkrein_ledger::halt(&environment.state, HaltTarget::All, reason)?;
    let now = environment.now().0;
    let by_runs = EndedRuns::of(environment);
    for folder in folders(environment, None)? {
        // Of one whose records cannot be read it is not known that it is over, and the halt of all holds it as well.
        let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
        let newest = last(&ledger.path(), NEWEST).unwrap_or_default();
        // What is over is left as it is: should it go on, its next call is refused all the same.
        let is_recent = newest.last().is_some_and(|last| now.saturating_sub(last.at.0) < AT_WORK);
        if is_recent && !has_ended(&newest) && !by_runs.covers(&folder, newest.last().map(|last| last.at.0)) {
            stop(environment, &folder, Barrier::HaltOfAll, reason)?;
        }
    }
    say(output, None, "halted", REFUSED)
}

/// How many of the newest records tell whether a session has ended (ours): what it has spent is counted after its end.
const NEWEST: usize = 16;

/// Whether the client has said that a session is over, and nothing was done in it since.
fn has_ended(newest: &[Record]) -> bool {
    let said = newest.iter().rev().find_map(|record| match &record.body {
        RecordBody::Event { name, .. } if name == "SessionEnd" => Some(true),
        RecordBody::Review(_)
        | RecordBody::Outcome(_)
        | RecordBody::Prompt { .. }
        | RecordBody::SessionStarted { .. } => Some(false),
        _ => None,
    });
    said == Some(true)
}

/// Stops one session; what is said of the report.
fn stop(
    environment: &HostEnvironment,
    folder: &FolderName,
    barrier: Barrier,
    reason: &str,
) -> Result<String, CommandError> {
    let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
    let state = ledger.state().unwrap_or_default();
    let workspace = state.workspace().cloned().unwrap_or_else(|| find_workspace(&environment.cwd));
    // A halt must not fail because a configuration cannot be read: then nobody is told.
    let config = config_files::load(environment, &workspace).map(|loaded| loaded.config).unwrap_or_default();
    let said = stop_session(
        &Stopping {
            environment,
            config: &config,
            workspace: &workspace,
            ledger: Some(&ledger),
            state: &state,
            barrier,
            by: PERSON,
            reason,
            issue: None,
            switch: None,
            since: None,
        },
        Vec::new(),
    );
    log_all(&environment.diagnostics.take());
    let scope = match barrier {
        Barrier::Halt => is_halted(&environment.state, folder),
        Barrier::HaltOfAll | Barrier::None => return Ok(said),
    };
    match scope {
        Some(_) => Ok(said),
        None => Err(CommandError::user(
            format!("`{}` could not be halted", folder.as_str()),
            "see that the state directory can be written to; `checkrein doctor` looks",
        )),
    }
}

/// Which halt is lifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which<'name> {
    /// That of the session whose name begins so.
    Named(&'name str),
    /// The only one that there is.
    Only,
    /// That of all sessions.
    All,
}

impl<'name> Which<'name> {
    /// What a command line names: `--all`, a session, or neither.
    pub fn of(session: Option<&'name str>, all: Switch) -> Self {
        match (session, all) {
            (_, Switch::On) => Self::All,
            (Some(session), Switch::Off) => Self::Named(session),
            (None, Switch::Off) => Self::Only,
        }
    }
}

/// Why all sessions are halted; `None` when they are not.
pub(super) fn halt_of_all(state: &StateDirectory) -> Option<String> {
    is_halted(state, &FolderName::of(&SessionId(String::new())))
        .filter(|halt| halt.scope == HaltScope::All)
        .map(|halt| halt.reason)
}

/// The only session that is halted; `None` for the halt of all. An error lists them when there are several.
fn only_halted(environment: &HostEnvironment) -> Result<Option<FolderName>, CommandError> {
    let mut halted = checkrein_ledger::halted(&environment.state)?;
    let all = halt_of_all(&environment.state).is_some();
    match (halted.pop(), all) {
        (None, true) => Ok(None),
        (Some(one), false) if halted.is_empty() => Ok(Some(one)),
        (None, false) => {
            Err(CommandError::user("nothing is halted", "`checkrein session list` lists the sessions"))
        }
        (Some(one), _) => {
            halted.push(one);
            let mut names: Vec<String> =
                halted.iter().map(|folder| format!("`checkrein resume {}`", folder.as_str())).collect();
            if all {
                names.push("`checkrein resume --all`".to_owned());
            }
            Err(CommandError::user(format!("{} halts are in force", names.len()), names.join(", ")))
        }
    }
}

/// Lets a session, or all of them, go on.
pub fn resume(
    environment: &HostEnvironment,
    which: Which<'_>,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    resume_on_terms(environment, which, &ResumeTerms::default(), output)
}

/// The same by these terms, which hold until a user resumes the session again.
pub fn resume_on_terms(
    environment: &HostEnvironment,
    which: Which<'_>,
    terms: &ResumeTerms,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "resume")?;
    let folder = match which {
        Which::All => None,
        Which::Named(name_choice::NEWEST) => Some(newest_halted(environment)?),
        Which::Named(text) => Some(target(environment, text)?),
        Which::Only => only_halted(environment)?,
    };
    // A session that goes on by terms can be given others, or none, without being halted.
    let goes_on_by_terms = folder.as_ref().is_some_and(|folder| has_terms(environment, folder));
    let is_halted_now = folder.as_ref().is_none_or(|folder| {
        is_halted(&environment.state, folder).is_some_and(|halt| halt.scope != HaltScope::All)
    });
    if !is_halted_now && !goes_on_by_terms {
        return Err(CommandError::user(
            "nothing of that name is halted; nothing was changed",
            "`checkrein session list` shows what is halted",
        ));
    }
    if !terms.are_none() {
        let Some(folder) = &folder else {
            return Err(CommandError::user(
                "terms are for one session",
                "name it: `checkrein resume SESSION --with-limits`",
            ));
        };
        // Before the halt is lifted: no call runs without them.
        set_terms(environment, folder, terms)?;
    }
    // All sessions go on, those too that were halted by name, or by what they did.
    let by_name = match which {
        Which::All => checkrein_ledger::halted(&environment.state)?,
        Which::Named(_) | Which::Only => Vec::new(),
    };
    let names = by_name.iter().map(FolderName::as_str);
    note_lifted(environment, names.chain([checkrein_ledger::halt_name(aim(folder.as_ref()))]))?;
    let lifted = checkrein_ledger::resume(&environment.state, aim(folder.as_ref()))?;
    if lifted == Lifted::WasNotHalted && by_name.is_empty() && !goes_on_by_terms {
        return Err(CommandError::user("nothing is halted", "`checkrein session list` shows what is halted"));
    }
    let scope = scope_of(folder.as_ref());
    let folders = match (&folder, lifted) {
        (Some(folder), _) => vec![folder.clone()],
        (None, Lifted::Lifted) => halted_with_all(environment)?,
        (None, Lifted::WasNotHalted) => Vec::new(),
    };
    for folder in folders {
        record_resumed(environment, folder, scope);
    }
    for folder in by_name {
        checkrein_ledger::resume(&environment.state, HaltTarget::Session(&folder))?;
        record_resumed(environment, folder, HaltScope::Session);
    }
    let may = if folder.is_some() { "it may continue" } else { "they may continue" };
    let by_terms = match terms.in_words() {
        words if words.is_empty() && goes_on_by_terms => {
            format!("{may}, without limits and questions of yours")
        }
        words if words.is_empty() => may.to_owned(),
        words => format!("{may}, with {words}; `checkrein resume` again lifts that"),
    };
    say(output, folder.as_ref(), "resumed", &by_terms)
}

/// Whether a session goes on by terms that a user set.
fn has_terms(environment: &HostEnvironment, folder: &FolderName) -> bool {
    let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
    ledger.path().exists() && ledger.state().is_ok_and(|state| !state.terms().terms().are_none())
}

/// Writes down by which terms a session goes on.
fn set_terms(
    environment: &HostEnvironment,
    folder: &FolderName,
    terms: &ResumeTerms,
) -> Result<(), CommandError> {
    let fields =
        serde_json::to_value(terms).map_err(|error| CommandError::user(error.to_string(), "name fewer"))?;
    let body = RecordBody::Event { name: TERMS_EVENT.to_owned(), fields };
    let ledger = SessionLedger::of_folder(&environment.state, folder.clone());
    ledger.append(environment.now(), body, Durability::Durable)?;
    Ok(())
}

/// Writes down that a session may go on. The halt is lifted by then, so what cannot be written is said, and stops nothing.
fn record_resumed(environment: &HostEnvironment, folder: FolderName, scope: HaltScope) {
    let body = RecordBody::Resumed { scope, by: PERSON.to_owned() };
    let ledger = SessionLedger::of_folder(&environment.state, folder);
    if let Err(error) = ledger.append(environment.now(), body, Durability::Durable) {
        log(&format!("checkrein: not recorded: {}", plain(&error.to_string())));
    }
}

/// The halted session with the newest record.
fn newest_halted(environment: &HostEnvironment) -> Result<FolderName, CommandError> {
    let halted = checkrein_ledger::halted(&environment.state)?;
    let by_time = checkrein_session::sessions(&environment.state)?.into_iter().map(|session| session.folder);
    let newest = by_time.into_iter().find(|folder| halted.contains(folder));
    // One that was halted before its first record has none.
    newest
        .or_else(|| halted.into_iter().next_back())
        .ok_or_else(|| CommandError::user("no session is halted", "`checkrein session list` lists them"))
}

/// The session whose name is or begins so; `LAST` is the one with the newest record. A name that nothing has is an error: who halts in a hurry must not believe that it was done.
fn target(environment: &HostEnvironment, text: &str) -> Result<FolderName, CommandError> {
    if text == name_choice::NEWEST {
        return only_folder(environment, text);
    }
    let all: Vec<FolderName> =
        checkrein_session::sessions(&environment.state)?.into_iter().map(|session| session.folder).collect();
    // A session that is halted before its first record has a halt file and nothing else; one without hooks is known to its run only.
    let waiting = checkrein_ledger::halted(&environment.state)?;
    let runs = Runs::new(environment.state.root()).all()?.into_iter();
    let running = runs.filter(|found| found.whereabouts == Whereabouts::Active).filter_map(|found| {
        let session = found.loaded.ok()?.state.session()?.to_owned();
        Some(FolderName::of(&SessionId(session)))
    });
    let mut all = all;
    all.extend(waiting.into_iter().chain(running));
    all.sort();
    all.dedup();
    let exact = FolderName::of(&SessionId(text.to_owned()));
    if all.contains(&exact) {
        return Ok(exact);
    }
    let found: Vec<&FolderName> =
        all.iter().filter(|folder| !text.is_empty() && folder.as_str().starts_with(text)).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let near = near(text, &all);
            let hint = match near.as_slice() {
                [] => "`checkrein session list` lists them; `--all` means every one".to_owned(),
                near => format!("near names: {}; `checkrein session list` lists all", near.join(", ")),
            };
            Err(CommandError::user(
                format!("no session begins with `{}`; nothing was changed", plain(text)),
                hint,
            ))
        }
        many => {
            let names = many.iter().map(|folder| folder.as_str());
            let error = NamedKind::Session.only(text, names).err();
            let error = error.unwrap_or_else(|| NamedKind::Session.unknown(text));
            Err(CommandError { message: format!("{}; nothing was changed", error.message), ..error })
        }
    }
}

/// Up to three names that a mistyped one may stand for, the nearest first: those whose beginnings differ from it in few places.
fn near(text: &str, all: &[FolderName]) -> Vec<String> {
    let length = text.chars().count();
    if length == 0 {
        return Vec::new();
    }
    let mut found: Vec<(usize, String)> = all
        .iter()
        .filter_map(|folder| {
            let beginning: String = folder.as_str().chars().take(length).collect();
            is_near(text, &beginning).map(|edits| (edits, format!("`{}`", folder.as_str())))
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, name)| name).take(3).collect()
}

fn aim(folder: Option<&FolderName>) -> HaltTarget<'_> {
    folder.map_or(HaltTarget::All, HaltTarget::Session)
}

fn scope_of(folder: Option<&FolderName>) -> HaltScope {
    if folder.is_some() { HaltScope::Session } else { HaltScope::All }
}

/// How far back in a session a halt of all is looked for, in records (ours): a halted session writes few.
const SINCE: usize = 200;

/// The sessions that the halt of all stopped at work, and that nobody resumed since.
fn halted_with_all(environment: &HostEnvironment) -> Result<Vec<FolderName>, CommandError> {
    let mut found = Vec::new();
    for folder in folders(environment, None)? {
        let path = SessionLedger::of_folder(&environment.state, folder.clone()).path();
        let newest =
            last(&path, SINCE).unwrap_or_default().into_iter().rev().find_map(|record| match record.body {
                RecordBody::Halted { scope: HaltScope::All, .. } => Some(true),
                RecordBody::Resumed { scope: HaltScope::All, .. } => Some(false),
                _ => None,
            });
        if newest == Some(true) {
            found.push(folder);
        }
    }
    Ok(found)
}

fn say(
    output: OutputForm,
    folder: Option<&FolderName>,
    what: &str,
    next: &str,
) -> Result<ExitStatus, CommandError> {
    let name = folder.map_or("all sessions", FolderName::as_str);
    match output {
        OutputForm::Json => {
            print_exact(&api::pretty(&api::sessions::Halted {
                session: name.to_owned(),
                result: what.to_owned(),
            })?);
        }
        OutputForm::Text => {
            print(&format!("{what} {name}"));
            log(next);
        }
    }
    Ok(ExitStatus::Done)
}
