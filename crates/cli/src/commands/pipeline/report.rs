//! What is told of a run of a pipeline.

use checkrein_engine::error::CommandError;
use checkrein_pipelines::{PipelineState, StepOutcome};

use super::super::OutputForm;
use super::store::PipelineStore;
use crate::api;
use crate::api::pipelines::{PipelineAnswer, PipelineHaltEntry, PipelineReview, PipelineStepEntry};
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
        reviews: step
            .reviews
            .iter()
            .map(|one| PipelineReview {
                reviewer: one.reviewer.clone(),
                asked: one.asked.clone(),
                answered: one.answered.clone(),
                verdict: one.verdict.clone(),
                cause: one.cause.clone(),
            })
            .collect(),
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
