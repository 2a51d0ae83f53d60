//! Answers to Qwen Code's hook output: one JSON object on one line, always with exit status 0.

use checkrein_protocol::{HookEvent, HookEventKind, HookResponse};
use serde_json::{Value as Json, json};

use crate::output::HookOutput;
use crate::payload::{beside, context, in_place, permission};
use crate::shared_events::instead;

/// The output for an answer to an event. An answer that the event cannot carry becomes the strictest form that it can.
pub(super) fn encode(event: &HookEvent, answer: &HookResponse, for_user: Option<&str>) -> HookOutput {
    let name = event.name.as_str();
    HookOutput::line(&match &event.moment {
        HookEventKind::BeforeAction { .. } => beside(before(answer), for_user),
        HookEventKind::PermissionAsked { .. } => permission(answer),
        HookEventKind::AfterAction(_) => after(name, answer),
        HookEventKind::BatchDone => batch(answer),
        // It comes before every call of the model, without a text where no user said anything.
        HookEventKind::Prompt { text } => match answer {
            HookResponse::Ask { reason, .. }
            | HookResponse::Deny { reason }
            | HookResponse::Halt { reason } => block(reason),
            _ if text.is_empty() => json!({}),
            other => said(name, other.text()),
        },
        HookEventKind::SessionStarted { .. } | HookEventKind::SubagentStarted => said(name, answer.text()),
        HookEventKind::TurnEnding { .. } => match answer {
            HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } => block(reason),
            HookResponse::NoOpinion
            | HookResponse::Allow { .. }
            | HookResponse::Context { .. }
            | HookResponse::Rewrite { .. }
            | HookResponse::Replaced { .. }
            | HookResponse::Halt { .. } => json!({}),
        },
        HookEventKind::SubagentEnding { .. }
        | HookEventKind::SessionEnded
        | HookEventKind::ConfigurationChanged { .. }
        | HookEventKind::Other { .. } => json!({}),
    })
}

/// The output when nothing about the payload is known: what refuses a call, a prompt and, as far as it goes, everything else.
pub(super) fn refuse(reason: &str) -> HookOutput {
    let mut output = deny(reason);
    output["decision"] = json!("block");
    output["reason"] = json!(reason);
    HookOutput::line(&output)
}

/// A decision alone is lifted by a later hook; a stop is not, and does not end the run.
fn deny(reason: &str) -> Json {
    json!({
        "continue": false,
        "stopReason": reason,
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        },
    })
}

fn before(answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Replaced { besides, .. } => before(besides),
        // What is said beside a call does not reach the model.
        HookResponse::NoOpinion | HookResponse::Allow { .. } | HookResponse::Context { .. } => json!({}),
        HookResponse::Rewrite { input, text, .. } => deny(&instead(input, text)),
        HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } | HookResponse::Halt { reason } => {
            deny(reason)
        }
    }
}

/// A stop takes the place of the output; the agent goes on.
fn after(name: &str, answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Halt { reason } => json!({ "continue": false, "stopReason": reason }),
        HookResponse::Replaced { output, besides } => {
            json!({ "continue": false, "stopReason": in_place(output, besides) })
        }
        other => said(name, other.text()),
    }
}

fn batch(answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } | HookResponse::Halt { reason } => {
            block(reason)
        }
        other => said("PostToolBatch", other.text()),
    }
}

fn block(reason: &str) -> Json {
    json!({ "decision": "block", "reason": reason })
}

fn said(name: &str, text: &str) -> Json {
    if text.is_empty() { json!({}) } else { context(name, text) }
}
