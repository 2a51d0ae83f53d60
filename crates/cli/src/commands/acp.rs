//! `checkrein acp`: stands between an editor and an agent that speak the Agent Client Protocol, and has each call reviewed.
//!
//! What is done with the messages is in [`checkrein_proxies`]; here is the agent as a process. Two processes of ours stand above it, as
//! above an agent of `run`, so that `kill -9` of either leaves nothing of it running.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::panic;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_proxies::{Ends, EngineJudge, Proxy};
use checkrein_sandbox::orphan_control::{Held, Hold, ProcessGroupMode, begin};
use checkrein_sandbox::process_tree::{end_all, let_end};
use checkrein_sandbox::{Signals, SuperviseError};
use checkrein_supervise::{SupervisorExit, SupervisorLink, SupervisorSide, stand_above};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use super::exec::{NOT_RUNNABLE, NOT_THERE, still_there};
use super::{ExitStatus, OutputForm};
use crate::api;
use crate::terminal::{answer_aside, log};

/// The command line in our words.
#[derive(Debug)]
pub struct AcpOptions {
    /// Whether the agent runs in a sandbox.
    pub containment: AgentConfinement,
    /// The agent and its arguments; not empty.
    pub agent: Vec<OsString>,
}

/// Whether the agent runs in a sandbox.
#[derive(Debug)]
pub enum AgentConfinement {
    /// It runs as it is.
    None,
    /// By `checkrein exec`.
    Exec {
        /// What it may change; the working directory when empty.
        write: Vec<PathBuf>,
        /// Whom it may talk to.
        network: Vec<String>,
    },
}

/// Nothing was run, because something is wrong with us.
const NOTHING_RUN: u8 = 125;

/// The status when all of ours or the agent was killed.
const KILLED: u8 = 137;

/// How often the agent, signals and halts are looked at.
const BEAT: Duration = Duration::from_millis(50);

/// How long an agent may take to end when it was told to, or when its editor is gone (ours).
const PATIENCE: Duration = Duration::from_secs(5);

/// How long what the agent left behind may take to end by itself (ours): notices that are being sent are among it.
const LEFT: Duration = Duration::from_millis(300);

/// How long its last words may take to reach the editor (ours).
const LAST_WORDS: Duration = Duration::from_secs(30);

/// Runs an agent behind the proxy; the exit status is its own, so nothing here fails in another way than by a status. To be called while
/// there is one thread.
pub fn acp(wanted: AcpOptions, output: OutputForm) -> ExitStatus {
    ExitStatus::Passed(run(wanted).unwrap_or_else(|error| {
        let status = match error {
            Failed::Agent(SuperviseError::NotFound { .. }) => NOT_THERE,
            Failed::Agent(SuperviseError::NotRun { .. }) => NOT_RUNNABLE,
            Failed::Agent(_) | Failed::Own(_) => NOTHING_RUN,
        };
        let error: CommandError = match error {
            Failed::Agent(error) => error.into(),
            Failed::Own(error) => error,
        };
        match output {
            OutputForm::Json => answer_aside(&api::ErrorAnswer::of(&error, status).line()),
            OutputForm::Text => {
                log(&format!("checkrein: {}", error.message));
                if let Some(hint) = &error.hint {
                    log(&format!("hint: {hint}"));
                }
            }
        }
        status
    }))
}

/// Why there is no agent.
enum Failed {
    /// It could not be started.
    Agent(SuperviseError),
    /// Something of ours failed.
    Own(CommandError),
}

impl From<SuperviseError> for Failed {
    fn from(error: SuperviseError) -> Self {
        Self::Agent(error)
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Own(error.into())
    }
}

impl From<CommandError> for Failed {
    fn from(error: CommandError) -> Self {
        Self::Own(error)
    }
}

