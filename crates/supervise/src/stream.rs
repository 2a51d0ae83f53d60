//! What a client says about itself while it works: the lines of Claude Code and Qwen Code (`--output-format stream-json`), Codex
//! (`exec --json`), Gemini CLI, and those of OpenCode, Droid and Copilot CLI.
//!
//! Nothing is changed and nothing held back; this only listens. Lines of other forms, and of other programs, say nothing. What is spent never
//! goes down, and what cannot be counted is known to be uncounted ([`RunProgress::uncounted`]).

mod codex;
mod count;
mod further;
mod gemini;

use std::collections::VecDeque;

use checkrein_clients::{Priced, Prices};
use checkrein_protocol::TokenCounts;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::event_queue::{EventSender, StreamEvent, of_row};
use crate::failure::ProviderError;
use crate::runs::HookStop;
use codex::Turn;
use count::Uncounted;
use further::Steps;
use gemini::Answering;

/// The longest line that is read, in bytes; a longer one is passed on unread, which is counted.
const LONGEST: usize = 8 << 20;

/// What is known of a client's work so far.
#[derive(Debug, Clone, Default)]
pub struct RunProgress {
    /// The client's name for its session.
    pub session: Option<String>,
    /// The model that answered last.
    pub model: Option<String>,
    /// Tokens of all answers.
    pub tokens: TokenCounts,
    /// How much was sent with the last call of the model.
    pub last_sent: u64,
    /// Cost by our prices.
    pub cost: f64,
    /// The first model that is not listed, and what it is counted as; `None` while all are.
    pub estimated: Option<Estimate>,
    /// What a million new tokens of the next call cost; `None` when there was no call.
    pub next_price: Option<f64>,
    /// The highest cost that the client itself has told.
    pub told_cost: Option<f64>,
    /// Why tokens, cost or answers are not all that there were: the first reason, in words. `None` when all were counted.
    pub uncounted: Option<String>,
    /// Whether the client is one that never tells its tokens.
    pub tells_no_tokens: bool,
    /// Whether a turn did something and has not told its tokens yet: until then they are counted by what it holds.
    pub untold_turn: bool,
    /// Answers of the model, or steps where the client does not tell them apart.
    pub iterations: u64,
    /// Whether the model will be called once more, as far as its last answer tells.
    pub goes_on: bool,
    /// What the model said last in words.
    pub said: String,
    /// Lines that were too long to be read.
    pub unread: u64,
    /// Why the hooks of the client want it to end.
    pub hook_stop: Option<HookStop>,
    /// The last thing that went wrong with the provider, unless an answer came after it.
    pub error: Option<ProviderError>,
    /// What its error stream ended with, where that names an error of a provider; known at the end.
    pub error_aside: Option<ProviderError>,
}

/// How a model that is not listed is counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    /// The model, as the client calls it.
    pub model: String,
    /// The name in the list of prices.
    pub like: String,
}

impl RunProgress {
    /// The cost as well as it is known: the client's own number where it is higher.
    pub fn dollars(&self) -> f64 {
        self.told_cost.map_or(self.cost, |told| told.max(self.cost))
    }

    /// Why it is not known what the client spent, when it told of a session or of a turn and never of the tokens; in words.
    pub fn untold(&self) -> Option<&'static str> {
        if self.error.is_some() {
            return None;
        }
        if self.untold_turn {
            return Some("its last turn never told its tokens");
        }
        let told = self.tokens != TokenCounts::default() || self.told_cost.is_some() || self.cost > 0.0;
        let is_heard = self.session.is_some() || self.tells_no_tokens;
        (is_heard && !told).then_some("the client told of its session and never of tokens")
    }

    fn doubt(&mut self, why: Uncounted) {
        self.uncounted.get_or_insert(why.0);
    }

    fn used(&mut self, model: Option<&str>, tokens: TokenCounts, prices: &Prices) {
        if let Some(model) = model {
            self.model = Some(model.to_owned());
        }
        self.tokens = self.tokens.plus(&tokens);
        self.last_sent = tokens.sent();
        if tokens == TokenCounts::default() {
            return;
        }
        let model = self.model.as_deref().unwrap_or_default();
        self.next_price = Some(
            prices.cost(model, &TokenCounts { input: 1_000_000, ..TokenCounts::default() }).cost.dollars(),
        );
        let Priced { cost, like } = prices.cost(model, &tokens);
        if let Some(like) = like {
            self.estimated.get_or_insert(Estimate { model: model.to_owned(), like });
        }
        self.cost += cost.dollars();
    }
}

