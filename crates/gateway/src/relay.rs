//! What becomes of each line between a client and a server: a machine with a memory, without input and output of its own.
//!
//! What is not a call of a tool, or an answer that a model reads, passes as it came, byte for byte.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use checkrein_clients::says_twice;
use serde_json::{Value as Json, json};

use crate::definition::{ToolDefinition, ToolHints};
use crate::message::{CALL, Envelope, Line, Requests, id_of_parts, mentions};
use crate::reviewer::{Asking, CallPassage, CallRequest, Reviewer, Ruling, UserAnswer};
use crate::texts;

mod answers;

/// The longest line that is handed on, in bytes (ours): 50 MB and what stands around them.
pub const LONGEST_LINE: usize = 52 * 1024 * 1024;

/// How many values an answer may hold that is looked through (ours): a tree of them takes about 100 bytes each.
const MOST_VALUES: usize = 2_000_000;

/// What is to be sent, said, or left.
#[derive(Debug, PartialEq, Eq)]
pub enum Sent<'a> {
    /// A line to the server.
    ToServer(Cow<'a, [u8]>),
    /// A line to the client.
    ToClient(Cow<'a, [u8]>),
    /// A remark for people.
    Remark(String),
}

impl Sent<'_> {
    /// The same with a line of its own.
    fn into_owned<'a>(self) -> Sent<'a> {
        match self {
            Self::ToServer(line) => Sent::ToServer(Cow::Owned(line.into_owned())),
            Self::ToClient(line) => Sent::ToClient(Cow::Owned(line.into_owned())),
            Self::Remark(text) => Sent::Remark(text),
        }
    }
}

/// A relay between a client and one server.
#[derive(Debug)]
pub struct Relay<R> {
    reviewer: R,
    server: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    pending: Requests<Pending>,
    /// Calls about which the user is asked, by the id of the question.
    waiting: HashMap<String, Waiting>,
    questions: Questions,
    asking: Asking,
    tools: HashMap<String, ListedTool>,
    is_malformed_told: bool,
}

/// The ids of questions. No server can guess one: it could have the user answer a question of its own under the same id.
#[derive(Debug)]
struct Questions {
    nonce: u64,
    count: u64,
}

impl Questions {
    fn next(&mut self) -> String {
        self.count += 1;
        format!("checkrein-{:016x}-{}", self.nonce, self.count)
    }
}

/// A request that the server has not answered.
#[derive(Debug)]
enum Pending {
    Initialize,
    Tools,
    /// A resource or a prompt.
    Text,
    Call(Box<OpenCall>),
}

/// A call that the server has not answered.
#[derive(Debug)]
struct OpenCall {
    passage: CallPassage,
    started: Instant,
}

/// A call that waits for the user.
#[derive(Debug)]
struct Waiting {
    id: Json,
    line: Vec<u8>,
    call: CallRequest,
    passage: CallPassage,
    question: String,
}

/// A tool as the server lists it now.
#[derive(Debug, Clone)]
struct ListedTool {
    hints: ToolHints,
    /// Why it waits for a user.
    held: Option<String>,
}

/// What is done about one call.
enum Step<'a> {
    Pass(Cow<'a, [u8]>),
    /// The question, to the client.
    Ask(Vec<u8>),
    Refuse(String),
}

impl<R: Reviewer> Relay<R> {
    /// Returns a relay before the server that is called so.
    pub fn new(reviewer: R, server: impl Into<String>) -> Self {
        let state = State {
            pending: Requests::default(),
            waiting: HashMap::new(),
            questions: Questions { nonce: RandomState::new().hash_one("question"), count: 0 },
            asking: Asking::Impossible,
            tools: HashMap::new(),
            is_malformed_told: false,
        };
        Self { reviewer, server: server.into(), state: Mutex::new(state) }
    }

