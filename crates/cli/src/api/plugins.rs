//! Answers about plugins.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Moment, answers};

/// Whether a plugin runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PluginState {
    /// It runs after each call.
    Enabled,
    /// Nobody enabled it.
    Disabled,
    /// It does not run: its files are not those that were enabled.
    Changed,
    /// It does not run: it cannot be read.
    Unreadable,
}

impl PluginState {
    /// For people.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
            Self::Changed => "not running, its files changed",
            Self::Unreadable => "not running",
        }
    }
}

/// A plugin, and how it did.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PluginEntry {
    /// Its name.
    pub plugin: String,
    /// Whether it runs.
    pub state: PluginState,
    /// Why it does not run, or how it failed last; null where it is well.
    pub trouble: Option<String>,
    /// What it does.
    pub summary: String,
    /// What it is for: `patterns`, `interventions`, `risk`, `exporter`, `approvals`.
    pub kinds: Vec<String>,
    /// Whom it talks to.
    pub network: Vec<String>,
    /// Where it lies.
    pub folder: String,
    /// How often it ran to its end.
    pub runs: u64,
    /// How often it failed.
    pub failures: u64,
    /// How long a run took on average, in milliseconds; null before the first one.
    pub mean_ms: Option<u64>,
    /// When it ran last; null before the first time.
    pub last: Option<Moment>,
    /// How the last run failed; null where it did not.
    pub last_failure: Option<String>,
}

/// The files of a plugin that were written.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PluginWritten {
    /// Its name.
    pub plugin: String,
    /// Where it lies.
    pub folder: String,
    /// The files.
    pub files: Vec<String>,
}

/// How a test of a plugin ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PluginTrialResult {
    /// The answer is as expected.
    Passed,
    /// It is not, or there is none.
    Failed,
    /// What it needs is not there.
    NotRun,
}

/// A test of a plugin.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PluginTrial {
    /// The plugin.
    pub plugin: String,
    /// What is tested.
    pub test: String,
    /// Where the test stands: a file and a line, or `recorded` and a number.
    pub place: String,
    /// How it ended.
    pub result: PluginTrialResult,
    /// What is wrong, with the line of the output of the plugin; null where nothing is.
    pub fault: Option<String>,
}

answers! {
    PluginEntry => "plugin",
    PluginWritten => "plugin-init",
    PluginTrial => "plugin-test",
}
