//! Cursor, by its documentation: nobody here has seen it run.
//!
//! A call is told of twice, as a tool and as a command or a tool of a server. Our hooks are registered for the first, which can also be changed; a
//! question is not obeyed there, so it is a refusal.

use checkrein_protocol::{
    AbsolutePath, Action, Client, HookEvent, HookEventKind, HookResponse, SuccessReporting, ToolName,
};
use serde_json::{Value as Json, json};

use crate::adapter::{
    ClientAdapter, ClientPath, ClientPaths, HintDelivery, NOWHERE, PLAIN, Provider, SettingsScope,
};
use crate::canary::{CANARY_COMMAND, CANARY_SESSION, Canary};
use crate::conduct::Conduct;
use crate::error::DecodeError;
use crate::events;
use crate::output::HookOutput;
use crate::payload::Payload;
use crate::registration::{EntryForm, HookForm, HookLayout, Matching};
use crate::servers::{ServerFile, ServerForm};
use crate::shared_events::{Answered, Reading, text_of};
use crate::tool_names::{Folders, canonical};

const CURSOR: Client = Client::new("cursor");

/// Cursor.
pub(crate) const ADAPTER: ClientAdapter = ClientAdapter {
    client: CURSOR,
    title: "Cursor",
    programs: &["cursor-agent", "cursor"],
    decode,
    encode,
    refuse,
    canary: Canary { call: canary, refuses },
    places: ClientPaths {
        folder: ".cursor",
        settings: &[
            (SettingsScope::User, ClientPath::Folder("hooks.json")),
            (SettingsScope::Team, ClientPath::Project(".cursor/hooks.json")),
        ],
        managed: &[ClientPath::Machine("etc/cursor/hooks.json")],
        guarded: &[
            (ClientPath::Folder("hooks.json"), "the hooks of Cursor of this user"),
            (ClientPath::Project(".cursor/hooks.json"), "the hooks of Cursor in this project"),
            (ClientPath::Machine("etc/cursor"), "the managed hooks of Cursor"),
        ],
        ..NOWHERE
    },
    hooks: HookLayout {
        client: "cursor",
        form: HookForm::Entries(EntryForm {
            command: "command",
            timeout: Some("timeout"),
            constant: &[("failClosed", "true")],
            version: Some("1"),
        }),
        events: EVENTS,
        reviewing: "preToolUse",
        vital: &["preToolUse"],
        ..PLAIN.hooks
    },
    project_variable: Some("CURSOR_PROJECT_DIR"),
    provider: Provider { name: "cursor", host: None, address: None, instead: &[] },
    events: events::CURSOR,
    open: &[
        "all of this comes from its documentation; nothing was tested",
        "a version that does not know `preToolUse` calls nothing of ours, and says nothing about it",
        "a question is not obeyed before a tool, so a call that needs a question is refused, and the user runs it in a terminal",
        "completions of the editor (Tab) have hooks of their own, which are not registered",
        "agents in the cloud run the hooks of the project alone",
        "a halt refuses every call and prompt; it does not end the run",
    ],
    hints: HintDelivery::WithTheOutcome,
    conduct: Conduct {
        deny: "refused; the model reads the reason",
        ask: "not obeyed before a tool, so it is refused",
        rewrite: "yes",
        context: "after the call",
        failing: "refused in every case, by `failClosed`",
        precedence: "a refusal wins, as far as is documented",
        removal: "yes: files are read anew, so calls that touch them are refused",
        version: "2.6",
        ..PLAIN.conduct
    },
    servers: &[
        ServerFile {
            scope: SettingsScope::User,
            place: ClientPath::Folder("mcp.json"),
            form: ServerForm::Json(&[&["mcpServers"]]),
        },
        ServerFile {
            scope: SettingsScope::Team,
            place: ClientPath::Project(".cursor/mcp.json"),
            form: ServerForm::Json(&[&["mcpServers"]]),
        },
    ],
    ..PLAIN
};

const EVENTS: &[(&str, Matching)] = &[
    ("preToolUse", Matching::Never),
    ("postToolUse", Matching::Never),
    ("postToolUseFailure", Matching::Never),
    ("beforeSubmitPrompt", Matching::Never),
    ("sessionStart", Matching::Never),
    ("sessionEnd", Matching::Never),
    ("subagentStart", Matching::Never),
    ("subagentStop", Matching::Never),
    ("stop", Matching::Never),
    ("preCompact", Matching::Never),
];

const READING: Reading = Reading {
    client: CURSOR,
    meaning,
    named: |mut action| {
        if let Some(tool) = action.tool.as_str().strip_prefix("MCP:") {
            action.tool = ToolName(format!("mcp__cursor__{tool}"));
        }
        canonical(into_file(action), Folders::These(&["working_directory"]))
    },
    answered: |_, response| Answered::output(text_of(response)),
    success: SuccessReporting::Told,
};

