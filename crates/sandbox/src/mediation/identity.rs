//! Who calls: a command that gave up its rights gets no more done by us than it could do itself.
//!
//! We keep what we were started with. Where these rights are more than those of an ordinary user, we take on the caller's user, groups and
//! capabilities for each thing that is done for it. Only this thread does, since the kernel keeps them by thread.

use std::fs;

use rustix::io::Errno;
use rustix::thread::{CapabilitySet, CapabilitySets};

/// What decides what a thread may do to files and sockets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    user: u32,
    file_user: u32,
    group: u32,
    file_group: u32,
    groups: Vec<u32>,
    capabilities: u64,
}

impl Identity {
    /// Of a thread, by what `/proc` tells of it.
    pub(super) fn of(thread: &str) -> Option<Self> {
        Self::read(&fs::read_to_string(format!("/proc/{thread}/status")).ok()?)
    }

    fn read(text: &str) -> Option<Self> {
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        let numbers = |name: &str| -> Option<Vec<u32>> {
            Some(field(name)?.split_whitespace().filter_map(|number| number.parse().ok()).collect())
        };
        let (users, all) = (numbers("Uid:")?, numbers("Gid:")?);
        Some(Self {
            user: *users.get(1)?,
            file_user: *users.get(3)?,
            group: *all.get(1)?,
            file_group: *all.get(3)?,
            groups: numbers("Groups:")?,
            capabilities: u64::from_str_radix(field("CapEff:")?.trim(), 16).ok()?,
        })
    }

    /// Whether somebody else may have less than this.
    pub(super) fn is_privileged(&self) -> bool {
        self.capabilities != 0
    }

    /// Does something with the rights of `other`, which this thread, whose own identity this is, gives back afterwards.
    pub(super) fn acting_as<T>(
        &self,
        other: &Self,
        work: impl FnOnce() -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        if self == other {
            return work();
        }
        let taken = self.take_on(other);
        let result = taken.and_then(|()| work());
        self.take_back()?;
        result
    }

    fn take_on(&self, other: &Self) -> Result<(), Errno> {
        set_groups(&other.groups)?;
        set_group(other.group, other.file_group)?;
        set_user(other.user, other.file_user)?;
        self.set_capabilities(other.capabilities)
    }

    /// What is held back is still permitted, so this cannot fail but for a fault of ours.
    fn take_back(&self) -> Result<(), Errno> {
        self.set_capabilities(self.capabilities)?;
        set_user(self.user, self.file_user)?;
        set_group(self.group, self.file_group)?;
        set_groups(&self.groups)?;
        self.set_capabilities(self.capabilities)
    }

    /// None that this thread did not have at first.
    fn set_capabilities(&self, wanted: u64) -> Result<(), Errno> {
        let now = rustix::thread::capabilities(None)?;
        let effective = CapabilitySet::from_bits_truncate(wanted & self.capabilities) & now.permitted;
        rustix::thread::set_capabilities(None, CapabilitySets { effective, ..now })
    }
}

fn done(result: libc::c_long) -> Result<(), Errno> {
    if result == 0 {
        return Ok(());
    }
    Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::PERM))
}

#[expect(unsafe_code, reason = "the safe forms are for all threads of a process")]
fn set_groups(groups: &[u32]) -> Result<(), Errno> {
    // SAFETY: the kernel reads so many numbers, and changes this thread alone.
    let result = done(unsafe { libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()) });
    // Where a view of our own has forbidden it, nobody inside could have changed them either.
    if result == Err(Errno::PERM) { Ok(()) } else { result }
}

#[expect(unsafe_code, reason = "as `set_groups`")]
fn set_group(effective: u32, file: u32) -> Result<(), Errno> {
    // SAFETY: numbers only; changes this thread alone.
    done(unsafe { libc::syscall(libc::SYS_setresgid, u32::MAX, effective, u32::MAX) })?;
    // SAFETY: as above; returns the one before.
    unsafe { libc::syscall(libc::SYS_setfsgid, file) };
    Ok(())
}

#[expect(unsafe_code, reason = "as `set_groups`")]
fn set_user(effective: u32, file: u32) -> Result<(), Errno> {
    // SAFETY: numbers only; changes this thread alone.
    done(unsafe { libc::syscall(libc::SYS_setresuid, u32::MAX, effective, u32::MAX) })?;
    // SAFETY: as above; returns the one before.
    unsafe { libc::syscall(libc::SYS_setfsuid, file) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_what_the_kernel_says_of_a_thread() {
        let text =
            "Name:\tx\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t9 10 \nCapEff:\t000000000000000f\n";
        let read = Identity::read(text).unwrap();
        assert_eq!((read.user, read.file_user, read.group, read.file_group), (2, 4, 6, 8));
        assert_eq!((read.groups.clone(), read.capabilities, read.is_privileged()), (vec![9, 10], 15, true));
        assert!(Identity::read("Uid:\t1\n").is_none());
    }

    #[test]
    #[expect(clippy::print_stderr, reason = "a test that cannot run here says so")]
    fn rights_are_those_of_the_caller_for_as_long_as_it_takes() {
        // A thread of its own: what it fails to give back is nobody else's.
        let worker = std::thread::spawn(|| {
            let own = Identity::of("thread-self").unwrap();
            if own.user != 0 || !own.is_privileged() {
                eprintln!("not run: an ordinary user has nothing to give up");
                return;
            }
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            fs::write(&path, "").unwrap();
            let other = Identity { user: 61_300, file_user: 61_300, capabilities: 0, ..own.clone() };
            let change = || rustix::fs::chmod(&path, rustix::fs::Mode::from_raw_mode(0o4755));
            assert_eq!(own.acting_as(&other, change), Err(Errno::PERM));
            assert_eq!(Identity::of("thread-self").unwrap(), own);
            assert_eq!(own.acting_as(&own, change), Ok(()));
        });
        worker.join().unwrap();
    }
}
