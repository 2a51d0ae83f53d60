//! The way of a call, each step once: predict, protect, judge, adjudicate, record, answer.
//!
//! | step | where | what it does |
//! |---|---|---|
//! | predict | [`Forecast`] | the call is interpreted, and judged as if nothing were saved |
//! | protect | `checkpoint` | what it would destroy is saved |
//! | judge | [`Protected::judge`] | pure: the review that counts, of the two |
//! | adjudicate | `adjudication` | session, limits, failures and people make it stricter, by one table |
//! | record | here | the review is written down; then what is done about it, and what the agent is told beyond it |
//! | answer | `answering` | the form in which the client hears it |
//!
//! Permission event, `check` and replay go the same way without a hook that waits (`unhooked`); [`Surface`] says what of it each of them needs.

use std::time::Instant;

use checkrein_facts::{History, World as _};
use checkrein_ledger::{Durability, FolderName, LedgerError};
use checkrein_policy::{LogLevel, Mode, OnProduction, ProductionBy, Sync, on_production};
use checkrein_protocol::{Action, ActionId, ChangeId, HookEvent, HookResponse, RecordBody, ReviewRecord};
use checkrein_session::{KnownSession, SessionAppend, SessionLedger, SessionState};

use checkrein_review::{Forecast, Review, Saved, VerdictKind};
use checkrein_snapshot::SessionPlace;
use checkrein_supervise::runs::HookSwitch;
use checkrein_world::RealWorld;
use sha2::{Digest as _, Sha256};

use crate::adjudication::{Adjudicated, Surface, adjudicate, take_failure};
use crate::allowances::{self, Allowance, StoppedCall};
use crate::answering::{agreed, need_not_wait, reply};
use crate::approvals::{self, Acknowledgement, Asked, Waited};
use crate::change_records::{self, Covering};
use crate::checkpoint::workspace::Urgency;
use crate::checkpoint::{self, Protected, Protection};
use crate::context::Context;
use crate::docket::{Circumstances, StopCause};
use crate::earlier::Earlier;
use crate::fail_closed::Failure;
use crate::for_user;
use crate::foresight;
use crate::interventions::{intervene, tell_question};
use crate::lineage;
use crate::lost_records;
use crate::push_gates::{self, PushGates};
use crate::questions::Nobody;
use crate::records::{not_reviewed, review_record};
use crate::session_ledger;
use crate::stop::{BUDGET, Barrier, Stopping, is_reported, stop_session};
use crate::untaken_answers::{Door, UntakenAnswer};

/// What was used to answer a call, and is not needed any more.
#[derive(Debug)]
pub(crate) struct Remains {
    _world: RealWorld,
    _review: Review,
    _written: Result<SessionAppend, LedgerError>,
}

/// An answer, and what is behind it.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) answer: HookResponse,
    /// The line that the user reads beside it.
    pub(crate) for_user: Option<String>,
    pub(crate) remains: Option<Remains>,
    /// What is to be said to a user who waits for their answer to take effect.
    pub(crate) approval: Option<Acknowledgement>,
}

impl From<HookResponse> for Answered {
    fn from(answer: HookResponse) -> Self {
        Self { answer, for_user: None, remains: None, approval: None }
    }
}

/// A call before it runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) event: &'a HookEvent,
    pub(crate) id: Option<&'a ActionId>,
    pub(crate) action: &'a Action,
    /// Why the session is halted, when it is.
    pub(crate) halted: Option<&'a str>,
    /// When the call came.
    pub(crate) started: Instant,
}

