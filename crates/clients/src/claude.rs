//! Claude Code.
//!
//! | module | holds |
//! |---|---|
//! | `decode` | its hook payloads to events |
//! | `encode` | answers to its hook output |
//! | `hooks` | what its settings register |
//! | `questions` | when it asks a user, and when not |
//! | `resume` | starting it again so that it goes on |
//! | `rewind` | the same from before one of its calls |
//!
//! The forms are those that version 2.1 was seen to obey; where its documentation differs, what it does wins.

mod decode;
mod encode;
mod hooks;
mod questions;
mod resume;
mod rewind;

use checkrein_protocol::{AbsolutePath, Client, ToolOutput, Typing};

use serde_json::{Value as Json, json};

use crate::adapter::{
    Announces, ClientAdapter, ClientPath, ClientPaths, HintDelivery, ProjectSettings, Provider,
    SettingsScope, Transcript,
};
use crate::canary::{CANARY_COMMAND, CANARY_SESSION, Canary, denies_in_wrapper};
use crate::chosen_model::{ModelForm, ModelPlaces};
use crate::conduct::{Conduct, Source};
use crate::events;
use crate::placed::WorkspaceSource;
use crate::servers::{ServerFile, ServerForm};
use crate::status_line::StatusLineLayout;
use crate::transcript::TranscriptPlace;

/// Claude Code.
pub(crate) const ADAPTER: ClientAdapter = ClientAdapter {
    client: Client::CLAUDE,
    title: "Claude Code",
    programs: &["claude"],
    packages: &["/@anthropic-ai/claude-code/"],
    typing: Typing::Reviewed,
    workspace: WorkspaceSource::Payload,
    decode: decode::decode,
    encode: encode::encode,
    refuse: encode::refuse,
    tool_output: ToolOutput::Masked,
    questions: questions::questions,
    answerer: questions::answerer,
    announces_questions: Announces::Each,
    canary: Canary { call: canary, refuses: denies_in_wrapper },
    places: ClientPaths {
        folder: ".claude",
        folder_variable: Some("CLAUDE_CONFIG_DIR"),
        settings: &[
            (SettingsScope::User, ClientPath::Folder("settings.json")),
            (SettingsScope::Team, ClientPath::Project(".claude/settings.json")),
            (SettingsScope::Local, ClientPath::Project(LOCAL)),
        ],
        // Observed with 2.1.197: hooks of the project are not called in a session that begins in one of its folders.
        project_settings: ProjectSettings::WhereStarted,
        companions: &[],
        switches: &[],
        managed: &[ClientPath::Machine("etc/claude-code/managed-settings.json")],
        guarded: &[
            (
                ClientPath::Project(".claude/settings.json"),
                "the hook settings of Claude Code in this project",
            ),
            (ClientPath::Project(LOCAL), "the local hook settings of Claude Code in this project"),
            (ClientPath::Folder("settings.json"), "the hook settings of Claude Code of this user"),
            (ClientPath::Machine("etc/claude-code"), "the managed settings of Claude Code"),
        ],
        interposing: &["CLAUDE_CODE_SHELL_PREFIX", "CLAUDE_CODE_SIMPLE"],
        environment: &[".claude/settings.json", LOCAL],
        written: &[LOCAL],
        runs: &[],
        documents: &[".claude/agents", ".claude/skills", ".claude/commands"],
        plugins: Some("plugins"),
        expected: &[".claude/plans"],
    },
    hooks: hooks::HOOKS,
    servers: &[
        ServerFile {
            scope: SettingsScope::User,
            place: ClientPath::Folder("../.claude.json"),
            form: ServerForm::Json(&[&["mcpServers"], &["projects", "*", "mcpServers"]]),
        },
        ServerFile {
            scope: SettingsScope::User,
            place: ClientPath::Folder(".claude.json"),
            form: ServerForm::Json(&[&["mcpServers"], &["projects", "*", "mcpServers"]]),
        },
        ServerFile {
            scope: SettingsScope::Team,
            place: ClientPath::Project(".mcp.json"),
            form: ServerForm::Json(&[&["mcpServers"]]),
        },
    ],
    status_line: Some(StatusLineLayout { key: "statusLine" }),
    marks: &["CLAUDECODE", "CLAUDE_CODE_SESSION_ID"],
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    resume: Some(resume::resume),
    rewind: Some(rewind::REWIND),
    silencing: &["--bare", "--safe-mode", "--setting-sources", "--settings"],
    telling: &["stream-json"],
    transcript: Transcript::Tells,
    transcripts: Some(TranscriptPlace("projects/*/{session}.jsonl")),
    models: ModelPlaces {
        options: &["--model"],
        variables: &["ANTHROPIC_MODEL"],
        files: &[
            (ClientPath::Project(".claude/settings.local.json"), &["model"]),
            (ClientPath::Project(".claude/settings.json"), &["model"]),
            (ClientPath::Folder("settings.json"), &["model"]),
        ],
        form: ModelForm::Json,
    },
    provider: Provider {
        name: "anthropic",
        host: Some("api.anthropic.com"),
        address: Some("ANTHROPIC_BASE_URL"),
        instead: &[("CLAUDE_CODE_USE_BEDROCK", "bedrock"), ("CLAUDE_CODE_USE_VERTEX", "vertex")],
    },
    trust: None,
    next_step: None,
    events: events::CLAUDE,
    open: &[],
    hints: HintDelivery::WithTheCall,
    conduct: Conduct {
        deny: "refused; the model reads the reason and goes on",
        ask: "the user is asked; without a user it is refused",
        rewrite: "yes",
        context: "before and after the call",
        stop: "at the end of a call",
        failing: "refused when the hook fails; runs when client and line are killed or too late",
        precedence: "a refusal wins",
        removal: "no: changes of the settings are refused and put back",
        version: "2.1.197",
        source: Source::Observed,
    },
};

/// The settings of one user in one project, in which the client writes down answers to its questions.
const LOCAL: &str = ".claude/settings.local.json";

fn canary(cwd: &AbsolutePath) -> Json {
    json!({
        "session_id": CANARY_SESSION,
        "transcript_path": "",
        "cwd": cwd.as_str(),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": { "command": CANARY_COMMAND, "description": "canary of the guard itself, never run" },
        "tool_use_id": "checkrein-canary",
    })
}
