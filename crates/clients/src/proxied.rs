//! An agent behind the proxy for the Agent Client Protocol: a row without hooks. Whoever the agent is, the editor asks its user.

use checkrein_protocol::{Client, HookResponse};

use crate::adapter::{ClientAdapter, ClientPath, ClientPaths, NOWHERE, PLAIN};
use crate::output::HookOutput;
use crate::questions::{Answerer, Questions};

/// The name of the client in records of the proxy.
pub const PROXIED: Client = Client::new("acp");

/// The row. It is not in the table of clients: there is nothing to register and nothing to decode.
pub(crate) const ADAPTER: ClientAdapter = ClientAdapter {
    client: PROXIED,
    title: "an agent behind `checkrein acp`",
    questions: |_| Questions::Asked,
    answerer: |_| Answerer::User,
    // What an agent asks for is granted or not; it takes no other call.
    encode: |_, answer, _| match answer {
        HookResponse::Rewrite { text, .. } => HookOutput::refusal(text),
        _ => HookOutput::line(&serde_json::json!({})),
    },
    places: ClientPaths {
        folder: ".config/zed",
        guarded: &[
            (ClientPath::Folder("settings.json"), "the settings of Zed, by which it calls the proxy"),
            (ClientPath::Project(".zed/settings.json"), "the settings of Zed in this project"),
        ],
        ..NOWHERE
    },
    ..PLAIN
};
