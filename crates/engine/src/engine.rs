//! The engine: every surface, a hook, a command, a server, asks it before a call and tells it afterwards.
//!
//! An engine is made once and answers as many calls as come, of any session and workspace, from any number of threads. It keeps nothing of a
//! call. What a call needs to know, its `Context`, is read when the call comes, so that a configuration that changed counts from the next
//! call on. It prints nothing: what did not work is in the [`Response`].

use std::borrow::Cow;
use std::time::Instant;

use checkrein_clients::Answerer;
use checkrein_clients::Protection;
use checkrein_ledger::mask::{MaskKey, mask_text};
use checkrein_ledger::{Durability, FolderName, content_hash, is_halted};
use checkrein_policy::Mode;
use checkrein_protocol::{
    AbsolutePath, Action, ActionId, ActorId, Client, HookEvent, HookEventKind, HookResponse, Outcome,
    OutcomeRecord, PermissionMode, RecordBody, SessionId,
};
use checkrein_session::{KnownSession, SessionLedger, SessionState, sessions};

use checkrein_review::{ActionFingerprint, VerdictKind};
use checkrein_snapshot::SessionPlace;
use checkrein_supervise::runs::HookedSession;
use serde_json::json;

use crate::adjustments::HALTED;
use crate::approvals::Acknowledgement;
use crate::change_records;
use crate::confirmed_configuration;
use crate::confirmed_team_policy;
use crate::context::Context;
use crate::corridor::{self, Answered, Call, Remains};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::earlier::{EarlyStart, KeptWorkspace};
use crate::ending;
use crate::environment::HostEnvironment;
use crate::fail_closed::Failure;
use crate::for_user;
use crate::interventions::{intervene, tell_question, tell_unanswered};
use crate::kept_settings::SettingsNotice;
use crate::late_hints;
use crate::lessons;
use crate::notification::{self, Notice};
use crate::other_answerers::may_answer;
use crate::questions::Nobody;
use crate::records::{event_record, observed, recorded_input, success};
use crate::retention;
use crate::run_by_client;
use crate::set_back;
use crate::spending::{self, LimitWarnings};
use crate::turn_end::turn_ended;
use crate::unhooked;
use crate::{
    beginning, checkpoint, disclosure, flow, inheritance, installation, kept_settings, lineage, lost_records,
    plugins, questions, resident, session_ledger, unreviewed, usage, verification,
};

/// The session name for failures of which nothing else is known.
const NO_SESSION: &str = "unknown-session";

/// What answers calls.
#[derive(Debug, Clone)]
pub struct Engine {
    environment: HostEnvironment,
}

/// An answer.
#[derive(Debug)]
pub struct Response {
    /// What the client is told.
    pub answer: HookResponse,
    /// One line for the user, beside what the agent is told; `None` where they need not know.
    pub for_user: Option<String>,
    /// What did not work on the way, for a log.
    pub diagnostics: Vec<Diagnostic>,
    /// What is to be told, once the client has its answer, to the user who answered a question about this call.
    pub approval: Option<Acknowledgement>,
    /// What was used for it. A process that ends anyway need not give it back.
    _remains: (Context, Option<Remains>),
}

/// A call of a tool, before it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Who asks.
    pub client: Client,
    /// The session.
    pub session: SessionId,
    /// The subagent, when it is one.
    pub actor: Option<ActorId>,
    /// The directory in which the agent works.
    pub cwd: AbsolutePath,
    /// How the client asks people.
    pub permission_mode: Option<PermissionMode>,
    /// The number of the call, when the client gives one.
    pub id: Option<ActionId>,
    /// What is called.
    pub action: Action,
}

impl Engine {
    /// Returns an engine for this host environment.
    pub fn new(environment: HostEnvironment) -> Self {
        Self { environment }
    }

    /// Answers a call before it runs.
    pub fn before(&self, call: &ToolCall) -> Response {
        let moment = HookEventKind::BeforeAction { call: call.id.clone(), action: call.action.clone() };
        self.answer(&event(call, "PreToolUse", moment), Instant::now())
    }

