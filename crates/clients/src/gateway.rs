//! The gateway before MCP servers, as the engine sees it: a door that masks by itself, and asks where the client behind it lets it ask.

use checkrein_protocol::{Client, PermissionMode};

use crate::adapter::{ClientAdapter, PLAIN};
use crate::output::HookOutput;
use crate::questions::{Question, Questions};

pub(crate) const ADAPTER: ClientAdapter = ClientAdapter {
    client: Client::new("mcp"),
    title: "a client without elicitation",
    questions,
    // It puts every answer by itself, also a changed call.
    encode: |_, _, _| HookOutput::line(&serde_json::json!({})),
    ..PLAIN
};

/// The gateway says by the mode whether the client can ask its user for a server.
fn questions(question: &Question<'_>) -> Questions {
    match question.permission_mode {
        Some(PermissionMode::Default) => Questions::Asked,
        None
        | Some(
            PermissionMode::AcceptEdits
            | PermissionMode::Plan
            | PermissionMode::Auto
            | PermissionMode::DontAsk
            | PermissionMode::BypassPermissions
            | PermissionMode::Other,
        ) => Questions::Lost,
    }
}
