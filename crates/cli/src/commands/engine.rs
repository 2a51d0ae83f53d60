//! `checkrein engine`: a process that stays and answers hooks from memory.

use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::panic;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Sender};
use std::thread;

use checkrein_engine::Context;
use checkrein_engine::config_files;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::resident::socket;
use checkrein_hook::ResidentEngine;
use checkrein_world::find_workspace;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

use super::{ExitStatus, OutputForm, for_no_agent};
use crate::api;
use crate::api::installation::EngineAnswering;
use crate::terminal::{log, print, print_exact};

/// How long the process goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineLife {
    /// Until it is asked to end.
    UntilAsked,
    /// Also until its standard input ends: with whoever started it.
    WithStarter,
}

/// Answers hooks until the process is asked to end. A service may start it, an agent may not.
pub fn engine(
    environment: &HostEnvironment,
    life: EngineLife,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_no_agent(environment, "engine")?;
    if !is_wanted(environment) {
        let workspace = find_workspace(&environment.cwd);
        let is_set =
            config_files::load(environment, &workspace).is_ok_and(|loaded| loaded.config.engine.resident);
        return Err(if is_set {
            CommandError::user(
                format!(
                    "`engine.resident` does not count here: your configuration lies within `{workspace}`, which counts as the project"
                ),
                "start it in another directory, such as your home directory",
            )
        } else {
            CommandError::user(
                "`engine.resident` is not set, so hooks decide by themselves",
                "set `engine.resident: true` in your own configuration",
            )
        });
    }
    // As in the hook: a message would quote what is judged, and a record that cannot be written must be an error.
    panic::set_hook(Box::new(|_| {}));
    checkrein_sandbox::ignore_file_size_signal();
    let failed =
        |error: std::io::Error| CommandError::file("answer hooks at", socket(environment).display(), &error);
    let (mut asked, asking) = UnixStream::pair().map_err(failed)?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let asking = asking.try_clone().map_err(failed)?;
        pipe::register(signal, asking).map_err(failed)?;
    }
    let resident = ResidentEngine::begin(environment).map_err(failed)?;
    let place = resident.socket().display().to_string();
    match output {
        OutputForm::Json => {
            print_exact(&api::line(&EngineAnswering { socket: place, process: std::process::id() })?);
        }
        OutputForm::Text => {
            print(&format!("answering hooks at {place}"));
            log("Ctrl-C ends it; hooks then decide by themselves");
        }
    }
    let (over, ended) = mpsc::channel();
    if life == EngineLife::WithStarter {
        let over = over.clone();
        aside(move || {
            drop(std::io::stdin().lock().read_to_end(&mut Vec::new()));
            end(&over);
        })
        .map_err(failed)?;
    }
    aside(move || {
        drop(asked.read_exact(&mut [0]));
        end(&over);
    })
    .map_err(failed)?;
    let _over = ended.recv();
    drop(resident);
    Ok(ExitStatus::Done)
}

fn aside(work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    thread::Builder::new().spawn(work).map(drop)
}

fn end(over: &Sender<()>) {
    // Who waits for it may have gone.
    let _ = over.send(());
}

/// Whether the user has it in their configuration.
fn is_wanted(environment: &HostEnvironment) -> bool {
    Context::open(environment.clone(), &environment.cwd).policy().config().engine.resident
}

/// A process that answers hooks as long as this is kept.
#[derive(Debug)]
pub(super) struct EngineProcess(Child);

impl Drop for EngineProcess {
    fn drop(&mut self) {
        // It ends with its input.
        drop(self.0.stdin.take());
        drop(self.0.wait());
    }
}

/// Starts one beside the server, where it is wanted. Its locks must not be those of the server, so it is a process of its own. Where one answers
/// already, this one ends at once.
pub(super) fn beside_server(environment: &HostEnvironment) -> Option<EngineProcess> {
    if !is_wanted(environment) {
        return None;
    }
    let program = environment.program.as_deref()?;
    let started = Command::new(program)
        .args(["engine", "--with-starter"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        Ok(child) => Some(EngineProcess(child)),
        Err(error) => {
            log(&format!("hooks decide by themselves: `checkrein engine` was not started: {error}"));
            None
        }
    }
}
