//! Gemini CLI's hook payloads to events.

use checkrein_protocol::{
    AbsolutePath, Action, CallProgress, Change, ChangeKind, HookEvent, HookEventKind, Outcome,
    SuccessReporting, ToolName,
};

use serde_json::Value as Json;

use super::GEMINI;
use crate::error::DecodeError;
use crate::payload::{Payload, readable};
use crate::tool_names::{Folders, canonical};

/// Reads one payload. Fields that this version does not know are kept for the record.
pub(super) fn decode(payload: &[u8]) -> Result<HookEvent, DecodeError> {
    Payload::parse(payload)?.event(GEMINI, moment)
}

fn moment(name: &str, mut payload: Payload, cwd: &AbsolutePath) -> Result<HookEventKind, DecodeError> {
    Ok(match name {
        "BeforeTool" => {
            let told = payload.action(cwd)?;
            let action = named(&payload, told)?;
            readable(&action)?;
            // It names no call.
            HookEventKind::BeforeAction { call: None, action }
        }
        "AfterTool" => HookEventKind::AfterAction(outcome(payload, cwd)?),
        "BeforeAgent" => HookEventKind::Prompt { text: payload.own_text("prompt") },
        "AfterAgent" => {
            HookEventKind::TurnEnding { message: payload.text("prompt_response").map(str::to_owned) }
        }
        "SessionStart" => {
            HookEventKind::SessionStarted { source: payload.text("source").unwrap_or("unknown").to_owned() }
        }
        "SessionEnd" => HookEventKind::SessionEnded,
        // A call that waits for an answer, under a name that nobody knows: what is not read is not passed.
        _ if payload.carries_a_call() => {
            return Err(DecodeError::UnknownEvent { name: name.chars().take(64).collect() });
        }
        _ => payload.other(),
    })
}

/// The call under our names of the tools, where the input has the same form.
fn named(payload: &Payload, action: Action) -> Result<Action, DecodeError> {
    let of_server = payload.value("mcp_context").and_then(|context| {
        let text = |key: &str| context.get(key).and_then(Json::as_str);
        Some(format!("mcp__{}__{}", text("server_name")?, text("tool_name")?))
    });
    match of_server {
        Some(name) => Ok(Action { tool: ToolName(name), ..action }),
        None => canonical(action, Folders::These(&["dir_path"])),
    }
}

fn outcome(mut payload: Payload, cwd: &AbsolutePath) -> Result<Outcome, DecodeError> {
    let response = payload.take("tool_response").unwrap_or(Json::Null);
    // What has run is told of, whether or not it can be read.
    let told = payload.action(cwd)?;
    let action = named(&payload, told.clone()).unwrap_or(told);
    let output = text(response.get("llmContent").unwrap_or(&response));
    let message =
        response.get("error").map(|error| error.get("message").map_or_else(|| error.to_string(), text));
    let status = action.shell_field().and_then(|_| exit_code(&output));
    let error = message.or_else(|| status.map(|code| format!("Exit code {code}")));
    let output = if action.shell_field().is_some() { without_group(&output) } else { output };
    let in_background = action.input.get("is_background").and_then(Json::as_bool) == Some(true);
    Ok(Outcome {
        call: None,
        failed: error.is_some(),
        success: SuccessReporting::Told,
        error,
        answered: None,
        reported: response
            .get("returnDisplay")
            .and_then(|shown| reported_change(shown, cwd))
            .into_iter()
            .collect(),
        duration_ms: None,
        progress: if in_background { CallProgress::Running } else { CallProgress::Finished },
        action,
        output,
    })
}

/// The exit code of a command that failed, which stands in a line of its own behind the output.
fn exit_code(output: &str) -> Option<&str> {
    let code = output.lines().rev().find_map(|line| line.strip_prefix("Exit Code: "))?.trim();
    (code != "0" && code.parse::<i32>().is_ok()).then_some(code)
}

/// The output without the line that names the process group: equal calls with equal results would look different by its number.
fn without_group(output: &str) -> String {
    let lines = output.lines().filter(|line| !line.starts_with("Process Group PGID: "));
    lines.collect::<Vec<_>>().join("\n")
}

/// What a tool that writes says about it: the file beside what stood there.
fn reported_change(shown: &Json, cwd: &AbsolutePath) -> Option<Change> {
    let text = |name: &str| shown.get(name).and_then(Json::as_str);
    let path = cwd.join(text("filePath").filter(|_| shown.get("fileDiff").is_some())?);
    let kind = if text("originalContent") == Some("") { ChangeKind::Created } else { ChangeKind::Modified };
    Some(Change { path, kind })
}

/// A text, or the texts of several parts.
fn text(value: &Json) -> String {
    let parts = value.as_array().map(|parts| parts.iter().filter_map(|part| part.get("text")?.as_str()));
    match (value.as_str(), parts) {
        (Some(text), _) => text.to_owned(),
        (None, Some(parts)) => parts.collect::<Vec<_>>().join("\n"),
        (None, None) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(tool: &str, response: &str) -> Outcome {
        let payload = format!(
            r#"{{"session_id":"s","cwd":"/w","hook_event_name":"AfterTool","tool_name":"{tool}","tool_input":{{"command":"x"}},"tool_response":{response}}}"#
        );
        match decode(payload.as_bytes()).unwrap().moment {
            HookEventKind::AfterAction(outcome) => outcome,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_failure_is_told_by_an_error_or_an_exit_code() {
        let failed = after(
            "run_shell_command",
            r#"{"llmContent":"<c>\nOutput: a\nExit Code: 3\nProcess Group PGID: 1\n</c>"}"#,
        );
        assert_eq!((failed.failed, failed.error.as_deref()), (true, Some("Exit code 3")));
        assert_eq!(failed.output, "<c>\nOutput: a\nExit Code: 3\n</c>");
        assert!(!after("run_shell_command", r#"{"llmContent":"<c>\nOutput: a\n</c>"}"#).failed);
        assert!(!after("read_file", r#"{"llmContent":"Exit Code: 3"}"#).failed, "a file may say so");
        let missing = after("read_file", r#"{"llmContent":[{"text":"x"}],"error":{"message":"gone"}}"#);
        assert_eq!((missing.output.as_str(), missing.error.as_deref()), ("x", Some("gone")));
    }
}
