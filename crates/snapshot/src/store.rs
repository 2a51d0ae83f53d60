//! The store of one workspace: packs of objects, under one lock, outside the work tree.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::draft::{Effort, SnapshotDraft};
use crate::error::SnapshotError;
use crate::id::{ObjectId, SnapshotId};
use crate::index::{Index, Pace, View, is_many, numbers, pack_path, replace, table_paths, tidy};
use crate::node::{Content, DirectoryTree, Snapshot};
use checkrein_vault::{Vault, VaultError};

use crate::pack::{Pack, PackWriter, decode};
use crate::sealing::Seals;

/// How long somebody waits for another process by default (ours).
pub const LOCK_WAIT: Duration = Duration::from_secs(2);

/// The longest path that is read back from a store, in bytes (ours): that of the kernel is shorter.
const LONGEST_PATH: u64 = 64 * 1024;

/// The snapshots of one workspace.
#[derive(Debug, Clone)]
pub struct Store {
    directory: PathBuf,
    workspace: PathBuf,
    lock_wait: Duration,
    seals: Seals,
}

/// One line of the list of snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its number.
    pub id: SnapshotId,
    /// What it holds.
    pub snapshot: Snapshot,
    /// What it takes on the disk, in bytes: what the snapshots before it did not have yet.
    pub disk: u64,
    /// Whether a user wants it kept.
    pub pin: Pin,
}

/// Whether a user wants a snapshot kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pin {
    /// It may go when it is old.
    Loose,
    /// It stays.
    Pinned,
}

/// How a store is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// With others that add to it or read it.
    Shared,
    /// Alone: something is taken away.
    Alone,
}

impl Store {
    /// The store of a workspace among all stores; nothing is read or created before it is used.
    pub fn open(stores: &Path, workspace: &Path) -> Self {
        let digits = ObjectId::of(workspace.as_os_str().as_encoded_bytes()).digits(16);
        let directory = stores.join(digits);
        Self { directory, workspace: workspace.to_owned(), lock_wait: LOCK_WAIT, seals: Seals::default() }
    }

    /// The store in a folder that has one; `None` where its workspace is not known, or the folder is not that of this workspace.
    pub fn in_folder(folder: &Path) -> Option<Self> {
        let workspace = checkrein_files::read(folder.join("workspace"), LONGEST_PATH).ok()?;
        let store = Self::open(folder.parent()?, Path::new(OsStr::from_bytes(&workspace)));
        (store.directory == folder).then_some(store)
    }

    /// Whether a snapshot beside the newest was written before this time, in milliseconds since 1970, as the file system tells it.
    pub fn holds_older_than(&self, since: u64) -> bool {
        let packs = self.packs().unwrap_or_default();
        let older = packs.values().rev().skip(1);
        let written = older.filter_map(|path| fs::symlink_metadata(path).ok()?.modified().ok());
        let is_before = |time: SystemTime| {
            let moment = time.duration_since(UNIX_EPOCH).map_or(0, |moment| moment.as_millis());
            moment < u128::from(since)
        };
        written.into_iter().any(is_before)
    }

    /// The same store with another bound on the wait for other processes.
    #[must_use]
    pub fn with_lock_wait(mut self, wait: Duration) -> Self {
        self.lock_wait = wait;
        self
    }

    /// The same store, of which this vault opens what was sealed, and says whether what is saved from now on is.
    #[must_use]
    pub fn with_vault(mut self, vault: Vault) -> Self {
        self.seals = Seals::of(vault);
        self
    }

    /// What seals and opens what it holds.
    pub(crate) fn seals(&self) -> &Seals {
        &self.seals
    }

    /// Where it lies.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The workspace that it is for.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Begins a snapshot. Other snapshots may be begun at the same time; nothing is taken away meanwhile.
    pub fn begin(&self, effort: Effort) -> Result<SnapshotDraft, SnapshotError> {
        let lock = self.lock(Hold::Shared)?;
        Ok(SnapshotDraft::new(self.clone(), lock, self.index(View::Newest)?, effort))
    }

