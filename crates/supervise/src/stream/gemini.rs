//! The lines of Gemini CLI (`--output-format stream-json`), as version 0.61 was seen to write them. It tells its tokens at its end only, by
//! model; until then they are at least what its answers hold. It does not tell its answers apart either: one ends where a result comes.

use checkrein_protocol::TokenCounts;
use serde_json::Value as Json;

use super::StreamParser;
use super::count::{self, Uncounted};
use crate::event_queue::StreamEvent;

/// The longest text of an answer that is kept, in bytes (ours); what comes after is passed on and not remembered.
const LONGEST_TEXT: usize = 256 << 10;

/// The answer that is being told.
#[derive(Debug, Default)]
pub(super) struct Answering {
    /// Whether an answer began and no result came yet.
    is_open: bool,
    /// What it said so far, which comes in parts.
    text: String,
}

impl StreamParser {
    /// Whether a row is one of this client: its rows bear a time, and only the first names the session.
    pub(super) fn is_of_gemini(row: &Json) -> bool {
        let names_nothing =
            ["sessionID", "sessionId", "data", "message_id"].iter().all(|key| row[*key].is_null());
        let kind = row["type"].as_str().unwrap_or_default();
        let is_named = row["session_id"].is_string();
        let is_known = match kind {
            "init" => is_named,
            "message" => !is_named && row["content"].is_string(),
            "tool_use" | "tool_result" => !is_named && row["tool_id"].is_string(),
            "result" => !is_named && row["status"].is_string(),
            "error" => !is_named && row["severity"].is_string(),
            _ => false,
        };
        names_nothing && row["timestamp"].is_string() && is_known
    }

    /// A row of this client.
    pub(super) fn of_gemini(&mut self, row: &Json, length: usize) {
        let id = || row["tool_id"].as_str().unwrap_or_default().to_owned();
        match row["type"].as_str().unwrap_or_default() {
            "init" => {
                self.begin(&row["session_id"]);
                if let Some(model) = row["model"].as_str() {
                    self.progress.model = Some(model.to_owned());
                }
            }
            "message" if row["role"] == "assistant" => {
                self.answers();
                self.progress.goes_on = false;
                let text = row["content"].as_str().unwrap_or_default();
                self.hold(text.len());
                let room = LONGEST_TEXT.saturating_sub(self.answering.text.len());
                let end = (0..=text.len().min(room)).rev().find(|end| text.is_char_boundary(*end));
                self.answering.text.push_str(text.get(..end.unwrap_or_default()).unwrap_or_default());
            }
            "tool_use" => {
                self.answers();
                self.has_spoken();
                self.progress.goes_on = true;
                self.hold(row["parameters"].to_string().len());
                let tool = row["tool_name"].as_str().unwrap_or_default().to_owned();
                self.say(StreamEvent::Call { id: id(), tool, input: row["parameters"].clone() }, length);
            }
            "tool_result" => {
                self.has_spoken();
                self.answering.is_open = false;
                let error = row["error"]["message"].as_str();
                let output = row["output"].as_str().or(error).unwrap_or_default().to_owned();
                let failed = row["status"] != "success" || is_of_failed_command(&output);
                self.say(StreamEvent::Answer { id: id(), output, failed }, length);
            }
            // What it only warns of is no failure.
            "error" if row["severity"] == "error" => self.failed(&row["message"]),
            "result" => self.end_of_gemini(row),
            _ => {}
        }
    }

    fn answers(&mut self) {
        if !std::mem::replace(&mut self.answering.is_open, true) {
            self.progress.iterations += 1;
        }
    }

    /// The words of an answer are over: they are told as a whole.
    fn has_spoken(&mut self) {
        if !self.answering.text.is_empty() {
            let text = Json::String(std::mem::take(&mut self.answering.text));
            self.speaks(&text, text.as_str().map_or(0, str::len));
        }
    }

    fn end_of_gemini(&mut self, row: &Json) {
        self.has_spoken();
        self.answering.is_open = false;
        self.progress.goes_on = false;
        let is_any = std::mem::take(&mut self.progress.untold_turn);
        let mut counted = std::mem::take(&mut self.steps).counted;
        let mut told = TokenCounts::default();
        for (model, stats) in row["stats"]["models"].as_object().into_iter().flatten() {
            match of_model(stats) {
                Ok(tokens) => {
                    told = told.plus(&tokens);
                    // What was counted of the answers was of one of them; which, nobody says.
                    let new = tokens.beyond(&counted);
                    counted = counted.beyond(&tokens);
                    self.progress.used(Some(model), new, &self.prices);
                }
                Err(why) => self.progress.doubt(why),
            }
        }
        if is_any && told == TokenCounts::default() {
            self.progress.doubt(Uncounted("a run with steps told that it used no tokens".to_owned()));
        }
        if row["status"] == "error" {
            self.failed(&row["error"]["message"]);
        }
    }
}

/// The tokens of a model. What came from the cache is part of the input; what it thought is part of the sum alone.
fn of_model(stats: &Json) -> Result<TokenCounts, Uncounted> {
    let (input, cached) = (count::count(stats, "input_tokens")?, count::count(stats, "cached")?);
    let written = count::count(stats, "total_tokens")?.saturating_sub(input);
    Ok(TokenCounts {
        input: input.saturating_sub(cached),
        output: count::count(stats, "output_tokens")?.max(written),
        cache_write: 0,
        cache_read: cached,
    })
}

/// A command that failed is told as a call that succeeded.
fn is_of_failed_command(output: &str) -> bool {
    let last = output.lines().next_back().unwrap_or_default();
    last.strip_prefix("Command exited with code: ").is_some_and(|code| code.trim() != "0")
}
