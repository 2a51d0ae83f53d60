//! Made up conversations between an editor and an agent, step by step: both sides answer what they really heard, in any order, and some of what
//! they never heard. What each side may hear is known at every step.
//!
//! `CHECKREIN_FUZZ_SEED` says where they begin.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on should panic; what tests share is public"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use checkrein_protocol::AbsolutePath;
use checkrein_proxies::{Ends, Proxy};
use checkrein_testkit::dice::{Dice, so_often};
use serde_json::{Value as Json, json};
use support::{ASKED, FORBIDDEN, WordJudge};

/// How many conversations are made up.
const CONVERSATIONS: u64 = 1_000;

/// How many rounds one has; in each, both sides say a few things.
const ROUNDS: usize = 6;

/// How long they may take together, on a machine with much else to do.
const TIME: Duration = Duration::from_mins(1);

/// How long a side waits for what has to come.
const PATIENCE: Duration = Duration::from_secs(20);

/// What stands in every line that is not ours.
const MARK: &str = "~";

/// What one side writes, line by line.
struct Mouth(Receiver<Vec<u8>>, Vec<u8>);

impl Read for Mouth {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1.is_empty() {
            self.1 = self.0.recv().unwrap_or_default();
        }
        let length = buffer.len().min(self.1.len());
        buffer[..length].copy_from_slice(&self.1[..length]);
        self.1.drain(..length);
        Ok(length)
    }
}

/// What one side hears.
struct Ear(Sender<Vec<u8>>);

