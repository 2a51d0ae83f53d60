//! The behaviour of a session: the state of all detectors, bounded, and what they find in it.

mod foresight;

use std::collections::VecDeque;

use checkrein_policy::StuckLoopThresholds;
use checkrein_protocol::{Claim, Fingerprint, Severity, VerdictKind};
use serde::{Deserialize, Serialize};

use crate::combination;
use crate::errors::{Attempt, ErrorRun, Errors};
use crate::exploration_wandering::Wandering;
use crate::goal_drift::Drift;
use crate::hallucination::Phantoms;
use crate::issue::{ActionNumber, Issue, PatternKind, Share};
use crate::messages::Messages;
use crate::observation::{ActionSuccess, observation_of_refusal};
use crate::oscillating_edits::Edits;
use crate::own_pattern::{FiredPattern, OwnPatterns};
use crate::polling;
use crate::repeated_verdicts::{VerdictCause, Verdicts};
use crate::resource_spiral::{Spiral, Usage};
use crate::scope::Scope;
use crate::settings::PatternSettings;
use crate::stagnation::Stagnation;
use crate::step::{ActionFacts, Activity, Answer, Fate, OutcomeFacts, Pace, Probe, Run, Step};
use crate::stuck_loop::{self, Wait};

/// What the detectors remember of a session. Its size is bounded however long the session is, and so is the work that each
/// action makes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DetectorState {
    now: ActionNumber,
    turn: u32,
    steps: VecDeque<Step>,
    #[serde(default)]
    wait: Wait,
    /// What the newest step is called.
    #[serde(default)]
    newest: String,
    /// What its client said that went wrong, in one line; empty where it said nothing.
    #[serde(default)]
    error_text: String,
    errors: Errors,
    #[serde(default)]
    error_run: ErrorRun,
    edits: Edits,
    stagnation: Stagnation,
    messages: Messages,
    scope: Scope,
    drift: Drift,
    spiral: Spiral,
    wandering: Wandering,
    phantoms: Phantoms,
    #[serde(default)]
    own: OwnPatterns,
    #[serde(default)]
    verdicts: Verdicts,
    changed_since_error: bool,
    standing: Vec<ActiveIssue>,
}

/// An issue that was reported and has not ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActiveIssue {
    /// Which pattern.
    pub kind: PatternKind,
    /// How grave it was when it was reported last.
    pub severity: Severity,
    /// The action after which it was reported first.
    pub since: ActionNumber,
}

/// What is new about the issues of a session.
#[derive(Debug, Clone, PartialEq)]
pub enum IssueChange {
    /// An issue that was not there before.
    Began(Issue),
    /// An issue that has become graver.
    Grew(Issue),
    /// An issue that is no more.
    Ended(PatternKind),
}

/// Whether a failure has words of its own: `Exit code 1` alone is what a client says of any.
fn says_how_it_failed(ending: &OutcomeFacts<'_>) -> bool {
    let says = |line: &str| !line.trim().is_empty() && !line.to_ascii_lowercase().starts_with("exit code");
    ending.success == ActionSuccess::Failed && ending.error.is_some_and(|error| error.lines().any(says))
}

impl DetectorState {
    /// The number of the last action that has ended.
    pub fn now(&self) -> ActionNumber {
        self.now
    }

    /// Takes up an action that has ended.
    pub fn finished(&mut self, plan: &ActionFacts, ending: &OutcomeFacts<'_>) {
        self.took(plan, ending, Fate::Counts, Run::Done);
    }

