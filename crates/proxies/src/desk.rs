//! What both directions of a connection share: asking the engine, telling the user, ending a turn.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::BuildHasher as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use checkrein_clients::PROXIED;
use checkrein_engine::EarlyStart;
use checkrein_engine::clock::{Clock as _, SystemClock};
use checkrein_protocol::{
    AbsolutePath, Action, ActionId, CallProgress, Change, ChangeKind, HookEvent, HookEventKind, HookResponse,
    Outcome, SuccessReporting,
};
use serde_json::Value as Json;

use crate::answers;
use crate::message::Key;
use crate::outlet::Outlet;
use crate::reviewer::{CallJudge, Reviewer, Ruling, Said, before};
use crate::state::{Named, OpenCall, State, ledger_name};

/// Who is told what does not belong into the conversation.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// The longest request that is reviewed, in bytes, as in the hook: what is longer is refused.
pub(crate) const REVIEWED: usize = 12 * 1024 * 1024;

/// How much of the name of a call of an agent becomes the name of its review, in characters (ours).
const NAME: usize = 200;

/// What the two directions share.
pub(crate) struct Shared {
    state: Mutex<State>,
    pub(crate) judge: Arc<dyn CallJudge>,
    pub(crate) to_agent: Outlet,
    pub(crate) to_editor: Outlet,
    say: Say,
    /// What the ids of ours begin with. Nobody else knows it, so no id of somebody else is one of ours.
    token: String,
    count: AtomicU64,
    unreadable: AtomicU64,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shared").field("judge", &self.judge).finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn new(judge: Arc<dyn CallJudge>, cwd: AbsolutePath, say: Say) -> Self {
        let (one, other) = (RandomState::new().hash_one(0_u8), RandomState::new().hash_one(1_u8));
        Self {
            state: Mutex::new(State::new(cwd)),
            judge,
            to_agent: Outlet::default(),
            to_editor: Outlet::default(),
            say,
            token: format!("{one:016x}{other:016x}"),
            count: AtomicU64::new(0),
            unreadable: AtomicU64::new(0),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn say(&self, text: &str) {
        (self.say)(text);
    }

    /// An id for a request of ours.
    pub(crate) fn own_id(&self) -> String {
        format!("checkrein-{}-{}", self.token, self.number())
    }

    /// Whether an id is of that form.
    pub(crate) fn is_own(&self, key: &Key) -> bool {
        key.text().is_some_and(|id| id.starts_with(&format!("checkrein-{}-", self.token)))
    }

    /// A name for the review of what the agent gives no name.
    pub(crate) fn own_name(&self) -> String {
        let short: String = self.token.chars().take(8).collect();
        format!("acp-{short}-{}", self.number())
    }

    fn number(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A line could not be read; that is said once, and how many there were at the end.
    pub(crate) fn is_unreadable(&self, what: &str) {
        if self.unreadable.fetch_add(1, Ordering::Relaxed) == 0 {
            self.say(&format!("checkrein: {what}"));
        }
    }

    /// How many lines could not be read.
    pub(crate) fn unreadable(&self) -> u64 {
        self.unreadable.load(Ordering::Relaxed)
    }

    /// Tells the user something in the conversation, where the editor knows it already.
    pub(crate) fn remark(&self, session: &str, text: &str) {
        if self.state().known(session).is_some_and(|session| session.is_open) {
            self.to_editor.write(answers::remark(session, text));
        }
    }

    /// Notes that the user reads of a call that is refused, so that a request about the same call tells nothing anew.
    pub(crate) fn is_told_of(&self, session: &str, call: &str) {
        let mut state = self.state();
        let Some(known) = state.known(session).filter(|known| known.is_open) else { return };
        let is_refused =
            |open: &OpenCall| matches!(open.reviewed, Some((_, Ruling::Refused(_) | Ruling::Stopped(_))));
        if let Some(open) = known.known_call(call).filter(|open| is_refused(open)) {
            open.is_told = true;
        }
    }

    /// Ends the turn of a session, once; the user is told why. Whether there was one to end.
    pub(crate) fn cancel(&self, session: &str, why: &str) -> bool {
        let is_due = self.state().known(session).is_some_and(|session| {
            let is_due = !session.turns.is_empty() && !session.is_cancelled;
            session.is_cancelled |= is_due;
            is_due
        });
        if is_due {
            self.to_agent.write(answers::cancel(session));
            self.remark(session, why);
        }
        is_due
    }
}

/// One direction at work.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) shared: Arc<Shared>,
    /// What the user is told behind the line that is being taken: session and text.
    remarks: Vec<(String, String)>,
    reviewer: Reviewer,
}

impl Desk {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        let judge = Arc::clone(&shared.judge);
        Self { shared: Arc::clone(shared), remarks: Vec::new(), reviewer: Reviewer::new(judge) }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }

    /// Tells the user something in the conversation, behind the line that is being taken.
    pub(crate) fn remark(&mut self, session: &str, text: &str) {
        self.remarks.push((session.to_owned(), text.to_owned()));
    }

    /// Tells the user what was to be told behind the line.
    pub(crate) fn tell(&mut self) {
        for (session, text) in std::mem::take(&mut self.remarks) {
            self.shared.remark(&session, &text);
        }
    }

    /// Asks the engine about an event of a session.
    pub(crate) fn event(
        &mut self,
        session: &str,
        cwd: &AbsolutePath,
        name: &str,
        moment: HookEventKind,
    ) -> Said {
        self.event_since(None, event(session, cwd, name, moment))
    }

