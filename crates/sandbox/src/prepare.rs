//! What a process does between its beginning and its program: the little that no safe crate offers.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Pid, Resource, Rlimit};

use crate::error::SuperviseError;
use crate::process_tree;

/// On which side of a split a process goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitSide {
    /// The new process.
    Inner,
    /// The old one, with the number of the new one.
    Outer(Pid),
}

/// Splits this process in two. To be called while there is one thread.
#[expect(unsafe_code, reason = "no safe crate forks")]
pub fn split() -> Result<SplitSide, SuperviseError> {
    // SAFETY: there is one thread, so the child has everything that the parent has, and no lock is held by a thread that it lacks.
    let number = unsafe { libc::fork() };
    if number < 0 {
        return Err(SuperviseError::restriction("a second process")(io::Error::last_os_error()));
    }
    Ok(Pid::from_raw(number).map_or(SplitSide::Inner, SplitSide::Outer))
}

/// Bounds how many processes and threads the user may have when the agent starts one more: those that the machine has, and so many. Who has
/// rights over the machine is not bounded by that.
#[expect(unsafe_code, reason = "a limit can only be set between fork and exec")]
pub fn bound_tasks(command: &mut Command, more: u32) {
    let Some(machine) = process_tree::MachineLoad::now() else { return };
    let most = u64::from(more).saturating_add(machine.tasks as u64);
    let set = move || {
        let before = rustix::process::getrlimit(Resource::Nproc);
        let least = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
        let limit = Rlimit { current: least(before.current), maximum: least(before.maximum) };
        let _ = rustix::process::setrlimit(Resource::Nproc, limit);
        Ok(())
    };
    // SAFETY: between fork and exec the closure does system calls only: it takes no lock and no memory from the heap.
    unsafe { command.pre_exec(set) };
}

/// Has a command killed by the kernel when the thread ends that starts it.
#[expect(unsafe_code, reason = "a process can only ask for that itself, between fork and exec")]
pub fn end_with_parent(command: &mut Command) {
    let ask = || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        Ok(())
    };
    // SAFETY: between fork and exec the closure does one system call: it takes no lock and no memory from the heap.
    unsafe { command.pre_exec(ask) };
}

/// Has the agent become a member of a control group before it begins. Where it may not it is held without.
#[expect(unsafe_code, reason = "a group can only be entered between fork and exec")]
pub fn enter(command: &mut Command, entrance: OwnedFd) {
    let enter = move || {
        let _ = rustix::io::write(&entrance, b"0");
        Ok(())
    };
    // SAFETY: between fork and exec the closure does one system call: it takes no lock and no memory from the heap.
    unsafe { command.pre_exec(enter) };
}