    fn took(&mut self, plan: &ActionFacts, ending: &OutcomeFacts<'_>, fate: Fate, run: Run) {
        self.now = plan.number;
        self.newest.clone_from(&plan.name);
        self.messages.interrupted();
        let observation = ending.observation;
        let step = Step {
            number: plan.number,
            actor: plan.actor,
            action: plan.action,
            exact: plan.exact,
            without_options: if says_how_it_failed(ending) {
                plan.without_options
            } else {
                Fingerprint::default()
            },
            bearing: plan.bearing,
            result: observation.digest,
            failure: observation.failure,
            turn: self.turn,
            success: ending.success,
            // Tests that fail have failed, whatever the pipe behind them answers.
            deed: match (plan.deed, observation.tests) {
                (Activity::Retries, Some(tests)) if tests.failed > 0 => Activity::Runs,
                (deed, _) => deed,
            },
            pace: plan.pace,
            clarity: plan.clarity,
            fate,
            run,
            answer: self.answer(plan, ending, run),
        };
        self.wait.took(&step, &self.steps);
        while self.steps.len() >= stuck_loop::REMEMBERED {
            self.steps.pop_front();
        }
        self.steps.push_back(step);
        if let Some(error) = observation.error {
            self.error_text = ending.error.map(crate::errors::telling_line).unwrap_or_default();
            let attempt = if self.changed_since_error { Attempt::Changed } else { Attempt::Unchanged };
            let how = (attempt, plan.deed);
            // Who waits with pauses is told by the loop that it makes, once it has lasted.
            let waits = (plan.deed, plan.pace) == (Activity::Waits, Pace::Paused);
            if !waits {
                self.errors.failed(plan.number, plan.action, observation, error, how, &mut self.error_run);
            }
            self.changed_since_error = false;
        } else if ending.success == ActionSuccess::Succeeded {
            self.errors.succeeded(plan.action);
            self.error_run.succeeded(plan.deed);
            self.changed_since_error |= plan.deed == Activity::Changes;
        }
        if let (Some(edit), ActionSuccess::Succeeded) = (plan.edit, ending.success) {
            self.edits.made(plan.number, edit);
        }
        self.stagnation.ran(plan.number, plan.action, observation);
        self.own.fired(plan.number, &plan.fired);
        self.verdicts.moved_to(plan.number);
        let counts = |cause: &&VerdictCause| run == Run::Refused || cause.verdict == VerdictKind::Nudge;
        if let Some(cause) = plan.cause.as_ref().filter(counts) {
            self.verdicts.judged(plan.number, plan.action, cause);
        }
        self.move_through(plan, ending);
    }

    /// What an action says about what it asks for. What was refused says what it said when it ran last.
    fn answer(&self, plan: &ActionFacts, ending: &OutcomeFacts<'_>, run: Run) -> Answer {
        let is_last = |step: &&Step| step.actor == plan.actor && step.action == plan.action;
        match run {
            Run::Refused => self.steps.iter().rev().find(is_last).map(|step| step.answer).unwrap_or_default(),
            Run::Done if ending.error.is_some_and(polling::says_not_yet) => Answer::NotYet,
            Run::Done => Answer::Plain,
        }
    }

    /// Takes up an action that was refused and did not run. In a loop the same call once more counts as the same result once more, as when
    /// it ran last: a refusal does not end a loop. It is marked as refused, since it neither succeeded nor failed.
    pub fn refused(&mut self, plan: &ActionFacts, verdict: &str) {
        let mut observation = observation_of_refusal(verdict);
        let (mut success, mut fate, mut deed) = (ActionSuccess::Failed, Fate::Refused, Activity::Runs);
        let own = |step: &&Step| step.actor == plan.actor && step.action == plan.action;
        if let Some(last) = self.steps.iter().rev().find(own) {
            observation.digest = last.result;
            observation.failure = last.failure;
            success = last.success;
            (fate, deed) = (last.fate, last.deed);
        }
        // What changes nothing, since it does not run, ends nothing either.
        if deed == Activity::Changes {
            deed = Activity::Runs;
        }
        // Nothing was looked at, changed or used.
        let nothing = ActionFacts {
            deed,
            probe: Probe::Other,
            place: None,
            edit: None,
            alignment: None,
            file_operations: 0,
            processes: 0,
            bytes_written: 0,
            touches: Vec::new(),
            ..plan.clone()
        };
        let ending = OutcomeFacts {
            success,
            observation: &observation,
            output_bytes: 0,
            duration_ms: None,
            pause_ms: 0,
            error: None,
        };
        self.took(&nothing, &ending, fate, Run::Refused);
        self.stagnation.refused(plan.number, plan.action);
        self.errors.refused(plan.number, plan.action, &mut self.error_run);
    }

