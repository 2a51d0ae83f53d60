//! Recorded sessions: JSON Lines of steps, and the transcripts of Claude Code, Codex and Gemini CLI.

use std::collections::HashMap;
use std::io::BufRead;

use checkrein_clients::transcript::{Entry, Row, gemini_messages, row};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::error::CommandError;

/// One step of a recorded session.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Step {
    pub(super) tool: Option<String>,
    #[serde(default)]
    pub(super) input: Json,
    #[serde(default)]
    pub(super) output: Json,
    #[serde(default)]
    pub(super) is_error: bool,
    pub(super) text: Option<String>,
    /// When, in milliseconds since 1970.
    pub(super) at: Option<u64>,
}

/// A recorded session.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Recorded {
    pub(super) id: Json,
    pub(super) steps: Vec<Step>,
    #[serde(default)]
    pub(super) goals: Vec<String>,
    pub(super) goal: Option<String>,
    pub(super) cwd: Option<String>,
}

/// Every session of a file, one after the other: lines with `steps` are sessions of their own, all other rows together are one transcript. One
/// line is in memory at a time, of a transcript its steps.
pub(super) fn read(
    mut source: impl BufRead,
    name: &str,
    mut take: impl FnMut(Recorded) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let mut transcript = Transcript::default();
    let mut text = String::new();
    let mut number = 0;
    let broken = |number: usize, error: &serde_json::Error| {
        CommandError::user(
            format!("`{name}` line {number}, column {}: {error}", error.column()),
            "give a transcript of Claude Code, Codex or Gemini CLI, or JSON Lines with `id` and `steps`",
        )
    };
    let mut next = |text: &mut String| {
        text.clear();
        source.read_line(text).map_err(|error| CommandError::file("read", name, &error))
    };
    while next(&mut text)? > 0 {
        number += 1;
        if text.trim().is_empty() {
            continue;
        }
        let value: Json = match serde_json::from_str(&text) {
            Ok(value) => value,
            // Gemini CLI writes one object over many lines.
            Err(error) if number == 1 && error.is_eof() => {
                let mut whole = std::mem::take(&mut text);
                while next(&mut text)? > 0 {
                    whole.push_str(&text);
                }
                let value: Json =
                    serde_json::from_str(&whole).map_err(|error| broken(error.line(), &error))?;
                transcript.take_all(&value);
                break;
            }
            Err(error) => return Err(broken(number, &error)),
        };
        if value.get("steps").is_some() {
            take(serde_json::from_value(value).map_err(|error| broken(number, &error))?)?;
        } else {
            transcript.take_all(&value);
        }
    }
    transcript.finish().map_or(Ok(()), take)
}

/// A transcript, gathered row by row.
#[derive(Debug, Default)]
struct Transcript {
    id: Option<String>,
    cwd: Option<String>,
    goals: Vec<String>,
    steps: Vec<Step>,
    calls: HashMap<String, usize>,
    at: Option<u64>,
}

impl Transcript {
    fn take_all(&mut self, value: &Json) {
        match gemini_messages(value) {
            Some(rows) => rows.iter().for_each(|one| self.take(row(one))),
            None => self.take(row(value)),
        }
    }

    fn take(&mut self, row: Row) {
        let moment = row.at.and_then(|text| text.parse::<jiff::Timestamp>().ok());
        self.at = moment.and_then(|moment| u64::try_from(moment.as_millisecond()).ok()).or(self.at);
        for entry in row.entries {
            match entry {
                Entry::Opened { session, cwd } => {
                    self.id = self.id.take().or(session);
                    self.cwd = self.cwd.take().or(cwd);
                }
                Entry::Person(text) if self.steps.is_empty() => self.goals.push(text),
                Entry::Person(text) => self.step("user_message", Json::String(text)),
                Entry::Agent(text) => self.step("say", Json::String(text)),
                Entry::Condensed => self.step("condensation", Json::Null),
                Entry::Call { id, tool, input } => {
                    if let Some(id) = id {
                        self.calls.insert(id, self.steps.len());
                    }
                    self.step(&tool, input);
                }
                Entry::Answer { id, output, failed } => {
                    let step = self.calls.remove(&id).and_then(|place| self.steps.get_mut(place));
                    if let Some(step) = step {
                        step.is_error = failed;
                        step.output = Json::String(output);
                    }
                }
                Entry::Usage { .. } | Entry::Model(_) => {}
            }
        }
    }

    fn step(&mut self, tool: &str, input: Json) {
        self.steps.push(Step { tool: Some(tool.to_owned()), input, at: self.at, ..Step::default() });
    }

    fn finish(self) -> Option<Recorded> {
        (!self.steps.is_empty()).then(|| Recorded {
            id: self.id.map_or(Json::Null, Json::String),
            steps: self.steps,
            goals: self.goals,
            goal: None,
            cwd: self.cwd,
        })
    }
}
