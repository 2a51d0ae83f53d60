//! The compact state of a session: what reviewing the next action needs to know of all earlier records.
//!
//! It changes through [`Projection::apply`] alone, so what is rebuilt from a ledger equals what grew with it. Every
//! part is bounded: a million records later it is no larger.

mod actions;
pub mod bounds;
mod call_counts;
mod carried;
mod changes;
mod due_changes;
mod flow;
mod gate_answers;
mod known;
mod plan;
mod plugins;
mod terms;
mod verdict_counts;

use std::collections::VecDeque;

use checkrein_facts::{Tally, TrustDebt, TypedTerminal};
use checkrein_intervention::{Controller, Proposed};
use checkrein_ledger::Projection;
use checkrein_patterns::{ActionNumber, DetectorState, Fingerprint};
use checkrein_protocol::{
    AbsolutePath, ActionId, Beginning, HaltScope, LedgerDamage, MessagePlace, PLUGIN_EVENT, Record,
    RecordBody, RollbackRecord, RollbackStage, SecretMark, Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::open_calls::OpenCalls;
use crate::spent::UsageTotals;
use actions::{RecentAction, doubted};
use bounds::{cut, push_bounded};
pub use call_counts::CallCounts;
use call_counts::CountedCall;
pub use carried::CARRIED_EVENT;
pub use changes::file_operations;
use due_changes::DueChanges;
pub use due_changes::{CHANGE_EVENT, DueChange};
use flow::SettledReadings;
pub use flow::{FlowReading, FlowReadings};
pub use gate_answers::{GATE_EVENT, GateAnswers};
pub use plan::PlannedCall;
pub use plugins::{HeldPluginFactor, HeldPluginIssue, PluginAdvice, PluginFindings};
pub use terms::{NeedsYes, ResumeTerms, StandingTerms, TERMS_EVENT, UsedUp};
pub use verdict_counts::VerdictCounts;

/// Events in which something happens that the agent did not do (ours).
const OUTSIDE: [&str; 3] = ["observation", "Notification", "FileChanged"];

/// What clients call the event with which a turn ends by itself.
pub const TURN_END_EVENTS: [&str; 2] = ["Stop", "AfterAgent"];

/// The name of the event that says that a session ended, in the records of every client.
pub const SESSION_END: &str = "SessionEnd";

/// How events begin that no client reports.
const OWN_EVENTS: &str = "checkrein.";

/// The event of a snapshot of the workspace at the start of a session.
const SAVED: &str = "checkrein.snapshot";

/// The event of a restore that a user asked for.
const RESTORED: &str = "checkrein.restored";

/// What is known of a session after its last record.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SessionState {
    session: Option<String>,
    started: Option<Timestamp>,
    entered: Option<Timestamp>,
    last: Option<Timestamp>,
    /// When its agent or client did something last.
    worked: Option<Timestamp>,
    records: u64,
    actions: u64,
    file_operations: u64,
    outcomes: u64,
    /// When the last outcome was recorded.
    outcome_at: Option<Timestamp>,
    failures: u64,
    repairs: u64,
    verdicts: VerdictCounts,
    calls: CallCounts,
    /// The same since the user spoke last.
    calls_of_turn: CallCounts,
    /// The calls of which no end is told, and how the newest were counted.
    open_calls: OpenCalls,
    counted: VecDeque<CountedCall>,
    halted: Option<String>,
    goals: VecDeque<Goal>,
    baseline: Option<u64>,
    seen: VecDeque<u64>,
    recent: VecDeque<RecentAction>,
    created: VecDeque<AbsolutePath>,
    secret_marks: VecDeque<SecretMark>,
    terminals: VecDeque<TypedTerminal>,
    flow: VecDeque<FlowReading>,
    settled: SettledReadings,
    surprises: u64,
    opaque_doubt: u32,
    behaviour: DetectorState,
    controller: Controller,
    workspace: Option<AbsolutePath>,
    client: Option<String>,
    said: Fingerprint,
    spent: UsageTotals,
    tallies: VecDeque<Tally>,
    trust: TrustDebt,
    /// The record that asked a user to look at the tier, while nobody has.
    tier_ticket: Option<u64>,
    beginning: Option<Beginning>,
    /// When that was written down.
    begun_at: Option<Timestamp>,
    gate_answers: GateAnswers,
    due_changes: DueChanges,
    plugins: PluginFindings,
    terms: StandingTerms,
}

/// Something that the user asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Goal {
    text: String,
    /// How many actions had been made by then.
    after: u64,
}

impl Projection for SessionState {
    const LAYOUT: [u8; 2] = *b"24";

