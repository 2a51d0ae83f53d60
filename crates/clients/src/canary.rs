//! A payload that must be denied, to prove that an installed hook protects.

use checkrein_protocol::AbsolutePath;
use serde_json::Value as Json;

use crate::output::HookOutput;

/// The session name of the canary. Its records go to a ledger of their own.
pub const CANARY_SESSION: &str = "checkrein-canary";

/// Whether a session is one of canaries: each trial of `doctor` has a number of its own behind the name.
pub fn is_canary(session: &str) -> bool {
    session.strip_prefix(CANARY_SESSION).is_some_and(|rest| {
        rest.is_empty()
            || rest
                .strip_prefix('-')
                .is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
    })
}

/// The call of the canary, which no policy lets through: it deletes the home directory. It is never run.
pub(crate) const CANARY_COMMAND: &str = "rm -rf ~";

/// A payload and how to tell whether the answer to it protects.
#[derive(Debug, Clone)]
pub struct Canary {
    /// What the client would tell its hook before [`CANARY_COMMAND`] is run in a directory.
    pub(crate) call: fn(&AbsolutePath) -> Json,
    /// Whether this output makes the client refuse the call.
    pub(crate) refuses: fn(&HookOutput) -> bool,
}

impl Canary {
    /// What the client would write to the hook's standard input.
    pub fn payload(&self, cwd: &AbsolutePath) -> Vec<u8> {
        (self.call)(cwd).to_string().into_bytes()
    }

    /// Whether this output of the hook makes the client refuse the call.
    pub fn is_denied(&self, output: &HookOutput) -> bool {
        (self.refuses)(output)
    }
}

/// Whether an output refuses a call by exit status, with a reason.
pub(crate) fn refuses_by_status(output: &HookOutput) -> bool {
    output.refusal.as_deref().is_some_and(|reason| !reason.trim().is_empty())
}

/// Whether an answer in the form that several clients share refuses a call.
pub(crate) fn denies_in_wrapper(output: &HookOutput) -> bool {
    let Some(answer) = output.json() else { return false };
    let specific = answer.get("hookSpecificOutput");
    let text = |key: &str| specific.and_then(|object| object.get(key)).and_then(Json::as_str);
    let has_reason = text("permissionDecisionReason").is_some_and(|reason| !reason.is_empty());
    text("hookEventName") == Some("PreToolUse") && text("permissionDecision") == Some("deny") && has_reason
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn only_a_well_formed_denial_counts() {
        let canary = &crate::claude::ADAPTER.canary;
        let said = |text: &str| HookOutput { object: text.as_bytes().to_vec(), refusal: None };
        let output = |event: &str, decision: &str, reason: &str| {
            said(&format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"{event}","permissionDecision":"{decision}","permissionDecisionReason":"{reason}"}}}}"#
            ))
        };
        assert!(canary.is_denied(&output("PreToolUse", "deny", "no")));
        assert!(!canary.is_denied(&output("PreToolUse", "ask", "no")));
        assert!(!canary.is_denied(&output("PreToolUse", "deny", "")));
        assert!(!canary.is_denied(&output("Stop", "deny", "no")));
        assert!(!canary.is_denied(&said("")));
        assert!(!canary.is_denied(&said(r#"note {"hookSpecificOutput":{}}"#)));
    }
}
