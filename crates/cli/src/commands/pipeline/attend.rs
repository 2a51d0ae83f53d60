//! `checkrein pipeline attend`: stands above one command of a step, so that everything that it starts ends with it, and with the pipeline.
//!
//! What runs below is known as supervised: it answers no question and goes on with no pipeline.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use checkrein_engine::error::CommandError;
use checkrein_sandbox::orphan_control::{Held, ProcessGroupMode, begin};
use checkrein_sandbox::process_tree::let_end;
use checkrein_sandbox::{Hold, Signals, SuperviseError, end_all};
use checkrein_supervise::{SupervisorExit, SupervisorLink, SupervisorSide, stand_above};

use super::super::ExitStatus;
use super::super::exec::{NOT_RUNNABLE, NOT_THERE};
use crate::terminal::log;
use checkrein_sandbox::process_tree::count_alive;

/// How often it is looked at who lives.
const BEAT: Duration = Duration::from_millis(20);
/// How long a command has to end after it was asked to.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long is waited for what the command left behind to end by itself.
const LEFT: Duration = Duration::from_millis(50);
/// Nothing was run.
const NOTHING_RUN: u8 = 125;
/// Whoever supervised was killed.
const KILLED: u8 = 137;

/// A command of a step, and for whom it runs.
#[derive(Debug)]
pub struct AttendedCommand {
    /// The file that is locked as long as anything of the command lives.
    pub hold: PathBuf,
    /// The process that waits for it.
    pub parent: i32,
    /// The program and its arguments.
    pub words: Vec<OsString>,
}

/// Runs a command; its status is that of the command. To be called while there is one thread.
pub fn attend(wanted: &AttendedCommand) -> ExitStatus {
    let status = match supervised(wanted) {
        Ok(status) => status,
        Err(Failed::Command(error)) => {
            log(&format!("checkrein: {error}"));
            match error {
                SuperviseError::NotFound { .. } => NOT_THERE,
                _ => NOT_RUNNABLE,
            }
        }
        Err(Failed::Own(error)) => {
            log(&format!("checkrein: {error}"));
            NOTHING_RUN
        }
    };
    ExitStatus::Passed(status)
}

enum Failed {
    Command(SuperviseError),
    Own(CommandError),
}

impl From<SuperviseError> for Failed {
    fn from(error: SuperviseError) -> Self {
        Self::Own(error.into())
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Own(error.into())
    }
}

fn supervised(wanted: &AttendedCommand) -> Result<u8, Failed> {
    let [program, arguments @ ..] = wanted.words.as_slice() else {
        return Err(Failed::Own(CommandError::user("no command to run", "a pipeline gives it")));
    };
    // Both of our processes share it, and nothing that they start has it.
    let living =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&wanted.hold)?;
    living.lock_shared()?;
    // Whoever was killed before the kernel knew that we end with them does not wait for anything.
    if rustix::process::getppid().is_none_or(|parent| parent.as_raw_nonzero().get() != wanted.parent) {
        return Ok(KILLED);
    }
    let signals = Signals::remembered()?;
    let above = match stand_above(&signals)? {
        SupervisorSide::Inner(above) => above,
        SupervisorSide::Outer(SupervisorExit::Ended(status)) => return Ok(status),
        SupervisorSide::Outer(SupervisorExit::Killed(_)) => return Ok(KILLED),
    };
    let mut command = Command::new(program);
    command.args(arguments);
    let held = begin(command, ProcessGroupMode::Own, Hold::Processes).map_err(Failed::Command)?;
    let status = stay(held, &above, &signals);
    if count_alive() > 0 {
        let_end(LEFT);
    }
    end_all(PATIENCE);
    Ok(status)
}

/// Stays with the command until it has ended, or has to; its status.
fn stay(mut held: Held, above: &SupervisorLink, signals: &Signals) -> u8 {
    let mut end_by: Option<Instant> = None;
    loop {
        held.wait(BEAT);
        if let (Some(status), _) = held.ended() {
            return status;
        }
        if above.is_gone() {
            return KILLED;
        }
        if let Some(signal) = signals.asked() {
            held.signal(
                rustix::process::Signal::from_named_raw(signal).unwrap_or(rustix::process::Signal::TERM),
            );
            end_by.get_or_insert_with(|| Instant::now() + PATIENCE);
        }
        if end_by.is_some_and(|end| Instant::now() >= end) {
            return KILLED;
        }
    }
}
