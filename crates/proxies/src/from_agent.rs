//! What comes from the agent, on its way to the editor.

use std::time::Instant;

use checkrein_clients::says_twice;
use checkrein_engine::clock::{Clock as _, SystemClock};
use checkrein_engine::fail_closed::Failure;
use checkrein_protocol::{Action, HookEventKind, HookResponse};
use serde_json::Value as Json;

use crate::acts;
use crate::answers;
use crate::desk::{Desk, REVIEWED, first_line, named, text};
use crate::message::{Key, Line, Message, may_be_obeyed};
use crate::methods::{Matter, matter};
use crate::reviewer::Ruling;
use crate::scan;
use crate::standing::Choices;
use crate::state::{Delegated, Held, Ordered, Permission, Question};

/// What becomes of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It goes on as it came.
    Passed,
    /// Another one goes on in its place.
    Changed(Vec<u8>),
    /// It is answered, or waits.
    Kept,
}

/// What a user reads where an agent asks to run something and shows no command.
const UNSHOWN: &str = "checkrein asks you first: the agent wants to run something, and the request holds no command that could be reviewed\n\
    Instead: reject it, and have the agent show the command";

impl Desk {
    /// Takes a line of the agent to the editor.
    pub(crate) fn line_of_agent(&mut self, line: Vec<u8>) {
        let fate = match Line::read(&line) {
            Line::Message(message) => self.message_of_agent(&line, &message),
            Line::Batch(items) if items.iter().any(|item| self.matters_of_agent(item)) => {
                for item in items {
                    self.line_of_agent([item, b"\n"].concat());
                }
                Fate::Kept
            }
            Line::Batch(_) | Line::Blank => Fate::Passed,
            Line::Unreadable if may_be_obeyed(&line) => {
                self.shared.is_unreadable(
                    "a line of the agent is not JSON and looks like a request for files, commands or permission; such lines are held back",
                );
                Fate::Kept
            }
            Line::Unreadable => {
                self.shared.is_unreadable("a line of the agent is not JSON; such lines pass as they are");
                Fate::Passed
            }
        };
        match fate {
            Fate::Passed => self.shared.to_editor.pass(line),
            Fate::Changed(line) => self.shared.to_editor.pass(line),
            Fate::Kept => {}
        }
        self.tell();
    }

    /// A line of the agent is longer than any may be: what waits for it is told.
    pub(crate) fn too_long_from_agent(&self, beginning: &[u8]) {
        let Some((fields, _)) = scan::begun_fields(beginning) else {
            self.shared.say("checkrein: a line of the agent is longer than 64 MiB and was dropped");
            return;
        };
        let message = Message::of(&fields);
        let reason = "checkrein dropped a message of the agent that is longer than 64 MiB";
        self.shared.say(reason);
        match (message.id, &message.method) {
            (Some(id), Some(_)) => self.shared.to_agent.write(answers::refusal(id, reason)),
            (Some(id), None) => self.shared.to_editor.write(answers::refusal(id, reason)),
            (None, _) => {}
        }
    }

    fn matters_of_agent(&self, item: &[u8]) -> bool {
        let Line::Message(message) = Line::read(item) else { return false };
        match matter(&message) {
            Matter::Permission
            | Matter::Deed(_)
            | Matter::UnknownDeed
            | Matter::Terminal
            | Matter::Update
            | Matter::Withdrawal => true,
            Matter::Nothing => {
                let answered = message.id.filter(|_| message.method.is_none());
                answered.is_some_and(|id| self.state().waits_for_agent(&Key::of(id)))
            }
        }
    }

