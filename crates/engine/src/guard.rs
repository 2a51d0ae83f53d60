//! The two functions that every surface calls: before an action and after it.
//!
//! Before: gather the world, review, record, answer. After: record the outcome. Both only carry facts to the deciding crates and
//! their answer back.

use std::collections::BTreeSet;
use std::mem::ManuallyDrop;
use std::time::Instant;

use checkrein_clients::claude::{Protection, protection};
use checkrein_effects::{AbsolutePath, Action, GuardedPath, History, Timestamp, World as _};
use checkrein_ledger::{
    Durability, FolderName, KnownSession, SessionLedger, SessionState, content_hash, is_halted,
};
use checkrein_patterns::Observation;
use checkrein_policy::{Approve, LogLevel, Mode, Policy, Sync};
use checkrein_protocol::{
    ActionId, Beginning, HookAnswer, HookEvent, MessagePlace, Moment, Outcome, OutcomeRecord, RecordBody,
    ReviewRecord, SessionId,
};
use checkrein_review::{
    Forecast, Review, ReviewCache, Saved, VerdictKind, can_be_taken_back, keep_contract, review, settle_trust,
};
use checkrein_snapshot::SessionPlace;
use checkrein_world::changes::real_path;
use checkrein_world::{RealWorld, find_workspace};
use serde_json::json;

use crate::answering::{answer, changes_something, need_not_wait, precedent};
use crate::verification;

use crate::beginning;
use crate::checkpoint;
use crate::config_files;
use crate::environment::{Surroundings, confiner};
use crate::error::CommandError;
use crate::fail_closed::{Consequence, Failure};
use crate::installation::{self, Installations};
use crate::limits;
use crate::monitor;
use crate::notification::{self, Notice};
use crate::places;
use crate::questions::{self, Nobody};
use crate::records::{event_record, message_mark, message_record, not_reviewed, review_record, success};
use crate::rules::RuleTexts;
use crate::session_ledger;
use crate::stop::{Barrier, Stopping, is_reported, stop_session};
use crate::usage::{self, Spending};

/// How many messages between calls are written down from one reading of a transcript (ours).
const MESSAGES: usize = 8;

/// By whom a session is stopped of which a limit is used up.
const BUDGET: &str = "budget";

/// What stands before the reason of a halt.
const HALTED: &str = "this session is halted: ";

/// The session name for failures of which nothing else is known.
const NO_SESSION: &str = "unknown-session";

/// Everything that is needed to judge actions in one workspace.
#[derive(Debug)]
pub struct Guard {
    surroundings: Surroundings,
    workspace: AbsolutePath,
    installations: Installations,
    policy: Policy,
    failures: Vec<Failure>,
    /// What the policy was read from; `None` when it could not be read.
    rules: Option<RuleTexts>,
    /// What the session began with, once that is known.
    beginning: Option<Beginning>,
    /// The same, when it is to be written into the next record.
    begun: Option<Box<Beginning>>,
    /// The settings that are looser now than at the beginning, and do not count.
    waiting: Vec<&'static str>,
}

impl Guard {
    /// Reads configuration and installations for the workspace that holds `cwd`. What cannot be read becomes a failure that every
    /// later answer takes into account.
    pub fn open(surroundings: Surroundings, cwd: &AbsolutePath) -> Self {
        Self::of_session(surroundings, cwd, None)
    }

    /// The same for a call of a session.
    pub fn of_session(surroundings: Surroundings, cwd: &AbsolutePath, session: Option<&SessionId>) -> Self {
        // A directory that is entered through a link is the same directory.
        let real = if *cwd == surroundings.cwd { cwd.clone() } else { real_path(cwd) };
        Self::settled(surroundings, find_workspace(&real), session)
    }

    /// The same with the workspace given.
    pub fn in_workspace(surroundings: Surroundings, workspace: AbsolutePath) -> Self {
        Self::settled(surroundings, workspace, None)
    }

