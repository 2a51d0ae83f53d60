//! What a command must be able to do inside a scope, by a process inside it: what holds ways out may not take it away.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

/// All of it, and whether it is also so in a view of the file system of its own.
pub(crate) const USABLE: [(&str, bool); 5] = [
    ("given_terminal", false),
    ("made_terminal", true),
    ("terminal_of_child", true),
    ("semaphore", true),
    ("memory_of_its_own", true),
];

/// Does one.
pub(crate) fn perform(name: &str, unique: &str) -> io::Result<()> {
    match name {
        "given_terminal" => use_terminal(&fs::read_link("/proc/self/fd/0")?),
        "made_terminal" => {
            let (mut upper, path) = make()?;
            let lower = rustix::pty::ioctl_tiocgptpeer(&upper, OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
            File::from(lower).write_all(b"x")?;
            upper.read_exact(&mut [0])?;
            use_terminal(&path)
        }
        "terminal_of_child" => {
            let (_upper, path) = make()?;
            // As a program below a terminal of ours does, which does not hold the upper side itself.
            let words = ["-c", "exec 3<>\"$0\" && test -t 3", path.to_str().unwrap()];
            let status = std::process::Command::new("sh").args(words).status()?;
            if status.success() { Ok(()) } else { Err(io::Error::other("the child cannot use it")) }
        }
        "semaphore" => {
            let name = std::ffi::CString::new(format!("/{unique}")).unwrap();
            // SAFETY: a name that ends with a zero; what is returned is looked at before it is used.
            unsafe {
                let semaphore = libc::sem_open(name.as_ptr(), libc::O_CREAT | libc::O_EXCL, 0o600, 0);
                if semaphore == libc::SEM_FAILED {
                    return Err(io::Error::last_os_error());
                }
                if libc::sem_post(semaphore) != 0 || libc::sem_trywait(semaphore) != 0 {
                    return Err(io::Error::last_os_error());
                }
                let again = libc::sem_open(name.as_ptr(), 0);
                if again == libc::SEM_FAILED || libc::sem_unlink(name.as_ptr()) != 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            Ok(())
        }
        "memory_of_its_own" => {
            let path = Path::new("/dev/shm").join(format!("psm_{unique}"));
            File::create_new(&path)?.write_all(b"shared")?;
            File::options().read(true).write(true).open(&path)?.set_len(2)?;
            let text = fs::read(&path)?;
            fs::remove_file(&path)?;
            // Left, and not to be there when the command is over.
            File::create_new(&path)?;
            if text == b"sh" { Ok(()) } else { Err(io::Error::other("something else is in there")) }
        }
        _ => Err(io::Error::other("unknown")),
    }
}

/// A new terminal: its upper side, and the path of its lower side.
pub(crate) fn make() -> io::Result<(File, PathBuf)> {
    let upper = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    rustix::pty::unlockpt(&upper)?;
    let path = rustix::pty::ptsname(&upper, Vec::new())?.into_string().map_err(io::Error::other)?;
    Ok((upper.into(), path.into()))
}

/// Opens a terminal by its path and changes how it works.
fn use_terminal(path: &Path) -> io::Result<()> {
    let flags = libc::O_NOCTTY;
    let mut terminal = File::options().read(true).write(true).custom_flags(flags).open(path)?;
    let settings = tcgetattr(terminal.as_fd())?;
    tcsetattr(terminal.as_fd(), OptionalActions::Now, &settings)?;
    terminal.write_all(b"x")?;
    // As a program does that only looks.
    drop(rustix::fs::open(path, OFlags::WRONLY | OFlags::NOCTTY, Mode::empty())?);
    Ok(())
}
