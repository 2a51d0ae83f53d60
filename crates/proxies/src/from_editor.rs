//! What comes from the editor, on its way to the agent.

use std::time::Instant;

use checkrein_clients::says_twice;
use checkrein_protocol::{AbsolutePath, HookEventKind, HookResponse, SuccessReporting};
use serde_json::Value as Json;

use crate::answers;
use crate::desk::{Desk, Ended, REVIEWED, text};
use crate::message::{Key, Line, Message, strict};
use crate::scan;
use crate::state::{Delegated, Held, Ordered, Permission, Question, Terminal};

/// How much of a prompt is recorded, in bytes (ours).
const PROMPT: usize = 256 * 1024;

/// How much of what a terminal wrote is kept for the record, in bytes (ours).
const OUTPUT: usize = 1024 * 1024;

impl Desk {
    /// Takes a line of the editor to the agent.
    pub(crate) fn line_of_editor(&mut self, line: Vec<u8>) {
        self.take_line_of_editor(line);
        self.tell();
    }

    fn take_line_of_editor(&mut self, line: Vec<u8>) {
        let message = match Line::read(&line) {
            Line::Message(message) => message,
            Line::Batch(items) if items.iter().any(|item| self.matters_of_editor(item)) => {
                for item in items {
                    self.line_of_editor([item, b"\n"].concat());
                }
                return;
            }
            Line::Batch(_) | Line::Blank => return self.shared.to_agent.pass(line),
            Line::Unreadable => {
                self.shared.is_unreadable("a line of the editor is not JSON; such lines pass as they are");
                return self.shared.to_agent.pass(line);
            }
        };
        match message.method() {
            "" if message.method.is_none() => {
                if self.answer_of_editor(&message, &line) {
                    self.shared.to_agent.pass(line);
                }
            }
            "session/prompt" => {
                if self.prompt(&message, line.len()) {
                    self.shared.to_agent.pass(line);
                }
            }
            "session/cancel" => {
                let session = session_of(&message);
                self.shared.to_agent.pass(line);
                if let Some(session) = session {
                    let held = self.state().held_in(&session);
                    held.iter().for_each(|held| self.give_back(held, "the user cancelled the turn"));
                }
            }
            "session/close" | "session/delete" => {
                let session = session_of(&message);
                self.shared.to_agent.pass(line);
                if let Some(session) = session {
                    self.end_session(&session);
                }
            }
            "session/set_mode" | "session/set_config_option" => {
                let session = session_of(&message);
                if let Some(session) = session
                    && let Some(known) = self.state().known(&session)
                {
                    known.may_ask_no_more();
                }
                self.shared.to_agent.pass(line);
            }
            method => {
                self.order(method, &message);
                self.shared.to_agent.pass(line);
            }
        }
    }

    /// A line of the editor is longer than any may be: what waits for it is told.
    pub(crate) fn too_long_from_editor(&self, beginning: &[u8]) {
        let reason = "checkrein dropped a message of the editor that is longer than 64 MiB";
        self.shared.say(reason);
        let Some((fields, _)) = scan::begun_fields(beginning) else { return };
        let message = Message::of(&fields);
        match (message.id, &message.method) {
            (Some(id), Some(_)) => self.shared.to_editor.write(answers::refusal(id, reason)),
            (Some(id), None) => self.shared.to_agent.write(answers::refusal(id, reason)),
            (None, _) => {}
        }
    }

    /// All sessions end, since the connection does.
    pub(crate) fn end_sessions(&mut self) {
        let open = self.state().open();
        open.iter().for_each(|session| self.end_session(session));
    }

    fn end_session(&mut self, session: &str) {
        let cwd = self.cwd(session);
        self.event(session, &cwd, "session_end", HookEventKind::SessionEnded);
        self.state().forget(session);
    }

    fn matters_of_editor(&self, item: &[u8]) -> bool {
        let Line::Message(message) = Line::read(item) else { return false };
        match &message.method {
            Some(method) => method.starts_with("session/"),
            None => message.id.is_some_and(|id| self.state().waits_for_editor(&Key::of(id))),
        }
    }

    /// A request of which the answer tells what has to be known.
    fn order(&self, method: &str, message: &Message<'_>) {
        let is_load = ["session/load", "session/resume"].contains(&method);
        if !is_load && !["session/new", "session/fork"].contains(&method) {
            return;
        }
        let params = message.params.and_then(scan::fields).unwrap_or_default();
        let place = scan::text(&params, "cwd").and_then(|path| AbsolutePath::new(&path));
        let session = scan::text(&params, "sessionId");
        let mut state = self.state();
        match session {
            Some(session) if is_load => {
                let known = state.session(&session);
                known.is_replayed = method == "session/load";
                if let Some(place) = place {
                    known.cwd = place;
                }
                state.order(message.id, Ordered::Loaded(session.into_owned()));
            }
            _ => {
                let place = place.unwrap_or_else(|| state.default_place().clone());
                state.order(message.id, Ordered::New(place));
            }
        }
    }

