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

use super::init::{ALL, EXCLUDED_BY, bare, clients, excluded, no_such_scope, read, settings_file, whose};
use super::insertions::Inserting as _;
use super::settings_change::{Approval, CompanionChange, Manner, Results, SettingsChange, Written};
use super::snapshots::size;
use super::story::at_home;
use super::whole_files::{check_unchanged, companion_removals};
use super::{ExitStatus, OutputForm, for_people_only, mcp_servers};
use crate::terminal::{Reply, confirm, log, plain_name, print, wrapped};

/// Out of which settings hooks are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UninstallReach {
    /// Those of this project; those that serve all projects of the user stay.
    Project,
    /// Those that `init` chooses for a client that is named.
    Client,
    /// Those of one scope.
    Scope(SettingsScope),
}

impl UninstallReach {
    /// Returns what the words of a user reach: a scope, else a client, else this project.
    pub fn of(scope: Option<SettingsScope>, client: Option<&str>) -> Self {
        match (scope, client) {
            (Some(scope), _) => Self::Scope(scope),
            (None, Some(_)) => Self::Client,
            (None, None) => Self::Project,
        }
    }

    /// Returns whether files of a scope are within reach that name MCP servers.
    pub(super) fn holds_servers_of(self, scope: SettingsScope) -> bool {
        match self {
            Self::Project => scope != SettingsScope::User,
            Self::Client => true,
            Self::Scope(only) => only == scope,
        }
    }
}

/// The clients whose hooks are meant: the one that is named, or all that have something of ours within reach.
pub fn meant(
    environment: &HostEnvironment,
    name: Option<&str>,
    reach: UninstallReach,
) -> Result<Vec<&'static ClientAdapter>, CommandError> {
    let mut meant = match name {
        Some(ALL) => clients(environment, ALL).unwrap_or_default(),
        Some(name) => return clients(environment, name),
        None => Vec::new(),
    };
    let known = Installations::load(environment)?;
    let has_something = |client: &&ClientAdapter| {
        !scopes_with_hooks(environment, client, reach, &known).is_empty()
            || mcp_servers::are_behind(environment, client, reach)
    };
    for client in CLIENTS.iter().filter(has_something) {
        if !meant.iter().any(|known| known.client == client.client) {
            meant.push(client);
        }
    }
    Ok(if meant.is_empty() { vec![FIRST] } else { meant })
}

/// What goes from one file.
struct Removal {
    client: &'static ClientAdapter,
    settings: AbsolutePath,
    before: String,
    after: String,
    beside: Vec<CompanionChange>,
    remarks: Vec<String>,
    of: RemovedPart,
    /// What is said to be gone.
    what: &'static str,
}

/// What is said to be gone from a file.
const HOOKS: &str = "the hooks";
const GATEWAY: &str = "the gateway before MCP servers";
const HOOKS_AND_GATEWAY: &str = "the hooks, and the gateway before MCP servers";

/// What of ours a file holds.
enum RemovedPart {
    /// The hooks of a scope; `made` where `init` made the file, with these folders.
    Hooks { scope: SettingsScope, made: bool, folders: Vec<AbsolutePath> },
    /// The gateway before MCP servers.
    Gateway,
}

