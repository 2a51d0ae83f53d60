//! Supervises a whole agent: its processes, what it says, what it uses; and ends it, all of it, when it has to.
//!
//! Two processes of ours stand above the agent. The outer one only waits. The inner one supervises. Each notices the death of the other
//! and ends what is below: the inner one sees the outer one go, and the outer one, to which all orphans come, ends what the inner one
//! left. So `kill -9` of either lets nothing run on. Neither can be traced, and who is stopped goes on (`heartbeat`).

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use checkrein_clients::Prices;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};

use crate::error_stream::ErrorStream;
use crate::event_queue::EventSender;
use crate::failure::ProviderError;
use crate::sampling::{self, Sampling};
use crate::stream::{RunProgress, StreamParser};
use crate::switches::{RunClock, Stop, Switches};
use checkrein_sandbox::Signals;
use checkrein_sandbox::heartbeat::{self, Beating, Heartbeat, be_known_as, cannot_be_traced};
use checkrein_sandbox::memory::MemoryFiles;
use checkrein_sandbox::orphan_control::{Held, Hold, ProcessGroupMode, begin};
use checkrein_sandbox::process_tree::{self, EndedProcesses, Remains, Usage};
use checkrein_sandbox::shared_segments::SharedSegments;
use checkrein_sandbox::terminal::{Terminal, window_changed};
use checkrein_sandbox::{ControlGroup, GroupLimits};
use checkrein_sandbox::{SUPERVISING, SplitSide, SuperviseError, bound_tasks, enter, split};

/// An agent and its limits.
#[derive(Debug)]
pub struct Agent {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Where it works.
    pub directory: std::path::PathBuf,
    /// What is set in its environment.
    pub variables: Vec<(OsString, OsString)>,
    /// What else its environment holds; all of ours when `None`.
    pub environment: Option<Vec<(OsString, OsString)>>,
    /// What ends it.
    pub switches: Switches,
    /// What tokens cost.
    pub prices: Prices,
    /// The model that it was told to use, for when its answers do not say; `None` when nothing told it.
    pub model: Option<String>,
    /// Whether a user sits before it.
    pub interaction: Interaction,
    /// What it writes where a user sits before it.
    pub terminal_output: TerminalOutput,
    /// What ends it when all processes of ours are killed in one moment.
    pub hold: Hold,
}

/// How the agent talks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interaction {
    /// Through a pseudo-terminal to ours.
    Terminal,
    /// Through pipes; what it writes is passed on byte for byte.
    Pipes,
}

impl Interaction {
    /// A terminal when both ends of ours are one.
    pub fn of_process() -> Self {
        if io::stdin().is_terminal() && io::stdout().is_terminal() { Self::Terminal } else { Self::Pipes }
    }
}

/// What an agent writes to a terminal. Through pipes it is always listened to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalOutput {
    /// Perhaps a stream of events, which tells what it does and spends.
    Stream,
    /// A screen for its user; an event in there is something that it shows.
    Screen,
}

/// Whether the agent still runs, for who counts what it spends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// It may spend more.
    Running,
    /// What it spent is all.
    Ended,
}

