//! Watches what an agent is heard doing in its stream, and judges it as the hooks would: for when they are not there.
//!
//! A call that the hooks reviewed is in the ledger of the session by the client's name for it, or, where the client names no calls to its
//! hooks, by its content (`reviewed_calls`); it is theirs, and nothing here counts it. Every other call is reviewed when it is heard, which is about when it runs, and watched by the detectors when it comes back. All of that
//! happens in a thread of its own: the stream never waits for it, and what does not fit into a bounded memory is counted.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use checkrein_clients::readings;
use checkrein_policy::{Mode, Profile};
use checkrein_protocol::{AbsolutePath, Action, ActionId, SessionId};
use checkrein_session::SessionLedger;

use checkrein_review::{Review, VerdictKind};
use checkrein_supervise::{
    Backlog, EventSender, Stop, StreamEvent, Waiting, backlog,
    runs::{RunId, Runs},
};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::terminal::{counted, cut, log, plain};
use checkrein_engine::context::Context;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::monitor::{Noticed, stops};
use checkrein_engine::replay::{RecordedOutcome, ReplaySession};

use super::review_sum::{BlockedCall, ReviewSum};
use super::reviewed_calls::ReviewedCalls;

/// Calls that wait for their answer, at most (ours).
const PENDING: usize = 1000;

/// Calls that are told one by one while the agent runs (ours); all are counted.
const TOLD: u64 = 5;

/// How long is judged after the end (ours).
const LAST_WORDS: Duration = Duration::from_secs(3);

/// How long the hooks have for the review of a call that was announced, before it counts as one that runs without them (ours; a hook takes a
/// fraction of it).
const HOOKS_HAVE: Duration = Duration::from_secs(3);

/// As much as the hook has, for the recursion of the interpreter.
const STACK: usize = 64 << 20;

/// What was seen in a stream.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Findings {
    /// Calls that came back and that the hooks had reviewed.
    pub(super) guarded: u64,
    /// Calls that came back without any review before.
    pub(super) unguarded: u64,
    /// Of those: what the review would have refused.
    pub(super) refusable: u64,
    /// What was not judged, since it came too fast.
    pub(super) lost: u64,
    /// What the detectors found, by name.
    pub(super) patterns: Vec<String>,
    /// What the reviews of those without one before came to; told with those of the hooks.
    #[serde(default, skip_serializing_if = "is_none_made")]
    pub(super) reviews: ReviewSum,
}

fn is_none_made(reviews: &ReviewSum) -> bool {
    reviews.total == 0
}

impl Findings {
    pub(super) fn in_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.refusable > 0 {
            words.push(format!(
                "{} ran that would have been stopped: the hooks did not run. `checkrein init` registers them, `checkrein doctor` proves them",
                counted(self.refusable, "call")
            ));
        }
        if self.lost > 0 {
            words.push(format!("{} came too fast to be judged", counted(self.lost, "call")));
        }
        words
    }
}

#[derive(Debug, Default)]
struct Shared {
    findings: Findings,
    stop: Option<Stop>,
}

/// Judges the stream of one attempt.
#[derive(Debug)]
pub(super) struct StreamMonitor {
    shared: Arc<Mutex<Shared>>,
    profile: Profile,
    waiting: Option<(Backlog, HostEnvironment, RunId)>,
    thread: Option<JoinHandle<()>>,
}

impl StreamMonitor {
    /// One that has heard nothing, and where it hears. It starts when it is first asked, since a thread must not be there before the agent is.
    pub(super) fn new(environment: &HostEnvironment, profile: Profile, run: &RunId) -> (Self, EventSender) {
        let (speaker, backlog) = backlog();
        let waiting = Some((backlog, environment.clone(), run.clone()));
        (Self { shared: Arc::default(), profile, waiting, thread: None }, speaker)
    }