/// Takes the hooks of clients back, and their servers from behind the gateway: asks once, and goes on where one fails.
pub fn uninstall(
    environment: &HostEnvironment,
    chosen: &[&'static ClientAdapter],
    reach: UninstallReach,
    manner: Manner,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_people_only(environment, "uninstall")?;
    let mut results = Results::new(manner, output);
    let mut removals = Vec::new();
    for client in chosen {
        match reach {
            UninstallReach::Scope(scope) if client.places.of_scope(scope).is_none() && chosen.len() > 1 => {
                continue;
            }
            UninstallReach::Scope(_) | UninstallReach::Project | UninstallReach::Client => {}
        }
        match Removal::all_of(environment, client, reach) {
            Ok((found, exit)) => {
                removals.extend(found);
                results.also(exit);
            }
            Err(error) if chosen.len() == 1 => return Err(error),
            Err(error) => results.failed(client, &error)?,
        }
    }
    let changing = removals.iter().filter(|removal| removal.change().is_one());
    for removal in changing.clone() {
        removal.change().show(manner, output);
        if output == OutputForm::Text {
            print("");
        }
    }
    let refused = match (manner.approval, changing.count()) {
        (Approval::Given | Approval::DryRun, _) | (Approval::Ask, 0) => None,
        (Approval::Ask, count) => match confirm(if count == 1 { "Remove this?" } else { "Remove these?" }) {
            Reply::Yes => None,
            Reply::No => Some(Written::Declined),
            Reply::Nobody => {
                log("nothing was removed: there is no terminal to ask at; `--yes` removes without asking");
                Some(Written::Unasked)
            }
        },
    };
    for removal in &removals {
        let written = match (refused, removal.change().is_one(), manner.approval) {
            (Some(refused), true, _) => Ok(refused),
            (None, true, Approval::DryRun) => Ok(Written::DryRun),
            (Some(_), false, _) | (None, false, Approval::DryRun) => Ok(Written::Unchanged),
            (None, _, Approval::Ask | Approval::Given) => removal.take_out(environment),
        };
        match written {
            Ok(written) => results.removed(&removal.change(), removal.what, written)?,
            Err(error) => results.failed(removal.client, &error)?,
        }
    }
    let staying = match reach {
        UninstallReach::Project => serving_all_projects(environment)?,
        UninstallReach::Client | UninstallReach::Scope(_) => Vec::new(),
    };
    if output == OutputForm::Json {
        for client in &staying {
            results.skipped(client, STAYS)?;
        }
    }
    let exit = results.end(&[]);
    if output == OutputForm::Text && !staying.is_empty() {
        let titles: Vec<&str> = staying.iter().map(|client| client.title).collect();
        print(&wrapped(&format!(
            "still registered for all your projects: {}; `checkrein uninstall --user` removes all of these, `--client NAME` one",
            titles.join(", ")
        )));
    }
    Ok(exit)
}

/// Why something of a client is left out.
const STAYS: &str = "it serves all your projects; `checkrein uninstall --user` removes it";

/// The clients of which the settings of this user call the hooks, or the gateway, in every project.
fn serving_all_projects(environment: &HostEnvironment) -> Result<Vec<&'static ClientAdapter>, CommandError> {
    let known = Installations::load(environment)?;
    let reach = UninstallReach::Scope(SettingsScope::User);
    let serves = |client: &&ClientAdapter| {
        !scopes_with_hooks(environment, client, reach, &known).is_empty()
            || mcp_servers::are_behind(environment, client, reach)
    };
    Ok(CLIENTS.iter().filter(serves).collect())
}

impl Removal {
    /// What goes of a client, and whether some file could not be read.
    fn all_of(
        environment: &HostEnvironment,
        client: &'static ClientAdapter,
        reach: UninstallReach,
    ) -> Result<(Vec<Self>, ExitStatus), CommandError> {
        let mut removals: Vec<Self> = Vec::new();
        for scope in scopes_to_clear(environment, client, reach)? {
            removals.push(Self::of_hooks(environment, client, scope)?);
        }
        let named = format!("client    {}", client.title);
        let pending = |path: &AbsolutePath| {
            removals.iter().find(|removal| removal.settings == *path).map(|removal| removal.after.clone())
        };
        let (servers, exit) = mcp_servers::direct(environment, client, reach, &pending)?;
        for back in servers {
            let servers = format!("servers   {}", at_home(environment, back.path.as_str()));
            // Some clients name servers in the file with the hooks: it is written once.
            match removals.iter_mut().find(|removal| removal.settings == back.path) {
                Some(removal) => {
                    let is_of_hooks = removal.change().is_one();
                    removal.what = if is_of_hooks { HOOKS_AND_GATEWAY } else { GATEWAY };
                    removal.after = back.after;
                    removal.remarks.push(servers);
                }
                None => removals.push(Self {
                    client,
                    remarks: vec![named.clone(), servers],
                    settings: back.path,
                    before: back.before,
                    after: back.after,
                    beside: Vec::new(),
                    of: RemovedPart::Gateway,
                    what: GATEWAY,
                }),
            }
        }
        Ok((removals, exit))
    }

    fn of_hooks(
        environment: &HostEnvironment,
        client: &'static ClientAdapter,
        scope: SettingsScope,
    ) -> Result<Self, CommandError> {
        let settings = settings_file(environment, client, scope).ok_or_else(|| no_such_scope(client))?;
        let before = read(&settings)?;
        let installations = Installations::load(environment)?;
        let known = installations.0.iter().find(|known| known.settings == settings);
        check_unchanged(client, known, &settings, &before)?;
        let folders = known.map(|known| known.folders.clone()).unwrap_or_default();
        // As it was, byte for byte, where nobody changed it since; else what is ours goes, and the rest stays as it is written.
        let exact = known.and_then(|known| known.inserted.as_ref()?.taken_out_of(&before));
        let is_bare =
            |text: &String| client.hooks.registration(text).is_ok_and(|found| found == Registration::Absent);
        let after = match exact.filter(is_bare) {
            Some(exact) => exact,
            None => bare(client, &settings, &before)?,
        };
        client.hooks.registration(&after)?;
        let made = known.is_some_and(|known| known.made) && is_empty_object(&after);
        let whole = if made { " (the whole file: `init` made it)" } else { "" };
        let mut remarks = vec![
            format!("client    {}, {}", client.title, whose(scope)),
            format!("settings  {}{whole}", at_home(environment, settings.as_str())),
        ];
        let beside = companion_removals(client, &settings)?;
        let names: Vec<&str> = beside.iter().filter_map(|file| file.path.name()).collect();
        if !names.is_empty() {
            remarks.push(format!("beside    {}: in the same folder", names.join(", ")));
        }
        let of = RemovedPart::Hooks { scope, made, folders };
        Ok(Self { client, settings, before, after, beside, remarks, of, what: HOOKS })
    }

