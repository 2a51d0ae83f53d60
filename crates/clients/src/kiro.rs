//! Kiro, by its documentation: nobody here has seen it run.
//!
//! Exit status 2 before a call refuses it, and the agent reads what stands on standard error; what stands on standard output goes to the model.

use checkrein_protocol::{AbsolutePath, Client, HookEvent, HookEventKind, HookResponse, SuccessReporting};
use serde_json::{Value as Json, json};

use crate::adapter::{ClientAdapter, ClientPath, ClientPaths, NOWHERE, PLAIN, Provider, SettingsScope};
use crate::canary::{CANARY_COMMAND, CANARY_SESSION, Canary, refuses_by_status};
use crate::command::Answering;
use crate::conduct::Conduct;
use crate::error::DecodeError;
use crate::events;
use crate::output::{HookOutput, by_status};
use crate::payload::Payload;
use crate::registration::{HookForm, HookLayout, Matching};
use crate::servers::{ServerFile, ServerForm};
use crate::shared_events::{Answered, Reading, text_of};
use crate::tool_names::{Folders, canonical};

const KIRO: Client = Client::new("kiro");

/// Kiro.
pub(crate) const ADAPTER: ClientAdapter = ClientAdapter {
    client: KIRO,
    title: "Kiro",
    programs: &["kiro", "kiro-cli"],
    decode,
    encode,
    refuse: HookOutput::refusal,
    canary: Canary { call: canary, refuses: refuses_by_status },
    places: ClientPaths {
        folder: ".kiro",
        folder_variable: Some("KIRO_HOME"),
        settings: &[
            (SettingsScope::User, ClientPath::Folder("hooks/checkrein.json")),
            (SettingsScope::Team, ClientPath::Project(".kiro/hooks/checkrein.json")),
        ],
        guarded: &[
            (ClientPath::Folder("hooks/checkrein.json"), "the hooks of Kiro of this user"),
            (ClientPath::Project(".kiro/hooks/checkrein.json"), "the hooks of Kiro in this project"),
        ],
        ..NOWHERE
    },
    hooks: HookLayout {
        client: "kiro",
        form: HookForm::Triggers,
        answering: Answering::Status,
        events: EVENTS,
        every_name: ".*",
        ..PLAIN.hooks
    },
    provider: Provider { name: "kiro", host: None, address: None, instead: &[] },
    events: events::KIRO,
    open: &[
        "all of this comes from its documentation; nothing was tested",
        "versions 2 of its command line read no such files, and version 2.19 was reported to write files in spite of a refusal",
        "its hooks can only refuse: a call that needs a question is refused, and so is a call that has a safer form, which the reason names",
        "hints beside a call do not reach the model",
        "a halt refuses every call; it does not end the run",
    ],
    conduct: Conduct {
        deny: "refused by exit status 2; the model reads the reason",
        ask: "unknown to it, so it is refused",
        rewrite: "no; refused with the safe command",
        context: "with a prompt and at the start of a session",
        failing: "refused when the hook fails; runs when the line itself is killed or too late",
        precedence: "a refusal wins, as far as is documented",
        removal: "not known; calls that touch its hook files are refused",
        version: "IDE 1, CLI 3",
        ..PLAIN.conduct
    },
    servers: &[
        ServerFile {
            scope: SettingsScope::User,
            place: ClientPath::Folder("settings/mcp.json"),
            form: ServerForm::Json(&[&["mcpServers"]]),
        },
        ServerFile {
            scope: SettingsScope::Team,
            place: ClientPath::Project(".kiro/settings/mcp.json"),
            form: ServerForm::Json(&[&["mcpServers"]]),
        },
    ],
    ..PLAIN
};

const EVENTS: &[(&str, Matching)] = &[
    ("PreToolUse", Matching::ByName),
    ("PostToolUse", Matching::ByName),
    ("UserPromptSubmit", Matching::Never),
    ("SessionStart", Matching::Never),
    ("Stop", Matching::Never),
];

