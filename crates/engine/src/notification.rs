//! Telling people: the hook puts a notice down and starts `checkrein notify`, which sends it. Nobody waits for a network.

use std::fmt;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use checkrein_effects::{AbsolutePath, Timestamp};
use checkrein_policy::Config;
use serde::{Deserialize, Serialize};

use crate::environment::Surroundings;

/// The program that sends, beside the hook.
const SENDER: &str = "checkrein";

/// What people are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// `emergency_stop`, `question`, `unanswered` or `test`.
    pub event: String,
    /// The session, by the name of its folder.
    pub session: String,
    /// The workspace; its configuration says how people are told.
    pub workspace: AbsolutePath,
    /// When.
    pub at: Timestamp,
    /// In a few words.
    pub title: String,
    /// What happened, and what to do; masked.
    pub text: String,
}

/// Where notices wait.
pub fn folder(surroundings: &Surroundings) -> PathBuf {
    surroundings.state.root().join("notices")
}

/// Has a notice sent when the configuration names a way to.
pub(crate) fn send(surroundings: &Surroundings, config: &Config, notice: &Notice) -> io::Result<()> {
    if config.interventions.emergency_stop.notification_channels.is_empty() {
        return Ok(());
    }
    surroundings.notifier.notify(surroundings, notice)
}

/// What brings a notice on its way. It must not keep anybody waiting.
pub trait Notifier: fmt::Debug + Send + Sync {
    /// Brings it on its way.
    fn notify(&self, surroundings: &Surroundings, notice: &Notice) -> io::Result<()>;
}

/// Puts notices down and starts `checkrein notify`, which sends them.
#[derive(Debug, Clone, Copy, Default)]
pub struct NotifyingProcess;

impl Notifier for NotifyingProcess {
    fn notify(&self, surroundings: &Surroundings, notice: &Notice) -> io::Result<()> {
        let folder = folder(surroundings);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let name = format!("{}-{}", notice.at.0, std::process::id());
        let fresh = folder.join(format!(".{name}"));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        file.write_all(&serde_json::to_vec(notice).map_err(io::Error::other)?)?;
        std::fs::rename(&fresh, folder.join(format!("{name}.json")))?;
        let own =
            surroundings.program.clone().ok_or_else(|| io::Error::other("this program is not known"))?;
        // A group of its own: what stops the hook or the client does not stop it.
        Command::new(own.with_file_name(SENDER))
            .args(["notify"])
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map(drop)
    }
}
