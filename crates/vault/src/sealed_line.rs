//! Texts sealed as one line of text, so that they go wherever the text itself went.

use crate::error::VaultError;
use crate::{Sealing, Vault};

/// What a sealed text begins with; hexadecimal digits follow.
const MARK: &str = "checkrein-sealed:";

impl Vault {
    /// Returns the text as it is kept: sealed as one line, or as it is where nothing is sealed. It is bound to `purpose`.
    ///
    /// # Errors
    ///
    /// It is to be sealed, and there is no key to do it with. Then it must not be written.
    pub fn seal_text(&self, text: &str, purpose: &str) -> Result<String, VaultError> {
        match self.sealing() {
            Sealing::Off => Ok(text.to_owned()),
            Sealing::On => {
                Ok(format!("{MARK}{}", hex::encode(self.seal(text.as_bytes(), purpose.as_bytes())?)))
            }
        }
    }

    /// Returns the text of which this is kept; the text itself where it never was sealed.
    ///
    /// # Errors
    ///
    /// Its key is not here, or it is not what was sealed.
    pub fn open_text(&self, kept: &str, purpose: &str) -> Result<String, VaultError> {
        let Some(digits) = kept.strip_prefix(MARK) else { return Ok(kept.to_owned()) };
        let sealed = hex::decode(digits.trim()).map_err(|_| VaultError::Altered)?;
        String::from_utf8(self.open(sealed, purpose.as_bytes())?).map_err(|_| VaultError::Altered)
    }
}
