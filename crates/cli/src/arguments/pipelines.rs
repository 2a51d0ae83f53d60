//! The command line of pipelines.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::commands::pipeline::PipelineRequest;
#[cfg(target_os = "linux")]
use crate::commands::pipeline::attend::AttendedCommand;

/// What to do with pipelines.
#[derive(Debug, Subcommand)]
pub(crate) enum PipelineCommand {
    /// Run the steps of a file, or continue a run (humans only)
    #[command(
        after_help = "Steps are commands, gates, agents under `checkrein run`, reviews by other models, and questions to you. They work in a worktree of the task. Everything that is known is written down after each step, so that `--resume` continues after a kill. One run at a time works on a task.\n\nExit status: 0 every step passed or was not wanted, 2 a step failed or was refused, 3 a loop was halted and you have to look, 4 a step did not run, 130 interrupted, 1 error.\n\nExamples:\n  checkrein pipeline run fix.yaml --input issue='the index is off by one'\n  checkrein pipeline run fix.yaml --dry-run\n  checkrein pipeline run --resume\n  checkrein pipeline run --resume 20261121 --resume-from tests"
    )]
    Run(PipelineRunArguments),
    /// Check a file and show what would run
    #[command(
        after_help = "Runs nothing. Commands are judged as those of agents are.\n\nExit status: 0 everything could run, 2 something would not, 1 error in the file.\n\nExample:\n  checkrein pipeline check fix.yaml"
    )]
    Check {
        /// Pipeline file
        file: String,
    },
    /// Draw which step waits for which, as a Mermaid graph
    #[command(after_help = "Example:\n  checkrein pipeline graph fix.yaml")]
    Graph {
        /// Pipeline file
        file: String,
    },
    /// List the runs and how they ended
    #[command(after_help = "Example:\n  checkrein pipeline list")]
    List,
    /// Show one run, step by step
    #[command(after_help = "Example:\n  checkrein pipeline show 20261121")]
    Show {
        /// Start of the name of the run, or LAST
        run: String,
    },
    /// Check that the sealed runs are unchanged
    #[command(
        after_help = "Exit status: 0 intact, 1 changed or damaged.\n\nExample:\n  checkrein pipeline verify"
    )]
    Verify,
    /// Stand above a command of a step (for pipelines)
    #[command(hide = true)]
    Attend(AttendArguments),
}

#[derive(Debug, Args)]
pub(crate) struct PipelineRunArguments {
    /// Pipeline file
    #[arg(required_unless_present_any = ["resume", "resume_from"], conflicts_with_all = ["resume", "resume_from"])]
    file: Option<String>,
    /// Value of an input of the pipeline; repeatable
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = input, conflicts_with_all = ["resume", "resume_from"])]
    inputs: Vec<(String, String)>,
    /// Name of the task and its worktree [default: name of the pipeline]
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
    /// Show what would run; run nothing
    #[arg(long, conflicts_with_all = ["resume", "resume_from", "anew"])]
    pub(crate) dry_run: bool,
    /// Seal an unfinished run of the task as it is, and begin a new one
    #[arg(long, conflicts_with_all = ["resume", "resume_from"])]
    anew: bool,
    /// Continue a run, by the start of its name [default: the only one that can]
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "")]
    resume: Option<String>,
    /// Run this step and all that wait for it again
    #[arg(long, value_name = "STEP")]
    resume_from: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AttendArguments {
    /// File that is locked as long as anything of the command lives
    #[arg(long)]
    hold: PathBuf,
    /// Process that waits for it
    #[arg(long)]
    parent: i32,
    /// Command and its arguments
    #[arg(last = true, required = true)]
    words: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct TaskArguments {
    /// File with the text of the issue
    #[arg(value_name = "ISSUE")]
    issue: PathBuf,
    /// Pipeline file [default: the shipped pipeline]
    #[arg(long, value_name = "FILE")]
    pipeline: Option<String>,
    /// Value of another input; repeatable
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = input)]
    inputs: Vec<(String, String)>,
    /// Show what would run; run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Seal an unfinished run of the task as it is, and begin a new one
    #[arg(long, conflicts_with = "dry_run")]
    anew: bool,
}

/// An input and its value.
fn input(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl From<PipelineRunArguments> for PipelineRequest {
    fn from(wanted: PipelineRunArguments) -> Self {
        let resume = match (wanted.resume, &wanted.resume_from) {
            (None, Some(_)) => Some(String::new()),
            (resume, _) => resume,
        };
        Self {
            file: wanted.file,
            inputs: wanted.inputs,
            task: wanted.task,
            anew: wanted.anew,
            resume,
            resume_from: wanted.resume_from,
        }
    }
}

impl TaskArguments {
    /// The request of the task, with the text of its issue.
    pub(crate) fn request(
        self,
        issue: &checkrein_engine::environment::HostEnvironment,
    ) -> Result<PipelineRequest, checkrein_engine::error::CommandError> {
        let path = issue.cwd.join(&self.issue.to_string_lossy());
        let text = checkrein_files::read_text(path.as_str(), checkrein_files::SMALL)
            .map_err(|error| checkrein_engine::error::CommandError::file("read", &path, &error))?;
        if text.trim().is_empty() {
            return Err(checkrein_engine::error::CommandError::user(
                format!("the issue `{path}` is empty"),
                "write what is wrong or wanted into it",
            ));
        }
        let stem = self.issue.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let plain =
            |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
        let task: String = stem.chars().map(plain).take(40).collect();
        let mut inputs = vec![("issue".to_owned(), text)];
        inputs.extend(self.inputs);
        Ok(PipelineRequest {
            file: self.pipeline,
            inputs,
            task: Some(task.trim_matches('-').to_owned()),
            anew: self.anew,
            resume: None,
            resume_from: None,
        })
    }
}

#[cfg(target_os = "linux")]
impl From<AttendArguments> for AttendedCommand {
    fn from(wanted: AttendArguments) -> Self {
        Self { hold: wanted.hold, parent: wanted.parent, words: wanted.words }
    }
}