    fn settled(surroundings: Surroundings, workspace: AbsolutePath, session: Option<&SessionId>) -> Self {
        let settled = places::settle(surroundings, &workspace, session);
        let surroundings = settled.surroundings;
        let mut failures: Vec<Failure> = settled.complaints.into_iter().map(Failure::Configuration).collect();
        let installations = Installations::load(&surroundings).unwrap_or_else(|error| {
            failures.push(Failure::Configuration(error.to_string()));
            Installations::default()
        });
        let loaded = policy(&surroundings, &workspace).map_err(|error| Failure::Configuration(error.message));
        let (policy, rules) = match loaded {
            Ok((policy, rules)) => (policy, Some(rules)),
            Err(failure) => {
                failures.push(failure);
                (Policy::default(), None)
            }
        };
        Self {
            surroundings,
            workspace,
            installations,
            policy,
            failures,
            rules,
            beginning: None,
            begun: None,
            waiting: Vec::new(),
        }
    }

    /// Holds the session to what it began with. Where that is not on record, and something is about to be recorded, this is the beginning.
    fn hold_to_beginning(&mut self, ledger: &SessionLedger, event: &HookEvent, state: &SessionState) {
        let Some(beginning) = state.beginning().cloned() else {
            if let Moment::BeforeAction { .. } | Moment::SessionStarted { .. } = &event.moment {
                match beginning::begin(self, ledger, event) {
                    Ok(begun) => self.begun = begun,
                    Err(failure) => self.failures.push(failure),
                }
            }
            self.beginning = self.begun.as_deref().cloned();
            return;
        };
        let none = RuleTexts::default();
        let now = (&self.policy, self.rules.as_ref().unwrap_or(&none));
        let held = beginning::held(&self.surroundings, ledger, &beginning, &self.workspace, now);
        self.beginning = Some(beginning);
        match held {
            Ok(None) => {}
            Ok(Some(held)) => {
                let stricter = match &event.moment {
                    Moment::BeforeAction { action, .. } => {
                        beginning::was_stricter(self, action, state.history(), &held)
                    }
                    _ => false,
                };
                self.waiting = held.waiting;
                self.policy = held.earlier.filter(|_| stricter).unwrap_or(held.policy);
            }
            Err(error) => self.failures.push(Failure::Configuration(error.message)),
        }
    }

    /// The same guard with another policy, to compare the two.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// What was found around.
    pub fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// The policy in force.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Where hooks were registered.
    pub fn installations(&self) -> &Installations {
        &self.installations
    }

    /// The same, to be added to.
    pub(crate) fn installations_mut(&mut self) -> &mut Installations {
        &mut self.installations
    }

    /// What the policy was read from; `None` when it could not be read.
    pub(crate) fn rules(&self) -> Option<&RuleTexts> {
        self.rules.as_ref()
    }

    /// The root of the workspace.
    pub fn workspace(&self) -> &AbsolutePath {
        &self.workspace
    }

    /// What went wrong while opening.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// The real world as it is now, with this history.
    pub fn world(&self, history: History) -> RealWorld {
        self.world_at(history, self.surroundings.now())
    }

    /// The same at another time, for what is played again.
    pub fn world_at(&self, history: History, now: Timestamp) -> RealWorld {
        let surroundings = &self.surroundings;
        let mut history = history;
        history.goals.splice(0..0, self.policy.config().goals.iter().cloned());
        RealWorld::new(checkrein_world::Surroundings {
            home: surroundings.home.clone(),
            user: surroundings.user.clone(),
            workspace: self.workspace.clone(),
            temporary: surroundings.temporary(),
            guarded: self.guarded(),
            expected: vec![surroundings.home.join(".cache"), surroundings.home.join(".claude/plans")],
            variables: surroundings.variables.clone(),
            history,
            now,
            confiner,
        })
    }

