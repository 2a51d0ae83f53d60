//! What is known of a connection: its sessions, their calls, and who waits for which answer.
//!
//! The two directions number their requests for themselves, so a request of the agent and one of the editor may have the same id. Each map
//! here is of one direction.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Instant;

use checkrein_engine::{EarlyStart, KeptWorkspace};
use checkrein_protocol::{AbsolutePath, Action, ActionId, SessionId, Timestamp};
use serde_json::Value as Json;

use crate::acts::ToldCall;
use crate::message::Key;
use crate::reviewer::Ruling;
use crate::standing::{Choices, Standing};

/// Sessions, calls of one session, and requests that are remembered (ours). What is older is forgotten, and judged by itself when it comes up.
const SESSIONS: usize = 1_024;
const CALLS: usize = 256;
const REQUESTS: usize = 4_096;

/// How much of the texts of open calls is remembered, in bytes (ours).
const TEXTS: usize = 64 * 1024 * 1024;

/// Questions of ours that may wait, and how long what waits for them may be, in bytes (ours).
const QUESTIONS: usize = 64;
const HELD: usize = 64 * 1024 * 1024;

/// How long after it began an agent tells of a call at the latest, in milliseconds (ours).
const LATE: u64 = 1_000;

/// By how much the clock of a file system may be behind, in milliseconds (ours): it ticks up to every 10 ms.
const TICK: u64 = 10;

/// An action under the name that its review has.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Named {
    pub(crate) id: ActionId,
    pub(crate) action: Action,
}

/// Whether a user was asked about a call, and what they said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Permission {
    #[default]
    NotAsked,
    Waiting,
    Granted,
    Denied,
}

/// A tool call that has not ended.
#[derive(Debug, Clone)]
pub(crate) struct OpenCall {
    /// What was told of it.
    pub(crate) told: ToldCall,
    /// The actions that were reviewed, and what came of it.
    pub(crate) reviewed: Option<(Vec<Named>, Ruling)>,
    /// How often that was.
    pub(crate) reviews: usize,
    /// Whether something that was told of it says a thing twice, so that what is told later does not say which of the two it is.
    pub(crate) is_twofold: bool,
    /// What the user said of it.
    pub(crate) permission: Permission,
    /// Whether the user read in the conversation that it is refused.
    pub(crate) is_told: bool,
    /// When it was first heard of.
    pub(crate) since: Instant,
    /// The same by the clock, with what the workspace held before.
    pub(crate) start: EarlyStart,
    /// How long what was told of it is, in bytes.
    size: usize,
}

/// A conversation.
#[derive(Debug)]
pub(crate) struct Session {
    /// Where it works.
    pub(crate) cwd: AbsolutePath,
    /// Whether the editor knows it.
    pub(crate) is_open: bool,
    /// Whether the agent tells what happened earlier.
    pub(crate) is_replayed: bool,
    /// The prompts that are not answered.
    pub(crate) turns: Vec<Key>,
    /// Whether we have ended the turn.
    pub(crate) is_cancelled: bool,
    /// The kinds of calls about which the agent asks before it makes them.
    pub(crate) asks: BTreeSet<String>,
    /// What the user allowed for the rest of it.
    pub(crate) standing: Standing,
    /// What the workspace held before calls, each with the time at which saving it began: the last two.
    workspaces: VecDeque<(Timestamp, KeptWorkspace)>,
    calls: VecDeque<(String, OpenCall)>,
}

/// A question of the agent to the user.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) session: String,
    /// The tool call that it is about.
    pub(crate) call: String,
    /// What may be chosen.
    pub(crate) choices: Choices,
    /// What a lasting yes allows in later calls; empty where it allows nothing, since the question is one of ours too.
    pub(crate) allowed: Vec<Action>,
}

/// A request of the agent that the editor is about to answer.
#[derive(Debug)]
pub(crate) enum Delegated {
    /// For permission.
    Permission(Question),
    /// To do something, which was reviewed by itself.
    Action { session: String, method: String, named: Vec<Named>, since: Instant },
    /// About a terminal that runs.
    Terminal { session: String, terminal: String },
}

/// A request of the editor that the agent is about to answer.
#[derive(Debug)]
pub(crate) enum Ordered {
    /// For a new session in this directory.
    New(AbsolutePath),
    /// For one that goes on.
    Loaded(String),
    /// A prompt in a session.
    Prompt(String),
}

/// A request of the agent that waits for the answer to a question of ours.
#[derive(Debug)]
pub(crate) struct Held {
    /// The request as it came.
    pub(crate) line: Vec<u8>,
    /// Its id as it stands there.
    pub(crate) id: Vec<u8>,
    pub(crate) session: String,
    pub(crate) method: String,
    /// What was reviewed for it.
    pub(crate) named: Vec<Named>,
    /// The tool call that it belongs to, where there is one.
    pub(crate) call: Option<String>,
}