    fn message_of_agent(&mut self, line: &[u8], message: &Message<'_>) -> Fate {
        let matter = matter(message);
        let is_twofold = || !message.twofold.is_empty() || message.params.is_some_and(says_twice);
        if matter.is_reviewed() && is_twofold() {
            let what =
                format!("`{}` says something twice, and which of it counts is not known", message.method());
            let params = message.read_params().unwrap_or_default();
            if let Some(session) = text(&params, "sessionId") {
                self.remark(session, "checkrein: stopped a request that says something twice");
            }
            return self.refuse(message, &Failure::Payload(what).reason());
        }
        match matter {
            Matter::Permission => self.permission(line, message),
            Matter::Deed(method) => self.delegation(line, message, method),
            Matter::UnknownDeed => self.delegation(line, message, message.method()),
            Matter::Withdrawal => self.withdrawal(message),
            Matter::Terminal => {
                self.about_terminal(message);
                Fate::Passed
            }
            Matter::Update => {
                self.notice(message, line.len());
                Fate::Passed
            }
            Matter::Nothing => {
                if message.method.is_none() {
                    self.answer_of_agent(message);
                    return self.logins(message).unwrap_or(Fate::Passed);
                }
                Fate::Passed
            }
        }
    }

    /// An answer to a request of the editor.
    fn answer_of_agent(&mut self, message: &Message<'_>) {
        let Some(id) = message.id else { return };
        let Some(request) = self.state().ordered(&Key::of(id)) else { return };
        match request {
            Ordered::New(cwd) => {
                let result = message.result.and_then(scan::fields).unwrap_or_default();
                let Some(session) = scan::text(&result, "sessionId") else { return };
                {
                    let mut state = self.state();
                    let known = state.session(&session);
                    known.cwd.clone_from(&cwd);
                    known.is_open = true;
                }
                self.begin(&session, "startup");
            }
            Ordered::Loaded(session) => {
                {
                    let mut state = self.state();
                    let known = state.session(&session);
                    known.is_replayed = false;
                    known.is_open |= message.error.is_none();
                }
                self.begin(&session, "resume");
            }
            Ordered::Prompt(session) => {
                let is_over = self.state().known(&session).is_some_and(|known| {
                    known.turns.retain(|turn| *turn != Key::of(id));
                    if known.turns.is_empty() {
                        known.is_cancelled = false;
                    }
                    known.turns.is_empty()
                });
                if is_over {
                    let cwd = self.cwd(&session);
                    let moment = HookEventKind::TurnEnding { message: None };
                    let said = self.event(&session, &cwd, "turn_end", moment);
                    // The turn is over for the agent; the user reads what would have sent it back.
                    if let HookResponse::Deny { reason } = &said.answer {
                        self.remark(&session, reason);
                    }
                }
            }
        }
    }

    fn begin(&mut self, session: &str, source: &str) {
        let cwd = self.cwd(session);
        let moment = HookEventKind::SessionStarted { source: source.to_owned() };
        let said = self.event(session, &cwd, "session_start", moment);
        let text = said.answer.text();
        if !text.is_empty() {
            self.remark(session, text);
        }
    }

