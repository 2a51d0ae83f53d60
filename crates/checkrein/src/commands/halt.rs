//! `checkrein halt` and `checkrein resume`: stopping sessions, and letting them go on.

use checkrein_ledger::{Durability, FolderName, HaltTarget, Lifted, SessionLedger};
use checkrein_protocol::{HaltScope, RecordBody, SessionId};
use serde_json::json;

use super::log::folders;
use super::{Exit, Output, for_people_only, line};
use crate::error::CommandError;
use crate::surroundings::Surroundings;
use crate::terminal::{log, print};

/// Who speaks in the records of these commands.
const PERSON: &str = "person";

/// Halts a session, or all of them: every further call is refused until a person resumes.
pub fn halt(
    surroundings: &Surroundings,
    session: Option<&str>,
    reason: &str,
    output: Output,
) -> Result<Exit, CommandError> {
    let folder = session.map(|text| target(surroundings, text)).transpose()?;
    checkrein_ledger::halt(&surroundings.state, aim(folder.as_ref()), reason)?;
    let scope = scope_of(folder.as_ref());
    let body = || RecordBody::Halted { scope, reason: reason.to_owned(), by: PERSON.to_owned() };
    record(surroundings, folder.as_ref(), body)?;
    say(output, folder.as_ref(), "halted", "every further call is refused; `checkrein resume` lets it go on")
}

/// Lets a session, or all of them, go on.
pub fn resume(
    surroundings: &Surroundings,
    session: Option<&str>,
    output: Output,
) -> Result<Exit, CommandError> {
    for_people_only(surroundings, "resume")?;
    let folder = session.map(|text| target(surroundings, text)).transpose()?;
    match checkrein_ledger::resume(&surroundings.state, aim(folder.as_ref()))? {
        Lifted::Lifted => {}
        Lifted::WasNotHalted => {
            return Err(CommandError::user(
                "nothing of that name is halted",
                "`checkrein sessions` shows what is halted",
            ));
        }
    }
    let scope = scope_of(folder.as_ref());
    record(surroundings, folder.as_ref(), || RecordBody::Resumed { scope, by: PERSON.to_owned() })?;
    say(output, folder.as_ref(), "resumed", "it may go on")
}

/// The session whose name begins so; a name that is not known yet is taken as it is, so that a halt can wait for a session.
fn target(surroundings: &Surroundings, text: &str) -> Result<FolderName, CommandError> {
    let found = folders(surroundings, Some(text)).unwrap_or_default();
    match found.as_slice() {
        [] => Ok(FolderName::of(&SessionId(text.to_owned()))),
        [one] => Ok(one.clone()),
        many => Err(CommandError::user(
            format!("{} sessions begin with `{text}`", many.len()),
            "give more of the name",
        )),
    }
}

fn aim(folder: Option<&FolderName>) -> HaltTarget<'_> {
    folder.map_or(HaltTarget::All, HaltTarget::Session)
}

fn scope_of(folder: Option<&FolderName>) -> HaltScope {
    if folder.is_some() { HaltScope::Session } else { HaltScope::All }
}

/// Writes to the ledger of the session, or of every session that is halted or resumed with all.
fn record(
    surroundings: &Surroundings,
    folder: Option<&FolderName>,
    body: impl Fn() -> RecordBody,
) -> Result<(), CommandError> {
    let folders = match folder {
        Some(folder) => vec![folder.clone()],
        None => folders(surroundings, None)?,
    };
    for folder in folders {
        SessionLedger::of_folder(&surroundings.state, folder).append(
            surroundings.now(),
            body(),
            Durability::Durable,
        )?;
    }
    Ok(())
}

fn say(output: Output, folder: Option<&FolderName>, what: &str, next: &str) -> Result<Exit, CommandError> {
    let name = folder.map_or("all sessions", FolderName::as_str);
    match output {
        Output::Json => print(&line(&json!({ "session": name, "result": what }))?),
        Output::Text => {
            print(&format!("{what} {name}"));
            log(next);
        }
    }
    Ok(Exit::Done)
}
