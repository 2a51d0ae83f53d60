//! One row of a table and one folder per client: its hook form to the protocol and back, its settings, what it obeys and what not.
//!
//! | module | holds |
//! |---|---|
//! | `adapter` | what the rest of the program knows of a client: the row |
//! | `claude`, `codex`, `gemini` | Claude Code, Codex CLI, Gemini CLI |
//! | `qwen`, `copilot`, `cline`, `droid` | Qwen Code, Copilot CLI, Cline, Factory Droid |
//! | `plugin` | OpenCode and Kilo, which run a plugin |
//! | `gateway` | the gateway before MCP servers, as a client of the engine |
//! | `cursor`, `windsurf`, `kiro` | Cursor, Windsurf, Kiro, by their documentation |
//! | `shared_events` | events under the names that several clients share |
//! | `tool_names` | calls under the names that the rest of the program knows |
//! | `proxied` | an agent behind the proxy for the Agent Client Protocol |
//! | `payload` | the fields of hook payloads, for all clients that write flat objects |
//! | `placed` | where a session works, where the client does not tell |
//! | `weight` | how much memory a payload would take |
//! | `registration` | JSON files in which hooks are registered, and seeing whether they are |
//! | `status_line` | the command whose line a client shows below its prompt |
//! | `command` | the command line that a client runs |
//! | `output` | what the hook program prints, and how it ends |
//! | `conduct` | what a client does with answers, in words |
//! | `once`, `pairs` | objects in which nothing stands twice, and what does |
//! | `events` | every event of each client, with what becomes of it |
//! | `shown` | what is shown of each client, and by which test |
//! | `chosen_model` | the model that a client is told to use |
//! | `canary` | a payload that must be denied |
//! | `questions` | what becomes of a question to a user |
//! | `answering_hooks`, `project_plugins` | hooks of others that answer such a question; plugins that a project enables |
//! | `transcript` | what clients write down of a session: what was said, called, answered and spent |
//! | `servers` | files in which clients name MCP servers, which are put behind the gateway and back |
//! | `resume` | starting a client again so that it goes on with its session |
//! | `rewind` | the same from before one of its calls |
//! | `prices` | what tokens cost |
//! | `error` | what can be wrong with a payload or a settings file |
//!
//! **Invariants.** No quirk of a client leaves its folder. This crate reads and writes no file: it takes and gives texts.
//! An answer is one JSON object, and never an explicit approval: a guard that finds nothing wrong has no opinion.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation))]

mod adapter;
mod answering_hooks;
mod canary;
mod chosen_model;
mod claude;
mod cline;
mod codex;
mod command;
mod conduct;
mod copilot;
mod cursor;
mod droid;
mod error;
mod events;
mod gateway;
mod gemini;
mod kiro;
mod once;
mod output;
mod pairs;
mod payload;
mod placed;
mod plugin;
mod prices;
mod project_plugins;
mod proxied;
mod questions;
mod qwen;
mod registration;
mod resume;
mod rewind;
mod servers;
mod shared_events;
mod shown;
mod status_line;
mod tool_names;
pub mod transcript;
mod weight;
mod windsurf;

pub use adapter::{
    Announces, ClientAdapter, ClientPath, ClientPaths, HintDelivery, ProjectSettings, Provider, Resume,
    SettingsScope, Transcript, TrustRequirement,
};
pub use answering_hooks::head_names_answerers;
pub use canary::{CANARY_SESSION, Canary, is_canary};
pub use chosen_model::{ModelFacts, ModelForm, ModelPlaces, chosen_model};
pub use command::{Answering, HookCommand, PLACES, Unanswered};
pub use conduct::{Conduct, Source, page};
pub use error::{DecodeError, PriceError, SettingsError};
pub use once::says_twice;
pub use output::HookOutput;
pub use placed::WorkspaceSource;
pub use prices::{Priced, Prices};
pub use project_plugins::{
    PluginChoice, PluginSettings, hook_files, installed_plugin, plugin_of_marketplace, registered_marketplace,
};
pub use proxied::PROXIED;
pub use questions::{Answerer, Question, Questions};
pub use registration::{
    Authorship, EntryForm, HookForm, HookLayout, Matching, Notation, Protection, Registration, ToolCoverage,
    Unit,
};
pub use resume::{Continuity, ResumeCommand, going_on};
pub use rewind::{EarlierTurn, Rewind, can_rewind, rewound};
pub use servers::{NamedServer, ServerFile, ServerForm, ServerWay};
pub use shown::{Ability, SHOWN};
pub use status_line::{StatusLine, StatusLineLayout};
pub use tool_names::readings;

