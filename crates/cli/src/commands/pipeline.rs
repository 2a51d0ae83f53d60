//! `checkrein pipeline`: agents, commands, gates, reviews and questions in the order of a file.
//!
//! | module | holds |
//! |---|---|
//! | `plan` | what a file would do, without doing it |
//! | `run` | running one, or going on with one |
//! | `begin` | what a pipeline needs before its first step |
//! | `act` | what a step does, as processes |
//! | `outcome` | what the output of a command, or the report of a gate, comes to |
//! | `approve` | questions to a user |
//! | `prompt` | what an agent is told, and which files it may change |
//! | `review` | reviews by other models |
//! | `asking` | asking reviewers, one after the other |
//! | `publish` | the pull request at the end |
//! | `judged` | what gates and reviewers judged, so that nothing else is published |
//! | `forge` | the pull request by the API of a forge |
//! | `confirm` | what is kept of a run against what was recorded of it |
//! | `changes` | what a task changed, for a reviewer |
//! | `process` | one process of a step |
//! | `attend` | what stands above a command of a step |
//! | `store` | what is kept of runs |
//! | `report` | what is told of a run |

#[cfg(target_os = "linux")]
mod act;
#[cfg(target_os = "linux")]
mod approve;
#[cfg(target_os = "linux")]
pub mod asking;
#[cfg(target_os = "linux")]
pub mod attend;
#[cfg(target_os = "linux")]
mod begin;
#[cfg(target_os = "linux")]
mod changes;
#[cfg(target_os = "linux")]
mod confirm;
#[cfg(target_os = "linux")]
mod forge;
#[cfg(target_os = "linux")]
mod judged;
#[cfg(target_os = "linux")]
mod outcome;
mod plan;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod prompt;
#[cfg(target_os = "linux")]
mod publish;
mod report;
#[cfg(target_os = "linux")]
mod review;
#[cfg(target_os = "linux")]
mod run;
mod store;

#[cfg(target_os = "linux")]
use std::path::{Path, PathBuf};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::{CommandError, ErrorKind};
use checkrein_pipelines::{PipelineFile, SHIPPED_TASK, SHIPPED_TASK_NAME};
use checkrein_policy::{ConfigErrors, LayerKind};
use checkrein_supervise::runs::RunId;

use super::history::PastWork;
use super::name_choice::NamedKind;
use super::{ExitStatus, OutputForm};
use crate::api;
use crate::api::pipelines::VerifiedPipeline;
use crate::terminal::{counted, cut, plain, print, print_exact, table};
#[cfg(target_os = "linux")]
use store::FoundPipeline;
use store::PipelineStore;

pub use plan::{check, dry_run, graph};

/// The longest file of a pipeline, and the longest file that a step makes or is shown, in bytes (ours).
const LONGEST_FILE: u64 = 256 << 10;
const LONGEST_OUTPUT: u64 = 4 << 20;

/// What asks models over HTTP.
const CURL: &str = "curl";

/// What is asked of `pipeline run`.
#[derive(Debug, Clone, Default)]
pub struct PipelineRequest {
    /// The file; the shipped pipeline of a task where there is none.
    pub file: Option<String>,
    /// What it is given.
    pub inputs: Vec<(String, String)>,
    /// The task; the name of the pipeline where nobody says.
    pub task: Option<String>,
    /// Whether a run of the task that is not done is sealed as it is.
    pub anew: bool,
    /// The run that is gone on with, by the beginning of its name; the only one that can where that is empty.
    pub resume: Option<String>,
    /// The step with which it begins again.
    pub resume_from: Option<String>,
}

/// The text of a pipeline file, and whose it is.
#[derive(Debug, Clone)]
pub struct PipelineText {
    /// The file, as messages should name it.
    pub(crate) name: String,
    /// Its text.
    pub(crate) text: String,
    /// Whether it is the user's own: only then may it loosen.
    pub(crate) is_own: bool,
}

