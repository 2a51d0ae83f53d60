//! What is kept of a run against what was recorded when it happened: `--resume` believes nothing else.
//!
//! The folder of a run that is not done can be written to by whoever may write there, such as a program that a step runs, and the work tree
//! by everybody. So each step that ends leaves a record in a chain, with a digest of what is kept of it and of what lay in the tree. What
//! does not agree with its record runs again.

use std::path::Path;

use checkrein_engine::error::CommandError;
use checkrein_ledger::{PipelineRecord, TreeMark};
use checkrein_pipelines::{PipelineFile, PipelineState, StepAct, StepOutcome, StepSpecification, StepState};
use checkrein_policy::Digest;
use checkrein_supervise::TestRunner;
use serde::Serialize;

use super::judged::judges;
use super::store::files_with_digests;

/// A step that runs again although it passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Doubt {
    pub(super) place: usize,
    pub(super) cause: DoubtCause,
}

/// Why it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DoubtCause {
    /// No record says that it passed.
    NotRecorded,
    /// What is kept of it is not what was recorded.
    Altered,
    /// A step that it waits for is not done.
    NotItsTurn,
    /// Something else lies in the tree than when the run was cut off, and it had judged that.
    TreeChanged,
}

impl DoubtCause {
    /// In words, as the end of a sentence.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::NotRecorded => "no record says that it passed",
            Self::Altered => "what is kept of it is not what was recorded",
            Self::NotItsTurn => "a step that it waits for is not done",
            Self::TreeChanged => "something else lies in the work tree than what it judged",
        }
    }
}

/// What a run was given, as a digest.
pub(super) fn facts_of_run(state: &PipelineState) -> Result<String, CommandError> {
    digest(&(
        (state.id.as_str(), &state.pipeline, &state.task, &state.file, &state.digest, state.is_own),
        (&state.workspace, &state.worktree, &state.inputs, state.created),
    ))
}

/// Everything that is kept of a step and of its last attempt, as a digest.
pub(super) fn facts_of_step(state: &StepState, attempt: &Path) -> Result<String, CommandError> {
    digest(&(state, files_with_digests(attempt)?))
}

fn digest(facts: &impl Serialize) -> Result<String, CommandError> {
    let text = serde_json::to_string(facts).map_err(std::io::Error::from)?;
    Ok(Digest::of(&text).to_string())
}

/// Whether the records of a run say that it began with this.
pub(super) fn began_with(records: &[PipelineRecord], facts: &str) -> bool {
    records.iter().any(|record| matches!(record, PipelineRecord::Began { facts: then, .. } if then == facts))
}

/// The steps that passed and of which that is not certain. `facts` tells what is kept of a step now, `tree` what lies in the tree now; where
/// that cannot be told, it counts as changed.
pub(super) fn doubts(
    pipeline: &PipelineFile,
    state: &PipelineState,
    records: &[PipelineRecord],
    facts: impl Fn(usize, &StepState) -> Option<String>,
    tree: Option<&TreeMark>,
) -> Vec<Doubt> {
    let last_known = records.iter().rev().find_map(|record| match record {
        PipelineRecord::StepEnded { tree, .. } => tree.as_ref(),
        PipelineRecord::Began { .. } | PipelineRecord::Sealed { .. } => None,
    });
    let is_done = |place: usize| state.steps.get(place).is_some_and(|known| known.outcome.lets_on());
    // What an agent changed that was cut off is for the steps behind it to judge, as if it had come to its end.
    let has_agent_cut_off =
        pipeline.steps.iter().zip(&state.steps).enumerate().any(|(place, (step, known))| {
            known.outcome == StepOutcome::Running
                && matches!(step.act, StepAct::Agent(_))
                && pipeline.order.needs(place).iter().all(|need| is_done(*need))
        });
    let is_same = last_known.is_none() || tree == last_known || has_agent_cut_off;
    let judge = |place: usize, step: &StepSpecification, known: &StepState| {
        if known.outcome != StepOutcome::Passed {
            return None;
        }
        if (0..state.steps.len()).any(|other| pipeline.order.waits_for(place, other) && !is_done(other)) {
            return Some(DoubtCause::NotItsTurn);
        }
        let Some((then, judged)) = record_of(records, known) else { return Some(DoubtCause::NotRecorded) };
        if facts(place, known).as_deref() != Some(then) {
            return Some(DoubtCause::Altered);
        }
        let has_judged_last = judged
            .zip(last_known)
            .is_some_and(|(judged, last)| judged.disk == last.disk && judges_tree(step));
        (has_judged_last && !is_same).then_some(DoubtCause::TreeChanged)
    };
    pipeline
        .steps
        .iter()
        .zip(&state.steps)
        .enumerate()
        .filter_map(|(place, (step, known))| Some(Doubt { place, cause: judge(place, step, known)? }))
        .collect()
}

/// What was recorded when the last attempt of a step passed.
fn record_of<'r>(
    records: &'r [PipelineRecord],
    known: &StepState,
) -> Option<(&'r str, Option<&'r TreeMark>)> {
    let passed = StepOutcome::Passed.name();
    records.iter().rev().find_map(|record| match record {
        PipelineRecord::StepEnded { step, attempt, outcome, facts, tree, .. }
            if *step == known.name && *attempt == known.attempts.len() && outcome == passed =>
        {
            Some((facts.as_str(), tree.as_ref()))
        }
        PipelineRecord::StepEnded { .. } | PipelineRecord::Began { .. } | PipelineRecord::Sealed { .. } => {
            None
        }
    })
}