/// An answer of Claude.
#[derive(Debug)]
struct Answer {
    name: String,
    /// What was counted of it.
    counted: TokenCounts,
    /// How many bytes it has written so far.
    written: u64,
}

/// How many bytes of an answer are at least one token (ours). The client reports an answer while it is still being written, and its count
/// of the output is then that of the beginning. What is really used comes with the transcript or at the end.
const BYTES_OF_A_TOKEN: u64 = 4;

/// Listens to a stream of bytes.
#[derive(Debug)]
pub struct StreamParser {
    progress: RunProgress,
    line: Vec<u8>,
    skips: bool,
    /// The last answers of Claude: those of sub-agents come between.
    answers: VecDeque<Answer>,
    prices: Prices,
    speaker: Option<EventSender>,
    /// Calls of Codex that began, the newest.
    begun: VecDeque<String>,
    /// Its turn.
    turn: Turn,
    /// What was counted of a run of Droid or Gemini CLI.
    steps: Steps,
    /// The answer of Gemini CLI.
    answering: Answering,
    /// The name and the model of the answer of Claude that is being written, where it is told part by part.
    writing: Option<(String, Json)>,
}

/// The model of messages that Claude Code made up itself, to show an error.
const MADE_UP: &str = "<synthetic>";

/// How many answers are remembered until their last row (ours).
const ANSWERS: usize = 64;

/// How Codex is counted where nothing says its model.
const CODEX: &str = "gpt";

impl StreamParser {
    /// One that has heard nothing, and counts with these prices.
    pub fn new(prices: Prices) -> Self {
        Self {
            progress: RunProgress::default(),
            line: Vec::new(),
            skips: false,
            answers: VecDeque::new(),
            prices,
            speaker: None,
            begun: VecDeque::new(),
            turn: Turn::default(),
            steps: Steps::default(),
            answering: Answering::default(),
            writing: None,
        }
    }

    /// The same, and calls and their answers are told on.
    #[must_use]
    pub fn telling(mut self, speaker: Option<EventSender>) -> Self {
        self.speaker = speaker;
        self
    }

    /// The same, and answers that do not say their model are those of this one.
    #[must_use]
    pub fn assuming(mut self, model: Option<String>) -> Self {
        self.progress.model = model;
        self
    }

    /// What is known so far.
    pub fn progress(&self) -> &RunProgress {
        &self.progress
    }