impl Write for Ear {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.send(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One side of a conversation.
struct Side {
    name: &'static str,
    says: Sender<Vec<u8>>,
    hears: Receiver<Vec<u8>>,
    half: Vec<u8>,
    /// What it heard.
    heard: Vec<Vec<u8>>,
    /// What it has to hear as it was written, in order; `false` for what may be answered on the way.
    due: Vec<(Vec<u8>, bool)>,
    /// What it must not hear as it was written.
    never: BTreeSet<Vec<u8>>,
    syncs: usize,
}

impl Side {
    fn pair(name: &'static str) -> (Self, Mouth, Ear) {
        let ((says, said), (told, hears)) = (mpsc::channel(), mpsc::channel());
        let side = Self {
            name,
            says,
            hears,
            half: Vec::new(),
            heard: Vec::new(),
            due: Vec::new(),
            never: BTreeSet::new(),
            syncs: 0,
        };
        (side, Mouth(said, Vec::new()), Ear(told))
    }

    fn say(&self, line: &str) {
        self.says.send(format!("{line}\n").into_bytes()).unwrap();
    }

    /// Hears everything up to this line; what of it is new.
    fn until(&mut self, last: &str) -> Result<Vec<Vec<u8>>, String> {
        let (last, from) = (format!("{last}\n").into_bytes(), self.heard.len());
        while self.heard.last() != Some(&last) {
            while let Some(end) = self.half.iter().position(|byte| *byte == b'\n') {
                let rest = self.half.split_off(end + 1);
                self.heard.push(std::mem::replace(&mut self.half, rest));
                if self.heard.last() == Some(&last) {
                    return Ok(self.heard[from..].to_vec());
                }
            }
            let told = self.hears.recv_timeout(PATIENCE);
            self.half.extend(told.map_err(|error| format!("{} hears nothing more: {error}", self.name))?);
        }
        Ok(self.heard[from..].to_vec())
    }

    /// What is wrong with what it heard: that something is missing, came twice, in another order or changed.
    fn amiss(&self) -> Option<String> {
        let text = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
        if let Some(line) = self.heard.iter().find(|line| self.never.contains(*line)) {
            return Some(format!("{} was not to hear {}", self.name, text(line)));
        }
        let mut due = self.due.iter();
        for line in self.heard.iter().filter(|line| text(line).contains(MARK)) {
            // A question to which a reason was added, and a request that waited for an answer of the user, are looked at elsewhere.
            if text(line).contains(ASKED) {
                continue;
            }
            loop {
                match due.next() {
                    Some((expected, _)) if expected == line => break,
                    Some((_, false)) => {}
                    Some((expected, true)) => {
                        return Some(format!(
                            "{} was to hear {} and heard {}",
                            self.name,
                            text(expected),
                            text(line)
                        ));
                    }
                    None => return Some(format!("{} heard too much: {}", self.name, text(line))),
                }
            }
        }
        let missing = due.find(|(_, is_due)| *is_due);
        missing.map(|(line, _)| format!("{} never heard {}", self.name, text(line)))
    }
}

/// A request that the editor has heard and not answered.
#[derive(Debug)]
struct Open {
    id: String,
    is_permission: bool,
    /// What it is about: the word that stands in no other call.
    tag: String,
    /// The ids of its choices.
    choices: Vec<String>,
}

/// A conversation.
struct Talk {
    dice: Dice,
    agent: Side,
    editor: Side,
    count: usize,
    open: Vec<Open>,
    /// What the agent asked with which id, and how often it is to be answered.
    asked: BTreeMap<String, String>,
    /// What the editor allowed.
    allowed: BTreeSet<String>,
    /// Requests of the editor that the agent has not answered.
    orders: Vec<String>,
    /// Answers that the editor gave twice.
    doubled: BTreeMap<String, usize>,
    is_over: bool,
}

/// A line, whether it has to arrive as it is, and whether some of what it says is looked at.
struct Step {
    line: String,
    is_due: bool,
    matters: bool,
}

impl Talk {
    fn number(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    fn meta(&mut self) -> &'static str {
        let deep = r#","_meta":{"a":[{"b":{"method":"fs/write_text_file","command":"rm"}}],"jsonrpc":"1.0"}"#;
        if self.dice.below(3) == 0 { deep } else { "" }
    }

    /// An id of the agent: the same number stands for two, as a number and as a text.
    fn id(&mut self, number: usize) -> String {
        match self.dice.below(5) {
            0 => format!("\"{}\"", number / 2),
            1 => format!("\"a{number}\""),
            2 => format!("-{number}"),
            _ => number.to_string(),
        }
    }

    fn word(&mut self) -> &'static str {
        self.dice.of(&["plain", "plain", ASKED, FORBIDDEN])
    }

    /// A request of the agent that is judged.
    fn request(&mut self) -> Step {
        let number = self.number();
        let (word, meta) = (self.word(), self.meta());
        let tag = format!("{word}-{number}");
        let mut id = self.id(number);
        while self.asked.contains_key(&id) {
            id = format!("\"again {number}\"");
        }
        let session = self.dice.of(&["s1", "s1", "s2"]);
        let (method, params) = match self.dice.below(4) {
            0 => ("fs/write_text_file", json!({ "path": format!("/w/{tag}"), "content": "x" })),
            1 => ("terminal/create", json!({ "command": tag, "args": ["-x"] })),
            2 if self.dice.below(2) == 0 => ("fs/read_text_file", json!({ "path": format!("/w/{tag}") })),
            _ => {
                let command =
                    if self.dice.below(2) == 0 { format!("npm test --t={tag}") } else { tag.clone() };
                let call = json!({ "toolCallId": tag, "kind": "execute", "title": "t", "rawInput": { "command": command } });
                let mut options = Vec::new();
                for kind in ["allow_always", "allow_once", "reject_once", "allow_for_this_project"] {
                    if self.dice.below(4) > 0 {
                        options.push(json!({ "optionId": format!("{kind}-id"), "name": kind, "kind": kind }));
                    }
                }
                ("session/request_permission", json!({ "toolCall": call, "options": options }))
            }
        };
        let mut params = params;
        params["sessionId"] = json!(session);
        params["mark"] = json!(MARK);
        let params = params.to_string();
        let params = format!("{}{meta}}}", params.strip_suffix('}').unwrap());
        self.asked.insert(id.clone(), tag);
        Step {
            line: format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}"),
            // A permission may be answered by what the user allowed for good.
            is_due: word == "plain" && method != "session/request_permission",
            matters: true,
        }
    }