    /// Takes up what became of a call, and answers what is to be said about it.
    pub fn after(&self, call: &ToolCall, outcome: Outcome) -> Response {
        self.answer(&event(call, "PostToolUse", HookEventKind::AfterAction(outcome)), Instant::now())
    }

    /// Answers one event of a client, which came at `started`, and records it.
    pub fn answer(&self, event: &HookEvent, started: Instant) -> Response {
        let (context, diagnostics) = self.opened(event);
        Self::answered_in(context, &diagnostics, event, started)
    }

    /// The same of a call that its agent makes without waiting for an answer: it may have begun.
    pub fn answer_early(&self, event: &HookEvent, start: EarlyStart, started: Instant) -> Response {
        let (mut context, diagnostics) = self.opened(event);
        context.early_start = Some(start);
        Self::answered_in(context, &diagnostics, event, started)
    }

    /// Saves the workspace of an event that was answered, so that the next call finds it saved that asks nobody. Returns `None` where nothing
    /// was saved: the workspace is too large to wait for, or snapshots are off.
    pub fn keep_workspace(&self, event: &HookEvent) -> Option<KeptWorkspace> {
        let (context, _) = self.opened(event);
        let ledger = session_ledger::ledger(context.environment(), &event.session, context.policy().config());
        let place = SessionPlace {
            session: ledger.folder().as_str().to_owned(),
            action: None,
            sequence: ledger.state().map_or(0, |state| state.records()),
        };
        checkpoint::workspace::keep(&context, place).map(KeptWorkspace)
    }

    /// Whether the call of an event passes without a question by itself: nothing is recorded, as nobody makes the call yet.
    pub fn passes(&self, event: &HookEvent) -> bool {
        let (context, _) = self.opened(event);
        let Some(action) = judged(&event.moment) else { return true };
        match unhooked::check(&context, action, None).verdict.kind {
            VerdictKind::Ok | VerdictKind::Nudge => true,
            VerdictKind::Escalate | VerdictKind::Block | VerdictKind::Halt => false,
        }
    }

    /// The same in the place of a hook that waits for it; `None`, with nothing done and nothing recorded, where the hook has to do it itself.
    pub fn answer_for_hook(&self, event: &HookEvent, started: Instant) -> Option<Response> {
        if !resident::takes(&event.moment) {
            return None;
        }
        let (context, diagnostics) = self.opened(event);
        resident::stands_in(&context).then(|| Self::answered_in(context, &diagnostics, event, started))
    }

    /// What is known around an event, and where it is collected what does not work.
    fn opened(&self, event: &HookEvent) -> (Context, Diagnostics) {
        let environment = self.environment.for_a_call(event.client);
        let diagnostics = environment.diagnostics.clone();
        let mut context = Context::of_session(environment, &event.cwd, Some(&event.session));
        if let Some(there) = judged(&event.moment).and_then(|action| context.at(action)) {
            context = there;
        }
        (context, diagnostics)
    }

    fn answered_in(
        mut context: Context,
        diagnostics: &Diagnostics,
        event: &HookEvent,
        started: Instant,
    ) -> Response {
        let renamed = with_masked_call(&context, event);
        let event = renamed.as_ref().unwrap_or(event);
        let Answered { answer, for_user, remains, approval } = handle(&mut context, event, started);
        let (answer, for_user) = in_masked_words(&context, answer, for_user);
        Response { answer, for_user, diagnostics: diagnostics.take(), approval, _remains: (context, remains) }
    }
}

/// The event with the name of its call masked, where that holds a secret; `None` where it stays. Records are found by that name, so it is the same
/// before and after the call.
fn with_masked_call(context: &Context, event: &HookEvent) -> Option<HookEvent> {
    let (HookEventKind::BeforeAction { call: Some(call), .. }
    | HookEventKind::AfterAction(Outcome { call: Some(call), .. })) = &event.moment
    else {
        return None;
    };
    let key = session_ledger::mask_key(context.environment(), context.policy().config()).ok()?;
    let Cow::Owned(masked) = mask_text(&call.0, &key) else { return None };
    let mut renamed = event.clone();
    if let HookEventKind::BeforeAction { call: Some(call), .. }
    | HookEventKind::AfterAction(Outcome { call: Some(call), .. }) = &mut renamed.moment
    {
        call.0 = masked;
    }
    Some(renamed)
}