/// A moment of a run, for those who watch.
#[derive(Debug, Clone)]
pub struct ProgressReport {
    /// What the client told so far.
    pub progress: RunProgress,
    /// How long it runs.
    pub running: Duration,
    /// What it uses, when it was looked at.
    pub usage: Option<Usage>,
    /// How often a user interrupted it at the keyboard while it does not take interrupts: the second time ends it.
    pub ignored_interrupts: usize,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub struct RunOutcome {
    /// The exit status of the agent, 128 and more for a signal.
    pub status: u8,
    /// Why it was stopped; `None` when it ended by itself.
    pub stop: Option<Stop>,
    /// How long it took from the decision to stop until nothing was left.
    pub stopping: Option<Duration>,
    /// Processes that had to be ended.
    pub ended: usize,
    /// Processes that could not be ended within seconds; they may still run.
    pub left: usize,
    /// The last moment.
    pub moment: ProgressReport,
}

/// How often halts, time and the client's words are looked at.
const BEAT: Duration = Duration::from_millis(50);

/// How long the client has after it was asked, and after it was told. Together with the end well below a second (ours).
const ASKED: Duration = Duration::from_millis(300);
const TOLD: Duration = Duration::from_millis(200);

/// So many processes and threads more than may be there the kernel allows (ours), so that it is seen that they are too many.
const SPARE: u32 = 256;

/// How long we try to end what does not want to.
const PATIENCE: Duration = Duration::from_secs(5);

/// Splits this process in two; the inner one goes on. The outer one returns what the inner one ended with, or that it was killed, and may
/// do it again. To be called while there is one thread.
pub fn stand_above(signals: &Signals) -> Result<SupervisorSide, SuperviseError> {
    process_tree::adopt_orphans()?;
    cannot_be_traced();
    be_known_as(SUPERVISING);
    let outer = rustix::process::getpid();
    let terminal = Terminal::own();
    match split()? {
        SplitSide::Inner => {
            process_tree::adopt_orphans()?;
            // Who was killed before we looked is not our parent any more.
            let above = rustix::process::pidfd_open(outer, PidfdFlags::empty()).ok();
            let is_gone = rustix::process::getppid() != Some(outer);
            Ok(SupervisorSide::Inner(SupervisorLink { process: above.filter(|_| !is_gone) }))
        }
        SplitSide::Outer(inner) => Ok(SupervisorSide::Outer(wait_above(inner, terminal.as_ref(), signals)?)),
    }
}

/// Where one is after the split.
#[derive(Debug)]
pub enum SupervisorSide {
    /// Supervises.
    Inner(SupervisorLink),
    /// Has waited; the status to end with.
    Outer(SupervisorExit),
}

/// What the outer process saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SupervisorExit {
    /// The inner one ended in its own way.
    Ended(u8),
    /// It was killed, or stopped again and again, and what it supervised had to be ended.
    Killed(EndedProcesses),
}

/// The process above, as seen from the inner one.
#[derive(Debug)]
pub struct SupervisorLink {
    process: Option<OwnedFd>,
}

impl SupervisorLink {
    /// Whether it has ended.
    pub fn is_gone(&self) -> bool {
        let Some(process) = &self.process else { return true };
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&now)).is_ok_and(|count| count > 0)
    }
}

