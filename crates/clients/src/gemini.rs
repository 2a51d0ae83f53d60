//! Gemini CLI.
//!
//! | module | holds |
//! |---|---|
//! | `decode` | its hook payloads to events |
//! | `encode` | answers to its hook output |
//!
//! The forms are those that version 0.61 was seen to obey. It does not know the answers of other clients and lets the call run for them.

mod decode;
mod encode;

use checkrein_facts::{Steering, listed_variables, steering};
use checkrein_protocol::{AbsolutePath, Client, ToolOutput, Typing};

use serde_json::{Value as Json, json};

use crate::adapter::{
    Announces, ClientAdapter, ClientPath, ClientPaths, HintDelivery, ProjectSettings, Provider,
    SettingsScope, Transcript,
};
use crate::canary::{CANARY_COMMAND, CANARY_SESSION, Canary};
use crate::chosen_model::{ModelForm, ModelPlaces};
use crate::command::Answering;
use crate::conduct::{Conduct, Source};
use crate::events;
use crate::output::HookOutput;
use crate::placed::WorkspaceSource;
use crate::questions::{Answerer, Questions};
use crate::registration::{HookForm, HookLayout, Matching, Notation, Unit};
use crate::resume::in_place_of;
use crate::servers::{ServerFile, ServerForm};
use crate::transcript::TranscriptPlace;

const GEMINI: Client = Client::new("gemini");

/// Gemini CLI.
pub(crate) const ADAPTER: ClientAdapter = ClientAdapter {
    client: GEMINI,
    title: "Gemini CLI",
    programs: &["gemini"],
    packages: &["/@google/gemini-cli/"],
    typing: Typing::Reviewed,
    workspace: WorkspaceSource::Payload,
    decode: decode::decode,
    encode: encode::encode,
    refuse: encode::refuse,
    // Without a user it waits for ever.
    tool_output: ToolOutput::Replaced,
    questions: |_| Questions::Lost,
    answerer: |_| Answerer::NotKnown,
    announces_questions: Announces::NotAll,
    canary: Canary { call: canary, refuses },
    places: ClientPaths {
        folder: ".gemini",
        folder_variable: None,
        settings: &[
            (SettingsScope::User, ClientPath::Folder("settings.json")),
            (SettingsScope::Team, ClientPath::Project(".gemini/settings.json")),
        ],
        project_settings: ProjectSettings::Upward,
        companions: &[],
        switches: &[],
        managed: &[ClientPath::Machine("etc/gemini-cli/settings.json")],
        guarded: &[
            (ClientPath::Project(".gemini/settings.json"), "the hook settings of Gemini CLI in this project"),
            (ClientPath::Folder("settings.json"), "the hook settings of Gemini CLI of this user"),
            (ClientPath::Project(".gemini/.env"), "variables that Gemini CLI loads in this project"),
            (ClientPath::Folder(".env"), "variables that Gemini CLI loads for this user"),
            (ClientPath::Folder("trustedFolders.json"), "the folders whose hooks Gemini CLI runs"),
            (ClientPath::Machine("etc/gemini-cli"), "the managed settings of Gemini CLI"),
        ],
        interposing: &[],
        environment: &[".gemini/.env", ".env"],
        written: &[],
        runs: &[],
        documents: &[],
        plugins: None,
        expected: &[".gemini/tmp"],
    },
    hooks: HookLayout {
        client: "gemini",
        form: HookForm::Groups,
        notation: Notation::Comments,
        answering: Answering::Object,
        events: EVENTS,
        reviewing: "BeforeTool",
        vital: &["BeforeTool"],
        every_name: ".*",
        unit: Unit::Milliseconds,
        switched_off,
        handler_types: &[],
        variables: listed_variables,
        leads_guard,
    },
    servers: &[
        ServerFile {
            scope: SettingsScope::User,
            place: ClientPath::Folder("settings.json"),
            form: ServerForm::Json(&[&["mcpServers"]]),
        },
        ServerFile {
            scope: SettingsScope::Team,
            place: ClientPath::Project(".gemini/settings.json"),
            form: ServerForm::Json(&[&["mcpServers"]]),
        },
    ],
    status_line: None,
    marks: &["GEMINI_CLI", "GEMINI_SESSION_ID"],
    project_variable: Some("GEMINI_PROJECT_DIR"),
    rewind: None,
    resume: Some(|words, session| {
        in_place_of(words, &["--resume", "-r", "--session-id"], ["--resume", session])
    }),
    silencing: &["--acp", "--experimental-acp"],
    telling: &["stream-json"],
    transcript: Transcript::Tells,
    transcripts: Some(TranscriptPlace("tmp/*/chats/session-*-{start}.jsonl")),
    models: ModelPlaces {
        options: &["-m", "--model"],
        variables: &["GEMINI_MODEL"],
        files: &[
            (ClientPath::Project(".gemini/settings.json"), &["model", "name"]),
            (ClientPath::Project(".gemini/settings.json"), &["model"]),
            (ClientPath::Folder("settings.json"), &["model", "name"]),
            (ClientPath::Folder("settings.json"), &["model"]),
        ],
        form: ModelForm::Json,
    },
    provider: Provider { name: "google", host: None, address: Some("GOOGLE_GEMINI_BASE_URL"), instead: &[] },
    trust: None,
    next_step: Some(
        "with `--acp`, as editors start it, Gemini CLI calls no hooks for its tools: let the editor start \
         `checkrein acp -- gemini --acp` instead (docs/acp.md)",
    ),
    events: events::GEMINI,
    open: &[
        "with `--acp` its hooks for tools do not run at all: let the editor start `checkrein acp -- gemini --acp`, which reviews each call itself",
        "a hook's question would block the run where nobody is at the terminal, so a call that needs a question is refused, and the user runs it in a terminal",
        "hints before a call are shown to the user; the model reads them with the result",
        "calls of subagents cannot be told apart from those of the main agent",
    ],
    hints: HintDelivery::WithTheOutcome,
    conduct: Conduct {
        deny: "refused; the model reads the reason and goes on",
        ask: "would block the run, so it is refused",
        rewrite: "yes",
        context: "after the call",
        stop: "yes",
        failing: "refused when the hook fails; runs when it is killed or too late",
        precedence: "a refusal wins",
        removal: "no: hooks are read once",
        version: "0.61.0",
        source: Source::Observed,
    },
};