    /// Whether the agent has to stop for what was heard.
    pub(super) fn judge(&mut self) -> Option<Stop> {
        self.begin();
        let nobody_looks = self.thread.as_ref().is_none_or(JoinHandle::is_finished);
        self.found().or_else(|| {
            // Its thread lives as long as the stream; where nobody watches otherwise, that is no moment to go on.
            (nobody_looks && self.profile != Profile::Interactive)
                .then(|| Stop::Watched("watching".to_owned(), "what judges its calls broke".to_owned()))
        })
    }

    fn begin(&mut self) {
        if let Some((backlog, environment, run)) = self.waiting.take() {
            let (shared, profile) = (Arc::clone(&self.shared), self.profile);
            let look = move || StreamWorker::new(environment, profile, run, shared).look(&backlog);
            self.thread = thread::Builder::new().stack_size(STACK).spawn(look).ok();
        }
    }

    fn found(&self) -> Option<Stop> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).stop.clone()
    }

    /// What was seen, and what the agent should have been stopped for, after what still waits is judged, for a moment.
    pub(super) fn finish(mut self) -> (Findings, Option<Stop>) {
        self.begin();
        let patience = Instant::now() + LAST_WORDS;
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) && Instant::now() < patience {
            thread::sleep(Duration::from_millis(2));
        }
        let found = self.found();
        let findings = self.shared.lock().unwrap_or_else(PoisonError::into_inner).findings.clone();
        (findings, found)
    }
}

/// A call that did not come back yet.
struct Pending {
    /// In every way in which it can be read under our names; the first counts for the detectors.
    readings: Vec<Action>,
    /// Made when it was heard; `None` while the hooks do that.
    review: Option<Review>,
    heard: Instant,
    standing: Standing,
}

/// What is known of a call that did not come back yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Nothing so far.
    Open,
    /// A hook reviewed it.
    Guarded,
    /// No hook did, and it would have been stopped, which is told.
    Refusable,
    /// No hook did, and it is none that would have been stopped.
    Harmless,
}

struct StreamWorker {
    rehearsal: ReplaySession,
    environment: HostEnvironment,
    cwd: AbsolutePath,
    profile: Profile,
    mode: Mode,
    run: RunId,
    known: ReviewedCalls,
    pending: HashMap<String, Pending>,
    order: VecDeque<String>,
    calls: u64,
    shared: Arc<Mutex<Shared>>,
}

impl StreamWorker {
    fn new(environment: HostEnvironment, profile: Profile, run: RunId, shared: Arc<Mutex<Shared>>) -> Self {
        let cwd = environment.cwd.clone();
        let context = Context::open(environment.clone(), &cwd);
        let mode = context.policy().config().mode;
        Self {
            rehearsal: ReplaySession::new(context, &[]),
            environment,
            cwd,
            profile,
            mode,
            run,
            known: ReviewedCalls::default(),
            pending: HashMap::new(),
            order: VecDeque::new(),
            calls: 0,
            shared,
        }
    }

    fn look(mut self, backlog: &Backlog) {
        loop {
            match backlog.next(Duration::from_secs(1)) {
                Waiting::Heard(heard) => self.hear(heard),
                Waiting::Nothing => {}
                Waiting::Closed => break,
            }
            self.judge_running();
            let lost = backlog.lost();
            if lost > 0 {
                self.found(|shared| shared.findings.lost = lost);
                if self.profile != Profile::Interactive {
                    let why = "its calls come faster than they can be judged";
                    self.stop(Stop::Watched("flood".to_owned(), why.to_owned()));
                }
            }
        }
        let lost = backlog.lost();
        self.found(|shared| shared.findings.lost = lost);
    }

