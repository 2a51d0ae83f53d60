//! What a step does, as processes: commands, gates, agents. What came of it is told as a value.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::time::Duration;

use checkrein_engine::Context;
use checkrein_engine::change_records::{self, ChangeStep};
use checkrein_engine::check_before_running;
use checkrein_engine::environment::HostEnvironment;
use checkrein_gates::only_prints;
use checkrein_ledger::TreeMark;
use checkrein_ledger::mask::{MaskKey, mask_text};
use checkrein_pipelines::{
    AgentStep, CommandLine, CommandStep, GateStep, PipelineFile, PipelineState, ReviewRecordEntry, StepAct,
    StepEnd, StepOutcome, StepResult, StepSpecification, TemplateValues,
};
use checkrein_policy::VerdictKind;
use checkrein_protocol::{AbsolutePath, Action, ActionId, ChangeId};
use checkrein_supervise::runs::file::replace;
use checkrein_supervise::runs::{RunId, StepSettings};
use checkrein_supervise::{Phase, Route, TestRunner};
use serde_json::{Value as Json, json};

use super::approve::{self, Answered};
use super::outcome::{of_gate, of_route, runner_of};
use super::process::{ProcessEnd, StepInput, StepProcess, output_files, tail};
use super::{asking, judged, publish, review};

/// How much of an output is looked at and told to others, in bytes (ours): sums stand at the end.
const TOLD: u64 = 64 << 10;
/// The longest output of which secrets are masked where it is kept, in bytes (ours).
const LONGEST_MASKED: u64 = 4 << 20;
/// How many exemptions are shown with a question (ours).
const EXEMPTIONS: usize = 10;
/// The longest value of a variable, in bytes (ours): the kernel takes no longer ones than 128 KiB.
const VARIABLE: usize = 32 << 10;
/// How long is waited for an agent of a pipeline that was killed to be gone (ours).
const STILL_THERE: Duration = Duration::from_secs(15);

/// Everything that a step is told, so that it can run beside others.
pub(super) struct StepWork {
    pub(super) environment: HostEnvironment,
    pub(super) pipeline: std::sync::Arc<PipelineFile>,
    pub(super) step: StepSpecification,
    pub(super) place: usize,
    pub(super) id: RunId,
    /// The folder of this attempt.
    pub(super) folder: PathBuf,
    /// What everything that it starts locks.
    pub(super) hold: PathBuf,
    /// Where the steps work.
    pub(super) directory: PathBuf,
    pub(super) workspace: PathBuf,
    pub(super) worktree: Option<String>,
    /// The commit that the worktree began with.
    pub(super) base: Option<String>,
    pub(super) values: TemplateValues,
    pub(super) before: Option<Route>,
    pub(super) said_before: String,
    /// The question that waited when the pipeline was cut off.
    pub(super) question: Option<String>,
    pub(super) settings: StepSettings,
    /// How the whole run stands, where the step tells others of it.
    pub(super) lineage: Option<Box<PipelineState>>,
    pub(super) key: MaskKey,
    pub(super) stop: std::sync::Arc<AtomicBool>,
    pub(super) events: Sender<StepEvent>,
}

/// What a step tells while it runs, and at its end.
pub(super) enum StepEvent {
    /// It asked a user.
    Asked { place: usize, question: String, about: String },
    /// It ended; without a report where it was stopped. With it what lay in the tree: what it judged, or what it left.
    Ended { place: usize, report: Option<Box<StepReport>>, tree: Option<TreeMark> },
}

/// Whether a command may run.
enum CommandPermission {
    /// It may; the change of production that it is the command of.
    Given(Option<ChangeId>),
    /// It may not; the report, and none where the pipeline was stopped meanwhile.
    Refused(Option<Box<StepReport>>),
}

/// What came of a step.
pub(super) struct StepReport {
    pub(super) result: StepResult,
    /// What it wrote.
    pub(super) text: String,
    pub(super) route: Option<Route>,
    pub(super) reviews: Vec<ReviewRecordEntry>,
    /// The exemptions from a gate that came with the change.
    pub(super) exemptions: Vec<String>,
}