    /// Saves what the calls of a session find that ask nobody.
    pub(crate) fn keep_workspace(&mut self, session: &str) {
        let (cwd, began) = (self.cwd(session), SystemClock.now());
        let kept = self.reviewer.keep(event(session, &cwd, "keep_workspace", HookEventKind::BatchDone));
        if let Some(known) = self.state().known(session) {
            known.keep(began, kept);
        }
    }

    /// Whether actions that the agent only offers pass by themselves; nothing is recorded of them.
    pub(crate) fn pass(&mut self, cwd: &AbsolutePath, method: &str, named: &[Named]) -> bool {
        named.iter().all(|Named { id, action }| {
            self.reviewer.passes(event("offered", cwd, method, before(id, action)))
        })
    }

    fn event_since(&mut self, start: Option<EarlyStart>, event: HookEvent) -> Said {
        let said = self.reviewer.ask(event, start);
        said.remarks.iter().for_each(|remark| self.shared.say(remark));
        said
    }

    /// Reviews actions before they run, to the first that is refused: the strictest ruling, and the line for the user.
    pub(crate) fn review(
        &mut self,
        session: &str,
        cwd: &AbsolutePath,
        method: &str,
        named: &[Named],
    ) -> (Ruling, Option<String>) {
        self.review_since(None, session, (cwd, method), named)
    }

    /// The same of actions that may have begun, where `start` says when.
    pub(crate) fn review_since(
        &mut self,
        start: Option<EarlyStart>,
        session: &str,
        (cwd, method): (&AbsolutePath, &str),
        named: &[Named],
    ) -> (Ruling, Option<String>) {
        let mut strictest = (Ruling::Passed, None);
        for Named { id, action } in named {
            let said = self.event_since(start, event(session, cwd, method, before(id, action)));
            let ruling = Ruling::of(&said.answer);
            if ruling.strictness() > strictest.0.strictness() {
                strictest = (ruling, said.for_user);
            } else if strictest.1.is_none() {
                strictest.1 = said.for_user;
            }
            if strictest.0.strictness() >= Ruling::Refused(String::new()).strictness() {
                break;
            }
        }
        strictest
    }

    /// Records what became of actions, and tells what is to be told of it.
    pub(crate) fn outcome(&mut self, session: &str, method: &str, named: &[Named], ended: &Ended) {
        let cwd = self.cwd(session);
        for Named { id, action } in named {
            let outcome = ended.outcome(id, action);
            let said = self.event(session, &cwd, method, HookEventKind::AfterAction(outcome));
            match &said.answer {
                HookResponse::Halt { reason } => {
                    self.shared.cancel(session, reason);
                }
                HookResponse::Deny { .. } => {}
                answer if answer.text().is_empty() => {}
                answer => self.remark(session, answer.text()),
            }
            if let Some(text) = said.for_user {
                self.remark(session, &text);
            }
        }
    }

    /// Where a session works.
    pub(crate) fn cwd(&self, session: &str) -> AbsolutePath {
        let mut state = self.state();
        let place = state.known(session).map(|session| session.cwd.clone());
        place.unwrap_or_else(|| state.default_place().clone())
    }

    /// Why a session may not go on, by the word of a user.
    pub(crate) fn halted(&self, session: &str) -> Option<String> {
        self.shared.judge.halted(&ledger_name(session))
    }
}

/// An event of a session.
fn event(session: &str, cwd: &AbsolutePath, name: &str, moment: HookEventKind) -> HookEvent {
    HookEvent {
        client: PROXIED,
        session: ledger_name(session),
        cwd: cwd.clone(),
        actor: None,
        name: name.to_owned(),
        transcript: None,
        permission_mode: None,
        moment,
    }
}

/// How something ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ended {
    /// The error; `None` when it is not known to have failed.
    pub(crate) error: Option<String>,
    /// Whether a failure would have been told.
    pub(crate) success: SuccessReporting,
    /// What it answered.
    pub(crate) output: String,
    /// When it began.
    pub(crate) since: Instant,
}

impl Ended {
    fn outcome(&self, id: &ActionId, action: &Action) -> Outcome {
        let failed = self.error.is_some();
        Outcome {
            call: Some(id.clone()),
            action: action.clone(),
            failed,
            success: if action.shell_field().is_some() { self.success } else { SuccessReporting::Told },
            error: self.error.clone(),
            output: self.output.clone(),
            duration_ms: u64::try_from(self.since.elapsed().as_millis()).ok(),
            answered: None,
            reported: if failed { Vec::new() } else { written(action).into_iter().collect() },
            progress: CallProgress::Finished,
        }
    }
}

/// The file that an action of an editor has written.
fn written(action: &Action) -> Option<Change> {
    ["Write", "Edit"].contains(&action.tool.as_str()).then_some(())?;
    let path = action.cwd.join(action.input.get("file_path")?.as_str()?);
    // What is not there was not written.
    fs::symlink_metadata(path.as_str()).ok()?;
    Some(Change { path, kind: ChangeKind::Modified })
}

/// Actions under the name of a call: the name itself, with a number behind it from the second on.
pub(crate) fn named(call: &str, actions: Vec<Action>) -> Vec<Named> {
    let call: String = call.chars().take(NAME).collect();
    let name = |number: usize| if number == 0 { call.clone() } else { format!("{call}#{}", number + 1) };
    actions
        .into_iter()
        .enumerate()
        .map(|(number, action)| Named { id: ActionId(name(number)), action })
        .collect()
}

/// A text field.
pub(crate) fn text<'a>(value: &'a Json, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Json::as_str)
}

/// The first line of a reason.
pub(crate) fn first_line(reason: &str) -> &str {
    reason.lines().next().unwrap_or_default()
}
