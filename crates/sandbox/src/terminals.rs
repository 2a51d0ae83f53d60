//! Which terminals a command may use: those that it has when it starts. Those that it makes are handed to it (`mediation`).

use std::fs::File;
use std::io::IsTerminal;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// Where terminals lie that programs make.
pub(crate) const TERMINALS: &str = "/dev/pts";

/// The terminals that a command may use by their paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Terminals {
    /// All that it can name: they are in a folder of its own.
    All,
    /// These, which it had when it started.
    These(Vec<PathBuf>),
}

impl Terminals {
    /// Those that are held.
    pub(crate) fn of(held: &[OwnedFd]) -> Self {
        let path = |file: &OwnedFd| std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok();
        Self::These(held.iter().filter_map(path).collect())
    }

    /// Whether this is one of them.
    pub(crate) fn contain(&self, path: &Path) -> bool {
        match self {
            Self::All => path.starts_with(TERMINALS),
            Self::These(own) => own.iter().any(|own| own == path),
        }
    }
}

/// Whether a name in `/dev` is one of terminals: of programs, of the screen with what is seen there, of serial lines and machines below.
pub(crate) fn is_terminal(name: &[u8]) -> bool {
    let is_numbered = |begin: &[u8]| name.len() > begin.len() && name.starts_with(begin);
    name == b"pts"
        || name == b"console"
        || [&b"tty"[..], b"vcs", b"hvc"].into_iter().any(is_numbered)
        || name == b"vcs"
}

/// The terminals that this process has as input and outputs, and the one that it is controlled by.
pub(crate) fn own_terminals() -> Vec<OwnedFd> {
    let (input, output, errors) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let mut own: Vec<OwnedFd> = [input.as_fd(), output.as_fd(), errors.as_fd()]
        .into_iter()
        .filter(IsTerminal::is_terminal)
        .filter_map(|terminal| terminal.try_clone_to_owned().ok())
        .collect();
    own.extend(controlling());
    own
}

/// The terminal that controls this process, where it has a path.
fn controlling() -> Option<OwnedFd> {
    let flags = libc::O_NOCTTY | libc::O_NONBLOCK;
    let terminal = File::options().read(true).write(true).custom_flags(flags).open("/dev/tty").ok()?;
    let device = number(terminal.as_fd())?;
    let path = Path::new(TERMINALS).join(rustix::fs::minor(device).to_string());
    let held = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    (rustix::fs::fstat(&held).ok()?.st_rdev == device).then_some(held)
}

/// The number of the device that a terminal really is, whatever it was opened by.
#[expect(unsafe_code, reason = "no safe crate asks a terminal for its device")]
fn number(terminal: BorrowedFd<'_>) -> Option<u64> {
    let mut device = 0_u32;
    // SAFETY: the descriptor is open, and the kernel writes one number of this size.
    let result = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCGDEV, &raw mut device) };
    // In the form of the kernel: twelve bits of the kind between twenty of the number.
    let (kind, number) = ((device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xfff00));
    (result == 0).then(|| rustix::fs::makedev(kind, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_known_by_name() {
        for name in ["pts", "console", "tty1", "ttyS0", "hvc0", "vcs", "vcsa1"] {
            assert!(is_terminal(name.as_bytes()), "{name}");
        }
        for name in ["tty", "ptmx", "null", "shm", "sda", "fd", "video0"] {
            assert!(!is_terminal(name.as_bytes()), "{name}");
        }
    }
}
