//! `sh`, which is dash on one machine and bash or busybox on another: where they read a text differently both readings count. And zsh,
//! and the Korn shells, which are read as bash: what they alone know is said not to be read.

mod ksh;
mod zsh;

use crate::builtins::is_of_bash;

use super::ambient::is_of_bash as is_set_by_bash;
use super::exit::Exit;
use super::machine::Machine;
use super::shell::Speech;
use super::statements::Done;
use super::value::Value;

/// The names under which a shell is started that may be any of them (source: the packages `dash`, `busybox`, `bash` of Debian and Alpine).
const NAMES: &[&str] = &["sh", "dash", "ash"];

/// What a program is that runs text of the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellProgram {
    /// bash, or one that reads a text as it does.
    Bash,
    /// `sh`: the one or the other.
    Either,
    /// zsh, which reads most texts as bash does.
    Zsh,
    /// One of the Korn shells, which read most texts as bash does.
    Korn,
}

/// Whom a shell is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ShellUser {
    /// Nobody: it runs what it is given, and ends.
    #[default]
    Nobody,
    /// A person (`bash -i`): it stays where another one would end.
    Person,
}

impl ShellProgram {
    /// The reader of that name.
    pub fn named(name: &str) -> Self {
        match name.rsplit('/').next().unwrap_or(name) {
            "zsh" => Self::Zsh,
            "ksh" | "ksh93" | "rksh" | "mksh" | "lksh" | "pdksh" | "oksh" | "loksh" => Self::Korn,
            name if NAMES.contains(&name) => Self::Either,
            _ => Self::Bash,
        }
    }
}

impl Machine<'_> {
    /// Runs a text in a child shell, in every way in which the reader may understand it.
    pub(super) fn run_read(
        &mut self,
        reader: ShellProgram,
        text: &Value,
        work: impl Fn(&mut Self, Speech) -> Done,
    ) -> Done {
        let is_told_apart = reader == ShellProgram::Either
            && self.budget.scanning == 0
            && texts_of(text).iter().any(|text| may_differ(text));
        match (self.position.reads_as, is_told_apart) {
            // It is the same program all over this command.
            (Some(speech), true) => work(self, speech),
            (None, true) => {
                let (tree, input, left) = (self.tree.clone(), self.input.clone(), self.left.len());
                self.position.reads_as = Some(Speech::Bash);
                let one = work(self, Speech::Bash);
                let tree_one = std::mem::replace(&mut self.tree, tree);
                let input_one = std::mem::replace(&mut self.input, input);
                self.left.truncate(left);
                self.position.reads_as = Some(Speech::Posix);
                self.position.doubt += 1;
                let two = work(self, Speech::Posix);
                self.position.doubt -= 1;
                self.position.reads_as = None;
                self.tree = std::mem::take(&mut self.tree).join(&tree_one);
                if self.input != input_one {
                    self.input = super::call::Input::Unknown;
                }
                Done::next(Exit { status: one.status.join(two.status), output: one.output.join(two.output) })
            }
            (_, false) => {
                let done = work(self, Speech::Bash);
                match reader {
                    ShellProgram::Zsh => self.note_zsh(text),
                    ShellProgram::Korn => self.note_ksh(text),
                    ShellProgram::Bash | ShellProgram::Either => {}
                }
                done
            }
        }
    }

    /// The same of a text that a Korn shell runs.
    fn note_ksh(&mut self, text: &Value) {
        if self.budget.scanning > 0 {
            return;
        }
        for text in texts_of(text).to_vec() {
            if ksh::is_of_ksh(&text) {
                self.unread("a Korn shell does more with this text than can be followed");
                self.possibly(|machine| machine.scan_text(&text));
            }
        }
    }

    /// Says that a text which zsh runs is not read to the end where it holds what only zsh knows, and looks for commands all over it.
    pub(super) fn note_zsh(&mut self, text: &Value) {
        if self.budget.scanning > 0 {
            return;
        }
        for text in texts_of(text).to_vec() {
            if zsh::is_of_zsh(&text) {
                self.unread("zsh does more with this text than can be followed");
                self.possibly(|machine| machine.scan_text(&text));
            }
        }
    }
}

fn texts_of(text: &Value) -> &[String] {
    text.alternatives().unwrap_or_default()
}

/// Whether the shells may differ about a text: the grammar, a command that only one of them has, or one of which the options differ.
fn may_differ(text: &str) -> bool {
    /// What both have, and differ about in some use.
    const DIFFERENT: &[&str] = &[
        "echo", "read", "printf", "trap", "set", "export", "readonly", "local", "unset", "alias", "exec",
        "wait", "type", "hash", "command", "cd", "eval", "ulimit", "umask", "kill", "jobs", "fc", "==", "=~",
        "-v", "-N", "-R", "-a", "-o", "time", ".", ":",
        // What stands in front of these stays in one of them (POSIX.1-2017, 2.14).
        "times", "shift", "break", "continue", "return",
    ];
    let is_told = |word: &str| DIFFERENT.contains(&word) || is_of_bash(word) || is_set_by_bash(word);
    checkrein_shell::parse_posix(text).is_some()
        || text.split(|c: char| c.is_whitespace() || ";&|()`\"'<>{}$".contains(c)).any(is_told)
}
