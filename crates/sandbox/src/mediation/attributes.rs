//! Modes, owners, times and attributes: judged by what is really meant, and done here with exactly that.

use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};

use rustix::fs::{AtFlags, CWD, Gid, Mode, Timespec, Timestamps, Uid, XattrFlags};
use rustix::io::Errno;

use super::caller::{Caller, Follow};
use super::{Answer, AttemptedAction, Mediator, path_of};
use crate::filter::FCHMODAT2;

/// What is changed.
enum Change {
    Mode(u32),
    Owner(u32, u32),
    Times(Timestamps),
    Attribute(Vec<u8>, Vec<u8>, XattrFlags),
    NoAttribute(Vec<u8>),
}

impl Mediator {
    pub(super) fn attributes(&self, caller: &Caller) -> Answer {
        let (target, change) = match read(caller) {
            Ok(read) => read,
            Err(error) => return Answer::Fails(error),
        };
        let path = path_of(target.as_fd());
        let is_gone = rustix::fs::fstat(&target).is_ok_and(|facts| facts.st_nlink == 0);
        // What has no name, or none any more, is nobody else's.
        if let Some(path) = path
            && !is_gone
            && !self.scope.may_write(&path)
        {
            return self.refuse(caller, AttemptedAction::Attributes(path), Errno::PERM);
        }
        caller.acting(|| apply(&target, change)).into()
    }

    /// Cuts a file short where Landlock does not know that this is a change.
    pub(super) fn truncate(&self, caller: &Caller) -> Answer {
        let target = caller
            .text(caller.argument(0))
            .and_then(|path| caller.target(libc::AT_FDCWD, &path, Follow::Links));
        let target = match target {
            Ok(target) => target,
            Err(error) => return Answer::Fails(error),
        };
        let path = path_of(target.as_fd()).unwrap_or_default();
        if !self.may_write(&path) {
            return self.refuse(caller, AttemptedAction::Write(path), Errno::ACCESS);
        }
        let cut = caller.acting(|| {
            let path = format!("/proc/self/fd/{}", target.as_raw_fd());
            let file = std::fs::File::options().write(true).open(path);
            let cut = file.and_then(|file| file.set_len(caller.argument(1)));
            cut.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
        });
        cut.into()
    }
}

