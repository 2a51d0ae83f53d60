//! `checkrein pipeline run`: one step after the other, or beside each other, and everything that is known written down after each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::lessons;
use checkrein_ledger::mask::{MaskKey, mask_text};
use checkrein_ledger::{PipelineRecord, TreeMark};
use checkrein_pipelines::{
    KeptOutput, PipelineEnd, PipelineFile, PipelineState, StepAct, StepConsequence, StepEnd, StepOutcome,
    StepResult, StepState, TemplateValues, WorkPlace,
};
use checkrein_policy::Digest;
use checkrein_sandbox::Signals;
use checkrein_supervise::runs::file::{create_directory, replace};
use checkrein_supervise::runs::{Lock, StepSettings};

use super::super::worktree::{clean_up, workspace};
use super::super::{ExitStatus, OutputForm, for_no_agent};
use super::act::{StepEvent, StepReport, StepWork};
use super::begin::{self, check_task, inputs, wait_until_gone, worktree_of};
use super::report;
use super::store::{FILE, PipelineStore};
use super::{PipelineRequest, PipelineText, attempt_folder, confirm, hold_file, judged, own_file};
use crate::terminal::{log, plain};

/// The stack of a step, in bytes, as that of the hook: a command of it is judged there.
const STACK: usize = 64 * 1024 * 1024;
/// How often it is looked at whether we are asked to end.
const BEAT: Duration = Duration::from_millis(50);
/// The longest output that is told to other steps, in bytes (ours).
const TOLD: usize = 256 << 10;

/// A pipeline that is under way.
struct Runner<'a> {
    environment: &'a HostEnvironment,
    store: PipelineStore,
    folder: PathBuf,
    pipeline: Arc<PipelineFile>,
    state: PipelineState,
    base: Option<String>,
    key: MaskKey,
    stop: Arc<AtomicBool>,
    output: OutputForm,
}

/// Runs a pipeline, or goes on with one.
pub(super) fn run(
    environment: &HostEnvironment,
    wanted: &PipelineRequest,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    for_no_agent(environment, "pipeline run")?;
    let signals = Signals::remembered()?;
    let store = PipelineStore::new(&environment.state);
    let (mut runner, _lock) = match &wanted.resume {
        Some(id) => Runner::again(environment, store, id, wanted, output)?,
        None => Runner::anew(environment, store, wanted, output)?,
    };
    let end = runner.go(&signals)?;
    runner.conclude(end)
}

