//! What the kernel keeps a whole agent within: the scope of `checkrein exec`, around it and all that it starts.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use serde::{Deserialize, Serialize};

use super::super::OutputForm;
use super::super::exec::state;

/// Places of agents in a home directory, where they keep what they know of a session; only those that are there count.
const AGENT_PLACES: [&str; 18] = [
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".qwen",
    ".copilot",
    ".cline",
    ".factory",
    ".cache/opencode",
    ".cache/claude-cli-nodejs",
    ".config/opencode",
    ".config/github-copilot",
    ".config/kilo",
    ".local/share/opencode",
    ".local/share/kilo",
    ".local/state/opencode",
    ".local/state/kilo",
    ".npm/_logs",
];

/// What an agent may change, read and talk to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AgentBounds {
    /// What it may change beside its own state, temporary files and ours; the directory in which it works when empty.
    write: Vec<PathBuf>,
    /// What it may read; everything when empty.
    read: Vec<PathBuf>,
    /// Whom it may talk to; everybody when empty.
    network: Vec<String>,
}

impl AgentBounds {
    /// The scope that was asked for; `None` where none was.
    pub fn of(write: Vec<PathBuf>, read: Vec<PathBuf>, network: Vec<String>) -> Option<Self> {
        let scope = Self { write, read, network };
        (scope != Self::default()).then_some(scope)
    }

    /// The same with real places, which mean the same wherever the agent works.
    pub(super) fn settle(&mut self) -> Result<(), CommandError> {
        for path in self.write.iter_mut().chain(&mut self.read) {
            *path = fs::canonicalize(&*path).map_err(|error| {
                let mut failure = CommandError::file("find", path.display(), &error);
                failure.hint.get_or_insert_with(|| {
                    "what is not there yet needs the folder that it will stand in".to_owned()
                });
                failure
            })?;
        }
        Ok(())
    }

    /// The words that start an agent within the scope.
    pub(super) fn around(
        &self,
        agent: Vec<OsString>,
        environment: &HostEnvironment,
        output: OutputForm,
    ) -> Result<Vec<OsString>, CommandError> {
        let mut words: Vec<OsString> = vec![env::current_exe()?.into()];
        if output == OutputForm::Json {
            words.push("--json".into());
        }
        words.extend(["exec", "--around-agent"].map(OsString::from));
        let mut give = |option: &str, value: OsString| words.extend([option.into(), value]);
        let own = vec![PathBuf::from(environment.cwd.as_str())];
        let given = if self.write.is_empty() { &own } else { &self.write };
        let beside = beside(environment);
        for path in given.iter().chain(&beside) {
            give("--write", path.into());
        }
        if !self.read.is_empty() {
            // What its hooks need is ours.
            let ours = [environment.configuration.as_str().into()].into_iter();
            let ours = ours.chain(env::current_exe()?.parent().map(PathBuf::from));
            let ours: Vec<PathBuf> = ours.filter(|place: &PathBuf| place.exists()).collect();
            for path in self.read.iter().chain(given).chain(&ours) {
                give("--read", path.into());
            }
        }
        match self.network.as_slice() {
            [] => give("--net", "open".into()),
            named => named.iter().for_each(|who| give("--net", who.into())),
        }
        words.push("--".into());
        words.extend(agent);
        Ok(words)
    }
}

/// What an agent and its hooks write wherever they work: temporary files, what agents know of their sessions, and what we keep.
fn beside(environment: &HostEnvironment) -> Vec<PathBuf> {
    let home = PathBuf::from(environment.home.as_str());
    let agents = AGENT_PLACES.iter().map(|place| home.join(place));
    let kept = [home.join(".local/share/checkrein")].into_iter().chain(state());
    let places = agents.chain(kept).chain([env::temp_dir()]);
    places.filter_map(|place| fs::canonicalize(place).ok()).collect()
}