fn wait_above(
    inner: Pid,
    terminal: Option<&Terminal>,
    signals: &Signals,
) -> Result<SupervisorExit, SuperviseError> {
    let mut heartbeat = Heartbeat::start()?;
    let mut stops = 0;
    let mut looked = Instant::now();
    loop {
        heartbeat.beat();
        if looked.elapsed() >= LOOKING {
            looked = Instant::now();
            // Only who has rights over the machine can do that. A user who traces both of us is not meant.
            if ![None, heartbeat::tracer_of(rustix::process::getpid())].contains(&heartbeat::tracer_of(inner))
            {
                let _ = rustix::process::kill_process(inner, Signal::KILL);
            }
        }
        // Who signals a process by its number means all of us; what is typed reaches the inner one by itself, and twice is like once.
        if let Some(signal) = signals.asked() {
            let _ =
                rustix::process::kill_process(inner, Signal::from_named_raw(signal).unwrap_or(Signal::TERM));
        }
        match rustix::process::waitpid(Some(inner), WaitOptions::NOHANG | WaitOptions::UNTRACED) {
            // Stopped by somebody who is not at the keyboard.
            Ok(Some((_, status))) if status.stopping_signal() == Some(Signal::STOP.as_raw()) => {
                stops += 1;
                let answer = if stops > STOPS { Signal::KILL } else { Signal::CONT };
                let _ = rustix::process::kill_process(inner, answer);
            }
            Ok(Some((_, status))) if status.stopped() => {}
            Ok(Some((_, status))) => {
                if let Some(status) = status.exit_status() {
                    return Ok(SupervisorExit::Ended(u8::try_from(status).unwrap_or(1)));
                }
                let ended = process_tree::end_all(PATIENCE);
                if let Some(terminal) = terminal {
                    terminal.restore();
                }
                return Ok(SupervisorExit::Killed(ended));
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(SuperviseError::restriction("waiting")(error)),
        }
    }
}

/// Who is stopped more often than that is not left to supervise anything (ours): no user does that.
const STOPS: u32 = 20;

/// How often the outer process looks whether somebody traces the inner one.
const LOOKING: Duration = Duration::from_millis(500);

/// Runs an agent to its end. What it is heard doing is told to `speaker`. `count` adds what is known of its work beside its words; `judge` is
/// asked at every beat whether it has to stop for a reason that the switches do not know; `watch` sees the moments.
pub fn supervise(
    agent: &Agent,
    above: &SupervisorLink,
    signals: &Signals,
    speaker: Option<EventSender>,
    mut count: impl FnMut(&mut RunProgress, Life),
    mut judge: impl FnMut(&RunProgress) -> Option<Stop>,
    mut watch: impl FnMut(&ProgressReport),
) -> Result<RunOutcome, SuperviseError> {
    let started = Instant::now();
    let listener = Arc::new(Mutex::new(
        StreamParser::new(agent.prices.clone()).assuming(agent.model.clone()).telling(speaker),
    ));
    let pulse = Pulse::new(started);
    let Switches { memory, tasks, .. } = agent.switches;
    let bounds = GroupLimits { memory, tasks: tasks.map(|most| most.saturating_add(SPARE)) };
    let control_group = ControlGroup::create(bounds);
    let files = MemoryFiles::of_now();
    let segments = Arc::new(Mutex::new(SharedSegments::of_now()));
    let begun = || {
        let running = start(agent, &listener, &pulse, control_group.as_ref())?;
        let beating = Beating::start().map_err(SuperviseError::after_start)?;
        let sampling = Sampling::start(sampling::Limits { memory, tasks }, files, Arc::clone(&segments))
            .map_err(SuperviseError::after_start)?;
        Ok((running, beating, sampling))
    };
    // Where an agent uses up what we need ourselves, it has begun, and nobody would look after it.
    let (mut running, beating, sampling) = begun().inspect_err(|_: &SuperviseError| {
        if let Some(group) = &control_group {
            group.end_all();
        }
        process_tree::end_all(PATIENCE);
    })?;
    let mut usage = None;
    let mut status = None;
    let mut stop = None;
    let mut remains = Remains::Gone;
    let mut ignored = 0;
    while status.is_none() && stop.is_none() {
        // What ends faster than it is taken away is not waited for.
        match remains {
            Remains::Gone => running.held.wait(BEAT),
            Remains::Left => {}
        }
        (status, remains) = running.held.ended();
        usage = sampling.latest();
        if let Some(terminal) = &running.terminal
            && window_changed()
        {
            terminal.take_size();
        }
        // An agent that takes the interrupt decides what it means; one that does not is ended with the second one.
        let presses = running.terminal.as_ref().map_or(0, Terminal::interrupted);
        if presses > 0 && running.held.ignores_interrupts() {
            ignored += presses;
        }
        let mut progress = lock(&listener).progress().clone();
        count(&mut progress, Life::Running);
        let moment =
            ProgressReport { running: started.elapsed(), usage, progress, ignored_interrupts: ignored };
        watch(&moment);
        if status.is_none() {
            stop = above
                .is_gone()
                .then_some(Stop::Abandoned)
                .or_else(|| signals.taken().map(Stop::Signal))
                // The agent leads a session of its own, so what is typed to interrupt reaches only us.
                .or_else(|| signals.interrupted().map(Stop::Signal))
                .or_else(|| (ignored > 1).then_some(Stop::Signal(libc::SIGINT)))
                .or_else(|| judge(&moment.progress))
                .or_else(|| {
                    let clock = RunClock { running: moment.running, idle: pulse.silence() };
                    agent.switches.judge(&moment.progress, clock, usage)
                });
        }
    }
    let ran_out = control_group.as_ref().is_some_and(ControlGroup::ran_out_of_memory);
    if let (true, None, Some(limit)) = (ran_out, &stop, bounds.memory) {
        stop = Some(Stop::Memory(limit, limit));
    }
    let decided = stop.as_ref().map(|_| Instant::now());
    // What grows while it is asked is not asked, nor counted again.
    let there = if let Some(Stop::Tasks(there, _)) = stop {
        there
    } else {
        if stop.is_some() {
            status = ask_and_tell(&mut running.held);
        }
        process_tree::count_alive()
    };
    drop(sampling);
    // However they fork: the kernel ends all members at once, where it can.
    running.held.end();
    if let Some(group) = &control_group {
        group.end_all();
    }
    let EndedProcesses { count: killed, left } = process_tree::end_all(PATIENCE);
    if left == 0 {
        segments.lock().unwrap_or_else(PoisonError::into_inner).remove();
    }
    let ended = killed.max(there).saturating_sub(running.held.own());
    drop(control_group);
    let stopping = decided.map(|time| time.elapsed());
    let error_aside = running.finish(if stop.is_some() { Flush::Briefly } else { Flush::Whole });
    let mut progress = lock(&listener).progress().clone();
    progress.error_aside = error_aside;
    count(&mut progress, Life::Ended);
    // An agent that its hooks stopped ends by itself.
    let stop = stop
        .or_else(|| progress.hook_stop.clone().map(Stop::Hooks))
        .or_else(|| agent.switches.passed(&progress))
        .or_else(|| agent.switches.untold(&progress).filter(|_| status == Some(0)));
    let moment = ProgressReport { running: started.elapsed(), usage, progress, ignored_interrupts: ignored };
    watch(&moment);
    drop(beating);
    Ok(RunOutcome { status: status.unwrap_or(137), stop, stopping, ended, left, moment })
}

/// The ladder: asked as a user would at the keyboard, told, and what is left is ended by the caller.
fn ask_and_tell(held: &mut Held) -> Option<u8> {
    for (signal, patience) in [(Signal::INT, ASKED), (Signal::TERM, TOLD)] {
        if signal == Signal::TERM {
            process_tree::signal_all(signal);
        } else {
            held.signal(signal);
        }
        held.wait(patience);
        if let (Some(status), _) = held.ended() {
            return Some(status);
        }
    }
    None
}

fn lock(listener: &Mutex<StreamParser>) -> MutexGuard<'_, StreamParser> {
    listener.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long the last words of an agent that was stopped are waited for: who reads them may have stopped too.
const FLUSH: Duration = Duration::from_millis(200);

/// How much of what an agent wrote is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flush {
    /// All of it.
    Whole,
    /// What is passed on at once.
    Briefly,
}