/// What is said, whoever put it together out of what, without secrets: it stands in the transcript of the client and on screens.
fn in_masked_words(
    context: &Context,
    answer: HookResponse,
    for_user: Option<String>,
) -> (HookResponse, Option<String>) {
    if answer.text().is_empty() && for_user.is_none() {
        return (answer, for_user);
    }
    let config = context.policy().config();
    // Where the key cannot be had a mask does not hide what it stands for from who tries; nobody is told less for that.
    let key = session_ledger::mask_key(context.environment(), config)
        .unwrap_or_else(|_| MaskKey::new([0; MaskKey::LENGTH]))
        .for_words();
    let masked = |text: String| match mask_text(&text, &key) {
        Cow::Owned(masked) => masked,
        Cow::Borrowed(_) => text,
    };
    (answer.worded(&masked), for_user.map(masked))
}

/// The call that is judged at a moment, if one is.
fn judged(moment: &HookEventKind) -> Option<&Action> {
    match moment {
        HookEventKind::BeforeAction { action, .. } | HookEventKind::PermissionAsked { action } => {
            Some(action)
        }
        HookEventKind::AfterAction(_)
        | HookEventKind::Prompt { .. }
        | HookEventKind::BatchDone
        | HookEventKind::SessionStarted { .. }
        | HookEventKind::SubagentStarted
        | HookEventKind::ConfigurationChanged { .. }
        | HookEventKind::TurnEnding { .. }
        | HookEventKind::SubagentEnding { .. }
        | HookEventKind::SessionEnded
        | HookEventKind::Other { .. } => None,
    }
}

fn event(call: &ToolCall, name: &str, moment: HookEventKind) -> HookEvent {
    HookEvent {
        client: call.client,
        name: name.to_owned(),
        session: call.session.clone(),
        actor: call.actor.clone(),
        cwd: call.cwd.clone(),
        permission_mode: call.permission_mode,
        transcript: None,
        moment,
    }
}

fn handle(context: &mut Context, event: &HookEvent, started: Instant) -> Answered {
    let ledger = session_ledger::ledger(context.environment(), &event.session, context.policy().config());
    let mut kept = kept_settings::stored(context.environment(), &ledger);
    let mut gone = None;
    let in_two_lines = |first: String, next: String| format!("{first}\n{next}");
    if kept.is_none() || lost_records::is_looked_for(event) {
        gone = lost_records::notice(context, &ledger, event);
        kept = kept.or_else(|| kept_settings::stored(context.environment(), &ledger));
    }
    if let HookEventKind::ConfigurationChanged { .. } = &event.moment {
        // What changed is judged as it is before it is put back: the client must not take it up.
        let answered = handle_moment(context, &ledger, event, started);
        let SettingsNotice { user, .. } = kept_settings::watch(context, &ledger, event, kept);
        let for_user = user.into_iter().chain(answered.for_user).reduce(in_two_lines);
        return Answered { for_user, ..answered };
    }
    let SettingsNotice { agent: told, user: of_settings } =
        kept_settings::watch(context, &ledger, event, kept);
    let Answered { answer, for_user, remains, approval } = handle_moment(context, &ledger, event, started);
    let loosened = confirmed_configuration::at_start(context, &ledger, event);
    let of_loosened = loosened.as_ref().map(|_| confirmed_configuration::FOR_USER.to_owned());
    let for_user = of_settings.into_iter().chain(of_loosened).chain(for_user).reduce(in_two_lines);
    let unpinned = confirmed_team_policy::at_start(context, &ledger, event);
    let answer = kept_settings::with(kept_settings::with(answer, told), loosened);
    let answer = kept_settings::with(answer, unpinned);
    Answered { answer: kept_settings::with(answer, gone), for_user, remains, approval }
}

