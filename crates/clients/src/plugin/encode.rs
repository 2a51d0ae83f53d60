//! Answers to the plugin: it passes a call on `pass` alone.

use checkrein_protocol::{HookEvent, HookEventKind, HookResponse};
use serde_json::{Value as Json, json};

use crate::output::HookOutput;
use crate::payload::in_place;

/// The output for an answer to an event.
pub(super) fn encode(event: &HookEvent, answer: &HookResponse, _for_user: Option<&str>) -> HookOutput {
    let is_refusable = match event.moment {
        HookEventKind::BeforeAction { .. } | HookEventKind::Prompt { .. } => true,
        HookEventKind::AfterAction(_)
        | HookEventKind::PermissionAsked { .. }
        | HookEventKind::SessionStarted { .. }
        | HookEventKind::SessionEnded
        | HookEventKind::TurnEnding { .. }
        | HookEventKind::SubagentStarted
        | HookEventKind::SubagentEnding { .. }
        | HookEventKind::BatchDone
        | HookEventKind::ConfigurationChanged { .. }
        | HookEventKind::Other { .. } => false,
    };
    HookOutput::line(&said(is_refusable, answer))
}

fn said(is_refusable: bool, answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Replaced { besides, .. } if is_refusable => said(is_refusable, besides),
        HookResponse::Replaced { output, besides } => deny(&in_place(output, besides)),
        HookResponse::Halt { reason } => deny(reason),
        HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } if is_refusable => deny(reason),
        HookResponse::Rewrite { input, text, .. } => {
            json!({ "decision": "pass", "input": input, "context": text })
        }
        other if other.text().is_empty() => json!({ "decision": "pass" }),
        other => json!({ "decision": "pass", "context": other.text() }),
    }
}

/// The output when nothing about the payload is known.
pub(super) fn refuse(reason: &str) -> HookOutput {
    HookOutput::line(&deny(reason))
}

fn deny(reason: &str) -> Json {
    json!({ "decision": "deny", "reason": reason })
}
