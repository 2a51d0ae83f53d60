//! Where hooks were registered, and what of that is out of the agent's reach.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::Duration;

use checkrein_clients::{ClientAdapter, ClientPath, FIRST, HookCommand, PLACES, Protection, SettingsScope};
use checkrein_facts::GuardedPath;
use checkrein_protocol::AbsolutePath;
use serde::{Deserialize, Serialize};

use crate::environment::{HostEnvironment, MANAGED, testimony_folder};
use crate::error::CommandError;

/// One settings file in which the hooks of a client were registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// The client, by its name.
    pub client: String,
    /// The settings file.
    pub settings: AbsolutePath,
    /// The command line that was registered for the review of calls.
    pub command: String,
    /// Whether the file was made for that, so that it may go when nothing else stands in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub made: bool,
    /// The folders that were made for the file, so that they may go with it once they are empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<AbsolutePath>,
    /// What was inserted into the file for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inserted: Option<Inserted>,
}

/// What was inserted into a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inserted {
    /// The SHA-256 digest of the whole text.
    pub digest: String,
    /// Where in it the insertions stand, in bytes: from and behind.
    pub ranges: Vec<(usize, usize)>,
}

/// A settings file from which calls were reviewed once, and are no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fallen {
    /// The settings file.
    pub settings: AbsolutePath,
    /// Why, in a few words.
    pub why: String,
}

impl Installed {
    /// Hooks of a client in a settings file.
    pub fn new(client: &ClientAdapter, settings: AbsolutePath, command: String) -> Self {
        let client = client.client.name().to_owned();
        Self { client, settings, command, made: false, folders: Vec::new(), inserted: None }
    }

    /// The client; the first where this version knows none of this name.
    fn adapter(&self) -> &'static ClientAdapter {
        checkrein_clients::named(&self.client).unwrap_or(FIRST)
    }

    /// The command that was registered, when it is one of ours.
    fn hook(&self) -> Option<HookCommand> {
        self.adapter().hooks.parse(&self.command).map(|(command, _)| command)
    }

    /// Whether the folder of the project is still there; the settings of a user count as there.
    fn is_of_something(&self) -> bool {
        // The settings are in a folder of the client, if that is to be made, which is in that of the project.
        let in_folder = |place: &ClientPath| match place {
            ClientPath::Project(path) => {
                let folder = path.rsplit_once('/').map(|(folder, _)| folder)?;
                self.settings.parent()?.as_str().strip_suffix(folder)?.strip_suffix('/').map(str::to_owned)
            }
            ClientPath::Folder(_) | ClientPath::Machine(_) => None,
        };
        let mut places = self.adapter().places.settings.iter();
        let project = places.find_map(|(_, place)| in_folder(place));
        let holder = project.or_else(|| Some(self.settings.parent()?.as_str().to_owned()));
        holder.is_none_or(|folder| folder.is_empty() || fs::symlink_metadata(folder).is_ok())
    }
}

/// The list of all places from which the hooks of this user were called: where they registered them, and where a session found them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Installations(pub Vec<Installed>);

impl Installations {
    /// Reads the list; a missing file is an empty list.
    pub fn load(environment: &HostEnvironment) -> Result<Self, CommandError> {
        let path = list_path(environment);
        match checkrein_files::read_text(path.as_str(), checkrein_files::SMALL) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| {
                CommandError::user(
                    format!("`{path}` is damaged: {error}"),
                    "run `checkrein init` again in each project",
                )
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(CommandError::file("read", path, &error)),
        }
    }

    /// The programs of the hooks that are registered by their path.
    pub(crate) fn programs(&self) -> impl Iterator<Item = AbsolutePath> + '_ {
        self.0.iter().filter_map(|installed| AbsolutePath::new(installed.hook()?.program()?))
    }

    /// Writes the list.
    pub fn save(&self, environment: &HostEnvironment) -> Result<(), CommandError> {
        let path = list_path(environment);
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| CommandError::user(error.to_string(), "report this"))?;
        crate::config_files::write_private(&path, text.as_bytes())
    }

    /// Adds a place, or renews it.
    pub fn add(&mut self, installed: Installed) {
        self.0.retain(|known| known.settings != installed.settings);
        self.0.push(installed);
    }

    /// The command lines that reviewed calls from this file.
    pub fn commands(&self, settings: &AbsolutePath) -> Vec<&str> {
        self.0
            .iter()
            .filter(|known| known.settings == *settings)
            .map(|known| known.command.as_str())
            .collect()
    }

    /// Remembers the settings files from which the client calls the hooks now, among those that take part in a workspace; returns them. Places that
    /// are gone with their project are forgotten. Whoever brought a settings file along, what protects a session is out of the agent's
    /// reach from then on.
    pub fn remember(
        &mut self,
        environment: &HostEnvironment,
        files: &[AbsolutePath],
    ) -> Result<Vec<AbsolutePath>, CommandError> {
        let client = environment.client;
        let found: Vec<Installed> = files
            .iter()
            .filter_map(|file| {
                let command = client.hooks.reviewing_command(&text(file)?)?;
                Some(Installed::new(client, file.clone(), command))
            })
            .collect();
        let settings = found.iter().map(|installed| installed.settings.clone()).collect();
        if found.iter().all(|installed| self.0.iter().any(|known| known.settings == installed.settings)) {
            return Ok(settings);
        }
        // Another session may have written meanwhile.
        let _lock = lock(environment);
        *self = Self::load(environment)?;
        self.0.retain(Installed::is_of_something);
        for installed in found {
            if !self.0.iter().any(|known| known.settings == installed.settings) {
                self.0.push(installed);
            }
        }
        self.save(environment)?;
        Ok(settings)
    }

    /// The settings files from which calls are no longer reviewed.
    pub fn fallen(&self) -> Vec<Fallen> {
        let standing = self.0.iter().filter(|known| known.is_of_something());
        let fallen = standing.filter_map(|known| {
            let commands = self.commands(&known.settings);
            match known.adapter().hooks.protection(text(&known.settings).as_deref(), &commands) {
                Protection::Falls { why } => Some(Fallen { settings: known.settings.clone(), why }),
                Protection::Stands | Protection::NotConcerned => None,
            }
        });
        fallen.collect()
    }
}

