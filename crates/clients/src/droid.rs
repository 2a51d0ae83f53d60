//! Factory Droid.
//!
//! The forms are those that version 0.225 was seen to obey. Of two hooks the first one decides, and those of a repository come before those of the
//! user; only exit status 2 is lifted by nobody, so it is the refusal.

use checkrein_protocol::{
    AbsolutePath, Action, Client, HookEvent, HookEventKind, HookResponse, SuccessReporting,
};
use serde_json::{Value as Json, json};

use crate::adapter::{
    ClientAdapter, ClientPath, ClientPaths, HintDelivery, NOWHERE, PLAIN, Provider, SettingsScope,
};
use crate::canary::{CANARY_COMMAND, CANARY_SESSION, Canary, refuses_by_status};
use crate::chosen_model::{ModelForm, ModelPlaces};
use crate::command::Answering;
use crate::conduct::{Conduct, Source};
use crate::error::DecodeError;
use crate::events;
use crate::output::HookOutput;
use crate::payload::{Payload, context};
use crate::registration::{HookLayout, Matching};
use crate::resume::behind;
use crate::servers::{ServerFile, ServerForm};
use crate::shared_events::{Answered, Reading, text_of};
use crate::tool_names::{Folders, canonical, of_server};

const DROID: Client = Client::new("droid");

/// What its files are.
const ROLE: &str = "the hooks of Droid, which it reads anew while it works";