/// An agent that runs.
struct Running {
    held: Held,
    copying: Option<thread::JoinHandle<()>>,
    /// Passes its error stream on; `None` where that goes to a terminal by itself.
    errors: Option<thread::JoinHandle<Option<ProviderError>>>,
    terminal: Option<Terminal>,
}

impl Running {
    /// Waits until what it wrote is passed on, and gives the terminal back. Returns the error of a provider that its error stream ended with.
    fn finish(self, flush: Flush) -> Option<ProviderError> {
        let deadline = Instant::now() + FLUSH;
        if let Some(copying) = self.copying {
            ended(copying, flush, deadline);
        }
        let error = self.errors.and_then(|errors| ended(errors, flush, deadline)).flatten();
        if let Some(terminal) = self.terminal {
            terminal.restore();
        }
        error
    }
}

/// What a thread that passes output on came to; `None` where it is not waited for any longer.
fn ended<T>(copying: thread::JoinHandle<T>, flush: Flush, deadline: Instant) -> Option<T> {
    while flush == Flush::Briefly && !copying.is_finished() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
    }
    (flush == Flush::Whole || copying.is_finished()).then(|| copying.join().ok()).flatten()
}

/// When something was last heard.
#[derive(Debug, Clone)]
struct Pulse {
    started: Instant,
    heard: Arc<AtomicU64>,
}

impl Pulse {
    fn new(started: Instant) -> Self {
        Self { started, heard: Arc::default() }
    }

    fn beat(&self) {
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.heard.store(now, Ordering::Relaxed);
    }

    fn silence(&self) -> Duration {
        self.started.elapsed().saturating_sub(Duration::from_millis(self.heard.load(Ordering::Relaxed)))
    }
}

