//! Plugins of the user: which there are, which of them run, and that one is started after a call.
//!
//! A plugin lies in the folder `plugins` of the user's configuration, so that a cloned repository brings none. It runs while a user has enabled
//! just the files that it consists of: one that is changed runs no more, and everybody can see that. It runs behind a call, never before one,
//! in a process that `checkrein plugin run` confines; what it says is a record, and counts from the next call on. Nothing that it says makes
//! anything milder.

mod enabled;
mod files;
mod status;

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use checkrein_protocol::AbsolutePath;
use checkrein_session::SessionLedger;

pub use enabled::{EnabledPlugin, PinnedPlugin, all_enabled, disable, enable, enabled, program};
pub use files::{PluginFiles, copy_files, read_files};
pub use status::{PluginStatus, failed, status, succeeded};

use crate::beside::ProcessesBeside;
use crate::context::Context;
use crate::environment::HostEnvironment;

/// Where the plugins of a user are.
pub fn folder(environment: &HostEnvironment) -> AbsolutePath {
    environment.configuration.join("plugins")
}

/// Where it is kept which of them run, and how they did.
fn state_folder(environment: &HostEnvironment) -> AbsolutePath {
    environment.state_path.join("plugins")
}

/// The names of the plugins that are installed, in order.
pub fn installed(environment: &HostEnvironment) -> Vec<String> {
    let entries = fs::read_dir(folder(environment).as_str()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| checkrein_protocol::PluginManifest::is_name(name)).collect();
    names.sort();
    names
}

/// What starts the process in which plugins run. It must not keep anybody waiting.
pub trait PluginStarter: fmt::Debug + Send + Sync {
    /// Starts it for a session, by the name of its folder; `program` is this one, when known.
    fn start(&self, session: &str, program: Option<&Path>) -> io::Result<()>;
}

/// Starts `checkrein plugin run`.
#[derive(Debug, Default)]
pub struct PluginProcess {
    beside: ProcessesBeside,
}

impl PluginProcess {
    /// The same whose processes are started so.
    pub(crate) fn new(beside: ProcessesBeside) -> Self {
        Self { beside }
    }
}

impl PluginStarter for PluginProcess {
    fn start(&self, session: &str, program: Option<&Path>) -> io::Result<()> {
        self.beside.start(program, &["plugin", "run", "--session", session])
    }
}

/// Has the plugins and the exporters of the configuration look at a session after something happened in it. Where there is none of them that
/// is one look for a folder.
pub(crate) fn wake(context: &Context, ledger: &SessionLedger) {
    let environment = context.environment();
    let is_enabled =
        || fs::symlink_metadata(state_folder(environment).join(enabled::FOLDER).as_str()).is_ok();
    if !context.policy().config().audit.export.is_wanted() && !is_enabled() {
        return;
    }
    let session = ledger.folder().as_str();
    if let Err(error) = environment.plugins.start(session, environment.program.as_deref()) {
        environment.diagnostics.add(format!("the plugins did not run: {error}"));
    }
}

/// What is to be told of plugins when a session begins: those that are enabled and do not run. `None` where all do.
pub(crate) fn at_start(environment: &HostEnvironment) -> Option<String> {
    if fs::symlink_metadata(state_folder(environment).join(enabled::FOLDER).as_str()).is_err() {
        return None;
    }
    let faults: Vec<String> = all_enabled(environment)
        .into_iter()
        .filter_map(|name| Some(format!("plugin `{name}`: {}", trouble(environment, &name)?)))
        .collect();
    (!faults.is_empty())
        .then(|| format!("checkrein: {}; `checkrein plugin list` shows more", faults.join("; ")))
}

/// Why an enabled plugin does not run, or how it failed last; `None` where it is well.
pub fn trouble(environment: &HostEnvironment, name: &str) -> Option<String> {
    match enabled(environment, name) {
        EnabledPlugin::Pinned(_) => status(environment, name).fault,
        EnabledPlugin::Changed => Some(
            "its files changed since it was enabled, so it does not run until you enable it again".to_owned(),
        ),
        EnabledPlugin::Unreadable(why) => Some(format!("it does not run: {why}")),
        EnabledPlugin::Not => None,
    }
}