    /// A request for permission.
    fn permission(&mut self, line: &[u8], message: &Message<'_>) -> Fate {
        if line.len() > REVIEWED {
            return self.refuse_permission(message, &Json::Null, &Telling::Log, &Failure::Oversize.reason());
        }
        let params = message.read_params().unwrap_or_default();
        let call = acts::asked_about(&params);
        let Some(session) = text(&params, "sessionId").map(str::to_owned) else {
            let failure = Failure::Payload("the request for permission names no session".to_owned());
            return self.refuse_permission(message, &params, &Telling::Log, &failure.reason());
        };
        let name = text(&call, "toolCallId").map_or_else(|| self.shared.own_name(), str::to_owned);
        let (cwd, told, reviewed, was_told) = {
            let mut state = self.state();
            let known = state.session(&session);
            let cwd = known.cwd.clone();
            let open = known.call(&name, line.len(), SystemClock.now());
            open.told.take_up(&name, &call);
            let (told, reviewed, was_told) = (open.told.clone(), open.reviewed.clone(), open.is_told);
            known.asks.insert(told.kind.clone());
            (cwd, told, reviewed, was_told)
        };
        let mut actions = told.actions_now(&cwd);
        let beside = acts::asked_beside(&params, &cwd);
        actions.extend(beside.into_iter().filter(|action| !actions.contains(action)).collect::<Vec<_>>());
        let known = reviewed.filter(|(named, _)| named.iter().map(|named| &named.action).eq(&actions));
        // Of other actions than those that the user read of, they read once more.
        let is_told = was_told && known.is_some();
        let (ruling, for_user) = match (self.halted(&session), known) {
            (Some(reason), Some(_)) => (Ruling::Stopped(reason), None),
            (None, Some((_, ruling))) => (ruling, None),
            (_, None) => {
                let named = named(&name, actions.clone());
                let (ruling, for_user) = self.review(&session, &cwd, message.method(), &named);
                self.keep(&session, &name, named, ruling.clone());
                (ruling, for_user)
            }
        };
        // Nobody knows what the user would allow.
        let ruling = match ruling {
            Ruling::Passed if told.hides_command(&cwd) => Ruling::Asked(UNSHOWN.to_owned()),
            known => known,
        };
        match ruling {
            Ruling::Passed => {
                let choices = Choices::of(&params);
                let standing = self.standing_yes(&session, &name, &choices, &actions);
                let fate = if let Some(yes) = standing {
                    self.answer_by(message, &yes);
                    Fate::Kept
                } else {
                    self.await_permission(message, &session, &name, choices, actions);
                    Fate::Passed
                };
                if let Some(text) = for_user {
                    self.remark(&session, &text);
                }
                fate
            }
            Ruling::Asked(reason) => {
                // The question is about this call alone: no yes to it stands.
                let choices = Choices::of(&params);
                let offered = choices.for_one_call(&params);
                self.await_permission(message, &session, &name, choices, Vec::new());
                let changed = answers::with_reason(&offered, &told, &reason).unwrap_or_else(|| {
                    self.remark(&session, &reason);
                    offered
                });
                let Some(at) = message.params_at.as_ref() else { return Fate::Passed };
                let (before, behind) = (line.get(..at.start), line.get(at.end..));
                let changed = changed.to_string();
                let parts = [before.unwrap_or_default(), changed.as_bytes(), behind.unwrap_or_default()];
                Fate::Changed(parts.concat())
            }
            Ruling::Refused(reason) => {
                let told = for_user.unwrap_or_else(|| first_line(&reason).to_owned());
                let telling = if is_told { Telling::Known } else { Telling::Conversation(&session, &told) };
                let fate = self.refuse_permission(message, &params, &telling, &reason);
                self.shared.is_told_of(&session, &name);
                fate
            }
            Ruling::Stopped(reason) => {
                let fate = self.refuse_permission(message, &params, &Telling::Log, &reason);
                self.shared.cancel(&session, &reason);
                fate
            }
        }
    }

    /// The choice with which a request is answered in place of the user, who allowed such calls for the rest of the session.
    fn standing_yes(&self, session: &str, call: &str, choices: &Choices, actions: &[Action]) -> Option<Json> {
        let once = choices.once()?;
        let mut state = self.state();
        let known = state.known(session)?;
        known.standing.covers(actions).then_some(())?;
        if let Some(open) = known.known_call(call) {
            open.permission = Permission::Granted;
        }
        Some(once.clone())
    }

    fn answer_by(&self, message: &Message<'_>, choice: &Json) {
        if let Some(id) = message.id {
            self.shared.to_agent.write(answers::chosen(id, Some(choice)));
        }
    }

    /// The user is being asked by the editor.
    fn await_permission(
        &self,
        message: &Message<'_>,
        session: &str,
        call: &str,
        choices: Choices,
        allowed: Vec<Action>,
    ) {
        let question = Question { session: session.to_owned(), call: call.to_owned(), choices, allowed };
        let mut state = self.state();
        if let Some(open) = state.session(session).known_call(call) {
            open.permission = Permission::Waiting;
        }
        state.delegate(message.id, Delegated::Permission(question));
    }

