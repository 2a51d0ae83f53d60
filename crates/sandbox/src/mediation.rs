//! Answers the calls that the kernel asks about, and puts refusals into words.
//!
//! Two kinds of questions. Where the kernel judges for itself (Landlock), we only look, so that a refusal can be said; the answer is "go
//! on". Where it has no say (modes, owners, times, the address of a connection), we judge and then do it ourselves, with what we looked
//! at: what the caller changes in its memory meanwhile changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::filter::{changes_attributes, is_forbidden, is_shared, is_signalling, steered};
use crate::process_tree;
use crate::scope::{Network, ReadScope, Scope, system_paths};
use crate::terminals::Terminals;

mod attributes;
mod caller;
mod identity;
mod locks;
mod memory_files;
mod refusal_text;
mod shared;
mod signals;
mod sockets;
mod terminals;

use caller::{Caller, Named};
use identity::Identity;
pub(crate) use memory_files::SHARED_MEMORY;
pub use shared::SharedMemoryKind as SharedKind;

/// Something that the scope did not allow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refusal {
    /// The program that tried.
    pub program: String,
    /// What it tried.
    pub attempt: AttemptedAction,
}

/// What was tried.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttemptedAction {
    /// Changing a file.
    Write(PathBuf),
    /// Reading a file.
    Read(PathBuf),
    /// Changing mode, owner, times or attributes.
    Attributes(PathBuf),
    /// Connecting to an address.
    Connect(SocketAddr),
    /// Connecting to a socket in the file system, or one with a name of its own.
    Local(PathBuf),
    /// Listening for others.
    Listen(SocketAddr),
    /// A socket of a kind that is not let through.
    Socket(&'static str),
    /// A signal to a process outside; 0 stands for all that there are.
    Signal(i32),
    /// Limits or priority of a process outside; 0 stands for several.
    Steer(i32),
    /// A call that reaches into other processes or the kernel.
    Call(i64),
    /// Something of System V that it did not make itself.
    Shared(SharedKind),
    /// Locking a file.
    Lock(PathBuf),
    /// One process more.
    Process(u32),
    /// One thread more.
    Thread(u32),
}

impl Refusal {
    /// What would allow it, as options of the command line of which one is enough; empty when nothing does.
    pub fn remedies(&self) -> Vec<String> {
        let option = match &self.attempt {
            // Where all processes of the user put what they share: to be allowed that is to reach into every one of them.
            AttemptedAction::Write(path) if path.starts_with(SHARED_MEMORY) => return Vec::new(),
            // What is not there yet needs the folder that it will stand in.
            AttemptedAction::Write(path) if !path.exists() => match path.parent() {
                Some(folder) => format!("--write {}", folder.display()),
                None => return Vec::new(),
            },
            // A name of its own, which is no path.
            AttemptedAction::Local(path) if path.to_string_lossy().starts_with('@') => {
                "--net open".to_owned()
            }
            AttemptedAction::Write(path)
            | AttemptedAction::Attributes(path)
            | AttemptedAction::Local(path)
            | AttemptedAction::Lock(path) => {
                format!("--write {}", path.display())
            }
            AttemptedAction::Socket(sockets::TCP) => {
                return vec!["--net loopback".to_owned(), "--net HOST:PORT".to_owned()];
            }
            AttemptedAction::Read(path) => format!("--read {}", path.display()),
            AttemptedAction::Connect(address)
                if address.ip().is_loopback() || address.ip().is_unspecified() =>
            {
                "--net loopback".to_owned()
            }
            AttemptedAction::Connect(address) => format!("--net {address}"),
            AttemptedAction::Listen(address) if address.ip().is_loopback() => "--net loopback".to_owned(),
            AttemptedAction::Listen(_) | AttemptedAction::Socket(_) => "--net open".to_owned(),
            AttemptedAction::Process(_) | AttemptedAction::Thread(_) => "--processes N".to_owned(),
            AttemptedAction::Call(_)
            | AttemptedAction::Signal(_)
            | AttemptedAction::Steer(_)
            | AttemptedAction::Shared(_) => {
                return Vec::new();
            }
        };
        vec![option]
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = &self.program;
        match &self.attempt {
            AttemptedAction::Write(path) => write!(formatter, "{program} may not change {}", path.display()),
            AttemptedAction::Read(path) => write!(formatter, "{program} may not read {}", path.display()),
            AttemptedAction::Attributes(path) => {
                write!(formatter, "{program} may not change mode, owner or times of {}", path.display())
            }
            AttemptedAction::Connect(address) => write!(formatter, "{program} may not connect to {address}"),
            AttemptedAction::Local(path) => {
                write!(formatter, "{program} may not connect to the socket {}", path.display())
            }
            AttemptedAction::Listen(address) => write!(formatter, "{program} may not listen on {address}"),
            AttemptedAction::Socket(kind) => write!(formatter, "{program} may not open {kind}"),
            AttemptedAction::Call(number) => match refusal_text::of_call(*number) {
                Some(words) => write!(formatter, "{program} may not {words}"),
                None => write!(
                    formatter,
                    "{program} may not reach into other processes or the kernel (system call {number})"
                ),
            },
            AttemptedAction::Steer(0) => {
                write!(formatter, "{program} may not change the priority of a group or a user")
            }
            AttemptedAction::Steer(process) => {
                write!(
                    formatter,
                    "{program} may not change limits or priority of process {process}, which it did not start"
                )
            }
            AttemptedAction::Signal(0) => write!(formatter, "{program} may not send a signal to everybody"),
            AttemptedAction::Signal(process) => {
                write!(
                    formatter,
                    "{program} may not send a signal to process {process}, which it did not start"
                )
            }
            AttemptedAction::Process(limit) => {
                write!(formatter, "{program} may not start more: {limit} processes are there")
            }
            AttemptedAction::Thread(limit) => {
                write!(formatter, "{program} may not start more: {limit} threads are there")
            }
            AttemptedAction::Lock(path) => write!(formatter, "{program} may not lock {}", path.display()),
            AttemptedAction::Shared(kind) => {
                let what = match kind {
                    SharedKind::Memory => "shared memory",
                    SharedKind::Semaphores => "semaphores",
                    SharedKind::Messages => "a message queue",
                };
                write!(formatter, "{program} may not use {what} that others made")
            }
        }
    }
}

