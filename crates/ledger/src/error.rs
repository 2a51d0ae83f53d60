//! What can go wrong with a ledger.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a ledger could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// A file or directory could not be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file or directory could not be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process held the lock for longer than the wait allows.
    #[error("`{}` is locked by another process (waited {} ms)", path.display(), waited.as_millis())]
    Busy {
        /// The locked file.
        path: PathBuf,
        /// How long the wait was.
        waited: Duration,
    },
    /// A record is to be sealed, and there is no key for it.
    #[error("{0}")]
    Vault(#[from] checkrein_vault::VaultError),
    /// A record could not be put into JSON.
    #[error("cannot encode a record: {0}")]
    Encode(#[source] serde_json::Error),
}

impl LedgerError {
    /// What a user can do about it, in one clause.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Read { .. } => "check that the state directory belongs to you and is readable",
            Self::Write { .. } => "check the free space and the owner of the state directory",
            Self::Busy { .. } => "look for a process that hangs while it writes to this session",
            Self::Vault(error) => error.hint(),
            Self::Encode(_) => "report this: records are made of types that always have a JSON form",
        }
    }

    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Read { path, source }
    }

    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }
}
