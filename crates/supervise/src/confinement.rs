//! Starts a command inside a scope and stays with it until nothing of it is left.
//!
//! The restrictions are put on one thread of ours, and the command is started from there: it inherits them, and we stay free. So nothing
//! has to be prepared between fork and exec but what is a single call.

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, NetPort, PathBeneath,
    PathFd, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, Scope as LandlockScope,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal};

use crate::error::SuperviseError;
use crate::filter::Filter;
use crate::kernel::Kernel;
use crate::mediation::{Mediator, Refusal, Refusals, devices, system_paths};
use crate::scope::{Bytes, Network, Reading, Scope};
use crate::signals::Signals;
use crate::tree;

/// A command and its scope.
#[derive(Debug)]
pub struct Confined {
    /// The program, by path or by name in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// What is set in its environment.
    pub variables: Vec<(OsString, OsString)>,
    /// What else its environment holds; all of ours when `None`.
    pub environment: Option<Vec<(OsString, OsString)>>,
    /// What it may do.
    pub scope: Scope,
    /// What holds it.
    pub kernel: Kernel,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal, which was not ours.
    Signalled(i32),
    /// We ended it: its time was over.
    Time(Duration),
    /// We ended it: all its processes together used so much memory.
    Memory(Bytes),
    /// We were asked to end, by this signal.
    Asked(i32),
}

impl Ending {
    /// As an exit status: of the command itself, 128 and more for a signal as shells do, 124 for a limit as `timeout` does.
    pub fn status(self) -> u8 {
        match self {
            Self::Exited(status) => u8::try_from(status).unwrap_or(1),
            Self::Signalled(signal) | Self::Asked(signal) => u8::try_from(128 + signal).unwrap_or(255),
            Self::Time(_) | Self::Memory(_) => 124,
        }
    }
}

/// What became of a confined command.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// What it tried and was not allowed, each once, and how many more were not kept.
    pub refusals: (Vec<Refusal>, usize),
    /// Processes that it left behind and that were ended.
    pub left_behind: usize,
}

/// How often memory is looked at.
const SAMPLING: Duration = Duration::from_millis(20);

/// How long we sleep at most, so that what has ended is taken away.
const TIDYING: Duration = Duration::from_millis(250);

/// How long a command has to end by itself after it was asked to.
const GRACE: Duration = Duration::from_secs(1);

