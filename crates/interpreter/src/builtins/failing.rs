//! Built-ins that may fail: what comes behind `||` runs then, and what comes behind `&&` does not.

use crate::{Machine, Value};

/// Whether a built-in that was taken to succeed may also fail: an option or a name that it may not know, a variable that may not be set, a
/// place that may not be there. Told from what is sure to succeed, form by form (the manual of bash 5.2); anything else may fail.
pub(super) fn may_fail(machine: &Machine<'_>, name: &str, words: &[Value]) -> bool {
    let texts: Option<Vec<&str>> = words.iter().map(Value::as_exact).collect();
    let declares = |letters: &str| {
        words.iter().any(|word| match word.as_exact() {
            Some("--") => false,
            Some(text) if text.starts_with(['-', '+']) => {
                text.len() == 1 || !text.chars().skip(1).all(|letter| letters.contains(letter))
            }
            Some(text) => !is_declarable(machine, text),
            // A value that is not known behind a name that is.
            None => !word.known_start().split_once('=').is_some_and(|(name, _)| is_declarable(machine, name)),
        })
    };
    let asks = |letters: &[char]| {
        let options = texts.iter().flatten().filter(|text| text.starts_with('-'));
        options.into_iter().any(|text| text.contains(letters))
    };
    match name {
        "export" => declares("fnp") || asks(&['f']),
        "readonly" => declares("aAfp") || asks(&['f']),
        "declare" | "typeset" | "local" => {
            declares("aAFfgiIlnrtuxp")
                || words.len() > 1 && asks(&['p', 'f', 'F'])
                // A reference needs a name to refer to, and makes of what is set later the value of that.
                || asks(&['n'])
                // An array of one kind does not become one of the other.
                || asks(&['a', 'A'])
                    && texts.iter().flatten().any(|name| machine.shell.variables.contains_key(*name))
        }
        // What is a function and a variable at once is refused.
        "unset" => declares("fvn") || asks(&['f']) && asks(&['v', 'n']),
        "set" => texts.is_none_or(|texts| !sets(&texts)),
        "shopt" => texts.is_none_or(|texts| {
            !texts.iter().all(|text| matches!(*text, "-s" | "-u") || SHELL_OPTIONS.contains(text))
        }),
        "trap" => texts.is_none_or(|texts| !traps(&texts)),
        "alias" => texts.is_none_or(|texts| !texts.iter().all(|text| text.contains('='))),
        "printf" => match texts.as_deref() {
            Some(["-v", name, ..]) => !is_declarable(machine, name),
            Some(["--", ..] | []) => false,
            Some([first, ..]) => first.starts_with('-') && first.len() > 1,
            None => words
                .first()
                .is_none_or(|first| first.known_start().is_empty() || first.known_start().starts_with('-')),
        },
        "mapfile" | "readarray" => texts.is_none_or(|texts| {
            !texts.iter().enumerate().all(|(place, text)| {
                *text == "-t"
                    || place + 1 == words.len() && !text.contains('=') && is_declarable(machine, text)
            })
        }),
        "let" => texts.is_none_or(|texts| {
            let is_fixed = |text: &str| {
                let variables = machine.shell.variables.iter();
                let mut readonly = variables.filter(|(_, held)| held.readonly).map(|(name, _)| name.as_str());
                readonly.any(|name| text.contains(name)) || FIXED.iter().any(|name| text.contains(name))
            };
            texts.iter().any(|text| text.starts_with('-') || is_fixed(text))
        }),
        // A variable that cannot be changed is not, which is a failure.
        "read" if names_nothing(machine, words) => true,
        "read" | "getopts" => machine.shell.variables.iter().any(|(name, held)| {
            held.readonly
                && texts.as_ref().is_none_or(|texts| texts.contains(&name.as_str()) || texts.is_empty())
        }),
        // bash takes one directory, dash the first of several.
        "cd" | "chdir" | "pushd" | "popd"
            if words.iter().filter(|word| !word.known_start().starts_with(['-', '+'])).count() > 1 =>
        {
            true
        }
        "cd" | "chdir" | "pushd" | "popd" => words.iter().any(|word| {
            let start = word.known_start();
            start.starts_with(['-', '+'])
                && !word.as_exact().is_some_and(|text| matches!(text, "-" | "--" | "-L" | "-P" | "-e" | "-@"))
        }),
        "pwd" => texts.is_none_or(|texts| !texts.iter().all(|text| matches!(*text, "-L" | "-P"))),
        "times" => !words.is_empty(),
        "umask" => texts.is_none_or(|texts| match texts.as_slice() {
            [] => false,
            [mode] => {
                !(matches!(mode.len(), 1..=4) && mode.bytes().all(|byte| (b'0'..=b'7').contains(&byte)))
            }
            _ => true,
        }),
        "unalias" | "dirs" | "jobs" | "caller" | "help" | "ulimit" | "disown" | "bg" | "fg" | "compopt"
        | "suspend" | "autoload" | "emulate" | "rehash" | "zstyle" | "zmodload" | "unfunction"
        | "functions" | "compdef" | "bind" | "complete" | "compgen" | "enable" | "history" | "fc"
        | "setopt" | "unsetopt" => true,
        _ => false,
    }
}