    /// Everything of the guard that the agent must not change, blueprints of the project included.
    fn guarded(&self) -> Vec<GuardedPath> {
        let mut guarded = installation::guarded(&self.surroundings, &self.workspace, &self.installations);
        for entry in &self.policy.config().governance.blueprints {
            let path = self.workspace.join(config_files::blueprint_entry(entry).0);
            guarded.push(GuardedPath { path, role: "a blueprint of this project".to_owned() });
        }
        let more = |path: AbsolutePath, role: &str| GuardedPath { path, role: role.to_owned() };
        let files = self.rules.iter().flat_map(RuleTexts::project_files);
        guarded.extend(files.map(|path| more(path, "the policy of a project around this one")));
        if let Some(beginning) = &self.beginning {
            guarded.extend(beginning.places.iter().map(|path| more(path.clone(), "a place of checkrein")));
            if beginning.workspace != self.workspace {
                let began = &beginning.workspace;
                guarded.push(more(
                    config_files::project_file(began),
                    "the policy of the project where the session began",
                ));
                guarded.extend(installation::claude_settings(&self.surroundings, began));
            }
        }
        let mut seen = BTreeSet::new();
        guarded.retain(|one| seen.insert(one.path.clone()));
        guarded
    }

    /// Reviews an action by itself, without history and without a record.
    pub fn check(&self, action: &Action, cache: Option<&mut ReviewCache>) -> Review {
        let world = self.world(History::default());
        let forecast = Forecast::of(action, &world, &self.policy);
        let review = match cache {
            Some(cache) => cache.judge(&forecast),
            None => forecast.judge(&Saved::default()),
        };
        let (mut review, _) = checkpoint::protect(self, &forecast, review, &checkpoint::Purpose::Ask);
        self.take_failures_into_account(&mut review, &[]);
        review
    }

    /// Answers one event of a hook, and records it.
    pub fn handle(&mut self, event: &HookEvent, started: Instant) -> HookAnswer {
        let ledger = session_ledger::ledger(&self.surroundings, &event.session, self.policy.config());
        let halted = self.halt_reason(&event.session);
        match &event.moment {
            Moment::BeforeAction { call, action } => {
                let mut failures = Vec::new();
                let known = ledger.known().unwrap_or_else(|error| {
                    failures.push(Failure::History(error.to_string()));
                    KnownSession::unknown()
                });
                self.hold_to_beginning(&ledger, event, known.state());
                self.before(
                    event,
                    &ledger,
                    (known, failures),
                    (call.clone(), action),
                    halted.as_deref(),
                    started,
                )
            }
            Moment::AfterAction(outcome) => {
                let stepped_in = self.after(event, &ledger, outcome);
                halted.map_or(stepped_in, |reason| HookAnswer::Stop { reason })
            }
            Moment::PermissionAsked { action } => {
                self.record(
                    &ledger,
                    event_record(event, json!({ "tool": action.tool.as_str(), "input": action.input })),
                );
                if let Ok(state) = ledger.state() {
                    self.hold_to_beginning(&ledger, event, &state);
                }
                self.permission(&ledger, action, halted)
            }
            Moment::Prompt { text } => {
                self.record(&ledger, RecordBody::Prompt { text: text.clone() });
                match halted {
                    Some(reason) => HookAnswer::Stop { reason },
                    None => self
                        .tell_lost(&ledger, Some(&event.session))
                        .map_or(HookAnswer::Silent, |text| HookAnswer::Hint { text }),
                }
            }
            Moment::SessionStarted { source } => {
                if let Ok(state) = ledger.state() {
                    self.hold_to_beginning(&ledger, event, &state);
                }
                session_ledger::clear_away(&self.surroundings, self.policy.config());
                let debt = session_ledger::inherited_debt(
                    &self.surroundings,
                    event.client.name(),
                    self.policy.config(),
                );
                self.record(
                    &ledger,
                    RecordBody::SessionStarted {
                        session: event.session.clone(),
                        client: event.client.name().to_owned(),
                        cwd: event.cwd.to_string(),
                        workspace: self.workspace.to_string(),
                        source: source.clone(),
                        beginning: self.begun.clone(),
                        debt: Some(debt).filter(|debt| *debt > 0.0),
                    },
                );
                let place = SessionPlace {
                    session: ledger.folder().as_str().to_owned(),
                    action: None,
                    sequence: ledger.state().map_or(0, |state| state.records()),
                };
                let cleared = checkpoint::workspace::clear_away(self);
                let saved = checkpoint::workspace::at_start(self, place);
                cleared.into_iter().chain(saved).for_each(|body| self.record(&ledger, body));
                verification::take_picture(self, &ledger);
                let lost = self.tell_lost(&ledger, None);
                halted.or(lost).map_or(HookAnswer::Silent, |text| HookAnswer::Hint { text })
            }
            Moment::BatchDone => {
                self.record(&ledger, event_record(event, json!({})));
                halted.map_or(HookAnswer::Silent, |reason| HookAnswer::Stop { reason })
            }
            Moment::ConfigurationChanged { file } => {
                self.configuration_changed(&ledger, event, file.as_ref())
            }
            Moment::TurnEnding { message } | Moment::SubagentEnding { message } => {
                let answer = self.turn_ended(event, &ledger, message.as_deref());
                self.tell_lost(&ledger, Some(&event.session));
                answer
            }
            Moment::SessionEnded => {
                self.record(&ledger, event_record(event, json!({})));
                self.tell_lost(&ledger, Some(&event.session));
                HookAnswer::Silent
            }
            Moment::SubagentStarted => {
                self.record(&ledger, event_record(event, json!({})));
                HookAnswer::Silent
            }
            Moment::Other { .. } if event.name == "PostCompact" => {
                self.record(&ledger, RecordBody::Condensed);
                HookAnswer::Silent
            }
            Moment::Other { fields } => {
                self.record(&ledger, event_record(event, fields.clone()));
                HookAnswer::Silent
            }
        }
    }