fn read(caller: &Caller) -> Result<(OwnedFd, Change), Errno> {
    let number = |place: usize| (caller.argument(place) & 0xffff_ffff) as u32;
    let follow = |place: usize| {
        if caller.number(place) & libc::AT_SYMLINK_NOFOLLOW == 0 { Follow::Links } else { Follow::Nothing }
    };
    let at = |directory: usize, path: usize, follow: Follow| {
        caller.target(caller.number(directory), &caller.text(caller.argument(path))?, follow)
    };
    let path = |follow: Follow| caller.target(libc::AT_FDCWD, &caller.text(caller.argument(0))?, follow);
    let held = || caller.target(caller.number(0), b"", Follow::Links);
    Ok(match caller.call() {
        libc::SYS_fchmod => (held()?, Change::Mode(number(1))),
        libc::SYS_fchmodat => (at(0, 1, Follow::Links)?, Change::Mode(number(2))),
        FCHMODAT2 => (at(0, 1, follow(3))?, Change::Mode(number(2))),
        libc::SYS_fchown => (held()?, Change::Owner(number(1), number(2))),
        libc::SYS_fchownat => (at(0, 1, follow(4))?, Change::Owner(number(2), number(3))),
        libc::SYS_utimensat => {
            let target = if caller.argument(1) == 0 { held()? } else { at(0, 1, follow(3))? };
            (target, Change::Times(times(caller, 2, 1)?))
        }
        libc::SYS_setxattr => (path(Follow::Links)?, attribute(caller)?),
        libc::SYS_lsetxattr => (path(Follow::Nothing)?, attribute(caller)?),
        libc::SYS_fsetxattr => (held()?, attribute(caller)?),
        libc::SYS_removexattr => (path(Follow::Links)?, Change::NoAttribute(name(caller)?)),
        libc::SYS_lremovexattr => (path(Follow::Nothing)?, Change::NoAttribute(name(caller)?)),
        libc::SYS_fremovexattr => (held()?, Change::NoAttribute(name(caller)?)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chmod => (path(Follow::Links)?, Change::Mode(number(1))),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chown => (path(Follow::Links)?, Change::Owner(number(1), number(2))),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_lchown => (path(Follow::Nothing)?, Change::Owner(number(1), number(2))),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_utimes => (path(Follow::Links)?, Change::Times(times(caller, 1, 1000)?)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_futimesat => (at(0, 1, Follow::Links)?, Change::Times(times(caller, 2, 1000)?)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_utime => (path(Follow::Links)?, Change::Times(seconds(caller)?)),
        _ => return Err(Errno::NOSYS),
    })
}

/// Two times of seconds and parts, the parts being so many nanoseconds; none is now.
fn times(caller: &Caller, place: usize, part: i64) -> Result<Timestamps, Errno> {
    if caller.argument(place) == 0 {
        return Ok(now());
    }
    let words = words::<4>(caller, place)?;
    // The two special numbers for "now" and "as it is" only exist with nanoseconds.
    let time = |seconds: i64, parts: i64| Timespec { tv_sec: seconds, tv_nsec: parts.saturating_mul(part) };
    Ok(Timestamps { last_access: time(words[0], words[1]), last_modification: time(words[2], words[3]) })
}

#[cfg(target_arch = "x86_64")]
fn seconds(caller: &Caller) -> Result<Timestamps, Errno> {
    if caller.argument(1) == 0 {
        return Ok(now());
    }
    let [access, modification] = words::<2>(caller, 1)?;
    let time = |tv_sec| Timespec { tv_sec, tv_nsec: 0 };
    Ok(Timestamps { last_access: time(access), last_modification: time(modification) })
}

fn now() -> Timestamps {
    let now = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    Timestamps { last_access: now, last_modification: now }
}

fn words<const COUNT: usize>(caller: &Caller, place: usize) -> Result<[i64; COUNT], Errno> {
    let bytes = caller.memory(caller.argument(place), COUNT * 8)?;
    let mut words = [0; COUNT];
    for (word, part) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = part.try_into().map_or(0, i64::from_ne_bytes);
    }
    Ok(words)
}

/// The largest value of an attribute, as in the kernel.
const LARGEST_VALUE: u64 = 65_536;

fn attribute(caller: &Caller) -> Result<Change, Errno> {
    let name = name(caller)?;
    let length = caller.argument(3);
    if length > LARGEST_VALUE {
        return Err(Errno::TOOBIG);
    }
    let value = caller.memory(caller.argument(2), usize::try_from(length).unwrap_or(0))?;
    let flags = XattrFlags::from_bits_truncate((caller.argument(4) & 0xffff_ffff) as u32);
    Ok(Change::Attribute(name, value, flags))
}

/// The name of an attribute. Those that give rights are not for confined commands.
fn name(caller: &Caller) -> Result<Vec<u8>, Errno> {
    let name = caller.text(caller.argument(1))?;
    if name.starts_with(b"security.") || name.starts_with(b"trusted.") { Err(Errno::PERM) } else { Ok(name) }
}

fn apply(target: &OwnedFd, change: Change) -> Result<(), Errno> {
    // The way to what is held: whatever stands under its name by now.
    let path = format!("/proc/self/fd/{}", target.as_raw_fd());
    match change {
        Change::Mode(mode) => rustix::fs::chmod(&path, Mode::from_raw_mode(mode)),
        Change::Owner(user, group) => {
            let user = (user != u32::MAX).then(|| Uid::from_raw(user));
            let group = (group != u32::MAX).then(|| Gid::from_raw(group));
            rustix::fs::chownat(CWD, &path, user, group, AtFlags::empty())
        }
        Change::Times(times) => rustix::fs::utimensat(CWD, &path, &times, AtFlags::empty()),
        Change::Attribute(name, value, flags) => rustix::fs::setxattr(&path, name, &value, flags),
        Change::NoAttribute(name) => rustix::fs::removexattr(&path, name),
    }
}