/// Answers a call before it runs, and records it. `failures` are what went wrong on the way here.
pub(crate) fn before(
    context: &Context,
    ledger: &SessionLedger,
    call: Call<'_>,
    known: KnownSession,
    failures: &[Failure],
) -> Answered {
    let Call { event, action, halted, started, .. } = call;
    let config = context.policy().config();
    let state = known.state();
    let id = call.id.cloned().unwrap_or_else(|| own_id(ledger.folder(), state.actions() + 1));
    if !config.step_reviewer.enabled && halted.is_none() {
        context.record(ledger, not_reviewed(&id));
        return Answered::from(HookResponse::NoOpinion);
    }

    // Predict.
    let family = lineage::family(&context.environment().state, ledger.folder());
    let mut history = state.history();
    history.related_file_operations = family.map_or(0, |family| family.spent.file_operations);
    let world = context.world(history);
    let forecast = Forecast::of(action, &world, context.policy());
    let plain = forecast.judge(&Saved::default());
    let took = started.elapsed();
    let place = SessionPlace {
        session: ledger.folder().as_str().to_owned(),
        action: Some(id.as_str().to_owned()),
        sequence: state.records(),
    };
    let words = checkpoint::in_words(action);
    // What the call found, where it may have begun already.
    let earlier = Earlier::of(context, &plain).filter(|_| halted.is_none());
    let past = earlier.as_ref().map(|earlier| earlier.world(&world));
    let forecast = past.as_ref().map_or(forecast, |past| Forecast::of(action, past, context.policy()));
    let plain = if past.is_some() { forecast.judge(&Saved::default()) } else { plain };

    // Protect.
    let (protected, kept) = if halted.is_some() || need_not_wait(&plain, config) {
        (Protected::Nothing, checkpoint::workspace::Kept::default())
    } else {
        let purpose = Protection::Save(place.clone());
        let held = earlier.as_ref().filter(|earlier| earlier.holds(&forecast, &plain));
        let mut protected = match held {
            Some(earlier) => earlier.protect(context, &plain, (&words, &place)),
            None => checkpoint::protect(context, &forecast, &plain, &purpose),
        };
        let saved = protected.record().cloned();
        let urgency = match &protected {
            Protected::Lost(_) => Urgency::Loss,
            Protected::Nothing | Protected::Saved { .. } | Protected::Left(_) | Protected::Marked { .. } => {
                Urgency::None
            }
        };
        let absent = checkpoint::absent_elsewhere(&forecast, &plain);
        let mut kept =
            checkpoint::workspace::before(context, (&plain, urgency), (&words, &place), saved, &absent);
        kept.snapshot = kept
            .snapshot
            .or_else(|| protected.mark().cloned())
            .or_else(|| checkpoint::mark_unseen(context, &forecast, &plain, &purpose));
        if let Some(snapshot) = &kept.snapshot {
            checkpoint::announce(context, snapshot.id, &forecast);
        }
        if let Protected::Lost(lost) = &mut protected {
            lost.look_for_it_in(context, kept.looked);
        }
        (protected, kept)
    };

    // Judge.
    let is_saved_for_it = protected.record().is_some();
    let mut review = protected.judge(&forecast, plain);
    checkpoint::leave(&mut review, &kept.gaps);
    let program = context.environment().program.as_deref();
    let production = on_production(&review.side_effects.effects, config);
    let wants_record = wants_record(production.as_ref(), &review);
    let door = Door { event, action, place: world.place(), config, halted };
    let stopped = (is_stopped(&review) || wants_record || door.refuses(context, &review).is_some())
        .then(|| StoppedCall::of(&forecast, &world, &review, program));
    drop(forecast);
    let session = ledger.folder().as_str();
    let covering = match &stopped {
        Some(call) if wants_record && halted.is_none() => {
            change_records::cover(context, (session, &id), action, &review, call)
        }
        Some(_) | None => Covering::None,
    };
    let review = match (&covering, &stopped) {
        (Covering::By(change), _) => covered(review, change),
        (Covering::Not(..) | Covering::None, Some(call)) => {
            let at_door = door.refuses(context, &review);
            allowances::lift(context, session, action, review, (call, at_door))
        }
        (Covering::Not(..) | Covering::None, None) => review,
    };

    let push = if halted.is_none() { push_gates::look(context, &review) } else { PushGates::NotAsked };

    // Adjudicate.
    let all = [context.failures(), failures].concat();
    let circumstances = Circumstances {
        action,
        actor: event.actor.as_ref(),
        config,
        state,
        history: world.history(),
        now: context.environment().now(),
        failures: &all,
        waiting: &context.waiting,
        halted,
        run: context.environment().run_limits.as_deref(),
        family,
        took,
        covering: &covering,
        push: &push,
    };
    let made_again = state.made_again(&foresight::planned(&review, &circumstances));
    let circumstances = Circumstances { state: made_again.as_ref().unwrap_or(state), ..circumstances };
    let Adjudicated { review, stop, unliftable } = adjudicate(review, &circumstances, Surface::Hook);

    // Record.
    let durability = match config.audit.sync {
        Sync::Always => Durability::Durable,
        Sync::Important if review.verdict.kind >= VerdictKind::Block || is_saved_for_it => {
            Durability::Durable
        }
        Sync::Important | Sync::Never => Durability::Plain,
    };
    let nobody = nobody(context, event, &review, world.history());
    let at_door = door.refuses(context, &review);
    let is_not_taken = at_door.is_some();
    let elapsed = started.elapsed();
    let mut record =
        review_record(&review, action, id.clone(), event.actor.as_ref(), config.mode, elapsed.as_micros());
    record.snapshot.clone_from(&kept.snapshot);
    record.policy = record.intent.map(|_| context.policy().version().to_string());
    if let Covering::By(change) = &covering {
        if is_stopped(&review) {
            // Something else is in the way: the change waits for its call.
            change_records::give_back(context, change);
        } else {
            record.change = Some(change.clone());
        }
    }
    if is_stopped(&review) || at_door.is_some() {
        record.digest = Some(allowances::digest(action));
        record.code = stopped.as_ref().map(|call| call.code.clone());
        record.unliftable = stopped.map(|call| call.unliftable).unwrap_or_default();
        record.unliftable.extend(unliftable);
        record.unliftable.sort();
        record.unliftable.dedup();
    }
    let waited = if halted.is_none() {
        let again = |asked: &Allowance| changed_since(context, action, asked, &world);
        let asked = Asked { call, id: &id, review: &review, record: &record, nobody, put: None };
        approvals::wait(context, ledger, &asked, &again)
    } else {
        Waited::NotAsked
    };
    record.answered = match &waited {
        Waited::NotAsked => {
            nobody.map(Nobody::in_the_record).or_else(|| at_door.as_ref().map(UntakenAnswer::in_the_record))
        }
        Waited::Allowed { .. } => None,
        Waited::Refused { in_the_record, .. } => Some(in_the_record.clone()),
    };
    record.beginning.clone_from(&context.begun);
    diagnose(context, &record);
    let behaviour = state.behaviour().now();
    let body = RecordBody::Review(Box::new(record));
    let written = ledger.append_to(known, context.environment().now(), body, durability);
    if written.is_ok() {
        lost_records::keep(context, ledger, event);
    }
    if config.mode == Mode::Enforce {
        carry_out(context, ledger, stop, &review);
    }

    // Answer.
    let answering = Answering { context, ledger, call, world: &world, waited: &waited };
    let (review, answer) = match &written {
        // What is refused has no outcome, so this is the moment to see that it is refused again and again.
        // The same holds for a question that was asked before and is asked again.
        Ok(written)
            if halted.is_none()
                && (review.verdict.kind >= VerdictKind::Block
                    || nobody.is_some()
                    || at_door.is_some()
                    || written.state.behaviour().now() != behaviour) =>
        {
            answering.with_interventions(review, &id, &written.state)
        }
        Ok(_) => answering.of(review),
        Err(error) => {
            let (review, answer) = answering.of(take_failure(review, &Failure::Record(error.to_string())));
            if !matches!(answer, HookResponse::Deny { .. } | HookResponse::Halt { .. })
                && let Err(error) = ledger.mark_answered(&id)
            {
                context.environment().diagnostics.add(format!("the answer is not marked: {error}"));
            }
            (review, answer)
        }
    };
    let for_user = match &answer {
        // What the client cannot take was refused.
        HookResponse::Rewrite { .. } if is_not_taken => Some(for_user::stopped(context, &review, action)),
        answer => for_user::line(context, &review, action, answer, kept.snapshot.as_ref()),
    };
    let approval = waited.acknowledgement(&answer);
    Answered {
        answer,
        for_user,
        approval,
        remains: Some(Remains { _world: world, _review: review, _written: written }),
    }
}

