//! `checkrein uninstall`: taking the hooks of clients back.

use std::fs;
use std::path::Path;

use checkrein_clients::{CLIENTS, ClientAdapter, FIRST, Registration, SettingsScope};
use checkrein_engine::config_files::replace_file;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::installation::Installations;
use checkrein_protocol::AbsolutePath;
use checkrein_world::{find_workspace, shared_git_directory};
use serde_json::Value as Json;

use super::init::{
    ALL, EXCLUDED_BY, bare, clients, companions, excluded, holding, no_such_scope, read, settings_file,
};
use super::insertions::Inserting as _;
use super::settings_change::{Approval, Manner, Results, SettingsChange, Written};
use super::snapshots::size;
use super::story::at_home;
use super::{ExitStatus, OutputForm, for_people_only, mcp_servers};
use crate::terminal::{plain_name, print};

/// The clients whose hooks are meant: the one that is named, or all of which a settings file here calls them, or did.
pub fn meant(
    environment: &HostEnvironment,
    name: Option<&str>,
) -> Result<Vec<&'static ClientAdapter>, CommandError> {
    let mut meant = match name {
        Some(ALL) => clients(environment, ALL).unwrap_or_default(),
        Some(name) => return clients(environment, name),
        None => Vec::new(),
    };
    let known = Installations::load(environment)?.0;
    let is_known = |client: &&ClientAdapter| {
        let scopes = client.places.settings.iter().map(|(scope, _)| *scope);
        let mut files = scopes.filter_map(|scope| settings_file(environment, client, scope));
        files.any(|file| known.iter().any(|known| known.settings == file))
    };
    for client in holding(environment).into_iter().chain(CLIENTS.iter().filter(is_known)) {
        if !meant.iter().any(|known| known.client == client.client) {
            meant.push(client);
        }
    }
    Ok(if meant.is_empty() { vec![FIRST] } else { meant })
}

/// Takes the hooks of clients back, and their servers from behind the gateway; goes on where one fails.
pub fn uninstall(
    environment: &HostEnvironment,
    chosen: &[&'static ClientAdapter],
    scope: Option<SettingsScope>,
    manner: Manner,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "uninstall")?;
    let whole = |client: &'static ClientAdapter| match of_client(environment, client, scope, manner, output)?
    {
        ExitStatus::Done => mcp_servers::direct(environment, client, scope, manner, output),
        done => Ok(done),
    };
    if let [client] = chosen {
        return whole(client);
    }
    let mut results = Results::new(manner, output);
    for client in chosen {
        if scope.is_some_and(|scope| client.places.of_scope(scope).is_none()) {
            continue;
        }
        match whole(client) {
            Ok(done) => results.also(done),
            Err(error) => results.failed(client, &error)?,
        }
    }
    Ok(results.end(&[]))
}

/// Takes the hooks of a client back. Without a scope: from the files that `init` chooses without one.
fn of_client(
    environment: &HostEnvironment,
    client: &'static ClientAdapter,
    scope: Option<SettingsScope>,
    manner: Manner,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let scopes = scopes_to_clear(environment, client, scope);
    let mut exit = ExitStatus::Done;
    for scope in scopes {
        let settings = settings_file(environment, client, scope).ok_or_else(|| no_such_scope(client))?;
        let before = read(&settings)?;
        let installations = Installations::load(environment)?;
        let known = installations.0.iter().find(|known| known.settings == settings);
        let was_made = known.is_some_and(|known| known.made);
        // As it was, byte for byte, where nobody changed it since; else what is ours goes, and the rest stays as it is written.
        let exact = known.and_then(|known| known.inserted.as_ref()?.taken_out_of(&before));
        let is_bare =
            |text: &String| client.hooks.registration(text).is_ok_and(|found| found == Registration::Absent);
        let after = match exact.filter(is_bare) {
            Some(exact) => exact,
            None => bare(client, &before)?,
        };
        client.hooks.registration(&after)?;
        // The list first: a running session must not take the change of the file for tampering.
        let forget = || -> Result<(), CommandError> {
            let mut installations = Installations::load(environment)?;
            installations.0.retain(|known| known.settings != settings);
            installations.save(environment)
        };
        let remarks = [format!("settings  {}", at_home(environment, settings.as_str()))];
        let change =
            SettingsChange { client, settings: &settings, before: &before, after: &after, remarks: &remarks };
        let written = change.apply(manner, output, &forget)?;
        if written == Written::Unchanged && manner.approval != Approval::DryRun {
            forget()?;
        }
        let held = environment.folder_of(client);
        if written == Written::Yes {
            for companion in companions(client, &settings) {
                if read(&companion)?.contains("checkrein-hook") {
                    remove_made(&companion, &held)?;
                }
            }
        }
        if written == Written::Yes && was_made && is_empty_object(&after) {
            remove_made(&settings, &held)?;
        }
        if written == Written::Yes && scope == SettingsScope::Local {
            include_settings(environment, client)?;
        }
        let done = change.tell(written, output, "the hooks are gone")?;
        if done != ExitStatus::Done {
            exit = done;
        }
    }
    Ok(exit)
}

