//! What is told of a run of a pipeline.

use checkrein_engine::error::CommandError;
#[cfg(target_os = "linux")]
use checkrein_engine::lessons::Lesson;
use checkrein_pipelines::{PipelineEnd, PipelineState, StepOutcome, StepState};
use checkrein_protocol::Timestamp;

use super::super::OutputForm;
use super::super::history::PastWork;
use super::store::PipelineStore;
use crate::api;
use crate::api::pipelines::{PipelineAnswer, PipelineHaltEntry, PipelineReview, PipelineStepEntry};
use crate::api::sessions::PastWorkKind;
use crate::render::duration;
use crate::terminal::{bold, cut, plain, print, print_exact, table};

/// How much of a reason is shown in a table, in letters (ours); `--json` has all.
const SHOWN: usize = 100;

/// Tells how a run stands.
pub(super) fn tell(
    store: &PipelineStore,
    state: &PipelineState,
    seal: Option<String>,
    output: OutputForm,
) -> Result<(), CommandError> {
    let answer = answer(store, state, seal);
    match output {
        OutputForm::Json => print_exact(&api::pretty(&answer)?),
        OutputForm::Text => print(&text(state, &answer)),
    }
    Ok(())
}

/// A run for programs.
pub(super) fn answer(store: &PipelineStore, state: &PipelineState, seal: Option<String>) -> PipelineAnswer {
    let steps = state.steps.iter().map(|step| PipelineStepEntry {
        name: step.name.clone(),
        outcome: step.outcome.name().to_owned(),
        reason: step.reason.clone(),
        attempts: step.attempts.len(),
        milliseconds: step.attempts.iter().filter_map(|one| Some(one.ended?.saturating_sub(one.began))).sum(),
        rounds: step.rounds.rounds,
        question: step.question.clone(),
        outputs: step.outputs.iter().map(|(name, output)| (name.clone(), output.path.clone())).collect(),
        reviews: step.reviews.iter().cloned().map(PipelineReview::from).collect(),
    });
    PipelineAnswer {
        run: state.id.to_string(),
        pipeline: state.pipeline.clone(),
        task: state.task.clone(),
        file: state.file.clone(),
        end: state.end.map(|end| end.name().to_owned()),
        began: state.created.into(),
        directory: state.directory.to_string_lossy().into_owned(),
        worktree: state.worktree.clone(),
        lineage: store.folder(&state.id).to_string_lossy().into_owned(),
        seal,
        halt: state.halt.as_ref().map(|halt| PipelineHaltEntry {
            step: halt.step.clone(),
            cause: api::recorded(&halt.verdict).as_str().unwrap_or_default().to_owned(),
            rounds: halt.rounds,
            look_at: halt.look_at.clone(),
        }),
        steps: steps.collect(),
    }
}

/// A run for people: each step, what to look at, and what to do now.
pub(super) fn text(state: &PipelineState, answer: &PipelineAnswer) -> String {
    let end = answer.end.as_deref().unwrap_or("not done").replace('_', " ");
    let mut lines = vec![format!("{}  {}: {end}", bold(&plain(&state.pipeline)), answer.run)];
    let row = |step: &PipelineStepEntry| {
        vec![
            plain(&step.name),
            step.outcome.replace('_', " "),
            step.attempts.to_string(),
            duration(step.milliseconds),
            cut(&plain(step.reason.lines().next().unwrap_or_default()), SHOWN),
        ]
    };
    lines
        .push(table(&["step", "outcome", "attempts", "time", "why"], answer.steps.iter().map(row).collect()));
    if let Some(halt) = &answer.halt {
        lines.push(format!("look at (step `{}`, {} rounds):", plain(&halt.step), halt.rounds));
        lines.extend(halt.look_at.iter().map(|one| format!("  {}", cut(&plain(one), SHOWN * 2))));
    }
    lines.push(format!("artifacts: {}", plain(&answer.lineage)));
    if let Some(seal) = &answer.seal {
        lines.push(format!("sealed: {seal}"));
    }
    let is_passed = state.steps.iter().all(|step| step.outcome.lets_on());
    let next = match (&answer.worktree, is_passed) {
        (Some(name), true) => {
            Some(format!("`checkrein worktree diff {name}` shows the changes, `merge` brings them back"))
        }
        (None, true) => None,
        (_, false) => Some(format!("`checkrein pipeline run --resume {}` goes on", answer.run)),
    };
    lines.extend(next);
    if state.steps.iter().any(|step| step.outcome == StepOutcome::DidNotRun) {
        lines.push("nothing is known of steps that did not run".to_owned());
    }
    lines.join("\n")
}