    fn refuse_permission(
        &mut self,
        message: &Message<'_>,
        params: &Json,
        telling: &Telling<'_>,
        reason: &str,
    ) -> Fate {
        if let Some(id) = message.id {
            self.shared.to_agent.write(answers::rejection(id, params, reason));
        }
        match telling {
            Telling::Conversation(session, text) => self.remark(session, text),
            Telling::Log => self
                .shared
                .say(&format!("checkrein: refused a request for permission: {}", first_line(reason))),
            Telling::Known => {}
        }
        Fate::Kept
    }

    /// A request to the editor to read, write or run something.
    fn delegation(&mut self, line: &[u8], message: &Message<'_>, method: &str) -> Fate {
        if line.len() > REVIEWED {
            return self.refuse(message, &Failure::Oversize.reason());
        }
        let params = message.read_params().unwrap_or_default();
        let Some(session) = self.session_of(message, &params) else {
            let failure = Failure::Payload(format!("`{method}` names no session"));
            return self.refuse(message, &failure.reason());
        };
        let cwd = self.cwd(&session);
        let Some(actions) = acts::delegated(method, &params, &cwd) else {
            let failure = Failure::Payload(format!("the parameters of `{method}` are not understood"));
            return self.refuse(message, &failure.reason());
        };
        if let Some(reason) = self.halted(&session) {
            let fate = self.refuse(message, &reason);
            self.shared.cancel(&session, &reason);
            return fate;
        }
        let covered = actions.first().and_then(|action| {
            let mut state = self.state();
            let (call, open) = state.known(&session)?.covering(action)?;
            let (_, ruling) = open.reviewed.as_ref()?;
            Some((call.to_owned(), ruling.clone(), open.permission))
        });
        // What the earlier review did not see is judged now, and its answer counts where it is the stricter one.
        let unseen: Vec<Action> = covered
            .iter()
            .flat_map(|(call, ..)| {
                let mut state = self.state();
                let open = state.known(&session).and_then(|known| known.known_call(call).map(|open| &*open));
                actions
                    .iter()
                    .filter(|action| !open.is_some_and(|open| open.covers(action)))
                    .cloned()
                    .collect::<Vec<_>>()
            })
            .collect();
        let further = (!unseen.is_empty()).then(|| {
            let named = named(&self.shared.own_name(), unseen);
            let (ruling, for_user) = self.review(&session, &cwd, method, &named);
            (named, ruling, for_user)
        });
        let (call, named, ruling, for_user) = match (covered, further) {
            (Some((_, _, Permission::Denied)), _) => {
                return self.refuse(message, "the user rejected this call, so the editor does not do it");
            }
            (Some(_), Some((named, ruling, for_user)))
                if ruling.strictness() > Ruling::Passed.strictness() =>
            {
                (None, named, ruling, for_user)
            }
            (covered, _) => match covered {
                Some((call, Ruling::Asked(_), Permission::Granted)) => {
                    (Some(call), Vec::new(), Ruling::Passed, None)
                }
                Some((call, ruling, _)) => (Some(call), Vec::new(), ruling, None),
                None => {
                    let named = named(&self.shared.own_name(), actions.clone());
                    let (ruling, for_user) = self.review(&session, &cwd, method, &named);
                    (None, named, ruling, for_user)
                }
            },
        };
        match ruling {
            Ruling::Passed => {
                if let Some(text) = for_user {
                    self.remark(&session, &text);
                }
                let since = Instant::now();
                let request = Delegated::Action { session, method: method.to_owned(), named, since };
                self.state().delegate(message.id, request);
                Fate::Passed
            }
            Ruling::Asked(reason) => {
                let (Some(id), Some(action)) = (message.id, actions.first()) else {
                    return self.refuse(message, &reason);
                };
                let held = Held {
                    line: line.to_vec(),
                    id: id.to_vec(),
                    session: session.clone(),
                    method: method.to_owned(),
                    named,
                    call,
                };
                self.ask(held, action, &reason)
            }
            Ruling::Refused(reason) => {
                let is_told = call.as_deref().is_some_and(|call| {
                    let mut state = self.state();
                    state
                        .known(&session)
                        .and_then(|known| known.known_call(call))
                        .is_some_and(|open| open.is_told)
                });
                if !is_told {
                    self.remark(&session, for_user.as_deref().unwrap_or_else(|| first_line(&reason)));
                }
                self.refuse(message, &reason)
            }
            Ruling::Stopped(reason) => {
                let fate = self.refuse(message, &reason);
                self.shared.cancel(&session, &reason);
                fate
            }
        }
    }