fn handle_moment(
    context: &mut Context,
    ledger: &SessionLedger,
    event: &HookEvent,
    started: Instant,
) -> Answered {
    let halted = halt_reason(context, &event.session);
    let answer = match &event.moment {
        HookEventKind::BeforeAction { call, action } => {
            let mut failures = Vec::new();
            let known = ledger.known().unwrap_or_else(|error| {
                failures.push(Failure::History(error.to_string()));
                KnownSession::unknown()
            });
            // Not each client says that a session begins.
            if known.state().records() == 0 {
                tell_run(context, ledger, &event.session);
                lineage::begin(context, ledger, event);
            }
            lineage::announce(context, ledger, action);
            beginning::hold(context, ledger, event, known.state());
            verification::look_after_untold(context, ledger, known.state());
            let halted = halted.or_else(|| of_origin(context, event, ledger, known.state()));
            let call = Call { event, id: call.as_ref(), action, halted: halted.as_deref(), started };
            return corridor::before(context, ledger, call, known, &failures);
        }
        HookEventKind::AfterAction(outcome) => {
            let (stepped_in, for_user) = after(context, event, ledger, outcome);
            let answer = halted.map_or(stepped_in, |reason| HookResponse::Halt { reason });
            return Answered { for_user, ..Answered::from(answer) };
        }
        HookEventKind::PermissionAsked { action } => {
            context.record(
                ledger,
                event_record(
                    event,
                    json!({
                        "tool": action.tool.as_str(),
                        "input": recorded_input(action),
                        "answerer": answerer(context, &event.cwd),
                    }),
                ),
            );
            if let Ok(state) = ledger.state() {
                beginning::hold(context, ledger, event, &state);
            }
            permission(context, ledger, event, action, halted)
        }
        HookEventKind::Prompt { text } => {
            let body = if set_back::is_message(context, text) {
                // No user spoke: what stands goes on, and what they asked for stays the goal.
                let fields = serde_json::json!({});
                RecordBody::Event { name: set_back::GOES_ON.to_owned(), fields }
            } else {
                RecordBody::Prompt { text: text.clone() }
            };
            let unrecorded = context.record_or_tell(ledger, body);
            let of_origin = || of_origin(context, event, ledger, &ledger.state().ok()?);
            let answer = if let Some(reason) = halted.or_else(of_origin) {
                HookResponse::Halt { reason }
            } else {
                let lost = tell_lost(context, ledger, Some(&event.session));
                let workspace = context.workspace().to_string();
                let config = context.policy().config();
                let learned = lessons::told(context.environment(), config, &workspace, ledger, text);
                let told: Vec<String> = lost.into_iter().chain(learned).collect();
                if told.is_empty() {
                    HookResponse::NoOpinion
                } else {
                    HookResponse::Context { text: told.join("\n") }
                }
            };
            kept_settings::with(answer, unrecorded)
        }
        HookEventKind::SessionStarted { source } => {
            if let Ok(state) = ledger.state() {
                beginning::hold(context, ledger, event, &state);
            }
            retention::at_start(context.environment(), context.policy().config());
            let earlier = sessions(&context.environment().state).unwrap_or_default();
            let before = ending::of_session_before(context, event, &earlier, source);
            let debt = session_ledger::inherited_debt(
                context.environment(),
                &earlier,
                event.client.name(),
                context.workspace(),
                context.policy().config(),
            );
            let unrecorded = context.record_or_tell(
                ledger,
                RecordBody::SessionStarted {
                    session: event.session.clone(),
                    client: event.client.name().to_owned(),
                    cwd: event.cwd.to_string(),
                    workspace: context.workspace().to_string(),
                    source: source.clone(),
                    beginning: context.begun.clone(),
                    debt: Some(debt).filter(|debt| *debt > 0.0),
                },
            );
            if unrecorded.is_none() {
                lost_records::keep(context, ledger, event);
            }
            if let Some(carried) = ending::carried(context, event, &earlier, source) {
                context.record(ledger, carried);
            }
            tell_run(context, ledger, &event.session);
            lineage::begin(context, ledger, event);
            let place = SessionPlace {
                session: ledger.folder().as_str().to_owned(),
                action: None,
                sequence: ledger.state().map_or(0, |state| state.records()),
            };
            let cleared = checkpoint::workspace::clear_away(context);
            let saved = checkpoint::workspace::at_start(context, place);
            cleared.into_iter().chain(saved).for_each(|body| context.record(ledger, body));
            verification::take_picture(context, ledger);
            let lost = tell_lost(context, ledger, None);
            let answer =
                halted.or(lost).map_or(HookResponse::NoOpinion, |text| HookResponse::Context { text });
            let answer = kept_settings::with(answer, unrecorded);
            let run = run_by_client::found(context.environment().client, &event.cwd);
            if let Some(what) = &run {
                // Not each client shows what its hook says then.
                let fields = json!({ ending::SUMMARY: what });
                context.record(ledger, RecordBody::Event { name: run_by_client::FOUND.to_owned(), fields });
            }
            let run = run.map(|what| format!("checkrein: {what}; take it out, or have it looked at"));
            let answer = kept_settings::with(answer, run.clone());
            let of_plugins = plugins::at_start(context.environment());
            let for_user = before
                .into_iter()
                .chain(run)
                .chain(of_plugins)
                .reduce(|one, other| format!("{one}\n{other}"));
            return Answered { for_user, ..Answered::from(answer) };
        }
        HookEventKind::BatchDone => {
            let answer = batch_done(context, event, ledger);
            halted.map_or(answer, |reason| HookResponse::Halt { reason })
        }
        HookEventKind::ConfigurationChanged { file } => {
            configuration_changed(context, ledger, event, file.as_ref())
        }
        HookEventKind::TurnEnding { message } | HookEventKind::SubagentEnding { message } => {
            if let (HookEventKind::TurnEnding { .. }, Ok(state)) = (&event.moment, ledger.state()) {
                verification::look_after_untold(context, ledger, &state);
            }
            let answer = turn_ended(context, event, ledger, message.as_deref());
            plugins::wake(context, ledger);
            tell_lost(context, ledger, Some(&event.session));
            answer
        }
        HookEventKind::SessionEnded => {
            ending::session_ended(context, ledger, event);
            plugins::wake(context, ledger);
            tell_lost(context, ledger, Some(&event.session));
            HookResponse::NoOpinion
        }
        HookEventKind::SubagentStarted => {
            context.record(ledger, event_record(event, json!({})));
            HookResponse::NoOpinion
        }
        HookEventKind::Other { .. } if event.name == "PostCompact" => {
            context.record(ledger, RecordBody::Condensed);
            HookResponse::NoOpinion
        }
        HookEventKind::Other { fields } => {
            context.record(ledger, event_record(event, fields.clone()));
            HookResponse::NoOpinion
        }
    };
    Answered::from(answer)
}

