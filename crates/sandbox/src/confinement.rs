//! Starts a command inside a scope and stays with it until nothing of it is left.
//!
//! The restrictions are put on the command alone, and we stay free; but for the view of the file system that we share with it where
//! Landlock is absent. A command that asks nothing costs no thread: one that answers is started with the first question.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal};

use crate::control_group::{ControlGroup, GroupLimits};
use crate::error::SuperviseError;
use crate::filter::Filter;
use crate::heartbeat::be_known_as;
use crate::kernel::{Kernel, OwnView};
use crate::launch::{Launched, Privileges, Program, Restrictions, launch};
use crate::mediation::{Judge, Mediator, Refusal, Refusals};
use crate::memory::MemoryFiles;
use crate::names::CONFINING;
use crate::namespaces::View;
use crate::process_tree::{self, EndedProcesses};
use crate::ruleset::{NAMES, ruleset};
use crate::scope::{Bytes, ResourceLimits, Scope};
use crate::shared_segments::SharedSegments;
use crate::signals::Signals;
use crate::terminals::{Terminals, own_terminals};

/// A command and its scope.
#[derive(Debug)]
pub struct SandboxedCommand {
    /// The program, by path or by name in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its environment, in which its program is looked for too.
    pub environment: Vec<(OsString, OsString)>,
    /// What it may do.
    pub scope: Scope,
    /// What holds it.
    pub kernel: Kernel,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCause {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal, which was not ours.
    Signalled(i32),
    /// We ended it: its time was over.
    Time(Duration),
    /// We ended it: all its processes together used so much memory.
    Memory(Bytes),
    /// The kernel ended it, or a process that it waited for: one process computed for so long.
    Processor(Duration),
    /// The kernel ended it, or a process that it waited for: a file was to become longer than this.
    FileSize(Bytes),
    /// We were asked to end, by this signal.
    Asked(i32),
}

impl ExitCause {
    /// As an exit status: of the command itself, 128 and more for a signal as shells do, 124 for a limit as `timeout` does.
    pub fn status(self) -> u8 {
        match self {
            Self::Exited(status) => u8::try_from(status).unwrap_or(1),
            Self::Signalled(signal) | Self::Asked(signal) => u8::try_from(128 + signal).unwrap_or(255),
            Self::Time(_) | Self::Memory(_) | Self::Processor(_) | Self::FileSize(_) => 124,
        }
    }

