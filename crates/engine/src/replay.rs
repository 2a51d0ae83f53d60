//! A session played from a recording: reviewed with a growing history, watched by the detectors, recorded nowhere.

use checkrein_ledger::{Projection as _, content_hash, first_prev};
use checkrein_patterns::PatternSettings;
use checkrein_protocol::{
    Action, ActionId, MessagePlace, OutcomeRecord, Record, RecordBody, SessionId, Timestamp,
};
use checkrein_session::SessionState;

use checkrein_review::Review;
use serde_json::Value as Json;

use crate::answering::pattern_settings;
use crate::context::Context;
use crate::flow;
use crate::intervention_texts::InterventionTexts;
use crate::monitor::{self, HeldTexts, Noticed};
use crate::records::{message_record, observed, review_record, success};
use crate::unhooked::replayed;

/// How far apart steps are taken to be when the recording does not say, in milliseconds (ours).
const PACE: u64 = 10_000;

/// A session that is being played.
#[derive(Debug)]
pub struct ReplaySession {
    context: Context,
    settings: PatternSettings,
    state: SessionState,
    sequence: u64,
    now: Timestamp,
}

/// The outcome of a recorded step.
#[derive(Debug, Clone, Copy)]
pub struct RecordedOutcome<'a> {
    /// What it answered.
    pub output: &'a str,
    /// Whether it failed.
    pub failed: bool,
}

impl ReplaySession {
    /// A session that begins with these goals.
    pub fn new(context: Context, goals: &[String]) -> Self {
        let settings = pattern_settings(context.policy().config());
        let workspace = context.workspace().to_string();
        let mut rehearsal =
            Self { context, settings, state: SessionState::default(), sequence: 0, now: Timestamp(0) };
        rehearsal.apply(RecordBody::SessionStarted {
            session: SessionId("rehearsal".to_owned()),
            client: "replay".to_owned(),
            cwd: workspace.clone(),
            workspace,
            source: "replay".to_owned(),
            beginning: None,
            debt: None,
        });
        goals.iter().for_each(|goal| rehearsal.heard(goal));
        rehearsal
    }

    /// Time goes on: to a moment of the recording, or by the usual pace.
    pub fn wait_until(&mut self, moment: Option<Timestamp>) {
        self.now = moment.filter(|moment| *moment >= self.now).unwrap_or(Timestamp(self.now.0 + PACE));
    }

    /// The user said something.
    pub fn heard(&mut self, text: &str) {
        self.apply(RecordBody::Prompt { text: text.to_owned() });
    }

    /// The agent said something.
    pub fn said(&mut self, text: &str) -> Noticed {
        let own = &self.context.policy().config().patterns.cascade_patterns;
        let record = message_record(text, MessagePlace::End, own);
        self.apply(record);
        self.detect()
    }

    /// The client shortened the conversation.
    pub fn condensed(&mut self) -> Noticed {
        self.apply(RecordBody::Condensed);
        self.detect()
    }

    /// Something happened that nobody did.
    pub fn happened(&mut self) {
        self.apply(RecordBody::Event { name: "observation".to_owned(), fields: Json::Null });
    }

    /// Reviews the next action, and takes it up.
    pub fn before(&mut self, action: &Action, action_id: ActionId) -> Review {
        let review = self.review(action);
        self.take_up(&review, action, action_id);
        review
    }

    /// Reviews an action as the next one.
    pub fn review(&self, action: &Action) -> Review {
        let world = self.context.world_at(self.state.history(), self.now);
        replayed(&self.context, action, &self.state, &world)
    }

    /// Takes up that an action with this review was called.
    pub fn take_up(&mut self, review: &Review, action: &Action, action_id: ActionId) {
        let mode = self.context.policy().config().mode;
        let record = review_record(review, action, action_id, None, mode, 0);
        self.apply(RecordBody::Review(Box::new(record)));
    }

    /// Tells how it went, and answers what is noticed then.
    pub fn after(&mut self, action_id: ActionId, action: &Action, outcome: RecordedOutcome<'_>) -> Noticed {
        let RecordedOutcome { output, failed } = outcome;
        let planted = flow::planted(&self.state, &action_id, output, &str::to_owned);
        self.apply(RecordBody::Outcome(OutcomeRecord {
            action_id,
            tool: action.tool.clone(),
            failed,
            error: failed.then(|| output.to_owned()),
            duration_ms: None,
            output_bytes: output.len() as u64,
            output_hash: content_hash(output.as_bytes()),
            masked: Vec::new(),
            planted,
            observation: Some(observed(action, output, success(failed))),
            verification: None,
        }));
        self.detect()
    }

    /// Answers what is noticed after an action that was refused.
    pub fn refused(&mut self) -> Noticed {
        self.detect()
    }

    fn detect(&mut self) -> Noticed {
        let (config, environment) = (self.context.policy().config(), self.context.environment());
        let texts = || HeldTexts { texts: InterventionTexts::read(environment, config), because: None };
        let noticed = monitor::look(&self.state, &self.settings, config, environment, &texts, self.now);
        noticed.records.iter().for_each(|body| self.apply(body.clone()));
        noticed
    }

    fn apply(&mut self, body: RecordBody) {
        self.sequence += 1;
        self.state.apply(&Record {
            seq: self.sequence,
            prev: first_prev(),
            at: self.now,
            body,
            hash: first_prev(),
        });
    }
}