fn after(
    context: &mut Context,
    event: &HookEvent,
    ledger: &SessionLedger,
    outcome: &Outcome,
) -> (HookResponse, Option<String>) {
    let known = ledger.known().unwrap_or_else(|_| KnownSession::unknown());
    beginning::hold(context, ledger, event, known.state());
    let action_id = outcome
        .call
        .clone()
        .or_else(|| running(context, ledger, &outcome.action))
        .unwrap_or_else(|| ActionId("unknown".to_owned()));
    let unanswered = questions::unanswered(context, ledger, event, &action_id);
    let asked = if unanswered.is_none() { questions::asked_about(ledger, &action_id) } else { None };
    let masked = disclosure::masked(context, outcome).filter(|_| asked.is_none());
    let for_user = match (&asked, &masked) {
        (Some(asked), _) => for_user::agreed(context, asked, outcome),
        (None, Some(masked)) => Some(for_user::masked_output(context, outcome, masked.kinds.len())),
        (None, None) => None,
    };
    let unreviewed = unreviewed::found(context, ledger, event, outcome, known.state());
    let was_unseen = unreviewed.as_ref().is_some_and(unreviewed::Finding::was_unseen);
    let verification = match &mut context.unrecorded {
        Some(unrecorded) => unrecorded.seen.take(),
        None if was_unseen => {
            let now = context.environment().now();
            let since = verification::since(known.state().last().unwrap_or(now), outcome.duration_ms, now);
            verification::unreviewed(context, ledger, outcome, since)
        }
        None => verification::verify(context, ledger, &action_id, outcome),
    };
    let verification = verification.map(Box::new);
    let planted =
        flow::planted(known.state(), &action_id, &outcome.output, &|text| checkpoint::masked(context, text));
    let warned = planted.as_deref().and_then(|planted| {
        known.state().read_from_outside(&action_id).map(|mark| flow::told(mark, planted))
    });
    let late = late_hints::of(context, ledger, &action_id);
    let gone = context.snapshot_gone.map(|id| lost_records::snapshot_gone(context, ledger, id));
    let ended = action_id.clone();
    let body = RecordBody::Outcome(OutcomeRecord {
        action_id,
        tool: outcome.action.tool.clone(),
        failed: outcome.failed,
        error: outcome.error.clone(),
        duration_ms: outcome.duration_ms,
        output_bytes: outcome.output.len() as u64,
        output_hash: content_hash(outcome.output.as_bytes()),
        planted,
        masked: masked.as_ref().map(|masked| masked.kinds.clone()).unwrap_or_default(),
        observation: Some(observed(&outcome.action, &outcome.output, success(outcome.failed))),
        verification,
    });
    let read = usage::transcribed(context, event, &known, usage::AFTER_A_CALL, None);
    let spent = spending::used(context, known.state());
    let ran = unanswered.clone().map(|record| RecordBody::Unanswered(Box::new(record)));
    let unseen = unreviewed.as_ref().map(unreviewed::Finding::record);
    let bodies = std::iter::once(body).chain(ran).chain(unseen).chain(read).collect();
    let appended = ledger.append_all_to(known, context.environment().now(), bodies, Durability::Plain);
    let mut limits = LimitWarnings::default();
    let mut due_of_change = None;
    let answer = match appended {
        Ok(appended) => {
            plugins::wake(context, ledger);
            let review = || questions::newest_review(ledger, &ended);
            let spent = spending::without_call(spent, &appended.state, review);
            limits = spending::warnings(context, ledger, &spent, &appended.state);
            let stepped_in = match run_over(context, ledger, &appended.state) {
                Some(stop) => stop,
                None => intervene(context, ledger, &appended.state, event),
            };
            let stepped_in = kept_settings::with(kept_settings::with(stepped_in, gone), warned);
            let stepped_in = kept_settings::with(stepped_in, late);
            let due = change_records::ran(context, &appended.state, &ended, outcome.failed);
            let (due_for_model, due_for_user) = due.unzip();
            due_of_change = due_for_user;
            let stepped_in = kept_settings::with(stepped_in, due_for_model);
            let stepped_in = kept_settings::with(stepped_in, limits.for_agent.take());
            let stepped_in = unanswered
                .map_or(stepped_in.clone(), |record| tell_unanswered(context, ledger, &record, stepped_in));
            unreviewed.map_or(stepped_in.clone(), |finding| {
                unreviewed::tell_of(context, ledger, &finding, outcome, &appended.state, stepped_in)
            })
        }
        Err(error) => {
            context.environment().diagnostics.add(format!("not recorded: {error}"));
            HookResponse::NoOpinion
        }
    };
    let answer = match masked {
        Some(masked) => masked.besides(answer),
        None => answer,
    };
    let for_user = for_user.into_iter().chain(limits.for_user).chain(due_of_change);
    (answer, for_user.reduce(|one, other| format!("{one}\n{other}")))
}

