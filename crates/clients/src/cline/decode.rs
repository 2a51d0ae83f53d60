//! Cline's hook payloads to events: those of its command line, and calls as its extension tells of them.

use std::slice;

use checkrein_protocol::{Action, HookEvent, SuccessReporting};
use serde_json::Value as Json;

use super::CLINE;
use crate::error::DecodeError;
use crate::payload::{Payload, told_object};
use crate::shared_events::{Answered, Reading, text_of};
use crate::tool_names::{Folders, canonical, of_server};

const READING: Reading = Reading {
    client: CLINE,
    meaning,
    named: |action| canonical(of_server(plain(action), "__"), Folders::These(&[])),
    answered,
    success: SuccessReporting::Told,
};

/// Reads one payload. Fields that this version does not know are kept for the record.
pub(super) fn decode(payload: &[u8]) -> Result<HookEvent, DecodeError> {
    let mut payload = Payload::parse(payload)?;
    payload.rename("hookName", "hook_event_name");
    // The session of a subagent is a task of its own; what it does belongs to that of its root.
    let root = payload.value("sessionContext").and_then(|context| context.get("rootSessionId")?.as_str());
    if let Some(root) = root.map(str::to_owned) {
        payload.fill("session_id", root);
    }
    payload.rename("taskId", "session_id");
    let folder = payload.value("workspaceRoots").and_then(|roots| roots.get(0)?.as_str().map(str::to_owned));
    if let Some(folder) = folder {
        payload.fill("cwd", folder);
    }
    // The main agent has a name too.
    if payload.value("parent_agent_id").is_none_or(Json::is_null) {
        payload.take("agent_id");
    }
    for (call, fields) in
        [("tool_call", CALL), ("tool_result", CALL), ("preToolUse", EXTENSION), ("postToolUse", EXTENSION)]
    {
        let Some(mut object) = payload.take(call).map(told_object) else { continue };
        for (theirs, shared) in fields {
            if let Some(value) = object.get_mut(*theirs).map(Json::take).filter(|value| !value.is_null()) {
                payload.fill(shared, value);
            }
        }
    }
    if let Some(turn) = payload.take("turn")
        && let Some(text) = turn.get("outputText").and_then(Json::as_str)
    {
        payload.fill("last_assistant_message", text);
    }
    READING.event(payload)
}

/// The fields of its tools that hold lists, which it takes as texts too.
const LISTS: [&str; 4] = ["files", "requests", "queries", "paths"];

/// The fields with the text of a patch.
const PATCHES: [&str; 4] = ["input", "patch", "patchText", "command"];

/// Puts the two markers around a patch that does not begin with one, as the client does before it applies it (seen in its program).
fn mark(patch: &mut Json) {
    const BEGIN: &str = "*** Begin Patch";
    if let Some(text) = patch.as_str().filter(|text| !text.trim_start().starts_with(BEGIN)) {
        *patch = Json::from(format!("{BEGIN}\n{text}\n*** End Patch"));
    }
}

/// The call with its lists as lists, and with the addresses of its requests under a name that is known.
fn plain(mut action: Action) -> Action {
    const COMMANDS: [&str; 5] = ["commands", "command", "args", "input", "cmd"];
    let Some(fields) = action.input.as_object_mut() else { return action };
    for name in LISTS {
        let read = fields.get(name).and_then(Json::as_str).and_then(|text| serde_json::from_str(text).ok());
        if let Some(list @ (Json::Array(_) | Json::Object(_))) = read {
            fields.insert(name.to_owned(), list);
        }
    }
    if ["apply_patch", "ApplyPatch"].contains(&action.tool.as_str()) {
        fields
            .iter_mut()
            .filter(|(name, _)| PATCHES.contains(&name.as_str()))
            .for_each(|(_, text)| mark(text));
    }
    if let Some(requests) = fields.get("requests") {
        // One may stand there without a list.
        let all = requests.as_array().map_or(slice::from_ref(requests), Vec::as_slice);
        let urls: Vec<Json> = all.iter().filter_map(|one| one.get("url").cloned()).collect();
        fields.insert("urls".to_owned(), Json::from(urls));
    }
    // The client answers such a call itself: there is nothing that would run.
    if action.tool.as_str() == "run_commands" && !COMMANDS.iter().any(|name| fields.contains_key(*name)) {
        fields.insert("command".to_owned(), Json::from(""));
    }
    action
}