    /// The session of a request. A method that nobody knows may name none, or have another word for it: then it is the last one that works.
    fn session_of(&self, message: &Message<'_>, params: &Json) -> Option<String> {
        let named = text(params, "sessionId").map(str::to_owned);
        match matter(message) {
            Matter::UnknownDeed => named.or_else(|| {
                let state = self.state();
                state.working().pop().or_else(|| state.open().pop())
            }),
            Matter::Permission
            | Matter::Deed(_)
            | Matter::Terminal
            | Matter::Update
            | Matter::Withdrawal
            | Matter::Nothing => named,
        }
    }

    /// Asks the user ourselves, since the agent did not.
    fn ask(&self, held: Held, action: &Action, reason: &str) -> Fate {
        let id = self.shared.own_id();
        let question = answers::question(&id, &held.session, action, reason);
        // Kept before it is asked: the answer may come at once.
        let kept = self.state().hold(Key::of_text(&id), held);
        match kept {
            Ok(()) => self.shared.to_editor.write(question),
            Err(refused) => {
                let text = "checkrein would have to ask the user about this, but too many questions wait already.\n\
                    Instead: wait until the user has answered them";
                self.shared.to_agent.write(answers::refusal(&refused, text));
            }
        }
        Fate::Kept
    }

    fn refuse(&self, message: &Message<'_>, reason: &str) -> Fate {
        if let Some(id) = message.id {
            self.shared.to_agent.write(answers::refusal(id, reason));
        } else {
            self.shared.say(&format!("checkrein: dropped `{}`: {}", message.method(), first_line(reason)));
        }
        Fate::Kept
    }

    /// A question about a terminal, whose answer tells how its command ended.
    fn about_terminal(&self, message: &Message<'_>) {
        let params = message.params.and_then(scan::fields).unwrap_or_default();
        if let (Some(session), Some(terminal)) =
            (scan::text(&params, "sessionId"), scan::text(&params, "terminalId"))
        {
            let request =
                Delegated::Terminal { session: session.into_owned(), terminal: terminal.into_owned() };
            self.state().delegate(message.id, request);
        }
    }

    /// The agent does not want an answer any more.
    fn withdrawal(&self, message: &Message<'_>) -> Fate {
        let params = message.params.and_then(scan::fields).unwrap_or_default();
        let id = scan::last(&params, "requestId").or_else(|| scan::last(&params, "id"));
        let held = id.and_then(|id| self.state().held_as(&Key::of(id)));
        match held {
            Some(held) => {
                self.shared.to_agent.write(answers::refusal(&held.id, "the request was withdrawn"));
                Fate::Kept
            }
            None => Fate::Passed,
        }
    }
}

/// Where a user reads that a request for permission is refused.
enum Telling<'a> {
    /// In the conversation of a session, in these words.
    Conversation(&'a str, &'a str),
    /// In the log of the editor: there is no conversation to tell it in, or its turn ends with the reason.
    Log,
    /// Nowhere: they read it when the agent told of the call.
    Known,
}
