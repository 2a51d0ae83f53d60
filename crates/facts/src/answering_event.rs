//! The event at which hooks of others answer a client's question in place of the user: written down once, for whoever reads settings.

/// The event, as Claude Code and Codex write it.
pub const ANSWERING_EVENT: &str = "PermissionRequest";

/// Whether an event of a settings file is that event; clients do not tell capital letters from small ones.
pub fn is_answering_event(event: &str) -> bool {
    event.eq_ignore_ascii_case(ANSWERING_EVENT)
}

/// Whether a text names that event anywhere.
pub fn names_answering_event(text: &str) -> bool {
    let text = text.as_bytes();
    text.windows(ANSWERING_EVENT.len()).any(|part| part.eq_ignore_ascii_case(ANSWERING_EVENT.as_bytes()))
}
