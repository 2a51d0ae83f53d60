//! OpenCode and Kilo: clients that know no hook programs and run a plugin of ours, which asks the hook program and refuses without an answer.
//!
//! | module | holds |
//! |---|---|
//! | `decode` | what the plugin says to events |
//! | `encode` | answers to the plugin |
//!
//! The plugin itself is `plugin/plugin.js`.

mod decode;
mod encode;

use checkrein_protocol::{AbsolutePath, Client, ToolOutput};
use serde_json::{Value as Json, json};

use crate::adapter::{ClientAdapter, ClientPath, ClientPaths, NOWHERE, PLAIN, Provider, SettingsScope};
use crate::canary::{CANARY_COMMAND, CANARY_SESSION, Canary};
use crate::chosen_model::{ModelForm, ModelPlaces};
use crate::conduct::{Conduct, Source};
use crate::events;
use crate::output::HookOutput;
use crate::registration::{HookForm, HookLayout, Matching};
use crate::resume::behind;
use crate::servers::{ServerFile, ServerForm};

/// The text of the plugin, with a word where the command line stands.
const TEXT: &str = include_str!("plugin/plugin.js");

/// OpenCode.
pub(crate) const OPENCODE: ClientAdapter = ClientAdapter {
    client: Client::new("opencode"),
    title: "OpenCode",
    programs: &["opencode"],
    packages: &["/opencode-ai/"],
    decode: |payload| decode::decode(Client::new("opencode"), payload),
    places: ClientPaths {
        folder: ".config/opencode",
        settings: &[
            (SettingsScope::User, ClientPath::Folder("plugins/checkrein.js")),
            (SettingsScope::Team, ClientPath::Project(".opencode/plugins/checkrein.js")),
        ],
        guarded: &[
            (ClientPath::Folder("plugins/checkrein.js"), "the plugin of checkrein for OpenCode"),
            (
                ClientPath::Project(".opencode/plugins/checkrein.js"),
                "the plugin of checkrein in this project",
            ),
            (
                ClientPath::Folder("plugins"),
                "the plugins of OpenCode, which can change a call that was reviewed",
            ),
            (
                ClientPath::Folder("plugin"),
                "the plugins of OpenCode, which can change a call that was reviewed",
            ),
            (ClientPath::Project(".opencode/plugins"), "the plugins of OpenCode in this project"),
            (ClientPath::Project(".opencode/plugin"), "the plugins of OpenCode in this project"),
            (ClientPath::Project(".opencode/tool"), "code that OpenCode loads into itself"),
            (ClientPath::Project(".opencode/tools"), "code that OpenCode loads into itself"),
            (ClientPath::Folder("tool"), "code that OpenCode loads into itself"),
            (ClientPath::Folder("tools"), "code that OpenCode loads into itself"),
            (ClientPath::Folder("config.json"), "the settings of OpenCode, which name plugins"),
            (ClientPath::Folder("opencode.json"), "the settings of OpenCode, which name plugins"),
            (ClientPath::Folder("opencode.jsonc"), "the settings of OpenCode, which name plugins"),
            (
                ClientPath::Project("opencode.json"),
                "the settings of OpenCode in this project, which name plugins",
            ),
            (
                ClientPath::Project("opencode.jsonc"),
                "the settings of OpenCode in this project, which name plugins",
            ),
            (
                ClientPath::Project(".opencode/opencode.json"),
                "the settings of OpenCode in this project, which name plugins",
            ),
            (
                ClientPath::Project(".opencode/opencode.jsonc"),
                "the settings of OpenCode in this project, which name plugins",
            ),
            (
                ClientPath::Folder("../../.opencode/opencode.json"),
                "the settings and plugins of OpenCode of this user",
            ),
            (
                ClientPath::Folder("../../.opencode/opencode.jsonc"),
                "the settings and plugins of OpenCode of this user",
            ),
            (
                ClientPath::Folder("../../.opencode/plugin"),
                "the settings and plugins of OpenCode of this user",
            ),
            (
                ClientPath::Folder("../../.opencode/plugins"),
                "the settings and plugins of OpenCode of this user",
            ),
        ],
        expected: &[".local/share/opencode", ".cache/opencode"],
        ..NOWHERE
    },
    hooks: HookLayout { client: "opencode", ..HOOKS },
    models: ModelPlaces {
        options: &["-m", "--model"],
        variables: &[],
        files: &[
            (ClientPath::Project(".opencode/opencode.jsonc"), &["model"]),
            (ClientPath::Project(".opencode/opencode.json"), &["model"]),
            (ClientPath::Project("opencode.jsonc"), &["model"]),
            (ClientPath::Project("opencode.json"), &["model"]),
            (ClientPath::Folder("opencode.jsonc"), &["model"]),
            (ClientPath::Folder("opencode.json"), &["model"]),
            (ClientPath::Folder("config.json"), &["model"]),
        ],
        form: ModelForm::Json,
    },
    servers: &[
        of_user("config.json"),
        of_user("opencode.json"),
        of_user("opencode.jsonc"),
        of_user("../../.opencode/opencode.json"),
        of_user("../../.opencode/opencode.jsonc"),
        of_project("opencode.json"),
        of_project("opencode.jsonc"),
        of_project(".opencode/opencode.json"),
        of_project(".opencode/opencode.jsonc"),
    ],
    resume: Some(|words, session| behind(words, "run", &["-s", "--session"], ["--session", session])),
    telling: &["json"],
    silencing: &["--pure"],
    conduct: Conduct { version: "1.18.33", ..CONDUCT },
    ..BOTH
};

