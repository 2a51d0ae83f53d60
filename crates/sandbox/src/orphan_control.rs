//! What ends an agent when nothing of ours is left to do it: the kernel, where it lets us.
//!
//! In a PID namespace the first process is ours. It starts the agent, waits, and takes remains away. When it dies, by whatever hand, the
//! kernel ends everything else in the namespace, and it dies with the process that supervises. So who kills all processes of ours in one
//! moment ends the agent and all that it started, also after `setsid` and two forks.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::ptr::null;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};

use crate::error::SuperviseError;
use crate::heartbeat::{can_be_traced, cannot_be_traced};
use crate::process_tree::{self, Reaped, Remains};

/// What ends an agent when all processes of ours are killed in one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// Nothing: only the agent itself ends then, not what it started.
    Processes,
    /// The kernel, through a PID namespace; needs rights over the machine.
    Namespace,
    /// The same in a user namespace, which needs no rights. In there `sudo` does nothing, and files of other users look like nobody's, which
    /// some programs mind (`ssh` with settings in `/etc/ssh/ssh_config.d`).
    UserNamespace,
}

impl Hold {
    fn flags(self) -> libc::c_int {
        let own = libc::CLONE_NEWPID | libc::CLONE_NEWNS;
        match self {
            Self::Processes => 0,
            Self::Namespace => own,
            Self::UserNamespace => own | libc::CLONE_NEWUSER,
        }
    }

    /// Tries it out with nothing inside. To be called while there is one thread.
    pub fn probe(self) -> Result<(), SuperviseError> {
        if self == Self::Processes {
            return Ok(());
        }
        let mut first = First::new(self, None)?;
        let answer = first.heard();
        let _ = rustix::process::kill_process(first.pid, Signal::KILL);
        let _ = rustix::process::waitpid(Some(first.pid), WaitOptions::empty());
        match answer? {
            Word::Ready => Ok(()),
            other => Err(other.into_error("")),
        }
    }
}

/// What the agent leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessGroupMode {
    /// A session of its own, without a terminal.
    Own,
    /// A session of its own, with the terminal that is its input.
    Session,
}

/// An agent that was started, and how it is held.
#[derive(Debug)]
pub enum Held {
    /// It is a child of ours.
    Child {
        /// Its number.
        pid: Pid,
        /// What is readable when it has ended.
        descriptor: Option<OwnedFd>,
    },
    /// It is a child of the first process of its namespace.
    Inside(First),
}

/// Starts a command. With a namespace to be called while there is one thread.
pub fn begin(command: Command, group: ProcessGroupMode, hold: Hold) -> Result<Held, SuperviseError> {
    if hold == Hold::Processes {
        let program = name(&command);
        let child = spawn(command, group).map_err(|source| not_begun(program, source))?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| SuperviseError::restriction("the process")("its number is none"))?;
        return Ok(Held::Child {
            pid,
            descriptor: rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok(),
        });
    }
    let program = name(&command);
    let mut first = First::new(hold, Some((command, group)))?;
    match first.heard() {
        Ok(Word::Ready) => {
            // Found while it is all that there is: later thousands of orphans may have come to the first process.
            let agent = process_tree::second_in_namespace(first.pid);
            first.agent_pid = agent;
            first.agent = agent.and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok());
            Ok(Held::Inside(first))
        }
        other => {
            let _ = rustix::process::kill_process(first.pid, Signal::KILL);
            Err(other.map_or_else(|error| error, |word| word.into_error(&program)))
        }
    }
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

fn not_begun(program: String, source: io::Error) -> SuperviseError {
    match source.kind() {
        io::ErrorKind::NotFound => SuperviseError::NotFound { program },
        _ => SuperviseError::NotRun { program, source },
    }
}

