//! The engine, asked within a time and behind a boundary: whatever happens in it, there is an answer, and what did not answer is a refusal.

use std::fmt;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use checkrein_engine::Engine;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::fail_closed::Failure;
use checkrein_ledger::last;
use checkrein_protocol::{
    Action, ActionId, HookEvent, HookEventKind, HookResponse, RecordBody, SessionId, VerificationRecord,
};
use checkrein_session::SessionLedger;
use serde_json::Value as Json;

/// The longest shell command that is looked at, in bytes, as in the hook.
const COMMAND_LIMIT: usize = 2 * 1024 * 1024;

/// How long a review may take, as in the hook.
const DEADLINE: Duration = Duration::from_secs(10);

/// Room for the recursion of the interpreter, as in the hook. Only touched pages cost anything.
const STACK: usize = 64 * 1024 * 1024;

/// In how many of the newest records the outcome of a call is looked for (ours).
const RECORDS: usize = 16;

/// How many files that changed unforeseen are named (ours).
const NAMED: usize = 3;

/// What the engine said of an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// What is answered.
    pub answer: HookResponse,
    /// A line for the user.
    pub for_user: Option<String>,
    /// What did not work on the way.
    pub remarks: Vec<String>,
}

/// Whatever answers events: the engine, or in its tests something that fails.
pub trait CallJudge: fmt::Debug + Send + Sync {
    /// Answers an event, and records it.
    fn judge(&self, event: &HookEvent) -> Said;

    /// Why a session may not go on, by the word of a user or of the run above; `None` when it may.
    fn halted(&self, session: &SessionId) -> Option<String>;

    /// Writes down that an event could not be answered.
    fn failed(&self, session: &SessionId, failure: &Failure);
}

/// The engine, in this host environment.
#[derive(Debug)]
pub struct EngineJudge {
    engine: Engine,
    environment: HostEnvironment,
}

impl EngineJudge {
    /// The engine of this host environment.
    pub fn new(environment: HostEnvironment) -> Self {
        Self { engine: Engine::new(environment.clone()), environment }
    }

    /// What changed though it was not foreseen, for the user.
    fn surprises(&self, event: &HookEvent) -> Option<String> {
        let HookEventKind::AfterAction(outcome) = &event.moment else { return None };
        let id = outcome.call.as_ref()?;
        let path = SessionLedger::open(&self.environment.state, &event.session).path();
        let records = last(&path, RECORDS).ok()?;
        let verification = records.into_iter().rev().find_map(|record| match record.body {
            RecordBody::Outcome(outcome) if outcome.action_id == *id => outcome.verification,
            _ => None,
        })?;
        surprised(&verification)
    }
}

/// What a user is told of a verification that found something.
fn surprised(verification: &VerificationRecord) -> Option<String> {
    let found = &verification.surprises;
    let more = verification.more_surprises + found.len().saturating_sub(NAMED) as u64;
    let named: Vec<String> = found.iter().take(NAMED).map(|one| format!("`{}`", one.path)).collect();
    if named.is_empty() {
        return None;
    }
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!(
        "checkrein: the call did not do what was predicted: {}{more}. `checkrein surprise list` says how; `checkrein undo` takes it back",
        named.join(", ")
    ))
}

impl CallJudge for EngineJudge {
    fn judge(&self, event: &HookEvent) -> Said {
        let response = self.engine.answer(event, Instant::now());
        let for_user = response.for_user.clone().or_else(|| self.surprises(event));
        let remarks = response.diagnostics.iter().map(|one| format!("checkrein: {one}")).collect();
        Said { answer: response.answer, for_user, remarks }
    }

    fn halted(&self, session: &SessionId) -> Option<String> {
        checkrein_engine::halted(&self.environment, session)
    }

    fn failed(&self, session: &SessionId, failure: &Failure) {
        checkrein_engine::record_failure(&self.environment, Some(session.clone()), failure);
    }
}

