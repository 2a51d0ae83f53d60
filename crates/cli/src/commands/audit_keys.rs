//! `checkrein audit key`: the keys that encrypt the records.

use checkrein_engine::confirmed_configuration;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_ledger::{AuthenticationAct, AuthenticationResult};
use checkrein_vault::{KeyFolder, KeyName, KeyPlace, VaultError};

use super::{ExitStatus, OutputForm, for_people_only};
use crate::api;
use crate::api::installation::{AuditKey, AuditKeys};
use crate::authentications::by_person;
use crate::credentials::{CredentialName, CredentialStore, Credentials, Secret};
use crate::terminal::{log, print, print_exact, table};

/// Shows the keys.
pub fn list(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    show(folder(environment)?, output)
}

/// Makes another key, with which records are encrypted from now on.
pub fn rotate(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "audit key rotate")?;
    let folder = folder(environment)?;
    folder.replace().map_err(failed)?;
    if confirmed_configuration::confirm_unreadable(environment)? {
        log(
            "checkrein: what you had confirmed of your configuration was encrypted with a key that is gone; what stands there now counts as confirmed",
        );
    }
    show(folder, output)
}

/// Moves the key in use into the keyring.
pub fn keyring(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "audit key keyring")?;
    let folder = folder(environment)?;
    let Some(key) = folder.listed().into_iter().find(|key| key.is_current) else {
        return Err(CommandError::user(
            "no key is in use",
            "set `audit.encrypt: true`; the next call makes one",
        ));
    };
    if key.place == KeyPlace::File {
        if !folder.has_memory() {
            return Err(CommandError::user(
                "the system has no folder in memory for you (`/run/user`), so each call would have to ask the keyring",
                "keep the key in its file, or log in by a session that makes one",
            ));
        }
        let credentials = Credentials::of(environment);
        let (name, secret) =
            (credential(&key.name)?, Secret::new(&folder.digits(&key.name).map_err(failed)?)?);
        if credentials.set(&name, &secret)? != CredentialStore::Keyring {
            credentials.delete(&name)?;
            return Err(CommandError::user(
                "the system has no keyring that answers",
                "start one that `secret-tool` can reach, or keep the key in its file",
            ));
        }
        folder.give_to_keyring(&key.name).map_err(failed)?;
    }
    show(folder, output)
}

/// Takes the keys that are in the keyring out of it until the user logs out.
pub fn unlock(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "audit key unlock")?;
    let folder = folder(environment)?;
    for key in folder.listed().into_iter().filter(|key| key.place == KeyPlace::Keyring) {
        let name = credential(&key.name)?;
        let unlocked = Credentials::of(environment)
            .get(&name)
            .and_then(|secret| folder.unlock(&key.name, secret.reveal()).map_err(failed));
        let result = match &unlocked {
            Ok(()) => AuthenticationResult::Taken,
            Err(_) => AuthenticationResult::Refused,
        };
        by_person(environment, AuthenticationAct::KeyUnlocked, &name, result);
        unlocked?;
    }
    show(folder, output)
}

fn show(folder: &KeyFolder, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let keys: Vec<AuditKey> = folder
        .listed()
        .into_iter()
        .map(|key| AuditKey {
            name: key.name.to_string(),
            place: place(key.place).to_owned(),
            in_use: key.is_current,
        })
        .collect();
    let shown = folder.path_of_folder().display().to_string();
    match output {
        OutputForm::Json => print_exact(&api::pretty(&AuditKeys { folder: shown, keys })?),
        OutputForm::Text if keys.is_empty() && folder.has_sealed() => print(&format!(
            "the keys in `{shown}` are gone: put the folder back from your copy, or start anew with `checkrein audit key rotate`"
        )),
        OutputForm::Text if keys.is_empty() => print("no key was made yet: `audit.encrypt: true` makes one"),
        OutputForm::Text => {
            let used = |key: &AuditKey| if key.in_use { "in use" } else { "opens older records" };
            let rows = keys.iter().map(|key| vec![key.name.clone(), key.place.clone(), used(key).to_owned()]);
            print(&table(&["key", "kept in", "used"], rows.collect()));
            print(&format!("Keep a copy of `{shown}` elsewhere: without its key, nobody can read a record."));
        }
    }
    Ok(ExitStatus::Done)
}

fn place(place: KeyPlace) -> &'static str {
    match place {
        KeyPlace::File => "file",
        KeyPlace::Unlocked => "keyring, unlocked",
        KeyPlace::Keyring => "keyring, locked",
    }
}

fn folder(environment: &HostEnvironment) -> Result<&KeyFolder, CommandError> {
    environment.state.vault().folder().ok_or_else(|| failed(VaultError::NoFolder))
}

/// The name under which the keyring has a key.
fn credential(name: &KeyName) -> Result<CredentialName, CommandError> {
    let parsed = format!("records-{name}").parse();
    parsed.map_err(|error: String| CommandError::user(error, "report this as a defect"))
}

#[expect(clippy::needless_pass_by_value, reason = "it stands where errors are mapped")]
fn failed(error: VaultError) -> CommandError {
    CommandError::user(error.to_string(), error.hint())
}