/// The tools that write into a file what nobody knows before, with the field that names it (cursor.com, "Tools").
const INTO_FILES: [(&str, &str); 2] = [("FetchMcpResource", "downloadPath"), ("GenerateImage", "filename")];

/// Such a call as one that writes the file.
fn into_file(mut action: Action) -> Action {
    let field = INTO_FILES.iter().find(|(tool, _)| *tool == action.tool.as_str()).map(|(_, field)| *field);
    let path = field.and_then(|field| action.input.get(field)?.as_str().filter(|path| !path.is_empty()));
    if let Some(path) = path.map(str::to_owned)
        && let Some(fields) = action.input.as_object_mut()
    {
        fields.insert("file_path".to_owned(), Json::from(path));
        fields.insert("content".to_owned(), Json::from(""));
        action.tool = ToolName("Write".to_owned());
    }
    action
}

fn meaning(name: &str) -> &str {
    match name {
        "preToolUse" | "beforeShellExecution" | "beforeMCPExecution" | "beforeReadFile" => "PreToolUse",
        "postToolUse" => "PostToolUse",
        "postToolUseFailure" => "PostToolUseFailure",
        "beforeSubmitPrompt" => "UserPromptSubmit",
        "sessionStart" => "SessionStart",
        "sessionEnd" => "SessionEnd",
        "subagentStart" => "SubagentStart",
        "subagentStop" => "SubagentStop",
        "stop" => "Stop",
        other => other,
    }
}

/// Reads one payload. The working directory may be empty; a command may be told of without a tool.
fn decode(payload: &[u8]) -> Result<HookEvent, DecodeError> {
    let mut payload = Payload::parse(payload)?;
    payload.rename("conversation_id", "session_id");
    payload.rename("tool_output", "tool_response");
    payload.rename("error_message", "error");
    if payload.text("cwd").is_none_or(str::is_empty) {
        payload.take("cwd");
        let root =
            payload.value("workspace_roots").and_then(|roots| roots.get(0)?.as_str().map(str::to_owned));
        if let Some(root) = root {
            payload.fill("cwd", root);
        }
    }
    match payload.text("hook_event_name") {
        Some("beforeShellExecution") => {
            let command = payload.take("command").unwrap_or(Json::Null);
            payload.fill("tool_name", "Bash");
            payload.fill("tool_input", json!({ "command": command }));
        }
        // The tool of a server, whose name tells nothing of that here.
        Some("beforeMCPExecution") => {
            if let Some(tool) = payload.own_name("tool_name", "MCP:") {
                payload.take("tool_name");
                payload.fill("tool_name", tool);
            }
        }
        // A turn that the user ended, or that failed: what is said to its end would begin another one.
        Some("stop") if payload.text("status").is_some_and(|status| status != "completed") => {
            payload.take("hook_event_name");
            payload.fill("hook_event_name", "stopped");
        }
        Some("subagentStart" | "subagentStop") => {
            payload.rename("subagent_id", "agent_id");
            payload.rename("summary", "last_assistant_message");
        }
        Some("beforeReadFile") => {
            let path = payload.take("file_path").unwrap_or(Json::Null);
            payload.fill("tool_name", "Read");
            payload.fill("tool_input", json!({ "file_path": path }));
        }
        _ => {}
    }
    READING.event(payload)
}

/// The output for an answer to an event. An answer that the event cannot carry becomes the strictest form that it can.
fn encode(event: &HookEvent, answer: &HookResponse, _for_user: Option<&str>) -> HookOutput {
    HookOutput::line(&match (&event.moment, answer) {
        (_, HookResponse::Replaced { besides, .. }) => return encode(event, besides, None),
        (
            HookEventKind::BeforeAction { .. },
            HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } | HookResponse::Halt { reason },
        ) => deny(reason),
        (HookEventKind::BeforeAction { .. }, HookResponse::Rewrite { input, .. })
            if event.name == "preToolUse" =>
        {
            json!({ "updated_input": input })
        }
        (HookEventKind::BeforeAction { .. }, HookResponse::Rewrite { text, .. }) => deny(text),
        (
            HookEventKind::Prompt { .. },
            HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } | HookResponse::Halt { reason },
        ) => json!({ "continue": false, "user_message": reason }),
        (
            HookEventKind::TurnEnding { .. } | HookEventKind::SubagentEnding { .. },
            HookResponse::Ask { reason, .. } | HookResponse::Deny { reason },
        ) => json!({ "followup_message": reason }),
        (HookEventKind::AfterAction(_) | HookEventKind::SessionStarted { .. }, answer)
            if !answer.text().is_empty() =>
        {
            json!({ "additional_context": answer.text() })
        }
        (
            _,
            HookResponse::NoOpinion
            | HookResponse::Allow { .. }
            | HookResponse::Context { .. }
            | HookResponse::Rewrite { .. }
            | HookResponse::Ask { .. }
            | HookResponse::Deny { .. }
            | HookResponse::Halt { .. },
        ) => json!({}),
    })
}

