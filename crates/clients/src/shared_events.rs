//! Events under the names that Claude Code gave them, for clients that took these over, or whose payloads are put into that form.

use checkrein_protocol::{
    AbsolutePath, Action, CallProgress, Change, Client, HookEvent, HookEventKind, Outcome, SuccessReporting,
};
use serde_json::Value as Json;

use crate::error::DecodeError;
use crate::payload::{Payload, readable};

/// How the payloads of a client differ.
pub(crate) struct Reading {
    /// The client.
    pub(crate) client: Client,
    /// The shared name of an event.
    pub(crate) meaning: fn(&str) -> &str,
    /// A call under our names.
    pub(crate) named: fn(Action) -> Result<Action, DecodeError>,
    /// What a tool answered.
    pub(crate) answered: fn(&Action, &Json) -> Answered,
    /// Whether a client tells that a command failed.
    pub(crate) success: SuccessReporting,
}

/// What a tool answered.
#[derive(Debug, Default)]
pub(crate) struct Answered {
    /// The output.
    pub(crate) output: String,
    /// What went wrong.
    pub(crate) error: Option<String>,
    /// What the tool says that it changed.
    pub(crate) reported: Vec<Change>,
    /// Whether it goes on in the background.
    pub(crate) is_running: bool,
}

impl Answered {
    /// An output alone.
    pub(crate) fn output(text: String) -> Self {
        Self { output: text, ..Self::default() }
    }
}

impl Reading {
    /// Reads one payload whose fields have the shared names.
    pub(crate) fn event(&self, payload: Payload) -> Result<HookEvent, DecodeError> {
        payload.event(self.client, |name, payload, cwd| self.moment(name, payload, cwd))
    }

    fn moment(
        &self,
        name: &str,
        mut payload: Payload,
        cwd: &AbsolutePath,
    ) -> Result<HookEventKind, DecodeError> {
        let said = |payload: &Payload| payload.text("last_assistant_message").map(str::to_owned);
        Ok(match (self.meaning)(name) {
            "PreToolUse" => {
                let (call, action) = (payload.call(), (self.named)(payload.action(cwd)?)?);
                readable(&action)?;
                HookEventKind::BeforeAction { call, action }
            }
            "PermissionRequest" => {
                let action = (self.named)(payload.action(cwd)?)?;
                readable(&action)?;
                HookEventKind::PermissionAsked { action }
            }
            "PostToolUse" | "PostToolUseFailure" => self.outcome(payload, cwd)?,
            "UserPromptSubmit" => HookEventKind::Prompt { text: payload.own_text("prompt") },
            "SessionStart" => HookEventKind::SessionStarted {
                source: payload.text("source").unwrap_or("unknown").to_owned(),
            },
            "SessionEnd" => HookEventKind::SessionEnded,
            "Stop" => HookEventKind::TurnEnding { message: said(&payload) },
            "SubagentStart" => HookEventKind::SubagentStarted,
            "SubagentStop" => HookEventKind::SubagentEnding { message: said(&payload) },
            "PostToolBatch" => HookEventKind::BatchDone,
            // A call that waits for an answer, under a name that nobody knows: what is not read is not passed.
            _ if payload.carries_a_call() => {
                return Err(DecodeError::UnknownEvent { name: name.chars().take(64).collect() });
            }
            _ => payload.other(),
        })
    }

    fn outcome(&self, mut payload: Payload, cwd: &AbsolutePath) -> Result<HookEventKind, DecodeError> {
        let call = payload.call();
        let duration_ms = payload.value("duration_ms").and_then(Json::as_u64);
        let error = payload.text("error").map(str::to_owned);
        let response = payload.take("tool_response");
        // What has run is told of, whether or not it can be read.
        let told = payload.action(cwd)?;
        let action = (self.named)(told.clone()).unwrap_or(told);
        let mut answered = match (&response, &error) {
            (None, Some(error)) => Answered::output(error.clone()),
            (None, None) => Answered::default(),
            (Some(response), _) => (self.answered)(&action, response),
        };
        let error = error.or(answered.error.take());
        Ok(HookEventKind::AfterAction(Outcome {
            call,
            failed: error.is_some(),
            success: if action.shell_field().is_some() { self.success } else { SuccessReporting::Told },
            error,
            answered: None,
            reported: answered.reported,
            duration_ms,
            progress: if answered.is_running { CallProgress::Running } else { CallProgress::Finished },
            output: answered.output,
            action,
        }))
    }
}

/// An answer as text: itself, or the texts of several parts.
pub(crate) fn text_of(value: &Json) -> String {
    let parts = value.as_array().map(|parts| parts.iter().filter_map(|part| part.get("text")?.as_str()));
    match (value.as_str(), parts) {
        (Some(text), _) => text.to_owned(),
        (None, Some(parts)) => parts.collect::<Vec<_>>().join("\n"),
        (None, None) => value.to_string(),
    }
}

/// What is said when a call that would run in another form is refused, by a client in which no hook changes a call.
pub(crate) fn instead(input: &Json, text: &str) -> String {
    let command = ["command", "cmd"].iter().find_map(|field| input.get(*field)?.as_str());
    // What a changed call is told says that it runs.
    let text: Vec<&str> = text.lines().filter(|line| !line.starts_with("Now runs: ")).collect();
    let text = text.join("\n").replacen("checkrein changed this call: ", "checkrein stopped this call: ", 1);
    match command {
        Some(command) => format!(
            "{text}\nThis client lets no hook change a call, so it did not run. Make this call instead: {command}"
        ),
        None => text,
    }
}
