//! Starting a client again so that it goes on with its session instead of beginning a new one.

use std::ffi::OsString;
use std::path::Path;

use crate::adapter::ClientAdapter;

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

/// The client that these words start.
pub(crate) fn client_of(words: &[OsString]) -> Option<&'static ClientAdapter> {
    crate::of_program(Path::new(words.first()?).file_name()?.to_str()?)
}

/// The words that start a client again. `session` is its own name for the session that it goes on with.
pub fn going_on(words: &[OsString], session: Option<&str>) -> ResumeCommand {
    // A name that could be read as an option is none.
    let session = session.filter(|session| !session.is_empty() && !session.starts_with('-'));
    let resume = client_of(words).and_then(|client| client.resume);
    let changed = session.zip(resume).and_then(|(session, resume)| resume(words, session));
    match changed {
        Some(words) => ResumeCommand { words, manner: Continuity::SameSession },
        None => ResumeCommand { words: words.to_vec(), manner: Continuity::FromTheStart },
    }
}

/// The words with an option and its value right behind the program, in place of those that chose a session before.
#[expect(clippy::unnecessary_wraps, reason = "one form for all clients")]
pub(crate) fn in_place_of(
    words: &[OsString],
    options: &[&str],
    [option, session]: [&str; 2],
) -> Option<Vec<OsString>> {
    let (program, rest) = words.split_at(words.len().min(1));
    Some([program, &[format!("{option}={session}").into()], &without(rest, options)].concat())
}

/// The same behind a subcommand; `None` where it is not given.
pub(crate) fn behind(
    words: &[OsString],
    verb: &str,
    options: &[&str],
    [option, session]: [&str; 2],
) -> Option<Vec<OsString>> {
    let place = words.iter().position(|word| word == verb)?;
    let (before, after) = words.split_at(place + 1);
    Some([before, &[option.into(), session.into()], &without(after, options)].concat())
}

/// Words without these options and their values, and without those that take up the newest session.
fn without(words: &[OsString], options: &[&str]) -> Vec<OsString> {
    let mut rest = words.iter().peekable();
    let mut kept = Vec::new();
    while let Some(word) = rest.next() {
        let text = word.to_str().unwrap_or_default();
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        match text {
            "--" => {
                kept.push(word.clone());
                kept.extend(rest.by_ref().cloned());
            }
            "-c" | "--continue" => {}
            _ if options.contains(&name) => {
                if name == text {
                    rest.next_if(|next| !next.as_encoded_bytes().starts_with(b"-"));
                }
            }
            _ => kept.push(word.clone()),
        }
    }
    kept
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
    fn clients_go_on_with_their_session() {
        for (words, expected) in [
            ("claude -p task", "claude --resume s1 -p task"),
            ("/opt/claude --session-id old -p task", "/opt/claude --resume s1 -p task"),
            ("claude -c -p task", "claude --resume s1 -p task"),
            ("claude --resume old -p task", "claude --resume s1 -p task"),
            ("claude -p -- --resume x", "claude --resume s1 -p -- --resume x"),
            ("codex exec --json task", "codex exec resume s1 --json task"),
            ("codex -m fast exec resume old task", "codex -m fast exec resume s1 task"),
            ("opencode run --format json task", "opencode run --session s1 --format json task"),
            ("opencode run -c -s old task", "opencode run --session s1 task"),
            ("droid exec -o stream-json task", "droid exec --session-id s1 -o stream-json task"),
            ("droid exec --session-id=old task", "droid exec --session-id s1 task"),
            ("copilot -p task --yolo", "copilot --resume=s1 -p task --yolo"),
            ("copilot --continue --resume old -p task", "copilot --resume=s1 -p task"),
            ("copilot -p task --trust-folder --yolo", "copilot --resume=s1 -p task --yolo"),
            ("gemini -p task -o stream-json", "gemini --resume=s1 -p task -o stream-json"),
            ("gemini --resume latest -p task", "gemini --resume=s1 -p task"),
            ("qwen -p task --session-id old", "qwen --resume=s1 -p task"),
            ("qwen --continue -p task", "qwen --resume=s1 -p task"),
        ] {
            assert_eq!(again(words, Some("s1")), expected);
        }
    }

    #[test]
    fn others_are_started_as_they_were_and_that_is_said() {
        assert_eq!(again("cline task", Some("s1")), "! cline task");
        assert_eq!(again("claude -p task", None), "! claude -p task");
        assert_eq!(again("claude -p task", Some("--dangerous")), "! claude -p task");
        assert_eq!(again("codex task", Some("s1")), "! codex task");
    }
}
