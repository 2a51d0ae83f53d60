//! Files that the libraries of C and Python lay in `/dev/shm` for semaphores and shared memory: a folder of everybody, so a command gets
//! there what it makes itself, and nothing else. They are opened here and handed in, and taken away at the end.

use std::fs;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::caller::{Caller, Opening};
use super::{Answer, Mediator};
use crate::scope::Bytes;

/// Where they lie.
pub(crate) const SHARED_MEMORY: &str = "/dev/shm";

/// How the names of those begin that may be made: `sem_open` of glibc, `multiprocessing.shared_memory` of Python, and `PyTorch`. All others
/// might be names that programs outside look for.
const MADE: [&[u8]; 3] = [b"sem.", b"psm_", b"torch_"];

/// So many are there at a time at most (ours).
const MOST: usize = 1024;

/// Which file it is, whatever stands under its name by now.
pub(crate) type Number = (u64, u64);

fn number(file: &OwnedFd) -> Result<Number, Errno> {
    let facts = rustix::fs::fstat(file)?;
    let is_file = FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile;
    if is_file { Ok((facts.st_dev, facts.st_ino)) } else { Err(Errno::ACCESS) }
}

/// Whether a file of this name may be made.
fn may_be_made(path: &Path) -> bool {
    let name = path.file_name().map(OsStrExt::as_bytes).unwrap_or_default();
    path.parent() == Some(Path::new(SHARED_MEMORY)) && MADE.iter().any(|begin| name.starts_with(begin))
}

impl Mediator {
    /// Does a call on such files; `None` where the call is about others, or no call for it.
    pub(super) fn memory_file(&mut self, caller: &Caller, paths: &[PathBuf]) -> Option<Answer> {
        let [path, others @ ..] = paths else { return None };
        if !may_be_made(path) {
            return None;
        }
        if let Some(wanted) = caller.opening() {
            return match self.open_memory_file(caller, path, wanted) {
                Ok(file) => Some(caller.hand_in(file.as_fd(), wanted)),
                Err(Errno::ACCESS) => None,
                Err(error) => Some(Answer::Fails(error)),
            };
        }
        let held = self.held(path)?;
        match (caller.call(), others) {
            (libc::SYS_unlinkat, []) => {}
            #[cfg(target_arch = "x86_64")]
            (libc::SYS_unlink, []) => {}
            (libc::SYS_linkat, [second]) if may_be_made(second) => {
                return Some(self.second_name(&held, second));
            }
            #[cfg(target_arch = "x86_64")]
            (libc::SYS_link, [second]) if may_be_made(second) => {
                return Some(self.second_name(&held, second));
            }
            _ => return None,
        }
        self.made_in_memory.remove(path);
        Some(caller.acting(|| rustix::fs::unlink(path)).into())
    }

    /// Makes a file, or opens one that was made. `EACCES` for what belongs to others.
    fn open_memory_file(&mut self, caller: &Caller, path: &Path, wanted: Opening) -> Result<OwnedFd, Errno> {
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        if wanted.flags & libc::O_CREAT != 0 {
            let make = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | flags;
            if self.are_enough() {
                return Err(Errno::NOSPC);
            }
            // Nobody else's, whatever else is asked for.
            let mode = Mode::from_raw_mode(wanted.mode & 0o700);
            match caller.acting(|| rustix::fs::open(path, make, mode)) {
                Ok(file) => {
                    self.made_in_memory.insert(path.to_owned(), number(&file)?);
                    return Ok(file);
                }
                Err(Errno::EXIST) if wanted.flags & libc::O_EXCL == 0 => {}
                Err(error) => return Err(error),
            }
        }
        let access = OFlags::from_bits_retain((wanted.flags & libc::O_ACCMODE).cast_unsigned());
        let file = caller.acting(|| rustix::fs::open(path, access | flags, Mode::empty()))?;
        if self.made_in_memory.get(path) != Some(&number(&file)?) {
            return Err(Errno::ACCESS);
        }
        if wanted.flags & libc::O_TRUNC != 0 {
            rustix::fs::ftruncate(&file, 0)?;
        }
        Ok(file)
    }

    /// Whether no more may be made: too many are there, or they hold all the memory that the command may use.
    fn are_enough(&self) -> bool {
        let held = |path: &PathBuf| fs::metadata(path).map_or(0, |facts| facts.blocks() * 512);
        self.made_in_memory.len() >= MOST
            || self
                .scope
                .limits
                .memory
                .is_some_and(|Bytes(most)| self.made_in_memory.keys().map(held).sum::<u64>() > most)
    }

    /// A file that the command made, held.
    fn held(&self, path: &Path) -> Option<OwnedFd> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let held = rustix::fs::open(path, flags, Mode::empty()).ok()?;
        (self.made_in_memory.get(path) == Some(&number(&held).ok()?)).then_some(held)
    }

    fn second_name(&mut self, held: &OwnedFd, second: &Path) -> Answer {
        let first = format!("/proc/self/fd/{}", held.as_raw_fd());
        let linked = rustix::fs::linkat(CWD, first, CWD, second, AtFlags::SYMLINK_FOLLOW);
        if let (Ok(()), Ok(number)) = (linked, number(held)) {
            self.made_in_memory.insert(second.to_owned(), number);
        }
        linked.into()
    }

    /// Takes away what the command made and left.
    pub(super) fn take_memory_files_away(&self) {
        for path in self.made_in_memory.keys() {
            if self.held(path).is_some() {
                let _ = fs::remove_file(path);
            }
        }
    }
}