/// Fields of a call, and what they are called elsewhere.
const CALL: &[(&str, &str)] = &[
    ("id", "tool_use_id"),
    ("name", "tool_name"),
    ("input", "tool_input"),
    ("output", "tool_response"),
    ("error", "error"),
    ("durationMs", "duration_ms"),
];

/// The same in the payloads of the extension.
const EXTENSION: &[(&str, &str)] = &[
    ("toolName", "tool_name"),
    ("parameters", "tool_input"),
    ("result", "tool_response"),
    ("executionTimeMs", "duration_ms"),
];

fn meaning(name: &str) -> &str {
    match name {
        "tool_call" => "PreToolUse",
        "tool_result" => "PostToolUse",
        "agent_start" | "TaskStart" | "TaskResume" => "SessionStart",
        "agent_end" | "TaskComplete" => "Stop",
        "session_shutdown" => "SessionEnd",
        other => other,
    }
}

/// The results of one or several commands or files, each with whether it worked; a result of a server.
fn answered(_: &Action, response: &Json) -> Answered {
    let list = response.as_array().map_or_else(|| std::slice::from_ref(response), Vec::as_slice);
    let text = |one: &Json| match (one.get("result"), one.get("content")) {
        (Some(result), _) => text_of(result),
        (None, Some(content)) => text_of(content),
        (None, None) => text_of(one),
    };
    let failed = |one: &&Json| {
        one.get("success").and_then(Json::as_bool) == Some(false)
            || one.get("isError").and_then(Json::as_bool) == Some(true)
    };
    let error = list.iter().find(failed).map(|one| one.get("error").map_or_else(|| text(one), text_of));
    Answered { error, ..Answered::output(list.iter().map(text).collect::<Vec<_>>().join("\n")) }
}

#[cfg(test)]
mod tests {
    use checkrein_protocol::HookEventKind;
    use serde_json::json;

    use super::*;

    fn read(tool: &str, input: &Json) -> Action {
        let payload = json!({ "taskId": "t", "hookName": "tool_call", "workspaceRoots": ["/w"],
            "tool_call": { "id": "1", "name": tool, "input": input } });
        match decode(payload.to_string().as_bytes()).unwrap().moment {
            HookEventKind::BeforeAction { action, .. } => action,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lists_are_lists_however_they_are_written() {
        let files = json!([{ "path": "/h/.ssh/id_rsa" }]);
        assert_eq!(read("read_files", &json!({ "files": files.to_string() })).input["files"], files);
        let request = json!({ "url": "https://a.b/c", "prompt": "x" });
        for requests in [
            json!([request]),
            request.clone(),
            json!(json!([request]).to_string()),
            json!(request.to_string()),
        ] {
            let action = read("fetch_web_content", &json!({ "requests": requests }));
            assert_eq!(action.input["urls"], json!(["https://a.b/c"]), "{requests}");
        }
    }

    #[test]
    fn a_patch_has_its_markers_whether_or_not_they_are_told() {
        let of = |text: &str| read("apply_patch", &json!({ "input": text })).input["command"].clone();
        let whole = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
        assert_eq!(of("*** Delete File: a"), json!(whole));
        assert_eq!(of(whole), json!(whole));
        let later = of("*** Delete File: a\n*** Add File: b\n+*** Begin Patch");
        assert!(later.as_str().unwrap().starts_with("*** Begin Patch\n*** Delete File: a"), "{later}");
    }

    #[test]
    fn a_call_that_the_client_answers_itself_does_nothing() {
        assert_eq!(read("run_commands", &json!({})).shell_text(), Some(""));
        let payload = json!({ "taskId": "t", "hookName": "tool_call", "workspaceRoots": ["/w"],
            "tool_call": { "id": "1", "name": "run_commands", "input": { "commands": 7 } } });
        assert!(decode(payload.to_string().as_bytes()).is_err());
    }
}
