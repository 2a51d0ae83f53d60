//! What runs next, and what becomes of the others when a step ends. Pure: the same ends make the same state.

use std::collections::BTreeSet;

use crate::file::{PipelineFile, StepAct, StepSpecification};
use crate::state::{PipelineEnd, PipelineHalt, PipelineState, StepAttempt, StepOutcome, StepState};
use crate::strikes::{Likeness, LoopKind, LoopVerdict, RoundOutcome};
use crate::template::TemplateValues;

/// How many problems a halt names (ours).
const NAMED: usize = 10;

/// How an attempt of a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepEnd {
    /// It did what it should.
    Passed,
    /// It ran, and what it should show does not hold.
    Failed,
    /// The same, and trying again changes nothing.
    FailedForGood,
    /// Something said that it must not go on.
    Refused,
    /// It did not run to its end.
    DidNotRun,
}

/// What an attempt of a step came to.
#[derive(Debug, Clone)]
pub struct StepResult {
    /// How it ended.
    pub end: StepEnd,
    /// In a sentence.
    pub summary: String,
    /// What is wrong, one entry for each problem, in words that stay the same while it does.
    pub problems: BTreeSet<String>,
    /// How many problems there are, where they can be counted.
    pub count: Option<u64>,
    /// Equal rounds that are too many.
    pub strikes: u32,
    /// How much tests covered, in thousandths of a percent, where it is told.
    pub covered: Option<u64>,
    /// What is wrong, for whoever mends it.
    pub feedback: String,
}

/// What follows from the end of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepConsequence {
    /// What waits for it may begin.
    GoesOn,
    /// It is tried again.
    TriedAgain,
    /// The pipeline goes back to this step.
    SentBack(String),
    /// It is over with it.
    Over,
}

impl StepResult {
    /// A result without problems to name.
    pub fn plain(end: StepEnd, summary: impl Into<String>) -> Self {
        let summary = summary.into();
        Self {
            end,
            feedback: summary.clone(),
            summary,
            problems: BTreeSet::new(),
            count: None,
            strikes: 2,
            covered: None,
        }
    }
}

impl PipelineState {
    /// Settles what can be settled without running anything, and names the steps that may begin now, in the order of the file. `running` are
    /// the places of those that run.
    pub fn next(
        &mut self,
        pipeline: &PipelineFile,
        values: &TemplateValues,
        running: &BTreeSet<usize>,
    ) -> Vec<usize> {
        self.settle(pipeline, values);
        let alone = |place: usize| pipeline.steps.get(place).is_some_and(|step| step.act.runs_alone());
        if running.iter().any(|place| alone(*place)) {
            return Vec::new();
        }
        let mut starting: Vec<usize> = Vec::new();
        for place in 0..self.steps.len() {
            if running.len() + starting.len() >= pipeline.parallel || !self.is_ready(pipeline, place) {
                continue;
            }
            if alone(place) {
                if running.is_empty() && starting.is_empty() {
                    return vec![place];
                }
                // It waits until the others have ended; what comes after it in the file waits with it.
                break;
            }
            starting.push(place);
        }
        starting
    }

    /// Whether everything that a step waits for lets it on.
    fn is_ready(&self, pipeline: &PipelineFile, place: usize) -> bool {
        self.outcome(place) == Some(StepOutcome::Waiting)
            && pipeline
                .order
                .needs(place)
                .iter()
                .all(|need| self.outcome(*need).is_some_and(StepOutcome::lets_on))
    }

    fn outcome(&self, place: usize) -> Option<StepOutcome> {
        self.steps.get(place).map(|step| step.outcome)
    }

    /// Leaves out what is not wanted, and says of what cannot run any more why that is.
    fn settle(&mut self, pipeline: &PipelineFile, values: &TemplateValues) {
        loop {
            let mut has_changed = false;
            for (place, step) in pipeline.steps.iter().enumerate() {
                if self.outcome(place) != Some(StepOutcome::Waiting) {
                    continue;
                }
                let stopped = pipeline.order.needs(place).iter().copied().find(|need| {
                    self.outcome(*need).is_some_and(|outcome| match outcome {
                        StepOutcome::Failed
                        | StepOutcome::Refused
                        | StepOutcome::Halted
                        | StepOutcome::DidNotRun => true,
                        StepOutcome::Waiting
                        | StepOutcome::Running
                        | StepOutcome::Passed
                        | StepOutcome::LeftOut => false,
                    })
                });
                let settled = if let Some(need) = stopped {
                    let name = self.steps.get(need).map(|step| step.name.clone()).unwrap_or_default();
                    Some((StepOutcome::DidNotRun, format!("it waits for `{name}`")))
                } else if self.is_ready(pipeline, place)
                    && let Some(condition) = step.when.as_ref().filter(|condition| !condition.holds(values))
                {
                    Some((StepOutcome::LeftOut, format!("its condition does not hold: {}", condition.text())))
                } else {
                    None
                };
                if let (Some((outcome, reason)), Some(state)) = (settled, self.steps.get_mut(place)) {
                    state.outcome = outcome;
                    state.reason = reason;
                    has_changed = true;
                    if outcome == StepOutcome::LeftOut {
                        // Others may ask about it.
                        return self.settle(pipeline, &self.with_outcomes(values));
                    }
                }
            }
            if !has_changed {
                return;
            }
        }
    }