const READING: Reading = Reading {
    client: KIRO,
    meaning,
    named: |mut action| {
        // `@server/tool`
        if let Some((server, tool)) =
            action.tool.as_str().strip_prefix('@').and_then(|name| name.split_once('/'))
        {
            action.tool = checkrein_protocol::ToolName(format!("mcp__{server}__{tool}"));
        }
        // The shell tools of its editor are told where to run in a field that elsewhere names a file.
        let is_shell = matches!(
            action.tool.as_str(),
            "executeBash" | "executePwsh" | "controlBashProcess" | "controlPwshProcess"
        );
        if let Some(path) = action.input.get("path").filter(|path| is_shell && path.is_string()).cloned() {
            action.input["cwd"] = path;
        }
        canonical(action, Folders::Usual)
    },
    answered: |_, response| Answered::output(text_of(response)),
    success: SuccessReporting::NotTold,
};

fn meaning(name: &str) -> &str {
    match name {
        "preToolUse" => "PreToolUse",
        "postToolUse" => "PostToolUse",
        "userPromptSubmit" => "UserPromptSubmit",
        "agentSpawn" | "sessionStart" => "SessionStart",
        "stop" => "Stop",
        other => other,
    }
}

/// Reads one payload. Some of its versions tell of no session.
fn decode(payload: &[u8]) -> Result<HookEvent, DecodeError> {
    let mut payload = Payload::parse(payload)?;
    payload.fill("session_id", "kiro");
    READING.event(payload)
}

/// The output for an answer to an event: what is printed at the start of a session or beside a prompt, the model reads.
fn encode(event: &HookEvent, answer: &HookResponse, for_user: Option<&str>) -> HookOutput {
    match (&event.moment, answer) {
        (
            HookEventKind::Prompt { .. } | HookEventKind::SessionStarted { .. },
            HookResponse::Context { .. },
        ) => HookOutput::line(&json!({ "context": answer.text() })),
        _ => by_status(event, answer, for_user),
    }
}

fn canary(cwd: &AbsolutePath) -> Json {
    json!({
        "session_id": CANARY_SESSION,
        "hook_event_name": "PreToolUse",
        "cwd": cwd.as_str(),
        "tool_name": "execute_bash",
        "tool_input": { "command": CANARY_COMMAND },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_tool_runs_in_its_path() {
        for tool in ["executePwsh", "controlBashProcess", "controlPwshProcess"] {
            let payload = json!({ "hook_event_name": "preToolUse", "session_id": "s", "cwd": "/w",
                "tool_name": tool, "tool_input": { "action": "start", "command": "npm run dev", "path": "/w/a" } });
            let event = format!("{:?}", decode(payload.to_string().as_bytes()).unwrap());
            assert!(event.contains("\"cwd\": String(\"/w/a\")"), "{tool}: {event}");
        }
    }

    #[test]
    fn what_the_model_should_know_reaches_it_with_a_prompt_and_nothing_else_does() {
        let event = |name: &str| {
            let payload = json!({ "hook_event_name": name, "session_id": "s", "cwd": "/w", "prompt": "hello",
                "tool_name": "execute_bash", "tool_input": { "command": "ls" } });
            decode(payload.to_string().as_bytes()).unwrap()
        };
        let words = HookResponse::Context { text: "a word".to_owned() };
        for (name, expected) in [
            ("UserPromptSubmit", json!({ "context": "a word" })),
            ("SessionStart", json!({ "context": "a word" })),
            ("PreToolUse", json!({})),
        ] {
            let output = encode(&event(name), &words, None);
            assert_eq!((output.json(), output.refusal), (Some(expected), None), "{name}");
        }
        let no = HookResponse::Deny { reason: "no".to_owned() };
        assert_eq!(encode(&event("PreToolUse"), &no, None).refusal.as_deref(), Some("no"));
    }
}
