//! A payload that must be denied, to prove that an installed hook protects.

use checkrein_protocol::AbsolutePath;
use serde_json::Value as Json;

/// The session name of the canary. Its records go to a ledger of their own.
pub const CANARY_SESSION: &str = "checkrein-canary";

/// The call of the canary, which no policy lets through: it deletes the home directory. It is never run.
pub(crate) const CANARY_COMMAND: &str = "rm -rf ~";

/// A payload and how to tell whether the answer to it protects.
#[derive(Debug, Clone)]
pub struct Canary {
    /// What the client would tell its hook before [`CANARY_COMMAND`] is run in a directory.
    pub(crate) call: fn(&AbsolutePath) -> Json,
    /// Whether this answer makes the client refuse the call.
    pub(crate) refuses: fn(&Json) -> bool,
}

impl Canary {
    /// What the client would write to the hook's standard input.
    pub fn payload(&self, cwd: &AbsolutePath) -> Vec<u8> {
        (self.call)(cwd).to_string().into_bytes()
    }

    /// Whether this output of the hook makes the client refuse the call.
    pub fn is_denied(&self, output: &[u8]) -> bool {
        serde_json::from_slice::<Json>(output).is_ok_and(|answer| (self.refuses)(&answer))
    }
}

/// Whether an answer in the form that several clients share refuses a call.
pub(crate) fn denies_in_wrapper(answer: &Json) -> bool {
    let specific = answer.get("hookSpecificOutput");
    let text = |key: &str| specific.and_then(|object| object.get(key)).and_then(Json::as_str);
    let has_reason = text("permissionDecisionReason").is_some_and(|reason| !reason.is_empty());
    text("hookEventName") == Some("PreToolUse") && text("permissionDecision") == Some("deny") && has_reason
}

#[cfg(test)]
mod tests {

    #[test]
    fn only_a_well_formed_denial_counts() {
        let canary = &crate::claude::ADAPTER.canary;
        let output = |event: &str, decision: &str, reason: &str| {
            format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"{event}","permissionDecision":"{decision}","permissionDecisionReason":"{reason}"}}}}"#
            )
        };
        assert!(canary.is_denied(output("PreToolUse", "deny", "no").as_bytes()));
        assert!(!canary.is_denied(output("PreToolUse", "ask", "no").as_bytes()));
        assert!(!canary.is_denied(output("PreToolUse", "deny", "").as_bytes()));
        assert!(!canary.is_denied(output("Stop", "deny", "no").as_bytes()));
        assert!(!canary.is_denied(b""));
        assert!(!canary.is_denied(br#"note {"hookSpecificOutput":{}}"#));
    }
}