impl<'a> Runner<'a> {
    fn anew(
        environment: &'a HostEnvironment,
        store: PipelineStore,
        wanted: &PipelineRequest,
        output: OutputForm,
    ) -> Result<(Self, Lock), CommandError> {
        let text = wanted.text(environment)?;
        let pipeline = text.parse()?;
        let workspace = workspace(environment)?;
        let key = environment.state.mask_key()?;
        let inputs = inputs(&pipeline, &wanted.inputs, &key)?;
        let task = wanted.task.clone().unwrap_or_else(|| pipeline.name.clone());
        check_task(&task)?;
        let lock = store.lock(&workspace, &task)?;
        let of_task = |state: &PipelineState| state.workspace == workspace && state.task == task;
        for found in store.all()?.into_iter().filter(|found| !found.is_done) {
            let Ok(mut state) = found.state else { continue };
            if !of_task(&state) {
                continue;
            }
            if !wanted.anew {
                return Err(CommandError::user(
                    format!("the task `{task}` has a pipeline that is not done: {}", found.id),
                    format!(
                        "go on with it: `checkrein pipeline run --resume {}`; `--anew` seals it as it is and begins a new one",
                        found.id
                    ),
                ));
            }
            wait_until_gone(&hold_file(&store.folder(&found.id)))?;
            state.end = Some(PipelineEnd::GivenUp);
            store.save(&state)?;
            store.seal(&found.id, environment.now().0)?;
        }
        let now = environment.now().0;
        let (id, folder) = store.claim(now)?;
        let worktree = match pipeline.place {
            WorkPlace::OwnWorktree => Some(task.clone()),
            WorkPlace::WorkTree => None,
        };
        let mut state = PipelineState {
            version: PipelineState::VERSION,
            id,
            pipeline: pipeline.name.clone(),
            task,
            file: text.name.clone(),
            digest: Digest::of(&text.text).to_string(),
            is_own: text.is_own,
            directory: workspace.clone(),
            workspace,
            worktree,
            inputs,
            created: now,
            written: now,
            end: None,
            halt: None,
            steps: pipeline.steps.iter().map(|step| StepState::new(&step.name)).collect(),
        };
        // Before anything else is done: whoever is killed now finds this run, and not an older one.
        replace(&folder.join(FILE), text.text.as_bytes())?;
        let began =
            PipelineRecord::Began { run: state.id.to_string(), facts: confirm::facts_of_run(&state)? };
        store.record(now, &began)?;
        store.save(&state)?;
        Self::clean(environment)?;
        let base = Self::place(environment, &mut state)?;
        if let (Some(name), Some(base)) = (&state.worktree, &base) {
            for line in judged::left_before(environment, &state.directory, base) {
                Self::say(&format!("the worktree `{name}` is one of an earlier run: {line}"));
            }
        }
        let runner = Self::of(environment, store, folder, (pipeline, state, base), output)?;
        runner.store.save(&runner.state)?;
        Self::say(&format!("pipeline {} begins: `{}`", runner.state.id, runner.state.pipeline));
        Ok((runner, lock))
    }

    fn again(
        environment: &'a HostEnvironment,
        store: PipelineStore,
        id: &str,
        wanted: &PipelineRequest,
        output: OutputForm,
    ) -> Result<(Self, Lock), CommandError> {
        let id = super::find(&store, environment, id, wanted.task.as_deref())?;
        let folder = store.folder(&id);
        let found = store.load(&id)?;
        if store.all()?.iter().any(|found| found.id == id && found.is_done) {
            return Err(CommandError::user(
                format!("pipeline {id} is done, and what is done stays as it is"),
                "begin a new one; `checkrein pipeline list` lists those that can go on",
            ));
        }
        let lock = store.lock(&found.workspace, &found.task)?;
        // What it was a moment ago may have been written by who held the lock.
        let mut state = store.load(&id)?;
        wait_until_gone(&hold_file(&folder))?;
        let text = checkrein_supervise::runs::file::read(&folder.join(FILE))?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        if Digest::of(&text).to_string() != state.digest {
            return Err(CommandError::user(
                format!("the file of pipeline {id} is not what it was when it began"),
                "begin a new one with `--anew`",
            ));
        }
        if let Some(line) = begin::otherwise_by_now(&state) {
            Self::say(&line);
        }
        let pipeline = PipelineText { name: state.file.clone(), text, is_own: state.is_own }.parse()?;
        let records = store.records_of(&id)?;
        if !confirm::began_with(&records, &confirm::facts_of_run(&state)?) {
            return Err(CommandError::user(
                format!("what is kept of pipeline {id} is not what it began with"),
                "begin a new one with `--anew`",
            ));
        }
        let base = Self::place(environment, &mut state)?;
        let kept = |place: usize, step: &StepState| {
            let attempt = folder.join(attempt_folder(place, &step.name, step.attempts.len()));
            confirm::facts_of_step(step, &attempt).ok()
        };
        let tree = judged::tree(environment, &state.directory, base.as_deref());
        let doubts = confirm::doubts(&pipeline, &state, &records, kept, tree.as_ref());
        state.resume();
        for doubt in doubts {
            if let Some(step) = pipeline.steps.get(doubt.place) {
                Self::say(&format!("{} runs again: {}", step.name, doubt.cause.words()));
            }
            state.begin_again(&pipeline, doubt.place);
        }
        if let Some(name) = &wanted.resume_from {
            let (place, _) = pipeline.step(name).ok_or_else(|| {
                let names: Vec<&str> = pipeline.steps.iter().map(|step| step.name.as_str()).collect();
                CommandError::user(
                    format!("pipeline {id} has no step `{}`", plain(name)),
                    format!("it has {}", names.join(", ")),
                )
            })?;
            state.resume_from(&pipeline, place);
        }
        let runner = Self::of(environment, store, folder, (pipeline, state, base), output)?;
        runner.store.save(&runner.state)?;
        Self::say(&format!("pipeline {} goes on: `{}`", runner.state.id, runner.state.pipeline));
        Ok((runner, lock))
    }

