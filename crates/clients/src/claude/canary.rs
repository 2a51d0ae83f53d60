//! A payload that must be denied, to prove that an installed hook protects.

use checkrein_effects::AbsolutePath;
use serde_json::{Value as Json, json};

/// The session name of the canary. Its records go to a ledger of their own.
pub const CANARY_SESSION: &str = "checkrein-canary";

/// A payload and how to tell whether the answer to it protects.
#[derive(Debug, Clone)]
pub struct Canary {
    payload: Vec<u8>,
}

/// The canary: a call to delete the home directory, which no policy lets through. It is never run.
pub fn canary(cwd: &AbsolutePath) -> Canary {
    let payload = json!({
        "session_id": CANARY_SESSION,
        "transcript_path": "",
        "cwd": cwd.as_str(),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": { "command": "rm -rf ~", "description": "canary of the guard itself, never run" },
        "tool_use_id": "checkrein-canary",
    });
    Canary { payload: payload.to_string().into_bytes() }
}

impl Canary {
    /// What the client would write to the hook's standard input.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Whether this output of the hook makes the client refuse the call.
    pub fn is_denied(&self, output: &[u8]) -> bool {
        let Ok(answer) = serde_json::from_slice::<Json>(output) else { return false };
        let specific = answer.get("hookSpecificOutput");
        let text = |key: &str| specific.and_then(|object| object.get(key)).and_then(Json::as_str);
        text("hookEventName") == Some("PreToolUse") && text("permissionDecision") == Some("deny")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_well_formed_denial_counts() {
        let canary = canary(&AbsolutePath::new("/home/dev").unwrap());
        let output = |event: &str, decision: &str| {
            format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"{event}","permissionDecision":"{decision}"}}}}"#
            )
        };
        assert!(canary.is_denied(output("PreToolUse", "deny").as_bytes()));
        assert!(!canary.is_denied(output("PreToolUse", "ask").as_bytes()));
        assert!(!canary.is_denied(output("Stop", "deny").as_bytes()));
        assert!(!canary.is_denied(b""));
        assert!(!canary.is_denied(br#"note {"hookSpecificOutput":{}}"#));
    }
}
