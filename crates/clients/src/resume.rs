//! Starting a client again so that it goes on with its session instead of beginning a new one.

use std::ffi::OsString;
use std::path::Path;

/// How a client is started to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeCommand {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// Whether it goes on with its session.
    pub manner: Continuity,
}

/// Whether a client goes on with its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continuity {
    /// It does.
    SameSession,
    /// It is started as it was: this program has no way to go on that is known, or its session is not known.
    FromTheStart,
}

/// The words that start a client again. `session` is its own name for the session that it goes on with.
pub fn going_on(words: &[OsString], session: Option<&str>) -> ResumeCommand {
    let name = words.first().and_then(|word| Path::new(word).file_name()?.to_str()).unwrap_or_default();
    // A name that could be read as an option is none.
    let session = session.filter(|session| !session.is_empty() && !session.starts_with('-'));
    let resume = crate::of_program(name).and_then(|client| client.resume);
    let changed = session.zip(resume).and_then(|(session, resume)| resume(words, session));
    match changed {
        Some(words) => ResumeCommand { words, manner: Continuity::SameSession },
        None => ResumeCommand { words: words.to_vec(), manner: Continuity::FromTheStart },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(text: &str, session: Option<&str>) -> String {
        let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
        let going = going_on(&words, session);
        let words: Vec<String> = going.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let sign = if going.manner == Continuity::SameSession { "" } else { "! " };
        format!("{sign}{}", words.join(" "))
    }

    #[test]
    fn claude_and_codex_go_on_with_their_session() {
        for (words, expected) in [
            ("claude -p task", "claude --resume s1 -p task"),
            ("/opt/claude --session-id old -p task", "/opt/claude --resume s1 -p task"),
            ("claude -c -p task", "claude --resume s1 -p task"),
            ("claude --resume old -p task", "claude --resume s1 -p task"),
            ("claude -p -- --resume x", "claude --resume s1 -p -- --resume x"),
            ("codex exec --json task", "codex exec resume s1 --json task"),
            ("codex -m fast exec resume old task", "codex -m fast exec resume s1 task"),
        ] {
            assert_eq!(again(words, Some("s1")), expected);
        }
    }

    #[test]
    fn others_are_started_as_they_were_and_that_is_said() {
        assert_eq!(again("gemini -p task", Some("s1")), "! gemini -p task");
        assert_eq!(again("claude -p task", None), "! claude -p task");
        assert_eq!(again("claude -p task", Some("--dangerous")), "! claude -p task");
        assert_eq!(again("codex task", Some("s1")), "! codex task");
    }
}
