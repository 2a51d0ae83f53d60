//! Telling people, where they want to be told. Nobody waits for a network.

use std::io;
use std::path::PathBuf;

use checkrein_policy::Config;

use crate::environment::HostEnvironment;
pub use crate::notifier::{Notice, Notifier, NotifyingProcess};

/// Where notices wait.
pub fn folder(environment: &HostEnvironment) -> PathBuf {
    environment.state.root().join("notices")
}

/// Has a notice sent when the configuration names a way to.
pub(crate) fn send(environment: &HostEnvironment, config: &Config, notice: &Notice) -> io::Result<()> {
    if config.interventions.emergency_stop.notification_channels.is_empty() {
        return Ok(());
    }
    environment.notifier.notify(notice, &folder(environment), environment.program.as_deref())
}