/// Factory Droid.
pub(crate) const ADAPTER: ClientAdapter = ClientAdapter {
    client: DROID,
    title: "Droid",
    programs: &["droid"],
    packages: &["/@factory/cli"],
    decode,
    encode,
    refuse: HookOutput::refusal,
    canary: Canary { call: canary, refuses: refuses_by_status },
    places: ClientPaths {
        folder: ".factory",
        settings: &[
            (SettingsScope::User, ClientPath::Folder("settings.json")),
            (SettingsScope::Team, ClientPath::Project(".factory/settings.json")),
        ],
        switches: &[ClientPath::Project(".factory/settings.local.json")],
        guarded: &[
            (ClientPath::Folder("settings.json"), ROLE),
            (ClientPath::Project(".factory/settings.json"), ROLE),
            (ClientPath::Folder("hooks.json"), ROLE),
            (ClientPath::Project(".factory/hooks.json"), ROLE),
        ],
        expected: &[".factory/sessions", ".factory/logs"],
        ..NOWHERE
    },
    hooks: HookLayout {
        client: "droid",
        answering: Answering::Status,
        events: EVENTS,
        every_name: ".*",
        switched_off: |settings| {
            const KEY: &str = "hooksDisabled";
            (settings.get(KEY).and_then(Json::as_bool) == Some(true)).then_some(KEY)
        },
        handler_types: &["command"],
        ..PLAIN.hooks
    },
    marks: &["DROID_PLUGIN_ROOT"],
    project_variable: Some("FACTORY_PROJECT_DIR"),
    resume: Some(|words, session| {
        behind(words, "exec", &["-s", "--session-id", "--fork"], ["--session-id", session])
    }),
    telling: &["stream-json"],
    models: ModelPlaces {
        options: &["-m", "--model"],
        variables: &[],
        files: &[(ClientPath::Folder("settings.json"), &["model"])],
        form: ModelForm::Json,
    },
    provider: Provider { name: "factory", host: None, address: None, instead: &[] },
    events: events::DROID,
    open: &[
        "without an account it goes on with no session: it ends with status 1 and says nothing (`droid exec --session-id`)",
        "a hook's question lets the call run, so a call that needs a question is refused, and the user runs it in a terminal",
        "it reads its settings anew while it works: a tool call that empties them takes the guard out. Calls that touch them are refused",
        "its hooks hear nothing of a call that failed",
        "hints before a call, and that it was changed, reach the model with the result",
        "one hook of an unknown kind silently switches off all hooks of the file",
        "the hooks of a repository can change a call that was reviewed",
    ],
    hints: HintDelivery::WithTheOutcome,
    conduct: Conduct {
        deny: "refused by exit status 2; the model reads the reason and goes on",
        ask: "would run, so it is refused",
        rewrite: "yes",
        context: "after the call",
        stop: "yes",
        failing: "refused when the hook fails; runs when the line itself is killed or too late",
        precedence: "the first hook decides, those of a repository before those of the user; nobody lifts exit status 2: ours is that",
        removal: "yes: settings are read anew, so calls that touch them are refused",
        version: "0.225.2",
        source: Source::Observed,
    },
    servers: &[
        ServerFile {
            scope: SettingsScope::User,
            place: ClientPath::Folder("mcp.json"),
            form: ServerForm::Json(&[&["mcpServers"]]),
        },
        ServerFile {
            scope: SettingsScope::Team,
            place: ClientPath::Project(".factory/mcp.json"),
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
    ("SessionEnd", Matching::Never),
    ("Stop", Matching::Never),
    ("SubagentStop", Matching::Never),
    ("PreCompact", Matching::Never),
];

const READING: Reading = Reading {
    client: DROID,
    meaning: |name| name,
    named: |action| canonical(of_server(action, "___"), Folders::These(&[])),
    answered: |_, response| Answered::output(text_of(response)),
    success: SuccessReporting::Told,
};

/// Reads one payload. Its documentation has the common fields in camel case.
fn decode(payload: &[u8]) -> Result<HookEvent, DecodeError> {
    let mut payload = Payload::parse(payload)?;
    for (documented, seen) in [
        ("sessionId", "session_id"),
        ("transcriptPath", "transcript_path"),
        ("hookEventName", "hook_event_name"),
        ("permissionMode", "permission_mode"),
    ] {
        payload.rename(documented, seen);
    }
    READING.event(payload)
}

/// The output for an answer to an event. An answer that the event cannot carry becomes the strictest form that it can.
fn encode(event: &HookEvent, answer: &HookResponse, _for_user: Option<&str>) -> HookOutput {
    let said =
        |text: &str| HookOutput::line(&if text.is_empty() { json!({}) } else { context(&event.name, text) });
    match (&event.moment, answer) {
        (HookEventKind::BeforeAction { action, .. }, answer) => before(action, answer),
        (HookEventKind::AfterAction(_), HookResponse::Halt { reason }) => {
            HookOutput::line(&json!({ "continue": false, "stopReason": reason }))
        }
        (
            HookEventKind::Prompt { .. },
            HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } | HookResponse::Halt { reason },
        ) => HookOutput::refusal(reason),
        (
            HookEventKind::TurnEnding { .. },
            HookResponse::Ask { reason, .. } | HookResponse::Deny { reason },
        ) => HookOutput::line(&json!({ "decision": "block", "reason": reason })),
        // Version 0.225 gives its model what stands on standard output then as it is, an empty object too.
        (HookEventKind::SessionStarted { .. }, answer) if answer.text().is_empty() => HookOutput::silence(),
        (
            HookEventKind::AfterAction(_)
            | HookEventKind::Prompt { .. }
            | HookEventKind::SessionStarted { .. },
            answer,
        ) => said(answer.text()),
        (
            HookEventKind::PermissionAsked { .. }
            | HookEventKind::TurnEnding { .. }
            | HookEventKind::SubagentStarted
            | HookEventKind::SubagentEnding { .. }
            | HookEventKind::SessionEnded
            | HookEventKind::BatchDone
            | HookEventKind::ConfigurationChanged { .. }
            | HookEventKind::Other { .. },
            _,
        ) => HookOutput::line(&json!({})),
    }
}

fn before(action: &Action, answer: &HookResponse) -> HookOutput {
    match answer {
        HookResponse::Replaced { besides, .. } => before(action, besides),
        // What is said beside a call is dropped.
        HookResponse::NoOpinion | HookResponse::Allow { .. } | HookResponse::Context { .. } => {
            HookOutput::line(&json!({}))
        }
        // It is merged into the input. Without a decision beside it the user's own rules still apply.
        HookResponse::Rewrite { input, .. } => HookOutput::line(&json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "updatedInput": { "command": input.get("command").or_else(|| action.input.get("command")) },
        }})),
        // A stop of the run would be lifted by no hook either, and exit status 2 says why to the model.
        HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } | HookResponse::Halt { reason } => {
            HookOutput::refusal(reason)
        }
    }
}

fn canary(cwd: &AbsolutePath) -> Json {
    json!({
        "session_id": CANARY_SESSION,
        "transcript_path": "",
        "cwd": cwd.as_str(),
        "permission_mode": "off",
        "hook_event_name": "PreToolUse",
        "tool_name": "Execute",
        "tool_input": { "command": CANARY_COMMAND, "summary": "canary of the guard itself, never run" },
    })
}