    /// A prompt; whether it goes on.
    fn prompt(&mut self, message: &Message<'_>, length: usize) -> bool {
        let Some(session) = session_of(message) else { return true };
        let text = if length > REVIEWED {
            format!("(a prompt of {length} bytes)")
        } else {
            prompted(&message.read_params().unwrap_or_default())
        };
        let cwd = self.cwd(&session);
        let said = self.event(&session, &cwd, "session/prompt", HookEventKind::Prompt { text });
        match &said.answer {
            HookResponse::Halt { reason } | HookResponse::Deny { reason } => {
                // The editor shows it only behind a prompt that it has sent.
                self.shared.remark(&session, reason);
                if let Some(id) = message.id {
                    self.shared.to_editor.write(answers::unheard(id));
                }
                false
            }
            answer => {
                if !answer.text().is_empty() {
                    self.shared.remark(&session, answer.text());
                }
                let mut state = self.state();
                if let Some(id) = message.id {
                    let known = state.session(&session);
                    if known.turns.is_empty() {
                        known.is_cancelled = false;
                    }
                    known.turns.push(Key::of(id));
                }
                state.order(message.id, Ordered::Prompt(session.clone()));
                drop(state);
                // From here on the agent may do what it asks nobody about.
                self.keep_workspace(&session);
                true
            }
        }
    }

    /// An answer to a request of the agent, or to a question of ours; whether it goes on.
    fn answer_of_editor(&mut self, message: &Message<'_>, line: &[u8]) -> bool {
        let Some(key) = message.id.map(Key::of) else { return true };
        let held = self.state().held(&key);
        if let Some(held) = held {
            self.answered(&key, held, message);
            return false;
        }
        if self.shared.is_own(&key) {
            // An answer to a question of ours that nobody waits for any more.
            return false;
        }
        let Some(request) = self.state().delegated(&key) else { return true };
        let result = message.result.filter(|_| line.len() <= REVIEWED).and_then(strict).unwrap_or_default();
        match request {
            Delegated::Permission(question) => {
                return self.permission_answered(message, line, &result, &question);
            }
            Delegated::Action { session, method, named, since } => {
                let error = message.error.map(|error| said(&strict(error).unwrap_or_default()));
                let terminal = text(&result, "terminalId").filter(|_| error.is_none());
                if let Some(terminal) = terminal {
                    let one = Terminal { named, since, output: String::new() };
                    self.state().open_terminal(&session, terminal, one);
                } else {
                    let output = text(&result, "content").unwrap_or_default().to_owned();
                    let ended = Ended { error, success: SuccessReporting::Told, output, since };
                    self.outcome(&session, &method, &named, &ended);
                }
            }
            Delegated::Terminal { session, terminal } => self.terminal_told(&session, &terminal, &result),
        }
        true
    }

    /// What the user said to a question of the agent; whether their answer goes on as it is.
    fn permission_answered(
        &mut self,
        message: &Message<'_>,
        line: &[u8],
        result: &Json,
        question: &Question,
    ) -> bool {
        let Question { session, call, choices, allowed } = question;
        // What we do not read, and what can be read in two ways, could be a yes to the agent.
        let is_readable = line.len() <= REVIEWED && !says_twice(line);
        // Where the question was about one call, a choice that was not offered answers nothing.
        let is_ours = allowed.is_empty();
        let unclear = chosen(result).filter(|chosen| choices.is_unclear(chosen));
        let is_readable = is_readable && !(is_ours && unclear.is_some());
        let chosen = chosen(result).filter(|_| is_readable);
        let permission = permitted(chosen, &choices.allowing);
        let is_lasting = chosen.is_some_and(|chosen| choices.is_lasting(chosen));
        let once = choices.once().filter(|_| is_lasting);
        let said = self.state().known(session).and_then(|known| {
            if let Some(open) = known.known_call(call) {
                open.permission = permission;
            }
            if unclear.is_some() && is_readable {
                known.may_ask_no_more();
            }
            is_lasting.then(|| match once {
                Some(_) if is_ours => {
                    "checkrein asked about this one call, so its yes is for this one call.".to_owned()
                }
                Some(_) => {
                    let place = known.cwd.clone();
                    let covered = known.standing.keep(allowed, &place);
                    format!(
                        "checkrein keeps this \"always\" for the session: it answers the agent for {covered}, and still reviews each call."
                    )
                }
                None => {
                    known.may_ask_no_more();
                    "The agent offers no yes for one call alone, so it may not ask again: checkrein then learns of such calls only when \
                     the agent reports them."
                        .to_owned()
                }
            })
        });
        if let Some(said) = said {
            self.remark(session, &said);
        }
        if is_readable && once.is_none() {
            return true;
        }
        // An agent that is told "always" asks no more, and nothing would be judged before it runs.
        if let Some(id) = message.id {
            self.shared.to_agent.write(answers::chosen(id, once));
        }
        false
    }

