//! The actions of a session, from the review of each to its outcome.

use checkrein_facts::{PastAction, TrustDebt};
use checkrein_intervention::Ran;
use checkrein_patterns::{
    ActionFacts, ActionNumber, ActionSuccess, Activity, Bearing, Fingerprint, Observation, OutcomeFacts, Pace,
};
use checkrein_protocol::{
    AbsolutePath, ActionId, DoubtRecord, Effect, OutcomeRecord, Record, ReviewRecord, Timestamp,
};
use serde::{Deserialize, Serialize};

use super::SessionState;
use super::bounds::{self, push_bounded, short_path};
use super::changes::Awaited;
use super::flow::SettledReadings;
use crate::deeds::deeds;
use crate::open_calls::Running;
use crate::state::PlannedCall;

/// An action of which the outcome may still come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RecentAction {
    pub(super) id: Option<ActionId>,
    pub(super) past: PastAction,
    /// What is counted once the outcome shows that it ran: for an action that a user was asked about.
    pub(super) awaited: Option<Awaited>,
    /// Paths that it put on the list of created ones.
    created: Vec<AbsolutePath>,
    /// What the detectors are told when the outcome comes.
    plan: Option<ActionFacts>,
    /// Whether they were told that it was refused, since nobody seemed to say yes.
    #[serde(default)]
    given_up: bool,
}

impl SessionState {
    pub(super) fn take_review(&mut self, review: &ReviewRecord, record: &Record) {
        self.take_beginning(review.beginning.as_deref(), record.at);
        self.actions += 1;
        if let Some(governance) = &review.governance {
            if let Some(debt) = governance.debt {
                self.trust = TrustDebt { debt, at: record.at, ..self.trust };
            }
            if governance.asks_for_review {
                self.tier_ticket = Some(record.seq);
                self.trust.review_asked = true;
            }
        }
        self.verdicts.count(review.verdict);
        self.count_call(review);
        if review.flagged {
            self.verdicts.flagged += 1;
        }
        if let Some(position) = self.seen.iter().position(|kind| *kind == review.kind) {
            self.seen.remove(position);
        }
        push_bounded(&mut self.seen, review.kind, bounds::SEEN);

        let awaited = Awaited::of(review, self.actions);
        let plan = self.plan(review);
        let (actor, mark) = (plan.actor, plan.action);
        let same = self.recent.iter_mut().rfind(|action| action.past.exact == review.exact).map(|action| {
            // Whoever was asked did not say yes.
            action.past.refused |= action.awaited.is_some();
            &action.past
        });
        let mut action = RecentAction {
            id: (review.action_id.as_str().len() <= bounds::TEXT_BYTES).then(|| review.action_id.clone()),
            past: PastAction {
                kind: review.kind,
                exact: review.exact,
                failed: None,
                paths: touched_paths(&review.effects),
                failures: same.map_or(0, PastAction::failures_with_it),
                refused: false,
                refusals: same.map_or(0, PastAction::refusals_with_it),
                only_looked: plan.bearing == Bearing::Idle,
                waited: plan.pace == Pace::Paused && plan.deed == Activity::Waits,
                deeds: deeds(review),
            },
            awaited: None,
            created: Vec::new(),
            plan: Some(plan),
            given_up: false,
        };
        self.take_unanswered(review.exact, actor, mark);
        match Running::of(review) {
            Running::Now => action.created = self.take_effects(awaited, record.at),
            Running::Asked => action.awaited = Some(awaited),
            Running::Never => {
                // Nothing ran, and the same call will be refused again: a result like any other.
                action.past.refused = true;
                if let Some(plan) = action.plan.take() {
                    self.behaviour.refused(&plan, review.verdict.name());
                }
            }
        }
        push_bounded(&mut self.recent, action, bounds::RECENT);
    }

    /// Takes up that calls did not run: what they would have made is not theirs.
    pub(super) fn take_not_run(&mut self, calls: &[ActionId]) {
        for id in calls {
            self.count_not_run(id);
            let action = self.recent.iter_mut().rfind(|action| action.id.as_ref() == Some(id));
            let made = action.map(|action| std::mem::take(&mut action.created)).unwrap_or_default();
            self.created.retain(|path| !made.contains(path));
        }
    }

    /// The same call is made once more, however it is worded, so what the agent was asked about before has been answered: where nothing of it
    /// came, whoever was asked said no, or nobody was there. Those are refusals like any other, in their order. A yes that comes late is still
    /// taken up.
    fn take_unanswered(&mut self, exact: u64, actor: Fingerprint, mark: Fingerprint) {
        let is_again = |action: &RecentAction| {
            let is_asked_again = action.awaited.is_some()
                && action.plan.as_ref().is_some_and(|plan| (plan.actor, plan.action) == (actor, mark));
            action.past.exact == exact || is_asked_again
        };
        if !self.recent.iter().any(is_again) {
            return;
        }
        for action in self.recent.iter_mut().filter(|action| action.awaited.is_some() && !action.given_up) {
            // Another sub-agent that makes the very same call shows as much.
            let is_same = action.past.exact == exact;
            if let Some(plan) = action.plan.as_ref().filter(|plan| is_same || plan.actor == actor) {
                action.given_up = true;
                self.behaviour.refused(plan, "escalate");
            }
        }
    }