    fn before(
        &self,
        event: &HookEvent,
        ledger: &SessionLedger,
        (known, failures): (KnownSession, Vec<Failure>),
        (call, action): (Option<ActionId>, &Action),
        halted: Option<&str>,
        started: Instant,
    ) -> HookAnswer {
        let config = self.policy.config();
        let state = known.state();
        let action_id = call.unwrap_or_else(|| ActionId(format!("action-{}", state.actions() + 1)));
        if !config.step_reviewer.enabled && halted.is_none() {
            self.record(ledger, not_reviewed(&action_id));
            return HookAnswer::Silent;
        }
        // What follows is kept until the process ends, which is in a moment: giving back memory piece by piece costs more than that.
        let world = ManuallyDrop::new(self.world(state.history()));
        let forecast = Forecast::of(action, &*world, &self.policy);
        let first = forecast.judge(&Saved::default());
        let reviewed_in = started.elapsed();
        let (reviewed, snapshot, is_saved_for_it) = if halted.is_some() || need_not_wait(&first, config) {
            (first, None, false)
        } else {
            let place = SessionPlace {
                session: ledger.folder().as_str().to_owned(),
                action: Some(action_id.as_str().to_owned()),
                sequence: state.records(),
            };
            let purpose = checkpoint::Purpose::Save(place.clone());
            let (mut reviewed, saved) = checkpoint::protect(self, &forecast, first, &purpose);
            let words = checkpoint::in_words(action);
            let is_saved_for_it = saved.is_some();
            let saved = checkpoint::workspace::before(self, &mut reviewed, &words, &place, saved);
            (reviewed, saved, is_saved_for_it)
        };
        let mut review = ManuallyDrop::new(reviewed);
        self.take_failures_into_account(&mut review, &failures);
        monitor::throttle(&mut review, state, config);
        let over_budget = usage::budget(&mut review, state, config, self.surroundings.run_limits.as_deref());
        // Under `checkrein run` the supervisor holds both.
        if self.surroundings.run_limits.is_none() {
            limits::enforce(&mut review, state, self.surroundings.now(), config);
        }
        monitor::hold(&mut review, state, config);
        let took_ms = u64::try_from(reviewed_in.as_millis()).unwrap_or(u64::MAX);
        let precedent = precedent(world.history(), &review);
        keep_contract(&mut review, took_ms, precedent, config);
        let mut tripped = None;
        if let Some(reason) = halted {
            review.verdict.kind = VerdictKind::Halt;
            review.rewrite = None;
            // The message says so itself.
            reason.strip_prefix(HALTED).unwrap_or(reason).clone_into(&mut review.reasoning.primary);
            review.alternatives = vec![
                "stop here and tell the person; only they can resume with `checkrein resume`".to_owned(),
            ];
        } else {
            settle_trust(&mut review, &world.history().trust, config);
            tripped = review.governance.halting().map(|fired| (fired.name.clone(), fired.reason.clone()));
        }
        let elapsed = started.elapsed();
        let durability = match config.audit.sync {
            Sync::Always => Durability::Durable,
            Sync::Important if review.verdict.kind >= VerdictKind::Block || is_saved_for_it => {
                Durability::Durable
            }
            Sync::Important | Sync::Never => Durability::Plain,
        };
        let nobody = self.nobody(event, &review);
        let mut record =
            review_record(&review, action, action_id, event.actor.as_ref(), config.mode, elapsed.as_micros());
        record.snapshot = snapshot;
        record.answered = nobody.map(Nobody::in_the_record);
        record.beginning.clone_from(&self.begun);
        self.diagnose_review(&record);
        let body = RecordBody::Review(Box::new(record));
        let before = state.behaviour().now();
        let written = ManuallyDrop::new(ledger.append_to(known, self.surroundings.now(), body, durability));
        if config.mode == Mode::Enforce {
            if let Some((name, reason)) = tripped {
                self.stop(ledger, Barrier::Halt, &format!("tripwire {name}"), &reason);
            } else if over_budget == Spending::Over {
                self.stop_for_budget(ledger, &review.reasoning.primary);
            }
        }
        match &*written {
            // What is refused has no outcome, so this is the moment to see that it is refused again and again.
            // The same holds for a question that was asked before and is asked again.
            Ok(written)
                if halted.is_none()
                    && (review.verdict.kind >= VerdictKind::Block
                        || nobody.is_some()
                        || written.state.behaviour().now() != before) =>
            {
                match self.step_in(ledger, &written.state) {
                    HookAnswer::Stop { reason } => return HookAnswer::Stop { reason },
                    HookAnswer::Hint { text } => review.alternatives.push(text),
                    HookAnswer::Silent
                    | HookAnswer::Allow { .. }
                    | HookAnswer::Rewrite { .. }
                    | HookAnswer::Ask { .. }
                    | HookAnswer::Deny { .. } => {}
                }
            }
            Ok(_) => {}
            Err(error) => {
                self.take_failures_into_account(&mut review, &[Failure::Record(error.to_string())]);
            }
        }
        if let Some(nobody) = self.nobody(event, &review) {
            return HookAnswer::Deny { reason: nobody.refusal(&review) };
        }
        if config.mode == Mode::Enforce && review.verdict.kind == VerdictKind::Escalate {
            self.tell_question(ledger, &checkpoint::in_words(action));
        }
        match config.mode {
            Mode::Enforce if config.snapshots.approve == Approve::Recoverable => {
                let can_be_taken_back = can_be_taken_back(&review, world.place(), config);
                match answer(&review, action) {
                    HookAnswer::Silent if can_be_taken_back => HookAnswer::Allow { text: String::new() },
                    HookAnswer::Hint { text } if can_be_taken_back => HookAnswer::Allow { text },
                    other => other,
                }
            }
            Mode::Enforce => answer(&review, action),
            // A halt is a person's word, not a verdict of the policy under observation.
            Mode::Observe if halted.is_some() => answer(&review, action),
            Mode::Observe => HookAnswer::Silent,
        }
    }