/// A command in a terminal of the editor.
#[derive(Debug)]
pub(crate) struct Terminal {
    pub(crate) named: Vec<Named>,
    pub(crate) since: Instant,
    /// What it has written, as far as the agent asked.
    pub(crate) output: String,
}

/// All of it.
#[derive(Debug)]
pub(crate) struct State {
    default: AbsolutePath,
    sessions: HashMap<String, Session>,
    order: VecDeque<String>,
    delegated: Requests<Delegated>,
    ordered: Requests<Ordered>,
    questions: HashMap<Key, Held>,
    terminals: HashMap<(String, String), Terminal>,
}

/// Requests by their ids; several may have one id, and are answered in their order.
#[derive(Debug)]
struct Requests<T> {
    all: VecDeque<(Key, T)>,
}

impl<T> Requests<T> {
    fn add(&mut self, key: Key, request: T) {
        if self.all.len() >= REQUESTS {
            self.all.pop_front();
        }
        self.all.push_back((key, request));
    }

    fn take(&mut self, key: &Key) -> Option<T> {
        let at = self.all.iter().position(|(other, _)| other == key)?;
        self.all.remove(at).map(|(_, request)| request)
    }

    fn knows(&self, key: &Key) -> bool {
        self.all.iter().any(|(other, _)| other == key)
    }
}

impl State {
    /// Nothing is known; sessions of which the directory is not told work in this one.
    pub(crate) fn new(default: AbsolutePath) -> Self {
        Self {
            default,
            sessions: HashMap::new(),
            order: VecDeque::new(),
            delegated: Requests { all: VecDeque::new() },
            ordered: Requests { all: VecDeque::new() },
            questions: HashMap::new(),
            terminals: HashMap::new(),
        }
    }

    /// The directory for what names none.
    pub(crate) fn default_place(&self) -> &AbsolutePath {
        &self.default
    }

    /// The session with this name, which is made known when it is not.
    pub(crate) fn session(&mut self, name: &str) -> &mut Session {
        if !self.sessions.contains_key(name) {
            if self.order.len() >= SESSIONS
                && let Some(oldest) = self.order.pop_front()
            {
                self.sessions.remove(&oldest);
            }
            self.order.push_back(name.to_owned());
        }
        let cwd = self.default.clone();
        self.sessions.entry(name.to_owned()).or_insert_with(|| Session {
            cwd,
            is_open: false,
            is_replayed: false,
            turns: Vec::new(),
            is_cancelled: false,
            asks: BTreeSet::new(),
            standing: Standing::default(),
            workspaces: VecDeque::new(),
            calls: VecDeque::new(),
        })
    }

    /// The session with this name, if it is known.
    pub(crate) fn known(&mut self, name: &str) -> Option<&mut Session> {
        self.sessions.get_mut(name)
    }

    /// The names of the sessions that the editor knows.
    pub(crate) fn open(&self) -> Vec<String> {
        self.order
            .iter()
            .filter(|name| self.sessions.get(*name).is_some_and(|one| one.is_open))
            .cloned()
            .collect()
    }

    /// The names of the sessions in which a turn goes on that we have not ended.
    pub(crate) fn working(&self) -> Vec<String> {
        let works = |session: &Session| !session.turns.is_empty() && !session.is_cancelled;
        self.order.iter().filter(|name| self.sessions.get(*name).is_some_and(works)).cloned().collect()
    }

    /// A session is over.
    pub(crate) fn forget(&mut self, name: &str) {
        self.sessions.remove(name);
        self.order.retain(|other| other != name);
        self.terminals.retain(|(session, _), _| session != name);
    }

    /// The editor is about to answer this.
    pub(crate) fn delegate(&mut self, id: Option<&[u8]>, request: Delegated) {
        if let Some(id) = id {
            self.delegated.add(Key::of(id), request);
        }
    }

    /// The request that the editor answers now.
    pub(crate) fn delegated(&mut self, key: &Key) -> Option<Delegated> {
        self.delegated.take(key)
    }

    /// The agent is about to answer this.
    pub(crate) fn order(&mut self, id: Option<&[u8]>, request: Ordered) {
        if let Some(id) = id {
            self.ordered.add(Key::of(id), request);
        }
    }

    /// The request that the agent answers now.
    pub(crate) fn ordered(&mut self, key: &Key) -> Option<Ordered> {
        self.ordered.take(key)
    }

    /// Whether an answer of the agent with this id is waited for here.
    pub(crate) fn waits_for_agent(&self, key: &Key) -> bool {
        self.ordered.knows(key)
    }