/// The calls of one answer are done. Below a run what was spent is looked at here too: an answer whose calls were all refused has no outcome.
fn batch_done(context: &Context, event: &HookEvent, ledger: &SessionLedger) -> HookResponse {
    let body = event_record(event, json!({}));
    if context.environment().run_limits.is_none() {
        context.record(ledger, body);
        return HookResponse::NoOpinion;
    }
    let known = ledger.known().unwrap_or_else(|_| KnownSession::unknown());
    let read = usage::transcribed(context, event, &known, usage::AFTER_A_CALL, None);
    let bodies = std::iter::once(body).chain(read).collect();
    match ledger.append_all_to(known, context.environment().now(), bodies, Durability::Plain) {
        Ok(appended) => run_over(context, ledger, &appended.state).unwrap_or(HookResponse::NoOpinion),
        Err(error) => {
            context.environment().diagnostics.add(format!("not recorded: {error}"));
            HookResponse::NoOpinion
        }
    }
}

/// How many calls that have not ended are looked at for one that was changed into what ended (ours).
const UNENDED: usize = 8;

/// The call that an outcome is of, where the client names none: the newest of the same tool with the same input that has not ended, or that
/// was put in its place.
fn running(context: &Context, ledger: &SessionLedger, action: &Action) -> Option<ActionId> {
    let state = ledger.state().ok()?;
    let same = state.running(ActionFingerprint::of(action, &[], &[]).exact);
    let is_changed_into = |id: &&ActionId| unreviewed::is_changed_into(context, ledger, id, action);
    same.or_else(|| state.unended().take(UNENDED).find(is_changed_into)).cloned()
}