#[expect(unsafe_code, reason = "a session and the end with us can only be set between fork and exec")]
fn spawn(mut command: Command, group: ProcessGroupMode) -> io::Result<Child> {
    let set = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        rustix::process::setsid()?;
        if group == ProcessGroupMode::Session {
            rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure does system calls only: it takes no lock and no memory from the heap.
    unsafe { command.pre_exec(set) };
    command.spawn()
}

impl Held {
    /// Waits until the agent may have ended, for so long at most.
    pub fn wait(&self, time: Duration) {
        let time = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
        let _ = match self {
            Self::Child { descriptor: Some(process), .. } => {
                poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&time))
            }
            Self::Inside(first) => poll(&mut [PollFd::new(&first.words, PollFlags::IN)], Some(&time)),
            Self::Child { descriptor: None, .. } => poll(&mut [], Some(&time)),
        };
    }

    /// Takes away what has ended; the status of the agent itself when it is among it, and whether more has ended than was taken away.
    pub fn ended(&mut self) -> (Option<u8>, Remains) {
        let Reaped { ended, remains } = process_tree::reap();
        (self.status_among(ended), remains)
    }

    fn status_among(&mut self, reaped: Vec<(Pid, WaitStatus)>) -> Option<u8> {
        match self {
            Self::Child { pid, .. } => {
                reaped.into_iter().find(|(ended, _)| ended == pid).map(|(_, status)| number(status))
            }
            Self::Inside(first) => {
                let now = Timespec { tv_sec: 0, tv_nsec: 0 };
                let said = poll(&mut [PollFd::new(&first.words, PollFlags::IN)], Some(&now));
                match said.is_ok_and(|count| count > 0).then(|| first.heard())? {
                    Ok(Word::Ended(status)) => Some(status),
                    // Somebody ended the first process, and the agent with it.
                    _ => Some(137),
                }
            }
        }
    }

    /// Sends the agent itself a signal.
    pub fn signal(&self, signal: Signal) {
        let _ = match self {
            Self::Child { pid, .. } => rustix::process::kill_process(*pid, signal),
            Self::Inside(First { agent: Some(agent), .. }) => {
                rustix::process::pidfd_send_signal(agent, signal)
            }
            Self::Inside(First { agent: None, .. }) => Ok(()),
        };
    }

    /// Whether the agent does not even notice when it is interrupted at the keyboard.
    pub fn ignores_interrupts(&self) -> bool {
        match self {
            Self::Child { pid, .. } => process_tree::ignores_interrupts(*pid),
            Self::Inside(first) => first.agent_pid.is_some_and(process_tree::ignores_interrupts),
        }
    }

    /// Has the kernel end the agent and all that it started, where it can do that at once.
    pub fn end(&self) {
        if let Self::Inside(First { process: Some(first), .. }) = self {
            let _ = rustix::process::pidfd_send_signal(first, Signal::KILL);
        }
    }

    /// How many processes below us are ours and not the agent's.
    pub fn own(&self) -> usize {
        match self {
            Self::Child { .. } => 0,
            Self::Inside(_) => 1,
        }
    }
}

/// The exit status of a process, 128 and more for a signal.
fn number(status: WaitStatus) -> u8 {
    let number = status.exit_status().or(status.terminating_signal().map(|signal| 128 + signal)).unwrap_or(1);
    u8::try_from(number).unwrap_or(1)
}

/// How long the first process of a namespace may take to begin or to speak, in seconds (ours).
const ANSWER: i64 = 10;

/// The first process of a namespace, seen from outside.
#[derive(Debug)]
pub struct First {
    pid: Pid,
    /// The same, in a way that cannot mean another one later.
    process: Option<OwnedFd>,
    /// The agent in it.
    agent: Option<OwnedFd>,
    /// Its number, as we see it.
    agent_pid: Option<Pid>,
    words: File,
    /// Open as long as we live, so that the first process can see whether we were gone before it asked to end with us.
    _alive: OwnedFd,
}

/// What the first process says, in five bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Ready,
    Ended(u8),
    NotBegun(i32),
    NotSetUp(i32),
}

impl Word {
    const LENGTH: usize = 5;

    fn bytes(self) -> [u8; Self::LENGTH] {
        let (kind, number) = match self {
            Self::Ready => (0, 0),
            Self::Ended(status) => (1, i32::from(status)),
            Self::NotBegun(error) => (2, error),
            Self::NotSetUp(error) => (3, error),
        };
        let [one, two, three, four] = number.to_le_bytes();
        [kind, one, two, three, four]
    }

    fn of([kind, one, two, three, four]: [u8; Self::LENGTH]) -> Self {
        let number = i32::from_le_bytes([one, two, three, four]);
        match kind {
            0 => Self::Ready,
            1 => Self::Ended(u8::try_from(number).unwrap_or(1)),
            2 => Self::NotBegun(number),
            _ => Self::NotSetUp(number),
        }
    }

    fn into_error(self, program: &str) -> SuperviseError {
        match self {
            Self::NotBegun(error) => not_begun(program.to_owned(), io::Error::from_raw_os_error(error)),
            Self::NotSetUp(error) => no_namespace(io::Error::from_raw_os_error(error)),
            Self::Ready | Self::Ended(_) => no_namespace(io::Error::other("its first process ended")),
        }
    }
}

fn no_namespace(error: io::Error) -> SuperviseError {
    SuperviseError::restriction("a namespace of processes")(error)
}

