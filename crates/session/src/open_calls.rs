//! Which calls did not run, as far as the records tell: the client, or its user, refused them after our review.
//!
//! Nobody tells of such a refusal. But a client that tells of the end of each call, and of the end of all calls of an answer, went past
//! this one without a word of it. Of clients that tell of less nothing follows, but for a question that was put to a user: without an end
//! its answer was no.

use std::collections::{HashSet, VecDeque};

use checkrein_protocol::{ActionId, CallDisposition, Record, RecordBody, ReviewRecord};
use serde::{Deserialize, Serialize};

use crate::state::{SESSION_END, TURN_END_EVENTS, bounds};

/// How many calls may be open at one time (ours): an agent makes fewer side by side, with its sub-agents.
const MOST_OPEN: usize = 64;

/// The calls of which no end is told yet, and what tells that they never began.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct OpenCalls {
    open: VecDeque<OpenCall>,
    /// Whether the client told of the end of all calls of an answer.
    tells_of_all: bool,
}

/// A call of which no end is told yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct OpenCall {
    id: ActionId,
    actor: Option<String>,
    /// Whether a user was to be asked about it.
    is_question: bool,
    /// Whether its agent went on behind it.
    is_passed: bool,
}

impl OpenCalls {
    /// Takes up the next record of the session. Returns the calls that did not run, as is known now; an end that is told later says that one
    /// did.
    pub fn take(&mut self, record: &Record) -> Vec<ActionId> {
        match &record.body {
            RecordBody::Review(review) => {
                self.end(&review.action_id);
                let is_question = match Running::of(review) {
                    Running::Never => return Vec::new(),
                    Running::Now => false,
                    Running::Asked => true,
                };
                if review.action_id.as_str().len() <= bounds::TEXT_BYTES {
                    let (id, actor) = (review.action_id.clone(), review.actor.clone());
                    bounds::push_bounded(
                        &mut self.open,
                        OpenCall { id, actor, is_question, is_passed: false },
                        MOST_OPEN,
                    );
                }
            }
            RecordBody::Outcome(outcome) => self.end(&outcome.action_id),
            RecordBody::Unanswered(unanswered) => self.end(&unanswered.action_id),
            RecordBody::Unreviewed(unreviewed) => self.end(&unreviewed.action_id),
            RecordBody::Prompt { .. } => self.pass(|call| call.is_question || call.actor.is_none()),
            RecordBody::Event { name, fields } => {
                let field = |name: &str| fields.get(name).and_then(serde_json::Value::as_str);
                match name.as_str() {
                    "PermissionDenied" => {
                        let denied = field("tool_use_id").map(|id| ActionId(id.to_owned()));
                        let is_open =
                            denied.as_ref().is_some_and(|id| self.open.iter().any(|call| call.id == *id));
                        if let Some(id) = denied.filter(|_| is_open) {
                            self.end(&id);
                            return vec![id];
                        }
                    }
                    "PostToolBatch" => {
                        self.tells_of_all = true;
                        let actor = field("agent_id");
                        self.pass(|call| call.actor.as_deref() == actor);
                    }
                    // It may have been interrupted.
                    "SessionEnd" => self.pass(|call| call.is_question),
                    name if TURN_END_EVENTS.contains(&name) => {
                        self.pass(|call| call.is_question || call.actor.is_none());
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        self.not_run()
    }

    /// The calls of which no end was told though their turn or session is over by this record: the client refused them, they failed, or it tells
    /// of no such end.
    pub fn untold<'a>(&'a self, record: &Record) -> impl Iterator<Item = &'a ActionId> {
        let is_over = matches!(&record.body, RecordBody::Event { name, .. } if name == SESSION_END);
        self.open.iter().filter(move |call| call.is_passed || is_over).map(|call| &call.id)
    }

    /// All calls of which no end is told.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &ActionId> {
        self.open.iter().map(|call| &call.id)
    }

    fn end(&mut self, id: &ActionId) {
        self.open.retain(|call| call.id != *id);
    }

    fn pass(&mut self, is_meant: impl Fn(&OpenCall) -> bool) {
        self.open.iter_mut().filter(|call| is_meant(call)).for_each(|call| call.is_passed = true);
    }

    /// Takes out the calls that did not run.
    fn not_run(&mut self) -> Vec<ActionId> {
        let mut found = Vec::new();
        let tells_of_all = self.tells_of_all;
        self.open.retain(|call| {
            let is_refused = call.is_passed && (tells_of_all || call.is_question);
            if is_refused {
                found.push(call.id.clone());
            }
            !is_refused
        });
        found
    }
}

/// The calls among the records of a session, oldest first, that did not run as far as is known.
pub fn calls_not_run<'a>(records: impl IntoIterator<Item = &'a Record>) -> HashSet<ActionId> {
    let (mut open, mut found) = (OpenCalls::default(), HashSet::new());
    for record in records {
        found.extend(open.take(record));
        if let RecordBody::Outcome(outcome) = &record.body {
            found.remove(&outcome.action_id);
        }
    }
    found
}

/// Whether a reviewed action runs.
pub(crate) enum Running {
    /// The verdict lets it.
    Now,
    /// A user decides; an outcome will show it.
    Asked,
    /// The verdict forbids it.
    Never,
}

impl Running {
    pub(crate) fn of(review: &ReviewRecord) -> Self {
        match review.disposition() {
            CallDisposition::LetRun => Self::Now,
            CallDisposition::Asked => Self::Asked,
            CallDisposition::Refused => Self::Never,
        }
    }
}
