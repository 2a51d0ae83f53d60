//! Lists of processes on their way from `ps` or `pgrep` to `kill`: whose numbers these are.
//!
//! Such a list is what the kernel shows below `/proc`, so it travels as the content of a file there, with the name that was asked
//! for behind it.

mod users;

pub use users::{SHELLS, users_of};

use checkrein_facts::hook_line::HOOK_PROGRAM;

use crate::expression::fits;
use crate::guarded::PARENT;
use crate::{Call, Input, Machine, Output, Value};

/// The beginning of the path that stands for a list of processes.
const BELOW: &str = "/proc/processes/";

/// Processes that a list names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListedProcesses {
    /// Every process, or those of a choice that is not by name.
    All,
    /// Those of this name, as it was written in the pattern.
    Named(String),
    /// Those that were found by something else than a name: a port, a file, a parent.
    Chosen(String),
    /// The numbers of a wide range, one after the other: those of processes are among them.
    Counted,
}

impl ListedProcesses {
    /// The list as an output.
    pub fn output(&self) -> Output {
        Output::Local(match self {
            Self::All => BELOW.to_owned(),
            Self::Named(name) => format!("{BELOW}name/{name}"),
            Self::Chosen(what) => format!("{BELOW}choice/{what}"),
            Self::Counted => format!("{BELOW}counted/"),
        })
    }

    /// The list that an output carries.
    pub fn of(output: &Output) -> Option<Self> {
        let Output::Local(path) = output else { return None };
        let rest = path.strip_prefix(BELOW)?;
        Some(if let Some(name) = rest.strip_prefix("name/") {
            Self::Named(name.to_owned())
        } else if let Some(what) = rest.strip_prefix("choice/") {
            Self::Chosen(what.to_owned())
        } else if rest == "counted/" {
            Self::Counted
        } else {
            Self::All
        })
    }

    /// The list that comes in to a program that chooses among its lines.
    pub fn coming_in(call: &Call) -> Option<Self> {
        Self::of(&filtered(call)?)
    }

    /// What a program leaves of the list that chooses by a pattern: `/name/ { ... }`.
    #[must_use]
    pub fn chosen_by(self, program: &str) -> Self {
        match between_slashes(program) {
            Some(pattern) => self.narrowed(&pattern),
            None => self,
        }
    }

    /// The list that came in among the words of the running command.
    pub fn in_words(machine: &Machine<'_>) -> Option<Self> {
        machine.substituted().iter().rev().find_map(Self::of)
    }

    /// What is left when only lines that fit a pattern stay.
    fn narrowed(self, pattern: &str) -> Self {
        match self {
            // What only picks out the numbers leaves all of them.
            Self::All if !pattern.contains(|c: char| c.is_alphabetic()) => Self::All,
            Self::All => Self::Named(plain_name(pattern)),
            Self::Chosen(_) if !pattern.is_empty() && fits(pattern, HOOK_PROGRAM) => {
                Self::Named(HOOK_PROGRAM.to_owned())
            }
            Self::Named(_) | Self::Chosen(_) | Self::Counted => self,
        }
    }
}

/// What a program that looks at processes lists; `None` when it is no such call.
pub(crate) fn listed(machine: &Machine<'_>, call: &Call) -> Option<Output> {
    if call.program == "ps" && call.words.iter().any(|word| word.known_start().contains("ppid=")) {
        return Some(Output::Text(Value::exact(PARENT)));
    }
    let list = match call.program.as_str() {
        "ps" => {
            let named = value_behind(call, &["-C"]);
            let chosen = value_behind(call, &["-p", "--pid", "-q", "--quick-pid", "p"]);
            let below = value_behind(call, &["--ppid"]);
            let is_parent = |value: &Value| value.as_exact() == Some(PARENT);
            match (named, chosen, below) {
                (Some(name), _, _) => named_in(&name.known_start()),
                (None, Some(number), _) if is_parent(&number) => ListedProcesses::Chosen(PARENT.to_owned()),
                // What the client started: this shell, and those that ask the guard.
                (None, None, Some(number)) if is_parent(&number) => ListedProcesses::All,
                (None, Some(_), _) | (None, None, Some(_)) => {
                    ListedProcesses::Chosen("a process by its number".to_owned())
                }
                (None, None, None) => ListedProcesses::All,
            }
        }
        "pgrep" => match pattern_of(call) {
            Some(pattern) => match pattern.as_exact() {
                Some("") => ListedProcesses::All,
                Some(name) => named_in(name),
                None => ListedProcesses::Chosen("processes by a name that is not known".to_owned()),
            },
            None => match value_behind(call, &["-P", "--parent"]) {
                None => ListedProcesses::All,
                Some(parent) if parent.as_exact() == Some(PARENT) => ListedProcesses::All,
                Some(_) => ListedProcesses::Chosen("what a process started".to_owned()),
            },
        },
        "pidof" => {
            let names: Option<Vec<&str>> = operands(call).map(Value::as_exact).collect();
            match names {
                Some(names) if names.is_empty() => return None,
                Some(names) => ListedProcesses::Named(names.join("|")),
                None => ListedProcesses::Chosen("processes by a name that is not known".to_owned()),
            }
        }
        "pstree" | "top" => ListedProcesses::All,
        // Whoever holds a socket; what is left by the name of the guard is the guard (ss(8), netstat(8)).
        "ss" | "netstat" if shows_processes(call) => {
            ListedProcesses::Chosen("whoever uses a socket".to_owned())
        }
        "lsof" | "fuser" => users::listed(machine, call),
        _ => return None,
    };
    Some(list.output())
}

