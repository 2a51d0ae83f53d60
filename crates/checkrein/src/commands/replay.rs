//! `checkrein replay FILE`: what would have been said to a recorded session, step by step.
//!
//! Reads a transcript of Claude Code, or JSON Lines `{"id", "steps": [{"tool", "input", "output", "is_error", "text"?}]}`. Steps whose tool is
//! one of these are no calls: `user_message` (the person spoke), `say`, `message`, `think`, `thought` (the agent did), `condensation` (the client
//! shortened the conversation), `observation` (something happened that nobody did).

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Read as _;

use checkrein_effects::{AbsolutePath, Action, Timestamp};
use checkrein_patterns::Issue;
use checkrein_protocol::ActionId;
use checkrein_review::VerdictKind;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::log::severity_name;
use super::{Exit, Output, line};
use crate::error::CommandError;
use crate::guard::Guard;
use crate::rehearsal::{RecordedOutcome, Rehearsal};
use crate::surroundings::Surroundings;
use crate::terminal::{bold, cut, dim, plain, print, verdict};
use crate::watch::{Noticed, stops};

/// One step of a recorded session.
#[derive(Debug, Clone, Default, Deserialize)]
struct Step {
    tool: Option<String>,
    #[serde(default)]
    input: Json,
    #[serde(default)]
    output: Json,
    #[serde(default)]
    is_error: bool,
    text: Option<String>,
    /// When, in milliseconds since 1970.
    at: Option<u64>,
}

/// A recorded session.
#[derive(Debug, Clone, Deserialize)]
struct Recorded {
    id: Json,
    steps: Vec<Step>,
    #[serde(default)]
    goals: Vec<String>,
    goal: Option<String>,
    cwd: Option<String>,
}

/// What kind of step it is.
enum Event<'a> {
    Call(&'a str),
    Person,
    Agent,
    Condensed,
    Outside,
    Nothing,
}

/// Plays every session of a file, or of standard input when it is `-`.
pub fn replay(surroundings: &Surroundings, file: &str, output: Output) -> Result<Exit, CommandError> {
    let failed = |error: std::io::Error| CommandError::file("read", file, &error);
    let text = if file == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(failed)?;
        text
    } else {
        fs::read_to_string(file).map_err(failed)?
    };
    let own = surroundings.cwd.clone();
    for session in read(&text, file)? {
        let cwd = session.cwd.as_deref().and_then(AbsolutePath::new).unwrap_or_else(|| own.clone());
        let guard = Guard::open(surroundings.clone(), &cwd);
        play(&guard, &session, &cwd, output)?;
    }
    Ok(Exit::Done)
}

/// What was found while a session was played.
#[derive(Debug, Default)]
struct Findings {
    verdicts: BTreeMap<&'static str, u64>,
    detections: Vec<Json>,
    /// Detections that the person settled: they spoke before the agent did anything more.
    settled: Vec<Json>,
    /// How many of the detections came after the last thing that the agent did.
    newest: usize,
    interventions: Vec<Json>,
    /// The step after which the session would have been stopped.
    stopped_at: Option<usize>,
}

impl Findings {
    fn noticed(&mut self, step: usize, noticed: &Noticed) {
        if let Some(made) = &noticed.intervention {
            let kind = made.kind.name();
            self.interventions.push(json!({ "step": step, "kind": kind, "about": made.pattern.name() }));
            if stops(made) {
                self.stopped_at = self.stopped_at.or(Some(step));
            }
        }
        self.detected(step, &noticed.issues);
    }

    fn detected(&mut self, step: usize, issues: &[Issue]) {
        self.newest = issues.len();
        self.detections.extend(issues.iter().map(|issue| {
            json!({
                "step": step,
                "type": issue.kind.name(),
                "severity": severity_name(issue.severity),
                "confidence": rounded(issue.confidence.value()),
            })
        }));
    }

    fn person_spoke(&mut self) {
        let first = self.detections.len() - self.newest;
        self.settled.extend(self.detections.drain(first..));
        self.newest = 0;
    }
}

fn play(guard: &Guard, session: &Recorded, cwd: &AbsolutePath, output: Output) -> Result<(), CommandError> {
    let goals: Vec<String> = session.goals.iter().chain(&session.goal).cloned().collect();
    let mut rehearsal = Rehearsal::new(guard, &goals);
    let mut findings = Findings::default();
    if output == Output::Text {
        print(&bold(&format!("session {}", plain(&session.id.to_string()))));
    }
    for (index, step) in session.steps.iter().enumerate() {
        let number = index + 1;
        rehearsal.wait_until(step.at.map(Timestamp));
        if let Some(text) = &step.text {
            findings.person_spoke();
            rehearsal.heard(text);
        }
        let said = step.input.as_str().map_or_else(|| step.input.to_string(), str::to_owned);
        let noticed = match event(step) {
            Event::Call(tool) => {
                let action = Action::tool_call(tool, input(tool, &step.input), cwd.clone());
                let review = rehearsal.before(&action, ActionId(format!("step-{number}")));
                let kind = review.verdict.kind;
                *findings.verdicts.entry(kind.name()).or_default() += 1;
                if output == Output::Text {
                    let shown = action.shell_text().map_or_else(|| step.input.to_string(), str::to_owned);
                    print(&format!(
                        "{number:>4}  {:<9} {} {}",
                        verdict(kind.name()),
                        tool,
                        cut(&plain(&shown), 90)
                    ));
                    for text in review.message().lines() {
                        print(&format!("      {}", dim(&plain(text))));
                    }
                }
                // What was refused did not run, so its outcome says nothing; what was asked about ran, as the recording shows.
                if kind <= VerdictKind::Escalate {
                    let text = step.output.as_str().map_or_else(|| json_text(&step.output), str::to_owned);
                    let outcome = RecordedOutcome { output: &text, failed: step.is_error };
                    rehearsal.after(ActionId(format!("step-{number}")), &action, outcome)
                } else {
                    rehearsal.refused()
                }
            }
            Event::Person => {
                findings.person_spoke();
                rehearsal.heard(&said);
                continue;
            }
            Event::Agent => rehearsal.said(&said),
            Event::Condensed => rehearsal.condensed(),
            Event::Outside => {
                rehearsal.happened();
                continue;
            }
            Event::Nothing => continue,
        };
        if output == Output::Text {
            show(&noticed);
        }
        findings.noticed(number, &noticed);
        if findings.stopped_at.is_some() {
            // Nothing after it would have happened.
            break;
        }
    }
    if output == Output::Json {
        print(&line(&json!({
            "id": session.id,
            "steps": session.steps.len(),
            "detections": findings.detections,
            "settled": findings.settled,
            "interventions": findings.interventions,
            "verdicts": findings.verdicts,
            "stopped_at": findings.stopped_at,
        }))?);
    }
    Ok(())
}

