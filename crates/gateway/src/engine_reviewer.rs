//! The door to the engine: calls go the way of those that hooks bring, so the same call has the same verdict.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use checkrein_clients::GATEWAY;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::fail_closed::Failure;
use checkrein_engine::{Context, Engine, record_failure};
use checkrein_ledger::mask::MaskKey;
use checkrein_policy::Mode;
use checkrein_protocol::{
    Action, ActionId, CallProgress, HookEvent, HookEventKind, HookResponse, Outcome, PermissionMode,
    SessionId, SuccessReporting,
};
use serde_json::{Value as Json, json};

use crate::definition::ToolDefinition;
use crate::hook_reviews::{self, HookReview};
use crate::pin_store::{Origin, PinStore};
use crate::pins::Standing;
use crate::reviewer::{Asking, CallEnding, CallPassage, CallRequest, Reviewer, Ruling, UserAnswer};

/// How long a review may take, as in the hook (ours).
const DEADLINE: Duration = Duration::from_secs(10);

/// The stack of a review in bytes, as in the hook (ours).
const STACK: usize = 64 * 1024 * 1024;

/// Where hints of a server stand in the input of an action: the review looks for them there.
const META: &str = "_meta";

/// Asks the engine.
#[derive(Debug)]
pub struct EngineReviewer {
    engine: Arc<Engine>,
    environment: HostEnvironment,
    session: SessionId,
    server: String,
    origin: Origin,
    pins: PinStore,
    /// Whether the session has begun.
    is_begun: AtomicBool,
}

/// What the name of each session of a gateway begins with.
const SESSION: &str = "mcp-";

/// Returns the name of the server before which the gateway of a session stands; `None` where the session is not one of a gateway.
pub fn gateway_server(session: &str) -> Option<&str> {
    let (rest, process) = session.strip_prefix(SESSION)?.rsplit_once('-')?;
    let (server, began) = rest.rsplit_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (!server.is_empty() && is_number(began) && is_number(process)).then_some(server)
}

impl EngineReviewer {
    /// Returns a reviewer for one connection to a server, which is a session of its own where no hook of the client tells of one.
    pub fn new(environment: HostEnvironment, server: &str, origin: Origin) -> Self {
        let session = format!("{SESSION}{server}-{}-{}", environment.now().0, std::process::id());
        Self {
            engine: Arc::new(Engine::new(environment.clone())),
            pins: PinStore::new(&environment),
            session: SessionId(session),
            server: server.to_owned(),
            environment,
            origin,
            is_begun: AtomicBool::new(false),
        }
    }

    /// The action that a call is, under the name that hooks have for it.
    fn action(&self, call: &CallRequest) -> Action {
        let tool = format!("mcp__{}__{}", self.server, call.tool);
        Action::tool_call(tool, call.arguments.clone(), self.environment.cwd.clone())
    }

    /// What the engine says to an event, within the deadline and whatever it does.
    fn answer(&self, event: HookEvent) -> Result<HookResponse, Failure> {
        let (sender, receiver) = mpsc::channel();
        let engine = Arc::clone(&self.engine);
        let work = move || {
            let answer =
                panic::catch_unwind(AssertUnwindSafe(|| engine.answer(&event, Instant::now()).answer));
            // Nobody waits any more after the deadline.
            drop(sender.send(answer));
        };
        let started = thread::Builder::new().stack_size(STACK).spawn(work);
        let failure = match started {
            Err(error) => Failure::Resources(error.to_string()),
            Ok(_) => match receiver.recv_timeout(DEADLINE) {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Failure::Panic,
                Err(RecvTimeoutError::Timeout) => Failure::ReviewDeadline,
            },
        };
        record_failure(&self.environment, Some(self.session.clone()), &failure);
        Err(failure)
    }

    fn observes(&self) -> bool {
        let context = Context::open(self.environment.clone(), &self.environment.cwd);
        context.failures().is_empty() && context.policy().config().mode == Mode::Observe
    }