impl StepReport {
    pub(super) fn plain(end: StepEnd, summary: impl Into<String>) -> Self {
        Self {
            result: StepResult::plain(end, summary),
            text: String::new(),
            route: None,
            reviews: Vec::new(),
            exemptions: Vec::new(),
        }
    }
}

impl StepWork {
    /// Does it and tells what came of it.
    pub(super) fn carry_out(self) {
        let (place, events) = (self.place, self.events.clone());
        let judged = judged::keep(&self);
        let report = match &self.step.act {
            StepAct::Command(command) => self.command(command),
            StepAct::Gate(gate) => self.gate(gate),
            StepAct::Agent(agent) => self.agent(agent),
            StepAct::Review(review) => review::review(&self, review),
            StepAct::PullRequest(request) => publish::publish(&self, request),
            StepAct::Approve(approve) => {
                let question = approve.question.filled(&self.values).trim().to_owned();
                let question = format!("{question}{}", self.exemptions_told());
                let input = json!({
                    "pipeline": self.pipeline.name, "step": self.step.name,
                    "task": self.values.0.get("task"), "question": question,
                });
                self.asked(json!({ "id": "1", "tool": "PipelineApproval", "input": input }), &question)
            }
        };
        let report = report.unwrap_or_else(|error| {
            Some(StepReport::plain(StepEnd::DidNotRun, format!("it could not be run: {error}")))
        });
        self.mask_outputs();
        // Who listens no more has ended.
        let tree = judged.or_else(|| judged::left(&self));
        drop(events.send(StepEvent::Ended { place, report: report.map(Box::new), tree }));
    }

    /// Takes the secrets out of what is kept of the outputs. A longer one stays as it is, in a folder that is private.
    fn mask_outputs(&self) {
        let (output, errors) = output_files(&self.folder);
        for path in [output, errors] {
            let Ok(text) = checkrein_files::read_text(&path, LONGEST_MASKED) else { continue };
            if let std::borrow::Cow::Owned(masked) = mask_text(&text, &self.key)
                && masked != text
            {
                // What cannot be replaced stays private.
                drop(replace(&path, masked.as_bytes()));
            }
        }
    }

    /// The exemptions from gates that came with the change, as what follows a question; nothing where there are none.
    pub(super) fn exemptions_told(&self) -> String {
        let all = self.exemptions();
        if all.is_empty() {
            return String::new();
        }
        let shown = all.iter().take(EXEMPTIONS).map(String::as_str).collect::<Vec<_>>().join("\n  ");
        let more = all.len().saturating_sub(EXEMPTIONS);
        let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
        format!("\nThe change excuses itself from gates:\n  {shown}{more}")
    }

    /// The exemptions that the gates of this run met and that came with the change, masked.
    pub(super) fn exemptions(&self) -> Vec<String> {
        let steps = self.lineage.iter().flat_map(|state| &state.steps);
        let all: BTreeSet<String> = steps
            .filter(|step| step.outcome == StepOutcome::Passed)
            .flat_map(|step| &step.exemptions)
            .map(|one| mask_text(one, &self.key).into_owned())
            .collect();
        all.into_iter().collect()
    }

    /// Asks a user; the report where the answer is no, or there is none.
    fn asked(&self, question: Json, message: &str) -> io::Result<Option<StepReport>> {
        Ok(match approve::ask(self, question, message)? {
            Answered::Yes(by) => Some(StepReport::plain(StepEnd::Passed, format!("allowed by {by}"))),
            Answered::No(why) => Some(StepReport::plain(StepEnd::Refused, why)),
            Answered::Nobody(why) => Some(StepReport::plain(StepEnd::DidNotRun, why)),
            Answered::Stopped => None,
        })
    }