/// Kilo.
pub(crate) const KILO: ClientAdapter = ClientAdapter {
    client: Client::new("kilo"),
    title: "Kilo",
    programs: &["kilo"],
    packages: &["/@kilocode/cli/"],
    decode: |payload| decode::decode(Client::new("kilo"), payload),
    places: ClientPaths {
        folder: ".config/kilo",
        settings: &[
            (SettingsScope::User, ClientPath::Folder("plugins/checkrein.js")),
            (SettingsScope::Team, ClientPath::Project(".kilo/plugins/checkrein.js")),
        ],
        guarded: &[
            (ClientPath::Folder("plugins/checkrein.js"), "the plugin of checkrein for Kilo"),
            (ClientPath::Project(".kilo/plugins/checkrein.js"), "the plugin of checkrein in this project"),
            (ClientPath::Folder("plugins"), "the plugins of Kilo, which can change a call that was reviewed"),
            (ClientPath::Folder("plugin"), "the plugins of Kilo, which can change a call that was reviewed"),
            (ClientPath::Project(".kilo/plugins"), "the plugins of Kilo in this project"),
            (ClientPath::Project(".kilo/plugin"), "the plugins of Kilo in this project"),
            (ClientPath::Project(".kilo/tool"), "code that Kilo loads into itself"),
            (ClientPath::Project(".kilo/tools"), "code that Kilo loads into itself"),
            (ClientPath::Folder("tool"), "code that Kilo loads into itself"),
            (ClientPath::Folder("tools"), "code that Kilo loads into itself"),
            (ClientPath::Project(".kilocode/plugins"), "the plugins of Kilo in this project"),
            (ClientPath::Project(".kilocode/plugin"), "the plugins of Kilo in this project"),
            (ClientPath::Folder("../../.kilo/plugins"), "the plugins of Kilo of this user"),
            (ClientPath::Folder("../../.kilo/plugin"), "the plugins of Kilo of this user"),
            (ClientPath::Folder("../../.kilocode/plugins"), "the plugins of Kilo of this user"),
            (ClientPath::Folder("../../.kilocode/plugin"), "the plugins of Kilo of this user"),
            (ClientPath::Folder("config.json"), "the settings of Kilo, which name plugins"),
            (ClientPath::Folder("kilo.json"), "the settings of Kilo, which name plugins"),
            (ClientPath::Folder("kilo.jsonc"), "the settings of Kilo, which name plugins"),
            (ClientPath::Folder("opencode.json"), "the settings of Kilo, which name plugins"),
            (ClientPath::Folder("opencode.jsonc"), "the settings of Kilo, which name plugins"),
            (ClientPath::Project("kilo.json"), "the settings of Kilo in this project, which name plugins"),
            (ClientPath::Project("kilo.jsonc"), "the settings of Kilo in this project, which name plugins"),
            (
                ClientPath::Project("opencode.json"),
                "the settings of Kilo in this project, which name plugins",
            ),
            (
                ClientPath::Project("opencode.jsonc"),
                "the settings of Kilo in this project, which name plugins",
            ),
            (
                ClientPath::Project(".kilo/kilo.json"),
                "the settings of Kilo in this project, which name plugins",
            ),
            (
                ClientPath::Project(".kilo/kilo.jsonc"),
                "the settings of Kilo in this project, which name plugins",
            ),
            (
                ClientPath::Project(".kilo/opencode.json"),
                "the settings of Kilo in this project, which name plugins",
            ),
            (
                ClientPath::Project(".kilo/opencode.jsonc"),
                "the settings of Kilo in this project, which name plugins",
            ),
            (
                ClientPath::Project(".kilocode/kilo.json"),
                "the settings of Kilo in this project, which name plugins",
            ),
            (
                ClientPath::Project(".kilocode/kilo.jsonc"),
                "the settings of Kilo in this project, which name plugins",
            ),
            (
                ClientPath::Project(".kilocode/opencode.json"),
                "the settings of Kilo in this project, which name plugins",
            ),
            (
                ClientPath::Project(".kilocode/opencode.jsonc"),
                "the settings of Kilo in this project, which name plugins",
            ),
            (
                ClientPath::Folder("../../.kilo/kilo.json"),
                "the settings of Kilo of this user, which name plugins",
            ),
            (
                ClientPath::Folder("../../.kilo/kilo.jsonc"),
                "the settings of Kilo of this user, which name plugins",
            ),
            (
                ClientPath::Folder("../../.kilo/opencode.json"),
                "the settings of Kilo of this user, which name plugins",
            ),
            (
                ClientPath::Folder("../../.kilo/opencode.jsonc"),
                "the settings of Kilo of this user, which name plugins",
            ),
            (
                ClientPath::Folder("../../.kilocode/kilo.json"),
                "the settings of Kilo of this user, which name plugins",
            ),
            (
                ClientPath::Folder("../../.kilocode/kilo.jsonc"),
                "the settings of Kilo of this user, which name plugins",
            ),
            (
                ClientPath::Folder("../../.kilocode/opencode.json"),
                "the settings of Kilo of this user, which name plugins",
            ),
            (
                ClientPath::Folder("../../.kilocode/opencode.jsonc"),
                "the settings of Kilo of this user, which name plugins",
            ),
        ],
        expected: &[".local/share/kilo", ".cache/kilo"],
        ..NOWHERE
    },
    hooks: HookLayout { client: "kilo", ..HOOKS },
    models: ModelPlaces {
        options: &["-m", "--model"],
        variables: &[],
        files: &[
            (ClientPath::Project(".kilo/kilo.jsonc"), &["model"]),
            (ClientPath::Project(".kilo/kilo.json"), &["model"]),
            (ClientPath::Project(".kilocode/kilo.jsonc"), &["model"]),
            (ClientPath::Project(".kilocode/kilo.json"), &["model"]),
            (ClientPath::Project("kilo.jsonc"), &["model"]),
            (ClientPath::Project("kilo.json"), &["model"]),
            (ClientPath::Folder("kilo.jsonc"), &["model"]),
            (ClientPath::Folder("kilo.json"), &["model"]),
            (ClientPath::Folder("config.json"), &["model"]),
        ],
        form: ModelForm::Json,
    },
    servers: &[
        of_user("config.json"),
        of_user("kilo.json"),
        of_user("kilo.jsonc"),
        of_user("opencode.json"),
        of_user("opencode.jsonc"),
        of_user("../../.kilo/kilo.json"),
        of_user("../../.kilo/kilo.jsonc"),
        of_user("../../.kilo/opencode.json"),
        of_user("../../.kilo/opencode.jsonc"),
        of_user("../../.kilocode/kilo.json"),
        of_user("../../.kilocode/kilo.jsonc"),
        of_user("../../.kilocode/opencode.json"),
        of_user("../../.kilocode/opencode.jsonc"),
        of_project("kilo.json"),
        of_project("kilo.jsonc"),
        of_project("opencode.json"),
        of_project("opencode.jsonc"),
        of_project(".kilo/kilo.json"),
        of_project(".kilo/kilo.jsonc"),
        of_project(".kilo/opencode.json"),
        of_project(".kilo/opencode.jsonc"),
        of_project(".kilocode/kilo.json"),
        of_project(".kilocode/kilo.jsonc"),
        of_project(".kilocode/opencode.json"),
        of_project(".kilocode/opencode.jsonc"),
    ],
    silencing: &["--pure"],
    conduct: Conduct { version: "7.7.9", ..CONDUCT },
    ..BOTH
};

