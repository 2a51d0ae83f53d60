//! Who works on something, and whether they still live.
//!
//! The kernel holds the lock for as long as the process lives, so a dead holder never keeps anybody out. The file says who it is, for
//! people, and for file systems whose locks do not reach other machines.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::{RunError, RunErrorKind};
use super::file::create_directory;

/// Who holds a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub pid: u32,
    /// When it started, in ticks after the start of the machine, so that another process of the same number is not taken for it.
    pub start: u64,
    /// The machine.
    pub host: String,
    /// This start of the machine.
    pub boot: String,
}

/// What is done about a holder of another machine, of which it cannot be known whether it lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Insistence {
    /// It is believed.
    Respect,
    /// A user says that it is gone.
    TakeOver,
}

/// A lock that is held until this value goes.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

/// A lock, and what was found.
#[derive(Debug)]
pub struct AcquiredLock {
    /// The lock.
    pub lock: Lock,
    /// Who held it and is gone without giving it back.
    pub stale: Option<Holder>,
}

impl Holder {
    /// This process.
    pub fn own() -> Self {
        let pid = std::process::id();
        Self { pid, start: start_of(pid).unwrap_or_default(), host: host(), boot: boot() }
    }

    /// Whether it lives; `None` when it runs on another machine.
    pub fn lives(&self) -> Option<bool> {
        if self.host != host() {
            return None;
        }
        Some(self.boot == boot() && start_of(self.pid) == Some(self.start))
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "process {} on {}", self.pid, self.host)
    }
}

impl Lock {
    /// Takes the lock at a path, without waiting. `what` is locked, in words.
    pub fn take(path: &Path, what: &str, insistence: Insistence) -> Result<AcquiredLock, RunError> {
        if let Some(parent) = path.parent() {
            create_directory(parent)?;
        }
        loop {
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .custom_flags(libc::O_NOFOLLOW)
                .open(path)
                .map_err(RunError::file("open", path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(busy(what, holder(&mut file).as_ref())),
                Err(TryLockError::Error(error)) => return Err(RunError::file("lock", path)(error)),
            }
            // Somebody may have taken the file away while we waited for it, with all that it was about.
            let same = |there: &fs::Metadata, ours: &fs::Metadata| {
                (there.dev(), there.ino()) == (ours.dev(), ours.ino())
            };
            let is_there = fs::symlink_metadata(path)
                .and_then(|there| file.metadata().map(|ours| same(&there, &ours)))
                .unwrap_or(false);
            if !is_there {
                continue;
            }
            let stale = holder(&mut file);
            if let Some(before) = &stale {
                match (before.lives(), insistence) {
                    (Some(false), _) | (None, Insistence::TakeOver) => {}
                    (Some(true), _) => return Err(busy(what, stale.as_ref())),
                    (None, Insistence::Respect) => return Err(elsewhere(what, before)),
                }
            }
            write(&mut file, &Holder::own()).map_err(RunError::file("write", path))?;
            return Ok(AcquiredLock { lock: Self { file }, stale });
        }
    }

    /// Does something whose programs hold the lock too: should we be killed, nobody else has it before they end.
    pub fn lend<T>(&self, work: impl FnOnce() -> T) -> T {
        let lent = rustix::io::fcntl_setfd(&self.file, rustix::io::FdFlags::empty());
        let done = work();
        if lent.is_ok() {
            let _ = rustix::io::fcntl_setfd(&self.file, rustix::io::FdFlags::CLOEXEC);
        }
        done
    }

    /// Who holds the lock at a path, as far as that is known; `None` when nobody does.
    pub fn held(path: &Path) -> Option<Holder> {
        let mut file = File::open(path).ok()?;
        // Not locked to find out: somebody might want it right now.
        holder(&mut file).filter(|found| found.lives() != Some(false))
    }

    /// Whether somebody holds the lock at a path, as the kernel says: also from where their process cannot be seen. Whoever wants it at the very
    /// moment in which nobody holds it is told that it is taken.
    pub fn is_held(path: &Path) -> bool {
        use rustix::fs::{FlockOperation, flock};
        File::open(path).is_ok_and(|file| {
            flock(&file, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK)
        })
    }

    /// Where the lock of something in a folder lies.
    pub fn path(folder: &Path) -> PathBuf {
        folder.join("lock")
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Who gives a lock back leaves no name; a name without a lock is that of a process that was killed.
        drop(self.file.set_len(0));
    }
}

fn holder(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(4096).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn write(file: &mut File, holder: &Holder) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&serde_json::to_vec(holder)?)?;
    file.sync_data()
}