    /// What templates and conditions are filled in with, as far as the state says it.
    pub fn with_outcomes(&self, values: &TemplateValues) -> TemplateValues {
        let mut all = values.clone();
        for step in &self.steps {
            all.0.insert(format!("steps.{}.outcome", step.name), step.outcome.name().to_owned());
            all.0.insert(format!("steps.{}.text", step.name), step.text.clone());
        }
        all
    }

    /// Writes down that a step begins.
    pub fn begin(&mut self, place: usize, now: u64) {
        if let Some(step) = self.steps.get_mut(place) {
            step.outcome = StepOutcome::Running;
            step.reason.clear();
            step.attempts.push(StepAttempt {
                began: now,
                ended: None,
                outcome: StepOutcome::Running,
                summary: String::new(),
            });
        }
    }

    /// Takes up how a step ended, and says what follows.
    pub fn finish(
        &mut self,
        pipeline: &PipelineFile,
        place: usize,
        result: StepResult,
        now: u64,
    ) -> StepConsequence {
        let (Some(step), Some(state)) = (pipeline.steps.get(place), self.steps.get_mut(place)) else {
            return StepConsequence::Over;
        };
        let outcome = match result.end {
            StepEnd::Passed => StepOutcome::Passed,
            StepEnd::Failed | StepEnd::FailedForGood => StepOutcome::Failed,
            StepEnd::Refused => StepOutcome::Refused,
            StepEnd::DidNotRun => StepOutcome::DidNotRun,
        };
        if let Some(attempt) = state.attempts.last_mut() {
            attempt.ended = Some(now);
            attempt.outcome = outcome;
            attempt.summary.clone_from(&result.summary);
        }
        state.outcome = outcome;
        state.reason.clone_from(&result.summary);
        state.feedback.clone_from(&result.feedback);
        if outcome == StepOutcome::Passed {
            state.failures = 0;
            return StepConsequence::GoesOn;
        }
        let may_retry = match result.end {
            // A verdict stands: whoever is asked again until they approve has not reviewed.
            StepEnd::Failed => !matches!(step.act, StepAct::Review(_)),
            // What did not run is not made better by a loop, but what is out of reach may be back.
            StepEnd::DidNotRun => true,
            StepEnd::Passed | StepEnd::FailedForGood | StepEnd::Refused => false,
        };
        state.failures = state.failures.saturating_add(1);
        if may_retry && state.failures <= step.retries {
            state.outcome = StepOutcome::Waiting;
            return StepConsequence::TriedAgain;
        }
        match result.end {
            StepEnd::Failed => self.send_back(pipeline, place, step, result),
            StepEnd::Passed | StepEnd::FailedForGood | StepEnd::Refused | StepEnd::DidNotRun => {
                StepConsequence::Over
            }
        }
    }

    /// Goes back as far as the step says, unless its loop is over.
    fn send_back(
        &mut self,
        pipeline: &PipelineFile,
        place: usize,
        step: &StepSpecification,
        result: StepResult,
    ) -> StepConsequence {
        let (Some(back), Some(state)) = (&step.sends_back, self.steps.get_mut(place)) else {
            return StepConsequence::Over;
        };
        let likeness = match &step.act {
            StepAct::Review(_) => Likeness::MoreThanHalf,
            StepAct::Command(_)
            | StepAct::Gate(_)
            | StepAct::Agent(_)
            | StepAct::Approve(_)
            | StepAct::PullRequest(_) => Likeness::Exact,
        };
        let mut look_at: Vec<String> = result.problems.iter().take(NAMED).cloned().collect();
        let more = result.problems.len().saturating_sub(NAMED);
        if more > 0 {
            look_at.push(format!("and {more} more"));
        }
        let outcome = RoundOutcome {
            problems: result.problems,
            count: result.count,
            strikes: result.strikes,
            covered: result.covered,
        };
        let verdict = state.rounds.take(outcome, likeness, back.at_most);
        let rounds = state.rounds.rounds;
        if verdict != LoopVerdict::Again {
            state.outcome = StepOutcome::Halted;
            state.reason = halted(verdict, rounds, back.kind, &result.summary);
            self.halt = Some(PipelineHalt { step: step.name.clone(), verdict, rounds, look_at });
            return StepConsequence::Over;
        }
        let Some((to, _)) = pipeline.step(&back.to) else { return StepConsequence::Over };
        self.again_from(pipeline, to, place);
        StepConsequence::SentBack(back.to.clone())
    }