/// The id of a call for which its client has none: its number in the session, and what tells the session from the others of this machine.
pub(crate) fn own_id(session: &FolderName, number: u64) -> ActionId {
    let digest = Sha256::digest(session.as_str());
    let mark = digest.iter().take(3).fold(0_u32, |mark, byte| mark << 8 | u32::from(*byte));
    ActionId(format!("action-{number}-{mark:06x}"))
}

/// Why a call that waited for an answer would not do any more what was asked about; `None` where it would. Everything is read anew.
pub(crate) fn changed_since(
    context: &Context,
    action: &Action,
    asked: &Allowance,
    before: &RealWorld,
) -> Option<String> {
    let world = context.world(before.history().clone());
    let forecast = Forecast::of(action, &world, context.policy());
    let review = forecast.judge(&Saved::default());
    let program = context.environment().program.as_deref();
    let call = StoppedCall::of(&forecast, &world, &review, program);
    drop(forecast);
    allowances::changed_since(context, asked, action, &review, &call)
}

/// What is needed to give the answer.
struct Answering<'a> {
    context: &'a Context,
    ledger: &'a SessionLedger,
    call: Call<'a>,
    world: &'a RealWorld,
    waited: &'a Waited,
}

impl Answering<'_> {
    /// The answer to a verdict; people are told of a question that waits for them.
    fn of(&self, review: Review) -> (Review, HookResponse) {
        let answer = self.reply(&review);
        let is_asked = self.context.policy().config().mode == Mode::Enforce
            && review.verdict.kind == VerdictKind::Escalate
            && matches!(answer, HookResponse::Ask { .. });
        if is_asked {
            tell_question(self.context, self.ledger, &checkpoint::in_words(self.call.action));
        }
        (review, answer)
    }

    fn reply(&self, review: &Review) -> HookResponse {
        // What was asked is the question: what became stricter since is another one.
        if review.verdict.kind == VerdictKind::Escalate {
            match self.waited {
                Waited::NotAsked => {}
                Waited::Allowed { .. } => return agreed(review, self.call.action),
                Waited::Refused { why, next, .. } => {
                    let reason = format!("{}\n{next}", review.message_when_refused(why));
                    return HookResponse::Deny { reason };
                }
            }
        }
        if let Some(nobody) = nobody(self.context, self.call.event, review, self.world.history()) {
            return HookResponse::Deny { reason: nobody.refusal(review) };
        }
        let config = self.context.policy().config();
        reply(review, self.call.action, self.world.place(), config, self.call.halted)
    }

    /// The same when something is done about what the detectors find now. What the agent is told beyond its review is written down behind
    /// it, and where that is not possible the answer says so.
    fn with_interventions(
        &self,
        mut review: Review,
        id: &ActionId,
        state: &SessionState,
    ) -> (Review, HookResponse) {
        let stopped = match intervene(self.context, self.ledger, state, self.call.event) {
            HookResponse::Halt { reason } => Some(HookResponse::Halt { reason }),
            HookResponse::Context { text } => {
                let before = self.reply(&review);
                if let HookResponse::Ask { .. } = &before {
                    // The user is asked, and not told what the agent should do: what was noticed helps them to answer.
                    review.reasoning.others.extend(text.lines().next().map(str::to_owned));
                } else {
                    review.alternatives.push(text);
                }
                if self.reply(&review) == before {
                    return self.of(review);
                }
                None
            }
            HookResponse::NoOpinion
            | HookResponse::Allow { .. }
            | HookResponse::Rewrite { .. }
            | HookResponse::Ask { .. }
            | HookResponse::Replaced { .. }
            | HookResponse::Deny { .. } => return self.of(review),
        };
        let told = stopped.clone().unwrap_or_else(|| self.reply(&review));
        let body = RecordBody::Told { action_id: id.clone(), text: told.text().to_owned() };
        let now = self.context.environment().now();
        let written = self.ledger.append(now, body, Durability::Plain);
        match (stopped, written) {
            // A stop is as strict as an answer can be.
            (Some(stopped), _) => (review, stopped),
            (None, Ok(_)) => self.of(review),
            (None, Err(error)) => self.of(take_failure(review, &Failure::Record(error.to_string()))),
        }
    }
}

