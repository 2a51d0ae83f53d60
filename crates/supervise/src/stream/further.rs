//! The lines of OpenCode (`run --format json`), Droid (`exec --output-format stream-json`) and Copilot CLI (`--output-format json`), as versions
//! 1.18, 0.225 and 1.0.102 were seen to write them. OpenCode tells the tokens of each step, Droid those of all at its end, Copilot none.

use checkrein_protocol::TokenCounts;
use serde_json::Value as Json;

use super::count::Uncounted;
use super::{BYTES_OF_A_TOKEN, StreamParser};
use crate::event_queue::StreamEvent;

/// What was counted of a run of Droid or Gemini CLI before it told.
#[derive(Debug, Default)]
pub(super) struct Steps {
    pub(super) counted: TokenCounts,
    /// The answer that the last step belongs to.
    answer: String,
}

impl StreamParser {
    /// A row of one of these clients; whether it says something.
    pub(super) fn further(&mut self, row: &Json, length: usize) -> bool {
        let kind = row["type"].as_str().unwrap_or_default();
        if row["sessionID"].is_string() {
            self.begin(&row["sessionID"]);
            return self.of_opencode(kind, row, length);
        }
        if row["data"].is_object() || row["sessionId"].is_string() {
            return self.of_copilot(kind, row, length);
        }
        if row["session_id"].is_string() { self.of_droid(kind, row, length) } else { false }
    }

    fn of_opencode(&mut self, kind: &str, row: &Json, length: usize) -> bool {
        let part = &row["part"];
        match kind {
            "step_start" => self.progress.goes_on = true,
            "step_finish" => {
                self.progress.iterations += 1;
                self.progress.error = None;
                self.progress.goes_on = part["reason"] == "tool-calls";
                let tokens = &part["tokens"];
                let number = |value: &Json| value.as_u64().unwrap_or_default();
                if !tokens.is_object() {
                    self.progress.doubt(Uncounted("a step told nothing of its tokens".to_owned()));
                }
                let counts = TokenCounts {
                    input: number(&tokens["input"]),
                    output: number(&tokens["output"]).saturating_add(number(&tokens["reasoning"])),
                    cache_write: number(&tokens["cache"]["write"]),
                    cache_read: number(&tokens["cache"]["read"]),
                };
                self.progress.used(None, counts, &self.prices);
                if let Some(cost) = part["cost"].as_f64().filter(|cost| *cost > 0.0) {
                    self.progress.told_cost = Some(self.progress.told_cost.unwrap_or_default() + cost);
                }
            }
            "tool_use" => {
                let (id, state) = (part["callID"].as_str().unwrap_or_default().to_owned(), &part["state"]);
                let tool = part["tool"].as_str().unwrap_or_default().to_owned();
                self.say(StreamEvent::Call { id: id.clone(), tool, input: state["input"].clone() }, length);
                let failed = state["status"] == "error"
                    || state["metadata"]["exit"].as_i64().is_some_and(|status| status != 0);
                let output = state["output"].as_str().or_else(|| state["error"].as_str());
                let output = output.unwrap_or_default().to_owned();
                self.say(StreamEvent::Answer { id, output, failed }, length);
            }
            "text" => self.speaks(&part["text"], length),
            "error" => self.failed(&row["error"]["data"]["message"]),
            _ => return false,
        }
        true
    }

    fn of_copilot(&mut self, kind: &str, row: &Json, length: usize) -> bool {
        let data = &row["data"];
        let id = || data["toolCallId"].as_str().unwrap_or_default().to_owned();
        match kind {
            "assistant.message" => {
                self.progress.tells_no_tokens = true;
                self.progress.iterations += 1;
                self.progress.error = None;
                if let Some(model) = data["model"].as_str() {
                    self.progress.model = Some(model.to_owned());
                }
                let calls = data["toolRequests"].as_array().is_some_and(|calls| !calls.is_empty());
                self.progress.goes_on = calls;
                if data["content"].as_str().is_some_and(|text| !text.is_empty()) {
                    self.speaks(&data["content"], length);
                }
            }
            "tool.execution_start" => {
                let tool = data["toolName"].as_str().unwrap_or_default().to_owned();
                let input = data["arguments"].clone();
                self.say(StreamEvent::Call { id: id(), tool, input }, length);
            }
            "tool.execution_complete" => {
                let failed = data["success"] == false
                    || data["shellExecution"]["exitCode"].as_i64().is_some_and(|status| status != 0);
                let output = data["result"]["content"].as_str().unwrap_or_default().to_owned();
                self.say(StreamEvent::Answer { id: id(), output, failed }, length);
            }
            "session.error" => self.failed(&data["message"]),
            "result" => {
                self.begin(&row["sessionId"]);
                self.progress.goes_on = false;
            }
            _ => return false,
        }
        true
    }

    fn of_droid(&mut self, kind: &str, row: &Json, length: usize) -> bool {
        self.begin(&row["session_id"]);
        let id = || row["id"].as_str().unwrap_or_default().to_owned();
        match kind {
            "tool_call" => {
                let answer = row["messageId"].as_str().unwrap_or_default();
                if answer.is_empty() || self.steps.answer != answer {
                    answer.clone_into(&mut self.steps.answer);
                    self.progress.iterations += 1;
                }
                self.progress.goes_on = true;
                self.hold(row["parameters"].to_string().len());
                let tool = row["toolName"].as_str().unwrap_or_default().to_owned();
                let input = row["parameters"].clone();
                self.say(StreamEvent::Call { id: id(), tool, input }, length);
            }
            "tool_result" => {
                let output = row["value"].as_str().map_or_else(|| row["value"].to_string(), str::to_owned);
                let failed = row["isError"] == true;
                self.say(StreamEvent::Answer { id: id(), output, failed }, length);
            }
            "message" if row["role"] == "assistant" => {
                self.progress.iterations += 1;
                self.progress.goes_on = false;
                self.hold(row["text"].as_str().map_or(0, str::len));
                self.speaks(&row["text"], length);
            }
            "completion" => {
                let usage = &row["usage"];
                let number = |name: &str| usage[name].as_u64().unwrap_or_default();
                let told = TokenCounts {
                    input: number("input_tokens"),
                    output: number("output_tokens"),
                    cache_write: number("cache_creation_input_tokens"),
                    cache_read: number("cache_read_input_tokens"),
                };
                let counted = std::mem::take(&mut self.steps).counted;
                self.progress.untold_turn = false;
                self.progress.goes_on = false;
                if told == TokenCounts::default() {
                    self.progress.doubt(Uncounted("a run with steps told that it used no tokens".to_owned()));
                }
                self.progress.used(None, told.beyond(&counted), &self.prices);
            }
            _ => return false,
        }
        true
    }

    /// Counts what an answer holds at least, until it is told what it took.
    pub(super) fn hold(&mut self, written: usize) {
        let least = TokenCounts { output: written as u64 / BYTES_OF_A_TOKEN, ..TokenCounts::default() };
        self.steps.counted = self.steps.counted.plus(&least);
        self.progress.untold_turn = true;
        self.progress.error = None;
        let sent = self.progress.last_sent;
        self.progress.used(None, least, &self.prices);
        self.progress.last_sent = sent;
    }

    pub(super) fn speaks(&mut self, text: &Json, length: usize) {
        let text = text.as_str().unwrap_or_default();
        text.clone_into(&mut self.progress.said);
        self.say(StreamEvent::Said(text.to_owned()), length);
    }
}
