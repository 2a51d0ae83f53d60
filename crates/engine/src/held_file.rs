//! Files that a process of ours holds locked as long as what they say is true: a question that waits, an answer, a server that runs. The
//! kernel tells who holds the lock, so that a file which somebody else wrote, or whose writer is gone, says nothing.
//!
//! Closing any handle of a file gives up the locks that this process has on it: nobody looks at a file that their own process holds.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::process::{Flock, FlockType, fcntl_getlk};
use serde::de::DeserializeOwned;

/// The greatest length of a file, in bytes (ours).
const LARGEST: u64 = 1024 * 1024;
/// What stands in the ending of a file that is being written.
const FRESH: &str = "new-";
/// How old such a file must be to count as left behind, in milliseconds (ours): writing one takes a moment.
const LEFT_BEHIND: u64 = 60 * 60 * 1000;

/// What a file of ours says: a regular one of this user, which nobody else may write, with one name.
pub(crate) fn own_text(path: &Path) -> io::Result<String> {
    let facts = fs::symlink_metadata(path)?;
    let is_own = facts.is_file()
        && facts.uid() == rustix::process::geteuid().as_raw()
        && facts.mode() & 0o777 == 0o600
        && facts.nlink() == 1;
    if !is_own {
        return Err(io::Error::new(ErrorKind::InvalidData, "it is not a file of checkrein"));
    }
    checkrein_files::read_text(path, LARGEST)
}

pub(crate) fn stored<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_str(&own_text(path).ok()?).ok()
}

/// The process that holds the lock on a whole file against all others, as the kernel tells; `None` where none does, or it is this one. Databases
/// and browsers lock parts of their files, or let others read: whoever moves such a file here has no answer of the process that holds it.
pub(crate) fn holder(path: &Path) -> Option<i32> {
    let file = checkrein_files::open(path).ok()?;
    let found = fcntl_getlk(&file, &Flock::from(FlockType::WriteLock)).ok()??;
    let is_whole = found.typ == FlockType::WriteLock && (found.start, found.length) == (0, 0);
    found.pid.filter(|_| is_whole).map(rustix::process::Pid::as_raw_pid)
}

/// A new file of this user alone, locked as long as it is open. It is written under another name, and gets its own by `place`.
pub(crate) fn locked(
    path: &Path,
    bytes: &[u8],
    place: fn(&Path, &Path) -> io::Result<()>,
) -> io::Result<File> {
    use std::io::Write as _;

    let fresh = path.with_extension(format!("{FRESH}{}", checkrein_files::aside()));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    let placed = rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)
        .map_err(io::Error::from)
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| file.sync_all())
        .and_then(|()| place(&fresh, path));
    // Where it was linked or failed, the first name goes.
    drop(fs::remove_file(&fresh));
    placed.map(|()| file)
}

/// Whether a name in a folder is that of a file which was being written by a process that was killed over it. Nothing is opened.
pub(crate) fn is_left_behind(path: &Path, now: u64) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let Ok(facts) = fs::symlink_metadata(path) else { return false };
    let written = facts.mtime().unsigned_abs().saturating_mul(1000);
    ending.starts_with(FRESH) && facts.is_file() && now.saturating_sub(written) > LEFT_BEHIND
}
