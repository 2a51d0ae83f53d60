//! Ending processes, running things later, and programs that run a command in a special way.
//!
//! | module | holds |
//! |---|---|
//! | `roles` | which processes the machine needs |

mod roles;

use super::containers::skip_options;
use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Output, Value};
use crate::nature::Nature;

use crate::interpreter::process_lists::ListedProcesses;
use crate::interpreter::signals::signal;

/// `kill`.
pub(crate) fn kill(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let Some(signal) = signal(&call.words, &[]) else { return Exit::unknown() };
    if signal.harmless {
        return Exit::silent();
    }
    for target in signal.targets {
        let draft = Draft::new(EffectKind::ProcessKill, process(target)).nature(Nature::Signal);
        let draft = match target.as_exact() {
            Some("-1") => draft.severity(Severity::Critical).note("ends every process"),
            Some("1") => draft.severity(Severity::Critical).note("ends the first process of the machine"),
            Some(text) if text.starts_with('%') => draft.note("a job of this shell"),
            Some(_) => draft,
            None => match ListedProcesses::in_words(machine) {
                Some(list) => listed_kill(&list).nature(Nature::Signal),
                None => draft.note("a process found by another command"),
            },
        };
        machine.add(draft);
    }
    Exit::silent()
}

/// Adds that a process is held up by a program that looks into it, when it is the client or the guard: neither answers then.
pub(crate) fn attach(machine: &mut Machine<'_>, target: &Value) {
    let named = match target.as_exact() {
        Some(text) => text.trim_start_matches("--pid=").to_owned(),
        None => match ListedProcesses::in_words(machine) {
            Some(ListedProcesses::Named(name)) => name,
            Some(ListedProcesses::All | ListedProcesses::Chosen(_)) | None => return,
        },
    };
    if crate::guard::is_held_up(&named) {
        let draft = Draft::new(EffectKind::ProcessKill, Target::Process(named));
        machine.add(draft.nature(Nature::HoldsUp).note("holds it up, so that it does not answer"));
    }
}

/// The end of the processes of a list.
pub(crate) fn listed_kill(list: &ListedProcesses) -> Draft {
    let ended = |name: &str| Draft::new(EffectKind::ProcessKill, Target::Process(name.to_owned()));
    match list {
        ListedProcesses::Named(name) => match roles::gravity(name) {
            Some((severity, note)) => ended(name).severity(severity).note(note),
            None => ended(name),
        },
        ListedProcesses::Chosen(what) => ended(what),
        ListedProcesses::All => ended("every process that is listed")
            .severity(Severity::High)
            .note("which of all processes are ended is not known"),
    }
}

/// `pkill`, `killall`: processes by name.
pub(crate) fn kill_by_name(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let users = ["-u", "--user", "-U", "--uid", "--euid"];
    let values = [
        "-u",
        "--user",
        "-U",
        "--uid",
        "--euid",
        "-g",
        "--pgroup",
        "-G",
        "--group",
        "-P",
        "--parent",
        "-t",
        "--terminal",
        "-F",
        "--pidfile",
        "-y",
        "-o",
        "--older-than",
        "--ns",
    ];
    let values: Vec<&str> = if call.program == "killall" {
        values.iter().copied().filter(|name| *name != "-g").collect()
    } else {
        values.to_vec()
    };
    let Some(signal) = signal(&call.words, &values) else { return Exit::unknown() };
    if signal.harmless {
        return Exit::silent();
    }
    if signal.targets.is_empty() {
        let mut words = call.words.iter();
        let mut whose = None;
        while let Some(word) = words.next() {
            if word.as_exact().is_some_and(|text| users.contains(&text)) {
                whose = words.next();
            }
        }
        let target = match whose.map(Value::as_exact) {
            Some(Some(user)) => Target::Process(format!("user {user}")),
            Some(None) => Target::Unknown,
            None if call.program == "killall5" => Target::Process("everything".to_owned()),
            None => return Exit::silent(),
        };
        machine.add(
            Draft::new(EffectKind::ProcessKill, target)
                .nature(Nature::Signal)
                .severity(Severity::Critical)
                .note("ends every process of a user"),
        );
        return Exit::silent();
    }
    for target in signal.targets {
        let draft = Draft::new(EffectKind::ProcessKill, process(target)).nature(Nature::Signal);
        let text = target.as_exact().unwrap_or_default();
        let is_everything =
            matches!(text, "." | ".*" | "" | "^" | "[a-z]" | "[a-z]*") && target.as_exact().is_some();
        machine.add(if is_everything {
            draft.severity(Severity::Critical).note("matches every process")
        } else if let Some((severity, note)) =
            roles::gravity(text.trim_start_matches('^').trim_end_matches('$'))
        {
            draft.severity(severity).note(note)
        } else {
            draft
        });
    }
    Exit::silent()
}

