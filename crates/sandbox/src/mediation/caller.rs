//! One question of the kernel: who calls what with which arguments, and how it is answered.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags};

use super::Answer;
use super::identity::Identity;

/// The longest path that is read, as in the kernel.
const LONGEST: usize = 4096;

/// Who asks, and where the answer goes.
pub(super) struct Caller {
    listener: Arc<OwnedFd>,
    /// What we are, where that may be more than the caller is.
    own: Option<Arc<Identity>>,
    question: libc::seccomp_notif,
}

/// How a file is to be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opening {
    /// The flags of `open`.
    pub(super) flags: i32,
    /// The mode of a new one.
    pub(super) mode: u32,
}

/// A file that a call names.
pub(super) struct Named {
    /// Where it really is, as far as that can be told.
    pub(super) path: PathBuf,
    /// Whether the call changes it.
    pub(super) writes: bool,
}

impl Caller {
    /// The next question.
    #[expect(unsafe_code, reason = "no safe crate receives notifications of seccomp")]
    pub(super) fn next(listener: &Arc<OwnedFd>, own: Option<&Arc<Identity>>) -> io::Result<Self> {
        // SAFETY: the structure is numbers only, for which zero is a value; the kernel wants it zeroed.
        let mut question: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is a listener, and the kernel writes no more than the structure of this request.
        let result = unsafe {
            libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV as _, &raw mut question)
        };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { listener: Arc::clone(listener), own: own.cloned(), question })
    }

    /// The same question in the hands of another thread.
    pub(super) fn again(&self) -> Self {
        let question = libc::seccomp_notif { ..self.question };
        Self { listener: Arc::clone(&self.listener), own: self.own.clone(), question }
    }

    /// Does something with no more rights than the caller has.
    pub(super) fn acting<T>(&self, work: impl FnOnce() -> Result<T, Errno>) -> Result<T, Errno> {
        let Some(own) = &self.own else { return work() };
        let theirs = Identity::of(&self.question.pid.to_string()).ok_or(Errno::SRCH)?;
        if !self.is_waiting() {
            return Err(Errno::SRCH);
        }
        own.acting_as(&theirs, work)
    }

    /// The number of the call.
    pub(super) fn call(&self) -> libc::c_long {
        self.question.data.nr.into()
    }

    /// The thread that asks.
    pub(super) fn process(&self) -> i32 {
        self.question.pid.cast_signed()
    }

    /// An argument.
    pub(super) fn argument(&self, place: usize) -> u64 {
        self.question.data.args.get(place).copied().unwrap_or(0)
    }

    /// The low half of an argument, as a number with a sign.
    pub(super) fn number(&self, place: usize) -> i32 {
        ((self.argument(place) & 0xffff_ffff) as u32).cast_signed()
    }

    /// The name of the program.
    pub(super) fn program(&self) -> String {
        let name = fs::read_to_string(format!("/proc/{}/comm", self.question.pid)).unwrap_or_default();
        let name = name.trim().replace(|c: char| c.is_control(), "?");
        if name.is_empty() { "the command".to_owned() } else { name }
    }

    /// Answers. One that is gone needs no answer.
    #[expect(unsafe_code, reason = "no safe crate answers notifications of seccomp")]
    pub(super) fn answer(&self, answer: Answer) {
        let (error, flags, val) = match answer {
            Answer::GoOn => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE, 0),
            Answer::Done => (0, 0, 0),
            Answer::Number(number) => (0, 0, number),
            Answer::Fails(error) => (-error.raw_os_error(), 0, 0),
            Answer::Later => return,
        };
        let flags = u32::try_from(flags).unwrap_or(0);
        let mut response = libc::seccomp_notif_resp { id: self.question.id, val, error, flags };
        // SAFETY: the descriptor is a listener, and the structure is the one of this request.
        unsafe {
            libc::ioctl(self.listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND as _, &raw mut response)
        };
    }

    /// Whether the caller still waits, so that what was read of it was really its own.
    #[expect(unsafe_code, reason = "no safe crate asks about notifications of seccomp")]
    pub(super) fn is_waiting(&self) -> bool {
        let id = self.question.id;
        // SAFETY: the descriptor is a listener, and the kernel reads the number that it is given.
        unsafe {
            libc::ioctl(self.listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID as _, &raw const id)
                == 0
        }
    }

    /// Bytes of the caller's memory.
    pub(super) fn memory(&self, address: u64, length: usize) -> Result<Vec<u8>, Errno> {
        let file = File::open(format!("/proc/{}/mem", self.question.pid)).map_err(|_| Errno::SRCH)?;
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, address).map_err(|_| Errno::FAULT)?;
        if self.is_waiting() { Ok(bytes) } else { Err(Errno::SRCH) }
    }

    /// Text in the caller's memory up to its zero.
    pub(super) fn text(&self, address: u64) -> Result<Vec<u8>, Errno> {
        let file = File::open(format!("/proc/{}/mem", self.question.pid)).map_err(|_| Errno::SRCH)?;
        let mut text = Vec::new();
        while text.len() < LONGEST {
            let at = address + u64::try_from(text.len()).unwrap_or(0);
            // Up to the end of the page: what is behind it may not be there.
            let mut part = vec![0; usize::try_from(256 - at % 256).unwrap_or(256)];
            file.read_exact_at(&mut part, at).map_err(|_| Errno::FAULT)?;
            if let Some(end) = part.iter().position(|byte| *byte == 0) {
                text.extend(part.iter().take(end));
                return if self.is_waiting() { Ok(text) } else { Err(Errno::SRCH) };
            }
            text.extend(part);
        }
        Err(Errno::NAMETOOLONG)
    }

    /// A descriptor of the caller as our own; for sockets.
    pub(super) fn descriptor(&self, number: i32) -> Result<OwnedFd, Errno> {
        let process =
            fs::read_to_string(format!("/proc/{}/status", self.question.pid)).map_err(|_| Errno::SRCH)?;
        let group =
            process.lines().find_map(|line| line.strip_prefix("Tgid:")).and_then(|id| id.trim().parse().ok());
        let pid = group.and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
        let process = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
        if !self.is_waiting() {
            return Err(Errno::SRCH);
        }
        rustix::process::pidfd_getfd(&process, number, PidfdGetfdFlags::empty())
    }

    /// A descriptor of a process below as our own.
    pub(super) fn descriptor_of(process: i32, number: i32) -> Result<OwnedFd, Errno> {
        let pid = Pid::from_raw(process).ok_or(Errno::SRCH)?;
        let process = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
        if !crate::process_tree::is_below(pid.as_raw_nonzero().get()) {
            return Err(Errno::SRCH);
        }
        rustix::process::pidfd_getfd(&process, number, PidfdGetfdFlags::empty())
    }

    /// How a call opens a file, where its arguments say so.
    pub(super) fn opening(&self) -> Option<Opening> {
        let (flags, mode) = match self.call() {
            libc::SYS_openat => (2, 3),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open => (1, 2),
            _ => return None,
        };
        Some(Opening { flags: self.number(flags), mode: self.number(mode).cast_unsigned() })
    }

    /// Answers with an open file, which becomes a descriptor of the caller.
    #[expect(unsafe_code, reason = "no safe crate answers notifications of seccomp")]
    pub(super) fn hand_in(&self, file: BorrowedFd<'_>, wanted: Opening) -> Answer {
        let mut added = libc::seccomp_notif_addfd {
            id: self.question.id,
            flags: u32::try_from(libc::SECCOMP_ADDFD_FLAG_SEND).unwrap_or(0),
            srcfd: file.as_raw_fd().cast_unsigned(),
            newfd: 0,
            newfd_flags: (wanted.flags & libc::O_CLOEXEC).cast_unsigned(),
        };
        // SAFETY: both descriptors are open, and the structure is the one of this request.
        let result = unsafe {
            libc::ioctl(self.listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ADDFD as _, &raw mut added)
        };
        match result {
            0.. => Answer::Later,
            _ => Answer::Fails(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)),
        }
    }

    /// What a directory descriptor and a path name, held: as the kernel would find it for the caller. An empty path is the descriptor itself.
    pub(super) fn target(&self, directory: i32, path: &[u8], follow: Follow) -> Result<OwnedFd, Errno> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let pid = self.question.pid;
        if let Some(number) = descriptor_path(path, pid) {
            return rustix::fs::open(format!("/proc/{pid}/fd/{number}"), flags, Mode::empty());
        }
        let base = match path.first() {
            Some(b'/') => rustix::fs::open("/", flags, Mode::empty())?,
            _ if directory == libc::AT_FDCWD => {
                rustix::fs::open(format!("/proc/{pid}/cwd"), flags, Mode::empty())?
            }
            _ => rustix::fs::open(format!("/proc/{pid}/fd/{directory}"), flags, Mode::empty())?,
        };
        if !self.is_waiting() {
            return Err(Errno::SRCH);
        }
        if path.is_empty() {
            return Ok(base);
        }
        let last = if follow == Follow::Links { OFlags::empty() } else { OFlags::NOFOLLOW };
        self.acting(|| {
            rustix::fs::openat2(&base, path, flags | last, Mode::empty(), ResolveFlags::NO_MAGICLINKS)
        })
    }

    /// The files that a call names and Landlock judges.
    pub(super) fn named(&self) -> Vec<Named> {
        let cwd = libc::AT_FDCWD;
        let open = |flags: i32| {
            let writes = flags & (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) != 0;
            let made = match (flags & libc::O_CREAT != 0, flags & libc::O_EXCL != 0) {
                (false, _) => Made::Not,
                (true, false) => Made::WhereMissing,
                (true, true) => Made::Anew,
            };
            (writes, made)
        };
        let named: Vec<(i32, u64, bool, Made)> = match self.call() {
            libc::SYS_openat => {
                let (writes, made) = open(self.number(2));
                vec![(self.number(0), self.argument(1), writes, made)]
            }
            libc::SYS_openat2 => {
                let flags = self.memory(self.argument(2), 4).unwrap_or_default();
                let flags = flags.try_into().map_or(0, i32::from_ne_bytes);
                let (writes, made) = open(flags);
                vec![(self.number(0), self.argument(1), writes, made)]
            }
            libc::SYS_unlinkat => vec![(self.number(0), self.argument(1), true, Made::Not)],
            libc::SYS_mkdirat | libc::SYS_mknodat => {
                vec![(self.number(0), self.argument(1), true, Made::Anew)]
            }
            libc::SYS_symlinkat => vec![(self.number(1), self.argument(2), true, Made::Anew)],
            libc::SYS_renameat | libc::SYS_renameat2 => vec![
                (self.number(0), self.argument(1), true, Made::Not),
                (self.number(2), self.argument(3), true, Made::WhereMissing),
            ],
            // The first name gets a second one, through which it could be changed.
            libc::SYS_linkat => vec![
                (self.number(0), self.argument(1), true, Made::Not),
                (self.number(2), self.argument(3), true, Made::Anew),
            ],
            libc::SYS_truncate => vec![(cwd, self.argument(0), true, Made::Not)],
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open => {
                let (writes, made) = open(self.number(1));
                vec![(cwd, self.argument(0), writes, made)]
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_unlink | libc::SYS_rmdir => vec![(cwd, self.argument(0), true, Made::Not)],
            #[cfg(target_arch = "x86_64")]
            libc::SYS_creat => vec![(cwd, self.argument(0), true, Made::WhereMissing)],
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mkdir | libc::SYS_mknod => vec![(cwd, self.argument(0), true, Made::Anew)],
            #[cfg(target_arch = "x86_64")]
            libc::SYS_symlink => vec![(cwd, self.argument(1), true, Made::Anew)],
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rename => {
                vec![
                    (cwd, self.argument(0), true, Made::Not),
                    (cwd, self.argument(1), true, Made::WhereMissing),
                ]
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_link => {
                vec![(cwd, self.argument(0), true, Made::Not), (cwd, self.argument(1), true, Made::Anew)]
            }
            _ => Vec::new(),
        };
        let mut found = Vec::new();
        for (directory, address, writes, made) in named {
            let Ok(text) = self.text(address) else { continue };
            // The kernel says first that it is there already, and looks at no rule.
            if made == Made::Anew && self.is_there(directory, &text) {
                return Vec::new();
            }
            let path = self.place(directory, &text, made);
            found.extend(path.map(|path| Named { path, writes }));
        }
        found
    }

    /// Whether something has this name already, a link too.
    fn is_there(&self, directory: i32, path: &[u8]) -> bool {
        self.whole(directory, path).is_some_and(|whole| whole.symlink_metadata().is_ok())
    }

    /// A path as this process reaches it, links and all.
    fn whole(&self, directory: i32, path: &[u8]) -> Option<PathBuf> {
        let pid = self.question.pid;
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        let base = if directory == libc::AT_FDCWD { "cwd".to_owned() } else { format!("fd/{directory}") };
        let own = OWN.into_iter().find_map(|(name, real)| Some((real, path.strip_prefix(name).ok()?)));
        Some(match own {
            Some((real, below)) => {
                let whole = Path::new("/proc").join(pid.to_string()).join(real);
                if below.as_os_str().is_empty() { whole } else { whole.join(below) }
            }
            None if path.is_absolute() => path.to_owned(),
            None => fs::read_link(format!("/proc/{pid}/{base}")).ok()?.join(path),
        })
    }

    /// Where a path really leads; `None` when it leads nowhere, so that the call fails anyway.
    fn place(&self, directory: i32, path: &[u8], made: Made) -> Option<PathBuf> {
        let whole = self.whole(directory, path)?;
        // A pipe or socket that a descriptor names lies nowhere.
        if fs::read_link(&whole).is_ok_and(|target| target.to_str().is_some_and(|text| text.contains(":["))) {
            return None;
        }
        if let Ok(real) = fs::canonicalize(&whole) {
            return Some(real);
        }
        let parent = fs::canonicalize(whole.parent()?).ok()?;
        let real = parent.join(whole.file_name()?);
        (made != Made::Not || real.symlink_metadata().is_ok()).then_some(real)
    }
}

/// Whether a call makes what it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    /// It must be there.
    Not,
    /// It is made where nothing has the name.
    WhereMissing,
    /// It is made, and where something has the name already the call fails for that.
    Anew,
}

