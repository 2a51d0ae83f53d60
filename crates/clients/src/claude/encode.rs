//! Answers to Claude Code's hook output: one JSON object on one line, always with exit status 0.

use checkrein_protocol::{Action, HookEvent, HookEventKind, HookResponse};
use serde_json::{Value as Json, json};

use crate::output::HookOutput;
use crate::payload::{beside, context, permission};

/// The output for an answer to an event. An answer that the event cannot carry becomes the strictest form it can. The line for the user is
/// shown right under the call, also under one that is refused (seen with 2.1.197).
pub(super) fn encode(event: &HookEvent, answer: &HookResponse, for_user: Option<&str>) -> HookOutput {
    let object = match &event.moment {
        HookEventKind::BeforeAction { action, .. } => {
            beside(explained(before(&event.name, answer), action, answer), for_user)
        }
        HookEventKind::PermissionAsked { .. } => permission(answer),
        HookEventKind::AfterAction(_) => beside(after(&event.name, answer), for_user),
        HookEventKind::Prompt { .. } => after(&event.name, answer),
        HookEventKind::BatchDone => batch(&event.name, answer),
        HookEventKind::SessionStarted { .. } | HookEventKind::SubagentStarted => {
            beside(context_only(&event.name, answer), for_user)
        }
        HookEventKind::ConfigurationChanged { .. } => configuration(answer),
        HookEventKind::TurnEnding { .. } => turn_end(answer),
        HookEventKind::SubagentEnding { .. } | HookEventKind::SessionEnded | HookEventKind::Other { .. } => {
            json!({})
        }
    };
    HookOutput::line(&object)
}

/// Returns the output for a payload of which nothing is known. It has the form of a refused tool call, with the legacy keys that refuse a
/// prompt or a settings change, so that the event is refused whatever it was.
pub(super) fn refuse(reason: &str) -> HookOutput {
    HookOutput::line(&json!({
        "decision": "block",
        "reason": reason,
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        },
    }))
}

fn before(name: &str, answer: &HookResponse) -> Json {
    let decision = |decision: &str, reason: &str| {
        json!({ "hookSpecificOutput": {
            "hookEventName": name,
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }})
    };
    match answer {
        HookResponse::Replaced { besides, .. } => before(name, besides),
        HookResponse::NoOpinion => json!({}),
        HookResponse::Allow { consent, text } => {
            let mut answer = decision("allow", consent.reason());
            if !text.is_empty() {
                answer["hookSpecificOutput"]["additionalContext"] = json!(text);
            }
            answer
        }
        HookResponse::Context { text } => context(name, text),
        // Without a decision beside it the user's own permission rules still apply to the new input.
        HookResponse::Rewrite { consent, input, text } => {
            let mut answer = match consent {
                Some(consent) => decision("allow", consent.reason()),
                None => json!({ "hookSpecificOutput": { "hookEventName": name } }),
            };
            answer["hookSpecificOutput"]["updatedInput"] = input.clone();
            answer["hookSpecificOutput"]["additionalContext"] = json!(text);
            answer
        }
        HookResponse::Ask { reason, input } => {
            let mut answer = decision("ask", reason);
            if let Some(input) = input {
                answer["hookSpecificOutput"]["updatedInput"] = input.clone();
            }
            answer
        }
        // `continue: false` beside it would not stop the client, and alone it would let the call run.
        HookResponse::Deny { reason } | HookResponse::Halt { reason } => decision("deny", reason),
    }
}

/// For a file that the client holds to be sensitive, the terminal asks a question of its own, without the reason of the hook. It always
/// shows the description of a command, so the reason stands there too.
fn explained(mut output: Json, action: &Action, answer: &HookResponse) -> Json {
    let (HookResponse::Ask { reason, input }, Some(_)) = (answer, action.shell_text()) else { return output };
    let mut input = input.clone().unwrap_or_else(|| action.input.clone());
    let Some(why) = reason.lines().next().filter(|_| input.is_object()) else { return output };
    let said = input.get("description").and_then(Json::as_str).filter(|said| !said.is_empty());
    input["description"] = match said {
        Some(said) => json!(format!("{why} (the agent says: {said})")),
        None => json!(why),
    };
    output["hookSpecificOutput"]["updatedInput"] = input;
    output
}

fn after(name: &str, answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Replaced { output, besides } => {
            let mut answer = after(name, besides);
            answer["hookSpecificOutput"]["hookEventName"] = json!(name);
            answer["hookSpecificOutput"]["updatedToolOutput"] = output.clone();
            answer
        }
        HookResponse::NoOpinion | HookResponse::Allow { .. } => json!({}),
        HookResponse::Context { text } | HookResponse::Rewrite { text, .. } => context(name, text),
        HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } => {
            json!({ "decision": "block", "reason": reason })
        }
        HookResponse::Halt { reason } => json!({ "continue": false, "stopReason": reason }),
    }
}

fn batch(name: &str, answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Replaced { besides, .. } => batch(name, besides),
        HookResponse::NoOpinion | HookResponse::Allow { .. } => json!({}),
        HookResponse::Context { text } | HookResponse::Rewrite { text, .. } => context(name, text),
        HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } | HookResponse::Halt { reason } => {
            json!({ "decision": "block", "reason": reason })
        }
    }
}

/// Events that can carry a text for the model and nothing else.
fn context_only(name: &str, answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Replaced { besides, .. } => context_only(name, besides),
        HookResponse::NoOpinion | HookResponse::Allow { .. } => json!({}),
        HookResponse::Context { text } | HookResponse::Rewrite { text, .. } => context(name, text),
        HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } | HookResponse::Halt { reason } => {
            context(name, reason)
        }
    }
}

/// A refused end is one more turn, in which the model reads the reason; a text beside it is for the user alone.
fn turn_end(answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Replaced { besides, .. } => turn_end(besides),
        HookResponse::NoOpinion | HookResponse::Allow { .. } => json!({}),
        HookResponse::Context { text } | HookResponse::Rewrite { text, .. } => {
            json!({ "systemMessage": text })
        }
        HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } => {
            json!({ "decision": "block", "reason": reason })
        }
        HookResponse::Halt { reason } => json!({ "continue": false, "stopReason": reason }),
    }
}

/// A refused change keeps the old hooks in force for the session; the file stays as it was written.
fn configuration(answer: &HookResponse) -> Json {
    match answer {
        HookResponse::Replaced { besides, .. } => configuration(besides),
        HookResponse::NoOpinion
        | HookResponse::Allow { .. }
        | HookResponse::Context { .. }
        | HookResponse::Rewrite { .. } => json!({}),
        HookResponse::Ask { reason, .. } | HookResponse::Deny { reason } | HookResponse::Halt { reason } => {
            json!({ "decision": "block", "reason": reason })
        }
    }
}
