//! What was spent, read from a transcript that grows, piece by piece, in bounded memory.

use checkrein_patterns::Fingerprint;
use checkrein_protocol::{MicroDollars, ModelUsage, TokenCounts, TranscriptMark, UsageRecord};

use super::{TokenCountBasis, TranscriptEntry, qwen, row};
use crate::prices::{Priced, Prices};

/// Rows longer than this are passed over: they hold files, not answers (ours).
const LONGEST_ROW: usize = 512 * 1024;

/// How much of the name of a model is kept, in characters (ours).
const LONGEST_NAME: usize = 200;

/// How many models are told apart in one piece (ours).
const MODELS: usize = 8;

/// Reads on from a mark.
#[derive(Debug)]
pub struct Meter<'a> {
    prices: &'a Prices,
    from: u64,
    mark: TranscriptMark,
    model: String,
    models: Vec<ModelUsage>,
    said: Vec<String>,
}

/// What a piece of a transcript said.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptReading {
    /// What was spent.
    pub usage: UsageRecord,
    /// What the agent said, oldest first.
    pub said: Vec<String>,
}

impl<'a> Meter<'a> {
    /// A meter that goes on where the mark is. `named` is the model that an earlier piece named for the answers behind it
    /// ([`UsageRecord::named`]).
    pub fn new(mark: TranscriptMark, named: Option<&str>, prices: &'a Prices) -> Self {
        let model = named.unwrap_or_default().to_owned();
        Self { prices, from: mark.offset, mark, model, models: Vec::new(), said: Vec::new() }
    }