/// Different refusals that are kept; a program that tries a thousand things is not a thousand lines.
const KEPT: usize = 50;

/// What was refused so far, and how much more.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    kept: BTreeSet<Refusal>,
    pub(crate) more: usize,
}

impl Refusals {
    pub(crate) fn into_list(self) -> (Vec<Refusal>, usize) {
        (self.kept.into_iter().collect(), self.more)
    }

    fn add(&mut self, refusal: Refusal) {
        if self.kept.len() < KEPT || self.kept.contains(&refusal) {
            self.kept.insert(refusal);
        } else {
            self.more += 1;
        }
    }
}

/// What is written to without being changed.
const DEVICES: [&str; 7] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"];

/// Where the maker of terminals really is on some systems.
const TERMINAL_MAKER: &str = "/dev/pts/ptmx";

/// The devices that any command may write to.
pub(crate) fn devices() -> impl Iterator<Item = &'static str> {
    DEVICES.into_iter()
}

/// Answers for one scope.
pub(crate) struct Mediator {
    pub(crate) scope: Scope,
    pub(crate) resolved: Vec<SocketAddr>,
    pub(crate) refusals: Arc<Mutex<Refusals>>,
    /// Forks since the processes were last counted, and how many there were then; the same of threads.
    pub(crate) forks: u32,
    pub(crate) threads: u32,
    /// What of System V was made inside.
    pub(crate) made: BTreeSet<(SharedKind, i64)>,
    /// What was made inside of `/dev/shm`.
    pub(crate) made_in_memory: BTreeMap<PathBuf, memory_files::Number>,
    /// Terminals that it may use by path.
    pub(crate) terminals: Terminals,
    /// Who judges cutting files short, and signals.
    pub(crate) cuts: Judge,
    pub(crate) signals: Judge,
}

/// Who judges what Landlock learned only later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judge {
    /// The kernel; we say what it refuses.
    Kernel,
    /// We do.
    Us,
}

/// What the caller gets.
#[derive(Debug, Clone, Copy)]
enum Answer {
    /// The kernel goes on with the call.
    GoOn,
    /// It was done for the caller.
    Done,
    /// It was done for the caller, and returns this.
    Number(i64),
    /// It fails.
    Fails(Errno),
    /// It is answered otherwise: later, or with an open file.
    Later,
}

impl From<Result<(), Errno>> for Answer {
    fn from(result: Result<(), Errno>) -> Self {
        result.map_or_else(Self::Fails, |()| Self::Done)
    }
}

