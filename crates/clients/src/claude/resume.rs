//! Starting Claude Code again so that it goes on with its session.

use std::ffi::OsString;

/// `claude --resume ID ...`, in place of what chose a session before.
#[expect(clippy::unnecessary_wraps, reason = "one form for all clients")]
pub(super) fn resume(words: &[OsString], session: &str) -> Option<Vec<OsString>> {
    let mut rest = words.iter().skip(1).peekable();
    let mut changed: Vec<OsString> = words.iter().take(1).cloned().collect();
    changed.extend(["--resume".into(), session.into()]);
    while let Some(word) = rest.next() {
        match word.to_str() {
            Some("--") => {
                changed.push(word.clone());
                changed.extend(rest.cloned());
                return Some(changed);
            }
            Some("--continue" | "-c" | "--fork-session") => {}
            Some("--resume" | "-r" | "--session-id") => {
                // The name may be missing: then a user would have been asked.
                rest.next_if(|next| !next.as_encoded_bytes().starts_with(b"-"));
            }
            Some(text) if text.starts_with("--resume=") || text.starts_with("--session-id=") => {}
            _ => changed.push(word.clone()),
        }
    }
    Some(changed)
}
