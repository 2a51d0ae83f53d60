//! The commands of a shell that knows no more than POSIX, where they are others than those of bash (source: the manual of dash 0.5.12).

use crate::strings;
use crate::{Done, Exit, Flow, Machine, Output, Status, Value};

/// Commands and words of bash that such a shell looks for as programs.
const OF_BASH: &[&str] = &[
    "[[",
    "function",
    "select",
    "coproc",
    "source",
    "declare",
    "typeset",
    "let",
    "mapfile",
    "readarray",
    "shopt",
    "pushd",
    "popd",
    "dirs",
    "disown",
    "enable",
    "builtin",
    "caller",
    "compgen",
    "complete",
    "compopt",
    "help",
    "history",
    "logout",
    "suspend",
    "bind",
    "print",
    "repeat",
    "setopt",
    "unsetopt",
    "noglob",
    "nocorrect",
    "whence",
    "autoload",
    "emulate",
];

/// The names of signals that such a shell knows (source: POSIX.1-2017, `signal.h`).
const SIGNALS: &[&str] = &[
    "EXIT", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM",
    "PROF", "WINCH", "IO", "POLL", "PWR", "SYS",
];

/// The names behind `set -o`.
const OPTIONS: &[&str] = &[
    "errexit",
    "noglob",
    "ignoreeof",
    "interactive",
    "monitor",
    "noexec",
    "stdin",
    "xtrace",
    "verbose",
    "vi",
    "emacs",
    "noclobber",
    "allexport",
    "notify",
    "nounset",
    "nolog",
    "debug",
];

/// Whether a shell that knows no more than POSIX has no such command.
pub(crate) fn is_of_bash(name: &str) -> bool {
    OF_BASH.contains(&name)
}

/// Runs a command in such a shell; `None` where it is that of bash.
pub(super) fn run(machine: &mut Machine<'_>, name: &str, words: &[Value]) -> Option<Done> {
    let open = |output| Some(Done::next(Exit { status: Status::Open, output }));
    let texts: Vec<Option<&str>> = words.iter().map(Value::as_exact).collect();
    let options = || {
        texts.iter().copied().take_while(|text| text.is_none_or(|text| text.starts_with('-') && text != "-"))
    };
    let others = |known: &str| {
        options().any(|text| {
            text.is_none_or(|text| text != "--" && !text.chars().skip(1).all(|letter| known.contains(letter)))
        })
    };
    if is_of_bash(name) {
        // A program may have that name, and busybox has some of these commands.
        return open(Output::Unknown);
    }
    match name {
        "echo" => Some(echo(words)),
        "printf" => {
            let format = texts.first().copied().flatten();
            let is_other = format.is_none_or(|format| {
                format.starts_with('-')
                    || ["%q", "%(", "\\x", "\\e", "\\u", "\\U", "\\E"]
                        .iter()
                        .any(|form| format.contains(form))
            });
            if is_other { open(Output::Unknown) } else { None }
        }
        "test" | "[" => {
            let is_other =
                |text: Option<&str>| matches!(text, Some("==" | "=~" | "-v" | "-N" | "-R" | "-a" | "-o"));
            if texts.iter().copied().any(is_other) { open(Output::Nothing) } else { None }
        }
        "read" => (others("rp") || !words.iter().any(|word| !word.known_start().starts_with('-')))
            .then(|| Done::next(Exit { status: Status::Open, output: Output::Nothing })),
        "trap" => {
            let is_known = |text: Option<&str>| {
                text.is_some_and(|text| {
                    SIGNALS.contains(&text) || text.bytes().all(|byte| byte.is_ascii_digit())
                })
            };
            if texts.iter().skip(1).copied().all(is_known) {
                return None;
            }
            let known: Vec<Value> = words
                .iter()
                .enumerate()
                .filter(|(place, word)| *place == 0 || is_known(word.as_exact()))
                .map(|(_, word)| word.clone())
                .collect();
            if known.len() > 1 {
                super::trap(machine, &known);
            }
            open(Output::Nothing)
        }
        "set" => {
            let mut is_behind_option = false;
            let is_other = texts.iter().any(|text| {
                let names = std::mem::replace(&mut is_behind_option, matches!(text, Some("-o" | "+o")));
                names && !text.is_some_and(|text| OPTIONS.contains(&text))
            });
            if is_other { Some(ends(machine)) } else { None }
        }
        "export" | "readonly" if others("p") || !are_names(words) => Some(ends(machine)),
        "unset" if others("vf") || !are_names(words) => Some(ends(machine)),
        "local" if options().next().is_some() || !are_names(words) => Some(ends(machine)),
        // Outside of functions it is an error.
        "local" if machine.shell.returns == 0 && machine.shell.locals.is_empty() => Some(ends(machine)),
        "exec" if options().any(|text| text != Some("--")) => Some(ends(machine)),
        "wait" | "type" | "hash" | "ulimit" | "umask" | "kill" | "jobs" | "fg" | "bg" | "fc"
            if options().next().is_some() =>
        {
            (name != "kill").then(|| Done::next(Exit { status: Status::Open, output: Output::Unknown }))
        }
        "eval" if texts.first() == Some(&Some("--")) => open(Output::Nothing),
        "eval" => {
            let text = strings::joined(words, " ");
            let done = super::eval(machine, words);
            let is_refused =
                text.as_exact().is_some_and(|text| !checkrein_shell::parse(text).problems.is_empty());
            Some(if is_refused { ends(machine) } else { done })
        }
        "type" if texts.iter().any(|text| text.is_none_or(is_of_bash)) => open(Output::Unknown),
        "cd" if others("LP") => {
            let done = super::cd(machine, words);
            Some(Done { status: done.status.join(Status::Open), ..done })
        }
        "command" if others("pvV") => open(Output::Unknown),
        "." => {
            // Without a path it is looked for, and what is not found ends the shell.
            let done = super::source(machine, words.get(..1).unwrap_or_default());
            Some(Done { status: done.status.join(Status::Open), ..done })
        }
        _ => None,
    }
}

/// Whether all operands are names of variables, with values or without.
fn are_names(words: &[Value]) -> bool {
    words.iter().all(|word| {
        let text = word.known_start();
        let name = text.split_once('=').map_or(text.as_str(), |(name, _)| name);
        let is_whole = name.len() < text.len() || word.as_exact().is_some();
        text.starts_with('-')
            || is_whole
                && name.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic())
                && name.chars().all(|letter| letter == '_' || letter.is_ascii_alphanumeric())
    })
}

/// The shell ends with a message, or goes on where it is a newer one.
fn ends(machine: &mut Machine<'_>) -> Done {
    machine.perhaps_leave(Flow::Exit, Status::Failure)
}

/// `echo`: `-n` is all that it knows, and escapes always count.
fn echo(words: &[Value]) -> Done {
    let (newline, words) = match words.split_first() {
        Some((first, rest)) if first.as_exact() == Some("-n") => ("", rest),
        _ => ("\n", words),
    };
    let mut value = Value::exact("");
    let mut newline = newline;
    for (index, word) in words.iter().enumerate() {
        let word = word.as_exact().map_or_else(|| word.clone(), strings::unescaped);
        value = value.followed_by(&Value::exact(if index > 0 { " " } else { "" })).followed_by(&word);
        if words.get(index).and_then(Value::as_exact).is_some_and(strings::is_cut_short) {
            newline = "";
            break;
        }
    }
    Done::next(Exit {
        status: Status::Success,
        output: Output::Text(value.followed_by(&Value::exact(newline))),
    })
}