    /// Something of the agent that nobody judges before it passes.
    fn notice(&mut self) -> Step {
        let number = self.number();
        let (word, meta) = (self.dice.of(&["plain", FORBIDDEN]), self.meta());
        let status = self.dice.of(&["pending", "in_progress", "completed", "failed"]);
        let session = self.dice.of(&["s1", "s2", "unknown"]);
        let known = self.asked.values().next_back().cloned().unwrap_or_default();
        let call = if self.dice.below(2) == 0 { known } else { format!("call-{number}") };
        // The word that has a request looked at elsewhere stands in none of these.
        let call = call.replace(ASKED, "told");
        let (line, matters) = match self.dice.below(7) {
            0 => (
                format!(
                    "{{\"method\":\"session/update\",\"params\":{{\"sessionId\":\"{session}\",\"update\":{{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"{call}\",\"kind\":\"execute\",\"status\":\"{status}\",\"title\":\"{MARK}{number}\",\"rawInput\":{{\"command\":\"{word}\"}}{meta}}}}}}}"
                ),
                true,
            ),
            1 => (
                format!(
                    "{{\"method\":\"session/update\",\"params\":{{\"sessionId\":\"{session}\",\"update\":{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"type\":\"text\",\"text\":\"{MARK}{number} {word}\"}}}}}}}}"
                ),
                true,
            ),
            2 => (format!("{{\"method\":\"x/{MARK}{number}\",\"params\":{{\"a\":1{meta}}}}}"), false),
            3 => (
                format!(
                    "{{\"id\":\"x{number}\",\"method\":\"x/{MARK}\",\"params\":{{\"text\":\"{word}\"{meta}}}}}"
                ),
                false,
            ),
            // An answer to nothing.
            4 => (format!("{{\"id\":\"nothing {number}\",\"result\":{{\"mark\":\"{MARK}\"}}}}"), false),
            5 => (
                format!(
                    "{{\"id\":\"t{number}\",\"method\":\"terminal/output\",\"params\":{{\"sessionId\":\"{session}\",\"terminalId\":\"{MARK}\"}}}}"
                ),
                true,
            ),
            _ => match self.orders.pop() {
                Some(id) => (
                    format!("{{\"id\":{id},\"result\":{{\"stopReason\":\"end_turn\",\"mark\":\"{MARK}\"}}}}"),
                    true,
                ),
                None => (format!("{{\"method\":\"y/{MARK}{number}\"}}"), false),
            },
        };
        Step { line, is_due: true, matters }
    }

    /// The agent takes back a request, which may wait, be answered or never have been.
    fn withdrawal(&mut self) -> Step {
        let ids: Vec<String> = self.asked.keys().cloned().collect();
        let id = if ids.is_empty() { "7".to_owned() } else { ids[self.dice.below(ids.len())].clone() };
        let line = format!(
            "{{\"method\":\"$/cancel_request\",\"params\":{{\"requestId\":{id},\"mark\":\"{MARK}\"}}}}"
        );
        Step { line, is_due: false, matters: true }
    }

    fn agent_speaks(&mut self) {
        let mut steps = Vec::new();
        for _ in 0..=self.dice.below(4) {
            steps.push(match self.dice.below(8) {
                0..4 => self.request(),
                4 => self.withdrawal(),
                _ => self.notice(),
            });
        }
        let is_batch = steps.len() > 1 && self.dice.below(3) == 0;
        let lines: Vec<String> = steps.iter().map(|step| step.line.clone()).collect();
        // Several messages in one line come one by one where any of them is looked at.
        if is_batch {
            let whole = format!("[{}]", lines.join(","));
            self.agent.say(&whole);
            if !steps.iter().any(|step| step.matters) {
                self.editor.due.push((format!("{whole}\n").into_bytes(), true));
                return;
            }
        }
        for step in steps {
            if !is_batch {
                self.agent.say(&step.line);
            }
            self.editor.due.push((format!("{}\n", step.line).into_bytes(), step.is_due));
        }
    }

    /// Takes up what the editor heard; what it must not have heard.
    fn heard(&mut self, lines: &[Vec<u8>]) -> Result<(), String> {
        for line in lines {
            let Ok(message) = serde_json::from_slice::<Json>(line) else { continue };
            let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else { continue };
            let params = &message["params"];
            let is_permission = method == "session/request_permission";
            if !is_permission && !method.starts_with("fs/") && method != "terminal/create" {
                continue;
            }
            let what = if is_permission { params["toolCall"].to_string() } else { params.to_string() };
            if what.contains(FORBIDDEN) {
                return Err(format!("it passed: {message}"));
            }
            let word = |part: &str| part.starts_with("plain-") || part.starts_with("asked-");
            let parts =
                |text: &str| text.split(['/', '"', ' ', '=']).find(|part| word(part)).map(str::to_owned);
            let Some(tag) = parts(&what) else { return Err(format!("nobody said that: {message}")) };
            if tag.starts_with(ASKED) && !is_permission && !self.allowed.contains(&tag) {
                return Err(format!("nobody allowed it: {message}"));
            }
            let of = |option: &Json| option["optionId"].as_str().unwrap_or_default().to_owned();
            let choices = params["options"].as_array().map(|all| all.iter().map(of).collect());
            self.open.push(Open {
                id: id.to_string(),
                is_permission,
                tag,
                choices: choices.unwrap_or_default(),
            });
        }
        Ok(())
    }

