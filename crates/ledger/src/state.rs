//! The compact state of a session: what reviewing the next action needs to know of all earlier records.
//!
//! It changes through [`SessionState::apply`] alone, so what is rebuilt from a ledger equals what grew with it. Every
//! part is bounded: a million records later it is no larger.

use std::collections::VecDeque;

use checkrein_facts::{History, PastAction, Tally, Trust};
use checkrein_intervention::{Controller, Proposed, Ran};
use checkrein_patterns::{
    ActionNumber, Bearing, Behaviour, Clarity, Deed, Edit, Ending, Mark, Observation, Place, Plan, Probe,
    Side, Success, Touch, Use,
};
use checkrein_protocol::{
    AbsolutePath, ActionId, Beginning, Certainty, Counted, Damage, Depth, DoubtRecord, Effect, EffectKind,
    Enforcement, HaltScope, MessagePlace, OutcomeRecord, Record, RecordBody, ReviewRecord, RollbackRecord,
    RollbackStage, Severity, Timestamp, VerdictKind,
};

use serde::{Deserialize, Serialize};

use crate::deeds::deeds;
use crate::spent::Spent;

/// The bounds of the state (all ours).
pub mod bounds {
    /// Goals kept, newest.
    pub const GOALS: usize = 8;
    /// Characters kept of a goal.
    pub const GOAL_CHARACTERS: usize = 2_000;
    /// Fingerprints of kinds of action kept, newest.
    pub const SEEN: usize = 512;
    /// Actions kept, newest.
    pub const RECENT: usize = 32;
    /// Paths kept of one action.
    pub const PATHS: usize = 8;
    /// Bytes of a path or an action id; longer ones are left out.
    pub const TEXT_BYTES: usize = 512;
    /// Created paths kept, newest.
    pub const CREATED: usize = 256;
    /// Tallies of tripwires and own patterns kept, those that counted last.
    pub const TALLIES: usize = 64;
    /// The greatest doubt about what is opaque, in hundredths of risk.
    pub const DOUBT: u32 = 100;
}

/// Events in which something happens that the agent did not do (ours).
const OUTSIDE: [&str; 3] = ["observation", "Notification", "FileChanged"];

/// The event of a snapshot of the workspace at the start of a session.
const SAVED: &str = "checkrein.snapshot";

/// The event of a restore that a person asked for.
const RESTORED: &str = "checkrein.restored";

/// What is known of a session after its last record.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SessionState {
    session: Option<String>,
    started: Option<Timestamp>,
    entered: Option<Timestamp>,
    last: Option<Timestamp>,
    records: u64,
    actions: u64,
    file_operations: u64,
    outcomes: u64,
    /// When the last outcome was recorded.
    outcome_at: Option<Timestamp>,
    failures: u64,
    repairs: u64,
    verdicts: VerdictCounts,
    halted: Option<String>,
    goals: VecDeque<Goal>,
    baseline: Option<u64>,
    seen: VecDeque<u64>,
    recent: VecDeque<RecentAction>,
    created: VecDeque<AbsolutePath>,
    surprises: u64,
    opaque_doubt: u32,
    behaviour: Behaviour,
    controller: Controller,
    workspace: Option<AbsolutePath>,
    client: Option<String>,
    said: Mark,
    spent: Spent,
    tallies: VecDeque<Tally>,
    trust: Trust,
    /// The record that asked a person to look at the tier, while nobody has.
    tier_ticket: Option<u64>,
    beginning: Option<Beginning>,
}

/// Something that the person asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Goal {
    text: String,
    /// How many actions had been made by then.
    after: u64,
}

/// How often each verdict was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct VerdictCounts {
    /// `ok`.
    pub ok: u64,
    /// `nudge`.
    pub nudge: u64,
    /// `escalate`.
    pub escalate: u64,
    /// `block`.
    pub block: u64,
    /// `halt`.
    pub halt: u64,
    /// Verdicts that are none of these: none in this version, where such a review is a record of an unknown type.
    pub other: u64,
    /// Reviews that were flagged, whatever the verdict.
    pub flagged: u64,
}

