//! Made up conversations between a client and its MCP server, step by step: each side answers what it really heard, in any order, and some of what
//! it never heard. What each side may hear is known at every step.
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
use std::time::Duration;

use checkrein_gateway::{Relay, Sent};
use checkrein_testkit::dice::{Dice, so_often};
use serde_json::{Value as Json, json};
use support::{ASKED, FORBIDDEN, TOKEN, WordReviewer};

/// How many conversations are made up.
const CONVERSATIONS: u64 = 1_000;

/// How many steps one has.
const STEPS: usize = 24;

/// How long they may take together, on a machine with much else to do.
const TIME: Duration = Duration::from_mins(1);

/// A conversation.
struct Talk {
    dice: Dice,
    relay: Relay<WordReviewer>,
    count: usize,
    /// Calls of the client by their ids, with their words.
    calls: BTreeMap<String, String>,
    /// Calls that the server heard and has not answered.
    open: Vec<String>,
    /// Questions that the client heard, with the word of the call.
    questions: Vec<(String, String)>,
    allowed: BTreeSet<String>,
    /// How often the client heard an answer to each id.
    answers: BTreeMap<String, usize>,
    /// What was written by the side that speaks, as far as it has to arrive as it is.
    due: Vec<Vec<u8>>,
}

/// Who speaks.
#[derive(Clone, Copy, PartialEq)]
enum Speaker {
    Client,
    Server,
}

