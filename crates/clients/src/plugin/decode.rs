//! What the plugin says to events. It puts what the client tells it under the shared names.

use checkrein_protocol::{Action, Client, HookEvent, SuccessReporting};
use serde_json::Value as Json;

use crate::error::DecodeError;
use crate::payload::Payload;
use crate::shared_events::{Answered, Reading, text_of};
use crate::tool_names::{Folders, canonical};

/// Reads what the plugin of a client says.
pub(super) fn decode(client: Client, payload: &[u8]) -> Result<HookEvent, DecodeError> {
    let reading = Reading {
        client,
        meaning: |name| name,
        named: |action| canonical(action, Folders::These(&["workdir"])),
        answered,
        success: SuccessReporting::Told,
    };
    reading.event(Payload::parse(payload)?)
}

/// The output as the model reads it, and the exit status of a command.
fn answered(action: &Action, response: &Json) -> Answered {
    let status = response.get("exit").and_then(Json::as_i64).filter(|status| *status != 0);
    let error = status.filter(|_| action.shell_field().is_some());
    Answered {
        error: error.map(|status| format!("Exit code {status}")),
        ..Answered::output(text_of(response.get("output").unwrap_or(response)))
    }
}
