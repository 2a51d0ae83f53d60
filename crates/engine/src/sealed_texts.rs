//! Copies of texts of the user: settings of a client hold keys, and a configuration lists names and literals that are to be masked.
//!
//! They are sealed in any case: with the key of the records where those are encrypted, else with a key of their own that lies outside the
//! state directory too. What earlier versions wrote in the clear is read all the same.

use checkrein_ledger::StateDirectory;
use checkrein_protocol::AbsolutePath;
use checkrein_vault::{Sealing, VaultError};

use crate::config_files;
use crate::error::CommandError;

/// What a copy begins with that is sealed with the key of the copies; the line that the vault makes follows.
const OWN: &str = "own:";

/// A copy as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeptText {
    /// There is none.
    Nothing,
    /// Its text.
    Text(String),
    /// It is sealed, and nothing can be sealed or opened now: the reason.
    Shut(String),
}

/// The text as it is kept; bound to `purpose`.
///
/// # Errors
/// There is no key to seal it with. Then it must not be written.
pub(crate) fn shut(state: &StateDirectory, text: &str, purpose: &str) -> Result<String, CommandError> {
    match state.vault().sealing() {
        Sealing::On => state.vault().seal_text(text, purpose).map_err(|error| failed(&error)),
        Sealing::Off => shut_apart(state, text, purpose),
    }
}

/// The same with the key of the copies in any case: what must be put back also when the key of the records is gone.
///
/// # Errors
/// There is no key to seal it with. Then it must not be written.
pub(crate) fn shut_apart(state: &StateDirectory, text: &str, purpose: &str) -> Result<String, CommandError> {
    let sealed = state.copies()?.seal_text(text, purpose).map_err(|error| failed(&error))?;
    Ok(format!("{OWN}{sealed}"))
}

/// The text of which this is kept.
///
/// # Errors
/// Its key is not here, or it is not what was written.
pub(crate) fn opened(state: &StateDirectory, kept: &str, purpose: &str) -> Result<String, CommandError> {
    match kept.strip_prefix(OWN) {
        Some(sealed) => state.copies()?.open_text(sealed, purpose).map_err(|error| failed(&error)),
        None => state.vault().open_text(kept, purpose).map_err(|error| failed(&error)),
    }
}

/// Writes a copy.
pub(crate) fn write(
    state: &StateDirectory,
    path: &AbsolutePath,
    text: &str,
    purpose: &str,
) -> Result<(), CommandError> {
    let kept = shut(state, text, purpose)?;
    config_files::write_private(path, kept.as_bytes())
}

/// Reads a copy.
///
/// # Errors
/// It cannot be read, it is not what was written, or the key that sealed it is gone while another one seals: then nobody will read it again.
pub(crate) fn read(
    state: &StateDirectory,
    path: &AbsolutePath,
    purpose: &str,
) -> Result<KeptText, CommandError> {
    let Some(kept) = config_files::read(path)? else { return Ok(KeptText::Nothing) };
    if kept.starts_with(OWN) {
        return opened(state, &kept, purpose).map(KeptText::Text);
    }
    match state.vault().open_text(&kept, purpose) {
        Ok(text) => Ok(KeptText::Text(text)),
        Err(error @ VaultError::Altered) => Err(failed(&error)),
        Err(error) => match state.vault().clone().with_sealing(Sealing::On).naming() {
            Ok(_) => Err(failed(&error)),
            Err(error) => Ok(KeptText::Shut(error.to_string())),
        },
    }
}

fn failed(error: &VaultError) -> CommandError {
    CommandError::user(error.to_string(), error.hint())
}

#[cfg(test)]
mod tests {
    use checkrein_vault::{KeyFolder, Vault};

    use super::*;

    #[test]
    fn a_copy_is_read_with_its_key_and_shut_without_any() {
        let folder = tempfile::tempdir().unwrap();
        let keys = KeyFolder::new(folder.path().join("keys"));
        let state = |sealing| {
            StateDirectory::new(folder.path().join("state"))
                .with_vault(Vault::new(keys.clone()))
                .with_sealing(sealing)
        };
        let path = AbsolutePath::new(folder.path().join("copy").to_str().unwrap()).unwrap();
        let told = || std::fs::read_to_string(path.as_str()).unwrap();
        let text = || KeptText::Text("names: [Erika]".to_owned());
        let (on, off) = (|| state(Sealing::On), || state(Sealing::Off));
        assert_eq!(read(&on(), &path, "a").unwrap(), KeptText::Nothing);
        config_files::write_private(&path, b"names: [Erika]").unwrap();
        assert_eq!(read(&on(), &path, "a").unwrap(), text());
        // Where records are not encrypted, a copy is all the same, and no key of the records is made for it.
        write(&off(), &path, "names: [Erika]", "a").unwrap();
        assert!(!told().contains("Erika") && keys.keys().is_empty());
        assert_eq!(read(&off(), &path, "a").unwrap(), text());
        assert_eq!(read(&on(), &path, "a").unwrap(), text());
        assert!(read(&off(), &path, "another place").is_err());
        write(&on(), &path, "names: [Erika]", "a").unwrap();
        assert!(!told().contains("Erika"));
        assert_eq!(read(&on(), &path, "a").unwrap(), text());
        assert_eq!(read(&off(), &path, "a").unwrap(), text());
        assert!(read(&on(), &path, "another place").is_err());
        let name = keys.keys()[0].name().clone();
        std::fs::remove_file(keys.path(&name)).unwrap();
        assert!(matches!(read(&on(), &path, "a"), Ok(KeptText::Shut(_))));
        keys.replace().unwrap();
        assert!(read(&on(), &path, "a").is_err(), "it will never be read again, which has to be said");
    }
}