    /// What an answer tells of a terminal.
    fn terminal_told(&mut self, session: &str, terminal: &str, result: &Json) {
        let status = result.get("exitStatus").filter(|status| status.is_object()).unwrap_or(result);
        let (code, signal) = (status.get("exitCode").and_then(Json::as_i64), text(status, "signal"));
        let closed = {
            let mut state = self.state();
            if let (Some(one), Some(output)) = (state.terminal(session, terminal), text(result, "output")) {
                one.output = output.chars().take(OUTPUT).collect();
            }
            let has_ended = code.is_some() || signal.is_some();
            has_ended.then(|| state.close_terminal(session, terminal)).flatten()
        };
        if let Some(Terminal { named, since, output }) = closed {
            let error = match (code, signal) {
                (_, Some(signal)) => Some(format!("ended by signal {signal}")),
                (Some(code), None) if code != 0 => Some(format!("Exit code {code}")),
                _ => None,
            };
            let ended = Ended { error, success: SuccessReporting::Told, output, since };
            self.outcome(session, "terminal", &named, &ended);
        }
    }

    /// The answer to a question of ours.
    fn answered(&mut self, question: &Key, held: Held, message: &Message<'_>) {
        // Of a yes and a no in one answer nobody knows which one counts.
        let result = message.result.filter(|result| !says_twice(result)).and_then(strict).unwrap_or_default();
        let is_yes = permitted(chosen(&result), &[Json::from(answers::YES)]) == Permission::Granted;
        // A halt that came meanwhile counts.
        let halted = self.halted(&held.session);
        let may_run = is_yes && halted.is_none();
        if let Some(id) = question.text() {
            let status = if may_run { "completed" } else { "failed" };
            self.shared.to_editor.write(answers::asked_ended(&held.session, &id, status));
        }
        {
            let mut state = self.state();
            let call = held.call.as_ref();
            let open = call.and_then(|call| state.known(&held.session)?.known_call(call));
            if let Some(open) = open {
                open.permission = if may_run { Permission::Granted } else { Permission::Denied };
            }
        }
        if !may_run {
            let reason =
                halted.unwrap_or_else(|| "the user was asked about this call and rejected it".to_owned());
            return self.give_back(&held, &reason);
        }
        let Held { line, id, session, method, named, .. } = held;
        let request = Delegated::Action { session, method, named, since: Instant::now() };
        self.state().delegate(Some(&id), request);
        self.shared.to_editor.write(line);
    }

    /// Refuses a request that waited.
    fn give_back(&self, held: &Held, reason: &str) {
        self.shared.to_agent.write(answers::refusal(&held.id, reason));
    }
}

fn session_of(message: &Message<'_>) -> Option<String> {
    let params = message.params.and_then(scan::fields)?;
    scan::text(&params, "sessionId").map(std::borrow::Cow::into_owned)
}

/// What a user said, as text: their words, and the addresses of what they attached.
fn prompted(params: &Json) -> String {
    let blocks = params.get("prompt").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    let words = |block: &Json| {
        let resource = || block.get("resource").and_then(|resource| text(resource, "uri"));
        text(block, "text").or_else(|| text(block, "uri")).or_else(resource).map(str::to_owned)
    };
    let all = blocks.iter().filter_map(words).collect::<Vec<_>>().join("\n");
    let mut end = all.len().min(PROMPT);
    while !all.is_char_boundary(end) {
        end -= 1;
    }
    all.get(..end).unwrap_or_default().to_owned()
}

/// The choice of a user.
fn chosen(result: &Json) -> Option<&Json> {
    let outcome = result.get("outcome").filter(|outcome| text(outcome, "outcome") != Some("cancelled"))?;
    outcome.get("optionId")
}

/// What a user said to a question.
fn permitted(chosen: Option<&Json>, allowing: &[Json]) -> Permission {
    if chosen.is_some_and(|chosen| allowing.contains(chosen)) {
        Permission::Granted
    } else {
        Permission::Denied
    }
}

/// The message of an error.
fn said(error: &Json) -> String {
    text(error, "message").map_or_else(|| "failed".to_owned(), str::to_owned)
}