    /// Some more bytes. Returns whether something became known.
    pub fn hear(&mut self, bytes: &[u8]) -> bool {
        let mut learned = false;
        // Neither of the two stands inside of JSON.
        for part in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            if self.line.len() + part.len() > LONGEST && !self.skips {
                self.skips = true;
                learned |= self.skip(part);
            }
            if !self.skips {
                self.line.extend_from_slice(part);
            }
            if part.ends_with(b"\n") || part.ends_with(b"\r") {
                learned |= self.end_line();
            }
        }
        learned
    }

    /// There is nothing more to hear: what has no end of a line is a line all the same. Returns whether something became known.
    pub fn finish(&mut self) -> bool {
        self.end_line()
    }

    fn end_line(&mut self) -> bool {
        let skipped = std::mem::take(&mut self.skips);
        let line = std::mem::take(&mut self.line);
        let learned = !skipped && self.read(&line);
        self.line = line;
        self.line.clear();
        learned
    }

    /// A line is too long. Results of tools count nothing, so only others are missed.
    fn skip(&mut self, part: &[u8]) -> bool {
        self.progress.unread += 1;
        let line = if self.line.is_empty() { part } else { self.line.as_slice() };
        let (start, head) = beginning(line);
        if matches!(start, Some(b'{' | b'[')) && kind(head) != Some(b"user") {
            self.progress.doubt(Uncounted(format!("a line was longer than {} MiB", LONGEST >> 20)));
        }
        self.line.clear();
        true
    }

    fn read(&mut self, line: &[u8]) -> bool {
        let (start, head) = beginning(line);
        if !matches!(start, Some(b'{' | b'[')) {
            return false;
        }
        // Looked at before it is parsed: most of a stream is none of what counts.
        match kind(head) {
            // Only answers of tools, which are long, and for others to read.
            Some(b"user") => {
                if let Some(speaker) = &self.speaker {
                    speaker.say_row(line);
                }
                return false;
            }
            // Parts of what is written. What begins or ends is told seldom, and read.
            Some(b"stream_event") if begins_with(line, b"content_block_delta") => return false,
            Some(b"item.started") if self.speaker.is_none() => return false,
            Some(_) | None => {}
        }
        let Some(value) = count::parse(line) else {
            let is_told = self.progress.session.is_some() || self.progress.iterations > 0;
            if is_told || line.windows(5).any(|word| word == b"usage") {
                self.progress.doubt(Uncounted("a line of its stream is no JSON".to_owned()));
            }
            return is_told;
        };
        match value {
            Json::Array(rows) => {
                let mut learned = false;
                for row in &rows {
                    learned |= self.row(row, line);
                }
                learned
            }
            row => self.row(&row, line),
        }
    }

    fn row(&mut self, row: &Json, line: &[u8]) -> bool {
        if Self::is_of_gemini(row) {
            self.of_gemini(row, line.len());
            return true;
        }
        match row["type"].as_str() {
            Some("user") => {
                if let Some(speaker) = &self.speaker {
                    speaker.say_row(line);
                }
                return false;
            }
            Some("assistant") => {
                self.assistant(&row["message"]);
                self.tell(row, line.len());
            }
            Some("stream_event") => return self.part(&row["event"], line),
            Some("result") if row["sessionId"].is_null() => self.result(row),
            Some("system") => self.system(row, line.len()),
            Some("thread.started") => self.begin(&row["thread_id"]),
            Some("turn.completed") => self.turn(&row["usage"]),
            Some("item.started") => self.item_begins(&row["item"], line.len()),
            Some("item.updated") => self.item_changes(&row["item"]),
            Some("item.completed") => self.item(&row["item"], line.len()),
            Some("turn.started") => self.turn_begins(),
            Some("turn.failed") => {
                self.turn_fails();
                self.failed(&row["error"]["message"]);
            }
            Some("error") if row["error"].is_null() => self.failed(&row["message"]),
            _ => return self.further(row, line.len()),
        }
        true
    }

    /// A part of an answer of Claude while it is being written; its beginning tells what was sent. What is none of these counts as a row.
    fn part(&mut self, event: &Json, line: &[u8]) -> bool {
        match event["type"].as_str() {
            Some("message_start") => {
                let message = &event["message"];
                let name = message["id"].as_str().filter(|name| !name.is_empty());
                self.writing = name.map(|name| (name.to_owned(), message["model"].clone()));
                let is_counted = count::of_claude(&event["message"]["usage"]).is_ok();
                if is_counted {
                    self.assistant(&event["message"]);
                }
                is_counted
            }
            // Its end tells what was written.
            Some("message_delta") => {
                let usage = &event["usage"];
                let Some((name, model)) = self.writing.clone() else { return false };
                let is_counted = count::of_claude(usage).is_ok();
                if is_counted {
                    self.assistant(&json!({ "id": name, "model": model, "usage": usage }));
                }
                is_counted
            }
            Some(
                "message_stop"
                | "content_block_start"
                | "content_block_delta"
                | "content_block_stop"
                | "ping"
                | "error",
            )
            | None => false,
            Some(_) => self.row(event, line),
        }
    }

    fn failed(&mut self, message: &Json) {
        self.progress.error = Some(ProviderError::of_message(message.as_str().unwrap_or_default()));
    }

    fn system(&mut self, row: &Json, length: usize) {
        self.begin(&row["session_id"]);
        if self.progress.model.is_none() {
            self.progress.model = row["model"].as_str().map(str::to_owned);
        }
        match row["subtype"].as_str() {
            Some("api_retry") => {
                let mut error = ProviderError::of_message(row["error"].as_str().unwrap_or_default());
                let status = row["error_status"].as_u64().and_then(|status| u16::try_from(status).ok());
                error.status = status.or(error.status);
                error.kind = row["error"].as_str().map(str::to_owned);
                self.progress.error = Some(error);
            }
            Some("permission_denied") => {
                if let Some(id) = row["tool_use_id"].as_str() {
                    self.say(StreamEvent::Refused { id: id.to_owned() }, length);
                }
            }
            Some("compact_boundary") => self.say(StreamEvent::Condensed, length),
            _ => {}
        }
    }

    fn say(&self, heard: StreamEvent, length: usize) {
        if let Some(speaker) = &self.speaker {
            speaker.say(heard, length);
        }
    }

    /// Tells on what a row of Claude says.
    fn tell(&self, value: &Json, length: usize) {
        if self.speaker.is_some() {
            of_row(value).for_each(|heard| self.say(heard, length));
        }
    }

    fn begin(&mut self, session: &Json) {
        if let Some(session) = session.as_str()
            && self.progress.session.as_deref() != Some(session)
        {
            self.progress.session = Some(session.to_owned());
            self.say(StreamEvent::Opened(session.to_owned()), session.len());
        }
    }

    /// One content block of an answer of Claude. All rows of one answer carry the same name and the same use, which counts once; later rows may
    /// know more of it.
    fn assistant(&mut self, message: &Json) {
        if message["model"] == MADE_UP {
            return;
        }
        let tokens = count::of_claude(&message["usage"]).unwrap_or_else(|why| {
            self.progress.doubt(why);
            TokenCounts::default()
        });
        let name = message["id"].as_str().unwrap_or_default();
        let progress = &mut self.progress;
        let known = self.answers.iter_mut().find(|known| !name.is_empty() && known.name == name);
        let written = count::written(message) + known.as_ref().map_or(0, |known| known.written);
        let tokens = TokenCounts { output: tokens.output.max(written / BYTES_OF_A_TOKEN), ..tokens };
        if let Some(known) = known {
            let more = tokens.beyond(&known.counted);
            let sent = progress.last_sent;
            progress.used(message["model"].as_str(), more, &self.prices);
            progress.last_sent = sent.max(tokens.sent());
            known.counted = known.counted.plus(&more);
            known.written = written;
        } else {
            progress.iterations += 1;
            progress.goes_on = false;
            progress.used(message["model"].as_str(), tokens, &self.prices);
            progress.error = None;
            if self.answers.len() >= ANSWERS {
                self.answers.pop_front();
            }
            self.answers.push_back(Answer { name: name.to_owned(), counted: tokens, written });
        }
        for block in message["content"].as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("tool_use") => progress.goes_on = true,
                Some("text") => block["text"].as_str().unwrap_or_default().clone_into(&mut progress.said),
                _ => {}
            }
        }
    }

    fn result(&mut self, row: &Json) {
        self.progress.goes_on = false;
        match count::dollars(row, "total_cost_usd") {
            Ok(Some(told)) => {
                self.progress.told_cost =
                    Some(self.progress.told_cost.map_or(told, |before| before.max(told)));
            }
            Ok(None) => {}
            Err(why) => self.progress.doubt(why),
        }
        match count::of_models(&row["modelUsage"]) {
            Ok(told) => self.progress.tokens = self.progress.tokens.plus(&told.beyond(&self.progress.tokens)),
            Err(why) => self.progress.doubt(why),
        }
        if let Some(usage) = count::sum_of_qwen(row) {
            match count::of_claude(usage) {
                Ok(told) => {
                    let sent = self.progress.last_sent;
                    self.progress.used(None, told.beyond(&self.progress.tokens), &self.prices);
                    self.progress.last_sent = sent;
                }
                Err(why) => self.progress.doubt(why),
            }
        }
        if row["is_error"] == true {
            let status = row["api_error_status"].as_u64().and_then(|status| u16::try_from(status).ok());
            let message = row["result"].as_str().or_else(|| row["errors"][0].as_str()).unwrap_or_default();
            let mut error = ProviderError::of_message(message);
            error.status = error.status.or(status);
            // A limit of the client's own is no error; then what was known before stays.
            if error.cause().is_some() {
                self.progress.error = Some(error);
            }
        } else {
            self.progress.error = None;
        }
    }
}

/// The first byte of a line that says something, and the bytes from there on that are looked at before the line is parsed.
fn beginning(line: &[u8]) -> (Option<u8>, &[u8]) {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii_start();
    (line.first().copied(), line.get(..line.len().min(64)).unwrap_or_default())
}

/// Whether a word stands in the beginning of a line.
fn begins_with(line: &[u8], word: &[u8]) -> bool {
    line.get(..line.len().min(128)).unwrap_or_default().windows(word.len()).any(|part| part == word)
}

/// The value of `type`, when it stands in the beginning of a line.
fn kind(head: &[u8]) -> Option<&[u8]> {
    const NAME: &[u8] = b"\"type\"";
    if !head.starts_with(b"{") {
        return None;
    }
    let place =
        (0..head.len()).find(|place| head.get(*place..).is_some_and(|rest| rest.starts_with(NAME)))?;
    let rest = head.get(place + NAME.len()..)?.trim_ascii_start().strip_prefix(b":")?;
    let rest = rest.trim_ascii_start().strip_prefix(b"\"")?;
    rest.get(..rest.iter().position(|byte| *byte == b'"')?)
}

#[cfg(test)]
mod tests;