/// How both name MCP servers, with comments or without, in every file that names plugins.
const SERVERS: ServerForm = ServerForm::JsonWords(&[&["mcp"]]);

const fn of_user(path: &'static str) -> ServerFile {
    ServerFile { scope: SettingsScope::User, place: ClientPath::Folder(path), form: SERVERS }
}

const fn of_project(path: &'static str) -> ServerFile {
    ServerFile { scope: SettingsScope::Team, place: ClientPath::Project(path), form: SERVERS }
}

/// What they share.
const BOTH: ClientAdapter = ClientAdapter {
    tool_output: ToolOutput::Replaced,
    encode: encode::encode,
    refuse: encode::refuse,
    canary: Canary { call: canary, refuses },
    provider: Provider { name: "opencode", host: None, address: None, instead: &[] },
    events: events::PLUGIN,
    open: &[
        "with `--pure` it runs no plugin, and says nothing about it",
        "a plugin can ask nobody, so a call that needs a question is refused, and the user runs it in a terminal",
        "what is said about a call before it runs stands in front of its output; of a call that fails in a tool nothing is told",
        "plugins that run after ours can change a call that was reviewed",
        "a halt refuses every call; it does not end the run",
    ],
    ..PLAIN
};

const CONDUCT: Conduct = Conduct {
    deny: "refused; the model reads the reason and goes on",
    ask: "lost, so it is refused",
    rewrite: "yes",
    context: "after the call",
    stop: "no; later calls are refused",
    failing: "refused in every case: the plugin is ours",
    precedence: "a refusal wins; later plugins can change a call",
    removal: "no: plugins are read once",
    version: "",
    source: Source::Observed,
};

