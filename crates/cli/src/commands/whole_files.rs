//! Files of hooks that are ours as a whole, beside which or in which a user may have written something of their own: it is neither overwritten
//! nor deleted.

use std::fs;
use std::path::Path;

use checkrein_clients::{Authorship, ClientAdapter, HookCommand, Registration, SettingsError};
use checkrein_engine::error::CommandError;
use checkrein_engine::installation::Installed;
use checkrein_protocol::AbsolutePath;

use super::init::read;
use super::insertions::Inserting as _;
use super::settings_change::CompanionChange;

/// Returns an error where somebody changed a file that is ours as a whole since it was written.
pub(super) fn check_unchanged(
    client: &ClientAdapter,
    known: Option<&Installed>,
    settings: &AbsolutePath,
    text: &str,
) -> Result<(), CommandError> {
    let is_as_written = || {
        let inserted = known.and_then(|known| known.inserted.as_ref());
        inserted.is_none_or(|inserted| inserted.is_whole_of(text))
            || client.hooks.registration(text).is_ok_and(|found| found != Registration::Absent)
    };
    match client.hooks.authorship(text) {
        Authorship::Ours if is_as_written() => Ok(()),
        Authorship::Ours | Authorship::Changed => {
            Err(CommandError::settings(settings, SettingsError::Changed))
        }
        Authorship::Foreign => Ok(()),
    }
}

/// Returns an error for a file of a user that stands where one of ours belongs, with what to do where the client runs several files for one
/// event.
pub(super) fn in_the_way(client: &ClientAdapter, path: &AbsolutePath) -> CommandError {
    let mut error = CommandError::settings(path, SettingsError::Foreign);
    let stem = path.name().map(Path::new).and_then(|name| name.file_stem()?.to_str());
    if let Some(stem) = stem.filter(|_| !client.places.companions.is_empty()) {
        error.hint = Some(format!(
            "rename it to `{stem}.bash`: {} runs it beside ours; nothing was changed",
            client.title
        ));
    }
    error
}

/// Returns what `init` makes of the files beside a settings file.
pub(super) fn companion_changes(
    client: &ClientAdapter,
    settings: &AbsolutePath,
    command: &HookCommand,
) -> Result<Vec<CompanionChange>, CommandError> {
    let of_file = |path: AbsolutePath| {
        let before = read(&path)?;
        match client.hooks.companion_authorship(&before) {
            Authorship::Changed => return Err(CommandError::settings(path, SettingsError::Changed)),
            Authorship::Foreign if fs::symlink_metadata(path.as_str()).is_ok() => {
                return Err(in_the_way(client, &path));
            }
            Authorship::Ours | Authorship::Foreign => {}
        }
        Ok(CompanionChange { before, after: client.hooks.companion(command), path })
    };
    companions(client, settings).into_iter().map(of_file).collect()
}

/// Returns the files beside a settings file that `uninstall` deletes; those of a user are not among them.
pub(super) fn companion_removals(
    client: &ClientAdapter,
    settings: &AbsolutePath,
) -> Result<Vec<CompanionChange>, CommandError> {
    let mut removals = Vec::new();
    for path in companions(client, settings) {
        let before = read(&path)?;
        match client.hooks.companion_authorship(&before) {
            Authorship::Ours => removals.push(CompanionChange { path, before, after: String::new() }),
            Authorship::Changed => return Err(CommandError::settings(path, SettingsError::Changed)),
            Authorship::Foreign => {}
        }
    }
    Ok(removals)
}

/// The files beside a settings file that call the hook for further events.
fn companions(client: &ClientAdapter, settings: &AbsolutePath) -> Vec<AbsolutePath> {
    let Some(folder) = settings.parent() else { return Vec::new() };
    client.places.companions.iter().map(|name| folder.join(name)).collect()
}
