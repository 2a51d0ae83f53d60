//! Windsurf, by its documentation: nobody here has seen it run.
//!
//! Its hooks have one word: exit status 2 before a call refuses it, and the agent reads what stands on standard error.

use checkrein_protocol::{AbsolutePath, Client, HookEvent, SuccessReporting};
use serde_json::{Value as Json, json};

use crate::adapter::{ClientAdapter, ClientPath, ClientPaths, NOWHERE, PLAIN, Provider, SettingsScope};
use crate::canary::{CANARY_COMMAND, CANARY_SESSION, Canary, refuses_by_status};
use crate::command::Answering;
use crate::conduct::Conduct;
use crate::error::DecodeError;
use crate::events;
use crate::output::{HookOutput, by_status};
use crate::payload::{Payload, told_object};
use crate::placed::WorkspaceSource;
use crate::registration::{EntryForm, HookForm, HookLayout, Matching};
use crate::servers::{ServerFile, ServerForm};
use crate::shared_events::{Answered, Reading, text_of};
use crate::tool_names::{Folders, canonical};

const WINDSURF: Client = Client::new("windsurf");

/// Windsurf.
pub(crate) const ADAPTER: ClientAdapter = ClientAdapter {
    client: WINDSURF,
    title: "Windsurf",
    programs: &["windsurf"],
    decode,
    workspace: WorkspaceSource::HookDirectory,
    encode: by_status,
    refuse: HookOutput::refusal,
    canary: Canary { call: canary, refuses: refuses_by_status },
    places: ClientPaths {
        folder: ".codeium/windsurf",
        settings: &[
            (SettingsScope::User, ClientPath::Folder("hooks.json")),
            (SettingsScope::Team, ClientPath::Project(".windsurf/hooks.json")),
        ],
        managed: &[ClientPath::Machine("etc/windsurf/hooks.json")],
        guarded: &[
            (ClientPath::Folder("hooks.json"), "the hooks of Windsurf of this user"),
            (ClientPath::Project(".windsurf/hooks.json"), "the hooks of Windsurf in this project"),
            (ClientPath::Machine("etc/windsurf"), "the managed hooks of Windsurf"),
        ],
        ..NOWHERE
    },
    hooks: HookLayout {
        client: "windsurf",
        form: HookForm::Entries(EntryForm {
            command: "command",
            timeout: None,
            constant: &[("show_output", "true")],
            version: None,
        }),
        answering: Answering::Status,
        events: EVENTS,
        reviewing: "pre_run_command",
        vital: &["pre_run_command", "pre_write_code", "pre_read_code", "pre_mcp_tool_use"],
        ..PLAIN.hooks
    },
    provider: Provider { name: "windsurf", host: None, address: None, instead: &[] },
    events: events::WINDSURF,
    open: &[
        "all of this comes from its documentation; nothing was tested",
        "in its Restricted Mode it runs no hooks",
        "its hooks can only refuse: a call that needs a question is refused, and so is a call that has a safer form, which the reason names",
        "hints beside a call do not reach the model",
        "a halt refuses every call; it does not end the run",
    ],
    conduct: Conduct {
        deny: "refused by exit status 2; the model reads the reason",
        ask: "unknown to it, so it is refused",
        rewrite: "no; refused with the safe command",
        failing: "refused when the hook fails; runs when the line itself is killed or too late",
        precedence: "a refusal wins, as far as is documented",
        removal: "not known; calls that touch its hook files are refused",
        version: "2026-07",
        ..PLAIN.conduct
    },
    servers: &[ServerFile {
        scope: SettingsScope::User,
        place: ClientPath::Folder("mcp_config.json"),
        form: ServerForm::Json(&[&["mcpServers"]]),
    }],
    ..PLAIN
};

const EVENTS: &[(&str, Matching)] = &[
    ("pre_run_command", Matching::Never),
    ("pre_write_code", Matching::Never),
    ("pre_read_code", Matching::Never),
    ("pre_mcp_tool_use", Matching::Never),
    ("pre_user_prompt", Matching::Never),
    ("post_run_command", Matching::Never),
    ("post_write_code", Matching::Never),
    ("post_read_code", Matching::Never),
    ("post_mcp_tool_use", Matching::Never),
    ("post_cascade_response", Matching::Never),
];

const READING: Reading = Reading {
    client: WINDSURF,
    meaning,
    named: |action| canonical(action, Folders::Usual),
    answered: |_, response| Answered::output(text_of(response)),
    success: SuccessReporting::NotTold,
};

fn meaning(name: &str) -> &str {
    match name {
        "pre_user_prompt" => "UserPromptSubmit",
        _ if name.starts_with("pre_") => "PreToolUse",
        "post_run_command" | "post_write_code" | "post_read_code" | "post_mcp_tool_use" => "PostToolUse",
        "post_cascade_response" => "Stop",
        other => other,
    }
}

/// Reads one payload: what it is about stands in `tool_info`, and which tool it is in the name of the event.
fn decode(payload: &[u8]) -> Result<HookEvent, DecodeError> {
    let mut payload = Payload::parse(payload)?;
    payload.rename("agent_action_name", "hook_event_name");
    payload.rename("trajectory_id", "session_id");
    let mut info = payload.take("tool_info").map_or_else(|| json!({}), told_object);
    let name = payload.text("hook_event_name").unwrap_or_default();
    let tool = match name.split_once('_').map(|(_, what)| what) {
        Some("run_command") => {
            take_over(&mut info, "command_line", "command");
            Some("Bash".to_owned())
        }
        Some("read_code") => Some("Read".to_owned()),
        Some("write_code") => Some("edit_file".to_owned()),
        Some("mcp_tool_use") => {
            let text = |key: &str| info.get(key).and_then(Json::as_str).unwrap_or("unknown");
            let tool = format!("mcp__{}__{}", text("mcp_server_name"), text("mcp_tool_name"));
            Some(tool)
        }
        _ => None,
    };
    // Where the session works is not told: what is told of directories are words of the call. See `WorkspaceSource`.
    payload.take("cwd");
    payload.fill("cwd", "/");
    if let Some(prompt) = info.get("user_prompt").and_then(Json::as_str) {
        payload.fill("prompt", prompt);
    }
    if let Some(response) = info.get("response").and_then(Json::as_str) {
        payload.fill("last_assistant_message", response);
    }
    if name_is_over(&payload) {
        let result = ["result", "output", "mcp_result"].iter().find_map(|key| info.get(*key).cloned());
        payload.fill("tool_response", result.unwrap_or_else(|| json!("")));
    }
    if let Some(tool) = tool {
        let arguments = info.get("mcp_tool_arguments").cloned();
        payload.fill("tool_name", tool);
        payload.fill("tool_input", arguments.unwrap_or(info));
    }
    READING.event(payload)
}

fn name_is_over(payload: &Payload) -> bool {
    payload.text("hook_event_name").is_some_and(|name| name.starts_with("post_"))
}

fn take_over(info: &mut Json, from: &str, to: &str) {
    if let Some(value) = info.get_mut(from).map(Json::take) {
        info[to] = value;
    }
}

fn canary(cwd: &AbsolutePath) -> Json {
    json!({
        "agent_action_name": "pre_run_command",
        "trajectory_id": CANARY_SESSION,
        "execution_id": "checkrein-canary",
        "timestamp": "2026-01-01T00:00:00Z",
        "model_name": "canary",
        "tool_info": { "command_line": CANARY_COMMAND, "cwd": cwd.as_str() },
    })
}
