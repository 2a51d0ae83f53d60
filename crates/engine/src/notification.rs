//! Telling people, where they want to be told. Nobody waits for a network.

use std::io;
use std::path::PathBuf;

use checkrein_policy::Config;
use checkrein_vault::{Vault, VaultError};

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
    let kept = kept(environment.state.vault(), notice).map_err(io::Error::other)?;
    environment.notifier.leave(&kept, &folder(environment))
}

/// Has a notice sent when the configuration names a way to.
pub fn send(environment: &HostEnvironment, config: &Config, notice: &Notice) -> io::Result<()> {
    if config.interventions.emergency_stop.notification_channels.is_empty() {
        return Ok(());
    }
    let kept = kept(environment.state.vault(), notice).map_err(io::Error::other)?;
    environment.notifier.notify(&kept, &folder(environment), environment.program.as_deref())
}

/// What the words of a notice are encrypted for.
const PURPOSE: &str = "notices";

/// The notice as it waits: its words are encrypted where records are.
fn kept(vault: &Vault, notice: &Notice) -> Result<Notice, VaultError> {
    Ok(Notice {
        title: vault.seal_text(&notice.title, PURPOSE)?,
        text: vault.seal_text(&notice.text, PURPOSE)?,
        ..notice.clone()
    })
}

/// Returns a notice that waited, with its words. Where their key is gone, it says so, and where the rest stands.
pub fn opened(environment: &HostEnvironment, notice: Notice) -> Notice {
    opened_with(environment.state.vault(), notice)
}

fn opened_with(vault: &Vault, notice: Notice) -> Notice {
    let words = |kept: &str| vault.open_text(kept, PURPOSE);
    match (words(&notice.title), words(&notice.text)) {
        (Ok(title), Ok(text)) => Notice { title, text, ..notice },
        (Err(error), _) | (_, Err(error)) => Notice {
            title: format!("checkrein: a notice of the session {} cannot be read", notice.session),
            text: format!(
                "{error}\nPut the key back, or look at the session: `checkrein log --session {}`",
                notice.session
            ),
            ..notice
        },
    }
}

#[cfg(test)]
mod tests {
    use checkrein_protocol::{AbsolutePath, Timestamp};
    use checkrein_vault::{KeyFolder, Sealing};

    use super::*;

    #[test]
    fn the_words_of_a_notice_wait_encrypted_and_a_lost_key_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let vault =
            |name: &str, sealing| Vault::new(KeyFolder::new(folder.path().join(name))).with_sealing(sealing);
        let notice = Notice {
            event: "question".to_owned(),
            session: "s".to_owned(),
            workspace: AbsolutePath::root(),
            at: Timestamp(1),
            title: "a question".to_owned(),
            text: "marmalade".to_owned(),
            incident: None,
            question: None,
        };
        let waits = kept(&vault("one", Sealing::On), &notice).unwrap();
        assert!(!format!("{waits:?}").contains("marmalade") && !format!("{waits:?}").contains("a question"));
        assert_eq!(opened_with(&vault("one", Sealing::On), waits.clone()), notice);
        // What waited in the clear is read all the same.
        assert_eq!(kept(&vault("none", Sealing::Off), &notice).unwrap(), notice);
        assert_eq!(opened_with(&vault("one", Sealing::On), notice.clone()), notice);
        let lost = opened_with(&vault("other", Sealing::On), waits);
        assert!(lost.title.contains("cannot be read") && lost.text.contains("key"), "{lost:?}");
        assert!(lost.text.contains("checkrein log --session s"), "{lost:?}");
    }
}