/// Asks a judge, each time within the deadline.
#[derive(Debug)]
pub(crate) struct Reviewer {
    judge: Arc<dyn CallJudge>,
    worker: Option<Worker>,
    deadline: Duration,
}

#[derive(Debug)]
struct Worker {
    events: SyncSender<HookEvent>,
    answers: Receiver<Result<Said, Failure>>,
}

impl Reviewer {
    pub(crate) fn new(judge: Arc<dyn CallJudge>) -> Self {
        Self { judge, worker: None, deadline: DEADLINE }
    }

    #[cfg(test)]
    pub(crate) fn within(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Answers an event. What could not be answered is a refusal with its reason, and that is written down.
    pub(crate) fn ask(&mut self, event: HookEvent) -> Said {
        let session = event.session.clone();
        self.try_ask(event).unwrap_or_else(|failure| {
            let reason = failure.reason();
            let remarks = vec![format!("checkrein: {failure}")];
            // Where it hangs this would hang too: nobody waits for it.
            let judge = Arc::clone(&self.judge);
            let record = move || {
                drop(panic::catch_unwind(AssertUnwindSafe(|| judge.failed(&session, &failure))));
            };
            drop(thread::Builder::new().spawn(record));
            Said { answer: HookResponse::Deny { reason }, for_user: None, remarks }
        })
    }

    fn try_ask(&mut self, event: HookEvent) -> Result<Said, Failure> {
        if is_too_long(&event) {
            return Err(Failure::Oversize);
        }
        let worker = match self.worker.take() {
            Some(worker) => worker,
            None => start(Arc::clone(&self.judge)).map_err(|error| Failure::Resources(error.to_string()))?,
        };
        worker.events.send(event).map_err(|_| Failure::Panic)?;
        match worker.answers.recv_timeout(self.deadline) {
            Ok(answer) => {
                self.worker = Some(worker);
                answer
            }
            // The worker is left to itself, and ends when it comes to an end.
            Err(RecvTimeoutError::Timeout) => Err(Failure::ReviewDeadline),
            Err(RecvTimeoutError::Disconnected) => Err(Failure::Panic),
        }
    }
}

fn start(judge: Arc<dyn CallJudge>) -> io::Result<Worker> {
    let (events, waiting) = mpsc::sync_channel::<HookEvent>(1);
    let (sender, answers) = mpsc::sync_channel(1);
    let work = move || {
        for event in waiting {
            let said = panic::catch_unwind(AssertUnwindSafe(|| judge.judge(&event)));
            if sender.send(said.map_err(|_| Failure::Panic)).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("review".to_owned()).stack_size(STACK).spawn(work)?;
    Ok(Worker { events, answers })
}

fn is_too_long(event: &HookEvent) -> bool {
    let HookEventKind::BeforeAction { action, .. } = &event.moment else { return false };
    action.shell_text().is_some_and(|text| text.len() > COMMAND_LIMIT)
}

/// What a call before it runs comes to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ruling {
    /// It goes on its way.
    Passed,
    /// A user is asked, with this reason.
    Asked(String),
    /// It is refused, with this reason.
    Refused(String),
    /// It is refused, and the session stops.
    Stopped(String),
}

impl Ruling {
    /// What an answer means where a call cannot be changed.
    pub(crate) fn of(answer: &HookResponse) -> Self {
        match answer {
            HookResponse::NoOpinion | HookResponse::Allow { .. } | HookResponse::Context { .. } => {
                Self::Passed
            }
            HookResponse::Replaced { besides, .. } => Self::of(besides),
            HookResponse::Rewrite { input, text, .. } => Self::Refused(instead(input, text)),
            HookResponse::Ask { reason, .. } => Self::Asked(
                reason.replace("If you agree, this runs instead: ", "A safer form, to be asked for: "),
            ),
            HookResponse::Deny { reason } => Self::Refused(reason.clone()),
            HookResponse::Halt { reason } => Self::Stopped(reason.clone()),
        }
    }

    /// How strict it is, for finding the strictest.
    pub(crate) fn strictness(&self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Asked(_) => 1,
            Self::Refused(_) => 2,
            Self::Stopped(_) => 3,
        }
    }
}

/// What is said when a call that would run in another form is refused, since no agent lets its editor change one.
fn instead(input: &Json, text: &str) -> String {
    match input.get("command").and_then(Json::as_str) {
        Some(command) => {
            format!(
                "{text}\nNobody can change a call on this way, so it did not run. Make this call instead: {command}"
            )
        }
        None => text.to_owned(),
    }
}

/// An event of a call before it runs.
pub(crate) fn before(id: &ActionId, action: &Action) -> HookEventKind {
    HookEventKind::BeforeAction { call: Some(id.clone()), action: action.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use checkrein_protocol::AbsolutePath;
    use std::sync::Mutex;

    /// Fails in the way that the command says.
    #[derive(Debug, Default)]
    struct Failing {
        recorded: Mutex<Vec<String>>,
    }

    impl CallJudge for Failing {
        fn judge(&self, event: &HookEvent) -> Said {
            let HookEventKind::BeforeAction { action, .. } = &event.moment else { panic!("no call") };
            match action.shell_text() {
                Some("panic") => panic!("as asked"),
                Some("hang") => thread::sleep(Duration::from_secs(6)),
                _ => {}
            }
            Said { answer: HookResponse::NoOpinion, for_user: None, remarks: Vec::new() }
        }

        fn halted(&self, _: &SessionId) -> Option<String> {
            None
        }

        fn failed(&self, _: &SessionId, failure: &Failure) {
            self.recorded.lock().unwrap().push(failure.kind().to_owned());
        }
    }

    fn event(command: &str) -> HookEvent {
        let place = AbsolutePath::new("/w").unwrap();
        HookEvent {
            client: checkrein_clients::PROXIED,
            session: SessionId("s".to_owned()),
            cwd: place.clone(),
            actor: None,
            name: "x".to_owned(),
            transcript: None,
            permission_mode: None,
            moment: before(&ActionId("1".to_owned()), &Action::command(command, place)),
        }
    }

    #[test]
    fn what_does_not_answer_is_refused_and_the_next_call_is_judged_again() {
        let judge = Arc::new(Failing::default());
        let mut reviewer = Reviewer::new(Arc::<Failing>::clone(&judge)).within(Duration::from_millis(1500));
        let long = "x".repeat(COMMAND_LIMIT + 1);
        for (command, why) in [("panic", "panic"), ("hang", "in time"), (long.as_str(), "larger than")] {
            let said = reviewer.ask(event(command));
            match Ruling::of(&said.answer) {
                Ruling::Refused(reason) => {
                    assert!(reason.contains(why) && reason.lines().count() <= 5, "{reason}");
                }
                other => panic!("{other:?}"),
            }
            assert_eq!(Ruling::of(&reviewer.ask(event("ls")).answer), Ruling::Passed);
        }
        let started = Instant::now();
        while judge.recorded.lock().unwrap().len() < 3 && started.elapsed() < Duration::from_secs(5) {
            thread::sleep(Duration::from_millis(5));
        }
        let mut recorded = judge.recorded.lock().unwrap().clone();
        recorded.sort();
        assert_eq!(recorded, ["deadline", "oversize", "panic"]);
    }

    #[test]
    fn an_answer_that_changes_a_call_refuses_it_where_it_cannot_be_changed() {
        let input = serde_json::json!({ "command": "git push --force-with-lease" });
        let rewrite = HookResponse::Rewrite { consent: None, input: input.clone(), text: "safer".to_owned() };
        assert!(matches!(Ruling::of(&rewrite), Ruling::Refused(text) if text.contains("--force-with-lease")));
        let reason = "checkrein asks you first: x\nIf you agree, this runs instead: y".to_owned();
        match Ruling::of(&HookResponse::Ask { reason, input: Some(input) }) {
            Ruling::Asked(text) => assert!(!text.contains("runs instead") && text.ends_with(": y"), "{text}"),
            other => panic!("{other:?}"),
        }
    }
}
