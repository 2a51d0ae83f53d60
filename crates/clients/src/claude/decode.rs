//! Claude Code's hook payloads to events.

use checkrein_protocol::{
    AbsolutePath, CallProgress, Change, ChangeKind, Client, HookEvent, HookEventKind, Outcome,
    SuccessReporting,
};

use serde_json::Value as Json;

use super::hooks::EVENTS;
use crate::copilot::{decode_of_claude, is_of_copilot};
use crate::error::DecodeError;
use crate::payload::{Payload, readable};

/// Reads one payload. Fields that this version does not know are kept for the record.
pub(super) fn decode(payload: &[u8]) -> Result<HookEvent, DecodeError> {
    let payload = Payload::parse(payload)?;
    // Copilot CLI calls the hooks in the settings of Claude Code too.
    if is_of_copilot(&payload) {
        return decode_of_claude(payload);
    }
    payload.event(Client::CLAUDE, moment)
}

fn moment(name: &str, mut payload: Payload, cwd: &AbsolutePath) -> Result<HookEventKind, DecodeError> {
    Ok(match name {
        "PreToolUse" => {
            let (call, action) = (payload.call(), payload.action(cwd)?);
            readable(&action)?;
            HookEventKind::BeforeAction { call, action }
        }
        "PermissionRequest" => {
            let action = payload.action(cwd)?;
            readable(&action)?;
            HookEventKind::PermissionAsked { action }
        }
        "PostToolUse" => {
            let output = payload.value("tool_response").map(output_text).unwrap_or_default();
            after(payload, cwd, None, output)?
        }
        "PostToolUseFailure" => {
            let error = payload.text("error").unwrap_or("failed, without a text").to_owned();
            let output = error.clone();
            after(payload, cwd, Some(error), output)?
        }
        "UserPromptSubmit" => HookEventKind::Prompt { text: payload.own_text("prompt") },
        "SessionStart" => {
            HookEventKind::SessionStarted { source: payload.text("source").unwrap_or("unknown").to_owned() }
        }
        "SessionEnd" => HookEventKind::SessionEnded,
        "Stop" => HookEventKind::TurnEnding { message: last_message(&payload) },
        "SubagentStart" => HookEventKind::SubagentStarted,
        "SubagentStop" => HookEventKind::SubagentEnding { message: last_message(&payload) },
        "PostToolBatch" => HookEventKind::BatchDone,
        "ConfigChange" => HookEventKind::ConfigurationChanged {
            file: payload.text("file_path").and_then(AbsolutePath::new),
        },
        // A call that waits for an answer, under a name that nobody knows: what is not read is not passed.
        _ if payload.carries_a_call() && EVENTS.iter().all(|(known, _)| *known != name) => {
            return Err(DecodeError::UnknownEvent { name: name.chars().take(64).collect() });
        }
        _ => payload.other(),
    })
}

fn after(
    mut payload: Payload,
    cwd: &AbsolutePath,
    error: Option<String>,
    output: String,
) -> Result<HookEventKind, DecodeError> {
    let call = payload.call();
    let duration_ms = payload.value("duration_ms").and_then(Json::as_u64);
    let response = payload.value("tool_response");
    let reported = response.and_then(|response| reported_change(response, cwd)).into_iter().collect();
    let in_background = response.and_then(|response| response.get("backgroundTaskId"));
    let progress = if in_background.is_some_and(Json::is_string) {
        CallProgress::Running
    } else {
        CallProgress::Finished
    };
    let action = payload.action(cwd)?;
    let failed = error.is_some();
    // What failed is shown as it is, whatever a hook says.
    let answered = if failed { None } else { payload.take("tool_response") };
    Ok(HookEventKind::AfterAction(Outcome {
        call,
        action,
        failed,
        success: SuccessReporting::Told,
        error,
        output,
        duration_ms,
        answered,
        reported,
        progress,
    }))
}

/// What a tool that writes says about it: `filePath` beside the content (a tool that reads has it one level deeper).
fn reported_change(response: &Json, cwd: &AbsolutePath) -> Option<Change> {
    let text = |name: &str| response.get(name).and_then(Json::as_str);
    let path = cwd.join(text("filePath").or_else(|| text("notebook_path"))?);
    let kind = if text("type") == Some("create") { ChangeKind::Created } else { ChangeKind::Modified };
    Some(Change { path, kind })
}

/// What the agent said last.
fn last_message(payload: &Payload) -> Option<String> {
    payload.text("last_assistant_message").map(str::to_owned)
}

/// What a tool answered, as text: the streams of a shell call, else the JSON itself.
fn output_text(response: &Json) -> String {
    let stream = |name: &str| response.get(name).and_then(Json::as_str);
    match (response.as_str(), stream("stdout"), stream("stderr")) {
        (Some(text), _, _) => text.to_owned(),
        (None, Some(stdout), Some(stderr)) if !stderr.is_empty() => format!("{stdout}\n{stderr}"),
        (None, Some(stdout), _) => stdout.to_owned(),
        (None, None, _) => response.to_string(),
    }
}
