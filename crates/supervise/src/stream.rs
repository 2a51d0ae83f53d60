//! What a client says about itself while it works: the lines of Claude Code (`--output-format stream-json`) and Codex (`exec --json`).
//!
//! Nothing is changed and nothing held back; this only listens. Lines of other forms, and of other programs, say nothing. What is spent never
//! goes down, and what cannot be counted is known to be uncounted ([`Progress::uncounted`]).

mod count;

use std::collections::VecDeque;

use checkrein_clients::{Priced, Prices};
use checkrein_protocol::Tokens;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::backlog::{Heard, Speaker, of_row};
use crate::failure::ProviderError;
use count::Uncounted;

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

/// How a model that is not listed is counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    /// The model, as the client calls it.
    pub model: String,
    /// The name in the list of prices.
    pub like: String,
}

impl Progress {
    /// The cost as well as it is known: the client's own number where it is higher.
    pub fn dollars(&self) -> f64 {
        self.told_cost.map_or(self.cost, |told| told.max(self.cost))
    }

    /// Whether the client told of a session and never of tokens, so that it is not known what it spent.
    pub fn told_no_count(&self) -> bool {
        self.session.is_some()
            && self.tokens == Tokens::default()
            && self.dollars() == 0.0
            && self.error.is_none()
    }

    fn doubt(&mut self, why: Uncounted) {
        self.uncounted.get_or_insert(why.0);
    }

    fn used(&mut self, model: Option<&str>, tokens: Tokens, prices: &Prices) {
        if let Some(model) = model {
            self.model = Some(model.to_owned());
        }
        self.tokens = self.tokens.plus(&tokens);
        self.last_sent = tokens.sent();
        if tokens == Tokens::default() {
            return;
        }
        let model = self.model.as_deref().unwrap_or_default();
        self.next_price =
            Some(prices.cost(model, &Tokens { input: 1_000_000, ..Tokens::default() }).cost.dollars());
        let Priced { cost, like } = prices.cost(model, &tokens);
        if let Some(like) = like {
            self.estimated.get_or_insert(Estimate { model: model.to_owned(), like });
        }
        self.cost += cost.dollars();
    }
}

/// Listens to a stream of bytes.
#[derive(Debug)]
pub struct Listener {
    progress: Progress,
    line: Vec<u8>,
    skips: bool,
    /// The last answers of Claude by name, with what was counted of each: those of sub-agents come between.
    answers: VecDeque<(String, Tokens)>,
    prices: Prices,
    speaker: Option<Speaker>,
    /// Calls of Codex that began, the newest.
    begun: VecDeque<String>,
}

/// How many calls of Codex are remembered until they end (ours).
const BEGUN: usize = 256;

/// How many answers are remembered until their last row (ours).
const ANSWERS: usize = 64;

/// How Codex is counted where nothing says its model.
const CODEX: &str = "gpt";