/// Ends the run above the session when one of its limits is used up, before the next answer is paid for.
fn run_over(context: &Context, ledger: &SessionLedger, state: &SessionState) -> Option<HookResponse> {
    let run = context.environment().run_limits.as_deref()?;
    let config = context.policy().config();
    if config.mode != Mode::Enforce {
        return None;
    }
    // What could not be checked is said before the next call.
    let reached = usage::reached(state, config, (Some(run), None), &mut Vec::new())?;
    corridor::end_run(context, ledger, reached.switch, &reached.reason);
    Some(HookResponse::Halt { reason: format!("checkrein ends the run: {}", reached.reason) })
}

/// Tells the run above that a session begins or goes on, and what it had spent before.
fn tell_run(context: &Context, ledger: &SessionLedger, session: &SessionId) {
    let Some(run) = context.environment().run_limits.as_deref() else { return };
    let state = ledger.state().unwrap_or_default();
    let begun = HookedSession {
        session: session.0.clone(),
        before: usage::spent_by(&state),
        tokens: state.spent().tokens(),
    };
    if let Err(error) = run.begins(&begun) {
        context.environment().diagnostics.add(format!("the run was not told of the session: {error}"));
    }
}

/// Who answers the questions of the client, in one word.
fn answerer(context: &Context, cwd: &AbsolutePath) -> &'static str {
    let environment = context.environment();
    match (environment.client.answerer)(&environment.variables) {
        Answerer::User if !may_answer(environment, context.workspace(), cwd) => "user",
        Answerer::User | Answerer::NotKnown => "unknown",
    }
}

/// The user is being asked already; only what would be refused anyway is refused here.
fn permission(
    context: &Context,
    ledger: &SessionLedger,
    event: &HookEvent,
    action: &Action,
    halted: Option<String>,
) -> HookResponse {
    if let Some(reason) = halted {
        return HookResponse::Deny { reason };
    }
    if context.policy().config().mode == Mode::Observe {
        return HookResponse::NoOpinion;
    }
    let state = ledger.state().unwrap_or_default();
    let review = unhooked::permission(context, ledger, action, &state);
    // What this guard asks itself was told when it did, and what is saved was known then: the answer is the user's.
    // A mode that was entered meanwhile may answer in the user's place.
    if state.is_asked_about(review.fingerprint.exact) {
        let profile = context.policy().config().profile;
        let (around, workspace) = (context.environment(), context.workspace());
        let nobody = Nobody::about(event, &review, profile, around, workspace, &state.history());
        return match nobody.filter(|nobody| nobody.is_answered_elsewhere()) {
            Some(nobody) => HookResponse::Deny { reason: nobody.refusal(&review) },
            None => HookResponse::NoOpinion,
        };
    }
    if review.verdict.kind >= VerdictKind::Block {
        return HookResponse::Deny { reason: review.message() };
    }
    // The client may ask about the safer form, or about the call with our reason in it: people were told of that question.
    if !questions::is_open(ledger, action) {
        tell_question(context, ledger, &checkpoint::in_words(action));
    }
    HookResponse::NoOpinion
}