/// An action of which the outcome may still come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RecentAction {
    id: Option<ActionId>,
    past: PastAction,
    /// What is counted once the outcome shows that it ran: for an action that a person was asked about.
    awaited: Option<Awaited>,
    /// Paths that it put on the list of created ones.
    created: Vec<AbsolutePath>,
    /// What the detectors are told when the outcome comes.
    plan: Option<Plan>,
}

/// What an action changes if it runs after all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Awaited {
    file_operations: u64,
    processes: u64,
    bytes_written: u64,
    counted: Vec<Counted>,
    created: Vec<AbsolutePath>,
    deleted: Vec<Deleted>,
}

/// A path that an action deletes for certain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Deleted {
    path: AbsolutePath,
    depth: Depth,
}

impl SessionState {
    /// Takes up one more record; the only way in which the state changes.
    pub fn apply(&mut self, record: &Record) {
        self.records += 1;
        self.last = Some(record.at);
        match &record.body {
            RecordBody::SessionStarted { session, workspace, client, beginning, debt, .. } => {
                if let Some(debt) = debt.filter(|debt| *debt > self.trust.debt) {
                    self.trust = Trust { debt, at: record.at, ..self.trust };
                }
                self.take_beginning(beginning.as_deref());
                self.client = Some(cut(client, bounds::TEXT_BYTES).to_owned());
                self.workspace = AbsolutePath::new(cut(workspace, bounds::TEXT_BYTES));
                self.started.get_or_insert(record.at);
                self.entered = Some(record.at);
                self.session.get_or_insert_with(|| cut(session.as_str(), bounds::TEXT_BYTES).to_owned());
            }
            RecordBody::Prompt { text } => {
                self.behaviour.prompted();
                self.controller.prompted();
                self.take_goal(text);
            }
            RecordBody::Review(review) => self.take_review(review, record),
            RecordBody::Outcome(outcome) => self.take_outcome(outcome, record.at),
            RecordBody::Unanswered(unanswered) => {
                self.opaque_doubt = doubted(self.opaque_doubt, Some(unanswered.doubt));
            }
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
                let mark = Mark::of_fingerprint(*mark);
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
                // A person has looked at it: what went before must not stop the session again at its next step.
                self.behaviour.prompted();
                self.controller = Controller::default();
            }
            RecordBody::Failure { .. } => self.failures += 1,
            RecordBody::Repaired { damage, .. } => {
                self.repairs += 1;
                match damage {
                    // Somebody reached what no call may reach: what nobody can read is trusted least.
                    Damage::Lost | Damage::Shortened | Damage::Changed => self.opaque_doubt = bounds::DOUBT,
                    Damage::TornTail | Damage::Unreadable => {}
                }
            }
            RecordBody::Event { name, .. } if OUTSIDE.contains(&name.as_str()) => self.behaviour.disturbed(),
            RecordBody::Event { name, fields } if name == SAVED => {
                self.baseline = fields.get("id").and_then(serde_json::Value::as_u64);
            }
            RecordBody::Event { name, .. } if name == RESTORED => self.controller.decided(),
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

    /// The history as the deciding crates want it.
    pub fn history(&self) -> History {
        History {
            actions: self.actions,
            file_operations: self.file_operations,
            in_turn: self.actions.saturating_sub(self.goals.back().map_or(0, |goal| goal.after)),
            goals: self.goals(),
            seen: self.seen.iter().copied().collect(),
            recent: self.recent.iter().map(|action| action.past.clone()).collect(),
            created: self.created.iter().cloned().collect(),
            active_issues: grave_issues(&self.behaviour),
            opaque_doubt: self.opaque_doubt,
            tallies: self.tallies.iter().cloned().collect(),
            trust: self.trust,
        }
    }

    /// Whether a person was asked about this very call, by its exact mark, and it has not ended yet.
    pub fn is_asked_about(&self, exact: u64) -> bool {
        self.recent.iter().any(|action| action.awaited.is_some() && action.past.exact == exact)
    }

    /// The newest call with this exact mark that has not ended: which one an outcome is of, where the client names no call.
    pub fn running(&self, exact: u64) -> Option<&ActionId> {
        let mut newest = self.recent.iter().rev();
        newest.find(|action| action.past.failed.is_none() && action.past.exact == exact)?.id.as_ref()
    }

    /// The session's id as its client spells it; `None` when no start was recorded.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// When the session began last: at its start, or when it was taken up again; `None` when no start was recorded.
    pub fn entered(&self) -> Option<Timestamp> {
        self.entered
    }

    /// When the session began; `None` when no start was recorded.
    pub fn started(&self) -> Option<Timestamp> {
        self.started
    }

    /// When the last record was written.
    pub fn last(&self) -> Option<Timestamp> {
        self.last
    }

    /// How many records were taken up.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// How many actions were reviewed.
    pub fn actions(&self) -> u64 {
        self.actions
    }

    /// How many outcomes were recorded.
    pub fn outcomes(&self) -> u64 {
        self.outcomes
    }

    /// How often something did not run.
    pub fn failures(&self) -> u64 {
        self.failures
    }

    /// How often the ledger was found damaged.
    pub fn repairs(&self) -> u64 {
        self.repairs
    }

    /// How many changes were seen that had not been predicted, and how many did not come that had.
    pub fn surprises(&self) -> u64 {
        self.surprises
    }

    /// What the detectors remember.
    pub fn behaviour(&self) -> &Behaviour {
        &self.behaviour
    }

    /// What was done about issues.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// What the person asked for, newest last.
    pub fn goals(&self) -> Vec<String> {
        self.goals.iter().map(|goal| goal.text.clone()).collect()
    }

    /// The snapshot of the workspace with which the session began; `None` when none was taken.
    pub fn baseline(&self) -> Option<u64> {
        self.baseline
    }

    /// The root of the workspace; `None` when no start was recorded.
    pub fn workspace(&self) -> Option<&AbsolutePath> {
        self.workspace.as_ref()
    }

    /// What the session began with; `None` when that is not on record.
    pub fn beginning(&self) -> Option<&Beginning> {
        self.beginning.as_ref()
    }

    /// How many file operations were made.
    pub fn file_operations(&self) -> u64 {
        self.file_operations
    }

    /// The mark of the message of the agent that was recorded last.
    pub fn said(&self) -> Mark {
        self.said
    }

    /// What it has spent.
    pub fn spent(&self) -> &Spent {
        &self.spent
    }

    /// The client, as it is called; `None` when no start was recorded.
    pub fn client(&self) -> Option<&str> {
        self.client.as_deref()
    }

    /// How often each verdict was given.
    pub fn verdicts(&self) -> VerdictCounts {
        self.verdicts
    }

    /// How much trust the agent has used up, at the moment it changed last.
    pub fn trust(&self) -> Trust {
        self.trust
    }

    /// Why this session was halted, as far as its records say; the halt files rule.
    pub fn halted(&self) -> Option<&str> {
        self.halted.as_deref()
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
            }
            RollbackStage::NotDone => {}
        }
    }

    /// A person has looked at what was flagged. Where it was about the tier, they have judged the agent: it begins anew.
    fn take_closed(&mut self, ticket: u64, at: Timestamp) {
        if self.tier_ticket == Some(ticket) {
            self.tier_ticket = None;
            self.trust = Trust { debt: 0.0, at, review_asked: false };
        }
    }

    /// An agent that tells the hook of another beginning changes nothing.
    fn take_beginning(&mut self, beginning: Option<&Beginning>) {
        if self.beginning.is_none() {
            self.beginning = beginning.cloned();
        }
    }

    fn take_review(&mut self, review: &ReviewRecord, record: &Record) {
        self.take_beginning(review.beginning.as_deref());
        self.actions += 1;
        if let Some(governance) = &review.governance {
            if let Some(debt) = governance.debt {
                self.trust = Trust { debt, at: record.at, ..self.trust };
            }
            if governance.asks_for_review {
                self.tier_ticket = Some(record.seq);
                self.trust.review_asked = true;
            }
        }
        self.verdicts.count(review.verdict);
        if review.flagged {
            self.verdicts.flagged += 1;
        }
        if let Some(position) = self.seen.iter().position(|kind| *kind == review.kind) {
            self.seen.remove(position);
        }
        push_bounded(&mut self.seen, review.kind, bounds::SEEN);

        let awaited = Awaited::of(review);
        let plan = self.plan(review);
        let same =
            self.recent.iter().rev().map(|action| &action.past).find(|past| past.exact == review.exact);
        let mut action = RecentAction {
            id: (review.action_id.as_str().len() <= bounds::TEXT_BYTES).then(|| review.action_id.clone()),
            past: PastAction {
                kind: review.kind,
                exact: review.exact,
                failed: None,
                paths: touched_paths(&review.effects),
                failures: same.map_or(0, PastAction::failures_with_it),
                only_looked: plan.bearing == Bearing::Idle,
                deeds: deeds(&review.effects),
            },
            awaited: None,
            created: Vec::new(),
            plan: Some(plan),
        };
        match Running::of(review) {
            Running::Now => action.created = self.take_effects(awaited, record.at),
            Running::Asked => {
                self.take_unanswered(review);
                action.awaited = Some(awaited);
            }
            Running::Never => {
                // Nothing ran, and the same call will be refused again: a result like any other.
                if let Some(plan) = action.plan.take() {
                    self.behaviour.refused(&plan, review.verdict.name());
                }
            }
        }
        push_bounded(&mut self.recent, action, bounds::RECENT);
    }

    /// The same call was asked about before and never ran: whoever was asked said no, or nobody was there. That is a refusal like any other.
    fn take_unanswered(&mut self, review: &ReviewRecord) {
        let before = self.recent.iter_mut().rfind(|action| action.past.exact == review.exact);
        let unanswered = before.filter(|action| action.awaited.is_some());
        if let Some(plan) = unanswered.and_then(|action| action.plan.take()) {
            self.behaviour.refused(&plan, "escalate");
        }
    }

    /// How long nothing was done before an action that ended now, as far as that is known, in milliseconds.
    fn pause(&mut self, at: Timestamp, outcome: &OutcomeRecord) -> u64 {
        let before = self.outcome_at.replace(at);
        before.map_or(0, |before| {
            at.0.saturating_sub(before.0).saturating_sub(outcome.duration_ms.unwrap_or_default())
        })
    }

    fn take_outcome(&mut self, outcome: &OutcomeRecord, at: Timestamp) {
        self.outcomes += 1;
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
        action.past.failed = Some(outcome.failed);
        if let (Some(plan), Some(observation)) = (action.plan.take(), &outcome.observation) {
            if self.controller.awaits().is_some_and(|proposed| plan.number > proposed.after) {
                // A person let a held call through.
                self.controller.decided();
            }
            let changed = plan.deed == Deed::Changes && plan.bearing == Bearing::Counts && !outcome.failed;
            self.controller.ran(if changed { Ran::Changed } else { Ran::Otherwise });
            self.behaviour.finished(&plan, &ending(outcome, observation, pause_ms));
        }
        let awaited = action.awaited.take();
        let mut mine = std::mem::take(&mut action.created);
        if let Some(awaited) = awaited {
            mine = self.take_effects(awaited, at);
        }
        if outcome.failed {
            // It may or may not have made them; what is not known to be the session's own is the user's.
            self.created.retain(|path| !mine.contains(path));
        } else if let Some(action) = self.recent.get_mut(position) {
            action.created = mine;
        }
    }

    /// What the detectors are told about an action.
    fn plan(&self, review: &ReviewRecord) -> Plan {
        let path = review.effects.iter().find_map(|effect| effect.target.path());
        let operations = file_operations(&review.effects).saturating_add(review.further_file_operations);
        let alignment = review.rationality.as_ref().and_then(|rationality| rationality.goal_alignment);
        Plan {
            number: ActionNumber(self.actions),
            actor: review.actor.as_deref().map(Mark::of).unwrap_or_default(),
            action: Mark::of_fingerprint(if review.substance == 0 { review.exact } else { review.substance }),
            exact: Mark::of_fingerprint(review.exact),
            bearing: Bearing::of(
                &review.effects,
                &review.programs,
                review.input.get("command").and_then(|text| text.as_str()),
            ),
            deed: Deed::of(review.tool.as_str(), &review.effects, &review.programs),
            clarity: Clarity::of(&review.effects),
            probe: review.input.get("command").and_then(|text| text.as_str()).map_or(Probe::Other, Probe::of),
            place: path.map(|path| Place::of(path.as_str())),
            edit: path.and_then(|path| edit(path, review)),
            alignment: alignment.map(hundredths),
            file_operations: u32::try_from(operations).unwrap_or(u32::MAX),
            processes: u32::try_from(review.programs.len()).unwrap_or(u32::MAX),
            bytes_written: written(&review.input),
            touches: self.touches(review),
        }
    }

    /// The places that an action touches. What the session made or the person named is inside.
    fn touches(&self, review: &ReviewRecord) -> Vec<Touch> {
        let workspace = self.workspace.as_ref().map_or(review.cwd.as_str(), AbsolutePath::as_str);
        let touch = |effect: &Effect| {
            let path = short_path(effect)?;
            let named = || self.goals.iter().any(|goal| goal.text.contains(path.as_str()));
            let side = match Side::of(path.as_str(), workspace) {
                Side::Inside => Side::Inside,
                side if !self.created.contains(path) && !named() => side,
                Side::Outside | Side::Critical => Side::Inside,
            };
            let use_of = if effect.kind.is_mutating() { Use::Changed } else { Use::Read };
            Some(Touch { path: Mark::of(path.as_str()), side, use_of })
        };
        review.effects.iter().filter_map(touch).take(bounds::PATHS).collect()
    }

    /// Counts what an action changes as it runs, and says which paths it added to the created ones.
    fn take_effects(&mut self, awaited: Awaited, at: Timestamp) -> Vec<AbsolutePath> {
        awaited.counted.iter().for_each(|counted| self.count(counted, at));
        self.file_operations = self.file_operations.saturating_add(awaited.file_operations);
        self.spent.processes = self.spent.processes.saturating_add(awaited.processes);
        self.spent.bytes_written = self.spent.bytes_written.saturating_add(awaited.bytes_written);
        for deleted in &awaited.deleted {
            self.created.retain(|path| !deleted.covers(path));
        }
        let mut added = Vec::new();
        for path in awaited.created {
            if !self.created.contains(&path) {
                push_bounded(&mut self.created, path.clone(), bounds::CREATED);
                added.push(path);
            }
        }
        added
    }
}