    /// Why nobody can be asked what is to be asked about this call; `None` when nothing is, or somebody can.
    fn nobody(&self, event: &HookEvent, review: &Review) -> Option<Nobody> {
        let config = self.policy.config();
        let asks = review.verdict.kind == VerdictKind::Escalate && config.mode == Mode::Enforce;
        asks.then(|| Nobody::about(event, review, config.profile, &self.surroundings, &self.workspace))
            .flatten()
    }

    /// Stops the session for something that was just refused. What it refused is on record already; should the halt itself not be written, the
    /// call is refused all the same. Answers what is said of the report.
    fn stop(&self, ledger: &SessionLedger, barrier: Barrier, by: &str, reason: &str) -> String {
        let state = ledger.state().unwrap_or_default();
        let stopping = Stopping {
            surroundings: &self.surroundings,
            config: self.policy.config(),
            workspace: &self.workspace,
            ledger: Some(ledger),
            state: &state,
            barrier,
            by,
            reason,
            issue: None,
        };
        stop_session(&stopping, Vec::new())
    }

    /// Reports once that nothing is left of a limit: every further call is refused for it.
    fn stop_for_budget(&self, ledger: &SessionLedger, reason: &str) {
        match is_reported(&self.surroundings, ledger, BUDGET) {
            Ok(true) => {}
            Ok(false) => drop(self.stop(ledger, Barrier::None, BUDGET, reason)),
            Err(error) => crate::text::log(&format!("checkrein: the incidents cannot be read: {error}")),
        }
    }