    /// Whether an answer of the editor with this id is waited for here.
    pub(crate) fn waits_for_editor(&self, key: &Key) -> bool {
        self.delegated.knows(key) || self.questions.contains_key(key)
    }

    /// Keeps a request until our question about it is answered; gives its id back when too much waits already.
    pub(crate) fn hold(&mut self, question: Key, held: Held) -> Result<(), Vec<u8>> {
        let bytes: usize = self.questions.values().map(|one| one.line.len()).sum();
        if self.questions.len() >= QUESTIONS || bytes + held.line.len() > HELD {
            return Err(held.id);
        }
        self.questions.insert(question, held);
        Ok(())
    }

    /// The request that waits for this question.
    pub(crate) fn held(&mut self, question: &Key) -> Option<Held> {
        self.questions.remove(question)
    }

    /// All requests of a session that wait for questions of ours.
    pub(crate) fn held_in(&mut self, session: &str) -> Vec<Held> {
        let of_session = self.questions.extract_if(|_, held| held.session == session);
        of_session.map(|(_, held)| held).collect()
    }

    /// The request with this id that waits for a question of ours.
    pub(crate) fn held_as(&mut self, id: &Key) -> Option<Held> {
        let question =
            self.questions.iter().find(|(_, held)| Key::of(&held.id) == *id).map(|(key, _)| key.clone())?;
        self.questions.remove(&question)
    }

    /// A terminal was made.
    pub(crate) fn open_terminal(&mut self, session: &str, terminal: &str, one: Terminal) {
        if self.terminals.len() < REQUESTS {
            self.terminals.insert((session.to_owned(), terminal.to_owned()), one);
        }
    }

    /// A terminal whose command has not ended.
    pub(crate) fn terminal(&mut self, session: &str, terminal: &str) -> Option<&mut Terminal> {
        self.terminals.get_mut(&(session.to_owned(), terminal.to_owned()))
    }

    /// The command of a terminal has ended.
    pub(crate) fn close_terminal(&mut self, session: &str, terminal: &str) -> Option<Terminal> {
        self.terminals.remove(&(session.to_owned(), terminal.to_owned()))
    }
}

impl Session {
    /// The call with this name, which is made known when it is not: it was heard of at `heard` at the earliest. `size` is how long what is told
    /// of it now is, in bytes.
    pub(crate) fn call(&mut self, name: &str, size: usize, heard: Timestamp) -> &mut OpenCall {
        let at = self.calls.iter().position(|(other, _)| other == name);
        let start = self.early_start(heard);
        let (name, mut call) = at.and_then(|at| self.calls.remove(at)).unwrap_or_else(|| {
            let call = OpenCall {
                told: ToldCall::default(),
                reviewed: None,
                reviews: 0,
                is_twofold: false,
                permission: Permission::NotAsked,
                is_told: false,
                since: Instant::now(),
                start,
                size: 0,
            };
            (name.to_owned(), call)
        });
        // What is told takes the place of what was told before.
        call.size = call.size.max(size);
        let mut texts = call.size + self.calls.iter().map(|(_, call)| call.size).sum::<usize>();
        while self.calls.len() >= CALLS || texts > TEXTS {
            let Some((_, oldest)) = self.calls.pop_front() else { break };
            texts = texts.saturating_sub(oldest.size);
        }
        self.calls.push_back((name, call));
        let last = self.calls.len().saturating_sub(1);
        &mut self.calls[last].1
    }

    /// The call with this name, if it is known.
    pub(crate) fn known_call(&mut self, name: &str) -> Option<&mut OpenCall> {
        self.calls.iter_mut().find(|(other, _)| other == name).map(|(_, call)| call)
    }

    /// When a call may have begun that is heard of now for the first time: the agent tells of it when it likes, but not before the end of the
    /// calls that came before it.
    fn early_start(&self, heard: Timestamp) -> EarlyStart {
        let at = Timestamp(heard.0.saturating_sub(LATE));
        let mut newest_first = self.workspaces.iter().rev();
        let Some((began, kept)) = newest_first.next() else {
            return EarlyStart { at, workspaces: [None; 2] };
        };
        if *began < at {
            return EarlyStart { at, workspaces: [Some(*kept), None] };
        }
        // It may have begun while that was saved.
        let at = Timestamp(began.0.saturating_sub(TICK));
        EarlyStart { at, workspaces: [Some(*kept), newest_first.next().map(|(_, kept)| *kept)] }
    }

    /// The workspace was saved; that began at this time.
    pub(crate) fn keep(&mut self, began: Timestamp, kept: Option<KeptWorkspace>) {
        let Some(kept) = kept else { return self.workspaces.clear() };
        while self.workspaces.len() > 1 {
            self.workspaces.pop_front();
        }
        self.workspaces.push_back((began, kept));
    }

