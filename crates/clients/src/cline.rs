//! Cline CLI.
//!
//! | module | holds |
//! |---|---|
//! | `decode` | its hook payloads to events |
//! | `encode` | answers to its hook output |
//!
//! The forms are those that version 3.0.65 was seen to obey. It has a file for each event, opens it anew at each call, and knows no refusal: a
//! call is changed, or the run ends. So a refused command becomes one that says why and fails, and every other refused call ends the run.

mod decode;
mod encode;

use checkrein_facts::hook_line::NO_ANSWER;
use checkrein_protocol::{AbsolutePath, Client};
use serde_json::{Value as Json, json};

use crate::adapter::{ClientAdapter, ClientPath, ClientPaths, NOWHERE, PLAIN, Provider, SettingsScope};
use crate::canary::{CANARY_COMMAND, CANARY_SESSION, Canary};
use crate::conduct::{Conduct, Source};
use crate::events;
use crate::output::HookOutput;
use crate::registration::{HookForm, HookLayout, Matching, OURS};
use crate::servers::{ServerFile, ServerForm};

const CLINE: Client = Client::new("cline");

/// What its hook folders are.
const ROLE: &str = "the hooks of Cline, which it opens anew at each call";

/// Cline CLI.
pub(crate) const ADAPTER: ClientAdapter = ClientAdapter {
    client: CLINE,
    title: "Cline",
    programs: &["cline"],
    packages: &["/cline/dist/", "/@cline/cli"],
    decode: decode::decode,
    encode: encode::encode,
    refuse: encode::refuse,
    canary: Canary { call: canary, refuses },
    places: ClientPaths {
        folder: ".cline",
        settings: &[
            (SettingsScope::User, ClientPath::Folder("hooks/PreToolUse.sh")),
            (SettingsScope::Team, ClientPath::Project(".cline/hooks/PreToolUse.sh")),
        ],
        companions: &[
            "PostToolUse.sh",
            "TaskStart.sh",
            "TaskResume.sh",
            "TaskComplete.sh",
            "SessionShutdown.sh",
            "PreCompact.sh",
        ],
        guarded: &[
            (ClientPath::Folder("hooks/PreToolUse.sh"), ROLE),
            (ClientPath::Project(".cline/hooks/PreToolUse.sh"), ROLE),
            (ClientPath::Folder("hooks"), ROLE),
            (ClientPath::Project(".cline/hooks"), ROLE),
            (ClientPath::Project(".clinerules/hooks"), ROLE),
            (ClientPath::Folder("../Documents/Cline/Hooks"), ROLE),
        ],
        expected: &[".cline/data"],
        // It is a program of Bun, which reads this file where it is started.
        runs: &[("bunfig.toml", "preload")],
        ..NOWHERE
    },
    hooks: HookLayout { client: "cline", form: HookForm::Whole(script), events: EVENTS, ..PLAIN.hooks },
    provider: Provider { name: "cline", host: None, address: None, instead: &[] },
    events: events::CLINE,
    open: &[
        "a refused command becomes one that prints the reason and fails; any other refused call ends the run, and the reason is not shown",
        "its hooks cannot ask, so a call that needs a question is refused, and the user runs it in a terminal",
        "it opens its hook files anew at each call: one that is taken away in the middle of a session reviews nothing more. Calls that touch the four hook folders are refused",
        "it runs what `preload` of `bunfig.toml` names in the folder where it is started, before any hook: writing such a file is asked about, so refused, and `doctor` names one that is there",
        "where a script of yours is called like one of ours (such as `PostToolUse.sh`), `init` changes nothing: rename yours first, such as to `PostToolUse.bash`, and Cline runs both",
        "a hook of another file that changes the same call after ours has the last word",
        "a hook that takes longer than two minutes was not tried",
    ],
    conduct: Conduct {
        deny: "a command becomes one that says why and fails; any other call ends the run",
        ask: "lost, so it is refused",
        rewrite: "yes",
        context: "before and after the call",
        stop: "yes",
        failing: "the run ends when the hook fails; the call runs when the script itself is killed or gone",
        precedence: "a stop wins; of two changes the later one",
        removal: "yes: files are opened at each call, so calls that touch them are refused",
        version: "3.0.65",
        source: Source::Observed,
    },
    servers: &[ServerFile {
        scope: SettingsScope::User,
        place: ClientPath::Folder("data/settings/cline_mcp_settings.json"),
        form: ServerForm::Json(&[&["mcpServers"]]),
    }],
    ..PLAIN
};

const EVENTS: &[(&str, Matching)] = &[("PreToolUse", Matching::Never)];

/// The script that reviews calls. Exit statuses mean nothing to the client, so the end of the line is an answer.
fn script(line: &str) -> String {
    let stop = json!({ "cancel": true, "errorMessage": NO_ANSWER });
    format!("#!/bin/sh\n# {OURS}\n(\n{line}\n) || echo '{stop}'\n")
}

fn canary(cwd: &AbsolutePath) -> Json {
    json!({
        "clineVersion": "",
        "taskId": CANARY_SESSION,
        "workspaceRoots": [cwd.as_str()],
        "agent_id": "checkrein-canary",
        "hookName": "tool_call",
        "tool_call": {
            "id": "checkrein-canary",
            "name": "run_commands",
            "input": { "commands": [CANARY_COMMAND] },
        },
    })
}

/// The run ends, or another command runs.
fn refuses(output: &HookOutput) -> bool {
    let Some(answer) = output.json() else { return false };
    let commands =
        answer.get("overrideInput").and_then(|input| input.get("commands")).and_then(Json::as_array);
    let is_refusing = |command: &Json| command.as_str().is_some_and(|text| text.ends_with(encode::FAILS));
    answer.get("cancel").and_then(Json::as_bool) == Some(true)
        || commands.is_some_and(|commands| !commands.is_empty() && commands.iter().all(is_refusing))
}
