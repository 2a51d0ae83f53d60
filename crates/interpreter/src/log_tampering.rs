//! Traces: what the shell and the machine record about their use. Erasing them hides what was done.

use crate::effect::{EffectKind, Severity, Target};
use crate::path::AbsolutePath;

use super::call::Call;
use super::draft::Draft;
use super::machine::Machine;
use super::shell::VariableContent;
use super::value::Value;

/// Files in the home directory in which shells keep what was typed.
const HISTORIES: &[&str] = &[
    ".bash_history",
    ".zsh_history",
    ".zhistory",
    ".sh_history",
    ".ash_history",
    ".ksh_history",
    ".mksh_history",
    ".history",
    ".histfile",
    ".local/share/fish/fish_history",
];
/// Files below `/var/log` by which a user sees later who was there and what happened.
const RECORDS: &[&str] = &[
    "wtmp",
    "btmp",
    "utmp",
    "lastlog",
    "faillog",
    "auth.log",
    "secure",
    "syslog",
    "messages",
    "system.log",
    "kern.log",
    "daemon.log",
    "audit.log",
    "install.log",
    "sudo.log",
];

impl Machine<'_> {
    /// Adds that what the shell recorded is erased, or is not recorded any more.
    pub(crate) fn forget_history(&mut self, note: &str) {
        self.erased(Target::Service("shell history".to_owned()), note);
    }

    /// Adds that a record is erased, when a change to a file does that.
    pub(super) fn note_erased(&mut self, kind: EffectKind, target: &Target) {
        let place = match target {
            Target::Path(path) => path.as_str(),
            Target::Glob(pattern) => pattern.as_str(),
            Target::Host(_)
            | Target::Process(_)
            | Target::Service(_)
            | Target::Reference(_)
            | Target::Unknown => {
                return;
            }
        };
        let erases = match kind {
            EffectKind::FileDelete => is_record(place) || self.is_history(place),
            EffectKind::FileModify | EffectKind::FileCreate => !self.call.appending && self.is_history(place),
            _ => false,
        };
        if erases {
            let target = target.clone();
            self.erased(target, "erases what was recorded");
        }
    }

    /// Adds that a record of the machine was emptied, when the file is one and the text is none.
    pub(super) fn note_emptied(&mut self, path: &AbsolutePath, text: &Value) {
        let is_blank = text.as_exact().is_some_and(|text| text.trim().is_empty());
        if is_blank && path.as_str().starts_with("/var/log/") {
            self.erased(Target::Path(path.clone()), "empties what was recorded");
        }
    }

    /// Adds what `truncate` does to records.
    pub(super) fn note_truncated(&mut self, call: &Call) {
        let is_size = |text: &str| matches!(text, "-s0" | "--size=0" | "--size" | "-s");
        if call.program != "truncate" || !call.words.iter().filter_map(Value::as_exact).any(is_size) {
            return;
        }
        for word in call.words.iter().filter(|word| !word.known_start().starts_with('-')) {
            for aim in self.paths_through(word) {
                if let Some(path) = aim.target.path().cloned() {
                    self.note_emptied(&path, &Value::exact(""));
                }
            }
        }
    }

    /// Adds what a value given to one of the shell's own variables does to the history.
    pub(super) fn note_history_variable(&mut self, name: &str, value: &Value) {
        let ends = match (name, value.as_exact()) {
            ("HISTFILE", Some(text)) => matches!(text, "" | "/dev/null"),
            ("HISTSIZE" | "HISTFILESIZE" | "SAVEHIST", Some(text)) => text == "0",
            _ => false,
        };
        if ends {
            self.forget_history("what is typed is not recorded any more");
        } else if name == "HISTFILESIZE"
            && let Some(file) = self.history_file_given()
        {
            // bash cuts the file at once, also where it keeps no history (tried with bash 5.2).
            self.write(&file);
        }
    }

    /// Whether a file is one in which some shell keeps its history anyway.
    pub(super) fn is_history_file(&self, file: &Value) -> bool {
        self.one_path_through(file).is_some_and(|path| self.is_history(path.as_str()))
    }

    /// The file that the command itself has named for the history of a shell.
    pub(super) fn history_file_given(&self) -> Option<Value> {
        let given = self.shell.variables.get("HISTFILE").map(|variable| &variable.content);
        let Some(VariableContent::Scalar(Value::Exact(text))) = given else { return None };
        let is_new = self.world.variable("HISTFILE").as_deref() != Some(text.as_str());
        (is_new && !matches!(text.as_str(), "" | "/dev/null")).then(|| Value::exact(text.as_str()))
    }

    fn is_history(&self, place: &str) -> bool {
        let home = self.world.place().home.as_str();
        let rest = place.strip_prefix(home).or_else(|| place.strip_prefix("/root"));
        rest.and_then(|rest| rest.strip_prefix('/')).is_some_and(|name| HISTORIES.contains(&name))
    }

    fn erased(&mut self, target: Target, note: &str) {
        self.add(
            Draft::new(EffectKind::SystemModification, target)
                .severity(Severity::High)
                .irreversible()
                .note(note),
        );
    }
}

/// Whether a path or pattern names one of the records of the machine, or what was rotated out of one.
fn is_record(place: &str) -> bool {
    let Some(rest) = place.strip_prefix("/var/log/").or_else(|| place.strip_prefix("/var/run/")) else {
        return false;
    };
    let name = rest.rsplit('/').next().unwrap_or_default();
    RECORDS.iter().any(|record| {
        name.strip_prefix(record).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '*', '-']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_told_from_logs_of_programs() {
        for record in ["/var/log/auth.log", "/var/log/wtmp", "/var/log/syslog.1", "/var/log/**/system.log*"] {
            assert!(is_record(record), "{record}");
        }
        for other in
            ["/var/log/nginx/access.log", "/var/log/*", "/home/dev/proj/syslog", "/var/log/secure-app/x"]
        {
            assert!(!is_record(other), "{other}");
        }
    }
}