    fn command(&self, step: &CommandStep) -> io::Result<Option<StepReport>> {
        let (words, text) = match &step.line {
            CommandLine::Shell(text) => (vec!["sh".to_owned(), "-c".to_owned(), text.clone()], text.clone()),
            CommandLine::Words(words) => match self.filled(words) {
                Ok(words) => {
                    let text = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
                    (words, text)
                }
                Err(why) => return Ok(Some(StepReport::plain(StepEnd::DidNotRun, why))),
            },
        };
        let (permission, programs) = self.reviewed(&text)?;
        let change = match permission {
            CommandPermission::Given(change) => change,
            CommandPermission::Refused(report) => return Ok(report.map(|report| *report)),
        };
        let runner = step.runner.unwrap_or_else(|| runner_of(&text, &self.values));
        if runner != TestRunner::Any && only_prints(&programs) {
            let why = "no program of the command runs tests: what another one prints is not a result of any";
            return Ok(Some(StepReport::plain(StepEnd::DidNotRun, why)));
        }
        if step.phase == Phase::Red && matches!(runner, TestRunner::Any | TestRunner::Unknown) {
            let why = "which failure is one of tests, only pytest, unittest, cargo, go and jest tell; the command names none of them";
            return Ok(Some(StepReport::plain(StepEnd::DidNotRun, why)));
        }
        let mut command = self.attended(&self.confined(step, words)?)?;
        for (name, value) in self.variables() {
            command.env(name, value);
        }
        command.current_dir(&self.directory);
        let end = self.process(command, StepInput::Nothing).run()?;
        let (output, errors) = output_files(&self.folder);
        let said = format!("{}{}", tail(&output, TOLD), tail(&errors, TOLD));
        let status = match end {
            ProcessEnd::Stopped => return Ok(None),
            ProcessEnd::Exited(status) => Some(status),
            ProcessEnd::TookTooLong => None,
            ProcessEnd::WroteTooMuch => {
                let why = "it wrote more than 64 MiB, and was ended";
                return Ok(Some(StepReport::plain(StepEnd::FailedForGood, why)));
            }
        };
        let route = Route::of(runner, step.phase, status, &said, self.before.as_ref());
        let masked = mask_text(&said, &self.key).into_owned();
        let mut result = of_route(&route, step, status, &masked, self.step.sends_back.is_some());
        if let Some(change) = change {
            let ran = ChangeStep::Ran { at: self.environment.now(), failed: status != Some(0) };
            change_records::add(&self.environment, &change, &ran)
                .map_err(|error| io::Error::other(error.message))?;
            let id = change.as_str();
            result.summary =
                format!("{}; change {id}: `checkrein change verify {id}` is due", result.summary);
        }
        Ok(Some(StepReport {
            result,
            text: mask_text(&tail(&output, TOLD), &self.key).into_owned(),
            route: Some(route),
            ..StepReport::plain(StepEnd::Passed, "")
        }))
    }

    /// The same words within bounds that the kernel holds, where the step says so.
    fn confined(&self, step: &CommandStep, words: Vec<String>) -> io::Result<Vec<String>> {
        let Some(bounds) = &step.bounds else { return Ok(words) };
        let own = |text: &Path| text.to_string_lossy().into_owned();
        let mut all = vec![own(&self.program()?), "exec".to_owned(), "--require".to_owned()];
        all.extend(["--write".to_owned(), own(&self.directory)]);
        for path in &bounds.write {
            let path = self.environment.cwd.join(path);
            all.extend(["--write".to_owned(), path.to_string()]);
        }
        all.extend(["--net".to_owned(), bounds.net.clone(), "--".to_owned()]);
        all.extend(words);
        Ok(all)
    }