    /// What earlier tasks left goes once their branches are merged.
    fn clean(environment: &HostEnvironment) -> Result<(), CommandError> {
        for (name, cleaned) in clean_up(environment)? {
            Self::say(&match cleaned {
                Ok(into) => {
                    format!("the branch of `{name}` is merged into `{into}`: its worktree is saved and gone")
                }
                Err(error) => format!("the worktree `{name}` stays: {error}"),
            });
        }
        Ok(())
    }

    /// Has the steps work where they should, in the worktree of the task or in that of the user; the commit that a worktree began with.
    fn place(
        environment: &HostEnvironment,
        state: &mut PipelineState,
    ) -> Result<Option<String>, CommandError> {
        let (directory, base) = match &state.worktree {
            Some(name) => worktree_of(environment, &state.id, name)?,
            None => (state.workspace.clone(), None),
        };
        state.directory = directory;
        Ok(base)
    }

    fn of(
        environment: &'a HostEnvironment,
        store: PipelineStore,
        folder: PathBuf,
        (pipeline, state, base): (PipelineFile, PipelineState, Option<String>),
        output: OutputForm,
    ) -> Result<Self, CommandError> {
        let key = environment.state.mask_key()?;
        let (pipeline, stop) = (Arc::new(pipeline), Arc::default());
        Ok(Self { environment, store, folder, pipeline, state, base, key, stop, output })
    }

