//! Seals: what tells a file that a command of a person, a waiting call or the server wrote from one that somebody else put in its place. A seal
//! is a code of the text with a key that only this user reads, and that nothing contained sees.
//!
//! A seal is made for a purpose and a place, so that none can be carried to another file. Code that runs with the rights of the user outside
//! of any sandbox can read the key: it is guarded as a credential, and no more than that.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use checkrein_files::Forced;
use sha2::{Digest as _, Sha256};

use crate::environment::HostEnvironment;
use crate::held_file::own_text;

/// The key, in the folder of the server.
const KEY_FILE: &str = "server/seals.key";
/// The length of a block of SHA-256, in bytes (RFC 2104).
const BLOCK: usize = 64;

/// What a seal is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sealed {
    /// What a user allowed.
    Allowance,
    /// A question that waits.
    Question,
    /// What became of a question.
    Outcome,
    /// A change record, or a step of one.
    Change,
    /// That a plugin runs.
    Plugin,
    /// The tier of an agent.
    Tier,
}

impl Sealed {
    fn word(self) -> &'static str {
        match self {
            Self::Allowance => "allowance",
            Self::Question => "question",
            Self::Outcome => "outcome",
            Self::Change => "change",
            Self::Plugin => "plugin",
            Self::Tier => "tier",
        }
    }
}

/// What stands in the place of a seal while the text around it is sealed.
pub(crate) const BLANK: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The text of the file of this name, in which `BLANK` stood in the place of its seal. Makes the key at first use.
///
/// # Errors
///
/// The key cannot be made or read.
pub(crate) fn sealed(
    environment: &HostEnvironment,
    purpose: Sealed,
    name: &str,
    text: &str,
) -> io::Result<String> {
    let key = made_key(environment)?;
    replaced(text, BLANK, &code(&key, purpose, name, text))
        .ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "there is no place for a seal"))
}

/// Whether the text of the file of this name is as it was sealed; `seal` is what stands in the place of its seal.
pub(crate) fn is_sealed(
    environment: &HostEnvironment,
    purpose: Sealed,
    name: &str,
    text: &str,
    seal: &str,
) -> bool {
    let Some(key) = key(environment) else { return false };
    // The text itself is compared, not what was read out of it: numbers with a point are not read as they were written.
    let blank =
        Some(seal).filter(|seal| seal.len() == BLANK.len()).and_then(|seal| replaced(text, seal, BLANK));
    // Digests of what is compared differ in places that tell nothing about it.
    blank.is_some_and(|blank| Sha256::digest(code(&key, purpose, name, &blank)) == Sha256::digest(seal))
}

/// The text with its last `one` replaced: a seal stands behind all else.
fn replaced(text: &str, one: &str, other: &str) -> Option<String> {
    let (before, behind) = text.rsplit_once(one)?;
    Some(format!("{before}{other}{behind}"))
}

fn code(key: &str, purpose: Sealed, name: &str, text: &str) -> String {
    let mut sealed = format!("checkrein-seal-1\0{}\0{name}\0", purpose.word()).into_bytes();
    sealed.extend_from_slice(text.as_bytes());
    hexadecimal(&authentication(key.as_bytes(), &sealed))
}

pub(crate) fn key(environment: &HostEnvironment) -> Option<String> {
    let text = own_text(&environment.state.root().join(KEY_FILE)).ok()?;
    let key = text.trim();
    (key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| key.to_owned())
}

/// The key, made where there is none.
pub(crate) fn made_key(environment: &HostEnvironment) -> io::Result<String> {
    key(environment).map_or_else(|| fresh(environment), Ok)
}

fn fresh(environment: &HostEnvironment) -> io::Result<String> {
    let path = environment.state.root().join(KEY_FILE);
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut bytes = [0_u8; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let text = hexadecimal(&bytes);
    if path.exists() && key(environment).is_none() {
        // What stands there is no key, so nothing was sealed with it.
        checkrein_files::replace(&path, text.as_bytes(), 0o600, Forced::Name)?;
    } else {
        place_once(&path, text.as_bytes())?;
    }
    key(environment).ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "the key is not one"))
}

/// Writes a file where none of this name is: of two that begin at once the first counts for both, as it may have sealed something by then.
fn place_once(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let aside = path.with_extension(format!("key.new-{}", checkrein_files::aside()));
    checkrein_files::replace(&aside, bytes, 0o600, Forced::Name)?;
    let placed = rustix::fs::renameat_with(
        rustix::fs::CWD,
        &aside,
        rustix::fs::CWD,
        path,
        rustix::fs::RenameFlags::NOREPLACE,
    );
    match placed.map_err(io::Error::from) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => fs::remove_file(&aside),
        // The file system knows no such way.
        Err(_) => fs::rename(&aside, path),
    }
}

/// HMAC with SHA-256 (RFC 2104); no key is longer than a block.
pub(crate) fn authentication(key: &[u8], text: &[u8]) -> [u8; 32] {
    let mut padded = [0_u8; BLOCK];
    padded.iter_mut().zip(key).for_each(|(place, byte)| *place = *byte);
    let with = |pad: u8| padded.map(|byte| byte ^ pad);
    let inner = Sha256::new().chain_update(with(0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(with(0x5c)).chain_update(inner).finalize().into()
}

/// Bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_standard() {
        // RFC 4231, test cases 1 and 2.
        let first = authentication(&[0x0b; 20], b"Hi There");
        assert_eq!(hexadecimal(&first), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
        let second = authentication(b"Jefe", b"what do ya want for nothing?");
        assert_eq!(hexadecimal(&second), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn of_two_keys_at_once_the_first_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seals.key");
        place_once(&path, b"first").unwrap();
        place_once(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_seal_is_for_one_text_in_one_place() {
        let key = "0".repeat(64);
        let own = code(&key, Sealed::Outcome, "ab12", "yes");
        assert_ne!(own, code(&"1".repeat(64), Sealed::Outcome, "ab12", "yes"));
        assert_ne!(own, code(&key, Sealed::Allowance, "ab12", "yes"));
        assert_ne!(own, code(&key, Sealed::Outcome, "ab13", "yes"));
        assert_ne!(own, code(&key, Sealed::Outcome, "ab12", "no"));
    }
}