    /// Returns what a session that goes on in place of this one keeps of it: the last calls and how they ended, before its first action. A
    /// conversation that was cleared does not make what happened in the workspace undone (ours).
    #[must_use]
    pub fn carried(&self) -> Self {
        let before = ActionNumber::default();
        let steps = self.steps.iter().map(|step| Step { number: before, turn: 0, ..*step });
        Self {
            steps: steps.collect(),
            wait: self.wait,
            newest: self.newest.clone(),
            stagnation: self.stagnation.carried(),
            changed_since_error: self.changed_since_error,
            ..Self::default()
        }
    }

    /// Whether there is anything to keep: the last call failed, or was as others before it.
    pub fn is_worth_carrying(&self) -> bool {
        self.steps.back().is_some_and(|last| {
            let is_failing = last.success == ActionSuccess::Failed;
            is_failing || self.steps.iter().rev().skip(1).any(|step| step.repeats(last))
        })
    }

    /// Takes up where an action went and what it used.
    fn move_through(&mut self, plan: &ActionFacts, ending: &OutcomeFacts<'_>) {
        if let Some(missing) = ending.observation.missing {
            self.phantoms.failed(plan, missing, ending.error);
        }
        if (plan.deed, ending.success) == (Activity::Changes, ActionSuccess::Succeeded) {
            self.phantoms.changed();
        }
        let error = ending.observation.error.map(|error| error.category);
        self.phantoms.ran(plan.probe, ending.observation.tests, error);
        match (plan.deed, ending.success, plan.place) {
            (Activity::Changes, ActionSuccess::Succeeded, _) => self.wandering.clear(),
            (Activity::Looks, ActionSuccess::Succeeded, Some(place)) => {
                self.wandering.looked(plan.number, place);
            }
            _ => {}
        }
        plan.touches.iter().for_each(|touch| self.scope.touched(plan.number, *touch));
        if let Some(hundredths) = plan.alignment {
            self.drift.aligned(plan.number, hundredths);
        }
        self.spiral.used(Usage {
            file_operations: u64::from(plan.file_operations),
            processes: u64::from(plan.processes),
            bytes_written: plan.bytes_written,
            tokens: 0,
            output_bytes: ending.output_bytes,
            milliseconds: ending.duration_ms.unwrap_or_default(),
            pause: ending.pause_ms,
        });
    }

    /// Takes up that the model was given and gave tokens.
    pub fn spent(&mut self, tokens: u64) {
        self.spiral.spent(tokens);
    }

    /// Takes up that the agent says it has seen something.
    pub fn claimed(&mut self, claim: Claim) {
        self.phantoms.claimed(self.now, claim);
    }

    /// Takes up a message of the agent, with what it says about new work.
    pub fn said(&mut self, message: Fingerprint, cascade: Share) {
        self.messages.said(message, cascade);
    }

    /// Takes up what a plugin of the user sees: it speaks after a call, and counts with the next one.
    pub fn seen(&mut self, pattern: FiredPattern) {
        self.own.seen(pattern);
    }

    /// Takes up that the client shortened the conversation.
    pub fn condensed(&mut self) {
        self.messages.condensed();
    }

    /// Takes up that something happened that the agent did not do.
    pub fn disturbed(&mut self) {
        self.messages.interrupted();
    }

    /// Takes up that a user spoke. When an issue stands, they have taken the matter into their own hands, and what went before does
    /// not count any more; otherwise nothing is forgotten: a loop goes on across `go on`.
    pub fn prompted(&mut self) {
        self.turn = self.turn.saturating_add(1);
        self.messages.interrupted();
        // What they ask for may lie elsewhere and be something else.
        self.scope.clear();
        self.drift.clear();
        self.verdicts.clear();
        if self.standing.is_empty() {
            return;
        }
        self.standing.clear();
        self.steps.clear();
        self.wait = Wait::default();
        self.errors.clear();
        self.error_run = ErrorRun::default();
        self.edits.clear();
        self.stagnation.clear();
        self.spiral.clear();
        self.wandering.clear();
        self.phantoms.clear();
        self.own.clear();
    }

