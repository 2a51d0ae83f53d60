//! Starts a program under restrictions, as `vfork` does. The new process borrows our memory until its program begins, so nothing is copied.
//! It borrows our descriptors too, so that the kernel's questions about it come to us.
//!
//! The restrictions are put on the new process alone. Between its start and its program it does system calls only.

use std::ffi::{CString, OsStr, OsString, c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::ptr;

use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, Signal};
use rustix::thread::CapabilitySet as Set;

use crate::error::SuperviseError;
use crate::filter::Filter;
use crate::kernel::Surroundings;

/// A program with its arguments and its environment, in the form of the kernel.
pub(crate) struct Program {
    name: String,
    candidates: Vec<CString>,
    arguments: Vec<CString>,
    environment: Vec<CString>,
}

impl Program {
    /// The program that a name or path means with the `PATH` of this environment.
    pub(crate) fn find(
        program: &OsStr,
        arguments: &[OsString],
        environment: &[(OsString, OsString)],
    ) -> Result<Self, SuperviseError> {
        let name = program.to_string_lossy().into_owned();
        let text = |bytes: &[u8]| {
            CString::new(bytes).map_err(|_| SuperviseError::NotRun {
                program: name.clone(),
                source: io::Error::from(io::ErrorKind::InvalidInput),
            })
        };
        let folders = environment.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value);
        let folders = folders.map_or(USUAL_FOLDERS, |value| value.as_bytes());
        let bytes = program.as_bytes();
        let candidates = if bytes.contains(&b'/') || bytes.is_empty() {
            vec![text(bytes)?]
        } else {
            // An empty folder is the present one, as for `execvp`.
            let join = |folder: &[u8]| match folder {
                [] => text(bytes),
                folder => text(&[folder, b"/", bytes].concat()),
            };
            folders.split(|byte| *byte == b':').map(join).collect::<Result<_, _>>()?
        };
        let all = std::iter::once(program).chain(arguments.iter().map(OsString::as_os_str));
        let arguments = all.map(|argument| text(argument.as_bytes())).collect::<Result<_, _>>()?;
        let pair =
            |(name, value): &(OsString, OsString)| text(&[name.as_bytes(), b"=", value.as_bytes()].concat());
        let environment = environment.iter().map(pair).collect::<Result<_, _>>()?;
        Ok(Self { name, candidates, arguments, environment })
    }
}

/// Where programs are looked for without `PATH`, as by `execvp`.
const USUAL_FOLDERS: &[u8] = b"/bin:/usr/bin";

/// What holds a program from its first instruction on.
#[derive(Default)]
pub(crate) struct Restrictions<'a> {
    /// The rules of Landlock.
    pub(crate) ruleset: Option<OwnedFd>,
    /// The filter of system calls.
    pub(crate) filter: Option<Filter>,
    /// What is taken from a privileged user.
    pub(crate) privileges: Privileges,
    /// Limits of each process.
    pub(crate) limits: Vec<(Resource, Rlimit)>,
    /// Where a process becomes a member of a control group.
    pub(crate) group: Option<BorrowedFd<'a>>,
}

/// Whether there is anything to be taken from the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Privileges {
    /// The user has none.
    #[default]
    Ordinary,
    /// What reaches past files and processes is taken: devices, the kernel, the network, the clock.
    Reduced,
}

impl Privileges {
    /// Of the user that we are.
    pub(crate) fn of_process() -> Self {
        if rustix::process::geteuid().is_root() { Self::Reduced } else { Self::Ordinary }
    }
}

const KEPT: Set = Set::CHOWN
    .union(Set::DAC_OVERRIDE)
    .union(Set::DAC_READ_SEARCH)
    .union(Set::FOWNER)
    .union(Set::FSETID)
    .union(Set::KILL)
    .union(Set::SETGID)
    .union(Set::SETUID)
    .union(Set::SETPCAP);

/// A program that began.
#[derive(Debug)]
pub(crate) struct Launched {
    /// Its process.
    pub(crate) pid: Pid,
    /// Where the kernel asks about its calls.
    pub(crate) questions: Option<OwnedFd>,
}

/// What was being done when something failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Limits,
    Group,
    Privileges,
    Files,
    Calls,
    Program,
}

impl Step {
    fn words(self) -> &'static str {
        match self {
            Self::Limits => "limits",
            Self::Group => "the control group",
            Self::Privileges => "no new privileges",
            Self::Files => "the scope of files",
            Self::Calls => "the filter of system calls",
            Self::Program => "the program",
        }
    }
}

/// What both processes see while the new one borrows our memory.
struct Shared<'a> {
    restrictions: Restrictions<'a>,
    candidates: Vec<*const c_char>,
    arguments: Vec<*const c_char>,
    /// The arguments of a shell that runs what is no program of its own, as `execvp` does; the script is the second one.
    script: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    mask: libc::sigset_t,
    questions: Option<i32>,
    failure: Option<(Step, Errno)>,
}

