//! A snapshot that is being taken.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::SnapshotError;
use crate::id::{ByName, ObjectId, SnapshotId};
use crate::index::Index;
use crate::node::{Content, DirectoryTree, Snapshot};
use crate::pack::{PackWriter, Row, decode, encode, packed, plain};
use crate::second_names::Naming;
use crate::store::Store;

/// A snapshot that is being taken. Nothing of it counts before [`SnapshotDraft::commit`]; dropped, it leaves nothing behind.
#[derive(Debug)]
pub struct SnapshotDraft {
    store: Store,
    index: Index,
    pack: Mutex<Growing>,
    /// How much more is compressed, in bytes.
    compressed: AtomicU64,
    naming: Naming,
    _lock: File,
}

/// The pack of a draft, begun with its first object.
#[derive(Debug, Default)]
struct Growing {
    pack: Option<(SnapshotId, PackWriter)>,
    known: ByName<Row>,
}

/// How much is made of the room on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Everything is compressed.
    Small,
    /// Only the beginning is: somebody waits. The rest is compressed when it is copied by pruning.
    Quick,
}

/// How much is compressed while somebody waits, in bytes (ours): half a millisecond.
const WHILE_WAITING: u64 = 64 * 1024;

impl SnapshotDraft {
    pub(crate) fn new(store: Store, lock: File, index: Index, effort: Effort) -> Self {
        let compressed = match effort {
            Effort::Small => u64::MAX,
            Effort::Quick => WHILE_WAITING,
        };
        Self {
            naming: Naming::of(&store),
            store,
            index,
            pack: Mutex::default(),
            compressed: AtomicU64::new(compressed),
            _lock: lock,
        }
    }

    /// The store that it will be in.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Makes the snapshot count: whole and on the disk when this returns.
    pub fn commit(self, snapshot: &Snapshot) -> Result<SnapshotId, SnapshotError> {
        let growing = std::mem::take(&mut *self.pack.lock().unwrap_or_else(PoisonError::into_inner));
        let (id, pack) = match growing.pack {
            Some(begun) => begun,
            None => self.store.next_pack(self.index.newest())?,
        };
        let path = pack.path().to_owned();
        if let Err(error) = pack.seal(Some(snapshot), self.store.seals()) {
            // A full disk: what was written so far would only fill it further.
            drop(std::fs::remove_file(&path));
            return Err(error);
        }
        if self.index.is_loose(growing.known.len()) {
            self.store.tidy();
        }
        Ok(id)
    }

    /// Gives files of several names one more while they are saved.
    pub(crate) fn naming(&self) -> &Naming {
        &self.naming
    }

    /// Saves an object, unless the store has it.
    pub(crate) fn put(&self, content: &[u8]) -> Result<ObjectId, SnapshotError> {
        let id = ObjectId::of(content);
        if self.holds(&id) {
            return Ok(id);
        }
        // Outside the lock, so that others compress at the same time.
        let length = content.len() as u64;
        let left = self.compressed.load(Ordering::Relaxed);
        let object = if length <= left {
            self.compressed.store(left - length, Ordering::Relaxed);
            packed(content)
        } else {
            plain(content)
        };
        let (name, object) = self.store.seals().stored(id, object)?;
        let mut growing = self.pack.lock().unwrap_or_else(PoisonError::into_inner);
        if growing.known.contains_key(&id) {
            return Ok(id);
        }
        if growing.pack.is_none() {
            growing.pack = Some(self.store.next_pack(self.index.newest())?);
        }
        if let Some((_, pack)) = &mut growing.pack {
            let row = pack.add(name, &object)?;
            growing.known.insert(id, row);
        }
        Ok(id)
    }

    /// Saves the entries of a directory.
    pub(crate) fn put_tree(&self, tree: &DirectoryTree) -> Result<ObjectId, SnapshotError> {
        self.put(&encode(tree, self.store.directory())?)
    }

    /// Saves the list of the parts of a long file.
    pub(crate) fn put_parts(&self, parts: &[ObjectId]) -> Result<Content, SnapshotError> {
        Ok(Content::Parts(self.put(&encode(&parts, self.store.directory())?)?))
    }

    /// Whether an object is in the store or in this draft, in the form in which it would be written.
    pub(crate) fn holds(&self, id: &ObjectId) -> bool {
        let growing = self.pack.lock().unwrap_or_else(PoisonError::into_inner);
        growing.known.contains_key(id) || self.index.find_current(id).is_some()
    }

    /// The entries of a directory, saved before or by this draft.
    pub(crate) fn tree(&self, id: &ObjectId) -> Result<DirectoryTree, SnapshotError> {
        decode(&self.read(id)?, self.store.directory())
    }

    /// The content of a file, saved before or by this draft.
    pub(crate) fn content(&self, content: &Content) -> Result<Vec<u8>, SnapshotError> {
        let mut whole = Vec::new();
        for id in self.parts(content)? {
            whole.extend(self.read(&id)?);
        }
        Ok(whole)
    }

    /// The objects that a content is made of.
    pub(crate) fn parts(&self, content: &Content) -> Result<Vec<ObjectId>, SnapshotError> {
        match content {
            Content::Whole(id) => Ok(vec![*id]),
            Content::Parts(list) => decode(&self.read(list)?, self.store.directory()),
        }
    }

    pub(crate) fn read(&self, id: &ObjectId) -> Result<Vec<u8>, SnapshotError> {
        let mut growing = self.pack.lock().unwrap_or_else(PoisonError::into_inner);
        let row = growing.known.get(id).copied();
        if let (Some(row), Some((_, pack))) = (row, &mut growing.pack) {
            return pack.read(id, &row, self.store.seals());
        }
        drop(growing);
        self.index.read(id)
    }
}

impl Drop for SnapshotDraft {
    fn drop(&mut self) {
        let growing = std::mem::take(&mut *self.pack.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some((_, pack)) = growing.pack {
            // One that cannot be removed is nothing without its seal, and pruning takes it away.
            drop(pack.discard());
        }
    }
}