    /// Begins the session before its first call; what the model is told about that.
    fn begin(&self) -> Option<String> {
        if self.is_begun.swap(true, Ordering::AcqRel) {
            return None;
        }
        let moment = HookEventKind::SessionStarted { source: "mcp".to_owned() };
        // Each call is judged by itself, also where the beginning could not be recorded.
        let answer = self.answer(self.event("SessionStart", Asking::Impossible, moment)).ok()?;
        Some(answer.text().to_owned()).filter(|text| !text.is_empty())
    }

    fn event(&self, name: &str, asking: Asking, moment: HookEventKind) -> HookEvent {
        HookEvent {
            client: GATEWAY.client,
            name: name.to_owned(),
            session: self.session.clone(),
            actor: None,
            cwd: self.environment.cwd.clone(),
            permission_mode: match asking {
                Asking::Possible => Some(PermissionMode::Default),
                Asking::Impossible => None,
            },
            transcript: None,
            moment,
        }
    }
}

impl Reviewer for EngineReviewer {
    fn before(&self, call: &CallRequest) -> Ruling {
        let action = self.action(call);
        let number = call.model_id.as_deref();
        let reviewed = match number {
            Some(number) => hook_reviews::of_call(&self.environment, number, &action),
            None => hook_reviews::of_content(&self.environment, &action),
        };
        match reviewed {
            Some(HookReview::Refused(reason)) => return Ruling::Refused(went_on(&reason)),
            // The hook knows nothing of what the server says about the tool.
            Some(HookReview::Asked) => return passes(None),
            Some(HookReview::Passed) if !call.hints.destructive => return passes(None),
            Some(HookReview::Passed) | None => {}
        }
        let action = if call.hints.destructive { hinted(action) } else { action };
        let begun = self.begin();
        let id = number.map(|number| ActionId(number.to_owned()));
        let moment = HookEventKind::BeforeAction { call: id, action: action.clone() };
        let answer = match self.answer(self.event("PreToolUse", call.asking, moment)) {
            Ok(answer) => answer,
            Err(failure) => return Ruling::Refused(failure.reason()),
        };
        let passage = |note: Option<String>, input: Option<Json>| CallPassage {
            action: Some(action.clone()),
            arguments: input.map(without_hints),
            note: joined(begun.clone(), note.filter(|text| !text.is_empty())),
        };
        match answer {
            HookResponse::NoOpinion => Ruling::Passes(passage(None, None)),
            HookResponse::Allow { text, .. } | HookResponse::Context { text } => {
                Ruling::Passes(passage(Some(text), None))
            }
            HookResponse::Rewrite { input, text, .. } => Ruling::Passes(passage(Some(text), Some(input))),
            HookResponse::Ask { reason, input } => {
                Ruling::Asked { question: reason, passage: passage(None, input) }
            }
            HookResponse::Deny { reason } if call.hints.destructive => Ruling::Refused(hint_counted(&reason)),
            HookResponse::Deny { reason } | HookResponse::Halt { reason } => Ruling::Refused(reason),
            // Nothing was answered yet that could be replaced.
            HookResponse::Replaced { .. } => Ruling::Refused(Failure::Panic.reason()),
        }
    }

    fn after(&self, action: &Action, ending: CallEnding, output: String, took: Duration) -> Option<String> {
        let failed = ending == CallEnding::Failed;
        let outcome = Outcome {
            call: None,
            action: action.clone(),
            failed,
            success: SuccessReporting::Told,
            error: failed.then(|| output.clone()),
            output,
            duration_ms: u64::try_from(took.as_millis()).ok(),
            answered: None,
            reported: Vec::new(),
            progress: CallProgress::Finished,
        };
        let event = self.event("PostToolUse", Asking::Impossible, HookEventKind::AfterAction(outcome));
        match self.answer(event) {
            Ok(answer) => Some(answer.text().to_owned()).filter(|text| !text.is_empty()),
            Err(failure) => Some(failure.reason()),
        }
    }