    /// Judges a command as one of an agent is judged: the file may have come with the project. With it come the programs that it runs.
    fn reviewed(&self, text: &str) -> io::Result<(CommandPermission, Vec<String>)> {
        let cwd = self
            .directory
            .to_str()
            .and_then(AbsolutePath::new)
            .ok_or_else(|| io::Error::other("the directory of the steps has no plain name"))?;
        // What it finds among its variables may be run by it.
        let mut variables = (*self.environment.variables).clone();
        variables.extend(self.variables());
        let environment = HostEnvironment {
            cwd: cwd.clone(),
            variables: std::sync::Arc::new(variables),
            ..self.environment.clone()
        };
        let context = Context::open(environment, &cwd);
        let session = format!("pipeline-{}", self.id);
        let action = ActionId(format!("{}-{}", self.step.name, self.environment.now().0));
        let (review, change) =
            check_before_running(&context, &Action::command(text, cwd.clone()), (&session, &action));
        let permission = match review.verdict.kind {
            VerdictKind::Ok | VerdictKind::Nudge => CommandPermission::Given(change),
            VerdictKind::Escalate => {
                let report = self.asked(
                    json!({ "id": "1", "command": text, "cwd": cwd }),
                    &format!("`{}`: {}", text.trim(), review.reasoning.primary),
                )?;
                match report {
                    Some(report) if report.result.end == StepEnd::Passed => CommandPermission::Given(None),
                    other => CommandPermission::Refused(other.map(Box::new)),
                }
            }
            VerdictKind::Block | VerdictKind::Halt => {
                CommandPermission::Refused(Some(Box::new(StepReport::plain(
                    StepEnd::Refused,
                    format!("the command is refused: {}", review.reasoning.primary),
                ))))
            }
        };
        Ok((permission, review.programs))
    }

    fn gate(&self, step: &GateStep) -> io::Result<Option<StepReport>> {
        let options = match self.filled(&step.options) {
            Ok(options) => options,
            Err(why) => return Ok(Some(StepReport::plain(StepEnd::DidNotRun, why))),
        };
        let mut command = Command::new(self.program()?);
        command.args(["--json", "gate", step.gate.name()]).current_dir(&self.directory);
        if step.review.is_some() {
            // The reviewers of the file are asked here, once the form holds.
            command.arg("--form-only");
        }
        let (before, paths): (Vec<String>, Vec<String>) = match options.iter().position(|word| word == "--") {
            Some(place) => (options[..place].to_vec(), options[place..].to_vec()),
            None => (options, Vec::new()),
        };
        if let Some(base) = &self.base
            && !before.iter().any(|word| word.starts_with("--since"))
        {
            command.arg(format!("--since={base}"));
        }
        command.args(before).args(paths);
        let end = self.process(command, StepInput::Nothing).run()?;
        let (output, errors) = output_files(&self.folder);
        match end {
            ProcessEnd::Stopped => return Ok(None),
            ProcessEnd::TookTooLong | ProcessEnd::WroteTooMuch => {
                let why = format!("the gate {} did not come to its end", step.gate.name());
                return Ok(Some(StepReport::plain(StepEnd::DidNotRun, why)));
            }
            ProcessEnd::Exited(_) => {}
        }
        let answer: Option<Json> = fs::read(&output).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let Some(answer) = answer.filter(|answer| answer["gate"] == step.gate.name()) else {
            let said = tail(&errors, TOLD);
            let why = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gave no report");
            let why = format!("the gate {} did not run: {why}", step.gate.name());
            return Ok(Some(StepReport::plain(StepEnd::DidNotRun, why)));
        };
        let report = of_gate(&answer);
        match &step.review {
            Some(review) if report.result.end == StepEnd::Passed => review::review_design(self, review),
            Some(_) | None => Ok(Some(report)),
        }
    }