use checkrein_protocol::Client;

/// All clients whose hooks are answered. The first is the one where nothing says which: most others take its form too.
pub const CLIENTS: &[ClientAdapter] = &[
    claude::ADAPTER,
    codex::ADAPTER,
    gemini::ADAPTER,
    qwen::ADAPTER,
    copilot::ADAPTER,
    cline::ADAPTER,
    droid::ADAPTER,
    cursor::ADAPTER,
    windsurf::ADAPTER,
    kiro::ADAPTER,
    plugin::OPENCODE,
    plugin::KILO,
];

/// Programs of clients whose hooks are not answered.
const OTHER_PROGRAMS: &[&str] = &["aider"];

/// The client where nothing says which.
pub const FIRST: &ClientAdapter = &claude::ADAPTER;

/// The gateway before MCP servers: it hands on the calls of any client, and has no settings of its own.
pub const GATEWAY: &ClientAdapter = &gateway::ADAPTER;

/// The client with this name on the command line and in records.
pub fn named(name: &str) -> Option<&'static ClientAdapter> {
    CLIENTS.iter().find(|adapter| adapter.client.name() == name)
}

/// The row of a client; the first where this version has none for it.
pub fn adapter(client: Client) -> &'static ClientAdapter {
    if client == PROXIED {
        return &proxied::ADAPTER;
    }
    named(client.name()).unwrap_or(if client == GATEWAY.client { GATEWAY } else { FIRST })
}

/// The client whose program is called so.
pub fn of_program(name: &str) -> Option<&'static ClientAdapter> {
    CLIENTS.iter().find(|adapter| adapter.programs.contains(&name))
}

/// The client that this starts: its program, or its package by the name that a package manager is given.
pub fn of_program_or_package(name: &str) -> Option<&'static ClientAdapter> {
    let of_package = |adapter: &&ClientAdapter| {
        let mut parts = adapter.packages.iter().flat_map(|path| path.split('/'));
        parts.any(|part| {
            !part.is_empty() && part != "dist" && part != "cli" && part.trim_start_matches('@') == name
        })
    };
    of_program(name).or_else(|| CLIENTS.iter().find(of_package))
}

/// The names of all programs of clients.
pub fn programs() -> impl Iterator<Item = &'static str> {
    let own = CLIENTS.iter().flat_map(|adapter| adapter.programs);
    own.chain(OTHER_PROGRAMS).copied()
}

/// Parts of the paths of scripts of clients, with the name of the client.
pub fn packages() -> impl Iterator<Item = (&'static str, &'static str)> {
    CLIENTS.iter().flat_map(|adapter| adapter.packages.iter().map(|part| (*part, adapter.client.name())))
}

/// The variables by which clients mark the environment of their tools.
pub fn marks() -> impl Iterator<Item = &'static str> {
    CLIENTS.iter().flat_map(|adapter| adapter.marks).copied()
}

/// The files of a project, below it, that decide about the hooks of clients.
pub fn project_guard() -> impl Iterator<Item = &'static str> {
    let guarded = CLIENTS.iter().flat_map(|adapter| adapter.places.guarded);
    guarded.filter_map(|(place, _)| match place {
        ClientPath::Project(path) => Some(*path),
        ClientPath::Folder(_) | ClientPath::Machine(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::of_program_or_package;

    #[test]
    fn a_client_is_known_by_its_program_and_by_the_name_of_its_package() {
        let name = |given: &str| of_program_or_package(given).map(|client| client.client.name());
        for (given, expected) in [
            ("claude", "claude"),
            ("claude-code", "claude"),
            ("gemini-cli", "gemini"),
            ("opencode-ai", "opencode"),
        ] {
            assert_eq!(name(given), Some(expected), "{given}");
        }
        assert_eq!(name("cli"), None);
        assert_eq!(name("aider"), None);
    }
}
