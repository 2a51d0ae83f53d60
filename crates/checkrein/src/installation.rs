//! Where hooks were registered, and what of that is out of the agent's reach.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;

use checkrein_effects::{AbsolutePath, GuardedPath};
use serde::{Deserialize, Serialize};

use crate::error::CommandError;
use crate::surroundings::{MANAGED, Surroundings};

/// One settings file in which the hooks of a client were registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// The client: `claude`.
    pub client: String,
    /// The settings file.
    pub settings: AbsolutePath,
    /// The command line that was registered.
    pub command: String,
}

/// The list of all places where hooks were registered by this person.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Installations(pub Vec<Installed>);

impl Installations {
    /// Reads the list; a missing file is an empty list.
    pub fn load(surroundings: &Surroundings) -> Result<Self, CommandError> {
        let path = list_path(surroundings);
        match fs::read_to_string(path.as_str()) {
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

    /// Writes the list.
    pub fn save(&self, surroundings: &Surroundings) -> Result<(), CommandError> {
        let path = list_path(surroundings);
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| CommandError::user(error.to_string(), "report this"))?;
        crate::settings::write_private(&path, text.as_bytes())
    }

    /// Adds a place, or renews it.
    pub fn add(&mut self, installed: Installed) {
        self.0.retain(|known| known.settings != installed.settings);
        self.0.push(installed);
    }

    /// Whether hooks were registered in this file.
    pub fn holds(&self, settings: &AbsolutePath) -> bool {
        self.0.iter().any(|known| known.settings == *settings)
    }
}

fn list_path(surroundings: &Surroundings) -> AbsolutePath {
    surroundings.state_path.join("installed.json")
}

/// The settings files of Claude Code that take part in a workspace, with what they are.
pub fn claude_settings(surroundings: &Surroundings, workspace: &AbsolutePath) -> Vec<GuardedPath> {
    let user = surroundings
        .variables
        .get("CLAUDE_CONFIG_DIR")
        .and_then(|text| AbsolutePath::new(text))
        .unwrap_or_else(|| surroundings.home.join(".claude"));
    let guarded = |path: AbsolutePath, role: &str| GuardedPath { path, role: role.to_owned() };
    vec![
        guarded(workspace.join(".claude/settings.json"), "the hook settings of Claude Code in this project"),
        guarded(
            workspace.join(".claude/settings.local.json"),
            "the local hook settings of Claude Code in this project",
        ),
        guarded(user.join("settings.json"), "the hook settings of Claude Code of this person"),
        guarded(AbsolutePath::root().join("etc/claude-code"), "the managed settings of Claude Code"),
    ]
}

/// Everything of the guard that the agent must not change: state, configuration, programs, hook settings.
pub fn guarded(
    surroundings: &Surroundings,
    workspace: &AbsolutePath,
    installations: &Installations,
) -> Vec<GuardedPath> {
    let own = |path: AbsolutePath, role: &str| GuardedPath { path, role: role.to_owned() };
    let mut paths = vec![
        own(surroundings.state_path.clone(), "the state of checkrein"),
        own(surroundings.configuration.clone(), "the configuration of checkrein"),
        own(workspace.join("checkrein.yaml"), "the policy of this project"),
        own(AbsolutePath::root().join(MANAGED), "the managed configuration of checkrein"),
    ];
    paths.extend(claude_settings(surroundings, workspace));
    for installed in &installations.0 {
        paths.push(own(installed.settings.clone(), "the hook settings of a client"));
        let program = installed.command.trim_end_matches(" claude").trim_matches('\'');
        paths.extend(AbsolutePath::new(program).map(|path| own(path, "the hook program of checkrein")));
    }
    let program = surroundings.program.as_ref().and_then(|path| AbsolutePath::new(path.to_str()?));
    paths.extend(program.map(|path| own(path, "the program of checkrein")));
    // In this order, not by name: what a person reads first is the state, wherever the programs happen to lie.
    let mut seen = BTreeSet::new();
    paths.retain(|guarded| seen.insert(guarded.path.clone()));
    paths
}
