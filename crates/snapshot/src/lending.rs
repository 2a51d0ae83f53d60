//! Modes that directories are given for a while, so that what is in them can be looked at and put back.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use crate::metadata;
use crate::node::FileTime;
use crate::system::{self, Stat};
use crate::way::Ways;

/// What an owner needs to list a directory, to look names up in it and to change them.
const ALL: u32 = 0o700;

/// Directories that were opened for a while. They get their modes back when this is dropped, whatever happens in between.
#[derive(Debug, Default)]
pub(crate) struct Lent {
    loans: BTreeMap<PathBuf, Loan>,
    /// Where the last look-up led to.
    ways: Ways,
}

/// How a directory was before it was opened.
#[derive(Debug, Clone, Copy)]
struct Loan {
    mode: u32,
    /// When its status had changed last: opening it changes that.
    changed: FileTime,
}

impl Lent {
    /// Opens the directories above a path that nobody may enter as they are, and the path itself when it is one; only one's own.
    pub(crate) fn open_up(&mut self, path: &Path) {
        let mut above: Vec<&Path> = path.ancestors().collect();
        above.reverse();
        for directory in above {
            // Below one that stays closed nothing can be found out.
            let Ok(found) = self.ways.stat(directory) else { return };
            if metadata::kind(&found) != FileType::Directory {
                return;
            }
            let (Some(parent), Some(name)) = (directory.parent(), directory.file_name()) else { continue };
            if is_closed(&found)
                && let Ok(place) = self.ways.open(parent)
            {
                self.open(&place, name.as_bytes(), &found, directory);
            }
        }
    }

    /// Opens one directory, that `found` says is one.
    pub(crate) fn open(&mut self, place: &OwnedFd, name: &[u8], found: &Stat, path: &Path) {
        let mode = found.st_mode & 0o7777;
        if is_closed(found)
            && rustix::fs::chmodat(place, name, system::mode(mode | ALL), AtFlags::empty()).is_ok()
        {
            self.loans.entry(path.to_owned()).or_insert(Loan { mode, changed: metadata::changed(found) });
        }
    }

    /// The directories that are open for a while, the outermost first.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.loans.keys().map(PathBuf::as_path)
    }

    /// The mode that a directory had before it was opened; `None` for one that was not.
    pub(crate) fn mode(&self, path: &Path) -> Option<u32> {
        self.loans.get(path).map(|loan| loan.mode)
    }

    /// When the status of these directories had changed last before they were opened.
    pub(crate) fn changed(&self) -> impl Iterator<Item = (&Path, FileTime)> {
        self.loans.iter().map(|(path, loan)| (path.as_path(), loan.changed))
    }

    /// A directory that is given its mode by somebody else.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.loans.remove(path);
    }

    /// Gives the directories back the modes that they had, the deepest first.
    pub(crate) fn give_back(&mut self) {
        let all: Vec<PathBuf> = self.loans.keys().rev().cloned().collect();
        all.iter().for_each(|path| self.give_back_one(path));
    }

    /// Gives one directory back the mode that it had.
    pub(crate) fn give_back_one(&mut self, path: &Path) {
        let (Some(Loan { mode, .. }), Some(parent), Some(name)) =
            (self.loans.remove(path), path.parent(), path.file_name())
        else {
            return;
        };
        if let Ok(place) = self.ways.open(parent) {
            // One that is gone needs no mode.
            let _ = rustix::fs::chmodat(&place, name.as_bytes(), system::mode(mode), AtFlags::empty());
        }
    }

    /// Opens a directory for looking up names in it, as [`Ways::open`] does, and opens those above for a while where they are in the way.
    pub(crate) fn directory(&mut self, path: &Path) -> Result<Arc<OwnedFd>, Errno> {
        match self.ways.open(path) {
            Err(Errno::ACCESS) => {
                self.open_up(path);
                self.ways.open(path)
            }
            other => other,
        }
    }

    /// What stands at a path; the last part is not followed. The directories above are opened for a while where they are in the way.
    pub(crate) fn stat(&mut self, path: &Path) -> Result<Stat, Errno> {
        match self.ways.stat(path) {
            Err(Errno::ACCESS) => {
                self.open_up(path);
                self.ways.stat(path)
            }
            other => other,
        }
    }

    /// Gives up what leads through a directory that is to go.
    pub(crate) fn leave(&mut self, path: &Path) {
        self.ways.leave(path);
    }

    /// Tries something at a path, and once more with the directories above opened when these are what was in the way.
    pub(crate) fn within<T>(
        &mut self,
        path: &Path,
        mut attempt: impl FnMut() -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        match attempt() {
            Err(Errno::ACCESS) => {
                self.open_up(path);
                attempt()
            }
            other => other,
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// Whether a directory of one's own lacks a permission for its owner. The superuser needs none.
pub(crate) fn is_closed(found: &Stat) -> bool {
    let own = rustix::process::geteuid();
    found.st_mode & ALL != ALL && !own.is_root() && found.st_uid == own.as_raw()
}