fn busy(what: &str, holder: Option<&Holder>) -> RunError {
    let who = holder.map_or_else(|| "another process".to_owned(), ToString::to_string);
    RunError::new(
        RunErrorKind::Busy,
        format!("{what} is in use by {who}"),
        "wait for it, or end it; `checkrein run list` lists what runs",
    )
}

fn elsewhere(what: &str, holder: &Holder) -> RunError {
    RunError::new(
        RunErrorKind::Busy,
        format!(
            "{what} was last used by {holder}, which is another machine: whether that runs cannot be seen from here"
        ),
        "look there; when it is gone, `--take-over` says so",
    )
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Which start of the machine this is; empty where the system has no name for it, and the times at which processes started are of a clock
/// that goes on.
fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// When a process started; `None` when there is none of this number, or only its remains.
#[cfg(target_os = "macos")]
fn start_of(pid: u32) -> Option<u64> {
    checkrein_sandbox::process_table::start_of(i32::try_from(pid).ok()?)
}

/// When a process started; `None` when there is none of this number, or only its remains.
#[cfg(not(target_os = "macos"))]
fn start_of(pid: u32) -> Option<u64> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    // After the name, which stands in brackets and may hold anything.
    let (_, rest) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    if matches!(fields.first(), Some(&("Z" | "X"))) {
        return None;
    }
    fields.get(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(folder: &tempfile::TempDir) -> PathBuf {
        Lock::path(folder.path())
    }

    fn left_behind(path: &Path, holder: &Holder) {
        fs::write(path, serde_json::to_vec(holder).unwrap()).unwrap();
    }

    #[test]
    fn a_lock_is_held_once_and_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let taken = Lock::take(&path(&folder), "the worktree", Insistence::Respect).unwrap();
        let refused = Lock::take(&path(&folder), "the worktree", Insistence::TakeOver).unwrap_err();
        assert_eq!(refused.kind, RunErrorKind::Busy);
        assert!(refused.message.contains(&format!("process {}", std::process::id())), "{refused}");
        assert_eq!(Lock::held(&path(&folder)), Some(Holder::own()));
        drop(taken);
        assert_eq!(Lock::held(&path(&folder)), None);
        assert_eq!(Lock::take(&path(&folder), "it", Insistence::Respect).unwrap().stale, None);
    }

    // Source: seed 004-35
    #[test]
    fn whoever_is_gone_is_followed_and_whoever_lives_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let own = Holder::own();
        let gone = [
            Holder { pid: u32::MAX >> 2, ..own.clone() },
            Holder { start: own.start + 1, ..own.clone() },
            Holder { boot: "an earlier one".into(), ..own.clone() },
        ];
        for holder in gone {
            left_behind(&path(&folder), &holder);
            let taken = Lock::take(&path(&folder), "it", Insistence::Respect).unwrap();
            assert_eq!(taken.stale, Some(holder));
        }
        left_behind(&path(&folder), &own);
        assert!(Lock::take(&path(&folder), "it", Insistence::TakeOver).is_err(), "it lives");
        let other = Holder { host: "another".into(), ..own };
        left_behind(&path(&folder), &other);
        let refused = Lock::take(&path(&folder), "it", Insistence::Respect).unwrap_err();
        assert!(refused.hint.contains("--take-over"), "{refused:?}");
        assert_eq!(Lock::take(&path(&folder), "it", Insistence::TakeOver).unwrap().stale, Some(other));
    }

    #[test]
    fn of_many_at_once_one_wins() {
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..20 {
            let barrier = std::sync::Barrier::new(4);
            let won: Vec<bool> = std::thread::scope(|scope| {
                let take = || {
                    barrier.wait();
                    let taken = Lock::take(&path(&folder), "it", Insistence::Respect);
                    barrier.wait();
                    taken.is_ok()
                };
                let all: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
                all.into_iter().map(|one| one.join().unwrap()).collect()
            });
            assert_eq!(won.iter().filter(|won| **won).count(), 1, "{won:?}");
        }
    }
}