    fn apply(&mut self, record: &Record) {
        self.records += 1;
        self.last = Some(record.at);
        if is_work(&record.body) {
            self.worked = Some(record.at);
        }
        let not_run = self.open_calls.take(record);
        self.take_not_run(&not_run);
        if matches!(record.body, RecordBody::Prompt { .. } | RecordBody::Event { .. }) {
            let untold: Vec<ActionId> = self.open_calls.untold(record).cloned().collect();
            untold.iter().for_each(|id| self.count_untold(id));
        }
        match &record.body {
            RecordBody::SessionStarted { session, workspace, client, beginning, debt, .. } => {
                if let Some(debt) = debt.filter(|debt| *debt > self.trust.debt) {
                    self.trust = TrustDebt { debt, at: record.at, ..self.trust };
                }
                self.take_beginning(beginning.as_deref(), record.at);
                self.client = Some(cut(client, bounds::TEXT_BYTES).to_owned());
                self.workspace = AbsolutePath::new(cut(workspace, bounds::TEXT_BYTES));
                self.started.get_or_insert(record.at);
                self.entered = Some(record.at);
                self.session.get_or_insert_with(|| cut(session.as_str(), bounds::TEXT_BYTES).to_owned());
            }
            RecordBody::Prompt { text } => {
                self.behaviour.prompted();
                self.controller.prompted();
                self.calls_of_turn = CallCounts::default();
                self.counted.clear();
                self.gate_answers.prompted();
                self.take_goal(text);
            }
            RecordBody::Review(review) => {
                if let Some(change) = &review.change {
                    self.take_passed(change, &review.action_id);
                }
                self.take_review(review, record);
                self.plugins.reviewed(review, record.at);
            }
            RecordBody::Outcome(outcome) => self.take_outcome(outcome, record.at),
            RecordBody::Unanswered(unanswered) => {
                // Nobody said yes to what just ended.
                self.settled.until = self.settled.before;
                self.opaque_doubt = doubted(self.opaque_doubt, Some(unanswered.doubt));
            }
            // Something kept the guard from its work, or its word from being heard: what nobody can read is trusted least.
            RecordBody::Unreviewed(_) => self.opaque_doubt = bounds::DOUBT,
            RecordBody::ReviewClosed { ticket, .. } => self.take_closed(*ticket, record.at),
            RecordBody::Issue(issue) => self.behaviour.noted(issue.kind, issue.severity),
            RecordBody::IssueEnded { kind } => {
                self.controller.ended(*kind, self.behaviour.now());
                self.behaviour.ended(*kind);
            }
            RecordBody::Intervention(made) => self.controller.applied(made, record.at),
            RecordBody::Rollback(rollback) => self.take_rollback(rollback),
            RecordBody::Usage(usage) => {
                if let Some(tokens) = self.spent.take(usage) {
                    self.behaviour.spent(tokens);
                }
            }
            RecordBody::Message { mark, cascade, claim, place } => {
                let mark = Fingerprint::of_fingerprint(*mark);
                self.said = mark;
                if *place == MessagePlace::End {
                    let score = cascade.as_ref().map(|cascade| cascade.score).unwrap_or_default();
                    self.behaviour.said(mark, score);
                    claim.iter().for_each(|claim| self.behaviour.claimed(*claim));
                }
            }
            RecordBody::Condensed => self.behaviour.condensed(),
            RecordBody::Halted { scope: HaltScope::Session, reason, .. } => {
                self.halted = Some(cut(reason, bounds::GOAL_CHARACTERS).to_owned());
            }
            RecordBody::Resumed { scope: HaltScope::Session, .. } => {
                self.halted = None;
                self.terms.resumed();
                // A user has looked at it: what went before must not stop the session again at its next step.
                self.behaviour.prompted();
                self.controller = Controller::default();
            }
            RecordBody::Failure { .. } => self.failures += 1,
            RecordBody::Repaired { damage, .. } => {
                self.repairs += 1;
                match damage {
                    // Somebody reached what no call may reach: what nobody can read is trusted least.
                    LedgerDamage::Lost | LedgerDamage::Shortened | LedgerDamage::Changed => {
                        self.opaque_doubt = bounds::DOUBT;
                    }
                    LedgerDamage::TornTail | LedgerDamage::Unreadable | LedgerDamage::PutBack => {}
                }
            }
            RecordBody::Event { name, .. } if OUTSIDE.contains(&name.as_str()) => self.behaviour.disturbed(),
            RecordBody::Event { name, fields } if name == SAVED => {
                self.baseline = fields.get("id").and_then(serde_json::Value::as_u64);
            }
            RecordBody::Event { name, fields } if name == GATE_EVENT => self.gate_answers.take(fields),
            RecordBody::Event { name, fields } if name == PLUGIN_EVENT => {
                for pattern in self.plugins.take(fields, record.at) {
                    self.behaviour.seen(pattern);
                }
            }
            RecordBody::Event { name, fields } if name == TERMS_EVENT => {
                let used = self.used_up();
                self.terms.take(fields, used);
            }
            RecordBody::Event { name, fields } if name == CHANGE_EVENT => self.take_change(fields),
            RecordBody::Event { name, fields } if name == CARRIED_EVENT => self.take_carried(fields),
            RecordBody::Event { name, .. } if name == RESTORED => {
                self.forget_deeds();
                self.controller.decided();
            }
            RecordBody::Halted { scope: HaltScope::All, .. }
            | RecordBody::Resumed { scope: HaltScope::All, .. }
            | RecordBody::Event { .. }
            | RecordBody::Told { .. }
            | RecordBody::ConfigChanged { .. }
            | RecordBody::Marked { .. }
            | RecordBody::Retention { .. }
            | RecordBody::Anchor { .. }
            | RecordBody::Unknown => {}
        }
    }
}

