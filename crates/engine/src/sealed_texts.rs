//! Copies of texts of the user, sealed where records are: a configuration lists names and literals that are to be masked.
//!
//! What is sealed is written as one line of text, so that it goes wherever the text itself went.

use checkrein_protocol::AbsolutePath;
use checkrein_vault::{Sealing, Vault, VaultError};

use crate::config_files;
use crate::error::CommandError;

/// What a sealed copy begins with; hexadecimal digits follow.
const MARK: &str = "checkrein-sealed:";

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
/// It is to be sealed, and there is no key to do it with. Then it must not be written.
pub(crate) fn shut(vault: &Vault, text: &str, purpose: &str) -> Result<String, VaultError> {
    match vault.sealing() {
        Sealing::Off => Ok(text.to_owned()),
        Sealing::On => Ok(format!("{MARK}{}", hex::encode(vault.seal(text.as_bytes(), purpose.as_bytes())?))),
    }
}

/// The text of which this is kept.
///
/// # Errors
/// Its key is not here, or it is not what was written.
pub(crate) fn opened(vault: &Vault, kept: &str, purpose: &str) -> Result<String, VaultError> {
    let Some(digits) = kept.strip_prefix(MARK) else { return Ok(kept.to_owned()) };
    let sealed = hex::decode(digits.trim()).map_err(|_| VaultError::Altered)?;
    String::from_utf8(vault.open(sealed, purpose.as_bytes())?).map_err(|_| VaultError::Altered)
}

/// Writes a copy.
pub(crate) fn write(
    vault: &Vault,
    path: &AbsolutePath,
    text: &str,
    purpose: &str,
) -> Result<(), CommandError> {
    let kept = shut(vault, text, purpose).map_err(|error| failed(&error))?;
    config_files::write_private(path, kept.as_bytes())
}

/// Reads a copy.
///
/// # Errors
/// It cannot be read, it is not what was written, or the key that sealed it is gone while another one seals: then nobody will read it again.
pub(crate) fn read(vault: &Vault, path: &AbsolutePath, purpose: &str) -> Result<KeptText, CommandError> {
    let Some(kept) = config_files::read(path)? else { return Ok(KeptText::Nothing) };
    match opened(vault, &kept, purpose) {
        Ok(text) => Ok(KeptText::Text(text)),
        Err(error @ VaultError::Altered) => Err(failed(&error)),
        Err(error) => match vault.clone().with_sealing(Sealing::On).naming() {
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
    use checkrein_vault::KeyFolder;

    use super::*;

    #[test]
    fn a_copy_is_read_with_its_key_and_shut_without_any() {
        let folder = tempfile::tempdir().unwrap();
        let keys = KeyFolder::new(folder.path().join("keys"));
        let vault = || Vault::new(keys.clone()).with_sealing(Sealing::On);
        let path = AbsolutePath::new(folder.path().join("copy").to_str().unwrap()).unwrap();
        assert_eq!(read(&vault(), &path, "a").unwrap(), KeptText::Nothing);
        config_files::write_private(&path, b"names: [Erika]").unwrap();
        assert_eq!(read(&vault(), &path, "a").unwrap(), KeptText::Text("names: [Erika]".to_owned()));
        write(&vault(), &path, "names: [Erika]", "a").unwrap();
        assert!(!std::fs::read_to_string(path.as_str()).unwrap().contains("Erika"));
        assert_eq!(read(&vault(), &path, "a").unwrap(), KeptText::Text("names: [Erika]".to_owned()));
        assert!(read(&vault(), &path, "another place").is_err());
        let name = keys.keys()[0].name().clone();
        std::fs::remove_file(keys.path(&name)).unwrap();
        assert!(matches!(read(&vault(), &path, "a"), Ok(KeptText::Shut(_))));
        keys.replace().unwrap();
        assert!(read(&vault(), &path, "a").is_err(), "it will never be read again, which has to be said");
    }
}