    fn answered(&self, call: &CallRequest, answer: UserAnswer) {
        let answer = match answer {
            UserAnswer::Allowed => "yes",
            UserAnswer::Declined => "no",
            UserAnswer::Unanswered => "none",
        };
        let fields = json!({ "tool": self.action(call).tool.as_str(), "answer": answer });
        // What cannot be recorded is told with the next call, whose record fails too.
        drop(self.answer(self.event(
            "checkrein.elicitation",
            Asking::Possible,
            HookEventKind::Other { fields },
        )));
    }

    fn standings(&self, definitions: &[ToolDefinition]) -> Vec<Standing> {
        let seen = self.pins.change(&self.origin, |pins| {
            pins.note_name(&self.server);
            definitions.iter().map(|definition| pins.see(definition, &self.server)).collect::<Vec<_>>()
        });
        match seen {
            // Who observes stops nothing; what waits is on the list all the same.
            Ok(standings) if self.observes() => standings.iter().map(|_| Standing::Accepted).collect(),
            Ok(standings) => standings,
            Err(error) => definitions.iter().map(|_| Standing::Held(error.message.clone())).collect(),
        }
    }

    fn waiting(&self, tool: &str) -> Option<String> {
        let waiting = self.pins.of(&self.origin).map(|pins| pins.why_waiting(tool).map(str::to_owned));
        let why = waiting.unwrap_or_else(|error| Some(error.message))?;
        // Who observes stops nothing.
        (!self.observes()).then_some(why)
    }

    fn ended(&self) {
        if self.is_begun.load(Ordering::Acquire) {
            // Nobody is left to be told that this could not be recorded.
            drop(self.answer(self.event("SessionEnd", Asking::Impossible, HookEventKind::SessionEnded)));
        }
    }

    fn key(&self) -> Result<MaskKey, String> {
        checkrein_engine::reader_key(&self.environment, &self.environment.cwd).map_err(|error| error.message)
    }
}

fn joined(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{one}\n{other}")),
        (one, other) => one.or(other),
    }
}

fn passes(action: Option<Action>) -> Ruling {
    Ruling::Passes(CallPassage { action, arguments: None, note: None })
}

/// The action with the hint of the server that its tool destroys something.
fn hinted(mut action: Action) -> Action {
    if let Json::Object(fields) = &mut action.input {
        let hint = json!({ "annotations": { "destructiveHint": true } });
        match fields.get_mut(META) {
            Some(Json::Object(meta)) => {
                meta.insert("annotations".to_owned(), json!({ "destructiveHint": true }));
            }
            Some(_) | None => {
                fields.insert(META.to_owned(), hint);
            }
        }
    }
    action
}

/// The arguments as the server gets them.
fn without_hints(mut input: Json) -> Json {
    if let Json::Object(fields) = &mut input {
        fields.remove(META);
    }
    input
}

/// The refusal of a call that its server calls destructive, with the way in which a user allows it.
fn hint_counted(reason: &str) -> String {
    if reason.contains("checkrein allow") {
        return reason.to_owned();
    }
    format!(
        "{reason}\nThe server says that this tool destroys something. Where that is wanted, the user allows it by `checkrein allow LAST` in \
         a terminal; then the same call passes"
    )
}

/// What the model is told about a call that the hook refused and the client made all the same.
fn went_on(reason: &str) -> String {
    format!(
        "checkrein refused this call before, and refuses it here: {reason}\n\
         Do not try it again, also not in another form: go on without it, and say at the end that it is left"
    )
}

#[cfg(test)]
mod tests {
    use checkrein_protocol::AbsolutePath;

    use super::*;

    #[test]
    fn a_hint_stands_beside_the_arguments_and_never_reaches_the_server() {
        let action = Action::tool_call("mcp__s__t", json!({ "a": 1 }), AbsolutePath::root());
        let hinted = hinted(action);
        assert_eq!(hinted.input.pointer("/_meta/annotations/destructiveHint"), Some(&json!(true)));
        assert_eq!(without_hints(hinted.input), json!({ "a": 1 }));
    }
}
