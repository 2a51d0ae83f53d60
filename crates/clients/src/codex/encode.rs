//! Answers to Codex's hook output: one JSON object on one line with no key that it does not know, always with exit status 0.

use checkrein_protocol::{HookAnswer, HookEvent, Moment};
use serde_json::{Value as Json, json};

use crate::payload::{context, line, permission};

/// The output for an answer to an event. An answer that the event cannot carry becomes the strictest form that it can.
pub(super) fn encode(event: &HookEvent, answer: &HookAnswer) -> Vec<u8> {
    let name = event.name.as_str();
    line(&match &event.moment {
        Moment::BeforeAction { .. } => before(answer),
        Moment::PermissionAsked { .. } => permission(answer),
        Moment::AfterAction(_) => after(answer),
        Moment::Prompt { .. } | Moment::TurnEnding { .. } => turn(name, answer),
        Moment::SessionStarted { .. } => match answer {
            HookAnswer::Stop { reason } => json!({ "continue": false, "stopReason": reason }),
            other => text(other).map_or(json!({}), |text| context(name, text)),
        },
        Moment::SubagentStarted
        | Moment::SubagentEnding { .. }
        | Moment::SessionEnded
        | Moment::BatchDone
        | Moment::ConfigurationChanged { .. }
        | Moment::Other { .. } => json!({}),
    })
}

/// The output when nothing about the payload is known: what refuses a call, a prompt and, as far as it goes, everything else.
pub(super) fn refuse(reason: &str) -> Vec<u8> {
    line(&json!({ "decision": "block", "reason": reason }))
}

/// What is said with an answer; `None` when nothing is.
fn text(answer: &HookAnswer) -> Option<&str> {
    Some(answer.text()).filter(|text| !text.is_empty())
}

fn before(answer: &HookAnswer) -> Json {
    match answer {
        HookAnswer::Silent => json!({}),
        // An approval changes nothing here, so there is none.
        HookAnswer::Allow { .. } | HookAnswer::Hint { .. } => {
            text(answer).map_or(json!({}), |text| context("PreToolUse", text))
        }
        // Without the approval beside it the input that it had would run.
        HookAnswer::Rewrite { input, text } => json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "updatedInput": input,
            "additionalContext": text,
        }}),
        // A question would let the call run, and so would a refusal without a reason.
        HookAnswer::Ask { .. } | HookAnswer::Deny { .. } | HookAnswer::Stop { .. } => {
            json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": text(answer).unwrap_or("refused by checkrein"),
            }})
        }
    }
}

/// A refusal takes the place of the output, so it is kept for what must stop; a stop would not, it only loses the output.
fn after(answer: &HookAnswer) -> Json {
    match answer {
        HookAnswer::Stop { reason } => json!({ "decision": "block", "reason": reason }),
        other => text(other).map_or(json!({}), |text| context("PostToolUse", text)),
    }
}

/// A refused prompt is not sent; a refused end is one more turn, in which the model reads the reason.
fn turn(name: &str, answer: &HookAnswer) -> Json {
    match answer {
        HookAnswer::Silent | HookAnswer::Allow { .. } => json!({}),
        HookAnswer::Hint { text } | HookAnswer::Rewrite { text, .. } if name == "UserPromptSubmit" => {
            context(name, text)
        }
        HookAnswer::Hint { text } | HookAnswer::Rewrite { text, .. } => json!({ "systemMessage": text }),
        HookAnswer::Ask { reason, .. } | HookAnswer::Deny { reason } => {
            json!({ "decision": "block", "reason": reason })
        }
        HookAnswer::Stop { reason } => json!({ "continue": false, "stopReason": reason }),
    }
}
