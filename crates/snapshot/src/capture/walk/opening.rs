//! Opening directories and files, few at a time, and those that are closed to their owner where that is wanted.

use std::ffi::CStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use super::super::Closed;
use super::Walk;
use crate::metadata;
use crate::node::{Meta, SavedPath};
use crate::system::{self, Stat};

/// How many directories are held open for what is in them (ours): the limit of open files may be as low as 64.
const HELD: usize = 24;

/// A directory that is held open, and counted for as long as it is.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) directory: Arc<OwnedFd>,
    count: Arc<AtomicUsize>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Walk<'_> {
    /// Tries something at a path, with the directories above opened where they are closed and that is wanted.
    pub(in super::super) fn above<T>(
        &self,
        path: &Path,
        mut attempt: impl FnMut() -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        match self.closed {
            Closed::Skip => attempt(),
            Closed::Open => self.lent.lock().unwrap_or_else(PoisonError::into_inner).within(path, attempt),
        }
    }

    pub(super) fn held(&self, directory: OwnedFd) -> Held {
        self.held.fetch_add(1, Ordering::Relaxed);
        Held { directory: Arc::new(directory), count: Arc::clone(&self.held) }
    }

    pub(super) fn may_hold(&self) -> bool {
        self.held.load(Ordering::Relaxed) < HELD
    }

    /// Opens a directory for its owner, when it is closed to them and that is wanted.
    pub(super) fn open_up(&self, place: &OwnedFd, name: &CStr, path: &[u8]) {
        if self.closed == Closed::Skip {
            return;
        }
        if let Ok(found) = metadata::facts(place, name)
            && metadata::kind(&found) == FileType::Directory
        {
            let path = Path::new(std::ffi::OsStr::from_bytes(path));
            let mut lent = self.lent.lock().unwrap_or_else(PoisonError::into_inner);
            lent.open(place, name.to_bytes(), &found, path);
        }
    }

    /// What is saved of a directory besides what is in it, as it was before it was opened for a look at what lies below it.
    pub(super) fn directory_meta(&self, found: &Stat, path: &[u8]) -> Meta {
        let mut meta = metadata::meta(found);
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        if let Some(mode) = self.lent.lock().unwrap_or_else(PoisonError::into_inner).mode(path) {
            meta.mode = meta.mode & !0o7777 | mode;
        }
        meta
    }

    /// Gives a file that is saved and has several names one more, unless this only looks at what is to be put back.
    pub(super) fn name(&self, place: &OwnedFd, name: &CStr, found: &Stat, path: &[u8]) {
        if let (Some(draft), Closed::Skip) = (self.draft, self.closed) {
            draft.naming().name(place, name, found, path);
        }
    }

    /// Opens a file; one's own that is closed even to oneself too, when that is wanted. Its mode is at once what it was.
    pub(super) fn open_file(&self, place: &OwnedFd, name: &CStr, path: &[u8]) -> Result<OwnedFd, Errno> {
        let opened = metadata::open_file(place, name);
        let own = rustix::process::geteuid().as_raw();
        let (Err(Errno::ACCESS), Closed::Open, Ok(found)) =
            (&opened, self.closed, metadata::facts(place, name))
        else {
            return opened;
        };
        if found.st_uid != own || metadata::kind(&found) != FileType::RegularFile {
            return opened;
        }
        let mode = found.st_mode & 0o7777;
        rustix::fs::chmodat(place, name, system::mode(mode | 0o400), AtFlags::empty())?;
        let opened = metadata::open_file(place, name);
        let _ = rustix::fs::chmodat(place, name, system::mode(mode), AtFlags::empty());
        let path = SavedPath::from(Path::new(std::ffi::OsStr::from_bytes(path)));
        let mut changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        changed.entry(path).or_insert_with(|| metadata::changed(&found));
        opened
    }
}