    /// Says that the connection is over.
    pub fn end(&self) {
        self.reviewer.ended();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What a panic left is still a list of what waits.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what becomes of a line of the client.
    pub fn from_client<'a>(&self, line: &'a [u8]) -> Vec<Sent<'a>> {
        match Line::of(line) {
            Line::Empty => vec![Sent::ToServer(Cow::Borrowed(line))],
            Line::Malformed if mentions(line, CALL) => vec![Sent::Remark(texts::held_malformed("client"))],
            Line::Malformed => self.pass_malformed("client", Sent::ToServer(Cow::Borrowed(line))),
            Line::Message(envelope) => self.message_from_client(&envelope, line),
            Line::Batch(all) if all.iter().any(|envelope| self.answers_question(envelope)) => {
                self.one_by_one(line)
            }
            Line::Batch(all) if all.iter().any(|one| one.is_call() || handed_by(one).is_some()) => {
                self.calls_in_batch(line)
            }
            Line::Batch(all) => {
                let elements = crate::message::tree(line);
                for (place, envelope) in all.iter().enumerate() {
                    let element = elements.as_ref().and_then(|elements| elements.get(place));
                    if !self.note_request(envelope, element) {
                        return vec![Sent::Remark(texts::too_many_open())];
                    }
                }
                vec![Sent::ToServer(Cow::Borrowed(line))]
            }
        }
    }

    /// Whether a message of the client answers a question of ours.
    fn answers_question(&self, envelope: &Envelope) -> bool {
        let id = envelope.id.as_ref().filter(|_| envelope.method.is_none()).and_then(Json::as_str);
        id.is_some_and(|id| self.state().waiting.contains_key(id))
    }

    /// Each message of a batch of the client as a line of its own.
    fn one_by_one<'a>(&self, line: &[u8]) -> Vec<Sent<'a>> {
        let Some(Json::Array(elements)) = crate::message::tree(line).filter(|_| !says_twice(line)) else {
            return vec![Sent::Remark(texts::held_malformed("client"))];
        };
        let mut sent = Vec::new();
        for element in elements {
            let own = as_line(&element);
            sent.extend(self.from_client(&own).into_iter().map(Sent::into_owned));
        }
        sent
    }

    /// A malformed line passes: no reader can take it for anything that is decided about here. That is said once.
    fn pass_malformed<'a>(&self, side: &str, sent: Sent<'a>) -> Vec<Sent<'a>> {
        let is_first = !std::mem::replace(&mut self.state().is_malformed_told, true);
        is_first.then(|| Sent::Remark(texts::passed_malformed(side))).into_iter().chain([sent]).collect()
    }

    fn message_from_client<'a>(&self, envelope: &Envelope, line: &'a [u8]) -> Vec<Sent<'a>> {
        let pass = || vec![Sent::ToServer(Cow::Borrowed(line))];
        if envelope.method.is_none() {
            let question = envelope.id.as_ref().and_then(Json::as_str);
            let waiting = question.and_then(|question| self.state().waiting.remove(question));
            return waiting.map_or_else(pass, |waiting| self.answered(waiting, line));
        }
        if envelope.is_call() {
            return match (&envelope.id, self.step(line, envelope.id.as_ref(), None)) {
                (_, Step::Pass(line)) => vec![Sent::ToServer(line)],
                (_, Step::Ask(question)) => vec![Sent::ToClient(Cow::Owned(question))],
                (Some(id), Step::Refuse(text)) => vec![to_client(&texts::refusal(id, &text))],
                (None, Step::Refuse(text)) => vec![Sent::Remark(text)],
            };
        }
        if envelope.method.as_deref() == Some("notifications/cancelled") {
            let request = crate::message::tree(line)
                .and_then(|message| message.pointer("/params/requestId").cloned())
                .unwrap_or_default();
            let mut state = self.state();
            let of_call = state.waiting.iter().find(|(_, waiting)| waiting.id == request);
            if let Some(question) = of_call.map(|(question, _)| question.clone()) {
                // The server never heard of the call.
                state.waiting.remove(&question);
                return vec![to_client(&texts::question_is_over(&question))];
            }
            return pass();
        }
        let message = match envelope.method.as_deref() {
            Some("initialize") => crate::message::tree(line),
            Some(_) if handed_by(envelope).is_some() => {
                let message = crate::message::tree(line).filter(|_| !says_twice(line));
                if let Some(text) = self.refused_handing(envelope, message.as_ref()) {
                    let refused = envelope.id.as_ref().map(|id| to_client(&texts::failure(id, &text)));
                    return vec![refused.unwrap_or(Sent::Remark(text))];
                }
                message
            }
            _ => None,
        };
        if self.note_request(envelope, message.as_ref()) {
            pass()
        } else {
            let refused =
                envelope.id.as_ref().map(|id| to_client(&texts::failure(id, &texts::too_many_open())));
            refused.into_iter().chain([Sent::Remark(texts::too_many_open())]).collect()
        }
    }

    /// Why a request that hands arguments to the server does not go on; `None` where it does.
    fn refused_handing(&self, envelope: &Envelope, message: Option<&Json>) -> Option<String> {
        let name = handed_by(envelope)?;
        let Some(message) = message else { return Some(texts::unreadable_call()) };
        let mut arguments = message.get("params").cloned().unwrap_or_default();
        if let Some(fields) = arguments.as_object_mut() {
            fields.remove("_meta");
        }
        if !arguments.is_object() {
            return None;
        }
        let call = CallRequest {
            tool: name.to_owned(),
            arguments,
            hints: ToolHints::default(),
            model_id: None,
            asking: Asking::Impossible,
        };
        match self.reviewer.before(&call) {
            Ruling::Passes(_) => None,
            Ruling::Refused(text) => Some(text),
            Ruling::Asked { question, .. } => Some(texts::nobody_to_ask(&question)),
        }
    }

    /// Remembers what the answer to a request must be looked through for; whether there was room.
    fn note_request(&self, envelope: &Envelope, message: Option<&Json>) -> bool {
        let pending = match envelope.method.as_deref() {
            Some("initialize" | "server/discover") => Pending::Initialize,
            Some("tools/list") => Pending::Tools,
            // The result of a call that went on by itself is fetched by the last of these; what a server says of its resources and prompts is
            // read by models as well.
            Some(
                "resources/read"
                | "prompts/get"
                | "resources/list"
                | "resources/templates/list"
                | "prompts/list"
                | "tasks/result",
            ) => Pending::Text,
            Some(_) | None => return true,
        };
        let mut state = self.state();
        if let (Some("initialize"), Some(message)) = (envelope.method.as_deref(), message) {
            let asked = message.pointer("/params/capabilities/elicitation");
            // One that names forms must name this one.
            let shows = asked.is_some_and(|how| {
                how.as_object().is_some_and(|how| how.is_empty() || how.contains_key("form"))
            });
            state.asking = if shows { Asking::Possible } else { Asking::Impossible };
        }
        envelope.id.as_ref().is_none_or(|id| state.pending.insert(id, pending))
    }

    /// What is done about a call. `element` is the message, where it stands in a batch; nobody is asked about such a one.
    fn step<'a>(&self, line: &'a [u8], id: Option<&Json>, element: Option<&Json>) -> Step<'a> {
        let parsed = if element.is_none() { crate::message::tree(line) } else { None };
        let Some(message) = element.or(parsed.as_ref()) else {
            return Step::Refuse(texts::unreadable_call());
        };
        // Which of two arguments of one name the server takes, nobody knows.
        if says_twice(line) {
            return Step::Refuse(texts::unreadable_call());
        }
        let Some(mut call) = self.call(message) else { return Step::Refuse(texts::unreadable_call()) };
        let listed = self.state().tools.get(&call.tool).cloned();
        // A client may call by a list that it got in an earlier connection.
        let held = listed.map_or_else(|| self.reviewer.waiting(&call.tool), |tool| tool.held);
        if let Some(why) = held {
            return Step::Refuse(texts::held_tool(&self.server, &call.tool, &why));
        }
        if element.is_some() || id.is_none() {
            call.asking = Asking::Impossible;
        }
        match self.reviewer.before(&call) {
            Ruling::Passes(passage) => self.forward(Cow::Borrowed(line), message, id, passage),
            Ruling::Refused(text) => Step::Refuse(text),
            Ruling::Asked { question, passage } => match (id, call.asking) {
                (Some(id), Asking::Possible) => {
                    let mut state = self.state();
                    if state.waiting.len() >= MOST_QUESTIONS {
                        return Step::Refuse(texts::too_many_open());
                    }
                    let number = state.questions.next();
                    let asked = texts::question(&number, &self.server, &call.tool, &question);
                    let waiting = Waiting { id: id.clone(), line: line.to_vec(), call, passage, question };
                    state.waiting.insert(number, waiting);
                    Step::Ask(as_line(&asked))
                }
                (_, Asking::Possible | Asking::Impossible) => Step::Refuse(texts::nobody_to_ask(&question)),
            },
        }
    }

    /// The call in a message; `None` where a server could take it for another one.
    fn call(&self, message: &Json) -> Option<CallRequest> {
        let parameters = message.get("params")?;
        let tool = parameters.get("name")?.as_str()?.to_owned();
        let arguments = match parameters.get("arguments") {
            None | Some(Json::Null) => json!({}),
            Some(arguments @ Json::Object(_)) => arguments.clone(),
            Some(Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_)) => return None,
        };
        let told = |name: &str| parameters.get("_meta")?.get(name)?.as_str().map(str::to_owned);
        let state = self.state();
        let hints = state.tools.get(&tool).map(|tool| tool.hints).unwrap_or_default();
        let model_id = told("claudecode/toolUseId").or_else(|| told("callId"));
        Some(CallRequest { tool, arguments, hints, model_id, asking: state.asking })
    }

    /// Has a call go on to the server.
    fn forward<'a>(
        &self,
        line: Cow<'a, [u8]>,
        message: &Json,
        id: Option<&Json>,
        passage: CallPassage,
    ) -> Step<'a> {
        let line = match &passage.arguments {
            None => line,
            Some(arguments) => {
                let mut message = message.clone();
                match message.get_mut("params") {
                    Some(parameters) => parameters["arguments"] = arguments.clone(),
                    None => return Step::Refuse(texts::unreadable_call()),
                }
                Cow::Owned(as_line(&message))
            }
        };
        let call = Pending::Call(Box::new(OpenCall { passage, started: Instant::now() }));
        match id {
            Some(id) if !self.state().pending.insert(id, call) => Step::Refuse(texts::too_many_open()),
            Some(_) | None => Step::Pass(line),
        }
    }

    /// What becomes of a call about which the user was asked.
    fn answered<'a>(&self, waiting: Waiting, line: &[u8]) -> Vec<Sent<'a>> {
        let Waiting { id, line: call_line, call, passage, question } = waiting;
        // Of a yes and a no in one answer nobody knows which one counts.
        let read = crate::message::tree(line).filter(|_| !says_twice(line));
        let result = read.and_then(|mut message| message.get_mut("result").map(Json::take));
        let text = |name: &str| result.as_ref().and_then(|result| result.get(name)?.as_str());
        let allows = result.as_ref().and_then(|result| result.pointer("/content/allow")?.as_bool());
        let answer = match (text("action"), allows) {
            (Some("accept"), Some(true)) => UserAnswer::Allowed,
            (Some("accept" | "decline"), _) => UserAnswer::Declined,
            (Some(_) | None, _) => UserAnswer::Unanswered,
        };
        self.reviewer.answered(&call, answer);
        let refuse = |text: String| vec![to_client(&texts::refusal(&id, &text))];
        match answer {
            UserAnswer::Declined => refuse(texts::declined(&call.tool)),
            UserAnswer::Unanswered => refuse(texts::nobody_to_ask(&question)),
            UserAnswer::Allowed => {
                let Some(message) = crate::message::tree(&call_line) else {
                    return refuse(texts::unreadable_call());
                };
                match self.forward(Cow::Owned(call_line), &message, Some(&id), passage) {
                    Step::Pass(line) => vec![Sent::ToServer(Cow::Owned(line.into_owned()))],
                    Step::Refuse(text) => refuse(text),
                    Step::Ask(_) => refuse(texts::unreadable_call()),
                }
            }
        }
    }

    /// A batch with calls in it: what is refused is taken out, and answered as a batch of its own.
    fn calls_in_batch<'a>(&self, line: &'a [u8]) -> Vec<Sent<'a>> {
        let elements = crate::message::tree(line).filter(|_| !says_twice(line));
        let Some(Json::Array(elements)) = elements else {
            return vec![Sent::Remark(texts::held_malformed("client"))];
        };
        let (mut kept, mut refused, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_changed = false;
        for element in elements {
            let Ok(envelope) = serde_json::from_value::<Envelope>(element.clone()) else {
                is_changed = true;
                remarks.push(Sent::Remark(texts::held_malformed("client")));
                continue;
            };
            if let Some(text) = self.refused_handing(&envelope, Some(&element)) {
                is_changed = true;
                match &envelope.id {
                    Some(id) => refused.push(texts::failure(id, &text)),
                    None => remarks.push(Sent::Remark(text)),
                }
                continue;
            }
            if !envelope.is_call() {
                if self.note_request(&envelope, Some(&element)) {
                    kept.push(element);
                } else {
                    is_changed = true;
                    remarks.push(Sent::Remark(texts::too_many_open()));
                }
                continue;
            }
            let one = as_line(&element);
            match self.step(&one, envelope.id.as_ref(), Some(&element)) {
                Step::Pass(Cow::Borrowed(_)) => kept.push(element),
                Step::Pass(Cow::Owned(line)) => {
                    is_changed = true;
                    kept.extend(crate::message::tree(&line));
                }
                Step::Ask(_) => is_changed = true,
                Step::Refuse(text) => {
                    is_changed = true;
                    match &envelope.id {
                        Some(id) => refused.push(texts::refusal(id, &text)),
                        None => remarks.push(Sent::Remark(text)),
                    }
                }
            }
        }
        let mut sent = remarks;
        if !is_changed {
            sent.push(Sent::ToServer(Cow::Borrowed(line)));
        } else if !kept.is_empty() {
            sent.push(Sent::ToServer(Cow::Owned(as_line(&Json::Array(kept)))));
        }
        if !refused.is_empty() {
            sent.push(to_client(&Json::Array(refused)));
        }
        sent
    }

    /// Returns what becomes of a line of the client that is longer than [`LONGEST_LINE`], by its beginning and its end.
    pub fn too_long_from_client(&self, head: &[u8], tail: &[u8], length: u64) -> Vec<Sent<'static>> {
        let text = texts::too_long(length, LONGEST_LINE);
        let answer = id_of_parts(head, tail).map(|id| to_client(&texts::refusal(&id, &text)));
        answer.into_iter().chain([Sent::Remark(text.clone())]).collect()
    }
}