    fn hear(&mut self, heard: StreamEvent) {
        match heard {
            StreamEvent::Opened(session) => self.open(session),
            StreamEvent::Call { id, tool, input } => self.called(id, tool, input),
            StreamEvent::Answer { id, output, failed } => self.answered(&id, &output, failed),
            StreamEvent::Refused { id } => drop(self.pending.remove(&id)),
            // With hooks in place the turn's end tells them.
            StreamEvent::Said(text) if self.known.is_empty() => {
                let noticed = self.rehearsal.said(&text);
                self.noticed(&noticed);
            }
            StreamEvent::Condensed if self.known.is_empty() => {
                let noticed = self.rehearsal.condensed();
                self.noticed(&noticed);
            }
            StreamEvent::Said(_) | StreamEvent::Condensed => {}
        }
    }

    fn open(&mut self, session: String) {
        if self.known.session() != Some(session.as_str()) {
            let ledger = SessionLedger::open(&self.environment.state, &SessionId(session.clone()));
            self.known = ReviewedCalls::of(session, ledger.path(), self.environment.state.mask_key().ok());
        }
    }

    /// Some clients name their session at their end only; their hooks are told of it at once.
    fn ask_hooks_for_session(&mut self) {
        if self.known.session().is_none()
            && let Ok((sessions, _)) = Runs::new(self.environment.state.root()).hooked_sessions(&self.run, 0)
            && let Some(first) = sessions.into_iter().next()
        {
            self.open(first.session);
        }
    }

    /// The strictest review of a call, whichever way it is read.
    fn review(&mut self, readings: &[Action]) -> Option<Review> {
        let reviews = readings.iter().map(|action| self.rehearsal.review(action));
        reviews.max_by_key(|review| review.verdict.kind)
    }

    fn called(&mut self, id: String, tool: String, input: Json) {
        // Clients call their tools differently, and nothing here knows which client it is.
        let readings = readings(Action::tool_call(tool, input, self.cwd.clone()));
        self.rehearsal.wait_until(Some(self.environment.now()));
        self.ask_hooks_for_session();
        // Where the hooks are at work, they review; only when this call then is not among theirs, it is done late.
        let review = if self.known.is_empty() { self.review(&readings) } else { None };
        let pending = Pending { readings, review, heard: Instant::now(), standing: Standing::Open };
        if self.pending.insert(id.clone(), pending).is_none() {
            self.order.push_back(id);
        }
        while self.order.len() > PENDING {
            if let Some(oldest) = self.order.pop_front() {
                self.pending.remove(&oldest);
            }
        }
    }

    fn answered(&mut self, id: &str, output: &str, failed: bool) {
        let Some(Pending { readings, review, standing, .. }) = self.pending.remove(id) else { return };
        self.order.retain(|other| other != id);
        self.ask_hooks_for_session();
        self.known.read_on();
        if standing == Standing::Guarded || self.known.hold(id, &readings) {
            return self.found(|shared| shared.findings.guarded += 1);
        }
        self.rehearsal.wait_until(Some(self.environment.now()));
        self.calls += 1;
        let name = ActionId(format!("call-{}", self.calls));
        let Some(review) = review.or_else(|| self.review(&readings)) else { return };
        let Some(action) = readings.into_iter().next() else { return };
        self.rehearsal.take_up(&review, &action, name.clone());
        let kind = review.verdict.kind;
        if failed && is_refusal(output, &action, self.known.is_empty()) {
            let noticed = self.rehearsal.refused();
            return self.noticed(&noticed);
        }
        let call = shown(&action);
        self.found(|shared| {
            shared.findings.unguarded += 1;
            let reason = &review.reasoning.primary;
            shared.findings.reviews.add(kind, || BlockedCall::new(id, &call, reason));
        });
        if standing == Standing::Refusable {
            // That was told when it was heard to run.
        } else if kind >= VerdictKind::Block && self.mode == Mode::Enforce {
            self.refusable(&call, &review.reasoning.primary);
        } else if self.profile == Profile::Strict {
            self.stop(Stop::Unguarded(call, "this profile wants every call reviewed".to_owned()));
        }
        let noticed = self.rehearsal.after(name, &action, RecordedOutcome { output, failed });
        self.noticed(&noticed);
    }