    /// Takes a piece that begins at the mark. A last line without an end waits for the next piece. Where a piece of the greatest length
    /// (`most`) holds no end of a line at all, the line is passed over.
    pub fn take(&mut self, piece: &[u8], most: usize) {
        let mut rest = piece;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end);
            if !std::mem::take(&mut self.mark.inside_line) {
                self.take_line(line);
            }
            self.mark.offset += end as u64 + 1;
            rest = after.get(1..).unwrap_or_default();
        }
        if self.mark.inside_line || rest.len() >= most {
            self.mark.inside_line = true;
            self.mark.offset += rest.len() as u64;
        }
    }

    /// What was read.
    pub fn finish(self) -> TranscriptReading {
        let named = Some(self.model).filter(|model| !model.is_empty());
        let usage = UsageRecord { from: self.from, mark: self.mark, models: self.models, named, gap: None };
        TranscriptReading { usage, said: self.said }
    }

    fn take_line(&mut self, line: &[u8]) {
        // Most rows hold results; only those of answers and of their models are read.
        const TELLING: [&str; 5] =
            ["\"usage\"", "\"tokens\"", "\"total_token_usage\"", "\"turn_context\"", qwen::ANSWER];
        if line.len() > LONGEST_ROW {
            return;
        }
        let Ok(text) = std::str::from_utf8(line) else { return };
        if !TELLING.iter().any(|word| text.contains(word)) {
            return;
        }
        let Ok(value) = serde_json::from_str(text) else { return };
        for entry in row(&value).entries {
            match entry {
                TranscriptEntry::Agent(words) => self.said.push(words),
                TranscriptEntry::Model(model) => self.model = model.chars().take(LONGEST_NAME).collect(),
                TranscriptEntry::Usage { answer, model, tokens, counted } => {
                    self.spent(answer.as_deref(), model, tokens, counted);
                }
                TranscriptEntry::Opened { .. }
                | TranscriptEntry::Person(_)
                | TranscriptEntry::Call { .. }
                | TranscriptEntry::Answer { .. }
                | TranscriptEntry::Condensed => {}
            }
        }
    }

    /// Counts what is new. An answer is written down several times, with numbers that grow.
    fn spent(
        &mut self,
        answer: Option<&str>,
        model: Option<String>,
        tokens: TokenCounts,
        counted: TokenCountBasis,
    ) {
        let id = answer.map_or(0, |id| u64::from(Fingerprint::of(id).0));
        let is_same = match counted {
            TokenCountBasis::Answer => id != 0 && self.mark.answer == id,
            TokenCountBasis::Session => true,
        };
        let known = if is_same { self.mark.counted } else { TokenCounts::default() };
        let new = tokens.beyond(&known);
        self.mark.answer = id;
        self.mark.counted = if is_same { known.plus(&new) } else { tokens };
        if new == TokenCounts::default() {
            return;
        }
        let answers = u64::from(!is_same || counted == TokenCountBasis::Session);
        let model = model.unwrap_or_else(|| self.model.clone());
        let Priced { cost, like } = self.prices.cost(&model, &new);
        let known = self.models.iter().position(|one| one.model == model);
        let is_full = self.models.len() >= MODELS;
        match known.or(is_full.then_some(MODELS - 1)).and_then(|place| self.models.get_mut(place)) {
            Some(one) => {
                if one.model != model {
                    one.model.clear();
                }
                one.answers += answers;
                one.tokens = one.tokens.plus(&new);
                one.cost = one.cost.map(|sum| MicroDollars(sum.0.saturating_add(cost.0)));
                one.like = like.or(one.like.take());
            }
            None => self.models.push(ModelUsage { model, answers, tokens: new, cost: Some(cost), like }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(id: &str, output: u64) -> String {
        let row = json!({
            "type": "assistant", "sessionId": "s",
            "message": {
                "id": id, "role": "assistant", "model": "claude-sonnet-4-5-20250929",
                "content": [{ "type": "text", "text": format!("said {id}") }],
                "usage": { "input_tokens": 10, "output_tokens": output, "cache_read_input_tokens": 100 },
            },
        });
        format!("{row}\n")
    }

    fn read(mark: TranscriptMark, text: &str, most: usize) -> TranscriptReading {
        let prices = Prices::default();
        let mut meter = Meter::new(mark, None, &prices);
        meter.take(text.as_bytes(), most);
        meter.finish()
    }

    #[test]
    fn rows_of_one_answer_count_once_with_the_last_numbers() {
        let text = answer("a", 1) + &answer("a", 50) + &answer("b", 5);
        let read = read(TranscriptMark::default(), &text, 1 << 20);
        let [one] = read.usage.models.as_slice() else { panic!("{read:?}") };
        assert_eq!(
            (one.answers, one.tokens.input, one.tokens.output, one.tokens.cache_read),
            (2, 20, 55, 200)
        );
        assert_eq!(one.cost, Some(MicroDollars(20 * 3 + 55 * 15 + 60)));
        assert_eq!(read.usage.mark.offset, text.len() as u64);
        assert_eq!(read.said, ["said a", "said a", "said b"]);
    }

    #[test]
    fn an_answer_that_goes_on_after_a_reading_counts_once_all_the_same() {
        let first = read(TranscriptMark::default(), &answer("a", 1), 1 << 20);
        let second = read(first.usage.mark, &answer("a", 50), 1 << 20);
        assert_eq!(second.usage.models[0].tokens, TokenCounts { output: 49, ..TokenCounts::default() });
        assert_eq!(second.usage.models[0].answers, 0);
    }

    #[test]
    fn pieces_of_any_length_count_the_same() {
        let long = format!("{{\"type\":\"user\",\"message\":\"{}\"}}\n", "x".repeat(3_000));
        let text = answer("a", 1) + &long + &answer("b", 2) + &answer("c", 3);
        let whole = read(TranscriptMark::default(), &text, 1 << 20).usage;
        for most in [600, 1_000, 2_500] {
            let (mut mark, mut sum) = (TranscriptMark::default(), TokenCounts::default());
            while (mark.offset as usize) < text.len() {
                let start = mark.offset as usize;
                let piece = &text[start..(start + most).min(text.len())];
                let read = read(mark, piece, most).usage;
                assert!(read.mark.offset > mark.offset, "it gets on");
                sum = read.models.iter().fold(sum, |sum, one| sum.plus(&one.tokens));
                mark = read.mark;
            }
            assert_eq!(sum, whole.models[0].tokens, "{most}");
        }
    }

    #[test]
    fn codex_counts_from_the_beginning_of_the_session() {
        let count = |input: u64, cached: u64| {
            let usage = json!({ "input_tokens": input, "cached_input_tokens": cached, "output_tokens": 1 });
            let payload = json!({ "type": "token_count", "info": { "total_token_usage": usage } });
            format!("{}\n", json!({ "type": "event_msg", "payload": payload }))
        };
        let model = format!("{}\n", json!({ "type": "turn_context", "payload": { "model": "gpt-5-codex" } }));
        let read = read(TranscriptMark::default(), &(model + &count(100, 40) + &count(300, 90)), 1 << 20);
        let [one] = read.usage.models.as_slice() else { panic!("{read:?}") };
        assert_eq!((one.model.as_str(), one.answers), ("gpt-5-codex", 2));
        assert_eq!(one.tokens, TokenCounts { input: 210, output: 1, cache_read: 90, cache_write: 0 });

        // The model is named once, and what it answers is read call by call.
        assert_eq!(read.usage.named.as_deref(), Some("gpt-5-codex"));
        let prices = Prices::default();
        let mut later = Meter::new(read.usage.mark, read.usage.named.as_deref(), &prices);
        later.take(count(500, 90).as_bytes(), 1 << 20);
        let later = later.finish().usage;
        let [one] = later.models.as_slice() else { panic!("{later:?}") };
        assert_eq!((one.model.as_str(), one.like.as_deref()), ("gpt-5-codex", None));
        assert_eq!(later.named.as_deref(), Some("gpt-5-codex"));
    }

    #[test]
    fn answers_of_qwen_and_copilot_count() {
        let qwen = |id: &str| {
            let event = json!({ "event.name": "qwen-code.api_response", "response_id": id, "model": "qwen3-coder", "status_code": 200,
                "input_token_count": 100, "output_token_count": 5, "cached_content_token_count": 40, "total_token_count": 105 });
            json!({ "type": "system", "subtype": "ui_telemetry", "systemPayload": { "uiEvent": event } })
        };
        let copilot = |id: &str| {
            let usage = json!({ "model": "gpt-5.4", "inputTokens": 100, "outputTokens": 5, "cacheReadTokens": 40, "cacheWriteTokens": 0,
                "apiCallId": id });
            json!({ "type": "session.usage_record", "data": { "usage": usage }, "id": "x" })
        };
        for rows in [[qwen("a"), qwen("b")], [copilot("a"), copilot("b")]] {
            let text = rows.map(|row| format!("{row}\n")).concat();
            let read = read(TranscriptMark::default(), &text, 1 << 20);
            let [one] = read.usage.models.as_slice() else { panic!("{read:?}") };
            assert_eq!(one.answers, 2);
            assert_eq!(one.tokens, TokenCounts { input: 120, output: 10, cache_read: 80, cache_write: 0 });
        }
        let silent = json!({ "type": "system", "subtype": "ui_telemetry", "systemPayload": { "uiEvent": { "event.name": "qwen-code.tool_call" } } });
        assert!(read(TranscriptMark::default(), &format!("{silent}\n"), 1 << 20).usage.models.is_empty());
    }

    #[test]
    fn nonsense_is_passed_over() {
        let text = "{\"usage\"\n[\"usage\"]\n\u{0}\n{\"message\":{\"usage\":7}}\n";
        let read = read(TranscriptMark::default(), text, 1 << 20);
        assert_eq!((read.usage.models.len(), read.usage.mark.offset), (0, text.len() as u64));
    }
}
