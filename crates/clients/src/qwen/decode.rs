//! Qwen Code's hook payloads to events.

use checkrein_protocol::{Action, Change, ChangeKind, HookEvent, SuccessReporting};
use serde_json::Value as Json;

use super::QWEN;
use crate::error::DecodeError;
use crate::payload::Payload;
use crate::shared_events::{Answered, Reading, text_of};
use crate::tool_names::{Folders, canonical};

const READING: Reading = Reading {
    client: QWEN,
    meaning: |name| name,
    named: |action| canonical(action, Folders::These(&["directory"])),
    answered,
    success: SuccessReporting::Told,
};

/// Reads one payload. Fields that this version does not know are kept for the record.
pub(super) fn decode(payload: &[u8]) -> Result<HookEvent, DecodeError> {
    let mut payload = Payload::parse(payload)?;
    // It tells of a prompt before every request to the model; only one with words is what the user said, and begins work anew.
    if payload.text("hook_event_name") == Some("UserPromptSubmit")
        && payload.text("prompt") == Some("")
        && payload.value("submitted_prompt").is_none()
    {
        payload.take("hook_event_name");
        payload.fill("hook_event_name", "UserPromptContinued");
    }
    READING.event(payload)
}

fn answered(action: &Action, response: &Json) -> Answered {
    let in_background = action.input.get("is_background").and_then(Json::as_bool) == Some(true);
    Answered {
        output: text_of(response.get("llmContent").unwrap_or(response)),
        error: None,
        reported: response
            .get("returnDisplay")
            .and_then(|shown| reported_change(shown, action))
            .into_iter()
            .collect(),
        is_running: in_background,
    }
}

/// What a tool that writes says about it.
fn reported_change(shown: &Json, action: &Action) -> Option<Change> {
    let text = |name: &str| shown.get(name).and_then(Json::as_str);
    let path = action.cwd.join(text("filePath").filter(|_| shown.get("fileDiff").is_some())?);
    let is_new = shown.get("originalContent").is_some_and(|before| before.is_null() || before == "");
    Some(Change { path, kind: if is_new { ChangeKind::Created } else { ChangeKind::Modified } })
}

#[cfg(test)]
mod tests {
    use checkrein_protocol::HookEventKind;

    use super::*;

    #[test]
    fn only_a_prompt_with_words_is_what_the_user_said() {
        let is_prompt = |more: &str| {
            let payload =
                format!(r#"{{"session_id":"s","cwd":"/w","hook_event_name":"UserPromptSubmit",{more}}}"#);
            matches!(decode(payload.as_bytes()).unwrap().moment, HookEventKind::Prompt { .. })
        };
        assert!(is_prompt(r#""prompt":"do it","submitted_prompt":"do it""#));
        assert!(is_prompt(r#""prompt":"do it""#));
        assert!(!is_prompt(r#""prompt":"""#));
    }
}
