//! What a restore made, written down, so that going back to the state before it takes that away again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::SnapshotError;
use crate::id::SnapshotId;
use crate::lookup::stat;
use crate::metadata;
use crate::node::{FileTime, SavedPath};
use crate::plan::{RestoreAction, Step};
use crate::store::{Store, create_directory};
use crate::system::Stat;
use crate::way::Ways;
use rustix::fs::FileType;

/// The longest list that is read, in bytes (ours): it names every path that a restore made.
const LONGEST: u64 = 256 * 1024 * 1024;

/// What the list is bound to where it is sealed.
const RESTORED: &[u8] = b"restored";

/// What a restore made at its paths, each as it left it.
pub(crate) type PutBack = BTreeMap<SavedPath, Mark>;

/// By what something is known to stand as a restore left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Mark {
    /// A directory by its number: its times change with what is in it.
    Directory(u64),
    /// Number, length and time of the content.
    Other(u64, u64, FileTime),
}

impl Mark {
    /// What stands at a path; `None` where nothing does.
    fn at(path: &Path) -> Option<Self> {
        stat(path).ok().map(|found| Self::of(&found))
    }

    fn of(found: &Stat) -> Self {
        match metadata::kind(found) {
            FileType::Directory => Self::Directory(found.st_ino),
            _ => Self::Other(found.st_ino, metadata::length(found), metadata::modified(found)),
        }
    }

    /// Whether it still stands there.
    pub(crate) fn holds(self, path: &Path) -> bool {
        Self::at(path) == Some(self)
    }
}

/// What these steps made, those left out that were not done.
pub(super) fn of_steps(steps: &[Step], left: &[(SavedPath, String)]) -> PutBack {
    let left: BTreeSet<&SavedPath> = left.iter().map(|(path, _)| path).collect();
    let mut ways = Ways::default();
    steps
        .iter()
        .filter(|step| step.deed == RestoreAction::Create && !left.contains(&step.path))
        .filter_map(|step| {
            let found = ways.stat(step.path.as_path()).ok()?;
            Some((step.path.clone(), Mark::of(&found)))
        })
        .collect()
}

impl Store {
    /// Whether the restore before which a snapshot was taken was done to its end.
    pub fn is_carried_out(&self, saved_as: SnapshotId) -> bool {
        self.mark_of(saved_as).exists()
    }

    /// What the restore made before which a snapshot was taken; nothing where that is not known.
    pub(crate) fn put_back(&self, saved_as: SnapshotId) -> PutBack {
        let path = self.mark_of(saved_as);
        let bytes = checkrein_files::read(&path, LONGEST).unwrap_or_default();
        // Earlier versions wrote nothing into it.
        let found = if bytes.is_empty() { None } else { self.seals().value(bytes, &path, RESTORED).ok() };
        found.map(|all: Vec<(SavedPath, Mark)>| all.into_iter().collect()).unwrap_or_default()
    }

    /// Writes down that a restore was done, and what it made.
    pub(super) fn mark_carried_out(&self, saved_as: SnapshotId, made: PutBack) -> Result<(), SnapshotError> {
        let path = self.mark_of(saved_as);
        if let Some(folder) = path.parent() {
            create_directory(folder)?;
        }
        // A restore that was interrupted is marked again when it is finished.
        if made.is_empty() && fs::metadata(&path).is_ok() {
            return Ok(());
        }
        let made: Vec<(SavedPath, Mark)> = made.into_iter().collect();
        self.seals().write(&path, &made, RESTORED)
    }

    fn mark_of(&self, saved_as: SnapshotId) -> std::path::PathBuf {
        self.directory().join("restored").join(saved_as.to_string())
    }
}
