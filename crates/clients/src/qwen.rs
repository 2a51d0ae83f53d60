//! Qwen Code.
//!
//! | module | holds |
//! |---|---|
//! | `decode` | its hook payloads to events |
//! | `encode` | answers to its hook output |
//!
//! The forms are those that version 0.24 was seen to obey. Of two hooks the later one decides, so a refusal is also a stop, which holds.

mod decode;
mod encode;

use checkrein_protocol::{AbsolutePath, Client, ToolOutput};
use serde_json::{Value as Json, json};

use crate::adapter::{
    ClientAdapter, ClientPath, ClientPaths, HintDelivery, NOWHERE, PLAIN, Provider, SettingsScope, Transcript,
};
use crate::canary::{CANARY_COMMAND, CANARY_SESSION, Canary, denies_in_wrapper};
use crate::chosen_model::{ModelForm, ModelPlaces};
use crate::conduct::{Conduct, Source};
use crate::events;
use crate::registration::{HookLayout, Matching, Notation, Unit, variables_in_env};
use crate::resume::in_place_of;
use crate::servers::{ServerFile, ServerForm};
use crate::transcript::TranscriptPlace;

const QWEN: Client = Client::new("qwen");

/// Qwen Code.
pub(crate) const ADAPTER: ClientAdapter = ClientAdapter {
    client: QWEN,
    title: "Qwen Code",
    programs: &["qwen"],
    packages: &["/@qwen-code/qwen-code/"],
    decode: decode::decode,
    tool_output: ToolOutput::Replaced,
    encode: encode::encode,
    refuse: encode::refuse,
    canary: Canary { call: canary, refuses: denies_in_wrapper },
    places: ClientPaths {
        folder: ".qwen",
        settings: &[
            (SettingsScope::User, ClientPath::Folder("settings.json")),
            (SettingsScope::Team, ClientPath::Project(".qwen/settings.json")),
        ],
        guarded: &[
            (ClientPath::Project(".qwen/settings.json"), "the hook settings of Qwen Code in this project"),
            (ClientPath::Folder("settings.json"), "the hook settings of Qwen Code of this user"),
            (ClientPath::Project(".qwen/.env"), "variables that Qwen Code loads in this project"),
            (ClientPath::Folder(".env"), "variables that Qwen Code loads for this user"),
            (ClientPath::Folder("trustedFolders.json"), "the folders whose hooks Qwen Code runs"),
            (ClientPath::Machine("etc/qwen-code"), "the managed settings of Qwen Code"),
        ],
        environment: &[".qwen/.env", ".env"],
        expected: &[".qwen/tmp", ".qwen/projects"],
        ..NOWHERE
    },
    hooks: HookLayout {
        client: "qwen",
        notation: Notation::Comments,
        events: EVENTS,
        every_name: "*",
        unit: Unit::Mixed,
        switched_off,
        variables: variables_in_env,
        leads_guard: checkrein_facts::leads_guard,
        ..PLAIN.hooks
    },
    marks: &["QWEN_CODE_SESSION_ID"],
    project_variable: Some("QWEN_PROJECT_DIR"),
    silencing: &["--bare", "--safe-mode"],
    resume: Some(|words, session| {
        in_place_of(words, &["--resume", "-r", "--session-id"], ["--resume", session])
    }),
    telling: &["stream-json"],
    transcript: Transcript::Tells,
    transcripts: Some(TranscriptPlace("projects/*/chats/{session}.jsonl")),
    models: ModelPlaces {
        options: &["-m", "--model"],
        variables: &["OPENAI_MODEL", "QWEN_MODEL"],
        files: &[
            (ClientPath::Project(".qwen/settings.json"), &["model", "name"]),
            (ClientPath::Project(".qwen/settings.json"), &["model"]),
            (ClientPath::Folder("settings.json"), &["model", "name"]),
            (ClientPath::Folder("settings.json"), &["model"]),
        ],
        form: ModelForm::Json,
    },
    provider: Provider { name: "qwen", host: None, address: Some("OPENAI_BASE_URL"), instead: &[] },
    events: events::QWEN,
    open: &[
        "hooks cannot change a call, so a call that has a safer form is refused, and the reason names that form",
        "another hook's approval would override a question, so a call that needs a question is refused, and the user runs it in a terminal",
        "`disableAllHooks` in `.qwen/settings.json` of a project also silently switches off the hooks of the user",
        "a halt refuses every call; it does not end the run",
    ],
    hints: HintDelivery::WithTheOutcome,
    conduct: Conduct {
        deny: "refused; the model reads the reason and goes on",
        ask: "another hook can lift it, so it is refused",
        rewrite: "no; refused with the safe command",
        context: "after the call",
        stop: "no; later calls are refused",
        failing: "refused when the hook fails; runs when the line itself is killed or too late",
        precedence: "the later hook decides, but a refusal that is a stop holds: ours is one",
        removal: "no: hooks are read once",
        version: "0.24.4",
        source: Source::Observed,
    },
    servers: &[
        ServerFile {
            scope: SettingsScope::User,
            place: ClientPath::Folder("settings.json"),
            form: ServerForm::Json(&[&["mcpServers"]]),
        },
        ServerFile {
            scope: SettingsScope::Team,
            place: ClientPath::Project(".qwen/settings.json"),
            form: ServerForm::Json(&[&["mcpServers"]]),
        },
    ],
    ..PLAIN
};

/// The events that are registered. `UserPromptSubmit` comes before every call of the model; what is no prompt is not answered.
const EVENTS: &[(&str, Matching)] = &[
    ("PreToolUse", Matching::ByName),
    ("PostToolUse", Matching::ByName),
    ("PostToolUseFailure", Matching::ByName),
    ("PostToolBatch", Matching::Never),
    ("UserPromptSubmit", Matching::Never),
    ("SessionStart", Matching::Never),
    ("SessionEnd", Matching::Never),
    ("Stop", Matching::Never),
    ("SubagentStart", Matching::Never),
    ("SubagentStop", Matching::Never),
    ("PreCompact", Matching::Never),
];

fn switched_off(settings: &Json) -> Option<&'static str> {
    const KEY: &str = "disableAllHooks";
    (settings.get(KEY).and_then(Json::as_bool) == Some(true)).then_some(KEY)
}

fn canary(cwd: &AbsolutePath) -> Json {
    json!({
        "session_id": CANARY_SESSION,
        "transcript_path": "",
        "cwd": cwd.as_str(),
        "hook_event_name": "PreToolUse",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "permission_mode": "default",
        "tool_name": "run_shell_command",
        "tool_input": { "command": CANARY_COMMAND, "description": "canary of the guard itself, never run" },
        "tool_use_id": "checkrein-canary",
    })
}