impl Talk {
    fn number(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    /// One line of a side; what is wrong with what comes of it.
    fn say(&mut self, speaker: Speaker, text: &str) -> Result<(), String> {
        let line = format!("{text}\n").into_bytes();
        let sent = match speaker {
            Speaker::Client => self.relay.from_client(&line),
            Speaker::Server => self.relay.from_server(&line),
        };
        let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
        for one in sent {
            match one {
                Sent::ToServer(line) => to_server.push(line.into_owned()),
                Sent::ToClient(line) => to_client.push(line.into_owned()),
                Sent::Remark(_) => {}
            }
        }
        if !self.due.is_empty() {
            let heard =
                if speaker == Speaker::Client { (&to_server, &to_client) } else { (&to_client, &to_server) };
            if *heard.0 != self.due || !heard.1.is_empty() {
                return Err(format!(
                    "it was to pass as it is, and became {to_server:?} {to_client:?}: {text}"
                ));
            }
            self.due.clear();
        }
        for line in &to_server {
            for message in messages(line) {
                self.server_hears(&message)?;
            }
        }
        for line in &to_client {
            for message in messages(line) {
                self.client_hears(&message)?;
            }
        }
        Ok(())
    }

    fn server_hears(&mut self, message: &Json) -> Result<(), String> {
        if message["method"] != "tools/call" {
            return Ok(());
        }
        let word = message["params"]["arguments"]["a"].as_str().unwrap_or_default();
        if word.starts_with(FORBIDDEN) || word.starts_with(ASKED) && !self.allowed.remove(word) {
            return Err(format!("it passed: {message}"));
        }
        self.open.extend(message.get("id").map(Json::to_string));
        Ok(())
    }

    fn client_hears(&mut self, message: &Json) -> Result<(), String> {
        if message.to_string().contains(TOKEN) {
            return Err(format!("a secret passed: {message}"));
        }
        let id = message.get("id").map(Json::to_string).unwrap_or_default();
        if message["method"] == "elicitation/create" && id.starts_with("\"checkrein-") {
            let said = message["params"]["message"].as_str().unwrap_or_default();
            let word = said.split('"').find(|part| part.starts_with(ASKED)).unwrap_or_default();
            self.questions.push((id, word.to_owned()));
        } else if message.get("method").is_none() {
            *self.answers.entry(id).or_default() += 1;
        }
        Ok(())
    }

    fn call(&mut self) -> String {
        let number = self.number();
        let word = format!("{}-{number}", self.dice.of(&["plain", "plain", ASKED, FORBIDDEN]));
        let id = match self.dice.below(3) {
            0 => format!("\"c{number}\""),
            1 => format!("\"{number}\""),
            _ => number.to_string(),
        };
        let meta = match self.dice.below(3) {
            0 => r#","_meta":{"deep":[{"method":"tools/call","params":{"name":"t"}}],"progressToken":1}"#,
            _ => "",
        };
        self.calls.insert(id.clone(), word.clone());
        format!(
            "{{\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"t\",\"arguments\":{{\"a\":\"{word}\"}}{meta}}}}}"
        )
    }

    fn client_step(&mut self) -> Result<(), String> {
        let number = self.number();
        match self.dice.below(9) {
            0..3 => {
                let call = self.call();
                self.say(Speaker::Client, &call)
            }
            3 => {
                let all: Vec<String> = (0..=self.dice.below(3)).map(|_| self.call()).collect();
                self.say(Speaker::Client, &format!("[{{\"method\":\"x\"}},{}]", all.join(",")))
            }
            4..6 if !self.questions.is_empty() => {
                let (id, word) = self.questions.remove(self.dice.below(self.questions.len()));
                let result = match self.dice.below(5) {
                    0 => "{\"action\":\"decline\"}",
                    1 => "{\"action\":\"decline\",\"action\":\"accept\",\"content\":{\"allow\":true}}",
                    2 => "{\"action\":\"accept\",\"content\":{\"allow\":\"true\"}}",
                    _ => "{\"action\":\"accept\",\"content\":{\"allow\":true}}",
                };
                if result == "{\"action\":\"accept\",\"content\":{\"allow\":true}}" {
                    self.allowed.insert(word);
                }
                let answer = format!("{{\"id\":{id},\"result\":{result}}}");
                let is_batch = self.dice.below(3) == 0 && !result.contains("decline\",");
                self.say(
                    Speaker::Client,
                    &if is_batch { format!("[{{\"method\":\"x\"}},{answer}]") } else { answer },
                )
            }
            6 => {
                // It takes back a call, which may wait, be open, answered or never have been.
                let ids: Vec<String> = self.calls.keys().cloned().collect();
                let id =
                    if ids.is_empty() { "7".to_owned() } else { ids[self.dice.below(ids.len())].clone() };
                let line =
                    format!("{{\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}");
                self.say(Speaker::Client, &line)?;
                // Nobody answers what was taken back before the server had it.
                if let Some(word) = self.calls.get(&id).cloned().filter(|word| word.starts_with(ASKED)) {
                    let waited = self.questions.iter().any(|(_, asked)| *asked == word);
                    self.questions.retain(|(_, asked)| *asked != word);
                    if waited {
                        *self.answers.entry(id).or_default() += 1;
                    }
                }
                Ok(())
            }
            7 => {
                let line = format!("{{\"id\":\"stray{number}\",\"result\":{{\"content\":[]}}}}");
                self.due.push(format!("{line}\n").into_bytes());
                self.say(Speaker::Client, &line)
            }
            _ => {
                let line = format!(
                    "{{\"id\":\"x{number}\", \"method\":\"x/y\",\"params\":{{\"method\":\"tools/call\",\"arguments\":\"forbidden\"}}}}"
                );
                self.due.push(format!("{line}\n").into_bytes());
                self.say(Speaker::Client, &line)
            }
        }
    }

    fn server_step(&mut self) -> Result<(), String> {
        let number = self.number();
        let told = |id: &str, text: &str| {
            format!("{{\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}")
        };
        match self.dice.below(8) {
            0..4 if !self.open.is_empty() => {
                let id = self.open.remove(self.dice.below(self.open.len()));
                let text = *self.dice.of(&[&"fine", &TOKEN]);
                let answer = told(&id, text);
                let is_batch = self.dice.below(3) == 0;
                self.say(
                    Speaker::Server,
                    &if is_batch { format!("[{{\"method\":\"x\"}},{answer}]") } else { answer },
                )
            }
            4 => {
                // An answer to a call that it never heard: its id is easily guessed.
                let next = self.count + 1 + self.dice.below(3);
                self.say(Speaker::Server, &told(&next.to_string(), TOKEN))?;
                self.answers.remove(&next.to_string());
                let waits = self.questions.first().map(|(_, word)| word.clone());
                let id = self
                    .calls
                    .iter()
                    .find(|(_, word)| waits.as_ref() == Some(*word))
                    .map(|(id, _)| id.clone());
                if let Some(id) = id {
                    let before = self.answers.clone();
                    self.say(Speaker::Server, &told(&id, "fine"))?;
                    if self.answers != before {
                        return Err(format!("the server answered {id}, which it never got"));
                    }
                }
                Ok(())
            }
            5 => {
                let line = format!(
                    "{{\"method\":\"notifications/progress\", \"params\":{{\"progress\":{number}}}}}"
                );
                self.due.push(format!("{line}\n").into_bytes());
                self.say(Speaker::Server, &line)
            }
            6 => {
                let line = format!(
                    "{{\"id\":{number}, \"method\":\"roots/list\",\"params\":{{\"_meta\":{{\"result\":1}}}}}}"
                );
                self.due.push(format!("{line}\n").into_bytes());
                self.say(Speaker::Server, &line)
            }
            _ => {
                let line = format!("{{\"id\":\"s{number}\", \"result\":{{}}}}");
                self.due.push(format!("{line}\n").into_bytes());
                self.say(Speaker::Server, &line)
            }
        }
    }
}

fn messages(line: &[u8]) -> Vec<Json> {
    match serde_json::from_slice(line) {
        Ok(Json::Array(all)) => all,
        Ok(one) => vec![one],
        Err(_) => Vec::new(),
    }
}

/// One conversation; what is wrong with it.
fn converse(seed: u64) -> Result<(), String> {
    let mut talk = Talk {
        dice: Dice::new(seed),
        relay: Relay::new(WordReviewer, "s"),
        count: 0,
        calls: BTreeMap::new(),
        open: Vec::new(),
        questions: Vec::new(),
        allowed: BTreeSet::new(),
        answers: BTreeMap::new(),
        due: Vec::new(),
    };
    let shows =
        json!({ "id": "init", "method": "initialize", "params": { "capabilities": { "elicitation": {} } } });
    if !seed.is_multiple_of(4) {
        talk.say(Speaker::Client, &shows.to_string())?;
    }
    for _ in 0..STEPS {
        if talk.dice.below(2) == 0 { talk.client_step()? } else { talk.server_step()? }
    }
    // Everything is answered in the end.
    while let Some((id, _)) = talk.questions.pop() {
        talk.say(Speaker::Client, &format!("{{\"id\":{id},\"result\":{{\"action\":\"cancel\"}}}}"))?;
    }
    while let Some(id) = talk.open.pop() {
        talk.say(Speaker::Server, &format!("{{\"id\":{id},\"result\":{{\"content\":[]}}}}"))?;
    }
    let wrong = talk.calls.iter().find(|(id, _)| talk.answers.get(*id) != Some(&1));
    match wrong {
        Some((id, word)) => Err(format!("{id}, about {word}, was answered {:?} times", talk.answers.get(id))),
        None => Ok(()),
    }
}

#[test]
fn conversations_in_any_order_pass_no_refused_call_and_answer_each_call_once() {
    let took = so_often(CONVERSATIONS, converse);
    println!("{CONVERSATIONS} conversations in {:.2} s", took.as_secs_f64());
    assert!(took < TIME, "{took:?}");
}