    /// Every whole snapshot, oldest first. Those of which the key is gone are left out where a later one can be read: nobody who asks for what
    /// was saved last is given something older in its place.
    pub fn snapshots(&self) -> Result<Vec<Listed>, SnapshotError> {
        let mut found = Vec::new();
        let mut sealed = None;
        for (number, path) in self.packs()? {
            match self.listed(SnapshotId(number), &path) {
                Ok(None) => {}
                Ok(Some(listed)) => {
                    found.push(listed);
                    sealed = None;
                }
                Err(error @ SnapshotError::Sealed(VaultError::Missing(_))) => sealed = Some(error),
                Err(error) => return Err(error),
            }
        }
        sealed.map_or(Ok(found), Err)
    }

    /// The snapshots that cannot be read for want of their key, oldest first.
    pub fn sealed_off(&self) -> Result<Vec<SnapshotId>, SnapshotError> {
        let is_sealed_off = |(number, path): (u64, PathBuf)| {
            let listed = self.listed(SnapshotId(number), &path);
            matches!(listed, Err(SnapshotError::Sealed(_))).then_some(SnapshotId(number))
        };
        Ok(self.packs()?.into_iter().filter_map(is_sealed_off).collect())
    }

    /// One snapshot.
    pub fn snapshot(&self, id: SnapshotId) -> Result<Listed, SnapshotError> {
        let path = self.pack_path(id.0);
        if !path.exists() {
            return Err(SnapshotError::Unknown(id));
        }
        self.listed(id, &path)?.ok_or(SnapshotError::Unknown(id))
    }

    /// Whether a snapshot is there; whether it is whole is not looked at.
    pub fn holds(&self, id: SnapshotId) -> bool {
        self.pack_path(id.0).exists()
    }

    /// Reads the objects of the store as they are now.
    pub fn reader(&self) -> Result<Reader, SnapshotError> {
        // A store that was never used has nothing to lock.
        let lock = if self.directory.exists() { Some(self.lock(Hold::Shared)?) } else { None };
        Ok(Reader { index: self.index(View::Newest)?, directory: self.directory.clone(), _lock: lock })
    }

