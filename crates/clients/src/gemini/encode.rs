//! Answers to Gemini CLI's hook output: one JSON object on one line, always with exit status 0.

use checkrein_protocol::{HookEvent, HookEventKind, HookResponse};
use serde_json::{Value as Json, json};

use crate::output::HookOutput;
use crate::payload::{beside, in_place};

/// The output for an answer to an event. An answer that the event cannot carry becomes the strictest form that it can.
pub(super) fn encode(event: &HookEvent, answer: &HookResponse, for_user: Option<&str>) -> HookOutput {
    let name = event.name.as_str();
    HookOutput::line(&match &event.moment {
        HookEventKind::BeforeAction { .. } => beside(before(answer), for_user),
        HookEventKind::AfterAction(outcome) => after(name, outcome.failed, answer),
        HookEventKind::Prompt { .. } | HookEventKind::TurnEnding { .. } => turn(name, answer),
        HookEventKind::SessionStarted { .. } => context(name, answer.text()),
        HookEventKind::PermissionAsked { .. }
        | HookEventKind::SubagentStarted
        | HookEventKind::SubagentEnding { .. }
        | HookEventKind::SessionEnded
        | HookEventKind::BatchDone
        | HookEventKind::ConfigurationChanged { .. }
        | HookEventKind::Other { .. } => json!({}),
    })
}

/// The output when nothing about the payload is known: what refuses a call, a prompt and, as far as it goes, everything else.
pub(super) fn refuse(reason: &str) -> HookOutput {
    HookOutput::line(&deny(reason))
}

fn deny(reason: &str) -> Json {
    json!({ "decision": "deny", "reason": reason })
}

fn stop(reason: &str) -> Json {
    json!({ "continue": false, "stopReason": reason })
}

fn before(answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Replaced { besides, .. } => before(besides),
        // A context would be dropped; a message is shown to the user.
        HookResponse::NoOpinion | HookResponse::Allow { .. } | HookResponse::Context { .. } => {
            message(answer.text())
        }
        HookResponse::Rewrite { input, text, .. } => json!({
            "systemMessage": text,
            "hookSpecificOutput": { "hookEventName": "BeforeTool", "tool_input": input },
        }),
        // A question would wait for ever where nobody sits.
        HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } => deny(reason),
        HookResponse::Halt { reason } => stop(reason),
    }
}

/// A refusal would take the place of the output, so what is said goes beside it. Version 0.61 has no other way to replace an output, and
/// shows it as an error: the text says how the call really ended, so that no model makes it again.
fn after(name: &str, failed: bool, answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Halt { reason } => stop(reason),
        HookResponse::Replaced { output, besides } => {
            let end = if failed { "failed by itself" } else { "succeeded, though it is shown as an error" };
            deny(&format!(
                "checkrein masked secrets in this output; the call {end}.\n{}",
                in_place(output, besides)
            ))
        }
        other => context(name, other.text()),
    }
}

/// A refused prompt is not sent; a refused end is one more turn, in which the model reads the reason.
fn turn(name: &str, answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } => deny(reason),
        HookResponse::Halt { reason } => stop(reason),
        other if name == "BeforeAgent" => context(name, other.text()),
        other => message(other.text()),
    }
}

fn message(text: &str) -> Json {
    if text.is_empty() { json!({}) } else { json!({ "systemMessage": text }) }
}

fn context(name: &str, text: &str) -> Json {
    if text.is_empty() {
        return json!({});
    }
    json!({ "hookSpecificOutput": { "hookEventName": name, "additionalContext": text } })
}