    /// Runs what can run until nothing is left.
    fn go(&mut self, signals: &Signals) -> Result<PipelineEnd, CommandError> {
        let (events, heard) = channel();
        let mut running: BTreeSet<usize> = BTreeSet::new();
        let mut threads = Vec::new();
        let mut is_stopped = false;
        loop {
            if !is_stopped {
                let values = self.values();
                for place in self.state.next(&self.pipeline, &values, &running) {
                    let work = self.work(place, &values, events.clone())?;
                    self.state.begin(place, self.environment.now().0);
                    self.save()?;
                    Self::say(&format!("{} begins", work.step.name));
                    let thread = thread::Builder::new().stack_size(STACK).spawn(move || work.carry_out())?;
                    threads.push(thread);
                    running.insert(place);
                }
            }
            if running.is_empty() {
                break;
            }
            match heard.recv_timeout(BEAT) {
                Ok(StepEvent::Asked { place, question, about }) => {
                    Self::say(&format!("{} asks: {about}", self.name(place)));
                    Self::say(&format!(
                        "{} waits for you: `checkrein approval show {question}`, then `checkrein approval allow {question}` or `deny`",
                        self.name(place)
                    ));
                    if let Some(step) = self.state.steps.get_mut(place) {
                        step.question = Some(question);
                    }
                    self.save()?;
                }
                Ok(StepEvent::Ended { place, report, tree }) => {
                    running.remove(&place);
                    if let Some(report) = report {
                        self.take(place, *report, tree)?;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                // We hold a sender ourselves.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if signals.asked().is_some() {
                is_stopped = true;
                self.stop.store(true, Ordering::Relaxed);
            }
        }
        for thread in threads {
            drop(thread.join());
        }
        Ok(if is_stopped { PipelineEnd::Interrupted } else { self.state.conclusion() })
    }

    /// Takes up what came of a step, and writes it down before anything else begins.
    fn take(&mut self, place: usize, report: StepReport, tree: Option<TreeMark>) -> Result<(), CommandError> {
        let StepReport { mut result, text, route, reviews, exemptions } = report;
        let mut outputs = BTreeMap::new();
        if result.end == StepEnd::Passed {
            match self.keep_outputs(place) {
                Ok(kept) => outputs = kept,
                Err(why) => result = StepResult::plain(StepEnd::Failed, why),
            }
        }
        if let Some(step) = self.state.steps.get_mut(place) {
            // A yes is for one time.
            step.question = None;
            step.text = text;
            step.route = route;
            step.outputs = outputs;
            step.reviews.extend(reviews);
            step.exemptions = exemptions;
        }
        let consequence = self.state.finish(&self.pipeline, place, result, self.environment.now().0);
        self.record(place, tree)?;
        self.save()?;
        let step = self.state.steps.get(place);
        let (reason, outcome) =
            step.map_or((String::new(), StepOutcome::DidNotRun), |step| (step.reason.clone(), step.outcome));
        let last = step.and_then(|step| step.attempts.last()).map(|attempt| attempt.summary.clone());
        let name = self.name(place);
        Self::say(&match consequence {
            StepConsequence::GoesOn => format!("{name} passed: {reason}"),
            StepConsequence::TriedAgain => format!("{name} is tried again: {}", last.unwrap_or_default()),
            StepConsequence::SentBack(to) => {
                format!("{name} goes back to {to}: {}", last.unwrap_or_default())
            }
            StepConsequence::Over => format!("{name} {}: {reason}", outcome.name().replace('_', " ")),
        });
        Ok(())
    }

    /// Records how a step ended. Whoever is killed before that is written to the state finds a step that was cut off.
    fn record(&self, place: usize, tree: Option<TreeMark>) -> Result<(), CommandError> {
        let Some(step) = self.state.steps.get(place) else { return Ok(()) };
        let Some(attempt) = step.attempts.last() else { return Ok(()) };
        let facts = confirm::facts_of_step(step, &self.folder.join(self.attempt_folder(place)))?;
        let record = PipelineRecord::StepEnded {
            run: self.state.id.to_string(),
            step: step.name.clone(),
            attempt: step.attempts.len(),
            outcome: attempt.outcome.name().to_owned(),
            facts,
            tree,
        };
        self.store.record(self.environment.now().0, &record)
    }

    /// Copies what a step made to its artifacts.
    fn keep_outputs(&self, place: usize) -> Result<BTreeMap<String, KeptOutput>, String> {
        let Some(step) = self.pipeline.steps.get(place) else { return Ok(BTreeMap::new()) };
        let mut kept = BTreeMap::new();
        for (name, path) in &step.outputs {
            let bytes = own_file(&self.state.directory, path)
                .map_err(|why| format!("`{path}`, its output `{name}`, {why}"))?;
            let artifact = format!("{}/output-{name}", self.attempt_folder(place));
            replace(&self.folder.join(&artifact), &bytes).map_err(|error| error.message)?;
            let digest =
                checkrein_supervise::runs::file::hexadecimal(&<sha2::Sha256 as sha2::Digest>::digest(&bytes));
            kept.insert(name.clone(), KeptOutput { path: path.clone(), digest, artifact });
        }
        Ok(kept)
    }

    /// Where the artifacts of the last attempt of a step are, below the folder of the run.
    fn attempt_folder(&self, place: usize) -> String {
        let attempts = self.state.steps.get(place).map_or(0, |step| step.attempts.len());
        attempt_folder(place, &self.name(place), attempts)
    }

    fn name(&self, place: usize) -> String {
        self.pipeline.steps.get(place).map(|step| step.name.clone()).unwrap_or_default()
    }

    /// What templates and conditions are filled in with.
    fn values(&self) -> TemplateValues {
        let mut values = TemplateValues::default();
        values.0.insert("task".to_owned(), self.state.task.clone());
        values.0.insert("run".to_owned(), self.state.id.to_string());
        for (name, value) in &self.state.inputs {
            values.0.insert(format!("inputs.{name}"), value.clone());
        }
        for step in &self.state.steps {
            for (name, output) in &step.outputs {
                let text = checkrein_files::read_text(self.folder.join(&output.artifact), TOLD as u64);
                let text = text.unwrap_or_default();
                values.0.insert(
                    format!("steps.{}.outputs.{name}", step.name),
                    mask_text(&text, &self.key).into_owned(),
                );
            }
        }
        self.state.with_outcomes(&values)
    }

    fn work(
        &self,
        place: usize,
        values: &TemplateValues,
        events: std::sync::mpsc::Sender<StepEvent>,
    ) -> Result<StepWork, CommandError> {
        let (Some(step), Some(state)) = (self.pipeline.steps.get(place), self.state.steps.get(place)) else {
            return Err(CommandError::user("a step is missing", "report this as a defect"));
        };
        let mut values = values.clone();
        values.0.insert("feedback".to_owned(), self.state.feedback_for(&self.pipeline, step));
        let attempts = state.attempts.len() + 1;
        let folder = self.folder.join(attempt_folder(place, &step.name, attempts));
        create_directory(&folder)?;
        let texts = [&self.pipeline.safety, &step.safety].into_iter().flatten().map(|text| text.0.clone());
        Ok(StepWork {
            environment: self.environment.clone(),
            pipeline: Arc::clone(&self.pipeline),
            step: step.clone(),
            place,
            id: self.state.id.clone(),
            folder,
            hold: hold_file(&self.folder),
            directory: self.state.directory.clone(),
            workspace: self.state.workspace.clone(),
            worktree: self.state.worktree.clone(),
            base: self.base.clone(),
            values,
            before: state.route.clone(),
            said_before: if state.rounds.rounds > 0 { state.feedback.clone() } else { String::new() },
            question: state.question.clone(),
            settings: StepSettings {
                file: self.state.file.clone(),
                texts: texts.collect(),
                only_tighten: !self.state.is_own,
            },
            lineage: match step.act {
                StepAct::PullRequest(_) | StepAct::Approve(_) | StepAct::Review(_) => {
                    Some(Box::new(self.state.clone()))
                }
                StepAct::Command(_) | StepAct::Gate(_) | StepAct::Agent(_) => None,
            },
            key: self.environment.state.mask_key()?,
            stop: Arc::clone(&self.stop),
            events,
        })
    }

    fn save(&mut self) -> Result<(), CommandError> {
        self.state.written = self.environment.now().0;
        self.store.save(&self.state)
    }

    /// Writes down how it ended, seals what is done, and tells it.
    fn conclude(mut self, end: PipelineEnd) -> Result<ExitStatus, CommandError> {
        self.state.end = Some(end);
        self.save()?;
        let seal = match end {
            PipelineEnd::Passed => Some(self.store.seal(&self.state.id, self.environment.now().0)?),
            PipelineEnd::Failed
            | PipelineEnd::Refused
            | PipelineEnd::Halted
            | PipelineEnd::Incomplete
            | PipelineEnd::Interrupted
            | PipelineEnd::GivenUp => None,
        };
        if let Some(lesson) = report::lesson(&self.state, end) {
            let workspace = self.state.workspace.to_string_lossy();
            if let Err(error) = lessons::keep(self.environment, &workspace, lesson) {
                Self::say(&format!("a later task like this one will not hear of it: {error}"));
            }
        }
        report::tell(&self.store, &self.state, seal, self.output)?;
        Ok(ExitStatus::Passed(end.status()))
    }

    fn say(text: &str) {
        let first = text.lines().next().unwrap_or_default();
        log(&plain(&format!("checkrein: {}", crate::terminal::cut(first, 300))));
    }
}