impl PipelineRequest {
    /// Reads the file.
    fn text(&self, environment: &HostEnvironment) -> Result<PipelineText, CommandError> {
        match &self.file {
            Some(file) => PipelineText::read(environment, file),
            None => Ok(PipelineText {
                name: SHIPPED_TASK_NAME.to_owned(),
                text: SHIPPED_TASK.to_owned(),
                is_own: false,
            }),
        }
    }
}

impl PipelineText {
    /// Reads a file. It is the user's own where it lies among their configuration, which agents do not write; all others come with a
    /// project, or may have.
    pub(super) fn read(environment: &HostEnvironment, file: &str) -> Result<Self, CommandError> {
        let path = environment.cwd.join(file);
        let text = checkrein_files::read_text(path.as_str(), LONGEST_FILE)
            .map_err(|error| CommandError::file("read", &path, &error))?;
        let real = |path: &str| std::fs::canonicalize(path).ok();
        let is_own = real(path.as_str())
            .zip(real(environment.configuration.join("pipelines").as_str()))
            .is_some_and(|(path, folder)| path.starts_with(folder));
        Ok(Self { name: path.to_string(), text, is_own })
    }

    pub(super) fn parse(&self) -> Result<PipelineFile, CommandError> {
        let layer = if self.is_own { LayerKind::Flags } else { LayerKind::Project };
        PipelineFile::parse(&self.name, &self.text, layer).map_err(|errors| invalid(&errors))
    }
}

/// Runs a pipeline, or goes on with one.
#[cfg(target_os = "linux")]
pub fn run(
    environment: &HostEnvironment,
    wanted: &PipelineRequest,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    run::run(environment, wanted, output)
}

/// Runs a pipeline, or goes on with one.
#[cfg(not(target_os = "linux"))]
pub fn run(_: &HostEnvironment, _: &PipelineRequest, _: OutputForm) -> Result<ExitStatus, CommandError> {
    Err(super::elsewhere::needs_linux("pipeline run"))
}

/// Lists the runs, the newest last.
pub fn list(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let store = PipelineStore::new(&environment.state);
    let all = store.all()?;
    if output == OutputForm::Text && all.is_empty() {
        print("no pipeline ran yet");
        return Ok(ExitStatus::Done);
    }
    let mut rows = Vec::new();
    let mut exit = ExitStatus::Done;
    for found in all {
        match (found.state, output) {
            (Ok(state), OutputForm::Json) => print_exact(&api::line(&report::answer(&store, &state, None))?),
            (Ok(state), OutputForm::Text) => rows.push(vec![
                found.id.to_string(),
                plain(&state.pipeline),
                plain(&state.task),
                state.end.map_or("not done", |end| end.name()).replace('_', " "),
                if found.is_done { "sealed".to_owned() } else { String::new() },
            ]),
            (Err(error), _) => {
                exit = ExitStatus::Failed;
                crate::terminal::log(&format!("{}: {}", found.id, plain(&error.message)));
            }
        }
    }
    if output == OutputForm::Text {
        print(&table(&["run", "pipeline", "task", "end", ""], rows));
    }
    Ok(exit)
}

/// All runs that can be read, each with what else is said of it.
pub(super) fn past_work(environment: &HostEnvironment) -> Result<Vec<(PastWork, String)>, CommandError> {
    let all = PipelineStore::new(&environment.state).all()?;
    Ok(all.into_iter().filter_map(|found| found.state.ok()).map(|state| report::past_work(&state)).collect())
}

/// Shows one run.
pub fn show(
    environment: &HostEnvironment,
    run: &str,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let store = PipelineStore::new(&environment.state);
    let id = named(&store, run)?;
    let state = store.load(&id)?;
    let seal = store.differences(&id).ok().map(|(seal, _)| seal).filter(|seal| !seal.is_empty());
    report::tell(&store, &state, seal, output)?;
    Ok(ExitStatus::Done)
}