/// The events that are registered, with whether the client matches them against a name. Those around each call of the model are left out:
/// they would cost time for nothing.
const EVENTS: &[(&str, Matching)] = &[
    ("BeforeTool", Matching::ByName),
    ("AfterTool", Matching::ByName),
    ("BeforeAgent", Matching::Never),
    ("AfterAgent", Matching::Never),
    ("SessionStart", Matching::Never),
    ("SessionEnd", Matching::Never),
    ("PreCompress", Matching::Never),
    ("Notification", Matching::Never),
];

fn switched_off(settings: &Json) -> Option<&'static str> {
    let enabled = settings.get("hooksConfig").and_then(|hooks| hooks.get("enabled"));
    (enabled.and_then(Json::as_bool) == Some(false)).then_some("hooksConfig.enabled: false")
}

/// Whether a variable decides where the guard finds its places, or Gemini CLI its settings, or which code the shell of its hooks loads.
fn leads_guard(name: &str) -> bool {
    match steering(name) {
        Some(Steering::Place | Steering::Unasked) => true,
        Some(Steering::Code) => {
            ["LD_", "DYLD_", "BASH_FUNC_"].iter().any(|start| name.starts_with(start))
                || ["BASH_ENV", "ENV", "SHELLOPTS"].contains(&name)
        }
        Some(Steering::Unbound | Steering::Connection) | None => false,
    }
}

fn canary(cwd: &AbsolutePath) -> Json {
    json!({
        "session_id": CANARY_SESSION,
        "transcript_path": "",
        "cwd": cwd.as_str(),
        "hook_event_name": "BeforeTool",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "tool_name": "run_shell_command",
        "tool_input": { "command": CANARY_COMMAND, "description": "canary of the guard itself, never run" },
    })
}

fn refuses(output: &HookOutput) -> bool {
    let Some(answer) = output.json() else { return false };
    let text = |key: &str| answer.get(key).and_then(Json::as_str);
    matches!(text("decision"), Some("deny" | "block"))
        && text("reason").is_some_and(|reason| !reason.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_an_environment_file_are_read() {
        let found =
            listed_variables("# x=1\nexport CHECKREIN_HOME=\"/tmp/x\"\nA = 'b'\n{\"hooks\": \"a=b\"}\n=1\n");
        let expected = [("CHECKREIN_HOME", "/tmp/x"), ("A", "b")];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert!(leads_guard("CHECKREIN_HOME") && !leads_guard("A"));
    }
}
