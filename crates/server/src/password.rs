//! The password with which people log in from other machines: its argon2 hash in the state directory, never itself.

use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_files::Forced;

use crate::token::TokenDigest;

/// The fewest characters of a password (ours): a machine that may try five a minute does not come by it.
pub const SHORTEST_PASSWORD: usize = 10;
/// The most bytes of a password that are looked at (ours).
const LONGEST: usize = 1024;
/// The longest file, in bytes.
const LONGEST_FILE: u64 = 1024;

/// The file in the state directory that holds the hash.
pub(crate) fn file(folder: &Path) -> PathBuf {
    folder.join("password")
}

/// Sets the password of the console; who logged in with the one before is logged out.
///
/// # Errors
///
/// It is too short or too long, or the file cannot be written.
pub fn set_password(environment: &HostEnvironment, password: &str) -> Result<(), CommandError> {
    if password.chars().count() < SHORTEST_PASSWORD {
        return Err(CommandError::user(
            format!("a password has at least {SHORTEST_PASSWORD} characters"),
            "take a few words that do not belong together",
        ));
    }
    if password.len() > LONGEST {
        return Err(CommandError::user(
            format!("a password has at most {LONGEST} bytes"),
            "take a shorter one",
        ));
    }
    let folder = environment.state.root().join("server");
    let path = file(&folder);
    let failed = |error: &io::Error| CommandError::file("write", path.display(), error);
    let hash = Argon2::default().hash_password(password.as_bytes());
    let hash = hash.map_err(|error| failed(&io::Error::other(error.to_string())))?.to_string();
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(|error| failed(&error))?;
    checkrein_files::replace(&path, hash.as_bytes(), 0o600, Forced::Name).map_err(|error| failed(&error))
}

/// The hash that is set, as text; none where no password is.
pub(crate) fn hash(folder: &Path) -> Option<String> {
    let text = checkrein_files::read_text(file(folder), LONGEST_FILE).ok()?;
    PasswordHash::new(text.trim()).is_ok().then(|| text.trim().to_owned())
}

/// What a login with this hash is signed with beside the key of the server: another password has another.
pub(crate) fn generation(hash: &str) -> String {
    TokenDigest::of(hash).signature("generation")
}

/// Whether a password is the one of a hash. Takes some 20 MB and a good part of a second, as it is meant to.
pub(crate) fn is_right(hash: &str, password: &str) -> bool {
    password.len() <= LONGEST
        && PasswordHash::new(hash)
            .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_password_that_was_set_is_right() {
        let hash = Argon2::default().hash_password(b"seven red kites").unwrap().to_string();
        assert!(hash.starts_with("$argon2id$"), "{hash}");
        assert!(is_right(&hash, "seven red kites"));
        for wrong in ["", "seven red kite", "seven red kites ", &"x".repeat(LONGEST + 1)] {
            assert!(!is_right(&hash, wrong), "{wrong}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(super::hash(folder.path()), None);
        std::fs::write(file(folder.path()), "no hash").unwrap();
        assert_eq!(super::hash(folder.path()), None);
        std::fs::write(file(folder.path()), &hash).unwrap();
        assert_eq!(super::hash(folder.path()), Some(hash));
    }
}