/// Whether what a step says holds for the tree as it was: a gate or a review of what changed, and tests.
fn judges_tree(step: &StepSpecification) -> bool {
    judges(&step.act)
        || matches!(&step.act, StepAct::Command(command) if command.runner != Some(TestRunner::Any))
}

#[cfg(test)]
mod tests {
    use checkrein_policy::LayerKind;

    use super::*;

    const FILE: &str = "name: p\nsteps:\n  - {name: code, command: write}\n  - {name: complete, gate: completeness}\n  - {name: slow, command: sleep}\n  - {name: agent, agent: [claude], prompt: x}\n";

    fn mark(disk: &str) -> TreeMark {
        TreeMark { disk: disk.to_owned(), kept: "k".to_owned() }
    }

    fn ended(step: &str, disk: &str) -> PipelineRecord {
        PipelineRecord::StepEnded {
            run: "r".to_owned(),
            step: step.to_owned(),
            attempt: 1,
            outcome: "passed".to_owned(),
            facts: format!("facts of {step}"),
            tree: Some(mark(disk)),
        }
    }

    fn state(outcomes: &[(&str, StepOutcome)]) -> PipelineState {
        let steps = outcomes.iter().map(|(name, outcome)| {
            let mut step = StepState::new(name);
            step.outcome = *outcome;
            step.attempts = vec![checkrein_pipelines::StepAttempt {
                began: 1,
                ended: None,
                outcome: *outcome,
                summary: String::new(),
            }];
            step
        });
        PipelineState {
            version: PipelineState::VERSION,
            id: checkrein_supervise::runs::RunId::at(1, 1),
            pipeline: "p".to_owned(),
            task: "t".to_owned(),
            file: String::new(),
            digest: String::new(),
            is_own: false,
            workspace: "/w".into(),
            directory: "/w".into(),
            worktree: None,
            inputs: std::collections::BTreeMap::new(),
            created: 1,
            written: 1,
            end: None,
            halt: None,
            steps: steps.collect(),
        }
    }

    fn found(state: &PipelineState, records: &[PipelineRecord], now: &str) -> Vec<(usize, DoubtCause)> {
        let pipeline = PipelineFile::parse("p.yaml", FILE, LayerKind::Flags).unwrap();
        let facts = |_: usize, step: &StepState| Some(format!("facts of {}", step.name));
        let all = doubts(&pipeline, state, records, facts, Some(&mark(now)));
        all.into_iter().map(|doubt| (doubt.place, doubt.cause)).collect()
    }

    #[test]
    fn what_was_judged_last_is_judged_again_where_something_else_lies_there() {
        use StepOutcome::{Passed, Running, Waiting};
        let records = [ended("code", "1"), ended("complete", "1")];
        let cut_off =
            |slow, agent| state(&[("code", Passed), ("complete", Passed), ("slow", slow), ("agent", agent)]);
        assert!(found(&cut_off(Running, Waiting), &records, "1").is_empty());
        assert_eq!(found(&cut_off(Running, Waiting), &records, "2"), [(1, DoubtCause::TreeChanged)]);
        // What the run itself changed since was not judged, and is not.
        let later = [&records[..], &[ended("slow", "3")]].concat();
        assert!(found(&cut_off(Passed, Waiting), &later, "4").is_empty());
        // An agent that was cut off may have changed it.
        let before = [&records[..], &[ended("slow", "1")]].concat();
        assert!(found(&cut_off(Passed, Running), &before, "2").is_empty());
        assert_eq!(found(&cut_off(Passed, Waiting), &before, "2"), [(1, DoubtCause::TreeChanged)]);
    }

    #[test]
    fn what_no_record_confirms_did_not_pass() {
        use StepOutcome::{Passed, Waiting};
        let claimed = state(&[("code", Passed), ("complete", Passed), ("slow", Waiting), ("agent", Waiting)]);
        let out_of_turn =
            state(&[("code", Waiting), ("complete", Passed), ("slow", Waiting), ("agent", Waiting)]);
        assert_eq!(found(&out_of_turn, &[ended("complete", "1")], "1"), [(1, DoubtCause::NotItsTurn)]);
        assert_eq!(found(&claimed, &[ended("code", "1")], "1"), [(1, DoubtCause::NotRecorded)]);
        let failed = match ended("complete", "1") {
            PipelineRecord::StepEnded { run, step, attempt, facts, tree, .. } => {
                PipelineRecord::StepEnded { run, step, attempt, outcome: "failed".to_owned(), facts, tree }
            }
            other => other,
        };
        assert_eq!(found(&claimed, &[ended("code", "1"), failed], "1"), [(1, DoubtCause::NotRecorded)]);
        let other = match ended("complete", "1") {
            PipelineRecord::StepEnded { run, step, attempt, outcome, tree, .. } => {
                PipelineRecord::StepEnded { run, step, attempt, outcome, facts: "other".to_owned(), tree }
            }
            other => other,
        };
        assert_eq!(found(&claimed, &[ended("code", "1"), other], "1"), [(1, DoubtCause::Altered)]);
    }

    #[test]
    fn what_a_run_was_given_is_recorded() {
        let began = state(&[]);
        let facts = facts_of_run(&began).unwrap();
        let records = [PipelineRecord::Began { run: "r".to_owned(), facts: facts.clone() }];
        assert!(began_with(&records, &facts));
        let loosened = PipelineState { is_own: true, ..began };
        assert!(!began_with(&records, &facts_of_run(&loosened).unwrap()));
    }
}