    /// Returns the state as it is when this call is made: what the agent was asked about before, and makes again, counts as refused. `None` where
    /// nothing of that is new. What is said about the call and what is said once it is recorded rest on one count.
    pub fn made_again(&self, call: &PlannedCall<'_>) -> Option<Self> {
        let waits = |action: &RecentAction| action.awaited.is_some() && !action.given_up;
        if !self.recent.iter().any(waits) {
            return None;
        }
        let facts = self.facts(call, ActionNumber(self.actions.saturating_add(1)));
        let mut state = self.clone();
        state.take_unanswered(call.exact, facts.actor, facts.action);
        Some(state)
    }

    /// How long nothing was done before an action that ended now, as far as that is known, in milliseconds.
    fn pause(&mut self, at: Timestamp, outcome: &OutcomeRecord) -> u64 {
        let before = self.outcome_at.replace(at);
        before.map_or(0, |before| {
            at.0.saturating_sub(before.0).saturating_sub(outcome.duration_ms.unwrap_or_default())
        })
    }

    pub(super) fn take_outcome(&mut self, outcome: &OutcomeRecord, at: Timestamp) {
        self.outcomes += 1;
        self.count_run(&outcome.action_id);
        let pause_ms = self.pause(at, outcome);
        if let Some(verification) = &outcome.verification {
            let seen = verification.surprises.len() as u64;
            self.surprises = self.surprises.saturating_add(seen).saturating_add(verification.more_surprises);
            self.opaque_doubt = doubted(self.opaque_doubt, verification.doubt);
        }
        let wanted = Some(&outcome.action_id);
        let Some(position) = self.recent.iter().rposition(|action| action.id.as_ref() == wanted) else {
            return;
        };
        let Some(action) = self.recent.get_mut(position) else { return };
        // A client may report a refusal as a failure. What was refused did not run, unless it came to something.
        let is_asked = action.awaited.is_some();
        if !(action.past.refused && outcome.failed) || is_asked {
            action.past.refused = false;
            action.past.failed = Some(outcome.failed);
        }
        if let (Some(plan), Some(observation)) = (action.plan.take(), &outcome.observation) {
            if self.controller.awaits().is_some_and(|proposed| plan.number > proposed.after) {
                // A user let a held call through.
                self.controller.decided();
            }
            let changed =
                plan.deed == Activity::Changes && plan.bearing == Bearing::Counts && !outcome.failed;
            self.controller.ran(if changed { Ran::Changed } else { Ran::Otherwise });
            let passed = observation.tests.is_some_and(|tests| tests.failed == 0 && tests.passed > 0);
            if changed || passed && !outcome.failed {
                self.controller.worked();
            }
            self.behaviour.finished(&plan, &ending(outcome, observation, pause_ms));
        }
        let awaited = action.awaited.take();
        let mut mine = std::mem::take(&mut action.created);
        if let Some(awaited) = awaited {
            if let Some(action) = awaited.settles {
                self.settled = SettledReadings { before: self.settled.until, until: action };
            }
            mine = self.take_effects(awaited, at);
        }
        if outcome.planted.is_some() {
            self.take_orders(&outcome.action_id);
        }
        if outcome.failed {
            // It may or may not have made them; what is not known to be the session's own is the user's.
            self.created.retain(|path| !mine.contains(path));
        } else if let Some(action) = self.recent.get_mut(position) {
            action.created = mine;
        }
    }
}

fn ending<'a>(outcome: &'a OutcomeRecord, observation: &'a Observation, pause_ms: u64) -> OutcomeFacts<'a> {
    OutcomeFacts {
        success: if outcome.failed { ActionSuccess::Failed } else { ActionSuccess::Succeeded },
        observation,
        output_bytes: outcome.output_bytes,
        duration_ms: outcome.duration_ms,
        pause_ms,
        error: outcome.error.as_deref(),
    }
}

/// The doubt after a change of it: it grows to the ceiling of the change, and what was greater already stays.
pub(super) fn doubted(doubt: u32, change: Option<DoubtRecord>) -> u32 {
    let Some(DoubtRecord { points, ceiling }) = change else { return doubt };
    if points < 0 {
        return doubt.saturating_sub(points.unsigned_abs());
    }
    let grown = doubt.saturating_add(points.unsigned_abs()).min(ceiling).min(bounds::DOUBT);
    doubt.max(grown)
}

fn touched_paths(effects: &[Effect]) -> Vec<AbsolutePath> {
    let mut paths: Vec<AbsolutePath> = Vec::new();
    for path in effects.iter().filter_map(short_path) {
        if paths.len() == bounds::PATHS {
            break;
        }
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    paths
}