/// Whether a record is of what the agent or its client did. A user who takes a call back, allows one or closes a ticket writes into the ledger
/// of a session too, long after it has ended.
fn is_work(body: &RecordBody) -> bool {
    match body {
        RecordBody::SessionStarted { .. }
        | RecordBody::Prompt { .. }
        | RecordBody::Review(_)
        | RecordBody::Outcome(_)
        | RecordBody::Unanswered(_)
        | RecordBody::Unreviewed(_)
        | RecordBody::Usage(_)
        | RecordBody::Message { .. }
        | RecordBody::Condensed => true,
        RecordBody::Event { name, .. } => !name.starts_with(OWN_EVENTS),
        RecordBody::Told { .. }
        | RecordBody::Issue(_)
        | RecordBody::IssueEnded { .. }
        | RecordBody::Intervention(_)
        | RecordBody::Rollback(_)
        | RecordBody::Marked { .. }
        | RecordBody::Halted { .. }
        | RecordBody::ReviewClosed { .. }
        | RecordBody::Resumed { .. }
        | RecordBody::ConfigChanged { .. }
        | RecordBody::Failure { .. }
        | RecordBody::Retention { .. }
        | RecordBody::Anchor { .. }
        | RecordBody::Repaired { .. }
        | RecordBody::Unknown => false,
    }
}

impl SessionState {
    /// The terms on which a user let the session go on.
    pub fn terms(&self) -> &StandingTerms {
        &self.terms
    }

    /// What the session has used up of what such terms limit.
    pub fn used_up(&self) -> UsedUp {
        UsedUp {
            calls: self.actions,
            file_operations: self.file_operations,
            tokens: self.spent.tokens().counted(),
        }
    }

    fn take_goal(&mut self, text: &str) {
        let goal = cut(text.trim(), bounds::GOAL_CHARACTERS);
        if !goal.is_empty() && self.goals.back().is_none_or(|last| last.text != goal) {
            let goal = Goal { text: goal.to_owned(), after: self.actions };
            push_bounded(&mut self.goals, goal, bounds::GOALS);
        }
    }

    /// After a rollback goals and limits are those of the time gone back to, and what was used since counts no more; history and patterns
    /// are kept (seed 000).
    fn take_rollback(&mut self, rollback: &RollbackRecord) {
        match rollback.stage {
            RollbackStage::Proposed => self.controller.proposed(Proposed {
                before: rollback.before,
                after: ActionNumber(self.actions),
                changes: cut(&rollback.text, bounds::TEXT_BYTES).to_owned(),
            }),
            RollbackStage::Done => {
                self.controller.rolled_back(rollback.before);
                self.goals.retain(|goal| goal.after < rollback.before.0);
                self.file_operations = 0;
                self.forget_deeds();
            }
            RollbackStage::NotDone => {}
        }
    }

    /// Somebody put files back: what actions left in them stands there no more, so that nothing takes it back again.
    fn forget_deeds(&mut self) {
        self.recent.iter_mut().for_each(|action| action.past.deeds.clear());
    }

    /// A user has looked at what was flagged. Where it was about the tier, they have judged the agent: it begins anew.
    fn take_closed(&mut self, ticket: u64, at: Timestamp) {
        if self.tier_ticket == Some(ticket) {
            self.tier_ticket = None;
            self.trust = TrustDebt { debt: 0.0, at, review_asked: false };
        }
    }

    /// An agent that tells the hook of another beginning changes nothing.
    fn take_beginning(&mut self, beginning: Option<&Beginning>, at: Timestamp) {
        if self.beginning.is_none() && beginning.is_some() {
            self.beginning = beginning.cloned();
            self.begun_at = Some(at);
        }
    }
}
