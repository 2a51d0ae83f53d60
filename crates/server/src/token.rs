//! Keys: made from the randomness of the system, kept in private files, compared without telling how much was right.

use std::fmt;
use std::fs::{DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use checkrein_files::Forced;
use sha2::{Digest as _, Sha256};

/// A key of 256 bits, as 64 hexadecimal digits behind the word by which it is known for one. Never shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(String);

/// The SHA-256 digest of a key: what is compared and kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TokenDigest([u8; 32]);

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token")
    }
}

impl Token {
    /// Returns a new key.
    pub(crate) fn random() -> io::Result<Self> {
        let mut bytes = [0_u8; 32];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(format!("{FORM}{}", hex::encode(bytes))))
    }

    /// Returns the key in a file; makes both when there is none. What is not a key is replaced.
    pub(crate) fn in_file(path: &Path) -> io::Result<Self> {
        match checkrein_files::read_text(path, 128) {
            Ok(text) if is_key(text.trim()) => return Ok(Self(text.trim().to_owned())),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(error),
            Ok(_) | Err(_) => {}
        }
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let fresh = Self::random()?;
        checkrein_files::replace(path, fresh.0.as_bytes(), 0o600, Forced::Name)?;
        // Of two servers that begin at once, the file that came last counts for both.
        checkrein_files::read_text(path, 128).map(|text| Self(text.trim().to_owned()))
    }

    /// Half of it, without the word before it: for a link that is to be short.
    pub(crate) fn short(&self) -> String {
        self.0.trim_start_matches(FORM).chars().take(32).collect()
    }

    /// The digits.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The digest of the key.
    pub(crate) fn digest(&self) -> TokenDigest {
        TokenDigest::of(&self.0)
    }
}

impl TokenDigest {
    /// The digest of what somebody gave as a key. Digests of different texts differ in places that tell nothing about the key.
    pub(crate) fn of(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }

    /// A code of a text that nobody makes who does not know the key.
    pub(crate) fn signature(&self, text: &str) -> String {
        let inner = Sha256::new().chain_update(self.0).chain_update(text).finalize();
        hex::encode(Sha256::new().chain_update(self.0).chain_update(inner).finalize())
    }
}

/// What keys begin with: so that they are known for what they are wherever somebody writes one.
const FORM: &str = "checkrein_";

fn is_key(text: &str) -> bool {
    let Some(text) = text.strip_prefix(FORM) else { return false };
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_for_the_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server/token");
        let first = Token::in_file(&path).unwrap();
        assert_eq!(Token::in_file(&path).unwrap(), first);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
        std::fs::write(&path, "short").unwrap();
        let second = Token::in_file(&path).unwrap();
        assert!(second != first && is_key(second.as_str()));
        assert!(!format!("{second:?}").contains(second.as_str()));
    }
}