/// The name under which a request is reviewed that hands words of the client to the server without being a call (Model Context Protocol,
/// 2025-06-18, "Prompts", "Resources" and "Completion").
fn handed_by(envelope: &Envelope) -> Option<&'static str> {
    match envelope.method.as_deref()? {
        "prompts/get" => Some("get_prompt"),
        "resources/read" | "resources/subscribe" => Some("read_resource"),
        "completion/complete" => Some("get_completion"),
        _ => None,
    }
}

/// How many calls may wait for the user at a time (ours).
const MOST_QUESTIONS: usize = 64;

fn to_client(message: &Json) -> Sent<'static> {
    Sent::ToClient(Cow::Owned(as_line(message)))
}

fn as_line(message: &Json) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

impl<R: Reviewer> Relay<R> {
    /// Takes up what the server says of its tools; how each one in the list stands, in its order.
    fn take_up(&self, definitions: &[ToolDefinition]) -> Vec<Option<String>> {
        let standings = self.reviewer.standings(definitions);
        let mut held: Vec<Option<String>> = Vec::with_capacity(definitions.len());
        for (place, definition) in definitions.iter().enumerate() {
            let is_shadowed = definitions
                .iter()
                .any(|other| other.name == definition.name && other.digest != definition.digest);
            held.push(if is_shadowed {
                Some("the server lists it twice, with different descriptions".to_owned())
            } else {
                match standings.get(place) {
                    Some(crate::pins::Standing::Accepted | crate::pins::Standing::New) => None,
                    Some(crate::pins::Standing::Held(why)) => Some(why.clone()),
                    None => Some("what was accepted of it is not known".to_owned()),
                }
            });
        }
        let mut state = self.state();
        for (definition, held) in definitions.iter().zip(&held) {
            let tool = ListedTool { hints: definition.hints, held: held.clone() };
            state.tools.insert(definition.name.clone(), tool);
        }
        held
    }
}

#[cfg(test)]
mod tests;