/// Whether the words of `ss` or `netstat` ask for the processes behind sockets.
fn shows_processes(call: &Call) -> bool {
    call.words.iter().any(|word| {
        let start = word.known_start();
        start == "--processes"
            || start == "--program"
            || start.starts_with('-') && !start.starts_with("--") && start.contains('p')
    })
}

/// The processes of a name, as it was written in a pattern.
fn named_in(pattern: &str) -> ListedProcesses {
    ListedProcesses::Named(plain_name(pattern))
}

fn operands(call: &Call) -> impl Iterator<Item = &Value> {
    call.words.iter().filter(|word| !word.known_start().starts_with('-'))
}

/// The options of `pgrep` and `pkill` that take a value of their own (pgrep(1), procps 4).
pub const OPTIONS_WITH_VALUES: [&str; 24] = [
    "-u",
    "--euid",
    "-U",
    "--uid",
    "-G",
    "--group",
    "-g",
    "--pgroup",
    "-P",
    "--parent",
    "-s",
    "--session",
    "-t",
    "--terminal",
    "-F",
    "--pidfile",
    "-O",
    "--older",
    "-r",
    "--runstates",
    "--ns",
    "--nslist",
    "-d",
    "--delimiter",
];

/// The pattern that `pgrep` is given: what is left of its words without options and their values.
fn pattern_of(call: &Call) -> Option<&Value> {
    let mut words = call.words.iter();
    while let Some(word) = words.next() {
        match word.as_exact() {
            Some(text) if OPTIONS_WITH_VALUES.contains(&text) => {
                words.next();
            }
            Some(text) if text.len() > 1 && text.starts_with('-') => {}
            Some(_) | None => return Some(word),
        }
    }
    None
}

/// What a filter leaves of a list of processes; `None` when no list comes in.
pub(crate) fn filtered(call: &Call) -> Option<Output> {
    let Input::Local(path) = &call.input else { return None };
    let list = ListedProcesses::of(&Output::Local(path.clone()))?;
    let pattern = match call.program.as_str() {
        "grep" | "egrep" | "fgrep" | "rg" => {
            let inverted = call.words.iter().any(|word| {
                word.as_exact().is_some_and(|text| {
                    text == "--invert-match"
                        || text.starts_with('-') && !text.starts_with("--") && text.contains('v')
                })
            });
            if inverted { None } else { call.words.iter().find(|word| !word.known_start().starts_with('-')) }
                .and_then(Value::as_exact)
                .map(str::to_owned)
        }
        "awk" | "gawk" | "mawk" | "nawk" | "sed" | "gsed" => {
            call.words.iter().filter_map(Value::as_exact).find_map(between_slashes)
        }
        _ => None,
    };
    Some(match pattern {
        Some(pattern) => list.narrowed(&pattern).output(),
        None => list.output(),
    })
}

/// The value of an option, attached or not.
fn value_behind(call: &Call, names: &[&str]) -> Option<Value> {
    let mut words = call.words.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.as_exact() else { continue };
        if names.contains(&text) {
            return words.next().cloned();
        }
        let attached = |name: &&str| {
            let sign = if name.starts_with("--") { "=" } else { "" };
            let is_option = name.starts_with('-');
            text.strip_prefix(*name)?.strip_prefix(sign).filter(|_| is_option).map(Value::exact)
        };
        if let Some(value) = names.iter().find_map(attached) {
            return Some(value);
        }
    }
    None
}

/// The pattern in a program of awk or sed: `/name/ {print $1}`, `$2 == "name"`.
fn between_slashes(program: &str) -> Option<String> {
    let quote =
        if program.contains("==") || program.contains('~') && !program.contains('/') { '"' } else { '/' };
    let (_, rest) = program.split_once(quote)?;
    let (pattern, _) = rest.split_once(quote)?;
    (!pattern.is_empty()).then(|| pattern.to_owned())
}

/// A pattern without what only keeps it from finding itself: `[s]shd`, `^sshd$`, `sshd.*`.
fn plain_name(pattern: &str) -> String {
    let mut plain = pattern.to_owned();
    for (from, to) in [(".*", ""), ("\\b", ""), ("\\<", ""), ("\\>", ""), ("\\|", "|")] {
        plain = plain.replace(from, to);
    }
    plain.chars().filter(|c| !matches!(c, '[' | ']' | '^' | '$' | '(' | ')' | '\\' | '"' | '\'')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_patterns() {
        assert_eq!(plain_name("[s]shd"), "sshd");
        assert_eq!(plain_name("^nginx: master.*$"), "nginx: master");
        assert_eq!(between_slashes("/cupsd/ {print $1}").as_deref(), Some("cupsd"));
        assert_eq!(between_slashes("$2 == \"gdm\" {print $1}").as_deref(), Some("gdm"));
        assert_eq!(between_slashes("{print $2}"), None);
    }

    #[test]
    fn a_list_travels_as_an_output() {
        for list in [
            ListedProcesses::All,
            ListedProcesses::Named("vite".to_owned()),
            ListedProcesses::Chosen("port".to_owned()),
            ListedProcesses::Counted,
        ] {
            assert_eq!(ListedProcesses::of(&list.output()), Some(list));
        }
        assert_eq!(ListedProcesses::of(&Output::Local("/proc/cpuinfo".to_owned())), None);
    }
}