impl Mediator {
    /// Answers until nobody is left who could ask.
    pub(crate) fn serve(mut self, listener: OwnedFd) {
        let listener = Arc::new(listener);
        let own = Identity::of("thread-self").filter(Identity::is_privileged).map(Arc::new);
        caller::answer_on_same_processor(listener.as_fd());
        loop {
            let mut wait = [PollFd::new(&*listener, PollFlags::IN)];
            match poll(&mut wait, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => break,
            }
            let events = wait[0].revents();
            if events.contains(PollFlags::IN) {
                // One that was killed meanwhile asks no longer.
                if let Ok(caller) = Caller::next(&listener, own.as_ref()) {
                    self.answer(&caller);
                }
            } else if events.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
                break;
            }
        }
        self.take_memory_files_away();
        self.take_shared_away();
    }

    fn answer(&mut self, caller: &Caller) {
        let answer = match caller.call() {
            call if is_forbidden(call) => self.refuse(caller, AttemptedAction::Call(call), Errno::PERM),
            libc::SYS_clone => self.fork(caller),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_fork | libc::SYS_vfork => self.fork(caller),
            libc::SYS_flock => self.lock(caller),
            call if is_shared(call) => self.shared(caller),
            libc::SYS_socket | libc::SYS_socketpair => {
                let kind = sockets::kind(caller.argument(0), caller.argument(1));
                self.refuse(caller, AttemptedAction::Socket(kind), Errno::ACCESS)
            }
            libc::SYS_connect => self.connect(caller),
            libc::SYS_bind => self.bind(caller),
            libc::SYS_listen => self.listen(caller),
            call if changes_attributes(call) => self.attributes(caller),
            call if is_signalling(call) => self.signal(caller),
            call if steered(call, 0).is_some() => self.steer(caller),
            libc::SYS_truncate if self.cuts == Judge::Us => self.truncate(caller),
            libc::SYS_ioctl => Self::lower_side(caller),
            _ => self.look(caller),
        };
        caller.answer(answer);
    }

    fn note(&self, caller: &Caller, attempt: AttemptedAction) {
        let refusal = Refusal { program: caller.program(), attempt };
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner).add(refusal);
    }

    fn refuse(&self, caller: &Caller, attempt: AttemptedAction, error: Errno) -> Answer {
        self.note(caller, attempt);
        Answer::Fails(error)
    }

    /// One process or thread more, if there are not too many: they are counted when so many were started that there could be. What has ended
    /// and was not waited for counts, since its number is still taken.
    fn fork(&mut self, caller: &Caller) -> Answer {
        let (limit, most) = (self.scope.limits.processes, self.scope.limits.threads());
        let is_thread = caller.call() == libc::SYS_clone && caller.number(0) & libc::CLONE_THREAD != 0;
        if self.threads >= most || (!is_thread && self.forks >= limit) {
            let now = process_tree::usage();
            let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            (self.forks, self.threads) =
                (count(now.processes + now.remains), count(now.threads + now.remains));
            if !is_thread && self.forks >= limit {
                return self.refuse(caller, AttemptedAction::Process(limit), Errno::AGAIN);
            }
            if self.threads >= most {
                return self.refuse(caller, AttemptedAction::Thread(most), Errno::AGAIN);
            }
        }
        self.forks += u32::from(!is_thread);
        self.threads += 1;
        Answer::GoOn
    }

    /// Looks at a call that names files, and notes what Landlock will refuse. What the command made where it may not write is opened for it.
    fn look(&mut self, caller: &Caller) -> Answer {
        let named = caller.named();
        let (changed, read): (Vec<Named>, Vec<Named>) = named.into_iter().partition(|named| named.writes);
        let paths = |named: Vec<Named>| named.into_iter().map(|named| named.path);
        let refused: Vec<PathBuf> = paths(changed).filter(|path| !self.may_write(path)).collect();
        let terminal = || refused.first().and_then(|path| Self::made_terminal(caller, path));
        if let Some(answer) = self.memory_file(caller, &refused).or_else(terminal) {
            return answer;
        }
        for path in refused {
            self.note(caller, AttemptedAction::Write(path));
        }
        if let ReadScope::Only(roots) = &self.scope.read {
            let is_below =
                |path: &Path| roots.iter().cloned().chain(system_paths()).any(|root| path.starts_with(root));
            for path in paths(read).filter(|path| !self.may_write(path) && !is_below(path) && path.exists()) {
                self.note(caller, AttemptedAction::Read(path));
            }
        }
        Answer::GoOn
    }

    fn may_write(&self, path: &Path) -> bool {
        self.scope.may_write(path)
            || DEVICES.iter().chain([&TERMINAL_MAKER]).any(|device| path == Path::new(device))
            || self.terminals.contain(path)
    }

    fn is_limited(&self) -> bool {
        self.scope.network != Network::Open
    }
}

/// The real path of an open file; `None` when it has no name.
fn path_of(file: BorrowedFd<'_>) -> Option<PathBuf> {
    let path = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_allows_what_was_refused_and_not_much_more() {
        let remedies = |attempt| Refusal { program: "x".to_owned(), attempt }.remedies();
        assert_eq!(remedies(AttemptedAction::Local("@name".into())), ["--net open"]);
        assert_eq!(remedies(AttemptedAction::Local("/no/such/socket".into())), ["--write /no/such/socket"]);
        assert_eq!(remedies(AttemptedAction::Connect("0.0.0.0:80".parse().unwrap())), ["--net loopback"]);
        assert_eq!(
            remedies(AttemptedAction::Connect("192.0.2.1:80".parse().unwrap())),
            ["--net 192.0.2.1:80"]
        );
        assert_eq!(remedies(AttemptedAction::Write("/dev/shm/sem.mp-x".into())), Vec::<String>::new());
    }
}
