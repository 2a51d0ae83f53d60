//! Starting Codex again so that it goes on with its session.

use std::ffi::OsString;

/// `codex exec resume ID ...`; how an interactive one is named is not told by its output.
pub(super) fn resume(words: &[OsString], session: &str) -> Option<Vec<OsString>> {
    let place = words.iter().position(|word| word == "exec" || word == "e")?;
    let (before, after) = words.split_at(place + 1);
    let after = match after.first() {
        Some(word) if word == "resume" => after.get(2..).unwrap_or_default(),
        _ => after,
    };
    Some([before, &["resume".into(), session.into()], after].concat())
}