fn process(value: &Value) -> Target {
    value.as_exact().map_or(Target::Unknown, |text| Target::Process(text.to_owned()))
}

/// `ps`: the letter `e` among those without a dash shows the environment of each process, as `-E` does on macOS. Source: ps(1) of procps,
/// "To see every process" and "BSD syntax": the letters `o`, `O`, `k`, `p`, `q`, `t`, `U` take what stands behind them.
pub(crate) fn ps(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut takes_next = false;
    let mut shows = call.arguments.has(&["-E"]);
    for word in call.arguments.operands.iter().filter_map(Value::as_exact) {
        let is_value = std::mem::take(&mut takes_next);
        if is_value || !word.chars().all(|letter| letter.is_ascii_alphabetic()) {
            continue;
        }
        let letters = word.split(['o', 'O', 'k', 'p', 'q', 't', 'U']).next().unwrap_or(word);
        shows |= letters.contains('e');
        takes_next = word.len() == letters.len() + 1;
    }
    if shows {
        machine.add(
            Draft::new(EffectKind::SecretRead, Target::Unknown)
                .note("prints the environment of every process"),
        );
    }
    Exit::with(Output::Unknown)
}

/// `crontab`.
pub(crate) fn crontab(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let table = || Target::Service("crontab".to_owned());
    if arguments.has(&["-l"]) || arguments.has(&["-T"]) {
        return Exit::unknown();
    }
    if arguments.has(&["-r"]) {
        machine.add(Draft::new(EffectKind::Persistence, table()).note("changes what runs at set times"));
        machine.add(
            Draft::new(EffectKind::SystemModification, table())
                .severity(Severity::High)
                .irreversible()
                .note("removes every entry"),
        );
    } else if arguments.has(&["-e"]) {
        machine.add(
            Draft::new(EffectKind::Persistence, table()).possible().note("opens the table in an editor"),
        );
    } else if let Some(file) = arguments.operands.first() {
        if file.as_exact() != Some("-") {
            machine.read(file);
        }
        machine.add(Draft::new(EffectKind::Persistence, table()).note("replaces what runs at set times"));
    } else if call.input != Input::Inherited {
        machine.add(Draft::new(EffectKind::Persistence, table()).note("replaces what runs at set times"));
    }
    Exit::unknown()
}

/// `tmux`: commands for new panes run, keys sent may run.
pub(crate) fn tmux(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut text = Value::exact("");
    // A lone `;` stands between commands.
    for words in call.arguments.operands.split(|word| word.as_exact() == Some(";")) {
        text = text.followed_by(&tmux_command(machine, words));
    }
    if text.as_exact() != Some("") {
        machine.possibly(|machine| machine.run_text(&text, Input::Inherited));
    }
    Exit::unknown()
}