fn run(wanted: AcpOptions) -> Result<u8, Failed> {
    let environment = HostEnvironment::of_process()?;
    let signals = Signals::remembered()?;
    let above = match stand_above(&signals)? {
        SupervisorSide::Inner(above) => above,
        SupervisorSide::Outer(SupervisorExit::Ended(status)) => return Ok(status),
        SupervisorSide::Outer(SupervisorExit::Killed(ended)) => {
            let left = if ended.left == 0 { String::new() } else { format!("; {}", still_there(ended.left)) };
            log(&format!(
                "checkrein: the proxy was killed; {} processes of the agent are ended{left}",
                ended.count
            ));
            return Ok(KILLED);
        }
    };
    // A panic message would go to the editor's log with whatever it quotes.
    panic::set_hook(Box::new(|_| {}));
    checkrein_sandbox::ignore_file_size_signal();
    let (of_agent, to_agent) = io::pipe()?;
    let (from_agent, by_agent) = io::pipe()?;
    let mut command = command(wanted)?;
    command.stdin(of_agent).stdout(by_agent).stderr(Stdio::inherit());
    let held = begin(command, ProcessGroupMode::Own, Hold::Processes)?;
    let ends = Ends {
        from_editor: Box::new(File::from(rustix::io::dup(rustix::stdio::stdin()).map_err(io::Error::from)?)),
        to_editor: Box::new(File::from(rustix::io::dup(rustix::stdio::stdout()).map_err(io::Error::from)?)),
        from_agent: Box::new(from_agent),
        to_agent: Box::new(to_agent),
    };
    let cwd = environment.cwd.clone();
    let judge = Arc::new(EngineJudge::new(environment));
    let proxy = Proxy::start(ends, judge, cwd, Arc::new(log)).inspect_err(|_| {
        end_all(PATIENCE);
    })?;
    let status = attend(held, &proxy, &above, &signals);
    let_end(LEFT);
    let ended = end_all(PATIENCE);
    if ended.left > 0 {
        log(&format!("checkrein: {}", still_there(ended.left)));
    }
    let patience = Instant::now() + LAST_WORDS;
    while !proxy.is_silent() && !is_gone(&proxy) && !above.is_gone() && Instant::now() < patience {
        thread::sleep(Duration::from_millis(2));
    }
    proxy.finish();
    Ok(status)
}

/// The agent as a command, within bounds where that is wanted.
fn command(wanted: AcpOptions) -> Result<Command, CommandError> {
    let AcpOptions { containment, agent } = wanted;
    let mut words = agent.into_iter();
    let program = words.next().unwrap_or_default();
    let command = match containment {
        AgentConfinement::None => {
            let mut command = Command::new(program);
            command.args(words);
            command
        }
        AgentConfinement::Exec { write, network } => {
            let mut command = Command::new(env::current_exe()?);
            command.arg("exec");
            let own = env::current_dir()?;
            let write = if write.is_empty() { vec![own] } else { write };
            for path in write {
                command.arg("--write").arg(path);
            }
            for who in network {
                command.arg("--net").arg(who);
            }
            command.arg("--").arg(program).args(words);
            command
        }
    };
    Ok(command)
}

/// Stays with the agent until it has ended, or has to; its exit status.
fn attend(mut held: Held, proxy: &Proxy, above: &SupervisorLink, signals: &Signals) -> u8 {
    let mut end_by: Option<Instant> = None;
    loop {
        held.wait(BEAT);
        if let (Some(status), _) = held.ended() {
            return status;
        }
        proxy.end_halted();
        if let Some(signal) = signals.asked() {
            held.signal(Signal::from_named_raw(signal).unwrap_or(Signal::TERM));
            if [Signal::TERM.as_raw(), Signal::HUP.as_raw()].contains(&signal) {
                end_by.get_or_insert_with(|| Instant::now() + PATIENCE);
            }
        }
        if end_by.is_none() && is_gone(proxy) {
            // Nobody hears it any more: it is told as a user would be at the end of their day.
            held.signal(Signal::TERM);
            end_by = Some(Instant::now() + PATIENCE);
        }
        if above.is_gone() || end_by.is_some_and(|time| Instant::now() >= time) {
            return KILLED;
        }
    }
}

/// Whether nobody reads what we write.
fn is_gone(proxy: &Proxy) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let output = rustix::stdio::stdout();
    let mut looked = [PollFd::new(&output, PollFlags::empty())];
    let is_closed = poll(&mut looked, Some(&now)).is_ok_and(|count| count > 0)
        && looked.iter().any(|one| one.revents().intersects(PollFlags::ERR | PollFlags::NVAL));
    proxy.editor_is_gone() || is_closed
}