/// Compares what is done with what was sealed.
pub fn verify(environment: &HostEnvironment, output: OutputForm) -> Result<ExitStatus, CommandError> {
    let store = PipelineStore::new(&environment.state);
    let mut exit = ExitStatus::Done;
    let mut tell = |run: String, seal: String, differences: Vec<String>| {
        if !differences.is_empty() {
            exit = ExitStatus::Failed;
        }
        match output {
            OutputForm::Json => {
                let intact = differences.is_empty();
                print_exact(&api::line(&VerifiedPipeline { run, seal, intact, differences })?);
            }
            OutputForm::Text if differences.is_empty() => {}
            OutputForm::Text => print(&format!("{run}: {}", cut(&plain(&differences.join(", ")), 300))),
        }
        Ok::<(), CommandError>(())
    };
    let all = store.verified()?;
    let count = all.len() as u64;
    for (run, seal, differences) in all {
        tell(run, seal, differences)?;
    }
    let wrong = store.wrong_records()?;
    if !wrong.is_empty() {
        tell("(records)".to_owned(), String::new(), wrong)?;
    }
    if output == OutputForm::Text {
        let state = if exit == ExitStatus::Done { "intact" } else { "not all intact" };
        print(&format!("{}: {state}", counted(count, "pipeline")));
    }
    Ok(exit)
}

/// The run whose name begins so.
fn named(store: &PipelineStore, run: &str) -> Result<RunId, CommandError> {
    let all = store.all()?;
    let names: Vec<&str> = all.iter().map(|found| found.id.as_str()).collect();
    Ok(NamedKind::Pipeline.newest_or_only(run, names)?.parse()?)
}

/// The run that is gone on with: of this name, or the only one of this workspace and task that is not done.
#[cfg(target_os = "linux")]
fn find(
    store: &PipelineStore,
    environment: &HostEnvironment,
    run: &str,
    task: Option<&str>,
) -> Result<RunId, CommandError> {
    if !run.is_empty() {
        return named(store, run);
    }
    let workspace = super::worktree::workspace(environment)?;
    let mut open = store.all()?;
    open.retain(|found| {
        let state = found.state.as_ref();
        let is_meant = state
            .is_ok_and(|state| state.workspace == workspace && task.is_none_or(|task| state.task == task));
        !found.is_done && is_meant
    });
    match open.as_slice() {
        [] => Err(CommandError::user(
            "no pipeline of this workspace can go on",
            "`checkrein pipeline list` lists all of them",
        )),
        [found] => Ok(found.id.clone()),
        many => {
            let tell = |found: &FoundPipeline| {
                let task = found.state.as_ref().map_or("", |state| state.task.as_str());
                format!("{} (task `{}`)", found.id, plain(task))
            };
            let names = many.iter().map(tell).collect::<Vec<_>>().join(", ");
            Err(CommandError::user(
                format!("several pipelines of this workspace can go on: {names}"),
                "name the one: `checkrein pipeline run --resume RUN`, or its task with `--task`",
            ))
        }
    }
}

/// The file that everything locks that a step started, as long as it lives.
#[cfg(target_os = "linux")]
fn hold_file(folder_of_run: &Path) -> PathBuf {
    folder_of_run.join("hold")
}

/// Where the artifacts of an attempt of a step are, below the folder of the run.
#[cfg(target_os = "linux")]
fn attempt_folder(place: usize, step: &str, attempt: usize) -> String {
    format!("artifacts/{:03}-{step}/{attempt}", place + 1)
}

/// A file below the directory of the steps; why it cannot be used, as the end of a sentence.
#[cfg(target_os = "linux")]
fn own_file(directory: &Path, path: &str) -> Result<Vec<u8>, String> {
    let missing = |_| "is not there".to_owned();
    let real = std::fs::canonicalize(directory.join(path)).map_err(missing)?;
    let root = std::fs::canonicalize(directory).map_err(missing)?;
    if !real.starts_with(root) {
        return Err("leads out of the directory of the steps".to_owned());
    }
    checkrein_files::read(&real, LONGEST_OUTPUT).map_err(|error| format!("cannot be read: {error}"))
}

/// What is wrong with a pipeline file, as a user reads it.
fn invalid(errors: &ConfigErrors) -> CommandError {
    CommandError {
        kind: ErrorKind::Configuration,
        message: format!("the pipeline has {}\n{errors}", counted(errors.errors.len() as u64, "error")),
        hint: Some("docs/pipelines.md describes the file".to_owned()),
        in_short: errors.in_short(),
    }
}
