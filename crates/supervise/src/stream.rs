//! What a client says about itself while it works: the lines of Claude Code (`--output-format stream-json`) and Codex (`exec --json`).
//!
//! Nothing is changed and nothing held back; this only listens. Lines of other forms, and of other programs, say nothing.

use std::collections::VecDeque;

use checkrein_clients::Prices;
use checkrein_protocol::{MicroDollars, Tokens};
use serde_json::{Value as Json, json};

use crate::backlog::{Heard, Speaker, of_row};
use crate::failure::ProviderError;

/// The longest line that is read, in bytes; a longer one is passed on unread, which is counted.
const LONGEST: usize = 8 << 20;

/// What is known of a client's work so far.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// The client's name for its session.
    pub session: Option<String>,
    /// The model that answered last.
    pub model: Option<String>,
    /// Tokens of all answers.
    pub tokens: Tokens,
    /// How much was sent with the last call of the model.
    pub last_sent: u64,
    /// Cost by our prices; `None` when a model has none.
    pub cost: Option<f64>,
    /// What a million new tokens of the next call cost; `None` when that is not known.
    pub next_price: Option<f64>,
    /// Cost that the client itself tells, at its end.
    pub told_cost: Option<f64>,
    /// Answers of the model, or steps where the client does not tell them apart.
    pub iterations: u64,
    /// Whether the model will be called once more, as far as its last answer tells.
    pub goes_on: bool,
    /// What the model said last in words.
    pub said: String,
    /// Lines that were too long to be read.
    pub unread: u64,
    /// The last thing that went wrong with the provider, unless an answer came after it.
    pub error: Option<ProviderError>,
}

impl Progress {
    /// The cost as well as it is known: the client's own number where it is higher.
    pub fn dollars(&self) -> Option<f64> {
        match (self.cost, self.told_cost) {
            (Some(ours), Some(told)) => Some(ours.max(told)),
            (ours, told) => ours.or(told),
        }
    }

    fn used(&mut self, model: Option<&str>, tokens: Tokens, prices: &Prices) {
        if let Some(model) = model {
            self.model = Some(model.to_owned());
        }
        self.tokens = self.tokens.plus(&tokens);
        self.last_sent = tokens.sent();
        let price = |tokens: &Tokens| {
            let cost = self.model.as_deref().and_then(|model| prices.cost(model, tokens));
            cost.map(MicroDollars::dollars)
        };
        self.next_price = price(&Tokens { input: 1_000_000, ..Tokens::default() });
        self.cost = match (self.cost, price(&tokens)) {
            (Some(sum), Some(cost)) => Some(sum + cost),
            // What costs nothing needs no price.
            (cost, None) if tokens == Tokens::default() => cost,
            _ => None,
        };
    }
}

/// Listens to a stream of bytes.
#[derive(Debug)]
pub struct Listener {
    progress: Progress,
    line: Vec<u8>,
    skips: bool,
    last_message: String,
    last_tokens: Tokens,
    prices: Prices,
    speaker: Option<Speaker>,
    /// Calls of Codex that began, the newest.
    begun: VecDeque<String>,
}

/// How many calls of Codex are remembered until they end (ours).
const BEGUN: usize = 256;

impl Listener {
    /// One that has heard nothing, and counts with these prices.
    pub fn new(prices: Prices) -> Self {
        let progress = Progress { cost: Some(0.0), ..Progress::default() };
        Self {
            progress,
            line: Vec::new(),
            skips: false,
            last_message: String::new(),
            last_tokens: Tokens::default(),
            prices,
            speaker: None,
            begun: VecDeque::new(),
        }
    }

    /// The same, and calls and their answers are told on.
    #[must_use]
    pub fn telling(mut self, speaker: Option<Speaker>) -> Self {
        self.speaker = speaker;
        self
    }

