//! `checkrein replay FILE`: what would have been said to a recorded session, step by step.
//!
//! Reads a transcript of Claude Code, or JSON Lines `{"id", "steps": [{"tool", "input", "output", "is_error", "text"?}]}`.

use std::collections::{BTreeMap, HashMap};
use std::fs;

use checkrein_effects::{AbsolutePath, Action};
use checkrein_protocol::ActionId;
use checkrein_review::VerdictKind;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{Exit, Output, line};
use crate::error::CommandError;
use crate::guard::{Guard, Rehearsal};
use crate::surroundings::Surroundings;
use crate::terminal::{bold, cut, dim, plain, print, verdict};

/// One step of a recorded session.
#[derive(Debug, Clone, Deserialize)]
struct Step {
    tool: Option<String>,
    #[serde(default)]
    input: Json,
    #[serde(default)]
    is_error: bool,
    text: Option<String>,
}

/// A recorded session.
#[derive(Debug, Clone, Deserialize)]
struct Recorded {
    id: Json,
    steps: Vec<Step>,
    #[serde(default)]
    goals: Vec<String>,
    cwd: Option<String>,
}

/// Plays every session of a file.
pub fn replay(surroundings: &Surroundings, file: &str, output: Output) -> Result<Exit, CommandError> {
    let text = fs::read_to_string(file).map_err(|error| CommandError::file("read", file, &error))?;
    let own = surroundings.cwd.clone();
    for session in read(&text, file)? {
        let cwd = session.cwd.as_deref().and_then(AbsolutePath::new).unwrap_or_else(|| own.clone());
        let guard = Guard::open(surroundings.clone(), &cwd);
        play(&guard, &session, &cwd, output)?;
    }
    Ok(Exit::Done)
}

fn play(guard: &Guard, session: &Recorded, cwd: &AbsolutePath, output: Output) -> Result<(), CommandError> {
    let mut rehearsal = Rehearsal::new(guard, &session.goals);
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    if output == Output::Text {
        print(&bold(&format!("session {}", plain(&session.id.to_string()))));
    }
    for (index, step) in session.steps.iter().enumerate() {
        let number = index + 1;
        if let Some(text) = &step.text {
            rehearsal.heard(text);
        }
        let Some(tool) = &step.tool else { continue };
        let action = Action::tool_call(tool.clone(), step.input.clone(), cwd.clone());
        let review = rehearsal.before(&action, ActionId(format!("step-{number}")));
        let kind = review.verdict.kind;
        *counts.entry(kind.name()).or_default() += 1;
        // What was stopped did not run, so its outcome says nothing.
        if kind <= VerdictKind::Nudge {
            rehearsal.after(ActionId(format!("step-{number}")), &action, step.is_error);
        }
        if output == Output::Text {
            let shown = action.shell_text().map_or_else(|| step.input.to_string(), str::to_owned);
            print(&format!("{number:>4}  {:<9} {} {}", verdict(kind.name()), tool, cut(&plain(&shown), 90)));
            for text in review.message().lines() {
                print(&format!("      {}", dim(&plain(text))));
            }
        }
    }
    if output == Output::Json {
        print(&line(&json!({
            "id": session.id,
            "steps": session.steps.len(),
            "detections": [],
            "interventions": [],
            "verdicts": counts,
            "stopped_at": Json::Null,
        }))?);
    }
    Ok(())
}

/// Sessions from either form: lines with `steps` are sessions, other lines are one transcript.
fn read(text: &str, file: &str) -> Result<Vec<Recorded>, CommandError> {
    let mut sessions = Vec::new();
    let mut transcript = Transcript::default();
    for (index, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let broken = |error: serde_json::Error| {
            CommandError::user(
                format!("`{file}` line {}, column {}: {error}", index + 1, error.column()),
                "give a transcript of Claude Code, or JSON Lines with `id` and `steps`",
            )
        };
        let value: Json = serde_json::from_str(text).map_err(broken)?;
        if value.get("steps").is_some() {
            sessions.push(serde_json::from_value(value).map_err(broken)?);
        } else {
            transcript.take(&value);
        }
    }
    sessions.extend(transcript.finish());
    Ok(sessions)
}

/// A transcript of Claude Code, gathered line by line.
#[derive(Debug, Default)]
struct Transcript {
    id: Option<Json>,
    cwd: Option<String>,
    goals: Vec<String>,
    steps: Vec<Step>,
    calls: HashMap<String, usize>,
}

impl Transcript {
    fn take(&mut self, row: &Json) {
        if self.id.is_none() {
            self.id = row.get("sessionId").cloned();
        }
        if self.cwd.is_none() {
            self.cwd = row.get("cwd").and_then(Json::as_str).map(str::to_owned);
        }
        let content = row.get("message").and_then(|message| message.get("content"));
        match (row.get("type").and_then(Json::as_str), content) {
            (Some("user"), Some(Json::String(prompt))) => self.goals.push(prompt.clone()),
            (Some("user" | "assistant"), Some(Json::Array(blocks))) => {
                blocks.iter().for_each(|block| self.take_block(block));
            }
            _ => {}
        }
    }

    fn take_block(&mut self, block: &Json) {
        let text = |key: &str| block.get(key).and_then(Json::as_str).map(str::to_owned);
        match block.get("type").and_then(Json::as_str) {
            Some("tool_use") => {
                if let Some(id) = text("id") {
                    self.calls.insert(id, self.steps.len());
                }
                let input = block.get("input").cloned().unwrap_or(Json::Null);
                self.steps.push(Step { tool: text("name"), input, is_error: false, text: None });
            }
            Some("tool_result") => {
                let step = text("tool_use_id").and_then(|id| self.calls.get(&id).copied());
                let failed = block.get("is_error").and_then(Json::as_bool).unwrap_or(false);
                if let Some(step) = step.and_then(|at| self.steps.get_mut(at)) {
                    step.is_error = failed;
                }
            }
            _ => {}
        }
    }

    fn finish(self) -> Option<Recorded> {
        if self.steps.is_empty() {
            return None;
        }
        Some(Recorded {
            id: self.id.unwrap_or(Json::Null),
            steps: self.steps,
            goals: self.goals,
            cwd: self.cwd,
        })
    }
}