/// Whether a call is one that a change record may let pass: the configuration wants one, or it is stopped, and called production.
pub(crate) fn wants_record(production: Option<&OnProduction>, review: &Review) -> bool {
    production.is_some_and(|found| match found.by {
        ProductionBy::Configuration => true,
        ProductionBy::Name => is_stopped(review),
    })
}

/// The review of a call that a change record lets pass.
pub(crate) fn covered(review: Review, change: &ChangeId) -> Review {
    let by = format!("change {} lets this call pass, as the user approved it", change.as_str());
    if is_stopped(&review) { review.lifted(&by) } else { review.remarked(&by) }
}

/// Whether a call is asked about or refused.
pub(crate) fn is_stopped(review: &Review) -> bool {
    review.verdict.kind >= VerdictKind::Escalate
}

/// Why nobody can be asked what is to be asked about this call; `None` when nothing is, or somebody can.
fn nobody(context: &Context, event: &HookEvent, review: &Review, history: &History) -> Option<Nobody> {
    let config = context.policy().config();
    let asks = review.verdict.kind == VerdictKind::Escalate && config.mode == Mode::Enforce;
    let (around, workspace) = (context.environment(), context.workspace());
    asks.then(|| Nobody::about(event, review, config.profile, around, workspace, history)).flatten()
}