    /// Keeps a snapshot, or lets it go again when it is old.
    pub fn pin(&self, id: SnapshotId, pin: Pin) -> Result<(), SnapshotError> {
        self.snapshot(id)?;
        let path = self.pin_path(id);
        match pin {
            Pin::Pinned => {
                create_directory(&self.directory.join("pins"))?;
                replace(&path, b"")
            }
            Pin::Loose => match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(SnapshotError::Write { path, source: error })
                }
                Ok(()) | Err(_) => Ok(()),
            },
        }
    }

    fn listed(&self, id: SnapshotId, path: &Path) -> Result<Option<Listed>, SnapshotError> {
        let Some(pack) = Pack::open(path, &self.seals)? else { return Ok(None) };
        let snapshot = match pack.snapshot() {
            Ok(snapshot) => snapshot,
            Err(error @ SnapshotError::Sealed(_)) => return Err(error),
            Err(_) => return Ok(None),
        };
        let pin = if self.is_pinned(id) { Pin::Pinned } else { Pin::Loose };
        Ok(snapshot.map(|snapshot| Listed { id, snapshot, disk: pack.bytes(), pin }))
    }

    pub(crate) fn is_pinned(&self, id: SnapshotId) -> bool {
        self.pin_path(id).exists()
    }

    fn pin_path(&self, id: SnapshotId) -> PathBuf {
        self.directory.join("pins").join(id.to_string())
    }

    pub(crate) fn index(&self, view: View) -> Result<Index, SnapshotError> {
        Index::open(&self.directory, view, &self.seals)
    }

    /// The tables of the index, as far as there are any.
    pub(crate) fn tables(&self) -> impl Iterator<Item = PathBuf> {
        table_paths(&self.directory).take_while(|path| path.exists())
    }

    /// Puts the newest packs into the index, in passing.
    pub(crate) fn tidy(&self) {
        tidy(&self.directory, Pace::Slice, &self.seals);
    }

    /// Does for the index what was too much while somebody waited, if there is something.
    pub(crate) fn tidy_up(&self) {
        if is_many(&self.directory) {
            tidy(&self.directory, Pace::Whole, &self.seals);
        }
    }

    /// Every file of objects, closed or not, under its number.
    pub(crate) fn packs(&self) -> Result<BTreeMap<u64, PathBuf>, SnapshotError> {
        let folder = self.folder();
        Ok(numbers(&folder)?.into_iter().map(|number| (number, pack_path(&folder, number))).collect())
    }

    fn folder(&self) -> PathBuf {
        self.directory.join("packs")
    }

    pub(crate) fn has_pack(&self, id: SnapshotId) -> bool {
        self.pack_path(id.0).exists()
    }

    fn pack_path(&self, number: u64) -> PathBuf {
        pack_path(&self.folder(), number)
    }

    /// Begins a pack under the next free number after this one.
    pub(crate) fn next_pack(&self, newest: u64) -> Result<(SnapshotId, PackWriter), SnapshotError> {
        create_directory(&self.folder())?;
        let mut number = newest + 1;
        loop {
            let path = self.pack_path(number);
            match PackWriter::create(path.clone()) {
                Ok(writer) => return Ok((SnapshotId(number), writer)),
                // Another process was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(SnapshotError::Write { path, source: error }),
            }
        }
    }

    /// Takes the lock, which ends with the file. The store is made when it is not there.
    pub(crate) fn lock(&self, hold: Hold) -> Result<File, SnapshotError> {
        let path = self.directory.join("lock");
        let open = || {
            checkrein_files::open_with(
                OpenOptions::new().read(true).append(true).create(true).mode(0o600),
                &path,
            )
        };
        let file = match open() {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_directory(&self.directory)?;
                open().map_err(SnapshotError::write(&path))?
            }
            Err(error) => return Err(SnapshotError::Write { path, source: error }),
        };
        let named = self.directory.join("workspace");
        if !named.exists() {
            // For people: the name of the directory says nothing.
            replace(&named, self.workspace.as_os_str().as_encoded_bytes())?;
        }
        let began = Instant::now();
        loop {
            let taken = match hold {
                Hold::Shared => file.try_lock_shared(),
                Hold::Alone => file.try_lock(),
            };
            match taken {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(SnapshotError::Write { path, source: error }),
                Err(TryLockError::WouldBlock) if began.elapsed() >= self.lock_wait => {
                    return Err(SnapshotError::Busy { waited: began.elapsed() });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }
}

/// Reads objects of a store.
#[derive(Debug)]
pub struct Reader {
    index: Index,
    directory: PathBuf,
    _lock: Option<File>,
}

impl Reader {
    /// The entries of a directory.
    pub fn tree(&self, id: &ObjectId) -> Result<DirectoryTree, SnapshotError> {
        decode(&self.index.read(id)?, &self.directory)
    }

    /// Hands the content of a file to `take`, piece by piece.
    pub fn content(
        &self,
        content: &Content,
        mut take: impl FnMut(&[u8]) -> Result<(), SnapshotError>,
    ) -> Result<(), SnapshotError> {
        // Parts that are all the same, such as those of a hole, are read once.
        let mut last: Option<(ObjectId, Vec<u8>)> = None;
        for id in self.parts(content)? {
            let part = match last.take() {
                Some((known, part)) if known == id => part,
                Some(_) | None => self.index.read(&id)?,
            };
            take(&part)?;
            last = Some((id, part));
        }
        Ok(())
    }

    /// What an object holds.
    pub(crate) fn part(&self, id: &ObjectId) -> Result<Vec<u8>, SnapshotError> {
        self.index.read(id)
    }

    /// The objects that a content is made of.
    pub(crate) fn parts(&self, content: &Content) -> Result<Vec<ObjectId>, SnapshotError> {
        match content {
            Content::Whole(id) => Ok(vec![*id]),
            Content::Parts(list) => decode(&self.index.read(list)?, &self.directory),
        }
    }
}

/// Creates a directory and its parents, for the owner only.
pub(crate) fn create_directory(path: &Path) -> Result<(), SnapshotError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(SnapshotError::write(path))
}