    /// How a command ended that nobody stopped: by itself, by a signal, or at a limit that the kernel holds. A shell passes the signal of
    /// its last command on as 128 and its number.
    fn of_itself(status: Option<i32>, signal: Option<i32>, limits: &ResourceLimits) -> Self {
        let is_by = |wanted: i32| signal == Some(wanted) || status == Some(128 + wanted);
        match (limits.processor, limits.file, status) {
            (Some(time), _, _) if is_by(libc::SIGXCPU) => Self::Processor(time),
            (_, Some(most), _) if is_by(libc::SIGXFSZ) => Self::FileSize(most),
            (_, _, Some(status)) => Self::Exited(status),
            (_, _, None) => Self::Signalled(signal.unwrap_or(libc::SIGKILL)),
        }
    }
}

/// What became of a confined command.
#[derive(Debug)]
pub struct CommandOutcome {
    /// How it ended.
    pub ending: ExitCause,
    /// What it tried and was not allowed, each once, and how many more were not kept.
    pub refusals: (Vec<Refusal>, usize),
    /// Processes that it left behind and that were ended.
    pub left_behind: usize,
    /// Processes that could not be ended within seconds; they may still run, inside the scope.
    pub still_there: usize,
}

/// How often memory is looked at, and how often when half of it is used.
const SAMPLING: Duration = Duration::from_millis(20);
const CLOSE_SAMPLING: Duration = Duration::from_millis(2);

/// How long we sleep at most, so that what has ended is taken away.
const TIDYING: Duration = Duration::from_millis(250);

/// How long a command has to end by itself after it was asked to.
const GRACE: Duration = Duration::from_secs(1);

/// How long we try to end what does not want to.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long what is below a command may take to end by itself, once the command has (ours).
const TIDYING_UP: Duration = Duration::from_millis(100);

/// Runs a command to its end and ends what it leaves behind. Where the view of the file system is changed for it (`OwnView::Offered`), it is
/// changed for this process, which must have one thread.
pub fn run_confined(command: SandboxedCommand, signals: &Signals) -> Result<CommandOutcome, SuperviseError> {
    process_tree::adopt_orphans()?;
    be_known_as(CONFINING);
    let SandboxedCommand { program, arguments, environment, scope, kernel } = command;
    let program = Program::find(&program, &arguments, &environment)?;
    let resolved = resolved(&scope);
    let group = group(&scope.limits, &kernel);
    let view = (kernel.view == OwnView::Offered).then(|| View::enter(&scope)).transpose()?;
    // Those of a view of its own are all its own.
    let own = if view.is_some() { Vec::new() } else { own_terminals() };
    let restrictions = Restrictions {
        ruleset: if kernel.landlock > 0 { ruleset(&scope, &kernel, &own)?.into() } else { None },
        filter: kernel.filters.then(|| Filter::of(&scope, &kernel)),
        privileges: if view.is_some() { Privileges::Reduced } else { Privileges::of_process() },
        limits: limits(&scope.limits),
        group: group.as_ref().map(ControlGroup::entrance),
    };
    let Launched { pid, questions } = launch(&program, restrictions)?;
    let judge = |is_left: bool| if is_left { Judge::Us } else { Judge::Kernel };
    let (cuts, by_signals) = (judge(kernel.leaves_truncation()), judge(kernel.leaves_signals()));
    let limits = scope.limits;
    let refusals = Arc::new(Mutex::new(Refusals::default()));
    let mediator = Mediator {
        scope,
        resolved,
        refusals: Arc::clone(&refusals),
        forks: 0,
        threads: 0,
        made: BTreeSet::new(),
        made_in_memory: BTreeMap::new(),
        terminals: if view.is_some() { Terminals::All } else { Terminals::of(&own) },
        cuts,
        signals: by_signals,
    };
    let mut answers = Answers { waiting: questions.map(|questions| (questions, mediator)), thread: None };
    let mut ending = watch(pid, limits, signals, &mut answers, group.as_ref());
    if let Some(group) = &group
        && let (Some(most), true) = (group.limits().memory, group.ran_out_of_memory())
    {
        ending = ExitCause::Memory(most);
    }
    if matches!(ending, ExitCause::Exited(_)) {
        // What tidies up behind a command, as git does, is not left behind but about to end.
        process_tree::let_end(TIDYING_UP);
    }
    if let Some(group) = &group {
        group.end_all();
    }
    let EndedProcesses { count: left_behind, left: still_there } = process_tree::end_all(PATIENCE);
    answers.finish(if still_there == 0 { Asking::Nobody } else { Asking::Somebody });
    drop(group);
    drop(view);
    let refusals = std::mem::take(&mut *refusals.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(CommandOutcome { ending, refusals: refusals.into_list(), left_behind, still_there })
}

/// Who may be talked to, by address; looked up now and not again.
fn resolved(scope: &Scope) -> Vec<SocketAddr> {
    let named = scope.network.endpoints().iter().flat_map(crate::scope::Endpoint::addresses);
    let servers = if scope.looks_up_names() { name_servers() } else { Vec::new() };
    named.chain(servers).collect()
}

/// A group where one is of use: making one and entering it takes longer than most commands.
fn group(limits: &ResourceLimits, kernel: &Kernel) -> Option<ControlGroup> {
    let tasks = (!kernel.asks).then_some(limits.processes);
    let wanted = GroupLimits { memory: limits.memory, tasks };
    if wanted == GroupLimits::default() { None } else { ControlGroup::create(wanted) }
}

/// What the kernel limits for each process.
fn limits(limits: &ResourceLimits) -> Vec<(Resource, Rlimit)> {
    let processor = limits.processor.map(|time| {
        let seconds = time.as_secs().max(1);
        // A second later comes the signal that cannot be ignored.
        (Resource::Cpu, Rlimit { current: Some(seconds), maximum: Some(seconds + 1) })
    });
    let file =
        limits.file.map(|Bytes(most)| (Resource::Fsize, Rlimit { current: Some(most), maximum: Some(most) }));
    processor.into_iter().chain(file).collect()
}

/// The one who answers questions: waiting for the first of them, or at work.
struct Answers {
    waiting: Option<(OwnedFd, Mediator)>,
    thread: Option<JoinHandle<()>>,
}

impl Answers {
    /// Begins to answer. Answers can take as long as the file systems that they are about, so they have a thread of their own.
    fn begin(&mut self) {
        let Some((questions, mediator)) = self.waiting.take() else { return };
        let thread = thread::Builder::new().name("answers".to_owned());
        // Without one who answers what is asked fails.
        self.thread = thread.spawn(move || mediator.serve(questions)).ok();
    }

    /// Waits for the end of it, which comes with the last one who could ask. Who cannot be ended is not waited for.
    fn finish(self, asking: Asking) {
        drop(self.waiting);
        match asking {
            Asking::Nobody => drop(self.thread.map(JoinHandle::join)),
            Asking::Somebody => {}
        }
    }
}

/// Whether anybody is left who could ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asking {
    Nobody,
    Somebody,
}

/// Who is asked for the addresses of names.
fn name_servers() -> Vec<SocketAddr> {
    let text = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let servers = text.lines().filter_map(|line| line.trim().strip_prefix("nameserver"));
    servers.filter_map(|server| Some(SocketAddr::new(server.trim().parse().ok()?, NAMES))).collect()
}

/// Waits for the end of the command, or for what ends it.
fn watch(
    pid: Pid,
    limits: ResourceLimits,
    signals: &Signals,
    answers: &mut Answers,
    group: Option<&ControlGroup>,
) -> ExitCause {
    let deadline = limits.time.map(|time| (Instant::now() + time, time));
    let process = rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok();
    // What the kernel bounds need not be measured.
    let measured = limits.memory.filter(|_| group.is_none_or(|group| group.limits().memory.is_none()));
    let mut pace = SAMPLING;
    let mut files = MemoryFiles::of_now();
    let mut segments = SharedSegments::of_now();
    let mut interrupts = 0;
    loop {
        for (ended, status) in process_tree::reap().ended {
            if ended == pid {
                return ExitCause::of_itself(status.exit_status(), status.terminating_signal(), &limits);
            }
        }
        if let Some(signal) = signals.taken() {
            process_tree::signal_all(Signal::from_named_raw(signal).unwrap_or(Signal::TERM));
            wait(process.as_ref(), answers, GRACE);
            return ExitCause::Asked(signal);
        }
        // The command has it too, and decides what it means; one that does not take it is ended with the second one.
        if let Some(signal) = signals.interrupted()
            && process_tree::ignores_interrupts(pid)
        {
            interrupts += 1;
            if interrupts > 1 {
                return ExitCause::Asked(signal);
            }
        }
        if let Some((_, time)) = deadline.filter(|(end, _)| Instant::now() >= *end) {
            process_tree::signal_all(Signal::TERM);
            wait(process.as_ref(), answers, GRACE);
            return ExitCause::Time(time);
        }
        if let Some(most) = measured {
            segments.look();
            let used =
                files.added_to(process_tree::usage(), most, &|| true).with(segments.detached()).bytes();
            if used > most {
                return ExitCause::Memory(used);
            }
            // The nearer the limit, the sooner it can be reached.
            pace = if used.0 > most.0 / 2 { CLOSE_SAMPLING } else { SAMPLING };
        }
        let mut longest = if measured.is_some() { pace } else { TIDYING };
        if let Some((end, _)) = deadline {
            longest = longest.min(end.saturating_duration_since(Instant::now()));
        }
        wait(process.as_ref(), answers, longest);
    }
}

/// Waits for the end of a process, the first question, a signal, or a time.
fn wait(process: Option<&OwnedFd>, answers: &mut Answers, time: Duration) {
    let Some(process) = process else {
        // A kernel that does not tell of ends: looked at again and again.
        answers.begin();
        return thread::sleep(time.min(SAMPLING));
    };
    let deadline = Instant::now() + time;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(1),
            tv_nsec: left.subsec_nanos().into(),
        };
        let Some((questions, _)) = &answers.waiting else {
            let _ = poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&left));
            return;
        };
        let mut both = [PollFd::new(process, PollFlags::IN), PollFd::new(questions, PollFlags::IN)];
        let _ = poll(&mut both, Some(&left));
        let (ended, asked) = (both[0].revents(), both[1].revents());
        if asked.contains(PollFlags::IN) {
            answers.begin();
        } else if !asked.is_empty() {
            // Nobody is left who could ask; what still ends is told by the process alone.
            answers.waiting = None;
        }
        if !ended.is_empty() || asked.is_empty() {
            return;
        }
    }
}
