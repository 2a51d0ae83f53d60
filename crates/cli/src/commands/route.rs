//! `checkrein route`: runs tests and says what kind of failure it was and what to do next.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use checkrein_ledger::content_hash;
use checkrein_sandbox::{SuperviseError, adopt_orphans, end_all};
use checkrein_supervise::{Next, Phase, Route, TestFailureKind, TestRunner};

use super::exec::{NOT_RUNNABLE, NOT_THERE, still_there};
use super::{ExitStatus, OutputForm, line};
use crate::api;
use crate::terminal::{answer_aside, log, plain};
use checkrein_engine::config_files::write_private;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;

/// How much of the output is kept to be looked at: sums stand at the end.
const KEPT: usize = 256 << 10;

/// How tests are run and judged.
#[derive(Debug)]
pub struct RouteOptions {
    /// Who runs them.
    pub runner: TestRunner,
    /// What is expected of them.
    pub phase: Phase,
    /// Time by the clock.
    pub time: Option<Duration>,
    /// The file that remembers the run before; one of ours when `None`.
    pub remember: Option<String>,
    /// The command and its arguments; not empty.
    pub command: Vec<OsString>,
}

/// Runs the tests; what they write is passed on. The exit status is theirs, 124 when they took too long, 127 when the program is not there,
/// 126 when it cannot be started.
pub fn route(
    environment: &HostEnvironment,
    wanted: &RouteOptions,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let RouteOptions { runner, phase, time, remember, command } = wanted;
    // Strikes are counted for the same command in the same place, or where the script says.
    let name = format!("{} {command:?}", environment.cwd);
    let own = || environment.state_path.join("routes").join(&content_hash(name.as_bytes()));
    let place = remember.as_ref().map_or_else(own, |file| environment.cwd.join(file));
    let before = checkrein_files::read(place.as_str(), checkrein_files::SMALL)
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Route>(&bytes).ok());
    adopt_orphans()?;
    let (status, text) = match run(command, *time) {
        Ok(ended) => ended,
        Err(Started::Not { program, error }) => {
            let error = SuperviseError::starting(program, error);
            log(&format!("checkrein: {}", plain(&error.to_string())));
            log(&format!("hint: {}", error.hint()));
            return Ok(ExitStatus::Passed(match error {
                SuperviseError::NotFound { .. } => NOT_THERE,
                _ => NOT_RUNNABLE,
            }));
        }
        Err(Started::Failed(error)) => return Err(error),
    };
    let ended = end_all(Duration::from_secs(5));
    if ended.left > 0 {
        log(&format!("checkrein: {}", still_there(ended.left)));
    }
    let route = Route::of(*runner, *phase, status, &text, before.as_ref());
    let bytes = line(&route)?;
    write_private(&place, bytes.as_bytes())?;
    match output {
        OutputForm::Json => {
            let (route, advice) = (told(&route)?, route.advice().to_string());
            answer_aside(&api::line(&api::programs::TestRoute { route, advice, status })?);
        }
        OutputForm::Text if route.failure == TestFailureKind::None && route.next == Next::GoOn => {}
        OutputForm::Text => log(&format!("checkrein: {}", route.advice())),
    }
    Ok(ExitStatus::Passed(status.unwrap_or(124)))
}

/// What is told of a route: what it remembers of the lines of an output means nothing to others.
fn told(route: &Route) -> Result<serde_json::Value, CommandError> {
    let mut told = serde_json::to_value(route).map_err(io::Error::from)?;
    if let Some(fields) = told.as_object_mut() {
        fields.remove("lines");
    }
    Ok(told)
}

/// Why there is no end of a command.
enum Started {
    /// It could not be started.
    Not { program: String, error: io::Error },
    /// Something else went wrong.
    Failed(CommandError),
}

impl From<io::Error> for Started {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// The status, `None` when time ran out, and the end of what was written.
fn run(command: &[OsString], time: Option<Duration>) -> Result<(Option<u8>, String), Started> {
    let [program, arguments @ ..] = command else {
        return Err(Started::Failed(CommandError::user(
            "no command to run",
            "`checkrein route --runner pytest -- pytest -q`",
        )));
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Started::Not { program: program.to_string_lossy().into_owned(), error })?;
    let (sender, lines) = mpsc::channel();
    let copies = [
        child.stdout.take().map(|from| copy(from, io::stdout(), sender.clone())),
        child.stderr.take().map(|from| copy(from, io::stderr(), sender)),
    ];
    let deadline = time.map(|time| Instant::now() + time);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if deadline.is_some_and(|end| Instant::now() >= end) {
            child.kill()?;
            child.wait()?;
            break None;
        }
        thread::sleep(Duration::from_millis(10));
    };
    // What the tests left behind may hold the pipes open for ever; after the end of the tests a moment is enough.
    let patience = Instant::now() + Duration::from_secs(1);
    while copies.iter().flatten().any(|copy| !copy.is_finished()) && Instant::now() < patience {
        thread::sleep(Duration::from_millis(5));
    }
    let mut kept = Vec::new();
    for part in lines.try_iter() {
        kept.extend(part);
        let more = kept.len().saturating_sub(KEPT);
        kept.drain(..more);
    }
    let status = status.map(|status| {
        use std::os::unix::process::ExitStatusExt as _;
        let number = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
        u8::try_from(number).unwrap_or(1)
    });
    Ok((status, String::from_utf8_lossy(&kept).into_owned()))
}

fn copy(
    mut from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
    kept: mpsc::Sender<Vec<u8>>,
) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut buffer = vec![0; 16 << 10];
        while let Ok(count) = from.read(&mut buffer) {
            let part = buffer.get(..count).unwrap_or_default();
            if count == 0 {
                return;
            }
            drop(to.write_all(part).and_then(|()| to.flush()));
            drop(kept.send(part.to_vec()));
        }
    })
}
