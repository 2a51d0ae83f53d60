//! The file of a ledger, with what opens the records in it that are sealed.

use std::borrow::Cow;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use checkrein_protocol::Record;
use checkrein_vault::Vault;

use crate::hash_chain::{opened, record};

/// A file of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerFile {
    path: PathBuf,
    vault: Vault,
}

impl LedgerFile {
    /// The file at a path, with what opens sealed records.
    pub fn new(path: PathBuf, vault: Vault) -> Self {
        Self { path, vault }
    }

    /// The file at a path, of which sealed records stay closed.
    pub fn without_keys(path: PathBuf) -> Self {
        Self { path, vault: Vault::default() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The record in a line of it, with or without its line feed; `None` where the line is none.
    pub fn record(&self, line: &[u8]) -> Option<Record> {
        record(line.strip_suffix(b"\n").unwrap_or(line), &self.vault)
    }

    /// A line of it in the clear, without its line feed; as it stands where it is not sealed, or with a key that is not here.
    pub fn clear<'line>(&self, line: &'line [u8]) -> Cow<'line, [u8]> {
        match opened(line, &self.vault) {
            Some(Ok(text)) => Cow::Owned(text.into_bytes()),
            Some(Err(_)) | None => Cow::Borrowed(line),
        }
    }

    /// What opens and seals its records.
    pub fn vault(&self) -> &Vault {
        &self.vault
    }
}

impl Deref for LedgerFile {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl AsRef<Path> for LedgerFile {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}
