//! What the plugin says to events. It puts what the client tells it under the shared names.

use checkrein_protocol::{Action, Client, HookEvent, SuccessReporting};
use serde_json::Value as Json;

use crate::error::DecodeError;
use crate::payload::Payload;
use crate::shared_events::{Answered, Reading, text_of};
use crate::tool_names::{Folders, canonical, of_server};

/// The tools of both whose names hold what stands between a server and its tool elsewhere (seen in their programs, 1.18.33 and 7.7.9).
const OWN: &[&str] = &[
    "apply_patch",
    "plan_enter",
    "plan_exit",
    "agent_manager",
    "agent_manager_models",
    "background_process",
    "board_post",
    "board_read",
    "browser_open",
    "cancel_wakeup",
    "cron_create",
    "cron_delete",
    "cron_list",
    "link_pr",
    "notify_user",
    "schedule_wakeup",
    "send_file",
];

/// A tool of a server by that name: the tool `write` of a server `todo` is not the list of what is to do.
fn named(action: Action) -> Action {
    if OWN.contains(&action.tool.as_str()) { action } else { of_server(action, "_") }
}

/// Reads what the plugin of a client says.
pub(super) fn decode(client: Client, payload: &[u8]) -> Result<HookEvent, DecodeError> {
    let reading = Reading {
        client,
        meaning: |name| name,
        named: |action| canonical(named(action), Folders::These(&["workdir"])),
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
