//! Private files that are whole or not there.

use std::fmt::Write as _;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use checkrein_files::Forced;

use super::error::RunError;

/// The longest file of ours that is read, in bytes (ours); what is longer was not written by us.
const LONGEST: u64 = 4 << 20;

/// Creates a directory and those above it, for the owner only.
pub fn create_directory(path: &Path) -> Result<(), RunError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(RunError::file("create", path))
}

/// Replaces a file: written aside, forced to the disk, renamed into place.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), RunError> {
    checkrein_files::replace(path, bytes, 0o600, Forced::Name).map_err(RunError::file("write", path))
}

/// The bytes of a plain file; `None` when there is none. A link or anything else that is no file is an error.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, RunError> {
    let open = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path);
    let file = match open {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(RunError::file("read", path)(error)),
    };
    let facts = file.metadata().map_err(RunError::file("read", path))?;
    if !facts.is_file() || facts.len() > LONGEST {
        let odd = io::Error::new(io::ErrorKind::InvalidData, "it is not a file of ours");
        return Err(RunError::file("read", path)(odd));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).map_err(RunError::file("read", path))?;
    Ok(Some(bytes))
}

/// Bytes as digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