    /// An answer of the editor to one of the requests that it heard.
    fn answer(&mut self, open: &Open) -> Step {
        let ours = open.id.starts_with("\"checkrein-");
        let id = &open.id;
        if !open.is_permission {
            let line = match self.dice.below(3) {
                0 => format!("{{\"id\":{id},\"error\":{{\"code\":-1,\"message\":\"{MARK}\"}}}}"),
                1 => format!("{{\"id\":{id},\"result\":{{\"terminalId\":\"{MARK}\"}}}}"),
                _ => format!("{{\"id\":{id},\"result\":{{\"content\":\"{MARK}\"}}}}"),
            };
            return Step { line, is_due: true, matters: true };
        }
        let choices = open.choices.clone();
        let offers_once = choices.iter().any(|choice| choice == "allow_once-id");
        let chosen = match (self.dice.below(6), choices.is_empty()) {
            (0, _) | (_, true) => "nothing of that".to_owned(),
            _ => choices[self.dice.below(choices.len())].clone(),
        };
        let chosen_json = json!(chosen);
        let outcome = match self.dice.below(8) {
            0 => format!("{{\"outcome\":\"cancelled\",\"mark\":\"{MARK}\",\"optionId\":{chosen_json}}}"),
            1 => format!(
                "{{\"outcome\":\"selected\",\"mark\":\"{MARK}\",\"optionId\":\"reject_once-id\",\"optionId\":{chosen_json}}}"
            ),
            _ => format!("{{\"outcome\":\"selected\",\"mark\":\"{MARK}\",\"optionId\":{chosen_json}}}"),
        };
        let is_cancelled = outcome.contains("cancelled");
        let is_twofold = outcome.matches("optionId").count() > 1;
        let is_lasting = chosen.starts_with("allow_always") || chosen.starts_with("allow_for");
        if !is_cancelled && !is_twofold && (chosen.starts_with("allow")) {
            self.allowed.insert(open.tag.clone());
        }
        let changes = is_twofold || !is_cancelled && is_lasting && offers_once;
        Step {
            line: format!("{{\"id\":{id},\"result\":{{\"outcome\":{outcome}}}}}"),
            is_due: !ours && !changes,
            matters: true,
        }
    }

    fn editor_speaks(&mut self) {
        let mut steps = Vec::new();
        let all = if self.is_over { self.open.len() } else { self.dice.below(self.open.len() + 1) };
        for _ in 0..all {
            let open = self.open.remove(self.dice.below(self.open.len()));
            let step = self.answer(&open);
            if step.is_due && self.dice.below(10) == 0 {
                // Once more, for which nothing waits any more.
                *self.doubled.entry(open.id.clone()).or_default() += 1;
                steps.push(Step { line: step.line.clone(), is_due: true, matters: false });
            }
            steps.push(step);
        }
        let number = self.number();
        let session = self.dice.of(&["s1", "s2"]);
        match self.dice.below(7) {
            0 if !self.is_over => {
                let id = format!("\"order {number}\"");
                let line = format!(
                    "{{\"id\":{id},\"method\":\"session/prompt\",\"params\":{{\"sessionId\":\"{session}\",\"prompt\":[{{\"type\":\"text\",\"text\":\"{MARK}\"}}]}}}}"
                );
                self.orders.push(id);
                steps.push(Step { line, is_due: true, matters: true });
            }
            1 => {
                let line = format!(
                    "{{\"method\":\"session/cancel\",\"params\":{{\"sessionId\":\"{session}\",\"mark\":\"{MARK}\"}}}}"
                );
                steps.push(Step { line, is_due: true, matters: true });
            }
            2 => {
                let line = format!(
                    "{{\"id\":\"mode {number}\",\"method\":\"session/set_mode\",\"params\":{{\"sessionId\":\"{session}\",\"modeId\":\"{MARK}\"}}}}"
                );
                steps.push(Step { line, is_due: true, matters: true });
            }
            3 => {
                let line = format!("{{\"id\":\"stray {number}\",\"result\":{{\"mark\":\"{MARK}\"}}}}");
                steps.push(Step { line, is_due: true, matters: false });
            }
            4 => {
                let line = format!(
                    "{{\"id\":{number},\"method\":\"y/{MARK}\",\"params\":{{\"method\":\"session/prompt\"}}}}"
                );
                steps.push(Step { line, is_due: true, matters: false });
            }
            _ => {}
        }
        for step in steps {
            self.editor.say(&step.line);
            // A lasting yes, one of two things, and an answer to a question of ours are for us alone.
            if !step.is_due {
                self.agent.never.insert(format!("{}\n", step.line).into_bytes());
            }
            self.agent.due.push((format!("{}\n", step.line).into_bytes(), step.is_due));
        }
    }

