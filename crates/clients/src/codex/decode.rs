//! Codex's hook payloads to events.

use checkrein_protocol::{
    AbsolutePath, CallProgress, Change, ChangeKind, HookEvent, HookEventKind, Outcome, SuccessReporting,
};

use serde_json::Value as Json;

use super::CODEX;
use crate::error::DecodeError;
use crate::payload::{Payload, readable};

/// Reads one payload. Fields that this version does not know are kept for the record.
pub(super) fn decode(payload: &[u8]) -> Result<HookEvent, DecodeError> {
    Payload::parse(payload)?.event(CODEX, moment)
}

fn moment(name: &str, mut payload: Payload, cwd: &AbsolutePath) -> Result<HookEventKind, DecodeError> {
    let said = |payload: &Payload| payload.text("last_assistant_message").map(str::to_owned);
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
        "PostToolUse" => HookEventKind::AfterAction(outcome(payload, cwd)?),
        "UserPromptSubmit" => HookEventKind::Prompt { text: payload.own_text("prompt") },
        "SessionStart" => {
            HookEventKind::SessionStarted { source: payload.text("source").unwrap_or("unknown").to_owned() }
        }
        "SessionEnd" => HookEventKind::SessionEnded,
        "Stop" => HookEventKind::TurnEnding { message: said(&payload) },
        "SubagentStart" => HookEventKind::SubagentStarted,
        "SubagentStop" => HookEventKind::SubagentEnding { message: said(&payload) },
        // A call that waits for an answer, under a name that nobody knows: what is not read is not passed.
        _ if payload.carries_a_call() => {
            return Err(DecodeError::UnknownEvent { name: name.chars().take(64).collect() });
        }
        _ => payload.other(),
    })
}

/// How a call went: a text without an exit status for commands and patches, an object with `isError` for tools of servers.
fn outcome(mut payload: Payload, cwd: &AbsolutePath) -> Result<Outcome, DecodeError> {
    let call = payload.call();
    let response = payload.take("tool_response").unwrap_or(Json::Null);
    let action = payload.action(cwd)?;
    let failed = response.get("isError").and_then(Json::as_bool) == Some(true);
    let output = response.as_str().map_or_else(|| response.to_string(), str::to_owned);
    let is_patch = action.tool.as_str() == "apply_patch";
    let reported = if is_patch { changed(&output, cwd) } else { Vec::new() };
    Ok(Outcome {
        call,
        failed,
        error: failed.then(|| output.clone()),
        answered: None,
        reported,
        duration_ms: None,
        progress: CallProgress::Finished,
        success: if action.shell_field().is_some() {
            SuccessReporting::NotTold
        } else {
            SuccessReporting::Told
        },
        action,
        output,
    })
}

/// The files that the patch tool says it changed: lines `A path`, `M path`, `D path`.
fn changed(output: &str, cwd: &AbsolutePath) -> Vec<Change> {
    let lines = output.lines().skip_while(|line| !line.starts_with("Success.")).skip(1);
    let change = |line: &str| {
        let (word, path) = line.split_once(' ')?;
        let kind = match word {
            "A" => ChangeKind::Created,
            "M" => ChangeKind::Modified,
            "D" => ChangeKind::Deleted,
            _ => return None,
        };
        Some(Change { path: cwd.join(path.trim_end()), kind })
    };
    lines.map_while(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_tells_what_it_changed() {
        let payload = br#"{"session_id":"s","cwd":"/w","hook_event_name":"PostToolUse","tool_name":"apply_patch","tool_input":{"command":"x"},
            "tool_response":"Exit code: 0\nOutput:\nSuccess. Updated the following files:\nA new file.txt\nD /o/gone\n\nD no","tool_use_id":"c"}"#;
        let HookEventKind::AfterAction(outcome) = decode(payload).unwrap().moment else { panic!() };
        let found: Vec<(&str, ChangeKind)> =
            outcome.reported.iter().map(|change| (change.path.as_str(), change.kind)).collect();
        assert_eq!(found, [("/w/new file.txt", ChangeKind::Created), ("/o/gone", ChangeKind::Deleted)]);
    }
}