    fn after(&self, event: &HookEvent, ledger: &SessionLedger, outcome: &Outcome) -> HookAnswer {
        let action_id = outcome.call.clone().unwrap_or_else(|| ActionId("unknown".to_owned()));
        let unanswered = questions::unanswered(self, ledger, event, &action_id);
        let verification = verification::verify(self, ledger, &action_id, outcome).map(Box::new);
        let body = RecordBody::Outcome(OutcomeRecord {
            action_id,
            tool: outcome.action.tool.clone(),
            failed: outcome.failed,
            error: outcome.error.clone(),
            duration_ms: outcome.duration_ms,
            output_bytes: outcome.output.len() as u64,
            output_hash: content_hash(outcome.output.as_bytes()),
            observation: Some(Observation::of(&outcome.output, success(outcome.failed))),
            verification,
        });
        let known = ledger.known().unwrap_or_else(|_| KnownSession::unknown());
        let read = self.transcribed(event, &known, usage::AFTER_A_CALL, None);
        let ran = unanswered.clone().map(|record| RecordBody::Unanswered(Box::new(record)));
        let bodies = std::iter::once(body).chain(ran).chain(read).collect();
        match ledger.append_all_to(known, self.surroundings.now(), bodies, Durability::Plain) {
            Ok(appended) => {
                let stepped_in = self.step_in(ledger, &appended.state);
                unanswered
                    .map_or(stepped_in.clone(), |record| self.tell_unanswered(ledger, &record, stepped_in))
            }
            Err(error) => {
                crate::text::log(&format!("checkrein: not recorded: {error}"));
                HookAnswer::Silent
            }
        }
    }

    /// What the transcript says that is new, as records: what was spent, and messages between calls that speak of new work. `last` is the
    /// message that is recorded anyway.
    pub(crate) fn transcribed(
        &self,
        event: &HookEvent,
        known: &KnownSession,
        most: usize,
        last: Option<&str>,
    ) -> Vec<RecordBody> {
        let transcript = event.transcript.as_ref();
        let Some(reading) = usage::read(&self.surroundings, known.state(), transcript, most) else {
            return Vec::new();
        };
        let known_marks = [Some(known.state().said()), last.map(message_mark)];
        let is_new = |text: &&String| !known_marks.contains(&Some(message_mark(text)));
        let speaks = |body: &RecordBody| matches!(body, RecordBody::Message { cascade: Some(_), .. });
        let said = reading.said.iter().filter(is_new).map(|text| message_record(text, MessagePlace::Midway));
        let mut bodies: Vec<RecordBody> = said.filter(speaks).take(MESSAGES).collect();
        bodies.push(RecordBody::Usage(Box::new(reading.usage)));
        bodies
    }