impl Listener {
    /// One that has heard nothing, and counts with these prices.
    pub fn new(prices: Prices) -> Self {
        Self {
            progress: Progress::default(),
            line: Vec::new(),
            skips: false,
            answers: VecDeque::new(),
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

    /// The same, and answers that do not say their model are those of this one.
    #[must_use]
    pub fn assuming(mut self, model: Option<String>) -> Self {
        self.progress.model = model;
        self
    }

    /// What is known so far.
    pub fn progress(&self) -> &Progress {
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
            Some(b"stream_event") => return false,
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
            Json::Array(rows) => rows.iter().fold(false, |learned, row| self.row(row, line) || learned),
            row => self.row(&row, line),
        }
    }

    fn row(&mut self, row: &Json, line: &[u8]) -> bool {
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
            Some("result") => self.result(row),
            Some("system") => self.system(row, line.len()),
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

    /// One content block of an answer of Claude. All rows of one answer carry the same name and the same use, which counts once; later rows may
    /// know more of it.
    fn assistant(&mut self, message: &Json) {
        // What the client made up itself to show an error is no answer of a model.
        let is_made_up = message["model"] == "<synthetic>";
        let tokens = count::of_claude(&message["usage"]).unwrap_or_else(|why| {
            if !is_made_up {
                self.progress.doubt(why);
            }
            Tokens::default()
        });
        let name = message["id"].as_str().unwrap_or_default();
        let progress = &mut self.progress;
        let known = self.answers.iter_mut().find(|(known, _)| !name.is_empty() && known == name);
        if let Some((_, counted)) = known {
            let more = tokens.beyond(counted);
            let sent = progress.last_sent;
            progress.used(message["model"].as_str(), more, &self.prices);
            progress.last_sent = sent.max(tokens.sent());
            *counted = counted.plus(&more);
        } else {
            progress.iterations += 1;
            progress.goes_on = false;
            progress.used(message["model"].as_str(), tokens, &self.prices);
            if !is_made_up {
                progress.error = None;
            }
            if self.answers.len() >= ANSWERS {
                self.answers.pop_front();
            }
            self.answers.push_back((name.to_owned(), tokens));
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
        let tokens = count::of_codex(usage).unwrap_or_else(|why| {
            self.progress.doubt(why);
            Tokens::default()
        });
        self.progress.goes_on = false;
        let model = self.progress.model.is_none().then_some(CODEX);
        self.progress.used(model, tokens, &self.prices);
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

/// The first byte of a line that says something, and the bytes from there on that are looked at before the line is parsed.
fn beginning(line: &[u8]) -> (Option<u8>, &[u8]) {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii_start();
    (line.first().copied(), line.get(..line.len().min(64)).unwrap_or_default())
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
        assert!((progress.dollars() - (300.0 * 3.0 + 20.0 * 15.0) / 1e6).abs() < 1e-12);
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
    fn a_model_that_is_not_listed_is_estimated_and_told() {
        let heard = hear(&[&answer("m1", 1_000_000, TEXT).replace("claude-sonnet-4-5", "claude-opus-4-99")]);
        assert_eq!(
            heard.estimated,
            Some(Estimate { model: "claude-opus-4-99".into(), like: "claude-opus-4*".into() })
        );
        assert!(heard.dollars() > 5.0);
        assert_eq!(hear(&[&answer("m1", 1, TEXT)]).estimated, None);
    }

    fn hear(lines: &[&str]) -> Progress {
        let mut listener = Listener::new(Prices::default());
        lines.iter().for_each(|line| drop(listener.hear(line.as_bytes())));
        listener.finish();
        listener.progress().clone()
    }

    const OPENED: &str = "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n";

    #[test]
    fn tokens_count_however_they_are_written() {
        let plain = answer("m1", 2_000_000, TEXT);
        let object = plain.trim_end();
        let typed = "\"type\":\"assistant\"";
        let variants = [
            plain.replace("2000000", "2e6"),
            plain.replace("2000000", "2000000.0"),
            plain.replace("\"type\":\"assistant\"", "\"typ\\u0065\":\"assistant\""),
            plain.replace(&format!("{{{typed},"), "{").replace("]}}", &format!("]}},{typed}}}")),
            format!("\u{feff}{plain}"),
            format!("[{object}]\n"),
            format!("{object}\r"),
            object.to_owned(),
            plain.replace("\"input_tokens\":2000000", "\"input_tokens\":2000000,\"input_tokens\":3"),
            plain.replace("m1", "m1\u{fffd}"),
            answer("m1", 7, TEXT) + &answer("m1", 2_000_000, TEXT) + &answer("m1", 9, TEXT),
        ];
        for variant in variants {
            let progress = hear(&[&variant]);
            assert_eq!((progress.tokens.input, progress.iterations), (2_000_000, 1), "{variant}");
            assert_eq!(progress.uncounted, None, "{variant}");
        }
        let mut listener = Listener::new(Prices::default());
        listener.hear(
            plain
                .replace("done", "DONE")
                .as_bytes()
                .iter()
                .map(|byte| if *byte == b'D' { 0xff } else { *byte })
                .collect::<Vec<u8>>()
                .as_slice(),
        );
        assert_eq!(listener.progress().tokens.input, 2_000_000);
    }

    #[test]
    fn what_cannot_be_counted_is_known_to_be_uncounted() {
        let plain = answer("m1", 2_000_000, TEXT);
        let variants = [
            plain.replace("2000000", "\"2000000\""),
            plain.replace("2000000", "-5"),
            plain.replace("2000000", "NaN"),
            plain.replace("2000000", "1e999"),
            plain.replace("2000000", "2.5"),
            plain.replace("usage", "used"),
            plain.replace("input_tokens", "tokens_in").replace("output_tokens", "tokens_out"),
            "{\"type\":\"assistant\",".to_owned() + &"x".repeat(LONGEST) + "\n",
            "{\"type\":\"result\",\"total_cost_usd\":-7}\n".to_owned(),
            "{\"type\":\"turn.completed\",\"usage\":{\"inputs\":9}}\n".to_owned(),
        ];
        for variant in variants {
            let shown: String = variant.chars().take(200).collect();
            assert!(hear(&[OPENED, &variant]).uncounted.is_some(), "{shown}");
        }
        let results = "{\"type\":\"user\",".to_owned() + &"x".repeat(LONGEST) + "\n";
        assert_eq!(hear(&[OPENED, &results]).uncounted, None, "results of tools count nothing");
        assert_eq!(
            hear(&["{not json\n", "{}\n", "[]\n"]).uncounted,
            None,
            "other programs say what they like"
        );
        assert!(hear(&[OPENED]).told_no_count() && !hear(&[OPENED, &plain]).told_no_count());
    }

    #[test]
    fn what_was_spent_never_goes_down() {
        let told = |cost: &str| format!("{{\"type\":\"result\",\"total_cost_usd\":{cost}}}\n");
        assert!((hear(&[&told("0.9"), &told("0"), &told("-7")]).dollars() - 0.9).abs() < 1e-9);
        // Rows of sub-agents come between those of one answer.
        let progress = hear(&[&answer("m1", 5, TEXT), &answer("m2", 5, TEXT), &answer("m1", 5, TEXT)]);
        assert_eq!((progress.iterations, progress.tokens.input), (2, 10));
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
