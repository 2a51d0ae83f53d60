//! Answers to Cline's hook output: one JSON object. Exit statuses and the forms of other clients mean nothing to it.

use checkrein_protocol::{Action, HookEvent, HookEventKind, HookResponse};
use serde_json::{Value as Json, json};

use crate::command::quoted;
use crate::output::HookOutput;

/// How the command ends that runs in place of a refused one.
pub(super) const FAILS: &str = " >&2; exit 1";

/// The output for an answer to an event. An answer that the event cannot carry becomes the strictest form that it can.
pub(super) fn encode(event: &HookEvent, answer: &HookResponse, _for_user: Option<&str>) -> HookOutput {
    HookOutput::line(&match &event.moment {
        HookEventKind::BeforeAction { action, .. } => before(action, answer),
        HookEventKind::AfterAction(_) | HookEventKind::Prompt { .. } => match answer {
            HookResponse::Halt { reason } => cancel(reason),
            other => said(other.text()),
        },
        HookEventKind::PermissionAsked { .. }
        | HookEventKind::SessionStarted { .. }
        | HookEventKind::SessionEnded
        | HookEventKind::TurnEnding { .. }
        | HookEventKind::SubagentStarted
        | HookEventKind::SubagentEnding { .. }
        | HookEventKind::BatchDone
        | HookEventKind::ConfigurationChanged { .. }
        | HookEventKind::Other { .. } => json!({}),
    })
}

/// The output when nothing about the payload is known: it ends the run.
pub(super) fn refuse(reason: &str) -> HookOutput {
    HookOutput::line(&cancel(reason))
}

fn cancel(reason: &str) -> Json {
    json!({ "cancel": true, "errorMessage": reason })
}

fn before(action: &Action, answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Replaced { besides, .. } => before(action, besides),
        HookResponse::NoOpinion | HookResponse::Allow { .. } | HookResponse::Context { .. } => {
            said(answer.text())
        }
        HookResponse::Rewrite { input, text, .. } => match input.get("command").and_then(Json::as_str) {
            Some(command) => with_command(action, command, text),
            None => cancel(text),
        },
        HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } => {
            if action.shell_text().is_some() && takes_several(action) {
                with_command(action, &format!("printf '%s\\n' {}{FAILS}", quoted(reason)), reason)
            } else {
                cancel(reason)
            }
        }
        HookResponse::Halt { reason } => cancel(reason),
    }
}

/// The call with another command, in the form of the tool.
fn with_command(action: &Action, command: &str, text: &str) -> Json {
    let mut input = action.input.clone();
    if let Some(fields) = input.as_object_mut()
        && takes_several(action)
    {
        fields.retain(|name, _| !["command", "args"].contains(&name.as_str()));
        fields.insert("commands".to_owned(), json!([command]));
    } else {
        input["command"] = json!(command);
    }
    json!({ "overrideInput": input, "context": text })
}

/// Whether the tool of a call takes a list of commands: the one of the command line, however it was called.
fn takes_several(action: &Action) -> bool {
    ["commands", "args"].iter().any(|field| action.input.get(*field).is_some())
}

fn said(text: &str) -> Json {
    if text.is_empty() { json!({}) } else { json!({ "context": text }) }
}