/// Carries out one command; answers what it types into a terminal.
fn tmux_command(machine: &mut Machine<'_>, words: &[Value]) -> Value {
    let nothing = Value::exact("");
    let Some((verb, rest)) = words.split_first() else { return nothing };
    let values = ["-s", "-n", "-t", "-c", "-x", "-y", "-e", "-F", "-f", "-l", "-p", "-b", "-N"];
    let value = |option: &str| {
        let at = rest.iter().position(|word| word.as_exact() == Some(option))?;
        rest.get(at + 1)?.as_exact()
    };
    match verb.as_exact().unwrap_or_default() {
        "kill-server" | "kill-session" | "kill-window" | "kill-pane" | "killp" | "killw" => {
            let target = value("-t").unwrap_or("tmux").to_owned();
            machine.add(Draft::new(EffectKind::ProcessKill, Target::Process(target)));
        }
        "new-session" | "new" | "new-window" | "neww" | "split-window" | "splitw" | "respawn-pane"
        | "respawn-window" | "popup" | "display-popup" => {
            let words = skip_options(rest, &values);
            run_as_text_or_words(machine, words);
        }
        "save-buffer" | "saveb" => {
            if let Some(file) = skip_options(rest, &["-b"]).first() {
                machine.write(file);
            }
        }
        "load-buffer" | "loadb" | "source-file" | "source" => {
            if let Some(file) = skip_options(rest, &["-b", "-t"]).first() {
                machine.read(file);
            }
        }
        "run-shell" | "run" | "if-shell" | "if" | "pipe-pane" | "pipep" => {
            if let Some(text) = skip_options(rest, &values).first() {
                machine.run_text(text, Input::Inherited);
            }
        }
        "send-keys" | "send" => {
            let keys = skip_options(rest, &["-t", "-N", "-c"]);
            let is_literal = rest
                .iter()
                .take(rest.len().saturating_sub(keys.len()))
                .any(|word| word.as_exact() == Some("-l"));
            return typed(keys, is_literal);
        }
        _ => {}
    }
    nothing
}

/// What keys make in the line of a terminal; those that leave the line end it (tmux(1), "send-keys").
fn typed(keys: &[Value], is_literal: bool) -> Value {
    keys.iter().fold(Value::exact(""), |line, key| {
        let meant = match key.as_exact() {
            Some(_) if is_literal => None,
            Some("Space") => Some(" "),
            Some("Tab" | "BTab" | "C-i") => Some(""),
            Some(
                "Enter" | "KPEnter" | "Escape" | "Up" | "Down" | "Left" | "Right" | "Home" | "End" | "PageUp"
                | "PageDown" | "BSpace" | "DC" | "IC",
            ) => Some("\n"),
            Some(text) if text.starts_with("C-") || text.starts_with("M-") || text.starts_with("S-") => {
                Some("\n")
            }
            Some(_) | None => None,
        };
        line.followed_by(&meant.map_or_else(|| key.clone(), Value::exact))
    })
}

/// One word is text for a shell, several are a command.
fn run_as_text_or_words(machine: &mut Machine<'_>, words: &[Value]) {
    match words {
        [] => {}
        [text] => {
            machine.run_text(text, Input::Inherited);
        }
        words => {
            machine.run_words(words, Input::Inherited);
        }
    }
}

/// `hyperfine`: every operand, and what prepares and cleans up, is text for a shell.
pub(crate) fn hyperfine(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    for file in arguments.values(&["--export-json", "--export-markdown", "--export-csv"]) {
        machine.write(file);
    }
    let before = arguments.values(&["-s", "--setup", "-p", "--prepare", "-c", "--cleanup"]);
    for text in before.chain(&arguments.operands) {
        machine.run_text(text, Input::Inherited);
    }
    Exit::unknown()
}

/// `entr`, `watchexec`, `nodemon`: a command that runs when files change. Watchers that only tell run nothing.
pub(crate) fn on_change(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let words = &call.arguments.operands;
    match call.program.as_str() {
        "fswatch" | "inotifywait" | "inotifywatch" | "modd" | "funzzy" | "guard" => {}
        "chokidar" | "onchange" => {
            if let Some(text) = arguments_command(call) {
                machine.run_text(&text, Input::Inherited);
            }
        }
        "hwatch" | "viddy" if words.len() == 1 => run_as_text_or_words(machine, words),
        _ if call.arguments.has(&["-s"]) && call.program == "entr" => {
            if let Some(text) = words.first() {
                machine.run_text(text, Input::Inherited);
            }
        }
        _ => run_as_text_or_words(machine, words),
    }
    Exit::unknown()
}

fn arguments_command(call: &Call) -> Option<Value> {
    let at = call.words.iter().position(|word| matches!(word.as_exact(), Some("-c" | "--command" | "--")))?;
    call.words.get(at + 1).cloned()
}
