//! The command line that a client runs for each event.
//!
//! Clients take a hook that is missing, dies or is killed as consent. Status 2 with a text refuses in all of them, but only for some
//! events, so for those the command line ends with it unless the hook ended well. Elsewhere status 2 would do harm: it erases a prompt,
//! and keeps an agent from stopping.
//!
//! The hook always answers with an object. A program that ends well and says nothing, or says something else, is none of ours, and either is
//! consent for a client, so the line passes on what it heard and refuses where that is no object. It starts no more processes for that.

use checkrein_facts::hook_line::{
    HEARD, HOOK_PROGRAM as PROGRAM, NO_ANSWER, refusing_line, refusing_status_line,
};

/// Where a command line that is shared between people looks for the hook program, in this order. Fixed places, those of the administrator
/// first: `PATH` may begin with a folder of the project, such as `node_modules/.bin`.
pub const PLACES: [&str; 6] =
    ["/usr/local/bin", "/usr/bin", "~/.local/bin", "~/.cargo/bin", "~/.nix-profile/bin", "/opt/homebrew/bin"];

/// Words of it in earlier versions, and what stands there now.
const REWORDED: [(&str, &str); 1] = [("A person should run", "The user should run")];

/// What stands before the number of seconds that a call may wait for an answer of a user.
const WAIT: &str = " --wait ";

/// The command that a client runs for its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCommand {
    program: Program,
    client: &'static str,
    answering: Answering,
    waits: Option<u32>,
}

/// How the hook program tells a client that a call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answering {
    /// By an object, with exit status 0.
    Object,
    /// By exit status 2, with the reason on standard error.
    Status,
}

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
    /// The command that runs the program at `path` for a client. For a file that only one user reads.
    pub(crate) fn new(client: &'static str, answering: Answering, path: &str) -> Self {
        Self { program: Program::At(path.to_owned()), client, answering, waits: None }
    }

    /// The command that looks for the program in [`PLACES`]: it holds nothing of one user's machine.
    pub(crate) fn looked_up(client: &'static str, answering: Answering) -> Self {
        Self { program: Program::LookedUp, client, answering, waits: None }
    }

    /// The same, which lets a call wait so many seconds for an answer of a user; `None` for as long as fits into the time that is always
    /// registered. The client must wait longer than that.
    #[must_use]
    pub fn waiting(self, seconds: Option<u32>) -> Self {
        Self { waits: seconds, ..self }
    }

    /// How long it lets a call wait for an answer of a user, in seconds, where that is said.
    pub fn waits(&self) -> Option<u32> {
        self.waits
    }

    /// The path of the program; `None` when it is looked for.
    pub fn program(&self) -> Option<&str> {
        match &self.program {
            Program::At(path) => Some(path),
            Program::LookedUp => None,
        }
    }

    /// The text of the command line, which the client gives to `sh`, with what happens when the hook gives no answer.
    pub(crate) fn text(&self, unanswered: Unanswered) -> String {
        let (search, call) = self.parts();
        match unanswered {
            Unanswered::Passes => format!("{search}{call}"),
            Unanswered::Refused => match self.answering {
                Answering::Object => format!("{search}{}", refusing_line(&call)),
                Answering::Status => format!("{search}{}", refusing_status_line(&call)),
            },
        }
    }

    /// The texts of earlier versions: whatever the program said counted when it ended well; in the first, silence too.
    fn earlier_texts(&self) -> [(String, Unanswered); 2] {
        let (search, call) = self.parts();
        let silent = format!("{search}{call}||{{ echo '{NO_ANSWER}' >&2;exit 2;}}");
        let anything = match self.answering {
            Answering::Object => {
                format!(
                    r#"{HEARD}{call})&&[ "$o" ]&&printf '%s\n' "$o"||{{ echo '{NO_ANSWER}' >&2;exit 2;}}"#
                )
            }
            Answering::Status => format!(
                r#"{HEARD}{call});case $?$o in 0?*)printf '%s\n' "$o";;2)exit 2;;*)echo '{NO_ANSWER}' >&2;exit 2;;esac"#
            ),
        };
        [silent, format!("{search}{anything}")].map(|text| (text, Unanswered::Refused))
    }

    /// What looks for the program, and what calls it.
    fn parts(&self) -> (String, String) {
        let waits = self.waits.map(|seconds| format!("{WAIT}{seconds}")).unwrap_or_default();
        match &self.program {
            Program::At(path) => (String::new(), format!("{} {}{waits}", quoted(path), self.client)),
            Program::LookedUp => (
                format!(r#"for d in {};do [ -x "$d/{PROGRAM}" ]&&break;done;"#, PLACES.join(" ")),
                format!(r#""$d/{PROGRAM}" {}{waits}"#, self.client),
            ),
        }
    }

    /// The command of ours for a client that a text is, with what it does when the hook gives no answer; `None` for every other text,
    /// even one that runs our program.
    pub(crate) fn parse(
        text: &str,
        client: &'static str,
        answering: Answering,
    ) -> Option<(Self, Unanswered)> {
        let reworded = REWORDED.iter().fold(text.to_owned(), |text, (before, now)| text.replace(before, now));
        let form = |command: &Self| {
            let now = [Unanswered::Refused, Unanswered::Passes].map(|form| (command.text(form), form));
            let mut known = now.into_iter().chain(command.earlier_texts());
            known.find(|(text, _)| *text == reworded).map(|(_, form)| form)
        };
        // What is not written as it would be written here makes another text, and so none of ours.
        let (_, behind) = text.split_once(&format!(" {client}{WAIT}")).unwrap_or_default();
        let digits = behind.split(|sign: char| !sign.is_ascii_digit()).next().unwrap_or_default();
        let waits = digits.parse().ok();
        let looked_up = Self::looked_up(client, answering).waiting(waits);
        if let Some(form) = form(&looked_up) {
            return Some((looked_up, form));
        }
        let (program, _) = text.split_once(&format!(" {client}"))?;
        let command =
            Self::new(client, answering, &unquoted(program.strip_prefix(HEARD).unwrap_or(program))?)
                .waiting(waits);
        if !is_hook_program(command.program()?) {
            return None;
        }
        form(&command).map(|form| (command, form))
    }
}

impl std::fmt::Display for HookCommand {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.program {
            Program::At(path) => formatter.write_str(path),
            Program::LookedUp => write!(formatter, "{PROGRAM}, looked for in {}", PLACES.join(", ")),
        }
    }
}

