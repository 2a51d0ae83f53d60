//! Recorded sessions: JSON Lines of steps, and the transcripts of Claude Code, Codex and Gemini CLI.

use std::collections::{HashMap, VecDeque};
use std::io::BufRead;

use checkrein_clients::transcript::{Row, TranscriptEntry, gemini_messages, row};
use checkrein_protocol::Timestamp;
use serde::Deserialize;
use serde_json::Value as Json;

use checkrein_engine::error::CommandError;

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

/// A recorded session in one line.
#[derive(Debug, Deserialize)]
struct Recorded {
    id: Json,
    steps: Vec<Step>,
    #[serde(default)]
    goals: Vec<String>,
    goal: Option<String>,
    cwd: Option<String>,
}

/// What a session begins with.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) id: Json,
    pub(super) goals: Vec<String>,
    pub(super) cwd: Option<String>,
}

/// Who is told of sessions: of each the opening, every step, the end.
pub(super) trait Listener {
    fn opened(&mut self, opening: Opening) -> Result<(), CommandError>;
    fn step(&mut self, step: &Step) -> Result<(), CommandError>;
    fn closed(&mut self) -> Result<(), CommandError>;
}

/// How many steps of a transcript wait at most for the answer to an earlier call (ours); what then has none never gets one.
const WAITING: usize = 1_000;

/// Every session of a file, one after the other: lines with `steps` are sessions of their own, all other rows together are one transcript. One
/// line is in memory at a time, of a transcript the calls that wait for an answer.
pub(super) fn read(
    mut source: impl BufRead,
    name: &str,
    listener: &mut impl Listener,
) -> Result<(), CommandError> {
    let mut transcript = Transcript::default();
    let mut text = String::new();
    let (mut number, mut is_empty) = (0, true);
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
        is_empty = false;
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
                transcript.take_all(&value, listener)?;
                break;
            }
            Err(error) => return Err(broken(number, &error)),
        };
        if value.get("steps").is_some() {
            let Recorded { id, steps, mut goals, goal, cwd } =
                serde_json::from_value(value).map_err(|error| broken(number, &error))?;
            goals.extend(goal);
            listener.opened(Opening { id, goals, cwd })?;
            steps.iter().try_for_each(|step| listener.step(step))?;
            listener.closed()?;
        } else {
            transcript.take_all(&value, listener)?;
        }
    }
    if is_empty {
        // Nothing that was played is not a session in which nothing was wrong.
        return Err(CommandError::user(
            format!("`{name}` is empty, so nothing was played"),
            "transcripts of Claude Code are in `~/.claude/projects/`",
        ));
    }
    transcript.finish(listener)
}

/// A transcript, row by row.
#[derive(Debug, Default)]
struct Transcript {
    id: Option<String>,
    cwd: Option<String>,
    goals: Vec<String>,
    /// What is not passed on yet.
    queue: VecDeque<Queued>,
    /// How many steps are passed on.
    passed: usize,
    /// The calls that wait for an answer, by their place among all steps.
    calls: HashMap<String, usize>,
    at: Option<u64>,
}

#[derive(Debug)]
struct Queued {
    step: Step,
    /// The call that waits for its answer.
    call: Option<String>,
}

impl Transcript {
    fn take_all(&mut self, value: &Json, listener: &mut impl Listener) -> Result<(), CommandError> {
        match gemini_messages(value) {
            Some(rows) => rows.iter().for_each(|one| self.take(row(one))),
            None => self.take(row(value)),
        }
        self.pass_on(WAITING, listener)
    }

    fn take(&mut self, row: Row) {
        let moment = row.at.and_then(|text| Timestamp::from_rfc3339(&text));
        self.at = moment.map(|moment| moment.0).or(self.at);
        for entry in row.entries {
            match entry {
                TranscriptEntry::Opened { session, cwd } => {
                    self.id = self.id.take().or(session);
                    self.cwd = self.cwd.take().or(cwd);
                }
                TranscriptEntry::Person(text) if self.passed + self.queue.len() == 0 => self.goals.push(text),
                TranscriptEntry::Person(text) => self.step("user_message", Json::String(text), None),
                TranscriptEntry::Agent(text) => self.step("say", Json::String(text), None),
                TranscriptEntry::Condensed => self.step("condensation", Json::Null, None),
                TranscriptEntry::Call { id, tool, input } => self.step(&tool, input, id),
                TranscriptEntry::Answer { id, output, failed } => {
                    let place = self.calls.remove(&id).and_then(|place| place.checked_sub(self.passed));
                    if let Some(queued) = place.and_then(|place| self.queue.get_mut(place)) {
                        queued.step.is_error = failed;
                        queued.step.output = Json::String(output);
                        queued.call = None;
                    }
                }
                TranscriptEntry::Usage { .. } | TranscriptEntry::Model(_) => {}
            }
        }
    }

    fn step(&mut self, tool: &str, input: Json, call: Option<String>) {
        if let Some(id) = &call {
            self.calls.insert(id.clone(), self.passed + self.queue.len());
        }
        let step = Step { tool: Some(tool.to_owned()), input, at: self.at, ..Step::default() };
        self.queue.push_back(Queued { step, call });
    }

    /// Passes on what needs to wait no longer, and what would make more than `waiting` steps wait.
    fn pass_on(&mut self, waiting: usize, listener: &mut impl Listener) -> Result<(), CommandError> {
        while self.queue.front().is_some_and(|first| first.call.is_none()) || self.queue.len() > waiting {
            let Some(Queued { step, call }) = self.queue.pop_front() else { break };
            if let Some(id) = call {
                self.calls.remove(&id);
            }
            if self.passed == 0 {
                listener.opened(Opening {
                    id: self.id.clone().map_or(Json::Null, Json::String),
                    goals: std::mem::take(&mut self.goals),
                    cwd: self.cwd.clone(),
                })?;
            }
            self.passed += 1;
            listener.step(&step)?;
        }
        Ok(())
    }

    fn finish(mut self, listener: &mut impl Listener) -> Result<(), CommandError> {
        self.pass_on(0, listener)?;
        if self.passed > 0 { listener.closed() } else { Ok(()) }
    }
}
