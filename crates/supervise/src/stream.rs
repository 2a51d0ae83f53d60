//! What a client says about itself while it works: the lines of Claude Code (`--output-format stream-json`) and Codex (`exec --json`).
//!
//! Nothing is changed and nothing held back; this only listens. Lines of other forms, and of other programs, say nothing.

use checkrein_clients::Prices;
use checkrein_protocol::{MicroDollars, Tokens};
use serde_json::Value as Json;

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
}

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
        }
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
        if !head.starts_with(b"{") || !contains(head, b"\"type\"") {
            return false;
        }
        let kinds: [&[u8]; 7] = [
            b"assistant",
            b"result",
            b"system",
            b"thread.started",
            b"turn.completed",
            b"item.completed",
            b"turn.started",
        ];
        if !kinds.iter().any(|kind| contains(head, kind)) {
            return false;
        }
        let Ok(row) = serde_json::from_slice::<Json>(line) else { return false };
        match row["type"].as_str() {
            Some("assistant") => self.assistant(&row["message"]),
            Some("result") => self.result(&row),
            Some("system") => self.begin(&row["session_id"]),
            Some("thread.started") => self.begin(&row["thread_id"]),
            Some("turn.completed") => self.turn(&row["usage"]),
            Some("item.completed") => self.item(&row["item"]),
            Some("turn.started") => self.progress.goes_on = true,
            _ => return false,
        }
        true
    }

    fn begin(&mut self, session: &Json) {
        if let Some(session) = session.as_str() {
            self.progress.session = Some(session.to_owned());
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

    /// A step of Codex. Each command and each change of files is a call of the model of its own.
    fn item(&mut self, item: &Json) {
        match item["type"].as_str() {
            Some("command_execution" | "file_change" | "mcp_tool_call" | "web_search") => {
                self.progress.iterations += 1;
                self.progress.goes_on = true;
            }
            Some("agent_message") => {
                item["text"].as_str().unwrap_or_default().clone_into(&mut self.progress.said);
            }
            _ => {}
        }
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

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_line_without_an_end_is_bounded_and_said() {
        let mut listener = Listener::new(Prices::default());
        listener.hear(&vec![b'x'; LONGEST + 10]);
        listener.hear(b"y\n");
        listener.hear(answer("m1", 5, TEXT).as_bytes());
        assert_eq!((listener.progress().unread, listener.progress().iterations), (1, 1));
    }
}
