//! GitHub Copilot CLI.
//!
//! | module | holds |
//! |---|---|
//! | `decode` | its hook payloads to events, in both styles |
//! | `encode` | answers to its hook output |
//!
//! The forms are those that version 1.0.102 was seen to obey. The spelling of the key under which a hook is registered decides the style of payloads
//! and answers: `preToolUse` or, as Claude Code has it, `PreToolUse`. It also calls the hooks of Claude Code in a trusted folder, so a payload
//! of its own may come to these.

mod decode;
mod encode;

use checkrein_protocol::{AbsolutePath, Client, ToolOutput};
use serde_json::{Value as Json, json};

use crate::adapter::{
    ClientAdapter, ClientPath, ClientPaths, NOWHERE, PLAIN, Provider, SettingsScope, Transcript,
};
use crate::canary::{CANARY_COMMAND, CANARY_SESSION, Canary};
use crate::chosen_model::{ModelForm, ModelPlaces};
use crate::conduct::{Conduct, Source};
use crate::events;
use crate::output::HookOutput;
use crate::questions::Questions;
use crate::registration::{EntryForm, HookForm, HookLayout, Matching};
use crate::resume::in_place_of;
use crate::servers::{ServerFile, ServerForm};
use crate::transcript::TranscriptPlace;

pub(crate) use decode::{decode_of_claude, is_of_copilot};

const COPILOT: Client = Client::new("copilot");

/// GitHub Copilot CLI.
pub(crate) const ADAPTER: ClientAdapter = ClientAdapter {
    client: COPILOT,
    title: "Copilot CLI",
    programs: &["copilot"],
    packages: &["/@github/copilot/"],
    decode: decode::decode,
    tool_output: ToolOutput::Replaced,
    encode: encode::encode,
    refuse: encode::refuse,
    // Without a user it refuses what a hook wants asked, and shows the model the words that were meant for the user.
    questions: |_| Questions::AskedUnless(&["-p", "--prompt"]),
    canary: Canary { call: canary, refuses },
    places: ClientPaths {
        folder: ".copilot",
        folder_variable: Some("COPILOT_HOME"),
        settings: &[
            (SettingsScope::User, ClientPath::Folder("hooks/checkrein.json")),
            (SettingsScope::Team, ClientPath::Project(".github/hooks/checkrein.json")),
        ],
        switches: &[
            ClientPath::Project(".github/copilot/settings.json"),
            ClientPath::Project(".github/copilot/settings.local.json"),
            ClientPath::Project(".claude/settings.json"),
            ClientPath::Project(".claude/settings.local.json"),
            ClientPath::Folder("settings.json"),
        ],
        guarded: &[
            (ClientPath::Project(".github/hooks/checkrein.json"), "the hooks of Copilot CLI in this project"),
            (ClientPath::Folder("hooks/checkrein.json"), "the hooks of Copilot CLI of this user"),
            (ClientPath::Project(".github/copilot"), "the settings of Copilot CLI in this project"),
            (ClientPath::Folder("settings.json"), "the settings of Copilot CLI of this user"),
            (ClientPath::Machine("etc/github-copilot"), "the managed hooks of Copilot CLI"),
        ],
        expected: &[".copilot/session-state", ".copilot/logs"],
        ..NOWHERE
    },
    hooks: HookLayout {
        client: "copilot",
        form: HookForm::Entries(EntryForm {
            command: "bash",
            timeout: Some("timeoutSec"),
            constant: &[("type", "\"command\"")],
            version: Some("1"),
        }),
        events: EVENTS,
        reviewing: "preToolUse",
        vital: &["preToolUse"],
        switched_off,
        ..PLAIN.hooks
    },
    resume: Some(|words, session| {
        // It takes no trust for one run beside a session that goes on (seen with 1.0.102).
        let words: Vec<_> = words.iter().filter(|word| *word != "--trust-folder").cloned().collect();
        in_place_of(&words, &["--resume", "-r", "--session-id"], ["--resume", session])
    }),
    transcript: Transcript::Keeps,
    transcripts: Some(TranscriptPlace("session-state/{session}/events.jsonl")),
    marks: &["COPILOT_CLI"],
    project_variable: Some("COPILOT_PROJECT_DIR"),
    models: ModelPlaces {
        options: &["--model"],
        variables: &["COPILOT_MODEL"],
        files: &[
            (ClientPath::Folder("settings.json"), &["model"]),
            (ClientPath::Folder("config.json"), &["model"]),
        ],
        form: ModelForm::Json,
    },
    provider: Provider {
        name: "github",
        host: None,
        address: Some("COPILOT_PROVIDER_BASE_URL"),
        instead: &[],
    },
    events: events::COPILOT,
    open: &[
        "a run that goes on under `checkrein run` does so without `--trust-folder`, which it does not take then: hooks of the project run if the folder is trusted for good",
        "a hook that is too late lets the call run; one that fails refuses it",
        "`disableAllHooks` in `.github/copilot/settings.json` or `.claude/settings.json` of a trusted folder silently switches off the hooks of the user",
        "hooks of a project run only in a folder that the user trusts; those of the user run everywhere",
        "without a user (`-p`) a call that needs a question is refused; the user runs it in a terminal or allows it in an interactive session",
        "a halt refuses every call; it does not end the run",
    ],
    conduct: Conduct {
        deny: "refused; the model reads the reason and goes on",
        ask: "the user is asked; without a user it is refused",
        rewrite: "yes",
        context: "before and after the call",
        stop: "no; later calls are refused",
        failing: "refused when the hook fails; runs when it is too late",
        precedence: "a refusal wins; an approval beats the user's `--deny-tool`, so ours never approves",
        removal: "no: hooks are read once",
        version: "1.0.102",
        source: Source::Observed,
    },
    servers: &[ServerFile {
        scope: SettingsScope::User,
        place: ClientPath::Folder("mcp-config.json"),
        form: ServerForm::Json(&[&["mcpServers"]]),
    }],
    ..PLAIN
};

/// The events that are registered. `permissionRequest` is left out: what is refused before the call never gets there.
const EVENTS: &[(&str, Matching)] = &[
    ("preToolUse", Matching::Never),
    ("postToolUse", Matching::Never),
    ("postToolUseFailure", Matching::Never),
    ("userPromptSubmitted", Matching::Never),
    ("sessionStart", Matching::Never),
    ("sessionEnd", Matching::Never),
    ("agentStop", Matching::Never),
    ("subagentStart", Matching::Never),
    ("subagentStop", Matching::Never),
    ("preCompact", Matching::Never),
];

fn switched_off(settings: &Json) -> Option<&'static str> {
    const KEY: &str = "disableAllHooks";
    (settings.get(KEY).and_then(Json::as_bool) == Some(true)).then_some(KEY)
}

fn canary(cwd: &AbsolutePath) -> Json {
    json!({
        "sessionId": CANARY_SESSION,
        "timestamp": 1_767_225_600_000_u64,
        "cwd": cwd.as_str(),
        "toolName": "bash",
        "toolArgs": { "command": CANARY_COMMAND, "description": "canary of the guard itself, never run" },
    })
}

fn refuses(output: &HookOutput) -> bool {
    let Some(answer) = output.json() else { return false };
    let text = |key: &str| answer.get(key).and_then(Json::as_str);
    text("permissionDecision") == Some("deny")
        && text("permissionDecisionReason").is_some_and(|reason| !reason.is_empty())
}