impl First {
    #[expect(unsafe_code, reason = "no safe crate makes a process in a new namespace")]
    fn new(hold: Hold, inside: Option<(Command, ProcessGroupMode)>) -> Result<Self, SuperviseError> {
        let (words, say) = io::pipe().map_err(no_namespace)?;
        let (seen, alive) = io::pipe().map_err(no_namespace)?;
        let ids = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        let flags = libc::c_long::from(hold.flags() | libc::SIGCHLD);
        // SAFETY: without a stack of its own this is a fork into new namespaces. There is one thread, so the child has everything that the
        // parent has, and no lock is held by a thread that it lacks.
        let number = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
        if number < 0 {
            return Err(no_namespace(io::Error::last_os_error()));
        }
        if let Some(pid) = i32::try_from(number).ok().and_then(Pid::from_raw) {
            let process = rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok();
            let words = File::from(OwnedFd::from(words));
            return Ok(Self {
                pid,
                process,
                agent: None,
                agent_pid: None,
                words,
                _alive: OwnedFd::from(alive),
            });
        }
        drop((words, alive));
        let mut say = File::from(OwnedFd::from(say));
        let status = be_first(hold, ids, inside, &seen.into(), &mut say);
        // SAFETY: ends the process at once; nothing of the parent that was copied into it is run.
        unsafe { libc::_exit(status) }
    }

    fn heard(&mut self) -> Result<Word, SuperviseError> {
        // Who has rights over the machine can stop the first process before it speaks.
        let patience = Timespec { tv_sec: ANSWER, tv_nsec: 0 };
        let spoke = loop {
            match poll(&mut [PollFd::new(&self.words, PollFlags::IN)], Some(&patience)) {
                Err(rustix::io::Errno::INTR) => {}
                spoke => break spoke.is_ok_and(|count| count > 0),
            }
        };
        if !spoke {
            return Err(no_namespace(io::ErrorKind::TimedOut.into()));
        }
        let mut bytes = [0; Word::LENGTH];
        self.words.read_exact(&mut bytes).map_err(no_namespace)?;
        Ok(Word::of(bytes))
    }
}

/// The life of the first process. Its number in the namespace is 1, so no signal from inside can end it.
fn be_first(
    hold: Hold,
    ids: (u32, u32),
    inside: Option<(Command, ProcessGroupMode)>,
    seen: &OwnedFd,
    say: &mut File,
) -> i32 {
    let set_up = rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(io::Error::from)
        // Who was killed before that does not end us any more, but its end of the pipe is closed.
        .and_then(|()| is_open(seen))
        .and_then(|()| {
            if hold != Hold::UserNamespace {
                return Ok(());
            }
            // Who may not be traced may not say who its users are either.
            can_be_traced();
            let mapped = map_ids(ids);
            cannot_be_traced();
            mapped
        })
        .and_then(|()| own_list_of_processes());
    if let Err(error) = set_up {
        let code = error.raw_os_error().unwrap_or(libc::EIO);
        drop(say.write_all(&Word::NotSetUp(code).bytes()));
        return 1;
    }
    let agent = match inside.map(|(command, group)| spawn(command, group)).transpose() {
        Ok(agent) => agent,
        Err(error) => {
            drop(say.write_all(&Word::NotBegun(error.raw_os_error().unwrap_or(libc::EIO)).bytes()));
            return 1;
        }
    };
    if say.write_all(&Word::Ready.bytes()).is_err() {
        return 1;
    }
    let agent = agent.and_then(|child| i32::try_from(child.id()).ok());
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if Some(pid.as_raw_nonzero().get()) == agent => {
                // What it leaves behind is counted and ended from outside.
                drop(say.write_all(&Word::Ended(number(status)).bytes()));
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            // Nobody is left; the end comes from outside.
            Err(_) => std::thread::sleep(Duration::from_mins(1)),
        }
    }
}

fn is_open(seen: &OwnedFd) -> io::Result<()> {
    let mut ends = [PollFd::new(seen, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut ends, Some(&now))?;
    let closed = ends.iter().any(|end| end.revents().contains(PollFlags::HUP));
    if closed { Err(io::Error::from_raw_os_error(libc::EPIPE)) } else { Ok(()) }
}

/// In the user namespace we are who we were, and nobody else is there.
fn map_ids((user, group): (u32, u32)) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// `/proc` shows the processes of the namespace by the numbers that they have there; without that, who looks for a process there would
/// send signals to others.
#[expect(unsafe_code, reason = "mounting has no safe function with the features that we use")]
fn own_list_of_processes() -> io::Result<()> {
    let mount = |kind: *const libc::c_char, place: &std::ffi::CStr, flags: libc::c_ulong| {
        // SAFETY: texts that live through the call and end with a zero, or none.
        let done = unsafe { libc::mount(kind, place.as_ptr(), kind, flags, null()) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // What is mounted outside later appears here too, and nothing the other way round.
    mount(null(), c"/", libc::MS_REC | libc::MS_SLAVE)?;
    mount(c"proc".as_ptr(), c"/proc", libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_as_they_were_said() {
        for word in [Word::Ready, Word::Ended(143), Word::NotBegun(2), Word::NotSetUp(1)] {
            assert_eq!(Word::of(word.bytes()), word);
        }
    }
}