/// What was noticed after a step, below it.
fn show(noticed: &Noticed) {
    for issue in &noticed.issues {
        let (name, severity) = (issue.kind.name(), severity_name(issue.severity));
        print(&format!("      {} {severity}: {}", bold(name), plain(&issue.summary)));
    }
    if let Some(made) = &noticed.intervention {
        print(&format!("      {} ({})", bold(made.kind.name()), plain(&made.reason)));
        for text in made.text.lines() {
            print(&format!("        {}", dim(&plain(text))));
        }
    }
}

fn event(step: &Step) -> Event<'_> {
    match step.tool.as_deref() {
        None => Event::Nothing,
        Some("observation") => Event::Outside,
        Some("user_message") => Event::Person,
        // A thought that was not written down is nothing.
        Some("say" | "message" | "think" | "thought") => {
            if step.input.as_str() == Some("") {
                Event::Nothing
            } else {
                Event::Agent
            }
        }
        Some("condensation") => Event::Condensed,
        Some(tool) => Event::Call(tool),
    }
}

/// The input of a call; recordings give that of a shell as its text alone.
fn input(tool: &str, input: &Json) -> Json {
    let named = Action::tool_call(tool, json!({ "command": input }), AbsolutePath::root());
    if named.shell_text().is_some() { named.input } else { input.clone() }
}

fn json_text(value: &Json) -> String {
    if value.is_null() { String::new() } else { value.to_string() }
}

/// Two decimals: a confidence is no more exact than that.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
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

/// Who wrote a block of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    Person,
    Agent,
}

/// A transcript of Claude Code, gathered line by line.
#[derive(Debug, Default)]
struct Transcript {
    id: Option<Json>,
    cwd: Option<String>,
    goals: Vec<String>,
    steps: Vec<Step>,
    calls: HashMap<String, usize>,
    at: Option<u64>,
}

impl Transcript {
    fn take(&mut self, row: &Json) {
        if self.id.is_none() {
            self.id = row.get("sessionId").cloned();
        }
        if self.cwd.is_none() {
            self.cwd = row.get("cwd").and_then(Json::as_str).map(str::to_owned);
        }
        let moment =
            row.get("timestamp").and_then(Json::as_str).and_then(|text| text.parse::<jiff::Timestamp>().ok());
        self.at = moment.and_then(|moment| u64::try_from(moment.as_millisecond()).ok()).or(self.at);
        let content = row.get("message").and_then(|message| message.get("content"));
        match (row.get("type").and_then(Json::as_str), content) {
            (Some("user"), Some(Json::String(prompt))) => self.person_said(prompt),
            (Some(who @ ("user" | "assistant")), Some(Json::Array(blocks))) => {
                let speaker = if who == "user" { Speaker::Person } else { Speaker::Agent };
                blocks.iter().for_each(|block| self.take_block(block, speaker));
            }
            _ => {}
        }
    }

    fn person_said(&mut self, text: &str) {
        if self.steps.is_empty() {
            self.goals.push(text.to_owned());
        } else {
            self.message("user_message", text);
        }
    }

    fn message(&mut self, tool: &str, text: &str) {
        let input = Json::String(text.to_owned());
        self.steps.push(Step { tool: Some(tool.to_owned()), input, at: self.at, ..Step::default() });
    }

    fn take_block(&mut self, block: &Json, speaker: Speaker) {
        let text = |key: &str| block.get(key).and_then(Json::as_str).map(str::to_owned);
        match block.get("type").and_then(Json::as_str) {
            Some("text") => match (speaker, text("text")) {
                (Speaker::Person, Some(said)) => self.person_said(&said),
                (Speaker::Agent, Some(said)) => self.message("say", &said),
                (_, None) => {}
            },
            Some("tool_use") => {
                if let Some(id) = text("id") {
                    self.calls.insert(id, self.steps.len());
                }
                let input = block.get("input").cloned().unwrap_or(Json::Null);
                self.steps.push(Step { tool: text("name"), input, at: self.at, ..Step::default() });
            }
            Some("tool_result") => {
                let step = text("tool_use_id").and_then(|id| self.calls.get(&id).copied());
                let failed = block.get("is_error").and_then(Json::as_bool).unwrap_or(false);
                if let Some(step) = step.and_then(|at| self.steps.get_mut(at)) {
                    step.is_error = failed;
                    step.output = Json::String(result_text(block.get("content")));
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
            goal: None,
            cwd: self.cwd,
        })
    }
}

/// The text of a tool's result: a string, or blocks with texts.
fn result_text(content: Option<&Json>) -> String {
    match content {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Array(blocks)) => {
            let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Json::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