/// What a process calls its own, and where it is below the folder of that process: for us the names would mean ours.
const OWN: [(&str, &str); 6] = [
    ("/proc/self", ""),
    ("/proc/thread-self", ""),
    ("/dev/fd", "fd"),
    ("/dev/stdin", "fd/0"),
    ("/dev/stdout", "fd/1"),
    ("/dev/stderr", "fd/2"),
];

/// Whether the last name of a path is followed when it is a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follow {
    /// It is.
    Links,
    /// It is not.
    Nothing,
}

/// The number in `/proc/self/fd/N`: how programs name what they hold open.
fn descriptor_path(path: &[u8], pid: u32) -> Option<u32> {
    let text = std::str::from_utf8(path).ok()?;
    let own = format!("/proc/{pid}/fd/");
    let prefixes = ["/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/", own.as_str()];
    prefixes.iter().find_map(|prefix| text.strip_prefix(prefix))?.parse().ok()
}

/// Has questions and answers handed over without a detour; only faster, so a kernel that cannot is fine.
#[expect(unsafe_code, reason = "no safe crate sets flags of a listener")]
pub(super) fn answer_on_same_processor(listener: BorrowedFd<'_>) {
    const SYNCHRONOUS_WAKE: libc::c_ulong = 1;
    // SAFETY: the descriptor is a listener, and the argument of this request is a number.
    unsafe {
        libc::ioctl(listener.as_fd().as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS as _, SYNCHRONOUS_WAKE)
    };
}