fn start(
    agent: &Agent,
    listener: &Arc<Mutex<StreamParser>>,
    pulse: &Pulse,
    control_group: Option<&ControlGroup>,
) -> Result<Running, SuperviseError> {
    let mut command = Command::new(&agent.program);
    if let Some(environment) = &agent.environment {
        command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
    }
    command
        .args(&agent.arguments)
        .envs(agent.variables.iter().map(|(name, value)| (name, value)))
        .current_dir(&agent.directory);
    if let Some(most) = agent.switches.tasks {
        bound_tasks(&mut command, most.saturating_add(SPARE));
    }
    if let Some(entrance) = control_group.and_then(|group| group.entrance().try_clone_to_owned().ok()) {
        enter(&mut command, entrance);
    }
    match agent.interaction {
        Interaction::Pipes => {
            let (output, theirs) = io::pipe().map_err(SuperviseError::restriction("a pipe"))?;
            command.stdin(Stdio::inherit()).stdout(theirs);
            // What goes to a terminal stays one for the agent: colours and widths hang on that.
            let errors = if io::stderr().is_terminal() {
                command.stderr(Stdio::inherit());
                None
            } else {
                let (errors, theirs) = io::pipe().map_err(SuperviseError::restriction("a pipe"))?;
                command.stderr(theirs);
                Some(errors)
            };
            let held = begin(command, ProcessGroupMode::Own, agent.hold)?;
            let copying = copy(File::from(OwnedFd::from(output)), Some(Arc::clone(listener)), pulse.clone())
                .map_err(SuperviseError::after_start)?;
            let errors = errors
                .map(|errors| copy_errors(File::from(OwnedFd::from(errors))))
                .transpose()
                .map_err(SuperviseError::after_start)?;
            Ok(Running { held, copying: Some(copying), errors, terminal: None })
        }
        Interaction::Terminal => {
            let (terminal, inner) = Terminal::open()?;
            let clone =
                || inner.try_clone().map(Stdio::from).map_err(SuperviseError::restriction("a terminal"));
            command.stdin(clone()?).stdout(clone()?).stderr(clone()?);
            let begun = begin(command, ProcessGroupMode::Session, agent.hold);
            drop(inner);
            let held = begun.inspect_err(|_| terminal.restore())?;
            let listener = match agent.terminal_output {
                TerminalOutput::Stream => Some(Arc::clone(listener)),
                TerminalOutput::Screen => None,
            };
            let passing = || {
                let copying = copy(terminal.output()?, listener, pulse.clone())?;
                terminal.pass_input_on()?;
                Ok(copying)
            };
            let copying = passing().map_err(|error: SuperviseError| {
                terminal.restore();
                error.after_start()
            })?;
            Ok(Running { held, copying: Some(copying), errors: None, terminal: Some(terminal) })
        }
    }
}

/// Passes the error stream on, and looks through it.
fn copy_errors(mut from: File) -> Result<thread::JoinHandle<Option<ProviderError>>, SuperviseError> {
    let copying = thread::Builder::new().name("errors".to_owned()).spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        let mut stream = ErrorStream::default();
        let mut output = File::from(rustix::io::dup(rustix::stdio::stderr()).ok()?);
        loop {
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    let bytes = buffer.get(..count).unwrap_or_default();
                    if output.write_all(bytes).is_err() {
                        break;
                    }
                    stream.hear(bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        stream.error()
    });
    copying.map_err(SuperviseError::restriction("what passes errors on"))
}

/// Passes everything on, first on and then listened to. When nobody reads any more the agent learns it as it would without us.
fn copy(
    mut from: File,
    listener: Option<Arc<Mutex<StreamParser>>>,
    pulse: Pulse,
) -> Result<thread::JoinHandle<()>, SuperviseError> {
    let copying = thread::Builder::new().name("output".to_owned()).spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        let mut output = File::from(match rustix::io::dup(rustix::stdio::stdout()) {
            Ok(output) => output,
            Err(_) => return,
        });
        loop {
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    let bytes = buffer.get(..count).unwrap_or_default();
                    pulse.beat();
                    if output.write_all(bytes).is_err() {
                        break;
                    }
                    if let Some(listener) = &listener {
                        lock(listener).hear(bytes);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The other end of a terminal that is gone says so with an error.
                Err(_) => break,
            }
        }
        if let Some(listener) = &listener {
            lock(listener).finish();
        }
    });
    copying.map_err(SuperviseError::restriction("what passes output on"))
}