impl SessionState {
    fn count(&mut self, counted: &Counted, at: Timestamp) {
        let known = self.tallies.iter().position(|tally| tally.key() == counted.key);
        let mut tally = known
            .and_then(|place| self.tallies.remove(place))
            .unwrap_or_else(|| Tally::new(counted.key, counted.window));
        tally.take(counted, at, self.actions);
        push_bounded(&mut self.tallies, tally, bounds::TALLIES);
    }
}

impl VerdictCounts {
    fn count(&mut self, verdict: VerdictKind) {
        let counter = match verdict {
            VerdictKind::Ok => &mut self.ok,
            VerdictKind::Nudge => &mut self.nudge,
            VerdictKind::Escalate => &mut self.escalate,
            VerdictKind::Block => &mut self.block,
            VerdictKind::Halt => &mut self.halt,
        };
        *counter += 1;
    }
}

impl Awaited {
    fn of(review: &ReviewRecord) -> Self {
        let counted = review.governance.as_ref().map(|governance| governance.counted.clone());
        let mut awaited = Self {
            file_operations: file_operations(&review.effects).saturating_add(review.further_file_operations),
            processes: review.programs.len() as u64,
            bytes_written: written(&review.input),
            counted: counted.unwrap_or_default(),
            created: Vec::new(),
            deleted: Vec::new(),
        };
        awaited.counted.truncate(bounds::TALLIES);
        for effect in &review.effects {
            if !is_file_operation(effect.kind) {
                continue;
            }
            let Some(path) = short_path(effect) else { continue };
            if effect.certainty != Certainty::Certain {
                continue;
            }
            if effect.kind == EffectKind::FileCreate && awaited.created.len() < bounds::CREATED {
                awaited.created.push(path.clone());
            } else if effect.kind == EffectKind::FileDelete && awaited.deleted.len() < bounds::CREATED {
                awaited.created.retain(|created| created != path);
                awaited.deleted.push(Deleted { path: path.clone(), depth: effect.depth });
            }
        }
        awaited
    }
}

