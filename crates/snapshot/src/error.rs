//! What can go wrong with snapshots.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::id::{ObjectId, SnapshotId};

/// Why something could not be saved or brought back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
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
    /// Another process held the lock of the store for longer than the wait allows.
    #[error("the snapshots are in use by another process (waited {} ms)", waited.as_millis())]
    Busy {
        /// How long the wait was.
        waited: Duration,
    },
    /// There is no snapshot of that number.
    #[error("there is no snapshot {0}")]
    Unknown(SnapshotId),
    /// An object that a snapshot needs is not there or not as it was written.
    #[error("object {id} {cause}")]
    Damaged {
        /// Which.
        id: ObjectId,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// A file of the store is not as it was written.
    #[error("`{}` is damaged: {cause}", path.display())]
    Torn {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// A database that is to be put back is open in another process.
    #[error("`{}` is open in {by}, which would write over what is put back", path.display())]
    InUse {
        /// Which.
        path: PathBuf,
        /// By whom.
        by: String,
    },
    /// The key is missing with which it is encrypted, or should be.
    #[error("snapshots are encrypted, and {0}")]
    Sealed(#[from] checkrein_vault::VaultError),
    /// What stands at a path is not what the plan was made for.
    #[error("`{}` changed while it was being restored", .0.display())]
    Moved(PathBuf),
}

impl SnapshotError {
    /// What a user can do about it, in one clause.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Read { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                "check who owns it and who may read there"
            }
            Self::Write { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                "free some space and try again; nothing was left half written"
            }
            Self::Write { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                "check who owns it and who may write there"
            }
            Self::Read { .. } | Self::Write { .. } => "check the disk and try again",
            Self::Busy { .. } => "wait for the other process, or look for one that hangs",
            Self::Unknown(_) => "`checkrein snapshot list` lists what there is",
            Self::Damaged { .. } | Self::Torn { .. } => {
                "`checkrein snapshot verify` tells which snapshots are intact"
            }
            Self::InUse { .. } => "end that process and try again; nothing was done",
            Self::Sealed(error) => error.hint(),
            Self::Moved(_) => "stop what is writing there and try again; what was there before is saved",
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

    pub(crate) fn refused(path: &Path) -> impl FnOnce(rustix::io::Errno) -> Self {
        let path = path.to_owned();
        move |error| Self::Write { path, source: error.into() }
    }
}