    /// Two sessions begin.
    fn open(&mut self) -> Result<(), String> {
        for session in ["s1", "s2"] {
            let asked = format!(
                "{{\"id\":\"open {session}\",\"method\":\"session/new\",\"params\":{{\"cwd\":\"/w/{MARK}\"}}}}"
            );
            self.editor.say(&asked);
            self.agent.due.push((format!("{asked}\n").into_bytes(), true));
            self.agent.until(&asked)?;
            let made = format!(
                "{{\"id\":\"open {session}\",\"result\":{{\"sessionId\":\"{session}\",\"mark\":\"{MARK}\"}}}}"
            );
            self.agent.say(&made);
            self.editor.due.push((format!("{made}\n").into_bytes(), true));
        }
        Ok(())
    }

    /// Both sides hear what was said so far.
    fn settle(&mut self) -> Result<(), String> {
        self.agent.syncs += 1;
        let sync = format!("{{\"method\":\"sync/{MARK}\",\"params\":{{\"n\":{}}}}}", self.agent.syncs);
        self.agent.say(&sync);
        self.editor.due.push((format!("{sync}\n").into_bytes(), true));
        let heard = self.editor.until(&sync)?;
        self.heard(&heard)?;
        self.editor_speaks();
        self.editor.say(&sync);
        self.agent.due.push((format!("{sync}\n").into_bytes(), true));
        self.agent.until(&sync)?;
        Ok(())
    }

    /// How often each request of the agent was answered.
    fn answers(&self) -> BTreeMap<String, usize> {
        let mut all = BTreeMap::new();
        for line in &self.agent.heard {
            let Ok(message) = serde_json::from_slice::<Json>(line) else { continue };
            if message.get("method").is_none()
                && let Some(id) = message.get("id")
            {
                *all.entry(id.to_string()).or_default() += 1;
            }
        }
        all
    }
}

/// One conversation; what is wrong with it.
fn converse(seed: u64) -> Result<(), String> {
    let (agent, from_agent, to_agent) = Side::pair("the agent");
    let (editor, from_editor, to_editor) = Side::pair("the editor");
    let ends = Ends {
        from_editor: Box::new(from_editor),
        to_editor: Box::new(to_editor),
        from_agent: Box::new(from_agent),
        to_agent: Box::new(to_agent),
    };
    let cwd = AbsolutePath::new("/w").unwrap();
    let proxy =
        Proxy::start(ends, Arc::new(WordJudge), cwd, Arc::new(|_| {})).map_err(|error| error.to_string())?;
    let mut talk = Talk {
        dice: Dice::new(seed),
        agent,
        editor,
        count: 0,
        open: Vec::new(),
        asked: BTreeMap::new(),
        allowed: BTreeSet::new(),
        orders: Vec::new(),
        doubled: BTreeMap::new(),
        is_over: false,
    };
    talk.open()?;
    for _ in 0..ROUNDS {
        talk.agent_speaks();
        talk.settle()?;
    }
    // Everything is answered in the end. What waited for an answer of the user comes by then.
    talk.is_over = true;
    for _ in 0..3 {
        talk.settle()?;
    }
    if let Some(amiss) = talk.editor.amiss().or_else(|| talk.agent.amiss()) {
        return Err(amiss);
    }
    let answers = talk.answers();
    for (id, tag) in &talk.asked {
        let (found, doubled) =
            (answers.get(id).copied().unwrap_or(0), talk.doubled.get(id).copied().unwrap_or(0));
        if found != 1 + doubled {
            return Err(format!(
                "{id}, about {tag}, was answered {found} times, {doubled} of them twice by the editor"
            ));
        }
    }
    let Talk { agent, editor, .. } = talk;
    drop((agent.says, editor.says));
    let started = Instant::now();
    while !proxy.is_silent() {
        if started.elapsed() > PATIENCE {
            return Err("it does not end".to_owned());
        }
        std::thread::sleep(Duration::from_micros(50));
    }
    proxy.finish();
    Ok(())
}

#[test]
fn conversations_in_any_order_pass_nothing_unjudged_and_answer_each_request_once() {
    let took = so_often(CONVERSATIONS, converse);
    println!("{CONVERSATIONS} conversations in {:.2} s", took.as_secs_f64());
    assert!(took < TIME, "{took:?}");
}