    /// The person is being asked already; only what would be refused anyway is refused here.
    fn permission(&self, ledger: &SessionLedger, action: &Action, halted: Option<String>) -> HookAnswer {
        if let Some(reason) = halted {
            return HookAnswer::Deny { reason };
        }
        if self.policy.config().mode == Mode::Observe {
            return HookAnswer::Silent;
        }
        let state = ledger.state().unwrap_or_default();
        let review = review(action, &self.world(state.history()), &self.policy);
        if review.verdict.kind >= VerdictKind::Block {
            return HookAnswer::Deny { reason: review.message() };
        }
        // What this guard asks itself was told when it did.
        if !state.is_asked_about(review.fingerprint.exact) {
            self.tell_question(ledger, &checkpoint::in_words(action));
        }
        HookAnswer::Silent
    }

    /// A change of the client's settings that would silence the hooks is refused: the client then keeps the old ones for the session.
    fn configuration_changed(
        &self,
        ledger: &SessionLedger,
        event: &HookEvent,
        file: Option<&AbsolutePath>,
    ) -> HookAnswer {
        let Some(file) = file else {
            self.record(ledger, event_record(event, json!({})));
            return HookAnswer::Silent;
        };
        let text = checkrein_files::read_text(file.as_str(), checkrein_files::SMALL).ok();
        let found = protection(text.as_deref(), &self.installations.commands(file));
        let decision = match &found {
            Protection::Stands | Protection::NotConcerned => "accepted".to_owned(),
            Protection::Falls { why } => format!("refused: {why}"),
        };
        self.record(ledger, RecordBody::ConfigChanged { file: file.to_string(), decision });
        match found {
            Protection::Stands | Protection::NotConcerned => HookAnswer::Silent,
            Protection::Falls { why } => HookAnswer::Deny {
                reason: format!(
                    "checkrein keeps its hooks for this session: `{file}` changed and {why}.\n\
                     Instead: a person removes the guard with `checkrein uninstall` in a terminal, or puts it back with `checkrein init`"
                ),
            },
        }
    }

    /// Looks whether the settings from which hooks were called still call them: those of a session, else all of this person. What does
    /// not is recorded, people are told, and the answer is what the model is told.
    fn tell_lost(&self, ledger: &SessionLedger, session: Option<&SessionId>) -> Option<String> {
        let state = session.and_then(|_| ledger.state().ok());
        let lost = beginning::lost(&self.installations, state.as_ref().and_then(|state| state.beginning()));
        let first = lost.first()?;
        let text = format!("{}\n{}", lost.join("\n"), installation::FALLEN_HINT);
        let detail = lost.join("; ");
        let body = RecordBody::Failure {
            stage: "settings".to_owned(),
            kind: "fallen".to_owned(),
            detail,
            verdict: VerdictKind::Nudge.name().to_owned(),
        };
        self.record(ledger, body);
        let notice = Notice {
            event: "protection_lost".to_owned(),
            session: ledger.folder().as_str().to_owned(),
            workspace: self.workspace.clone(),
            at: self.surroundings.now(),
            title: "checkrein: hooks are gone".to_owned(),
            text: text.clone(),
        };
        if let Err(error) = notification::send(&self.surroundings, self.policy.config(), &notice) {
            crate::text::log(&format!("checkrein: {first}; nobody was told: {error}"));
        }
        Some(format!("checkrein: {text}"))
    }