/// How long we try to end what does not want to.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs a command to its end and ends what it leaves behind.
pub fn run_confined(command: Confined, signals: &Signals) -> Result<Outcome, SuperviseError> {
    tree::adopt_orphans()?;
    let refusals = Arc::new(Mutex::new(Refusals::default()));
    let resolved = match &command.scope.network {
        Network::Only(endpoints) => {
            let named = endpoints.iter().flat_map(crate::scope::Endpoint::addresses);
            let servers = if command.scope.looks_up_names() { name_servers() } else { Vec::new() };
            named.chain(servers).collect()
        }
        Network::Nothing | Network::Loopback | Network::Open => Vec::new(),
    };
    let mediator =
        Mediator { scope: command.scope.clone(), resolved, refusals: Arc::clone(&refusals), forks: 0 };
    let limits = command.scope.limits;
    let (listener_out, listener_in) = mpsc::channel();
    let (started_out, started_in) = mpsc::channel();
    // The thread stays as long as the command: with it the command would be ended, as it is when we are killed.
    let (stay, end) = mpsc::channel::<()>();
    let ready = Arc::new(Barrier::new(2));
    let answers = Arc::clone(&ready);
    let starter = thread::Builder::new()
        .name("confined".to_owned())
        .spawn(move || {
            let result = start(&command, &listener_out, &ready);
            drop(listener_out);
            drop(started_out.send(result));
            let _ = end.recv();
        })
        .map_err(SuperviseError::restriction("a thread"))?;
    let mediation = listener_in
        .recv()
        .ok()
        .map(|listener: OwnedFd| thread::spawn(move || mediator.serve(listener, &answers)));
    let pid = started_in.recv().map_err(SuperviseError::restriction("a thread"))??;
    let ending = watch(pid, limits, signals);
    let left_behind = tree::end_all(PATIENCE);
    drop(stay);
    drop(starter.join());
    drop(mediation.map(thread::JoinHandle::join));
    let refusals = std::mem::take(&mut *refusals.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(Outcome { ending, refusals: refusals.into_list(), left_behind })
}

/// The port on which names are looked up.
const NAMES: u16 = 53;

/// Who is asked for the addresses of names.
fn name_servers() -> Vec<SocketAddr> {
    let text = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let servers = text.lines().filter_map(|line| line.trim().strip_prefix("nameserver"));
    servers.filter_map(|server| Some(SocketAddr::new(server.trim().parse().ok()?, NAMES))).collect()
}

/// Waits for the end of the command, or for what ends it.
fn watch(pid: Pid, limits: crate::scope::Limits, signals: &Signals) -> Ending {
    let deadline = limits.time.map(|time| (Instant::now() + time, time));
    let process = rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok();
    loop {
        for (ended, status) in tree::reap() {
            if ended == pid {
                return match (status.exit_status(), status.terminating_signal()) {
                    (Some(status), _) => Ending::Exited(status),
                    (None, signal) => Ending::Signalled(signal.unwrap_or(libc::SIGKILL)),
                };
            }
        }
        if let Some(signal) = signals.taken() {
            tree::signal_all(Signal::from_named_raw(signal).unwrap_or(Signal::TERM));
            wait(process.as_ref(), GRACE);
            return Ending::Asked(signal);
        }
        if let Some((_, time)) = deadline.filter(|(end, _)| Instant::now() >= *end) {
            tree::signal_all(Signal::TERM);
            wait(process.as_ref(), GRACE);
            return Ending::Time(time);
        }
        if let Some(most) = limits.memory {
            let used = tree::usage().bytes();
            if used > most {
                return Ending::Memory(used);
            }
        }
        let mut longest = if limits.memory.is_some() { SAMPLING } else { TIDYING };
        if let Some((end, _)) = deadline {
            longest = longest.min(end.saturating_duration_since(Instant::now()));
        }
        wait(process.as_ref(), longest);
    }
}

/// Waits for the end of a process, a signal, or a time.
fn wait(process: Option<&OwnedFd>, time: Duration) {
    let Some(process) = process else { return thread::sleep(time.min(SAMPLING)) };
    let time =
        Timespec { tv_sec: i64::try_from(time.as_secs()).unwrap_or(1), tv_nsec: time.subsec_nanos().into() };
    let _ = poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&time));
}

/// Puts this thread inside the scope and starts the command from it.
fn start(confined: &Confined, listener: &Sender<OwnedFd>, ready: &Barrier) -> Result<Pid, SuperviseError> {
    let Confined { scope, kernel, .. } = confined;
    let mut filter = Filter::of(scope, kernel);
    let ruleset = (kernel.landlock > 0).then(|| ruleset(scope)).transpose()?;
    rustix::thread::set_no_new_privs(true).map_err(SuperviseError::restriction("no new privileges"))?;
    give_up_capabilities();
    if let Some(ruleset) = ruleset {
        ruleset.restrict_self().map_err(SuperviseError::restriction("the scope of files"))?;
    }
    if kernel.filters
        && let Some(asked) = filter.install(kernel)?
    {
        drop(listener.send(asked));
        // Our own fork is asked about too, and it holds the locks of the heap: who answers must not need them first.
        ready.wait();
    }
    spawn(confined)
}

/// Descriptors are not closed at once but when the command begins: until then the error of its start goes through one.
const CLOSE_AT_EXEC: libc::c_uint = 1 << 2;