/// Says where the records are that stay, how large they are, and how they go.
pub(crate) fn tell_what_stays(environment: &HostEnvironment) {
    let state = environment.state.root();
    let bytes = size_of(state);
    if bytes > 0 {
        let place = at_home(environment, &plain_name(&state.to_string_lossy()));
        print(&format!(
            "the records, and what was saved for `checkrein undo`, stay in {place} ({}); `checkrein uninstall --purge` deletes them",
            size(bytes)
        ));
    }
}

/// How many bytes the files below a folder take, each as long as it says; links are not followed.
fn size_of(folder: &Path) -> u64 {
    let mut waiting = vec![folder.to_owned()];
    let mut bytes = 0;
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(facts) if facts.is_dir() => waiting.push(entry.path()),
                Ok(facts) => bytes += facts.len(),
                Err(_) => {}
            }
        }
    }
    bytes
}

/// The settings files out of which [`uninstall`] takes the hooks of a client.
pub(super) fn settings_to_clear(
    environment: &HostEnvironment,
    client: &'static ClientAdapter,
    scope: Option<SettingsScope>,
) -> Vec<AbsolutePath> {
    let scopes = scopes_to_clear(environment, client, scope).into_iter();
    scopes.filter_map(|scope| settings_file(environment, client, scope)).collect()
}

/// The scope that is wanted; without one those that hold hooks, of the two that `init` chooses from.
fn scopes_to_clear(
    environment: &HostEnvironment,
    client: &'static ClientAdapter,
    scope: Option<SettingsScope>,
) -> Vec<SettingsScope> {
    if let Some(scope) = scope {
        return vec![scope];
    }
    let both = vec![client.places.own_scope(), SettingsScope::Team];
    let holds = |scope: &SettingsScope| {
        let file = settings_file(environment, client, *scope);
        file.is_some_and(|file| read(&file).is_ok_and(|text| text.contains("checkrein")))
    };
    let found: Vec<SettingsScope> = both.iter().copied().filter(holds).collect();
    if found.is_empty() { both } else { found }
}

/// Whether settings say nothing.
fn is_empty_object(text: &str) -> bool {
    text.trim().is_empty()
        || serde_json::from_str::<Json>(text)
            .is_ok_and(|json| json.as_object().is_some_and(serde_json::Map::is_empty))
}

/// Removes a settings file that was made by `init`, its folder when nothing else is in there, and so on up to the folder of the client: an
/// empty one would look like a client that is here.
fn remove_made(settings: &AbsolutePath, of_client: &AbsolutePath) -> Result<(), CommandError> {
    std::fs::remove_file(settings.as_str())
        .map_err(|error| CommandError::file("remove", settings.clone(), &error))?;
    let mut next = settings.parent();
    // One with something in it stays.
    while let Some(folder) = next.filter(|folder| std::fs::remove_dir(folder.as_str()).is_ok()) {
        next = folder.parent().filter(|above| above.is_within(of_client));
    }
    Ok(())
}

/// Takes back what `init` wrote.
fn include_settings(environment: &HostEnvironment, client: &ClientAdapter) -> Result<(), CommandError> {
    let Some(excluded) = excluded(client) else { return Ok(()) };
    let Some(folder) = shared_git_directory(&find_workspace(&environment.cwd)) else { return Ok(()) };
    let file = folder.join("info/exclude");
    let text = read(&file)?;
    let without = text.replace(&format!("{EXCLUDED_BY}\n{excluded}\n"), "");
    if without == text { Ok(()) } else { replace_file(&file, without.as_bytes()) }
}
