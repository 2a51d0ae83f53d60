//! Terminals that a command makes itself: no rule can name them before they are there, so their lower sides are opened here, from the upper
//! side that somebody of the command holds, and handed in. Nobody gets one that way of which the command does not hold the upper side.

use std::fs;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use rustix::io::Errno;
use rustix::pty::OpenptFlags;

use super::caller::{Caller, Opening};
use super::{Answer, Mediator};
use crate::process_tree;
use crate::terminals::TERMINALS;

impl Mediator {
    /// The lower side of the terminal that a descriptor of the caller is the upper side of (`TIOCGPTPEER`).
    pub(super) fn lower_side(caller: &Caller) -> Answer {
        let wanted = Opening { flags: caller.number(2), mode: 0 };
        let opened = caller.descriptor(caller.number(0)).and_then(|upper| open(&upper, wanted));
        match opened {
            Ok(lower) => caller.hand_in(lower.as_fd(), wanted),
            Err(error) => Answer::Fails(error),
        }
    }

    /// A terminal by its path, if the command made it.
    pub(super) fn made_terminal(caller: &Caller, path: &Path) -> Option<Answer> {
        let number: u32 = path.strip_prefix(TERMINALS).ok()?.to_str()?.parse().ok()?;
        let wanted = caller.opening()?;
        let upper = upper_side(caller, number)?;
        let lower = open(&upper, wanted).ok()?;
        Some(caller.hand_in(lower.as_fd(), wanted))
    }
}

/// Opens the lower side. It never becomes the terminal that we are controlled by; a caller that wants it to be its own says so (`TIOCSCTTY`).
fn open(upper: &OwnedFd, wanted: Opening) -> Result<OwnedFd, Errno> {
    let kept = libc::O_ACCMODE | libc::O_NONBLOCK;
    let flags = OpenptFlags::from_bits_retain((wanted.flags & kept).cast_unsigned());
    rustix::pty::ioctl_tiocgptpeer(upper, flags | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
}

/// The upper side of a terminal, where a process of the command holds it: the caller first, who most often does.
fn upper_side(caller: &Caller, number: u32) -> Option<OwnedFd> {
    let own = caller.process();
    let others = || process_tree::alive_below().into_iter().filter(move |process| *process != own);
    held_by(own, number).or_else(|| others().find_map(|process| held_by(process, number)))
}

fn held_by(process: i32, number: u32) -> Option<OwnedFd> {
    let name = Path::new(TERMINALS).join(number.to_string());
    let is_maker = |link: &Path| link.file_name().is_some_and(|name| name == "ptmx");
    let descriptors = fs::read_dir(format!("/proc/{process}/fd")).ok()?.flatten();
    let makers = descriptors.filter(|entry| fs::read_link(entry.path()).is_ok_and(|link| is_maker(&link)));
    let numbers = makers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut held = numbers.filter_map(|number| Caller::descriptor_of(process, number).ok());
    held.find(|upper| {
        let path = rustix::pty::ptsname(upper, Vec::new());
        path.is_ok_and(|path| path.to_bytes() == name.as_os_str().as_encoded_bytes())
    })
}