/// Room for the few calls until the program begins, in units of the alignment of a stack.
const STACK: usize = 4096;

/// Starts a program under restrictions. It is killed when the calling thread ends.
pub(crate) fn launch(program: &Program, restrictions: Restrictions<'_>) -> Result<Launched, SuperviseError> {
    let Attempt { launched, failure: failed } = attempt(program, restrictions)?;
    match failed {
        None => Ok(launched),
        Some((step, error)) => Err(failure(&program.name, step, error)),
    }
}

/// Whether somebody is asked about the calls of this process already. The kernel tells only who wants to be asked too, so a process that
/// begins no program tries.
pub(crate) fn surroundings() -> Surroundings {
    // Without a filter nobody is asked. An old kernel does not tell, and is tried.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if status.lines().any(|line| line.split_whitespace().eq(["Seccomp:", "0"])) {
        return Surroundings::Free;
    }
    let name = "/".to_owned();
    let nothing =
        Program { name, candidates: vec![c"/".into()], arguments: Vec::new(), environment: Vec::new() };
    let restrictions = Restrictions { filter: Some(Filter::asking_nothing()), ..Restrictions::default() };
    match attempt(&nothing, restrictions) {
        Ok(Attempt { failure: Some((Step::Calls, Errno::BUSY)), .. }) => Surroundings::Scope,
        Ok(_) | Err(_) => Surroundings::Free,
    }
}

/// What came of a start.
struct Attempt {
    launched: Launched,
    /// Why no program began; the process is over then.
    failure: Option<(Step, Errno)>,
}

#[expect(unsafe_code, reason = "no safe crate starts a process that borrows memory and descriptors")]
fn attempt(program: &Program, restrictions: Restrictions<'_>) -> Result<Attempt, SuperviseError> {
    let pointers = |texts: &[CString]| -> Vec<*const c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
    };
    let arguments = pointers(&program.arguments);
    let shell = [c"/bin/sh".as_ptr(), ptr::null()];
    let script = shell.into_iter().chain(arguments.iter().skip(1).copied()).collect();
    let mut shared = Shared {
        restrictions,
        candidates: program.candidates.iter().map(|text| text.as_ptr()).collect(),
        arguments,
        script,
        environment: pointers(&program.environment),
        // SAFETY: a set of signals is numbers only, for which zero is a value; it is filled below.
        mask: unsafe { std::mem::zeroed() },
        questions: None,
        failure: None,
    };
    let mut stack: Vec<u128> = Vec::with_capacity(STACK);
    let top = stack.as_mut_ptr().wrapping_add(STACK);
    // SAFETY: `begin` gets a pointer to `shared`, which lives on: this thread stands still until the new process has its own memory
    // (`CLONE_VFORK`). The stack is memory of ours that nobody else uses, and grows down from its end. No handler of a signal can run on
    // both sides, since all signals are blocked meanwhile.
    let number = unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut shared.mask);
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_FILES | libc::SIGCHLD;
        let number = libc::clone(begin, top.cast(), flags, (&raw mut shared).cast());
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const shared.mask, ptr::null_mut());
        number
    };
    let started = if number < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
    drop(stack);
    started.map_err(SuperviseError::restriction("a process"))?;
    // SAFETY: the kernel made this descriptor for the new process in the table that was ours as well, and nobody else knows it.
    let questions = shared.questions.map(|number| unsafe { OwnedFd::from_raw_fd(number) });
    let pid =
        Pid::from_raw(number).ok_or_else(|| SuperviseError::restriction("a process")("it has no number"))?;
    if shared.failure.is_some() {
        let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
    }
    Ok(Attempt { launched: Launched { pid, questions }, failure: shared.failure })
}

fn failure(program: &str, step: Step, error: Errno) -> SuperviseError {
    let program = program.to_owned();
    match (step, error) {
        (Step::Program, Errno::NOENT | Errno::NOTDIR) => SuperviseError::NotFound { program },
        (Step::Program, error) => SuperviseError::NotRun { program, source: error.into() },
        // Only one can be asked about the calls of a process.
        (Step::Calls, Errno::BUSY) => {
            SuperviseError::restriction(step.words())("another scope is around this one already")
        }
        (step, error) => SuperviseError::restriction(step.words())(io::Error::from(error)),
    }
}