/// Stops the session for something that was just refused. What it refused is on record already; should the halt itself not be written, the
/// call is refused all the same.
fn carry_out(context: &Context, ledger: &SessionLedger, stop: Option<StopCause>, review: &Review) {
    match stop {
        None => {}
        Some(StopCause::Tripwire { name, reason }) => {
            let (by, switch) = (format!("tripwire {name}"), Some(HookSwitch::Tripwire));
            stop_for(context, ledger, Barrier::Halt, &by, &reason, switch);
        }
        Some(StopCause::Limit(switch)) if context.environment().run_limits.is_some() => {
            end_run(context, ledger, switch, &review.reasoning.primary);
        }
        // Reported once: every further call is refused for it.
        Some(StopCause::Limit(_)) => match is_reported(context.environment(), ledger, BUDGET) {
            Ok(true) => {}
            Ok(false) => {
                stop_for(context, ledger, Barrier::None, BUDGET, &review.reasoning.primary, None);
            }
            Err(error) => {
                context.environment().diagnostics.add(format!("the incidents cannot be read: {error}"));
            }
        },
    }
}

/// Ends the run above the session for a limit that is reached, once: the run ends the client, and until then each call is refused.
pub(crate) fn end_run(context: &Context, ledger: &SessionLedger, switch: HookSwitch, reason: &str) {
    let run = context.environment().run_limits.as_deref();
    if run.is_some_and(|run| run.stopped().is_none()) {
        stop_for(context, ledger, Barrier::None, BUDGET, reason, Some(switch));
    }
}

fn stop_for(
    context: &Context,
    ledger: &SessionLedger,
    barrier: Barrier,
    by: &str,
    reason: &str,
    switch: Option<HookSwitch>,
) {
    let state = ledger.state().unwrap_or_default();
    let stopping = Stopping {
        environment: context.environment(),
        config: context.policy().config(),
        workspace: context.workspace(),
        ledger: Some(ledger),
        state: &state,
        barrier,
        by,
        reason,
        issue: None,
        switch,
        since: None,
    };
    stop_session(&stopping, Vec::new());
}

/// What the diagnostic log has to say about a review.
fn diagnose(context: &Context, record: &ReviewRecord) {
    let config = context.policy().config();
    let level = config.audit.log_level;
    let line = |level, text: &str| session_ledger::diagnose(context.environment(), config, level, text);
    if level <= LogLevel::Warn {
        record
            .problems
            .iter()
            .for_each(|problem| line(LogLevel::Warn, &format!("{}: {problem}", record.action_id.0)));
    }
    if level <= LogLevel::Info && record.verdict > VerdictKind::Nudge {
        line(LogLevel::Info, &format!("{}: {}", record.action_id.0, record.verdict));
    }
    if level == LogLevel::Debug {
        let said = format!("{}: {} in {} us", record.action_id.0, record.verdict, record.elapsed_us);
        line(LogLevel::Debug, &said);
    }
}