impl std::fmt::Display for Fallen {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "new sessions are not reviewed: `{}`: {}", self.settings, self.why)
    }
}

/// Whether a client that calls the hooks of another one calls its own too, by the settings of its user: then its own review the call. What a
/// project says of that does not count, since anybody may have written it.
pub fn calls_its_own_hooks(environment: &HostEnvironment, client: &ClientAdapter) -> bool {
    let place = client.places.of_scope(SettingsScope::User);
    let path = place.map(|place| place.at(&environment.cwd, &environment.folder_of(client)));
    let settings = path.as_ref().and_then(text);
    settings.is_some_and(|settings| client.hooks.reviewing_command(&settings).is_some())
}

/// What a user can do about settings that no longer call the hooks.
pub const FALLEN_HINT: &str =
    "`checkrein init` in that project puts the hooks back, `checkrein uninstall` there forgets them";

/// The text of a settings file; `None` when it cannot be read.
fn text(path: &AbsolutePath) -> Option<String> {
    checkrein_files::read_text(path.as_str(), checkrein_files::SMALL).ok()
}

/// Held while the list is changed; `None` when it cannot be had in a moment. Then the list is changed all the same: a lost entry comes back
/// with the next session, and the guard waits for nobody.
fn lock(environment: &HostEnvironment) -> Option<fs::File> {
    let path = environment.state_path.join("installed.lock");
    let mut options = fs::OpenOptions::new();
    let file =
        checkrein_files::open_with(options.append(true).create(true).mode(0o600), path.as_str()).ok()?;
    for _ in 0..100 {
        if file.try_lock().is_ok() {
            return Some(file);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

/// The file with the list of all places from which hooks were called.
pub(crate) fn list_path(environment: &HostEnvironment) -> AbsolutePath {
    environment.state_path.join("installed.json")
}

/// What decides about the hooks of the client that calls, in a workspace, with what that is.
pub fn client_settings(environment: &HostEnvironment, workspace: &AbsolutePath) -> Vec<GuardedPath> {
    let folder = environment.client_folder();
    let guarded = environment.client.places.guarded.iter();
    guarded
        .map(|(place, role)| GuardedPath { path: place.at(workspace, &folder), role: (*role).to_owned() })
        .collect()
}

/// Everything of the guard that the agent must not change: state, configuration, programs, hook settings.
pub fn guarded(
    environment: &HostEnvironment,
    workspace: &AbsolutePath,
    installations: &Installations,
) -> Vec<GuardedPath> {
    let own = |path: AbsolutePath, role: &str| GuardedPath { path, role: role.to_owned() };
    let mut paths = vec![
        own(environment.state_path.clone(), "the state of checkrein"),
        own(testimony_folder(&environment.home), "what checkrein keeps of its records"),
        own(environment.configuration.clone(), "the configuration of checkrein"),
        own(workspace.join("checkrein.yaml"), "the policy of this project"),
        own(AbsolutePath::root().join(MANAGED), "the managed configuration of checkrein"),
    ];
    paths.extend(client_settings(environment, workspace));
    for installed in &installations.0 {
        paths.push(own(installed.settings.clone(), "the hook settings of a client"));
        let Some(command) = installed.hook() else { continue };
        let program = |path: AbsolutePath| own(path, "the hook program of checkrein");
        match command.program() {
            Some(path) => paths.extend(AbsolutePath::new(path).map(program)),
            None => paths.extend(looked_up(environment).map(program)),
        }
    }
    let program = environment.program.as_ref().and_then(|path| AbsolutePath::new(path.to_str()?));
    paths.extend(program.map(|path| own(path, "the program of checkrein")));
    // In this order, not by name: what a user reads first is the state, wherever the programs happen to lie.
    let mut seen = BTreeSet::new();
    paths.retain(|guarded| seen.insert(guarded.path.clone()));
    paths
}

/// Where a shared command line looks for the hook program: whoever puts another one before it has the guard.
pub fn looked_up(environment: &HostEnvironment) -> impl Iterator<Item = AbsolutePath> + '_ {
    PLACES.iter().map(|place| {
        let folder = match place.strip_prefix("~/") {
            Some(below) => environment.home.join(below),
            None => AbsolutePath::root().join(place),
        };
        folder.join("checkrein-hook")
    })
}