    fn change(&self) -> SettingsChange<'_> {
        SettingsChange {
            client: self.client,
            settings: &self.settings,
            before: &self.before,
            after: &self.after,
            beside: &self.beside,
            remarks: &self.remarks,
        }
    }

    /// Writes the file without what is ours, or removes it where `init` made it.
    fn take_out(&self, environment: &HostEnvironment) -> Result<Written, CommandError> {
        if let RemovedPart::Hooks { .. } = self.of {
            // The list first: a running session must not take the change of the file for tampering.
            let mut installations = Installations::load(environment)?;
            let count = installations.0.len();
            installations.0.retain(|known| known.settings != self.settings);
            if installations.0.len() != count {
                installations.save(environment)?;
            }
        }
        if !self.change().is_one() {
            return Ok(Written::Unchanged);
        }
        if self.before != self.after {
            replace_file(&self.settings, self.after.as_bytes())?;
        }
        let RemovedPart::Hooks { scope, made, folders } = &self.of else { return Ok(Written::Yes) };
        for companion in &self.beside {
            remove_made(&companion.path, folders)?;
        }
        if *made && fs::symlink_metadata(self.settings.as_str()).is_ok() {
            remove_made(&self.settings, folders)?;
        }
        if *scope == SettingsScope::Local {
            include_settings(environment, self.client)?;
        }
        Ok(Written::Yes)
    }
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
    reach: UninstallReach,
) -> Result<Vec<AbsolutePath>, CommandError> {
    let scopes = scopes_to_clear(environment, client, reach)?.into_iter();
    Ok(scopes.filter_map(|scope| settings_file(environment, client, scope)).collect())
}

/// The scopes within reach that hold hooks; where none does, the first of them, of which that is said.
fn scopes_to_clear(
    environment: &HostEnvironment,
    client: &'static ClientAdapter,
    reach: UninstallReach,
) -> Result<Vec<SettingsScope>, CommandError> {
    let found = scopes_with_hooks(environment, client, reach, &Installations::load(environment)?);
    Ok(if found.is_empty() { within(client, reach).into_iter().take(1).collect() } else { found })
}

/// The scopes of a client within reach.
fn within(client: &ClientAdapter, reach: UninstallReach) -> Vec<SettingsScope> {
    match reach {
        UninstallReach::Scope(scope) => vec![scope],
        UninstallReach::Client => vec![client.places.own_scope(), SettingsScope::Team],
        UninstallReach::Project => {
            let of_project = [SettingsScope::Local, SettingsScope::Team].into_iter();
            of_project.filter(|scope| client.places.of_scope(*scope).is_some()).collect()
        }
    }
}

/// The scopes within reach of which the settings call our hooks, or did when they were last seen.
fn scopes_with_hooks(
    environment: &HostEnvironment,
    client: &ClientAdapter,
    reach: UninstallReach,
    known: &Installations,
) -> Vec<SettingsScope> {
    let holds = |scope: &SettingsScope| {
        settings_file(environment, client, *scope).is_some_and(|file| {
            known.0.iter().any(|known| known.settings == file)
                || read(&file).is_ok_and(|text| text.contains("checkrein-hook"))
        })
    };
    within(client, reach).into_iter().filter(holds).collect()
}

/// Whether settings say nothing.
fn is_empty_object(text: &str) -> bool {
    text.trim().is_empty()
        || serde_json::from_str::<Json>(text)
            .is_ok_and(|json| json.as_object().is_some_and(serde_json::Map::is_empty))
}

/// Removes a file that `init` made, and of the folders around it those that `init` made too, once nothing else is in there.
fn remove_made(file: &AbsolutePath, made: &[AbsolutePath]) -> Result<(), CommandError> {
    std::fs::remove_file(file.as_str())
        .map_err(|error| CommandError::file("remove", file.clone(), &error))?;
    let mut next = file.parent();
    while let Some(folder) = next.filter(|folder| made.contains(folder)) {
        // One with something in it stays.
        if std::fs::remove_dir(folder.as_str()).is_err() {
            break;
        }
        next = folder.parent();
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