    /// The agent works in another way from now on, or was told to ask no more: that it asked earlier says nothing of later calls.
    pub(crate) fn may_ask_no_more(&mut self) {
        self.asks.clear();
    }

    /// A call has ended.
    pub(crate) fn end_call(&mut self, name: &str) -> Option<OpenCall> {
        let at = self.calls.iter().position(|(other, _)| other == name)?;
        self.calls.remove(at).map(|(_, call)| call)
    }

    /// The newest open call whose review covers an action: the same command in the same place, or the same text into the same file.
    pub(crate) fn covering(&self, action: &Action) -> Option<(&str, &OpenCall)> {
        let found = self.calls.iter().rev().find(|(_, call)| call.covers(action));
        found.map(|(name, call)| (name.as_str(), call))
    }
}

impl OpenCall {
    /// Whether the review of the call covers an action: the same command in the same place, or the same text into the same file.
    pub(crate) fn covers(&self, action: &Action) -> bool {
        let reviewed = self.reviewed.as_ref().map(|(named, _)| named.as_slice()).unwrap_or_default();
        reviewed.iter().any(|named| is_same(&named.action, action))
    }
}

/// Whether two actions do the same.
fn is_same(reviewed: &Action, action: &Action) -> bool {
    if reviewed.tool != action.tool {
        return false;
    }
    if let (Some(one), Some(other)) = (reviewed.shell_text(), action.shell_text()) {
        return one == other && reviewed.cwd == action.cwd;
    }
    let text = |action: &Action, name: &str| action.input.get(name).and_then(Json::as_str).map(str::to_owned);
    let path = |action: &Action| text(action, "file_path").map(|path| action.cwd.join(&path));
    action.tool.as_str() == "Write"
        && path(reviewed).is_some()
        && path(reviewed) == path(action)
        && text(reviewed, "content").is_some()
        && text(reviewed, "content") == text(action, "content")
}

/// The name of the ledger of a session. Where the client's own hooks write one too, it is another one: each has every call once.
pub(crate) fn ledger_name(session: &str) -> SessionId {
    SessionId(format!("acp-{session}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs;
    use serde_json::json;

    fn place() -> AbsolutePath {
        AbsolutePath::new("/w").unwrap()
    }

    #[test]
    fn requests_with_one_id_are_answered_in_their_order() {
        let mut state = State::new(place());
        for session in ["a", "b"] {
            state.order(Some(b"1"), Ordered::Prompt(session.to_owned()));
        }
        state.delegate(Some(b"1"), Delegated::Terminal { session: "c".to_owned(), terminal: "t".to_owned() });
        state.order(None, Ordered::Prompt("none".to_owned()));
        for session in ["a", "b"] {
            assert!(
                matches!(state.ordered(&Key::of(b"1")), Some(Ordered::Prompt(found)) if found == session)
            );
        }
        assert!(state.ordered(&Key::of(b"1")).is_none() && state.waits_for_editor(&Key::of(b"1")));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut state = State::new(place());
        for number in 0..2 * SESSIONS {
            state.session(&number.to_string()).is_open = true;
        }
        assert_eq!(state.open().len(), SESSIONS);
        let session = state.session("s");
        for number in 0..2 * CALLS {
            session.call(&number.to_string(), 1, Timestamp(1));
        }
        assert!(session.known_call("0").is_none() && session.known_call("511").is_some());
        session.call("large", TEXTS, Timestamp(1));
        assert!(session.known_call("511").is_none() && session.known_call("large").is_some());
        let held = || Held {
            line: vec![0; HELD / 2],
            id: b"1".to_vec(),
            session: "s".to_owned(),
            method: "m".to_owned(),
            named: Vec::new(),
            call: None,
        };
        assert!(
            state.hold(Key::of_text("q1"), held()).is_ok() && state.hold(Key::of_text("q2"), held()).is_ok()
        );
        assert!(state.hold(Key::of_text("q3"), held()).is_err());
        assert!(state.held_as(&Key::of(b"1")).is_some() && state.held_in("s").len() == 1);
    }

    #[test]
    fn a_review_covers_the_same_text_into_the_same_file_only() {
        let mut state = State::new(place());
        let session = state.session("s");
        let named = Named { id: ActionId("1".to_owned()), action: inputs::write("/w/a", "x", &place()) };
        session.call("1", 0, Timestamp(1)).reviewed = Some((vec![named], Ruling::Passed));
        assert!(session.covering(&inputs::write("a", "x", &place())).is_some());
        assert!(session.covering(&inputs::write("/w/a", "y", &place())).is_none());
        assert!(session.covering(&inputs::write("/w/b", "x", &place())).is_none());
        let read = Action::tool_call("Read", json!({ "file_path": "/w/a" }), place());
        assert!(session.covering(&read).is_none());
    }
}