    /// What is known so far.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Some more bytes. Returns whether something became known.
    pub fn hear(&mut self, bytes: &[u8]) -> bool {
        let mut learned = false;
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let ends = part.ends_with(b"\n");
            if self.line.len() + part.len() > LONGEST {
                self.skips = true;
                self.line.clear();
            }
            if !self.skips {
                self.line.extend_from_slice(part);
            }
            if ends {
                if std::mem::take(&mut self.skips) {
                    self.progress.unread += 1;
                } else {
                    let line = std::mem::take(&mut self.line);
                    learned |= self.read(&line);
                    self.line = line;
                }
                self.line.clear();
            }
        }
        learned
    }

    fn read(&mut self, line: &[u8]) -> bool {
        // Looked at before it is parsed: most of a stream is none of these.
        let start = line.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
        let line = line.get(start..).unwrap_or_default();
        let head = line.get(..line.len().min(64)).unwrap_or_default();
        match kind(head) {
            // Only answers of tools, which are long, and for others to read.
            Some(b"user") => {
                if let Some(speaker) = &self.speaker {
                    speaker.say_row(line);
                }
                return false;
            }
            Some(b"item.started") if self.speaker.is_none() => return false,
            Some(
                b"assistant" | b"result" | b"system" | b"thread.started" | b"turn.completed"
                | b"item.started" | b"item.completed" | b"turn.started" | b"turn.failed" | b"error",
            ) => {}
            Some(_) | None => return false,
        }
        let Ok(row) = serde_json::from_slice::<Json>(line) else { return false };
        match row["type"].as_str() {
            Some("assistant") => {
                self.assistant(&row["message"]);
                self.tell(&row, line.len());
            }
            Some("result") => self.result(&row),
            Some("system") => self.system(&row, line.len()),
            Some("thread.started") => self.begin(&row["thread_id"]),
            Some("turn.completed") => self.turn(&row["usage"]),
            Some("item.started") => self.item_begins(&row["item"], line.len()),
            Some("item.completed") => self.item(&row["item"], line.len()),
            Some("turn.started") => self.progress.goes_on = true,
            Some("turn.failed") => self.failed(&row["error"]["message"]),
            Some("error") => self.failed(&row["message"]),
            _ => return false,
        }
        true
    }

    fn failed(&mut self, message: &Json) {
        self.progress.error = Some(ProviderError::of_message(message.as_str().unwrap_or_default()));
    }

    fn system(&mut self, row: &Json, length: usize) {
        self.begin(&row["session_id"]);
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
                    self.say(Heard::Refused { id: id.to_owned() }, length);
                }
            }
            Some("compact_boundary") => self.say(Heard::Condensed, length),
            _ => {}
        }
    }

    fn say(&self, heard: Heard, length: usize) {
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
            self.say(Heard::Opened(session.to_owned()), session.len());
        }
    }

    /// One content block of an answer of Claude. All rows of one answer carry the same name and the same use, which counts once.
    fn assistant(&mut self, message: &Json) {
        let tokens = claude_tokens(&message["usage"]);
        let name = message["id"].as_str().unwrap_or_default();
        let progress = &mut self.progress;
        if name.is_empty() || name != self.last_message {
            name.clone_into(&mut self.last_message);
            self.last_tokens = tokens;
            progress.iterations += 1;
            progress.goes_on = false;
            progress.used(message["model"].as_str(), tokens, &self.prices);
            // What the client made up itself to show an error is no answer.
            if message["model"] != "<synthetic>" {
                progress.error = None;
            }
        } else {
            // Later rows may know more of the answer.
            let more =
                Tokens { output: tokens.output.saturating_sub(self.last_tokens.output), ..Tokens::default() };
            let sent = progress.last_sent;
            progress.used(message["model"].as_str(), more, &self.prices);
            progress.last_sent = sent;
            self.last_tokens.output = self.last_tokens.output.max(tokens.output);
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
        self.progress.told_cost = row["total_cost_usd"].as_f64().or(self.progress.told_cost);
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

    /// A turn of Codex; it tells what is used at the end of a turn only.
    fn turn(&mut self, usage: &Json) {
        let count = |name: &str| usage[name].as_u64().unwrap_or(0);
        let known = count("cached_input_tokens");
        let tokens = Tokens {
            input: count("input_tokens").saturating_sub(known),
            output: count("output_tokens"),
            cache_read: known,
            cache_write: 0,
        };
        self.progress.goes_on = false;
        self.progress.used(None, tokens, &self.prices);
    }

    /// A step of Codex that begins: the moment to look at what it would do.
    fn item_begins(&mut self, item: &Json, length: usize) {
        if let (Some(id), Some((tool, input))) = (item["id"].as_str(), codex_call(item)) {
            if self.begun.len() >= BEGUN {
                self.begun.pop_front();
            }
            self.begun.push_back(id.to_owned());
            self.say(Heard::Call { id: id.to_owned(), tool, input }, length);
        }
    }

    /// A step of Codex. Each command and each change of files is a call of the model of its own.
    fn item(&mut self, item: &Json, length: usize) {
        match item["type"].as_str() {
            Some("command_execution" | "file_change" | "mcp_tool_call" | "web_search") => {
                self.progress.iterations += 1;
                self.progress.goes_on = true;
                self.progress.error = None;
                self.tell_item(item, length);
            }
            Some("agent_message") => {
                let text = item["text"].as_str().unwrap_or_default();
                text.clone_into(&mut self.progress.said);
                self.progress.error = None;
                self.say(Heard::Said(text.to_owned()), length);
            }
            Some("error") => self.failed(&item["message"]),
            _ => {}
        }
    }

    fn tell_item(&mut self, item: &Json, length: usize) {
        let Some(id) = item["id"].as_str().filter(|_| self.speaker.is_some()).map(str::to_owned) else {
            return;
        };
        let begun = self.begun.iter().position(|begun| *begun == id);
        if let Some(place) = begun {
            self.begun.remove(place);
        } else if let Some((tool, input)) = codex_call(item) {
            self.say(Heard::Call { id: id.clone(), tool, input }, length);
        }
        if item["status"] == "declined" {
            return self.say(Heard::Refused { id }, length);
        }
        let output = item["aggregated_output"].as_str().map_or_else(
            || item.get("result").or_else(|| item.get("error")).map_or_else(String::new, Json::to_string),
            str::to_owned,
        );
        let failed = item["status"] == "failed" || item["exit_code"].as_i64().is_some_and(|code| code != 0);
        self.say(Heard::Answer { id, output, failed }, length);
    }
}

/// A step of Codex as a call of a tool.
fn codex_call(item: &Json) -> Option<(String, Json)> {
    match item["type"].as_str()? {
        "command_execution" => Some(("Bash".to_owned(), json!({ "command": item["command"] }))),
        "file_change" => {
            // Only which files, not what in them: the same form as its tool, without contents.
            let line = |change: &Json| {
                let path = change["path"].as_str()?.replace(['\n', '\r'], " ");
                let word = match change["kind"].as_str()? {
                    "add" => "Add",
                    "delete" => "Delete",
                    _ => "Update",
                };
                Some(format!("*** {word} File: {path}\n"))
            };
            let lines: String = item["changes"].as_array()?.iter().filter_map(line).collect();
            let patch = format!("*** Begin Patch\n{lines}*** End Patch\n");
            Some(("apply_patch".to_owned(), json!({ "command": patch })))
        }
        "mcp_tool_call" => {
            let name = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
            Some((format!("mcp__{}__{}", name("server"), name("tool")), item["arguments"].clone()))
        }
        "web_search" => Some(("WebSearch".to_owned(), json!({ "query": item["query"] }))),
        _ => None,
    }
}

fn claude_tokens(usage: &Json) -> Tokens {
    let count = |name: &str| usage[name].as_u64().unwrap_or(0);
    Tokens {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
    }
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
mod tests {
    use super::*;
    use crate::backlog::{Waiting, backlog};

    fn answer(id: &str, tokens: u64, block: &str) -> String {
        format!(
            r#"{{"type":"assistant","message":{{"id":"{id}","model":"claude-sonnet-4-5","usage":{{"input_tokens":{tokens},"output_tokens":10}},"content":[{block}]}}}}"#
        ) + "\n"
    }
    const CALL: &str = r#"{"type":"tool_use","id":"t","name":"Bash","input":{}}"#;
    const TEXT: &str = r#"{"type":"text","text":"done"}"#;

    #[test]
    fn rows_of_one_answer_count_once() {
        let mut listener = Listener::new(Prices::default());
        listener
            .hear((answer("m1", 100, TEXT) + &answer("m1", 100, CALL) + &answer("m2", 200, TEXT)).as_bytes());
        let progress = listener.progress();
        assert_eq!((progress.iterations, progress.tokens.input, progress.tokens.output), (2, 300, 20));
        assert_eq!((progress.last_sent, progress.goes_on), (200, false));
        assert!((progress.dollars().unwrap() - (300.0 * 3.0 + 20.0 * 15.0) / 1e6).abs() < 1e-12);
    }

    #[test]
    fn bytes_may_come_in_any_pieces() {
        let text = answer("m1", 100, CALL) + "not json\n" + &answer("m2", 50, TEXT);
        let mut whole = Listener::new(Prices::default());
        whole.hear(text.as_bytes());
        let mut pieces = Listener::new(Prices::default());
        text.as_bytes().chunks(7).for_each(|piece| {
            pieces.hear(piece);
        });
        assert_eq!(whole.progress().tokens, pieces.progress().tokens);
        assert_eq!(pieces.progress().iterations, 2);
    }

    #[test]
    fn a_model_without_a_price_makes_the_cost_unknown_for_good() {
        let mut listener = Listener::new(Prices::default());
        listener.hear(answer("m1", 1, TEXT).replace("claude-sonnet-4-5", "mystery").as_bytes());
        listener.hear(answer("m2", 1, TEXT).as_bytes());
        assert_eq!(listener.progress().dollars(), None);
    }

    #[test]
    fn turns_of_codex_are_counted_by_their_steps() {
        let mut listener = Listener::new(Prices::default());
        listener.hear(
            br#"{"type":"thread.started","thread_id":"abc"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"i0","type":"command_execution","command":"ls","exit_code":0}}
{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"there are two"}}
{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":400,"output_tokens":50}}
"#,
        );
        let progress = listener.progress();
        assert_eq!(progress.session.as_deref(), Some("abc"));
        assert_eq!((progress.iterations, progress.said.as_str()), (1, "there are two"));
        assert_eq!(
            (progress.tokens.input, progress.tokens.cache_read, progress.tokens.output),
            (600, 400, 50)
        );
    }

    fn told(stream: &str) -> Vec<Heard> {
        let (speaker, backlog) = backlog();
        Listener::new(Prices::default()).telling(Some(speaker)).hear(stream.as_bytes());
        let next = || match backlog.next(std::time::Duration::ZERO) {
            Waiting::Heard(heard) => Some(heard),
            Waiting::Nothing | Waiting::Closed => None,
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn calls_and_answers_of_claude_are_told_on() {
        let heard = told(
            r#"{"type":"system","subtype":"init","session_id":"s1"}
{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}
{"type": "user", "message": {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a b","is_error":false}]}}
{"type":"system","subtype":"permission_denied","tool_use_id":"t2","session_id":"s1"}
"#,
        );
        let call = Heard::Call { id: "t1".into(), tool: "Bash".into(), input: json!({ "command": "ls" }) };
        let answer = Heard::Answer { id: "t1".into(), output: "a b".into(), failed: false };
        assert_eq!(heard, [Heard::Opened("s1".into()), call, answer, Heard::Refused { id: "t2".into() }]);
    }

    #[test]
    fn steps_of_codex_are_told_once_whether_their_beginning_was_heard_or_not() {
        let item = |kind: &str, id: &str, more: &str| {
            format!(
                r#"{{"type":"item.{kind}","item":{{"id":"{id}","type":"command_execution","command":"ls"{more}}}}}"#
            ) + "\n"
        };
        let done = r#","aggregated_output":"a","exit_code":1,"status":"failed""#;
        let heard = told(
            &(item("started", "i1", "") + &item("completed", "i1", done) + &item("completed", "i2", done)),
        );
        let call =
            |id: &str| Heard::Call { id: id.into(), tool: "Bash".into(), input: json!({ "command": "ls" }) };
        let answer = |id: &str| Heard::Answer { id: id.into(), output: "a".into(), failed: true };
        assert_eq!(heard, [call("i1"), answer("i1"), call("i2"), answer("i2")]);
        let change = r#"{"type":"item.completed","item":{"id":"i3","type":"file_change","changes":[{"path":"src/a.rs","kind":"delete"}],"status":"completed"}}"#;
        let Some(Heard::Call { tool, input, .. }) = told(&(change.to_owned() + "\n")).first().cloned() else {
            panic!("no call")
        };
        assert_eq!(tool, "apply_patch");
        assert!(input["command"].as_str().unwrap().contains("*** Delete File: src/a.rs"));
    }

    #[test]
    fn an_error_of_the_provider_is_known_until_an_answer_comes() {
        let mut listener = Listener::new(Prices::default());
        let retry = r#"{"type":"system","subtype":"api_retry","attempt":1,"error_status":529,"error":"overloaded","session_id":"s"}"#;
        listener.hear((retry.to_owned() + "\n").as_bytes());
        assert_eq!(listener.progress().error.as_ref().and_then(|error| error.status), Some(529));
        listener.hear(answer("m1", 1, TEXT).as_bytes());
        assert_eq!(listener.progress().error, None);
        let end = r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 500 {}","session_id":"s"}"#;
        listener.hear((end.to_owned() + "\n").as_bytes());
        assert_eq!(listener.progress().error.as_ref().and_then(|error| error.status), Some(500));
        listener.hear(b"{\"type\":\"turn.failed\",\"error\":{\"message\":\"stream disconnected\"}}\n");
        assert_eq!(listener.progress().error.as_ref().unwrap().message, "stream disconnected");
    }

    #[test]
    fn a_line_without_an_end_is_bounded_and_said() {
        let mut listener = Listener::new(Prices::default());
        listener.hear(&vec![b'x'; LONGEST + 10]);
        listener.hear(b"y\n");
        listener.hear(answer("m1", 5, TEXT).as_bytes());
        assert_eq!((listener.progress().unread, listener.progress().iterations), (1, 1));
    }
}
