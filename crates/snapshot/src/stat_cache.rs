//! What a capture saw, so that the next one need not read what did not change.
//!
//! A file whose number, length and time of status change are what they were is what it was: no program can set that time back. What
//! changed so shortly before the capture that the clock of the file system may not have ticked since is never taken for unchanged.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::SnapshotError;
use crate::id::{ObjectId, SnapshotId};
use crate::index::replace;
use crate::metadata;
use crate::node::FileTime;
use crate::pack::{decode, encode};
use crate::sealing::Seals;
use crate::system::Stat;

/// One entry, as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sight {
    device: u64,
    inode: u64,
    length: u64,
    /// `None` when it may have changed again without a trace.
    changed: Option<FileTime>,
}

/// What it is bound to where it is sealed.
const SEEN: &[u8] = b"seen";

/// The longest cache that is read (ours); a longer one counts as none.
const LONGEST: u64 = 64 * 1024 * 1024;

impl Sight {
    pub(crate) fn of(facts: &Stat, settled: FileTime) -> Self {
        let changed = metadata::changed(facts);
        Self {
            device: facts.st_dev,
            inode: facts.st_ino,
            length: metadata::length(facts),
            changed: (changed < settled).then_some(changed),
        }
    }
}

/// A directory, as it was seen.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SeenDirectory {
    pub(crate) tree: ObjectId,
    /// What the rules of version control were there and above, so that what they let pass need not be asked about again.
    pub(crate) rules: u64,
    /// Sorted by name.
    entries: Vec<Seer>,
}

/// A name with what was seen under it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Seer {
    #[serde(with = "crate::bytes")]
    name: Vec<u8>,
    sight: Sight,
    ruling: Ruling,
}

/// What the rules of version control say about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ruling {
    /// They let it pass.
    Passes,
    /// They ignore it, and it is small.
    Ignored,
}

impl SeenDirectory {
    pub(crate) fn new(tree: ObjectId, rules: u64, entries: Vec<(Vec<u8>, Sight, Ruling)>) -> Self {
        let seer = |(name, sight, ruling)| Seer { name, sight, ruling };
        Self { tree, rules, entries: entries.into_iter().map(seer).collect() }
    }

    pub(crate) fn count(&self) -> usize {
        self.entries.len()
    }

    /// What the same rules said about a name that was seen here.
    pub(crate) fn ruling(&self, name: &[u8], rules: u64) -> Option<Ruling> {
        self.find(name).filter(|_| self.rules == rules).map(|known| known.ruling)
    }

    /// Whether an entry is as it was seen here.
    pub(crate) fn is_same(&self, name: &[u8], sight: &Sight) -> bool {
        sight.changed.is_some() && self.find(name).is_some_and(|known| known.sight == *sight)
    }

    fn find(&self, name: &[u8]) -> Option<&Seer> {
        let found = self.entries.binary_search_by(|known| known.name.as_slice().cmp(name));
        found.ok().and_then(|place| self.entries.get(place))
    }
}

/// What a capture saw.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    directories: HashMap<Vec<u8>, Arc<SeenDirectory>>,
    /// How many of them are not as they were seen before.
    fresh: usize,
}

/// The form of what is kept; what another version kept is as good as nothing.
const FORM: u64 = 0x6368_6b73_6565_0002;

/// How many directories may have been seen anew before that is kept (ours).
const FRESH: usize = 64;

/// A directory, as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    #[serde(with = "crate::bytes")]
    path: Vec<u8>,
    seen: SeenDirectory,
}

impl Seen {
    pub(crate) fn directory(&self, path: &[u8]) -> Option<&Arc<SeenDirectory>> {
        self.directories.get(path)
    }

    /// Takes up a directory that is as it was seen before.
    pub(crate) fn add_old(&mut self, path: Vec<u8>, directory: Arc<SeenDirectory>) {
        self.directories.insert(path, directory);
    }

    /// Takes up a directory that is not.
    pub(crate) fn add(&mut self, path: Vec<u8>, directory: SeenDirectory) {
        self.directories.insert(path, Arc::new(directory));
        self.fresh += 1;
    }

    pub(crate) fn is_mostly_old(&self) -> bool {
        self.fresh <= FRESH && self.directories.len() > 2 * FRESH
    }

    /// What was seen for this snapshot when it was the last one to be kept so; nothing when that is not known.
    pub(crate) fn read(path: &Path, seals: &Seals) -> Option<(SnapshotId, Self)> {
        let bytes = checkrein_files::read(path, LONGEST).ok()?;
        // What it tells of would not be saved once more in the form in which it is to be.
        if !seals.is_current(&bytes) {
            return None;
        }
        let bytes = seals.open(bytes, SEEN).ok()?;
        let (content, checksum) = bytes.split_last_chunk::<32>()?;
        if blake3::hash(content).as_bytes() != checksum {
            return None;
        }
        let (form, id, kept): (u64, SnapshotId, Vec<Kept>) = decode(content, path).ok()?;
        if form != FORM {
            return None;
        }
        let directories = kept.into_iter().map(|kept| (kept.path, Arc::new(kept.seen))).collect();
        Some((id, Self { directories, fresh: 0 }))
    }

    pub(crate) fn write(&self, path: &Path, id: SnapshotId, seals: &Seals) -> Result<(), SnapshotError> {
        let kept = self
            .directories
            .iter()
            .map(|(path, seen)| Kept { path: path.clone(), seen: SeenDirectory::clone(seen) });
        let mut bytes = encode(&(FORM, id, kept.collect::<Vec<_>>()), path)?;
        let checksum = *blake3::hash(&bytes).as_bytes();
        bytes.extend_from_slice(&checksum);
        replace(path, &seals.seal(&bytes, SEEN)?)
    }
}
