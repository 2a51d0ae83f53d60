//! Programs that stay open for what is typed into them, where the client lets the agent type without a review.
//!
//! Shells and interpreters of known languages say so themselves when nothing is connected to their input
//! (`Machine::left_open`); here are those that have no code to be followed.

use checkrein_protocol::Typing;

use crate::interpreter::{Call, Input, Machine, Value};

/// When a program waits for words that it runs.
#[derive(Clone, Copy)]
enum Waits {
    /// Where nothing is named that it is to work on.
    Alone,
    /// Whatever is named, but for these options, with which it ends by itself.
    Unless(&'static [&'static str]),
    /// With one of these options.
    With(&'static [&'static str]),
    /// Where it makes or enters a terminal: these subcommands, or none, without an option that leaves it in the background.
    Terminal(&'static [&'static str], &'static [&'static str]),
}

/// Programs that run what is typed into them, also as commands of a shell (`:!`, `!`, `system`). Source: their manual pages.
const PROGRAMS: &[(&[&str], Waits)] = &[
    (
        &[
            "irb", "pry", "ghci", "iex", "erl", "scala", "jshell", "julia", "R", "radian", "octave",
            "ipython", "bpython", "ptpython", "xonsh", "nu", "elvish", "pwsh", "guile", "racket", "clisp",
            "sbcl", "ocaml", "utop", "swipl", "gnuplot", "maxima", "tclsh", "wish", "expect", "bb", "clj",
            "kotlinc", "evcxr",
        ],
        Waits::Alone,
    ),
    (
        &["gdb", "lldb", "rust-gdb", "rust-lldb"],
        Waits::Unless(&["-batch", "--batch", "-b", "--version", "--help", "-v", "-h"]),
    ),
    (
        &["vi", "vim", "nvim", "view", "vimdiff", "ex", "emacs"],
        Waits::Unless(&[
            "-c",
            "-es",
            "-s",
            "-S",
            "--headless",
            "--batch",
            "-batch",
            "--version",
            "--help",
            "-h",
            "+qa",
            "+q",
            "+qall",
            "--script",
        ]),
    ),
    (&["sftp", "lftp", "ftp"], Waits::Unless(&["-b", "-c", "-e", "-f", "-V", "--version", "--help", "-s"])),
    (&["telnet", "mosh"], Waits::Unless(&["--version", "--help"])),
    (
        &["tmux"],
        Waits::Terminal(&["new", "new-session", "attach", "attach-session", "a", "at"], &["-d", "-V", "-C"]),
    ),
    (&["byobu", "zellij"], Waits::Terminal(&["attach", "a", "new", "new-session"], &["--version"])),
    (
        &["screen"],
        Waits::Unless(&["-X", "-ls", "-list", "-wipe", "-v", "-dm", "-dmS", "-Dm", "-d", "-D", "-Q"]),
    ),
    (&["php"], Waits::With(&["-a", "--interactive"])),
    (
        &["docker attach", "podman attach", "kubectl attach", "docker start", "podman start"],
        Waits::With(&["-i", "--interactive", "-it", "-ti", "-ai", "--stdin"]),
    ),
];

/// Says that a call leaves a program open that runs what is typed into it.
pub(crate) fn left_open(machine: &mut Machine<'_>, call: &Call) {
    if call.input != Input::Inherited || machine.world().typing() == Typing::Reviewed {
        return;
    }
    let known = PROGRAMS.iter().find(|(names, _)| names.contains(&call.program.as_str()));
    if known.is_some_and(|(_, waits)| waits.holds(call)) {
        machine.left_open(&call.program);
    }
}

impl Waits {
    fn holds(self, call: &Call) -> bool {
        let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
        let has = |options: &[&str]| words.iter().any(|word| options.contains(word));
        match self {
            Self::Alone => call.words.is_empty(),
            Self::Unless(options) => !has(options),
            Self::With(options) => has(options),
            Self::Terminal(verbs, options) => {
                let verb = words.iter().find(|word| !word.starts_with('-'));
                verb.is_none_or(|verb| verbs.contains(verb)) && !has(options)
            }
        }
    }
}