#[expect(unsafe_code, reason = "limits and the end with us can only be set between fork and exec")]
fn spawn(confined: &Confined) -> Result<Pid, SuperviseError> {
    let mut command = Command::new(&confined.program);
    if let Some(environment) = &confined.environment {
        command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
    }
    command.args(&confined.arguments).envs(confined.variables.iter().map(|(name, value)| (name, value)));
    let processor = confined.scope.limits.processor.map(|time| time.as_secs().max(1));
    let set = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if let Some(seconds) = processor {
            // A second later comes the signal that cannot be ignored.
            let limit = Rlimit { current: Some(seconds), maximum: Some(seconds + 1) };
            rustix::process::setrlimit(Resource::Cpu, limit)?;
        }
        // What our caller left open is none of the command's business.
        // SAFETY: marks descriptors and touches no memory; an old kernel says that it cannot.
        unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, CLOSE_AT_EXEC) };
        Ok(())
    };
    // SAFETY: between fork and exec the closure does system calls only: it takes no lock and no memory from the heap.
    unsafe { command.pre_exec(set) };
    let child = command.spawn().map_err(|source| {
        let program = confined.program.to_string_lossy().into_owned();
        match source.kind() {
            io::ErrorKind::NotFound => SuperviseError::NotFound { program },
            _ => SuperviseError::NotRun { program, source },
        }
    })?;
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| SuperviseError::restriction("the process")("its number is none"))
}

/// Takes from a privileged user what reaches past files and processes: devices, the kernel, the network, the clock. Others have none.
fn give_up_capabilities() {
    use rustix::thread::CapabilitySet as Set;
    const KEPT: Set = Set::CHOWN
        .union(Set::DAC_OVERRIDE)
        .union(Set::DAC_READ_SEARCH)
        .union(Set::FOWNER)
        .union(Set::FSETID)
        .union(Set::KILL)
        .union(Set::SETGID)
        .union(Set::SETUID)
        .union(Set::SETPCAP);
    if !rustix::process::geteuid().is_root() {
        return;
    }
    for capability in Set::all().difference(KEPT).iter() {
        let _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
}

/// The newest level that is asked for; an older kernel gives what it has, and the gap was said.
const LEVEL: ABI = ABI::V6;

fn ruleset(scope: &Scope) -> Result<RulesetCreated, SuperviseError> {
    build(scope).map_err(SuperviseError::restriction("the scope of files"))
}

fn build(scope: &Scope) -> Result<RulesetCreated, landlock::RulesetError> {
    let writing = AccessFs::from_write(LEVEL);
    let reading = AccessFs::from_read(LEVEL);
    let limits_reading = scope.read != Reading::All;
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(writing)?;
    if limits_reading {
        ruleset = ruleset.handle_access(reading)?;
    }
    match scope.network {
        Network::Nothing | Network::Only(_) => {
            ruleset = ruleset.handle_access(AccessNet::from_all(LEVEL))?;
        }
        // Landlock knows ports, not hosts.
        Network::Loopback | Network::Open => {}
    }
    ruleset = ruleset.scope(LandlockScope::Signal)?;
    if scope.network != Network::Open {
        ruleset = ruleset.scope(LandlockScope::AbstractUnixSocket)?;
    }
    let mut created = ruleset.create()?;
    if let Network::Only(endpoints) = &scope.network {
        for endpoint in endpoints {
            created = created.add_rule(NetPort::new(endpoint.port, AccessNet::ConnectTcp))?;
        }
        if scope.looks_up_names() {
            created = created.add_rule(NetPort::new(NAMES, AccessNet::ConnectTcp))?;
        }
    }
    // A right that is not limited cannot be given either.
    let handled = if limits_reading { writing | reading } else { writing };
    for path in &scope.write {
        created = allow(created, path, handled)?;
    }
    for device in devices() {
        let access = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev | AccessFs::ReadFile;
        created = allow(created, &PathBuf::from(device), access & handled)?;
    }
    if let Reading::Only(paths) = &scope.read {
        for path in paths.iter().cloned().chain(system_paths()) {
            created = allow(created, &path, reading)?;
        }
    }
    Ok(created)
}

/// Allows access below a path, if it is there: what is not there cannot be reached either. What is no directory has no entries.
fn allow(
    ruleset: RulesetCreated,
    path: &PathBuf,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    let Ok(file) = PathFd::new(path) else { return Ok(ruleset) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(LEVEL) };
    ruleset.add_rule(PathBeneath::new(file, access))
}
