//! Telling people, where they want to be told. Nobody waits for a network.

use std::io;
use std::path::PathBuf;

use checkrein_policy::Config;

use crate::answer_links;
use crate::environment::HostEnvironment;
pub use crate::notifier::{LeavingNotices, Notice, NoticeQuestion, Notifier, NotifyingProcess, waiting};

/// The notice as it is sent: with a link to its question, where people can reach one.
pub fn with_link(environment: &HostEnvironment, config: &Config, mut notice: Notice) -> Notice {
    let public = config.server.public_address.as_deref();
    if let Some(NoticeQuestion { id, shown, expires_at }) = notice.question.take()
        && let Some(link) = answer_links::link(environment, public, &id, &shown, expires_at)
    {
        notice.text.push_str("\nOr open, and answer there: ");
        notice.text.push_str(&link);
    }
    notice
}

/// Where notices wait.
pub fn folder(environment: &HostEnvironment) -> PathBuf {
    environment.state.root().join("notices")
}

/// Has sent what waits because who was to send it was ended. Nothing waits as a rule, and then nothing is started.
pub fn send_waiting(environment: &HostEnvironment) -> io::Result<()> {
    environment.notifier.send_waiting(&folder(environment), environment.program.as_deref())
}

/// Leaves a notice to the run above, which sends what waits at its end, when the configuration names a way to.
pub(crate) fn leave(environment: &HostEnvironment, config: &Config, notice: &Notice) -> io::Result<()> {
    if config.interventions.emergency_stop.notification_channels.is_empty() {
        return Ok(());
    }
    environment.notifier.leave(notice, &folder(environment))
}

/// Has a notice sent when the configuration names a way to.
pub fn send(environment: &HostEnvironment, config: &Config, notice: &Notice) -> io::Result<()> {
    if config.interventions.emergency_stop.notification_channels.is_empty() {
        return Ok(());
    }
    environment.notifier.notify(notice, &folder(environment), environment.program.as_deref())
}