/// A run among what was done before, with what its steps said.
pub(in crate::commands) fn past_work(state: &PipelineState) -> (PastWork, String) {
    let said = state.steps.iter().map(|step| format!("{} {} {}", step.name, step.reason, step.feedback));
    let work = PastWork {
        kind: PastWorkKind::Pipeline,
        name: state.id.to_string(),
        at: Timestamp(state.written),
        project: Some(state.workspace.to_string_lossy().into_owned()),
        wanted: goal(state),
        end: state.end.map_or_else(|| "it is not done".to_owned(), |end| ending(state, end)),
        cause: cause(state),
        more: format!("checkrein pipeline show {}", state.id),
    };
    (work, said.collect::<Vec<_>>().join("\n"))
}

/// What a later task like it is told; `None` where the run did not go wrong by itself.
#[cfg(target_os = "linux")]
pub(super) fn lesson(state: &PipelineState, end: PipelineEnd) -> Option<Lesson> {
    match end {
        PipelineEnd::Failed | PipelineEnd::Refused | PipelineEnd::Halted => {}
        PipelineEnd::Passed | PipelineEnd::Incomplete | PipelineEnd::Interrupted | PipelineEnd::GivenUp => {
            return None;
        }
    }
    Some(Lesson {
        at: Timestamp(state.written),
        goal: goal(state),
        end: ending(state, end),
        cause: cause(state).unwrap_or_default(),
        more: format!("checkrein pipeline show {}", state.id),
        session: String::new(),
    })
}

/// What it was to do: what it was given, else the name of its task.
fn goal(state: &PipelineState) -> String {
    let given: Vec<&str> =
        state.inputs.values().map(String::as_str).filter(|text| text.contains(' ')).collect();
    if given.is_empty() { format!("{}: {}", state.pipeline, state.task) } else { given.join("\n") }
}

/// How it ended, in a clause.
fn ending(state: &PipelineState, end: PipelineEnd) -> String {
    let step = state.halt.as_ref().map(|halt| &halt.step);
    let step = step.or_else(|| state.steps.iter().find(|step| is_wrong(step)).map(|step| &step.name));
    let at = step.map(|step| format!(" at step `{step}`")).unwrap_or_default();
    format!("the pipeline ended as {}{at}", end.name().replace('_', " "))
}

/// What was wrong at its end.
fn cause(state: &PipelineState) -> Option<String> {
    let of_halt = state.halt.as_ref().map(|halt| halt.look_at.join("; "));
    let of_step = || state.steps.iter().find(|step| is_wrong(step)).map(reason_with_words);
    of_halt.or_else(of_step).filter(|cause| !cause.is_empty())
}

/// Why a step failed, with the last line of its output: the reason alone says of a command only that it failed.
fn reason_with_words(step: &StepState) -> String {
    let output = step.feedback.strip_prefix(&step.reason).filter(|output| output.starts_with('\n'));
    let last = output.and_then(|output| output.lines().rev().map(str::trim).find(|line| !line.is_empty()));
    match last {
        Some(last) => format!("{}: `{}`", step.reason, cut(&plain(last), SHOWN)),
        None => step.reason.clone(),
    }
}

fn is_wrong(step: &StepState) -> bool {
    match step.outcome {
        StepOutcome::Failed | StepOutcome::Refused | StepOutcome::Halted => true,
        StepOutcome::Waiting
        | StepOutcome::Running
        | StepOutcome::Passed
        | StepOutcome::LeftOut
        | StepOutcome::DidNotRun => false,
    }
}
