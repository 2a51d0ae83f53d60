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
const LARGEST: u64 = 4 * 1024 * 1024;
/// The greatest length of what the kernel says of one handle, in bytes (ours).
const LONGEST_ABOUT: u64 = 64 * 1024;
/// What the flags of a handle hold where it may write (`O_WRONLY`, `O_RDWR`), and where it ends with the program (`O_CLOEXEC`).
const WRITES: u64 = 0o3;
const ENDS_WITH_PROGRAM: u64 = 0o2_000_000;
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

/// Whether a process that holds the lock on a file took it as the program that it is now. A lock outlives `exec` together with a handle that
/// does, and ours do not: what another program left to this one says nothing. Where the system does not tell, as macOS, it counts.
pub(crate) fn is_of_program(process: i32, path: &Path) -> bool {
    if cfg!(target_os = "macos") {
        return true;
    }
    let Ok(wanted) = fs::symlink_metadata(path) else { return false };
    let handles = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    handles.into_iter().filter(|handle| is_same(&handle.path(), &wanted)).any(|handle| {
        let about = format!("/proc/{process}/fdinfo/{}", handle.file_name().display());
        checkrein_files::read_text(about.as_str(), LONGEST_ABOUT).is_ok_and(|text| is_own_lock(&text))
    })
}

fn is_same(path: &Path, wanted: &fs::Metadata) -> bool {
    fs::metadata(path).is_ok_and(|facts| (facts.dev(), facts.ino()) == (wanted.dev(), wanted.ino()))
}

/// Whether what the kernel says of a handle is that it may write, ends with the program, and comes with a lock against all others.
fn is_own_lock(about: &str) -> bool {
    let flags = about.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u64::from_str_radix(flags.trim(), 8).ok()).unwrap_or_default();
    let is_locked = about.lines().any(|line| {
        line.starts_with("lock:")
            && ["POSIX", "WRITE"].iter().all(|word| line.split_whitespace().any(|w| w == *word))
    });
    flags & WRITES != 0 && flags & ENDS_WITH_PROGRAM != 0 && is_locked
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_one_of_the_program_that_holds_it() {
        let lock = "lock:\t1: POSIX  ADVISORY  WRITE 7 00:1f:9 0 EOF\n";
        let flags = |flags: &str| format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t29\n{lock}");
        assert!(is_own_lock(&flags("02100001")));
        assert!(is_own_lock(&flags("02100002")));
        assert!(!is_own_lock(&flags("0100002")), "another program may have left it");
        assert!(!is_own_lock(&flags("02100000")), "who only reads took no lock");
        assert!(!is_own_lock("pos:\t0\nflags:\t02100002\n"), "another one holds it");
        assert!(!is_own_lock(""));
    }
}
