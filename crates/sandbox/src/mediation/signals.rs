//! Signals, where Landlock does not judge them, and what else is done to processes by their number: only to what the command started.

use std::os::fd::AsRawFd as _;

use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use super::caller::Caller;
use super::{Answer, AttemptedAction, Judge, Mediator};
use crate::filter::{Steered, steered};
use crate::process_tree;

impl Mediator {
    /// Limits and priority: of the caller itself and of what the command started.
    pub(super) fn steer(&self, caller: &Caller) -> Answer {
        let Some((place, whom)) = steered(caller.call(), caller.number(0)) else { return Answer::GoOn };
        let process = caller.number(place);
        match whom {
            Steered::Several => self.refuse(caller, AttemptedAction::Steer(0), Errno::PERM),
            Steered::Process if process == 0 || process_tree::is_below(process) => Answer::GoOn,
            Steered::Process if process_tree::exists(process) => {
                self.refuse(caller, AttemptedAction::Steer(process), Errno::PERM)
            }
            Steered::Process => Answer::Fails(Errno::SRCH),
        }
    }

    /// Who is named by a number in the call itself is judged, and the kernel goes on; a group of processes gets the signal from us.
    pub(super) fn signal(&self, caller: &Caller) -> Answer {
        if self.signals == Judge::Kernel {
            let process = caller.number(0);
            if process > 0 && !process_tree::is_below(process) && process_tree::exists(process) {
                self.note(caller, AttemptedAction::Signal(process));
            }
            return Answer::GoOn;
        }
        let process = match caller.call() {
            libc::SYS_kill if caller.number(0) <= 0 => return self.signal_group(caller),
            libc::SYS_pidfd_send_signal => match process_of(caller) {
                Ok(process) => process,
                Err(error) => return Answer::Fails(error),
            },
            _ => caller.number(0),
        };
        if process_tree::is_below(process) {
            Answer::GoOn
        } else if process_tree::exists(process) {
            self.refuse(caller, AttemptedAction::Signal(process), Errno::PERM)
        } else {
            Answer::Fails(Errno::SRCH)
        }
    }

    /// To those of a group that the command started; the others of the group do not notice.
    fn signal_group(&self, caller: &Caller) -> Answer {
        let group = match caller.number(0) {
            // To everybody: whom a command could reach is not only its own.
            -1 => return self.refuse(caller, AttemptedAction::Signal(0), Errno::PERM),
            0 => Pid::from_raw(caller.process()).and_then(|pid| rustix::process::getpgid(Some(pid)).ok()),
            group => Pid::from_raw(group.saturating_neg()),
        };
        let Some(group) = group else { return Answer::Fails(Errno::SRCH) };
        let number = caller.number(1);
        let mut reached = false;
        for member in process_tree::group_below(group) {
            let sent = match Signal::from_named_raw(number) {
                Some(signal) => rustix::process::kill_process(member, signal),
                None if number == 0 => rustix::process::test_kill_process(member),
                None => Err(Errno::INVAL),
            };
            reached |= sent.is_ok();
        }
        if reached {
            Answer::Done
        } else if rustix::process::test_kill_process_group(group).is_ok() {
            self.refuse(caller, AttemptedAction::Signal(group.as_raw_nonzero().get()), Errno::PERM)
        } else {
            Answer::Fails(Errno::SRCH)
        }
    }
}

/// The process that a descriptor of the caller means.
fn process_of(caller: &Caller) -> Result<i32, Errno> {
    let descriptor = caller.descriptor(caller.number(0))?;
    let facts = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", descriptor.as_raw_fd()));
    let facts = facts.map_err(|_| Errno::BADF)?;
    let number =
        facts.lines().find_map(|line| line.strip_prefix("Pid:")).and_then(|text| text.trim().parse().ok());
    number.filter(|number| *number > 0).ok_or(Errno::BADF)
}