    /// Everything that is wrong at the moment, gravest first.
    pub fn issues(&self, settings: &PatternSettings) -> Vec<Issue> {
        let thresholds = settings.felt();
        let mut issues: Vec<Issue> = [
            self.stuck(&thresholds.stuck_loop),
            self.errors.detect(self.now, &thresholds.repetitive_errors, &self.error_run, &self.error_text),
            self.edits.detect(self.now, thresholds.oscillating_edits),
            self.stagnation.detect(self.now, thresholds.stagnation),
            self.scope.detect(thresholds.scope_creep),
            self.drift.detect(self.now, &thresholds.goal_drift),
            self.spiral.detect(self.now, thresholds.resource_spiral, settings.metrics_window_seconds),
            self.wandering.detect(self.now, &thresholds.exploration_wandering),
            self.phantoms.detect(self.now, thresholds.hallucination),
            self.verdicts.detect(),
            self.own.detect(),
            self.messages.cascade(self.now, settings.audience, thresholds.cascade),
        ]
        .into_iter()
        .flatten()
        .filter(|issue| settings.counts(issue))
        .collect();
        let combined = combination::detect(&issues);
        issues.extend(combined.into_iter().filter(|issue| settings.counts(issue)));
        issues.sort_by_key(|issue| std::cmp::Reverse(issue.severity));
        issues
    }

    /// What is new about these issues, compared with those that were noted.
    pub fn news(&self, issues: &[Issue]) -> Vec<IssueChange> {
        let standing = |kind: PatternKind| self.standing.iter().find(|standing| standing.kind == kind);
        let mut news = Vec::new();
        for issue in issues {
            match standing(issue.kind) {
                None => news.push(IssueChange::Began(issue.clone())),
                Some(before) if before.severity < issue.severity => {
                    news.push(IssueChange::Grew(issue.clone()));
                }
                Some(_) => {}
            }
        }
        let gone =
            self.standing.iter().filter(|standing| issues.iter().all(|issue| issue.kind != standing.kind));
        news.extend(gone.map(|standing| IssueChange::Ended(standing.kind)));
        news
    }

    /// The marks of the calls with these numbers, as far as they are remembered.
    pub fn calls(&self, actions: &[ActionNumber]) -> Vec<Fingerprint> {
        let named = self.steps.iter().filter(|step| actions.contains(&step.number));
        named.map(|step| step.action).collect()
    }

    /// Takes up that an issue was reported.
    pub fn noted(&mut self, kind: PatternKind, severity: Severity) {
        match self.standing.iter_mut().find(|standing| standing.kind == kind) {
            Some(standing) => standing.severity = severity,
            None => self.standing.push(ActiveIssue { kind, severity, since: self.now }),
        }
    }

    /// Takes up that an issue has ended.
    pub fn ended(&mut self, kind: PatternKind) {
        self.standing.retain(|standing| standing.kind != kind);
    }

    /// The issues that were reported and have not ended.
    pub fn standing(&self) -> &[ActiveIssue] {
        &self.standing
    }

    /// The name of the pattern of the user, or of what a plugin sees (`PLUGIN/KIND`), that stands as an issue.
    pub fn standing_own_pattern(&self) -> Option<&str> {
        let stands = self.standing.iter().any(|issue| issue.kind == PatternKind::OwnPattern);
        if stands { self.own.name() } else { None }
    }

    fn stuck(&self, thresholds: &StuckLoopThresholds) -> Option<Issue> {
        if let Some(issue) = self.messages.detect(self.now, thresholds) {
            return Some(issue);
        }
        let last = self.steps.back()?;
        let own: Vec<Step> = self.steps.iter().filter(|step| step.actor == last.actor).copied().collect();
        let of_own = stuck_loop::detect(&own, self.wait, &self.newest, thresholds);
        let is_alone = own.len() == self.steps.len();
        if of_own.is_some() || is_alone || last.success == ActionSuccess::Succeeded {
            return of_own;
        }
        // What each of many sub-agents fails at in the same way is a loop of who sends them (ours: three times as many rounds, since several
        // may work side by side).
        let rounds = |count: u64| count.saturating_mul(3);
        let thresholds = StuckLoopThresholds {
            rounds: rounds(thresholds.rounds),
            failing_rounds: rounds(thresholds.failing_rounds),
            pair_rounds: rounds(thresholds.pair_rounds),
            ..*thresholds
        };
        let own: Vec<Step> = self.steps.iter().copied().collect();
        let thresholds = &thresholds;
        stuck_loop::detect(&own, self.wait, &self.newest, thresholds)
    }
}