impl Deleted {
    fn covers(&self, path: &AbsolutePath) -> bool {
        match self.depth {
            Depth::Single => *path == self.path,
            Depth::Recursive => path.is_within(&self.path),
        }
    }
}

/// The doubt after a change of it: it grows to the ceiling of the change, and what was greater already stays.
fn doubted(doubt: u32, change: Option<DoubtRecord>) -> u32 {
    let Some(DoubtRecord { points, ceiling }) = change else { return doubt };
    if points < 0 {
        return doubt.saturating_sub(points.unsigned_abs());
    }
    let grown = doubt.saturating_add(points.unsigned_abs()).min(ceiling).min(bounds::DOUBT);
    doubt.max(grown)
}

/// Whether a reviewed action runs.
enum Running {
    /// The verdict lets it.
    Now,
    /// A person decides; an outcome will show it.
    Asked,
    /// The verdict forbids it.
    Never,
}

impl Running {
    fn of(review: &ReviewRecord) -> Self {
        match (review.mode, review.verdict) {
            // Nobody could be asked, so it was refused.
            _ if review.answered.is_some() => Self::Never,
            (Enforcement::Observe, _) | (Enforcement::Enforce, VerdictKind::Ok | VerdictKind::Nudge) => {
                Self::Now
            }
            (Enforcement::Enforce, VerdictKind::Block | VerdictKind::Halt) => Self::Never,
            (Enforcement::Enforce, VerdictKind::Escalate) => Self::Asked,
        }
    }
}