/// Whether one of the words of `read` is neither an option, what an option takes, nor a name.
fn names_nothing(machine: &Machine<'_>, words: &[Value]) -> bool {
    let mut left = words.iter();
    while let Some(word) = left.next() {
        match word.as_exact() {
            Some(text) if text.starts_with('-') && text.len() > 1 => {
                if text.ends_with(['a', 'd', 'i', 'n', 'N', 'p', 't', 'u']) {
                    left.next();
                }
            }
            Some(text) if is_declarable(machine, text) => {}
            Some(_) | None => return true,
        }
    }
    false
}

/// Whether a variable of this name can be set and taken away here.
fn is_declarable(machine: &Machine<'_>, text: &str) -> bool {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    let mut letters = name.chars();
    let is_name = letters.next().is_some_and(|first| first == '_' || first.is_ascii_alphabetic())
        && letters.all(|letter| letter == '_' || letter.is_ascii_alphanumeric());
    is_name
        && !FIXED.contains(&name)
        && machine.shell.variables.get(name).is_none_or(|variable| !variable.readonly)
}

fn sets(texts: &[&str]) -> bool {
    let mut left = texts.iter();
    while let Some(text) = left.next() {
        match *text {
            "--" | "-" => return true,
            "-o" | "+o" => match left.next() {
                None => return true,
                Some(name) if SET_OPTIONS.contains(name) => {}
                Some(_) => return false,
            },
            text => {
                let Some(letters) = text.strip_prefix(['-', '+']) else { return true };
                let known = letters.chars().all(|letter| "abefhkmnptuvxBCEHPTo".contains(letter));
                if !known {
                    return false;
                }
                if letters.contains('o') && !left.next().is_some_and(|name| SET_OPTIONS.contains(name)) {
                    return false;
                }
            }
        }
    }
    true
}

fn traps(texts: &[&str]) -> bool {
    let texts = if texts.first() == Some(&"--") { texts.get(1..).unwrap_or_default() } else { texts };
    match texts {
        [] | ["-p" | "-l"] => true,
        [first, signals @ ..] => {
            (*first == "-" || !first.starts_with('-'))
                && !signals.is_empty()
                && signals.iter().all(|signal| {
                    let upper = signal.to_ascii_uppercase();
                    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
                    SIGNALS.contains(&name) || signal.parse::<u8>().is_ok_and(|number| number <= 31)
                })
        }
    }
}

/// Variables that bash lets nobody change.
pub(crate) const FIXED: [&str; 6] = ["BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"];

/// What `trap` knows (signal(7), and those of bash).
const SIGNALS: [&str; 36] = [
    "EXIT", "ERR", "DEBUG", "RETURN", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL",
    "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU",
    "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "POLL", "PWR", "SYS",
];

/// What `set -o` knows (`set -o` of bash 5.2).
const SET_OPTIONS: [&str; 27] = [
    "allexport",
    "braceexpand",
    "emacs",
    "errexit",
    "errtrace",
    "functrace",
    "hashall",
    "histexpand",
    "history",
    "ignoreeof",
    "interactive-comments",
    "keyword",
    "monitor",
    "noclobber",
    "noexec",
    "noglob",
    "nolog",
    "notify",
    "nounset",
    "onecmd",
    "physical",
    "pipefail",
    "posix",
    "privileged",
    "verbose",
    "vi",
    "xtrace",
];

/// What `shopt` knows (`shopt` of bash 5.2).
const SHELL_OPTIONS: [&str; 53] = [
    "autocd",
    "assoc_expand_once",
    "cdable_vars",
    "cdspell",
    "checkhash",
    "checkjobs",
    "checkwinsize",
    "cmdhist",
    "compat31",
    "compat32",
    "compat40",
    "compat41",
    "compat42",
    "compat43",
    "compat44",
    "complete_fullquote",
    "direxpand",
    "dirspell",
    "dotglob",
    "execfail",
    "expand_aliases",
    "extdebug",
    "extglob",
    "extquote",
    "failglob",
    "force_fignore",
    "globasciiranges",
    "globskipdots",
    "globstar",
    "gnu_errfmt",
    "histappend",
    "histreedit",
    "histverify",
    "hostcomplete",
    "huponexit",
    "inherit_errexit",
    "interactive_comments",
    "lastpipe",
    "lithist",
    "localvar_inherit",
    "localvar_unset",
    "login_shell",
    "mailwarn",
    "no_empty_cmd_completion",
    "nocaseglob",
    "nocasematch",
    "noexpand_translation",
    "nullglob",
    "patsub_replacement",
    "progcomp",
    "prompt_vars",
    "sourcepath",
    "varredir_close",
];
