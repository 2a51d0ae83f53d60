//! Codex CLI.
//!
//! | module | holds |
//! |---|---|
//! | `decode` | its hook payloads to events |
//! | `encode` | answers to its hook output |
//! | `resume` | starting it again so that it goes on |
//! | `trust` | whether it runs our hooks, which a user must have trusted |
//!
//! The forms are those that version 0.169 was seen to obey. It reads answers strictly and lets the call run for one key that it does not
//! know, for a refusal without a reason, and for a question.

mod decode;
mod encode;
mod resume;
mod trust;

use checkrein_protocol::{AbsolutePath, Client, ToolOutput, Typing};

use serde_json::{Value as Json, json};

use crate::adapter::{
    Announces, ClientAdapter, ClientPath, ClientPaths, HintDelivery, ProjectSettings, Provider,
    SettingsScope, Transcript, TrustRequirement,
};
use crate::canary::{CANARY_COMMAND, CANARY_SESSION, Canary, denies_in_wrapper};
use crate::chosen_model::{ModelForm, ModelPlaces};
use crate::command::Answering;
use crate::conduct::{Conduct, Source};
use crate::events;
use crate::placed::WorkspaceSource;
use crate::questions::{Answerer, Questions};
use crate::registration::{HookForm, HookLayout, Matching, Notation, Unit};
use crate::servers::{ServerFile, ServerForm};
use crate::transcript::TranscriptPlace;

const CODEX: Client = Client::new("codex");

/// Codex CLI.
pub(crate) const ADAPTER: ClientAdapter = ClientAdapter {
    client: CODEX,
    title: "Codex",
    programs: &["codex"],
    packages: &["/@openai/codex/"],
    typing: Typing::Unseen,
    workspace: WorkspaceSource::Payload,
    decode: decode::decode,
    encode: encode::encode,
    refuse: encode::refuse,
    tool_output: ToolOutput::Replaced,
    questions: |_| Questions::Lost,
    answerer: |_| Answerer::NotKnown,
    announces_questions: Announces::NotAll,
    canary: Canary { call: canary, refuses: denies_in_wrapper },
    places: ClientPaths {
        folder: ".codex",
        folder_variable: Some("CODEX_HOME"),
        settings: &[
            (SettingsScope::User, ClientPath::Folder("hooks.json")),
            (SettingsScope::Team, ClientPath::Project(".codex/hooks.json")),
        ],
        project_settings: ProjectSettings::Upward,
        companions: &[],
        switches: &[],
        managed: &[ClientPath::Machine("etc/codex/hooks.json")],
        guarded: &[
            (ClientPath::Project(".codex/hooks.json"), "the hooks of Codex in this project"),
            (ClientPath::Project(".codex/config.toml"), "the settings of Codex in this project"),
            (ClientPath::Folder("hooks.json"), "the hooks of Codex of this user"),
            (ClientPath::Folder("config.toml"), "the settings of Codex, which say which hooks are trusted"),
            (ClientPath::Machine("etc/codex"), "the managed settings of Codex"),
        ],
        interposing: &[],
        environment: &[],
        written: &[],
        runs: &[],
        documents: &[],
        plugins: None,
        expected: &[".codex/memories"],
    },
    hooks: HookLayout {
        client: "codex",
        form: HookForm::Groups,
        notation: Notation::Strict,
        answering: Answering::Object,
        events: EVENTS,
        reviewing: "PreToolUse",
        vital: &["PreToolUse"],
        every_name: "*",
        unit: Unit::Seconds,
        switched_off: |_| None,
        handler_types: &[],
        variables: |_| Vec::new(),
        leads_guard: |_| false,
    },
    servers: &[
        ServerFile {
            scope: SettingsScope::User,
            place: ClientPath::Folder("config.toml"),
            form: ServerForm::Toml,
        },
        ServerFile {
            scope: SettingsScope::Team,
            place: ClientPath::Project(".codex/config.toml"),
            form: ServerForm::Toml,
        },
    ],
    status_line: None,
    marks: &["CODEX_SANDBOX"],
    project_variable: None,
    rewind: None,
    resume: Some(resume::resume),
    silencing: &["--ignore-user-config"],
    telling: &["--json", "--experimental-json"],
    transcript: Transcript::Tells,
    transcripts: Some(TranscriptPlace("sessions/*/*/*/rollout-*-{session}.jsonl")),
    models: ModelPlaces {
        options: &["-m", "--model"],
        variables: &[],
        files: &[],
        form: ModelForm::Profiles,
    },
    provider: Provider { name: "openai", host: None, address: Some("OPENAI_BASE_URL"), instead: &[] },
    trust: Some(TrustRequirement {
        file: ClientPath::Folder("config.toml"),
        typed: "/hooks",
        doubt: trust::doubt,
    }),
    next_step: Some(
        "Codex runs no hook that you have not trusted, and says nothing about it: start `codex`, type `/hooks`, and trust those of \
         checkrein; again after each `checkrein init` that changed them",
    ),
    events: events::CODEX,
    open: &[
        "what is typed into an open program (`write_stdin`) reaches no hook, so a call that leaves a shell, an interpreter, a pager or an \
         editor open is refused; the pager that git starts on a terminal (`git log`) is not, since no hook is told whether there is one",
        "a hook's question would let the call run, so a call that needs a question is refused, and the user runs it in a terminal",
        "it refuses `rm -rf` and other commands by rules of its own, and tells no hook: a call that it refuses may be recorded as saved first, and \
         its outcome is unknown",
        "it does not report whether a command failed, so a predicted change that did not happen is not a surprise",
    ],
    hints: HintDelivery::WithTheCall,
    conduct: Conduct {
        deny: "refused; the model reads the reason and goes on",
        ask: "lost, so it is refused",
        rewrite: "yes",
        context: "before and after the call",
        stop: "no; later calls are refused",
        failing: "refused when the hook fails or prints nonsense; runs when it is too late",
        precedence: "a refusal wins",
        removal: "no: hooks are read once",
        version: "0.169.0",
        source: Source::Observed,
    },
};

/// The events that are registered, with whether the client matches them against a name.
const EVENTS: &[(&str, Matching)] = &[
    ("PreToolUse", Matching::ByName),
    ("PermissionRequest", Matching::ByName),
    ("PostToolUse", Matching::ByName),
    ("UserPromptSubmit", Matching::Never),
    ("SessionStart", Matching::Never),
    ("SessionEnd", Matching::Never),
    ("Stop", Matching::Never),
    ("SubagentStart", Matching::Never),
    ("SubagentStop", Matching::Never),
    ("PreCompact", Matching::Never),
    ("PostCompact", Matching::Never),
];

fn canary(cwd: &AbsolutePath) -> Json {
    json!({
        "session_id": CANARY_SESSION,
        "turn_id": "checkrein-canary",
        "transcript_path": null,
        "cwd": cwd.as_str(),
        "hook_event_name": "PreToolUse",
        "model": "canary",
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": { "command": CANARY_COMMAND },
        "tool_use_id": "checkrein-canary",
    })
}
