//! What a capture saw, so that the next one need not read what did not change.
//!
//! A file whose number, length and time of status change are what they were is what it was: no program can set that time back. What
//! changed so shortly before the capture that the clock of the file system may not have ticked since is never taken for unchanged.

use std::collections::HashMap;
use std::path::Path;

use rustix::fs::Stat;
use serde::{Deserialize, Serialize};

use crate::error::SnapshotError;
use crate::facts;
use crate::id::{ObjectId, SnapshotId};
use crate::index::replace;
use crate::node::FileTime;
use crate::pack::{decode, encode};

/// One entry, as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sight {
    device: u64,
    inode: u64,
    length: u64,
    /// `None` when it may have changed again without a trace.
    changed: Option<FileTime>,
}

impl Sight {
    pub(crate) fn of(facts: &Stat, settled: FileTime) -> Self {
        let changed = facts::changed(facts);
        Self {
            device: facts.st_dev,
            inode: facts.st_ino,
            length: facts::length(facts),
            changed: (changed < settled).then_some(changed),
        }
    }
}

/// A directory, as it was seen.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SeenDirectory {
    pub(crate) tree: ObjectId,
    /// Sorted by name.
    entries: Vec<(Vec<u8>, Sight)>,
}

impl SeenDirectory {
    pub(crate) fn new(tree: ObjectId, entries: Vec<(Vec<u8>, Sight)>) -> Self {
        Self { tree, entries }
    }

    pub(crate) fn count(&self) -> usize {
        self.entries.len()
    }

    /// Whether an entry is as it was seen here.
    pub(crate) fn is_same(&self, name: &[u8], sight: &Sight) -> bool {
        let found = self.entries.binary_search_by(|(known, _)| known.as_slice().cmp(name));
        let known = found.ok().and_then(|place| self.entries.get(place));
        sight.changed.is_some() && known.is_some_and(|(_, known)| known == sight)
    }
}

/// What a capture saw.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    directories: HashMap<Vec<u8>, SeenDirectory>,
}

impl Seen {
    pub(crate) fn directory(&self, path: &[u8]) -> Option<&SeenDirectory> {
        self.directories.get(path)
    }

    pub(crate) fn add(&mut self, path: Vec<u8>, directory: SeenDirectory) {
        self.directories.insert(path, directory);
    }

    /// What was seen for this snapshot when it was the last one to be kept so; nothing when that is not known.
    pub(crate) fn read(path: &Path) -> Option<(SnapshotId, Self)> {
        let bytes = std::fs::read(path).ok()?;
        let (content, checksum) = bytes.split_last_chunk::<32>()?;
        if blake3::hash(content).as_bytes() != checksum {
            return None;
        }
        let (id, directories): (SnapshotId, Vec<(Vec<u8>, SeenDirectory)>) = decode(content, path).ok()?;
        Some((id, Self { directories: directories.into_iter().collect() }))
    }

    pub(crate) fn write(&self, path: &Path, id: SnapshotId) -> Result<(), SnapshotError> {
        let directories: Vec<_> = self.directories.iter().collect();
        let mut bytes = encode(&(id, directories), path)?;
        let checksum = *blake3::hash(&bytes).as_bytes();
        bytes.extend_from_slice(&checksum);
        replace(path, &bytes)
    }
}