/// The output when nothing about the payload is known: what refuses a call and a prompt.
fn refuse(reason: &str) -> HookOutput {
    let mut output = deny(reason);
    output["continue"] = json!(false);
    HookOutput::line(&output)
}

fn deny(reason: &str) -> Json {
    json!({ "permission": "deny", "user_message": reason, "agent_message": reason })
}

fn canary(cwd: &AbsolutePath) -> Json {
    json!({
        "conversation_id": CANARY_SESSION,
        "generation_id": "checkrein-canary",
        "model": "canary",
        "hook_event_name": "preToolUse",
        "cursor_version": "0",
        "workspace_roots": [cwd.as_str()],
        "transcript_path": null,
        "tool_name": "Shell",
        "tool_input": { "command": CANARY_COMMAND },
        "tool_use_id": "checkrein-canary",
        "cwd": cwd.as_str(),
    })
}

fn refuses(output: &HookOutput) -> bool {
    let Some(answer) = output.json() else { return false };
    let text = |key: &str| answer.get(key).and_then(Json::as_str);
    text("permission") == Some("deny") && text("agent_message").is_some_and(|reason| !reason.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut payload: Json) -> HookEvent {
        payload["conversation_id"] = json!("s");
        payload["workspace_roots"] = json!(["/w"]);
        decode(payload.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_tool_of_a_server_is_one_of_a_server_however_it_is_called() {
        for name in ["delete_repo", "MCP:delete_repo", "Read"] {
            let payload = json!({ "hook_event_name": "beforeMCPExecution", "tool_name": name,
                "tool_input": "{\"file_path\": \"/w/a\"}", "command": "server --stdio" });
            let HookEventKind::BeforeAction { action, .. } = read(payload).moment else { panic!("{name}") };
            let expected = format!("mcp__cursor__{}", name.trim_start_matches("MCP:"));
            assert_eq!(action.tool.as_str(), expected);
            assert_eq!(action.input, json!({ "file_path": "/w/a" }));
        }
    }

    #[test]
    fn what_is_fetched_or_drawn_into_a_file_is_written_there() {
        for (tool, input, path) in [
            (
                "FetchMcpResource",
                json!({ "uri": "y", "downloadPath": ".cursor/hooks.json" }),
                Some(".cursor/hooks.json"),
            ),
            ("GenerateImage", json!({ "description": "x", "filename": "a.png" }), Some("a.png")),
            ("FetchMcpResource", json!({ "uri": "y" }), None),
            ("Other", json!({ "filename": "a.png" }), None),
        ] {
            let payload = json!({ "hook_event_name": "preToolUse", "tool_name": tool, "tool_input": input });
            let HookEventKind::BeforeAction { action, .. } = read(payload).moment else { panic!("{tool}") };
            assert_eq!(action.input.get("file_path").and_then(Json::as_str), path, "{tool}");
            assert_eq!(action.tool.as_str() == "Write", path.is_some(), "{tool}");
        }
    }

    #[test]
    fn sub_agents_begin_and_end() {
        let begun = read(json!({ "hook_event_name": "subagentStart", "subagent_id": "a1", "task": "look" }));
        assert!(matches!(begun.moment, HookEventKind::SubagentStarted));
        assert_eq!(begun.actor.map(|actor| actor.0).as_deref(), Some("a1"));
        let ended =
            read(json!({ "hook_event_name": "subagentStop", "status": "completed", "summary": "done" }));
        assert!(matches!(&ended.moment, HookEventKind::SubagentEnding { .. }));
        let no = HookResponse::Deny { reason: "a stub is left".to_owned() };
        assert_eq!(encode(&ended, &no, None).json(), Some(json!({ "followup_message": "a stub is left" })));
    }

    #[test]
    fn a_turn_that_was_ended_by_the_user_is_not_sent_on() {
        let no = HookResponse::Deny { reason: "not done".to_owned() };
        for (status, expected) in [
            ("completed", json!({ "followup_message": "not done" })),
            ("aborted", json!({})),
            ("error", json!({})),
        ] {
            let event = read(json!({ "hook_event_name": "stop", "status": status, "loop_count": 0 }));
            assert_eq!(encode(&event, &no, None).json(), Some(expected), "{status}");
        }
    }
}
