//! Answers to Codex's hook output: one JSON object on one line with no key that it does not know, always with exit status 0.

use checkrein_protocol::{HookEvent, HookEventKind, HookResponse};
use serde_json::{Value as Json, json};

use crate::output::HookOutput;
use crate::payload::{beside, context, in_place, permission};

/// The output for an answer to an event. An answer that the event cannot carry becomes the strictest form that it can.
pub(super) fn encode(event: &HookEvent, answer: &HookResponse, for_user: Option<&str>) -> HookOutput {
    let name = event.name.as_str();
    HookOutput::line(&match &event.moment {
        // Beside a rewritten call it was not tried: an answer that is not obeyed lets the call run as it was.
        HookEventKind::BeforeAction { .. } => {
            beside(before(answer), for_user.filter(|_| !matches!(answer, HookResponse::Rewrite { .. })))
        }
        HookEventKind::PermissionAsked { .. } => permission(answer),
        HookEventKind::AfterAction(_) => after(answer),
        HookEventKind::Prompt { .. } | HookEventKind::TurnEnding { .. } => turn(name, answer),
        HookEventKind::SessionStarted { .. } => match answer {
            HookResponse::Halt { reason } => json!({ "continue": false, "stopReason": reason }),
            other => text(other).map_or(json!({}), |text| context(name, text)),
        },
        HookEventKind::SubagentStarted
        | HookEventKind::SubagentEnding { .. }
        | HookEventKind::SessionEnded
        | HookEventKind::BatchDone
        | HookEventKind::ConfigurationChanged { .. }
        | HookEventKind::Other { .. } => json!({}),
    })
}

/// The output when nothing about the payload is known: what refuses a call, a prompt and, as far as it goes, everything else.
pub(super) fn refuse(reason: &str) -> HookOutput {
    HookOutput::line(&json!({ "decision": "block", "reason": reason }))
}

/// What is said with an answer; `None` when nothing is.
fn text(answer: &HookResponse) -> Option<&str> {
    Some(answer.text()).filter(|text| !text.is_empty())
}

fn before(answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Replaced { besides, .. } => before(besides),
        HookResponse::NoOpinion => json!({}),
        // An approval changes nothing here, so there is none.
        HookResponse::Allow { .. } | HookResponse::Context { .. } => {
            text(answer).map_or(json!({}), |text| context("PreToolUse", text))
        }
        // Without the approval beside it the input that it had would run.
        HookResponse::Rewrite { input, text, .. } => json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "updatedInput": input,
            "additionalContext": text,
        }}),
        // A question would let the call run, and so would a refusal without a reason.
        HookResponse::Ask { .. } | HookResponse::Deny { .. } | HookResponse::Halt { .. } => {
            json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": text(answer).unwrap_or("refused by checkrein"),
            }})
        }
    }
}

/// A refusal takes the place of the output, so it is kept for what must stop; a stop would not, it only loses the output.
fn after(answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Halt { reason } => json!({ "decision": "block", "reason": reason }),
        HookResponse::Replaced { output, besides } => {
            json!({ "decision": "block", "reason": in_place(output, besides) })
        }
        other => text(other).map_or(json!({}), |text| context("PostToolUse", text)),
    }
}

/// A refused prompt is not sent; a refused end is one more turn, in which the model reads the reason.
fn turn(name: &str, answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Replaced { besides, .. } => turn(name, besides),
        HookResponse::NoOpinion | HookResponse::Allow { .. } => json!({}),
        HookResponse::Context { text } | HookResponse::Rewrite { text, .. } if name == "UserPromptSubmit" => {
            context(name, text)
        }
        HookResponse::Context { text } | HookResponse::Rewrite { text, .. } => {
            json!({ "systemMessage": text })
        }
        HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } => {
            json!({ "decision": "block", "reason": reason })
        }
        HookResponse::Halt { reason } => json!({ "continue": false, "stopReason": reason }),
    }
}