    /// Judges calls that run for a while and that no hook reviewed: one that would have been stopped is told before it comes back.
    fn judge_running(&mut self) {
        let is_due = |call: &Pending| call.standing == Standing::Open && call.heard.elapsed() >= HOOKS_HAVE;
        let due: Vec<String> =
            self.order.iter().filter(|id| self.pending.get(*id).is_some_and(is_due)).cloned().collect();
        if due.is_empty() {
            return;
        }
        self.ask_hooks_for_session();
        self.known.read_on();
        for id in due {
            let Some(Pending { readings, review, .. }) = self.pending.get_mut(&id) else { continue };
            let (readings, review) = (readings.clone(), review.take());
            if self.known.hold(&id, &readings) {
                self.settle(&id, review, Standing::Guarded);
                continue;
            }
            let review = review.or_else(|| self.review(&readings));
            let worst = review
                .as_ref()
                .filter(|review| review.verdict.kind >= VerdictKind::Block && self.mode == Mode::Enforce);
            let told = worst
                .zip(readings.first())
                .map(|(review, action)| (shown(action), review.reasoning.primary.clone()));
            let standing = if told.is_some() { Standing::Refusable } else { Standing::Harmless };
            self.settle(&id, review, standing);
            if let Some((call, reason)) = told {
                self.refusable(&call, &reason);
            }
        }
    }

    fn settle(&mut self, id: &str, review: Option<Review>, standing: Standing) {
        if let Some(pending) = self.pending.get_mut(id) {
            (pending.review, pending.standing) = (review, standing);
        }
    }

    fn refusable(&mut self, call: &str, reason: &str) {
        let reason = cut(reason, 200);
        let mut number = 0;
        self.found(|shared| {
            shared.findings.refusable += 1;
            number = shared.findings.refusable;
        });
        match self.profile {
            Profile::Interactive if number <= TOLD => log(&plain(&format!(
                "checkrein: no hook reviewed `{call}`, which would have been stopped: {reason}"
            ))),
            Profile::Interactive => {}
            Profile::Unattended | Profile::Strict => {
                self.stop(Stop::Unguarded(call.to_owned(), format!("it would have been stopped: {reason}")));
            }
        }
    }

    fn noticed(&mut self, noticed: &Noticed) {
        for issue in &noticed.issues {
            let name = issue.kind.name();
            self.found(|shared| {
                if !shared.findings.patterns.iter().any(|known| known == name) {
                    shared.findings.patterns.push(name.to_owned());
                }
            });
        }
        if let (Some(made), Some(issue)) = (&noticed.intervention, &noticed.about)
            && stops(made)
            && self.mode == Mode::Enforce
        {
            self.stop(Stop::Watched(issue.kind.name().replace('_', " "), cut(&issue.summary, 200)));
        }
    }

    fn found(&self, change: impl FnOnce(&mut Shared)) {
        change(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The first reason stays.
    fn stop(&self, stop: Stop) {
        self.found(|shared| {
            shared.stop.get_or_insert(stop);
        });
    }
}

/// A call in one line, without what is long or could be a secret form of speech to a terminal.
fn shown(action: &Action) -> String {
    let given = action.shell_text().map_or_else(|| action.input.to_string(), str::to_owned);
    plain(&cut(&format!("{} {given}", action.tool.as_str()), 120))
}

/// Whether the client says that it did not run the call, in its own words. A server could use them too, so they count for the tools of the
/// client alone, and our own words only where our hooks were heard of.
fn is_refusal(output: &str, action: &Action, no_hooks: bool) -> bool {
    let is_of_server = action.tool.as_str().starts_with("mcp_") || action.tool.as_str().contains("__");
    if no_hooks && (is_of_server || output.starts_with("checkrein")) {
        return false;
    }
    let begins = [
        "Claude requested permissions",
        "The user doesn't want to",
        "Permission to use",
        "This command requires approval",
        "<tool_use_error>",
        "checkrein",
    ];
    begins.iter().any(|words| output.starts_with(words))
}
