//! Answers to Gemini CLI's hook output: one JSON object on one line, always with exit status 0.

use checkrein_protocol::{HookAnswer, HookEvent, Moment};
use serde_json::{Value as Json, json};

use crate::payload::line;

/// The output for an answer to an event. An answer that the event cannot carry becomes the strictest form that it can.
pub(super) fn encode(event: &HookEvent, answer: &HookAnswer) -> Vec<u8> {
    let name = event.name.as_str();
    line(&match &event.moment {
        Moment::BeforeAction { .. } => before(answer),
        Moment::AfterAction(_) => after(name, answer),
        Moment::Prompt { .. } | Moment::TurnEnding { .. } => turn(name, answer),
        Moment::SessionStarted { .. } => context(name, answer.text()),
        Moment::PermissionAsked { .. }
        | Moment::SubagentStarted
        | Moment::SubagentEnding { .. }
        | Moment::SessionEnded
        | Moment::BatchDone
        | Moment::ConfigurationChanged { .. }
        | Moment::Other { .. } => json!({}),
    })
}

/// The output when nothing about the payload is known: what refuses a call, a prompt and, as far as it goes, everything else.
pub(super) fn refuse(reason: &str) -> Vec<u8> {
    line(&deny(reason))
}

fn deny(reason: &str) -> Json {
    json!({ "decision": "deny", "reason": reason })
}

fn stop(reason: &str) -> Json {
    json!({ "continue": false, "stopReason": reason })
}

fn before(answer: &HookAnswer) -> Json {
    match answer {
        // A context would be dropped; a message is shown to the person.
        HookAnswer::Silent | HookAnswer::Allow { .. } | HookAnswer::Hint { .. } => message(answer.text()),
        HookAnswer::Rewrite { input, text } => json!({
            "systemMessage": text,
            "hookSpecificOutput": { "hookEventName": "BeforeTool", "tool_input": input },
        }),
        // A question would wait for ever where nobody sits.
        HookAnswer::Ask { reason, .. } | HookAnswer::Deny { reason } => deny(reason),
        HookAnswer::Stop { reason } => stop(reason),
    }
}

/// A refusal would take the place of the output, so what is said goes beside it.
fn after(name: &str, answer: &HookAnswer) -> Json {
    match answer {
        HookAnswer::Stop { reason } => stop(reason),
        other => context(name, other.text()),
    }
}

/// A refused prompt is not sent; a refused end is one more turn, in which the model reads the reason.
fn turn(name: &str, answer: &HookAnswer) -> Json {
    match answer {
        HookAnswer::Ask { reason, .. } | HookAnswer::Deny { reason } => deny(reason),
        HookAnswer::Stop { reason } => stop(reason),
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