const HOOKS: HookLayout = HookLayout {
    form: HookForm::Whole(text),
    events: EVENTS,
    reviewing: "PreToolUse",
    vital: &["PreToolUse"],
    ..PLAIN.hooks
};

/// The events that the plugin passes on, under our names.
const EVENTS: &[(&str, Matching)] = &[
    ("PreToolUse", Matching::Never),
    ("PostToolUse", Matching::Never),
    ("UserPromptSubmit", Matching::Never),
    ("SessionStart", Matching::Never),
    ("Stop", Matching::Never),
];

/// The plugin that runs a command line.
fn text(line: &str) -> String {
    let word = if line == "\u{0}" { line.to_owned() } else { Json::from(line).to_string() };
    TEXT.replace("CHECKREIN_LINE", &word)
}

fn canary(cwd: &AbsolutePath) -> Json {
    json!({
        "hook_event_name": "PreToolUse",
        "session_id": CANARY_SESSION,
        "cwd": cwd.as_str(),
        "tool_name": "bash",
        "tool_input": { "command": CANARY_COMMAND, "description": "canary of the guard itself, never run" },
        "tool_use_id": "checkrein-canary",
    })
}

fn refuses(output: &HookOutput) -> bool {
    let Some(answer) = output.json() else { return false };
    let text = |key: &str| answer.get(key).and_then(Json::as_str);
    text("decision") == Some("deny") && text("reason").is_some_and(|reason| !reason.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both load plugins from all of these (seen in their programs, 1.18.33 and 7.7.9).
    #[test]
    fn every_file_that_names_plugins_is_guarded() {
        let is_guarded = |client: &ClientAdapter, place: &str, name: &str| {
            let wanted = format!("{place}{name}");
            client.places.guarded.iter().any(|(path, _)| match path {
                ClientPath::Project(path) => *path == wanted,
                ClientPath::Folder(path) => format!("~/{path}") == wanted,
                ClientPath::Machine(_) => false,
            })
        };
        for name in ["opencode.json", "opencode.jsonc"] {
            for place in ["", ".opencode/", "~/", "~/../../.opencode/"] {
                assert!(is_guarded(&OPENCODE, place, name), "{place}{name}");
            }
        }
        for name in ["kilo.json", "kilo.jsonc", "opencode.json", "opencode.jsonc"] {
            for place in ["", ".kilo/", ".kilocode/", "~/", "~/../../.kilo/", "~/../../.kilocode/"] {
                assert!(is_guarded(&KILO, place, name), "{place}{name}");
            }
        }
        assert!(is_guarded(&OPENCODE, "~/", "config.json") && is_guarded(&KILO, "~/", "config.json"));
    }

    #[test]
    fn servers_are_looked_for_in_every_settings_file_that_is_guarded() {
        for client in [&OPENCODE, &KILO] {
            for (place, _) in client.places.guarded {
                let is_settings = [".json", ".jsonc"].iter().any(|end| place.below().ends_with(end));
                let is_looked_at = client.servers.iter().any(|file| file.place == *place);
                assert_eq!(is_settings, is_looked_at, "{}: {place:?}", client.title);
            }
        }
    }
}
