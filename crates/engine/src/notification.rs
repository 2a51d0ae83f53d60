//! Telling people, where they want to be told. Nobody waits for a network.

use std::io;
use std::path::PathBuf;

use checkrein_policy::Config;

use crate::environment::HostEnvironment;
pub use crate::notifier::{Notice, Notifier, NotifyingProcess};

/// Where notices wait.
pub fn folder(surroundings: &HostEnvironment) -> PathBuf {
    surroundings.state.root().join("notices")
}

/// Has a notice sent when the configuration names a way to.
pub(crate) fn send(surroundings: &HostEnvironment, config: &Config, notice: &Notice) -> io::Result<()> {
    if config.interventions.emergency_stop.notification_channels.is_empty() {
        return Ok(());
    }
    surroundings.notifier.notify(notice, &folder(surroundings), surroundings.program.as_deref())
}
