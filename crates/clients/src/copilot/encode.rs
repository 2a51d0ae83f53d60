//! Answers to Copilot CLI's hook output: one JSON object on one line, always with exit status 0, and never an approval.

use checkrein_protocol::{Action, HookEvent, HookEventKind, HookResponse};
use serde_json::{Value as Json, json};

use crate::output::HookOutput;
use crate::payload::in_place;
use crate::shared_events::instead;

/// The output for an answer to an event. An answer that the event cannot carry becomes the strictest form that it can.
pub(super) fn encode(event: &HookEvent, answer: &HookResponse, _for_user: Option<&str>) -> HookOutput {
    let name = event.name.as_str();
    HookOutput::line(&match &event.moment {
        HookEventKind::BeforeAction { action, .. } => before(name, action, answer),
        HookEventKind::PermissionAsked { .. } => match answer {
            HookResponse::Halt { reason } => {
                json!({ "behavior": "deny", "message": reason, "interrupt": true })
            }
            HookResponse::Deny { reason } => json!({ "behavior": "deny", "message": reason }),
            HookResponse::NoOpinion
            | HookResponse::Allow { .. }
            | HookResponse::Context { .. }
            | HookResponse::Rewrite { .. }
            | HookResponse::Ask { .. }
            | HookResponse::Replaced { .. } => json!({}),
        },
        HookEventKind::AfterAction(_) => match answer {
            HookResponse::Halt { reason } => json!({ "decision": "block", "reason": reason }),
            HookResponse::Replaced { output, besides } if is_claude_style(name) => {
                json!({ "decision": "block", "reason": in_place(output, besides) })
            }
            HookResponse::Replaced { output, besides } => {
                let text = in_place(output, besides);
                json!({ "modifiedResult": { "resultType": "success", "textResultForLlm": text } })
            }
            other => said(name, other.text()),
        },
        HookEventKind::Prompt { .. } => match answer {
            HookResponse::Ask { reason, .. }
            | HookResponse::Deny { reason }
            | HookResponse::Halt { reason } => block(reason),
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
        | HookEventKind::BatchDone
        | HookEventKind::ConfigurationChanged { .. }
        | HookEventKind::Other { .. } => json!({}),
    })
}

/// The output when nothing about the payload is known: what refuses a call, a request for permission and a prompt.
pub(super) fn refuse(reason: &str) -> HookOutput {
    let mut output = decision("PreToolUse", "deny", reason);
    for (key, value) in [("behavior", "deny"), ("message", reason), ("decision", "block"), ("reason", reason)]
    {
        output[key] = json!(value);
    }
    HookOutput::line(&output)
}

/// A decision in the forms of both styles: one reads the first keys, the other both.
fn decision(name: &str, decision: &str, reason: &str) -> Json {
    let mut output = json!({ "permissionDecision": decision, "permissionDecisionReason": reason });
    if is_claude_style(name) {
        output["hookSpecificOutput"] = json!({
            "hookEventName": name, "permissionDecision": decision, "permissionDecisionReason": reason,
        });
    }
    output
}

fn is_claude_style(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
}

fn before(name: &str, action: &Action, answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Replaced { besides, .. } => before(name, action, besides),
        // An approval would beat the user's own refusals.
        HookResponse::NoOpinion | HookResponse::Allow { .. } | HookResponse::Context { .. } => {
            said(name, answer.text())
        }
        // What is typed into an open shell has other arguments than ours.
        HookResponse::Rewrite { input, text, .. } if action.input.get("input").is_some() => {
            decision(name, "deny", &instead(input, text))
        }
        HookResponse::Rewrite { input, text, .. } => {
            let mut output = said(name, text);
            output["modifiedArgs"] = input.clone();
            if is_claude_style(name) {
                output["hookSpecificOutput"]["hookEventName"] = json!(name);
                output["hookSpecificOutput"]["updatedInput"] = input.clone();
            }
            output
        }
        // Whether a yes to a question would run another form was not seen.
        HookResponse::Ask { reason, input: Some(input) } => {
            let command = input.get("command").and_then(Json::as_str).unwrap_or_default();
            let why = "A question about a changed call cannot be put here, so it did not run. Make this call instead";
            decision(name, "deny", &format!("{reason}\n{why}: {command}"))
        }
        HookResponse::Ask { reason, input: None } => decision(name, "ask", reason),
        HookResponse::Deny { reason } | HookResponse::Halt { reason } => decision(name, "deny", reason),
    }
}

fn block(reason: &str) -> Json {
    json!({ "decision": "block", "reason": reason })
}

fn said(name: &str, text: &str) -> Json {
    match (text.is_empty(), is_claude_style(name)) {
        (true, _) => json!({}),
        (false, false) => json!({ "additionalContext": text }),
        (false, true) => {
            json!({ "hookSpecificOutput": { "hookEventName": name, "additionalContext": text } })
        }
    }
}