    /// Has the turn of a step come again, and that of all that wait for it. `from` keeps what it found, which the others are told.
    fn again_from(&mut self, pipeline: &PipelineFile, to: usize, from: usize) {
        for (place, state) in self.steps.iter_mut().enumerate() {
            if place == to || place == from || pipeline.order.waits_for(place, to) {
                state.wait_again();
                if place != from {
                    state.feedback.clear();
                }
            }
        }
    }

    /// Has a pipeline that was cut off, halted or stopped go on: what was cut off, did not run or did not pass has its turn again.
    pub fn resume(&mut self) {
        for step in &mut self.steps {
            match step.outcome {
                StepOutcome::Passed | StepOutcome::Waiting => {}
                // Being cut off is no failure, and takes none back.
                StepOutcome::Running => {
                    step.outcome = StepOutcome::Waiting;
                    step.reason.clear();
                }
                // The condition of one that was left out is asked again.
                StepOutcome::LeftOut | StepOutcome::DidNotRun => step.wait_again(),
                StepOutcome::Failed | StepOutcome::Refused | StepOutcome::Halted => {
                    step.wait_again();
                    // Somebody looked at it: its loop begins anew.
                    step.rounds = crate::LoopRound::default();
                    step.route = None;
                }
            }
            if step.question.is_some() && step.outcome == StepOutcome::Waiting && self.end.is_some() {
                step.question = None;
            }
        }
        self.end = None;
        self.halt = None;
    }

    /// Begins again with a step: it and all that wait for it have their turn, as if they had never run.
    pub fn resume_from(&mut self, pipeline: &PipelineFile, place: usize) {
        self.resume();
        self.begin_again(pipeline, place);
    }

    /// Has the turn of a step and of all that wait for it come as if they had never run.
    pub fn begin_again(&mut self, pipeline: &PipelineFile, place: usize) {
        for (other, state) in self.steps.iter_mut().enumerate() {
            if other == place || pipeline.order.waits_for(other, place) {
                let attempts = std::mem::take(&mut state.attempts);
                *state = StepState { attempts, ..StepState::new(&state.name.clone()) };
            }
        }
    }

    /// What is wrong, for the agent of a step: of all steps that sent the pipeline back to it, or to a step before it, so that its turn
    /// comes again on the way.
    pub fn feedback_for(&self, pipeline: &PipelineFile, step: &StepSpecification) -> String {
        let sent_back =
            pipeline.steps.iter().zip(&self.steps).enumerate().filter(|(place, (other, state))| {
                other.sends_back.as_ref().is_some_and(|back| {
                    back.to == step.name || pipeline.is_on_the_way(&step.name, &back.to, *place)
                }) && !state.feedback.is_empty()
                    && state.outcome == StepOutcome::Waiting
            });
        let told =
            sent_back.map(|(_, (other, state))| format!("`{}` failed:\n{}", other.name, state.feedback));
        told.collect::<Vec<_>>().join("\n\n")
    }

    /// How it ended, once nothing runs and nothing can begin.
    pub fn conclusion(&self) -> PipelineEnd {
        let has = |outcome: StepOutcome| self.steps.iter().any(|step| step.outcome == outcome);
        if has(StepOutcome::Refused) {
            PipelineEnd::Refused
        } else if has(StepOutcome::Failed) {
            PipelineEnd::Failed
        } else if has(StepOutcome::Halted) {
            PipelineEnd::Halted
        } else if self.steps.iter().all(|step| step.outcome.lets_on()) {
            PipelineEnd::Passed
        } else {
            PipelineEnd::Incomplete
        }
    }
}

fn halted(verdict: LoopVerdict, rounds: u32, kind: LoopKind, summary: &str) -> String {
    let why = match verdict {
        LoopVerdict::SameAgain => {
            "it failed in the same way again, and another try of the same kind changes nothing"
        }
        LoopVerdict::StandsStill => "its failures change, and do not become fewer",
        LoopVerdict::CapReached => "it had all of its rounds",
        LoopVerdict::Again => "it goes on",
    };
    format!("halted after {rounds} rounds of {}: {why}; last: {summary}", kind.name())
}

#[cfg(test)]
mod tests;
