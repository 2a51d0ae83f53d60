//! The engine, asked within a time and behind a boundary: whatever happens in it, there is an answer, and what did not answer is a refusal.

use std::fmt;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::fail_closed::Failure;
use checkrein_engine::{EarlyStart, Engine, KeptWorkspace, Response};
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

    /// Answers an event of a call that its agent makes without waiting: it may have begun. Records it.
    fn judge_early(&self, event: &HookEvent, start: EarlyStart) -> Said {
        let _ = start;
        self.judge(event)
    }

    /// Saves the workspace of an event that was answered, so that a call finds it saved that asks nobody; `None` where it was not.
    fn keep_workspace(&self, event: &HookEvent) -> Option<KeptWorkspace> {
        let _ = event;
        None
    }

    /// Whether the call of an event passes by itself, without a record: the agent only offers it.
    fn passes(&self, event: &HookEvent) -> bool {
        let _ = event;
        false
    }

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

    fn said(&self, event: &HookEvent, response: Response) -> Said {
        let for_user = response.for_user.clone().or_else(|| self.surprises(event));
        let remarks = response.diagnostics.iter().map(|one| format!("checkrein: {one}")).collect();
        Said { answer: response.answer, for_user, remarks }
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
        self.said(event, self.engine.answer(event, Instant::now()))
    }

    fn judge_early(&self, event: &HookEvent, start: EarlyStart) -> Said {
        self.said(event, self.engine.answer_early(event, start, Instant::now()))
    }

    fn passes(&self, event: &HookEvent) -> bool {
        self.engine.passes(event)
    }

    fn keep_workspace(&self, event: &HookEvent) -> Option<KeptWorkspace> {
        self.engine.keep_workspace(event)
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

/// What a worker is given to do.
#[derive(Debug)]
enum Work {
    Answer(HookEvent),
    AnswerEarly(HookEvent, EarlyStart),
    Keep(HookEvent),
    Weigh(HookEvent),
}

/// What came of it.
#[derive(Debug)]
enum Done {
    Said(Said),
    Kept(Option<KeptWorkspace>),
    Weighed(bool),
}

#[derive(Debug)]
struct Worker {
    work: SyncSender<Work>,
    done: Receiver<Result<Done, Failure>>,
}

impl Reviewer {
    pub(crate) fn new(judge: Arc<dyn CallJudge>) -> Self {
        Self { judge, worker: None, deadline: DEADLINE }
    }

    #[cfg(test)]
    pub(crate) fn within(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Answers an event; that of a call which may have begun says when. What could not be answered is a refusal with its reason, and that is
    /// written down.
    pub(crate) fn ask(&mut self, event: HookEvent, start: Option<EarlyStart>) -> Said {
        let session = event.session.clone();
        self.try_ask(event, start).unwrap_or_else(|failure| {
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

    /// Saves the workspace of an event; `None` where that failed or took too long.
    pub(crate) fn keep(&mut self, event: HookEvent) -> Option<KeptWorkspace> {
        match self.work(Work::Keep(event)) {
            Ok(Done::Kept(kept)) => kept,
            Ok(Done::Said(_) | Done::Weighed(_)) | Err(_) => None,
        }
    }

    /// Whether the call of an event that is only offered passes by itself; nothing is recorded.
    pub(crate) fn passes(&mut self, event: HookEvent) -> bool {
        matches!(self.work(Work::Weigh(event)), Ok(Done::Weighed(true)))
    }

    fn try_ask(&mut self, event: HookEvent, start: Option<EarlyStart>) -> Result<Said, Failure> {
        if is_too_long(&event) {
            return Err(Failure::Oversize);
        }
        let work = match start {
            None => Work::Answer(event),
            Some(start) => Work::AnswerEarly(event, start),
        };
        match self.work(work)? {
            Done::Said(said) => Ok(said),
            Done::Kept(_) | Done::Weighed(_) => Err(Failure::Panic),
        }
    }

    fn work(&mut self, work: Work) -> Result<Done, Failure> {
        let worker = match self.worker.take() {
            Some(worker) => worker,
            None => start(Arc::clone(&self.judge)).map_err(|error| Failure::Resources(error.to_string()))?,
        };
        worker.work.send(work).map_err(|_| Failure::Panic)?;
        match worker.done.recv_timeout(self.deadline) {
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
    let (work, waiting) = mpsc::sync_channel::<Work>(1);
    let (sender, done) = mpsc::sync_channel(1);
    let carry_out = move || {
        for one in waiting {
            let came = panic::catch_unwind(AssertUnwindSafe(|| match &one {
                Work::Answer(event) => Done::Said(judge.judge(event)),
                Work::AnswerEarly(event, start) => Done::Said(judge.judge_early(event, *start)),
                Work::Weigh(event) => Done::Weighed(judge.passes(event)),
                Work::Keep(event) => Done::Kept(judge.keep_workspace(event)),
            }));
            if sender.send(came.map_err(|_| Failure::Panic)).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("review".to_owned()).stack_size(STACK).spawn(carry_out)?;
    Ok(Worker { work, done })
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
            let said = reviewer.ask(event(command), None);
            match Ruling::of(&said.answer) {
                Ruling::Refused(reason) => {
                    assert!(reason.contains(why) && reason.lines().count() <= 5, "{reason}");
                }
                other => panic!("{other:?}"),
            }
            assert_eq!(Ruling::of(&reviewer.ask(event("ls"), None).answer), Ruling::Passed);
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