    fn agent(&self, step: &AgentStep) -> io::Result<Option<StepReport>> {
        let prompt = match self.prompt(step) {
            Ok(prompt) => mask_text(&prompt, &self.key).into_owned(),
            Err(why) => return Ok(Some(StepReport::plain(StepEnd::DidNotRun, why))),
        };
        let prompt_file = self.folder.join("prompt.txt");
        replace(&prompt_file, prompt.as_bytes()).map_err(io::Error::other)?;
        let mut values = self.values.clone();
        values.0.insert("prompt".to_owned(), prompt);
        let takes_word = step.words.iter().any(|word| word.places().any(|place| place == "prompt"));
        let words: Result<Vec<String>, String> = step.words.iter().map(|word| word.word(&values)).collect();
        let words = match words {
            Ok(words) => words,
            Err(why) => return Ok(Some(StepReport::plain(StepEnd::DidNotRun, why))),
        };
        let settings = self.folder.join("settings.json");
        let text = match self.settings_of(step) {
            Ok(own) => serde_json::to_vec_pretty(&own)?,
            Err(why) => return Ok(Some(StepReport::plain(StepEnd::DidNotRun, why))),
        };
        replace(&settings, &text).map_err(io::Error::other)?;
        let until = std::time::Instant::now() + STILL_THERE;
        let (output, errors) = output_files(&self.folder);
        let end = loop {
            let mut command = Command::new(self.program()?);
            command.args(["--json", "run", "--pipeline", &self.pipeline.name, "--step", &self.step.name]);
            command.arg("--step-settings").arg(&settings).args(&step.options);
            command.arg(format!("--time={}s", self.step.time.0.as_secs()));
            if let Some(worktree) = &self.worktree {
                command.args(["--worktree", worktree]);
            }
            command.arg("--").args(&words).current_dir(&self.workspace);
            let input = if takes_word { StepInput::Nothing } else { StepInput::File(&prompt_file) };
            // The limit of the run holds; ours is for a run that does not.
            let time = self.step.time.0 + Duration::from_mins(1);
            let end = StepProcess { time, ..self.process(command, input) }.run()?;
            // What is left of a pipeline that was killed ends by itself.
            let is_busy = end == ProcessEnd::Exited(125) && tail(&errors, TOLD).contains("is in use by");
            if !is_busy || std::time::Instant::now() > until {
                break end;
            }
            std::thread::sleep(Duration::from_millis(100));
        };
        let told = tail(&errors, TOLD);
        let report: Json =
            told.lines().rev().find_map(|line| serde_json::from_str(line).ok()).unwrap_or_default();
        let text = mask_text(&tail(&output, TOLD), &self.key).into_owned();
        let reason = report["reason"].as_str().or_else(|| report.pointer("/error/cause")?.as_str());
        let (end, summary) = match end {
            ProcessEnd::Stopped => return Ok(None),
            ProcessEnd::Exited(0) => (StepEnd::Passed, "the agent ended by itself".to_owned()),
            ProcessEnd::TookTooLong => (StepEnd::FailedForGood, "the agent took too long".to_owned()),
            ProcessEnd::WroteTooMuch => {
                (StepEnd::FailedForGood, "the agent wrote more than 64 MiB".to_owned())
            }
            ProcessEnd::Exited(status @ (92 | 125 | 126 | 127)) => {
                let why = reason.map_or_else(|| format!("status {status}"), str::to_owned);
                (StepEnd::DidNotRun, format!("the agent did not run: {why}"))
            }
            ProcessEnd::Exited(status) => match report["stopped_by"].as_str() {
                Some(switch) => {
                    let why = reason.unwrap_or("no reason is given");
                    (StepEnd::FailedForGood, format!("the agent was stopped by {switch}: {why}"))
                }
                None => (StepEnd::Failed, format!("the agent ended with status {status}")),
            },
        };
        Ok(Some(StepReport { text, ..StepReport::plain(end, summary) }))
    }

    fn filled(&self, words: &[checkrein_pipelines::TextTemplate]) -> Result<Vec<String>, String> {
        words.iter().map(|word| word.word(&self.values)).collect()
    }

    /// What a command finds among its variables.
    fn variables(&self) -> Vec<(String, String)> {
        let name = |key: &str| {
            let plain = key.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
            format!("PIPELINE_{}", plain.to_uppercase())
        };
        let fits = |(key, value): (&String, &String)| {
            (value.len() <= VARIABLE && !value.contains('\0')).then(|| (name(key), value.clone()))
        };
        self.values.0.iter().filter_map(fits).collect()
    }

    /// A command that ends with the pipeline, with everything that it starts.
    pub(super) fn attended(&self, words: &[String]) -> io::Result<Command> {
        Ok(asking::attended(&self.program()?, &self.hold, words))
    }

    pub(super) fn process<'a>(&'a self, command: Command, input: StepInput<'a>) -> StepProcess<'a> {
        StepProcess { command, input, folder: &self.folder, time: self.step.time.0, stop: &self.stop }
    }

    pub(super) fn program(&self) -> io::Result<PathBuf> {
        self.environment.program.clone().ok_or_else(|| io::Error::other("this program is not known"))
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