    fn halt_reason(&self, session: &SessionId) -> Option<String> {
        is_halted(&self.surroundings.state, &FolderName::of(session))
            .map(|halt| format!("{HALTED}{}", halt.reason))
    }

    /// Raises a verdict by the table of failures.
    fn take_failures_into_account(&self, review: &mut Review, more: &[Failure]) {
        if !self.waiting.is_empty() && more.is_empty() {
            let settings = self.waiting.join(", ");
            review.failures.push(format!(
                "looser since the session began, and waiting for `checkrein trust`: {settings}"
            ));
            if review.verdict.kind >= VerdictKind::Escalate {
                review.alternatives.insert(0, format!(
                    "if a person made the configuration looser ({settings}): `checkrein trust` in their terminal lets it count in this session"
                ));
            }
        }
        for failure in self.failures.iter().chain(more) {
            review.failures.push(failure.to_string());
            let least = match failure.consequence() {
                Consequence::Refuse => VerdictKind::Block,
                Consequence::AtLeast(kind) if changes_something(review) => kind,
                Consequence::AtLeast(_) => VerdictKind::Nudge,
            };
            if review.verdict.kind < least {
                review.verdict.kind = least;
                review.rewrite = None;
                review.reasoning.primary = failure.to_string();
                review.alternatives = vec![failure.hint().to_owned()];
            }
        }
    }

    /// What the diagnostic log has to say about a review.
    fn diagnose_review(&self, record: &ReviewRecord) {
        let config = self.policy.config();
        let level = config.audit.log_level;
        let line = |level, text: &str| session_ledger::diagnose(&self.surroundings, config, level, text);
        if level <= LogLevel::Warn {
            record
                .problems
                .iter()
                .for_each(|problem| line(LogLevel::Warn, &format!("{}: {problem}", record.action_id.0)));
        }
        if level <= LogLevel::Info && !matches!(record.verdict.as_str(), "ok" | "nudge") {
            line(LogLevel::Info, &format!("{}: {}", record.action_id.0, record.verdict));
        }
        if level == LogLevel::Debug {
            let said = format!("{}: {} in {} us", record.action_id.0, record.verdict, record.elapsed_us);
            line(LogLevel::Debug, &said);
        }
    }

    /// Writes down what has no verdict. A record that cannot be written cannot be reported through the ledger either, so it goes to
    /// the client's log, and the next action that needs the ledger is stopped by the table.
    pub(crate) fn record(&self, ledger: &SessionLedger, body: RecordBody) {
        if let Err(error) = ledger.append(self.surroundings.now(), body, Durability::Plain) {
            let said = format!("not recorded: {error}");
            session_ledger::diagnose(&self.surroundings, self.policy.config(), LogLevel::Error, &said);
            crate::text::log(&format!("checkrein: {said}"));
        }
    }
}

/// The policy that configuration and described commands make.
fn policy(
    surroundings: &Surroundings,
    workspace: &AbsolutePath,
) -> Result<(Policy, RuleTexts), CommandError> {
    let rules = RuleTexts::read(surroundings, workspace)?;
    let config = rules.config(surroundings, &config_files::trusted(surroundings)?)?;
    Ok((Policy::new(config).with_catalogue(rules.catalogue()?), rules))
}

/// Writes down a failure of the edge, as well as that is possible.
pub fn record_failure(surroundings: &Surroundings, session: Option<SessionId>, failure: &Failure) {
    let session = session.unwrap_or_else(|| SessionId(NO_SESSION.to_owned()));
    let body = RecordBody::Failure {
        stage: failure.stage().to_owned(),
        kind: failure.kind().to_owned(),
        detail: failure.to_string(),
        verdict: VerdictKind::Block.name().to_owned(),
    };
    let written = SessionLedger::open(&surroundings.state, &session).append(
        surroundings.now(),
        body,
        Durability::Durable,
    );
    if let Err(error) = written {
        crate::text::log(&format!("checkrein: not recorded: {error}"));
    }
}
