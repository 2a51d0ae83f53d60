//! The command line that Claude Code runs for each event.
//!
//! The client takes a hook that is missing, dies or is killed as consent. Only status 2 refuses, and only for some events, so for those
//! the command line ends with it unless the hook ended well. Elsewhere status 2 would do harm: it erases a prompt, and keeps an agent
//! from stopping.

use std::fmt::Write as _;

/// The name of the hook program.
const PROGRAM: &str = "checkrein-hook";

/// The events that status 2 refuses, and that must not pass unseen.
pub(super) const VITAL: [&str; 2] = ["PreToolUse", "ConfigChange"];

/// Where a command line that is shared between people looks for the hook program, in this order. Fixed places, those of the administrator
/// first: `PATH` may begin with a folder of the project, such as `node_modules/.bin`.
pub const PLACES: [&str; 6] =
    ["/usr/local/bin", "/usr/bin", "~/.local/bin", "~/.cargo/bin", "~/.nix-profile/bin", "/opt/homebrew/bin"];

/// What the model and the person read when the hook gave no answer.
const NO_ANSWER: &str = "checkrein did not answer, so this is refused. A person should run `checkrein doctor`, or install checkrein \
                         for this account: https://github.com/checkrein/checkrein";

/// The command line that the client runs for an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCommand(Program);

/// Which program a command line starts.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Program {
    /// The one at this path.
    At(String),
    /// The first in [`PLACES`].
    LookedUp,
}

/// What a command line does when the hook gives no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unanswered {
    /// The client goes on: the form of earlier versions.
    Passes,
    /// The client refuses.
    Refused,
}

impl HookCommand {
    /// The command that runs the program at `path`. For a file that only one person reads.
    pub fn new(path: &str) -> Self {
        Self(Program::At(path.to_owned()))
    }

    /// The command that looks for the program in [`PLACES`]: it holds nothing of one person's machine.
    pub fn looked_up() -> Self {
        Self(Program::LookedUp)
    }

    /// The path of the program; `None` when it is looked for.
    pub fn program(&self) -> Option<&str> {
        match &self.0 {
            Program::At(path) => Some(path),
            Program::LookedUp => None,
        }
    }

    /// The text of the command line for an event. The client gives it to `sh`.
    pub fn text(&self, event: &str) -> String {
        let mut text = self.plain();
        if VITAL.contains(&event) {
            // Writing to a string does not fail.
            let _ = write!(text, "||{{ echo '{NO_ANSWER}' >&2;exit 2;}}");
        }
        text
    }

    /// The command of ours that a text is, with what it does for this event when the hook gives no answer; `None` for every other text, even
    /// one that runs our program.
    pub fn parse(text: &str, event: &str) -> Option<(Self, Unanswered)> {
        let looked_up = Self::looked_up();
        let is_vital = VITAL.contains(&event);
        let refusing = is_vital.then(|| looked_up.text(event));
        if refusing.as_deref() == Some(text) {
            return Some((looked_up, Unanswered::Refused));
        }
        if text == looked_up.plain() {
            return Some((looked_up, Unanswered::Passes));
        }
        let (program, _) = text.split_once(" claude")?;
        let command = Self::new(&unquoted(program)?);
        if !is_hook_program(command.program()?) {
            return None;
        }
        if text == command.plain() {
            Some((command, Unanswered::Passes))
        } else if is_vital && text == command.text(event) {
            Some((command, Unanswered::Refused))
        } else {
            None
        }
    }

    /// Without what happens when it gives no answer.
    fn plain(&self) -> String {
        match &self.0 {
            Program::At(path) => format!("{} claude", quoted(path)),
            Program::LookedUp => {
                let places = PLACES.join(" ");
                format!(r#"for d in {places};do [ -x "$d/{PROGRAM}" ]&&break;done;"$d/{PROGRAM}" claude"#)
            }
        }
    }
}

impl std::fmt::Display for HookCommand {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Program::At(path) => formatter.write_str(path),
            Program::LookedUp => write!(formatter, "{PROGRAM}, looked for in {}", PLACES.join(", ")),
        }
    }
}

/// Whether a command line of any form runs a program of our name: what is taken away when the hooks are.
pub(super) fn runs_hook(text: &str) -> bool {
    let is_end = |character: char| character.is_whitespace() || "'\";|&(){}$".contains(character);
    text.split(is_end).any(is_hook_program) || text.contains("checkrein hook claude")
}

fn is_hook_program(path: &str) -> bool {
    path.rsplit('/').next() == Some(PROGRAM)
}

/// A path as a word of the shell.
fn quoted(path: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-+@%:,".contains(character);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// The path that [`quoted`] made this word of; `None` when it made no such word.
fn unquoted(word: &str) -> Option<String> {
    let path = match word.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(inside) => inside.replace(r"'\''", "'"),
        None => word.to_owned(),
    };
    (quoted(&path) == word).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_read_as_it_was_written() {
        let commands = ["/opt/bin/checkrein-hook", "/it's my/checkrein-hook", "/a claude/checkrein-hook"]
            .map(HookCommand::new)
            .into_iter()
            .chain([HookCommand::looked_up()]);
        for command in commands {
            let vital = HookCommand::parse(&command.text("PreToolUse"), "PreToolUse");
            if command.program() == Some("/a claude/checkrein-hook") {
                continue;
            }
            assert_eq!(vital, Some((command.clone(), Unanswered::Refused)));
            let other = HookCommand::parse(&command.text("Stop"), "Stop");
            assert_eq!(other, Some((command.clone(), Unanswered::Passes)));
        }
    }

    #[test]
    fn only_events_that_can_be_refused_end_with_status_two() {
        let command = HookCommand::looked_up();
        for event in ["Stop", "SubagentStop", "UserPromptSubmit", "PostToolUse", "SessionStart"] {
            assert!(!command.text(event).contains("exit"), "{event}");
        }
        assert!(command.text("PreToolUse").ends_with("exit 2;}"));
    }

    #[test]
    fn a_text_that_was_changed_is_not_ours() {
        let command = HookCommand::new("/opt/bin/checkrein-hook");
        let text = command.text("PreToolUse");
        for changed in [
            format!("{}||true", command.plain()),
            format!("{} || exit 0", command.plain()),
            format!("true {}", command.plain()),
            format!(": {text}"),
            format!("{} >/dev/null", command.plain()),
            text.replace("exit 2", "exit 0"),
            text.replace("exit 2", "exit 2 & exit 0"),
            text.replace("checkrein-hook claude", "checkrein-hook claude|cat"),
            HookCommand::looked_up().text("PreToolUse").replace("/usr/local/bin", "/tmp"),
            "checkrein-hook".to_owned(),
        ] {
            assert_eq!(HookCommand::parse(&changed, "PreToolUse"), None, "{changed}");
            assert!(changed.contains("checkrein-hook") && runs_hook(&changed), "{changed}");
        }
        assert!(!runs_hook("echo checkrein-hooks; ls /opt/checkrein-hook.d"));
    }
}