/// Whether a command line of any form runs a program of our name: what is taken away when the hooks are.
pub(crate) fn runs_hook(text: &str) -> bool {
    let is_end = |character: char| character.is_whitespace() || "'\";|&(){}$".contains(character);
    text.split(is_end).any(is_hook_program) || text.contains("checkrein hook ")
}

fn is_hook_program(path: &str) -> bool {
    path.rsplit('/').next() == Some(PROGRAM)
}

/// A path as a word of the shell.
pub(crate) fn quoted(path: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-+@%:,".contains(character);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// The path that [`quoted`] made this word of; `None` when it made no such word.
pub(crate) fn unquoted(word: &str) -> Option<String> {
    let path = match word.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(inside) => inside.replace(r"'\''", "'"),
        None => word.to_owned(),
    };
    (quoted(&path) == word).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: [Unanswered; 2] = [Unanswered::Refused, Unanswered::Passes];

    fn command() -> HookCommand {
        HookCommand::new("claude", Answering::Object, "/opt/bin/checkrein-hook")
    }

    #[test]
    fn a_command_is_read_as_it_was_written() {
        for (client, answering) in
            [("claude", Answering::Object), ("gemini", Answering::Object), ("droid", Answering::Status)]
        {
            let at = |path: &str| HookCommand::new(client, answering, path);
            let commands = [
                at("/opt/bin/checkrein-hook"),
                at("/it's my/checkrein-hook"),
                HookCommand::looked_up(client, answering),
                at("/opt/bin/checkrein-hook").waiting(Some(600)),
                HookCommand::looked_up(client, answering).waiting(Some(600)),
            ];
            for command in commands {
                for form in FORMS {
                    let text = command.text(form);
                    assert_eq!(HookCommand::parse(&text, client, answering), Some((command.clone(), form)));
                    assert_eq!(HookCommand::parse(&text, "codex", answering), None, "that of another client");
                }
            }
        }
    }

    #[test]
    fn the_words_of_an_earlier_version_are_ours() {
        let text = command().text(Unanswered::Refused);
        for (before, now) in REWORDED {
            let earlier = text.replace(now, before);
            assert_ne!(earlier, text);
            assert_eq!(
                HookCommand::parse(&earlier, "claude", Answering::Object),
                Some((command(), Unanswered::Refused))
            );
        }
    }

    #[test]
    fn the_text_of_an_earlier_version_is_ours() {
        for command in [command(), HookCommand::looked_up("claude", Answering::Object)] {
            for (text, form) in command.earlier_texts() {
                assert_ne!(text, command.text(form));
                assert_eq!(
                    HookCommand::parse(&text, "claude", Answering::Object),
                    Some((command.clone(), form))
                );
            }
        }
    }

    #[test]
    fn a_text_that_was_changed_is_not_ours() {
        let text = command().text(Unanswered::Refused);
        let plain = command().text(Unanswered::Passes);
        for changed in [
            format!("{plain}||true"),
            format!("{plain} || exit 0"),
            format!("true {plain}"),
            format!(": {text}"),
            text.replace("hook claude", "hook claude --wait 0600"),
            text.replace("hook claude", "hook claude --wait 600 codex"),
            text.replace("hook claude", "hook claude --wait ''"),
            format!("{plain} >/dev/null"),
            text.replace("exit 2", "exit 0"),
            text.replace("exit 2", "exit 2 & exit 0"),
            text.replace("o=$(", "o=x;: $("),
            text.replace("$?$o", "$?{}"),
            text.replace("'{'*'}'", "*"),
            text.replace("printf '%s\\n' \"$o\"", "echo {}"),
            text.replace(");case", "||echo {});case"),
            format!("o=$({plain})"),
            format!("o=$({plain})||{{ exit 2;}}"),
            text.replace("checkrein-hook claude", "checkrein-hook claude|cat"),
            HookCommand::looked_up("claude", Answering::Object)
                .text(Unanswered::Refused)
                .replace("/usr/local/bin", "/tmp"),
            "checkrein-hook".to_owned(),
        ] {
            assert_eq!(HookCommand::parse(&changed, "claude", Answering::Object), None, "{changed}");
            assert!(changed.contains("checkrein-hook") && runs_hook(&changed), "{changed}");
        }
        assert!(!runs_hook("echo checkrein-hooks; ls /opt/checkrein-hook.d"));
    }
}