/// Issues that make an action riskier: from high on, since milder ones are of honest work too (ours).
fn grave_issues(behaviour: &Behaviour) -> u32 {
    let grave = behaviour.standing().iter().filter(|issue| issue.severity >= Severity::High).count();
    u32::try_from(grave).unwrap_or(u32::MAX)
}

fn ending<'a>(outcome: &OutcomeRecord, observation: &'a Observation, pause_ms: u64) -> Ending<'a> {
    Ending {
        success: if outcome.failed { Success::Failed } else { Success::Succeeded },
        observation,
        output_bytes: outcome.output_bytes,
        duration_ms: outcome.duration_ms,
        pause_ms,
    }
}

/// The edit that a tool of a client makes, by the fields that such tools have.
fn edit(path: &AbsolutePath, review: &ReviewRecord) -> Option<Edit> {
    let text = |name: &str| review.input.get(name).and_then(serde_json::Value::as_str);
    let (before, after) = match (text("old_string"), text("new_string"), text("content")) {
        (Some(before), Some(after), _) => (Mark::of(before), Mark::of(after)),
        (_, _, Some(content)) => (Mark::default(), Mark::of(content)),
        _ => return None,
    };
    Some(Edit { path: Mark::of(path.as_str()), before, after })
}

/// How many bytes a tool of a client writes, by the fields that such tools have.
fn written(input: &serde_json::Value) -> u64 {
    let lengths =
        ["content", "new_string", "new_source"].iter().filter_map(|name| input.get(*name)?.as_str());
    lengths.map(|text| text.len() as u64).sum()
}

/// A share in hundredths.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0 to 100")]
fn hundredths(share: f64) -> u8 {
    (share * 100.0).round().clamp(0.0, 100.0) as u8
}

/// How many of these effects make, change or delete a file or a tree: what `limits.file_operations` counts.
pub fn file_operations(effects: &[Effect]) -> u64 {
    effects.iter().filter(|effect| is_file_operation(effect.kind)).count() as u64
}

fn is_file_operation(kind: EffectKind) -> bool {
    matches!(kind, EffectKind::FileCreate | EffectKind::FileModify | EffectKind::FileDelete)
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

fn short_path(effect: &Effect) -> Option<&AbsolutePath> {
    effect.target.path().filter(|path| path.as_str().len() <= bounds::TEXT_BYTES)
}

fn push_bounded<T>(queue: &mut VecDeque<T>, value: T, bound: usize) {
    while queue.len() >= bound {
        queue.pop_front();
    }
    queue.push_back(value);
}

/// The first `characters` characters of a text.
fn cut(text: &str, characters: usize) -> &str {
    match text.char_indices().nth(characters) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}
