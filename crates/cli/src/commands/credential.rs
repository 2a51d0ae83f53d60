//! `checkrein credential`: what an agent needs to log in, kept out of its reach until a run gives it.

use std::io::{self, IsTerminal as _, Read as _};

use super::{ExitStatus, OutputForm, for_no_agent, for_people_only};
use crate::api;
use crate::api::installation::{Credential, CredentialDeleted, CredentialList, CredentialValue};
use crate::authentications::{by_person, place, record};
use crate::credentials::{CredentialName, Credentials, Deleted, LONGEST, Secret};
use crate::terminal::{print, print_exact, table, typed_unseen};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_ledger::{Authentication, AuthenticationAct, AuthenticationResult};

/// Reads a credential from standard input, without showing it, and keeps it.
pub fn set(
    environment: &HostEnvironment,
    name: &CredentialName,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_no_agent(environment, "credential set")?;
    let secret = Secret::new(&typed()?)?;
    let place = Credentials::of(environment).set(name, &secret)?;
    by_person(environment, AuthenticationAct::CredentialKept, name, AuthenticationResult::Taken);
    match output {
        OutputForm::Json => print_exact(&api::pretty(&described(name, place))?),
        OutputForm::Text => print(&format!("`{name}` is kept in {}", place.in_words())),
    }
    Ok(ExitStatus::Done)
}

/// Prints a credential.
pub fn get(
    environment: &HostEnvironment,
    name: &CredentialName,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "credential get").inspect_err(|_| {
        record(
            environment,
            Authentication {
                act: AuthenticationAct::CredentialShown,
                subject: name.to_string(),
                by: "agent".to_owned(),
                from: place(),
                result: AuthenticationResult::Refused,
                detail: "only people are shown it".to_owned(),
            },
        );
    })?;
    let secret = Credentials::of(environment).get(name)?;
    by_person(environment, AuthenticationAct::CredentialShown, name, AuthenticationResult::Taken);
    match output {
        OutputForm::Json => print_exact(&api::pretty(&CredentialValue {
            name: name.to_string(),
            value: secret.reveal().to_owned(),
        })?),
        OutputForm::Text => print_exact(secret.reveal()),
    }
    Ok(ExitStatus::Done)
}

/// Names what is kept.
pub fn list(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let all = Credentials::of(environment).list();
    match output {
        OutputForm::Json => {
            let credentials = all.iter().map(|(name, place)| described(name, *place)).collect();
            print_exact(&api::pretty(&CredentialList { credentials })?);
        }
        OutputForm::Text if all.is_empty() => print("no credential is kept"),
        OutputForm::Text => {
            let rows = all.iter().map(|(name, place)| vec![name.to_string(), place.in_words().to_owned()]);
            print(&table(&["name", "kept in"], rows.collect()));
        }
    }
    Ok(ExitStatus::Done)
}

/// Takes one away.
pub fn delete(
    environment: &HostEnvironment,
    name: &CredentialName,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "credential delete")?;
    let deleted = Credentials::of(environment).delete(name)?;
    if deleted == Deleted::Deleted {
        by_person(environment, AuthenticationAct::CredentialDeleted, name, AuthenticationResult::Taken);
    }
    match output {
        OutputForm::Json => {
            let deleted = deleted == Deleted::Deleted;
            print_exact(&api::pretty(&CredentialDeleted { name: name.to_string(), deleted })?);
        }
        OutputForm::Text => print(match deleted {
            Deleted::Deleted => "deleted",
            Deleted::WasNotThere => "there was no such credential",
        }),
    }
    Ok(if deleted == Deleted::Deleted { ExitStatus::Done } else { ExitStatus::Failed })
}

fn described(name: &CredentialName, place: crate::credentials::CredentialStore) -> Credential {
    Credential { name: name.to_string(), place: place.word().to_owned() }
}

/// One line, or what comes through a pipe; a terminal shows nothing of it.
fn typed() -> Result<String, CommandError> {
    let mut text = String::new();
    if !io::stdin().is_terminal() {
        // One more than there may be, and the end of its line, so that too much is seen to be.
        io::stdin().take(LONGEST + 3).read_to_string(&mut text)?;
        return Ok(text);
    }
    Ok(typed_unseen("type or paste the credential; it is not shown:")?)
}