/// A change of the client's settings that would silence the hooks is refused: the client then keeps the old ones for the session.
fn configuration_changed(
    context: &Context,
    ledger: &SessionLedger,
    event: &HookEvent,
    file: Option<&AbsolutePath>,
) -> HookResponse {
    let Some(file) = file else {
        context.record(ledger, event_record(event, json!({})));
        return HookResponse::NoOpinion;
    };
    let text = checkrein_files::read_text(file.as_str(), checkrein_files::SMALL).ok();
    let hooks = &context.environment().client.hooks;
    let found = hooks.protection(text.as_deref(), &context.installations().commands(file));
    let decision = match &found {
        Protection::Stands | Protection::NotConcerned => "accepted".to_owned(),
        Protection::Falls { why } => format!("refused: {why}"),
    };
    context.record(ledger, RecordBody::ConfigChanged { file: file.to_string(), decision });
    match found {
        Protection::Stands | Protection::NotConcerned => HookResponse::NoOpinion,
        Protection::Falls { why } => HookResponse::Deny {
            reason: format!(
                "checkrein keeps its hooks for this session: `{file}` changed and {why}.\n\
                 Instead: the user removes the guard with `checkrein uninstall` in a terminal, or puts it back with `checkrein init`"
            ),
        },
    }
}

/// Looks whether the settings from which hooks were called still call them: those of a session, else all of this user. What does
/// not is recorded, people are told, and the answer is what the model is told.
fn tell_lost(context: &Context, ledger: &SessionLedger, session: Option<&SessionId>) -> Option<String> {
    let state = session.and_then(|_| ledger.state().ok());
    let lost = beginning::lost(context.installations(), state.as_ref().and_then(|state| state.beginning()));
    let first = lost.first()?;
    let text = format!("{}\n{}", lost.join("\n"), installation::FALLEN_HINT);
    let detail = lost.join("; ");
    let body = RecordBody::Failure {
        stage: "settings".to_owned(),
        kind: "fallen".to_owned(),
        detail,
        verdict: VerdictKind::Nudge,
    };
    context.record(ledger, body);
    let notice = Notice {
        event: "protection_lost".to_owned(),
        session: ledger.folder().as_str().to_owned(),
        workspace: context.workspace().clone(),
        at: context.environment().now(),
        title: "checkrein: hooks are gone".to_owned(),
        text: text.clone(),
        incident: None,
        question: None,
    };
    if let Err(error) = notification::send(context.environment(), context.policy().config(), &notice) {
        context.environment().diagnostics.add(format!("{first}; nobody was told: {error}"));
    }
    Some(format!("checkrein: {text}"))
}

fn halt_reason(context: &Context, session: &SessionId) -> Option<String> {
    halted(context.environment(), session)
}

/// Why a session may not go on, by the word of a user or of the run above it; `None` when it may.
pub fn halted(environment: &HostEnvironment, session: &SessionId) -> Option<String> {
    is_halted(&environment.state, &FolderName::of(session))
        .map(|halt| format!("{HALTED}{}", halt.reason))
        .or_else(|| environment.run_limits.as_deref()?.stopped().map(|stop| stop.reason))
}

/// The same for a conversation that was halted under another name.
fn of_origin(
    context: &Context,
    event: &HookEvent,
    ledger: &SessionLedger,
    state: &SessionState,
) -> Option<String> {
    inheritance::halt_of_origin(context, event, ledger, state).map(|reason| format!("{HALTED}{reason}"))
}

/// Writes down a failure of the edge, as well as that is possible.
pub fn record_failure(environment: &HostEnvironment, session: Option<SessionId>, failure: &Failure) {
    let session = session.unwrap_or_else(|| SessionId(NO_SESSION.to_owned()));
    let body = RecordBody::Failure {
        stage: failure.stage().to_owned(),
        kind: failure.kind().to_owned(),
        detail: failure.to_string(),
        verdict: VerdictKind::Block,
    };
    let written = SessionLedger::open(&environment.state, &session).append(
        environment.now(),
        body,
        Durability::Durable,
    );
    if let Err(error) = written {
        environment.diagnostics.add(format!("not recorded: {error}"));
    }
}