/// The new process, until its program begins.
#[expect(unsafe_code, reason = "the C form of a function that a process begins with")]
extern "C" fn begin(shared: *mut c_void) -> c_int {
    // SAFETY: `launch` gave a pointer to its `Shared`, and does not go on before this process is over or has memory of its own.
    let shared = unsafe { &mut *shared.cast::<Shared<'_>>() };
    if let Err(failure) = restrict(shared).and_then(|()| execute(shared)) {
        shared.failure = Some(failure);
    }
    // SAFETY: ends this process without running what the other one has registered for its own end.
    unsafe { libc::_exit(127) }
}

#[expect(unsafe_code, reason = "signals and restrictions that no safe crate sets")]
fn restrict(shared: &mut Shared<'_>) -> Result<(), (Step, Errno)> {
    let restrictions = &mut shared.restrictions;
    // SAFETY: sets how signals are answered in this process only; our own handlers must not run here.
    unsafe {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const shared.mask, ptr::null_mut());
    }
    let at = |step| move |error| (step, error);
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(at(Step::Limits))?;
    for (resource, limit) in &restrictions.limits {
        rustix::process::setrlimit(*resource, *limit).map_err(at(Step::Limits))?;
    }
    if let Some(group) = restrictions.group {
        rustix::io::write(group, b"0").map_err(at(Step::Group))?;
    }
    // What our caller left open is none of the command's business. The table is still ours as well, so they are only marked, to be closed in
    // that of the program when it begins; we begin none ourselves.
    // SAFETY: marks descriptors and touches no memory; an old kernel says that it cannot.
    unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, CLOSE_AT_EXEC) };
    rustix::thread::set_no_new_privs(true).map_err(at(Step::Privileges))?;
    if restrictions.privileges == Privileges::Reduced {
        for capability in Set::all().difference(KEPT).iter() {
            let _ = rustix::thread::remove_capability_from_bounding_set(capability);
        }
    }
    if let Some(ruleset) = &restrictions.ruleset {
        // SAFETY: the descriptor is one of rules; the call touches no memory.
        let result = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0_u32) };
        if result != 0 {
            return Err((Step::Files, last_error()));
        }
    }
    if let Some(filter) = &mut restrictions.filter {
        shared.questions = filter.install().map_err(at(Step::Calls))?;
    }
    Ok(())
}

const CLOSE_AT_EXEC: libc::c_uint = 1 << 2;

#[expect(unsafe_code, reason = "no safe crate begins a program of a list with prepared texts")]
fn execute(shared: &mut Shared<'_>) -> Result<(), (Step, Errno)> {
    let mut last = Errno::NOENT;
    for candidate in &shared.candidates {
        let environment = shared.environment.as_ptr();
        // SAFETY: texts and lists end with a zero and live in `launch`; the call returns only when it failed.
        unsafe { libc::execve(*candidate, shared.arguments.as_ptr(), environment) };
        match last_error() {
            Errno::NOENT | Errno::NOTDIR => {}
            // Elsewhere there may be one that can be run; if not, this is why.
            Errno::ACCESS => last = Errno::ACCESS,
            Errno::NOEXEC => {
                if let Some(place) = shared.script.get_mut(1) {
                    *place = *candidate;
                }
                // SAFETY: as above.
                unsafe { libc::execve(c"/bin/sh".as_ptr(), shared.script.as_ptr(), environment) };
                return Err((Step::Program, last_error()));
            }
            error => return Err((Step::Program, error)),
        }
    }
    Err((Step::Program, last))
}

fn last_error() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::INVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(words: &[&str], path: &str) -> Program {
        let words: Vec<OsString> = words.iter().map(Into::into).collect();
        Program::find(&words[0], &words[1..], &[("PATH".into(), path.into())]).unwrap()
    }

    fn status(program: &Program) -> Result<Option<i32>, SuperviseError> {
        let launched = launch(program, Restrictions::default())?;
        let status = rustix::process::waitpid(Some(launched.pid), rustix::process::WaitOptions::empty());
        Ok(status.unwrap().and_then(|(_, status)| status.exit_status()))
    }

    #[test]
    fn a_program_is_looked_for_in_the_path_that_it_gets() {
        assert_eq!(status(&program(&["sh", "-c", "exit 7"], "/no/such:/bin:/usr/bin")).unwrap(), Some(7));
        assert!(matches!(status(&program(&["sh"], "/no/such")), Err(SuperviseError::NotFound { .. })));
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        assert!(matches!(status(&program(&[path], "")), Err(SuperviseError::NotRun { .. })));
    }

    #[test]
    fn a_script_without_a_first_line_is_run_by_the_shell() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script");
        std::fs::write(&path, "exit $1\n").unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(status(&program(&[path.to_str().unwrap(), "9"], "")).unwrap(), Some(9));
    }

    #[test]
    fn a_zero_in_an_argument_is_refused() {
        let arguments = [OsString::from("a\0b")];
        assert!(Program::find(OsStr::new("true"), &arguments, &[]).is_err());
    }
}
