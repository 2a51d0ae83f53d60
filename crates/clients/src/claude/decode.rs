//! Claude Code's hook payloads to events.

use checkrein_effects::{AbsolutePath, Action, Change, ChangeKind, ToolName};
use checkrein_protocol::{
    ActionId, ActorId, Client, HookEvent, Moment, Outcome, PermissionMode, Progress, SessionId,
};
use serde_json::{Map, Value as Json};

use crate::error::DecodeError;

/// Reads one payload. Bytes that are not UTF-8 are replaced, as the client itself would; fields that this version does not know
/// are kept for the record.
pub fn decode(payload: &[u8]) -> Result<HookEvent, DecodeError> {
    let text = String::from_utf8_lossy(payload);
    let text = text.trim_start_matches('\u{feff}');
    let value: Json = serde_json::from_str(text).map_err(|cause| DecodeError::NotJson { cause })?;
    let Json::Object(fields) = value else { return Err(DecodeError::NotAnObject) };
    let name = required(&fields, "hook_event_name")?.to_owned();
    let session = SessionId(required(&fields, "session_id")?.to_owned());
    let cwd =
        AbsolutePath::new(required(&fields, "cwd")?).ok_or(DecodeError::MissingField { field: "cwd" })?;
    let actor = optional(&fields, "agent_id").map(|id| ActorId(id.to_owned()));
    let own = optional(&fields, "agent_transcript_path").filter(|_| name == "SubagentStop");
    let transcript = own.or_else(|| optional(&fields, "transcript_path")).and_then(AbsolutePath::new);
    let permission_mode = optional(&fields, "permission_mode").map(PermissionMode::of_name);
    let moment = moment(&name, fields, &cwd)?;
    Ok(HookEvent { client: Client::Claude, session, cwd, actor, name, transcript, permission_mode, moment })
}

fn moment(name: &str, mut fields: Map<String, Json>, cwd: &AbsolutePath) -> Result<Moment, DecodeError> {
    Ok(match name {
        "PreToolUse" => {
            let (call, action) = (call(&fields), action(&mut fields, cwd)?);
            readable(&action)?;
            Moment::BeforeAction { call, action }
        }
        "PermissionRequest" => Moment::PermissionAsked { action: action(&mut fields, cwd)? },
        "PostToolUse" => {
            let output = fields.get("tool_response").map(output_text).unwrap_or_default();
            after(fields, cwd, None, output)?
        }
        "PostToolUseFailure" => {
            let error = optional(&fields, "error").unwrap_or("failed, without a text").to_owned();
            let output = error.clone();
            after(fields, cwd, Some(error), output)?
        }
        "UserPromptSubmit" => {
            Moment::Prompt { text: optional(&fields, "prompt").unwrap_or_default().to_owned() }
        }
        "SessionStart" => {
            Moment::SessionStarted { source: optional(&fields, "source").unwrap_or("unknown").to_owned() }
        }
        "SessionEnd" => Moment::SessionEnded,
        "Stop" => Moment::TurnEnding { message: last_message(&fields) },
        "SubagentStart" => Moment::SubagentStarted,
        "SubagentStop" => Moment::SubagentEnding { message: last_message(&fields) },
        "PostToolBatch" => Moment::BatchDone,
        "ConfigChange" => {
            Moment::ConfigurationChanged { file: optional(&fields, "file_path").and_then(AbsolutePath::new) }
        }
        _ => {
            for common in ["session_id", "transcript_path", "cwd", "hook_event_name"] {
                fields.remove(common);
            }
            Moment::Other { fields: Json::Object(fields) }
        }
    })
}

fn after(
    mut fields: Map<String, Json>,
    cwd: &AbsolutePath,
    error: Option<String>,
    output: String,
) -> Result<Moment, DecodeError> {
    let call = call(&fields);
    let duration_ms = fields.get("duration_ms").and_then(Json::as_u64);
    let response = fields.get("tool_response");
    let reported = response.and_then(|response| reported_change(response, cwd)).into_iter().collect();
    let in_background = response.and_then(|response| response.get("backgroundTaskId"));
    let progress =
        if in_background.is_some_and(Json::is_string) { Progress::Running } else { Progress::Finished };
    let action = action(&mut fields, cwd)?;
    let failed = error.is_some();
    Ok(Moment::AfterAction(Outcome { call, action, failed, error, output, duration_ms, reported, progress }))
}

/// What a tool that writes says about it: `filePath` beside the content (a tool that reads has it one level deeper).
fn reported_change(response: &Json, cwd: &AbsolutePath) -> Option<Change> {
    let text = |name: &str| response.get(name).and_then(Json::as_str);
    let path = cwd.join(text("filePath").or_else(|| text("notebook_path"))?);
    let kind = if text("type") == Some("create") { ChangeKind::Created } else { ChangeKind::Modified };
    Some(Change { path, kind })
}

fn action(fields: &mut Map<String, Json>, cwd: &AbsolutePath) -> Result<Action, DecodeError> {
    let tool = ToolName(required(fields, "tool_name")?.to_owned());
    let input = fields.remove("tool_input").unwrap_or(Json::Null);
    Ok(Action { tool, input, cwd: cwd.clone() })
}

/// The fields that tools cannot do without, by the tool. What stands there in another form cannot be judged.
const NEEDED: [(&str, &str); 7] = [
    ("Bash", "command"),
    ("Write", "file_path"),
    ("Write", "content"),
    ("Edit", "file_path"),
    ("MultiEdit", "file_path"),
    ("NotebookEdit", "notebook_path"),
    ("Read", "file_path"),
];

/// Whether the input of a call has the form that its review relies on.
fn readable(action: &Action) -> Result<(), DecodeError> {
    let unusable = |field| Err(DecodeError::Input { tool: action.tool.as_str().to_owned(), field });
    if !action.input.is_object() {
        return unusable("tool_input");
    }
    for (tool, field) in NEEDED {
        if tool == action.tool.as_str() && !action.input.get(field).is_some_and(Json::is_string) {
            return unusable(field);
        }
    }
    match action.shell_field() {
        Some(field) if action.shell_text().is_none() => unusable(field),
        Some(_) | None => Ok(()),
    }
}

fn call(fields: &Map<String, Json>) -> Option<ActionId> {
    optional(fields, "tool_use_id").map(|id| ActionId(id.to_owned()))
}

/// What the agent said last.
fn last_message(fields: &Map<String, Json>) -> Option<String> {
    optional(fields, "last_assistant_message").map(str::to_owned)
}

fn required<'a>(fields: &'a Map<String, Json>, field: &'static str) -> Result<&'a str, DecodeError> {
    optional(fields, field).filter(|text| !text.is_empty()).ok_or(DecodeError::MissingField { field })
}

fn optional<'a>(fields: &'a Map<String, Json>, field: &str) -> Option<&'a str> {
    fields.get(field).and_then(Json::as_str)
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
