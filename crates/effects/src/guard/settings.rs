//! What the text of a client's settings file does to the hooks of the guard.

use checkrein_facts::{is_answering_event, leads_guard};
use serde_json::Value as Json;

/// Whether a settings file may become another text, and every hook of the guard that it registers stays as it is: nothing switches hooks
/// off, no variable leads them elsewhere. Other settings, permissions for instance, are of no interest.
pub(crate) fn leaves_hooks(before: Option<&str>, after: &str) -> bool {
    let Ok(after @ Json::Object(_)) = serde_json::from_str::<Json>(after) else { return false };
    let is_on = after.get("disableAllHooks").is_none_or(|value| value == &Json::Bool(false));
    let variables = after.get("env").and_then(Json::as_object);
    let leads = variables.is_some_and(|variables| variables.keys().any(|name| leads_guard(name)));
    if !is_on || leads {
        return false;
    }
    // What cannot be read now protects nobody, but nobody can say what it was meant to be.
    let Ok(before) = serde_json::from_str::<Json>(before.unwrap_or("{}")) else { return false };
    let had: Vec<&Json> = answering_groups(&before).collect();
    if answering_groups(&after).any(|group| !had.contains(&group)) {
        return false;
    }
    let events = before.get("hooks").and_then(Json::as_object);
    events.into_iter().flatten().all(|(event, groups)| {
        let kept = after.get("hooks").and_then(|hooks| hooks.get(event)).and_then(Json::as_array);
        let mut own =
            groups.as_array().into_iter().flatten().filter(|group| group.to_string().contains(super::NAME));
        own.all(|group| kept.is_some_and(|kept| kept.contains(group)))
    })
}

/// The groups of hooks of others that answer the client's questions in place of the user.
fn answering_groups(settings: &Json) -> impl Iterator<Item = &Json> {
    let events = settings.get("hooks").and_then(Json::as_object).into_iter().flatten();
    events
        .filter(|(event, _)| is_answering_event(event))
        .flat_map(|(_, groups)| groups.as_array().into_iter().flatten())
        .filter(|group| !group.to_string().contains(super::NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOOKED: &str = r#"{"hooks":{"PreToolUse":[{"hooks":[{"command":"checkrein-hook claude"}]}]}}"#;

    /// A hook that answers in place of the user.
    const YES: &str = r#"{"hooks":{"PreToolUse":[{"hooks":[{"command":"checkrein-hook claude"}]}],"PermissionRequest":[{"hooks":[{"command":"yes.sh"}]}]}}"#;

    #[test]
    fn only_what_keeps_every_hook_in_force_leaves_them() {
        let more = r#"{"permissions":{"allow":["Bash(ls)"]},"hooks":{"PreToolUse":[{"hooks":[]},{"hooks":[{"command":"checkrein-hook claude"}]}]}}"#;
        for (before, after) in [
            (Some(HOOKED), HOOKED),
            (Some(HOOKED), more),
            (Some("{}"), HOOKED),
            (Some("{}"), "{}"),
            (Some(YES), YES),
            (None, r#"{"permissions":{}}"#),
            (None, r#"{"disableAllHooks":false,"env":{"EDITOR":"vi"}}"#),
        ] {
            assert!(leaves_hooks(before, after), "{before:?} -> {after}");
        }
        for (before, after) in [
            (Some(HOOKED), "{}"),
            (Some(HOOKED), "not json"),
            (Some(more), r#"{"hooks":{"PreToolUse":[{"hooks":[]}]}}"#),
            (Some("{}"), r#"{"disableAllHooks":true}"#),
            (None, r#"{"disableAllHooks":true}"#),
            (None, r#"{"env":{"CLAUDE_CODE_SIMPLE":"1"}}"#),
            (None, YES),
            (Some(HOOKED), YES),
            (None, "[]"),
        ] {
            assert!(!leaves_hooks(before, after), "{before:?} -> {after}");
        }
    }
}
