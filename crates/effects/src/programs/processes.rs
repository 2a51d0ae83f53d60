//! Ending processes, running things later, and programs that run a command in a special way.
//!
//! | module | holds |
//! |---|---|
//! | `ending` | ending processes |
//! | `limits` | holding processes up: what looks into them, and what they may use |
//! | `of_windows` | ending processes as on Windows |
//! | `patterns` | what a pattern of processes fits |
//! | `roles` | which processes the machine needs |

mod ending;
mod limits;
mod of_windows;
mod patterns;
mod roles;

pub(crate) use ending::{fuser, kill, kill_by_name, listed_kill, merge_counted, numbered_kill};
pub(crate) use limits::{attach, attached, limited, prlimit, renice, snice, throttle};
pub(crate) use of_windows::{named_kill, taskkill, unnamed_kill, wmic};

use super::containers::skip_options;
use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Output, Value};

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
    // A server with a socket of its own holds what was started there.
    let is_own = call.arguments.has(&["-L", "-S"]);
    // A lone `;` stands between commands.
    for words in call.arguments.operands.split(|word| word.as_exact() == Some(";")) {
        let verb = words.first().and_then(Value::as_exact).unwrap_or_default();
        let spares_one = verb == "kill-session" && words.iter().any(|word| word.as_exact() == Some("-a"));
        if !is_own && (verb == "kill-server" || spares_one) {
            let target = Target::Process("tmux".to_owned());
            let all = Draft::new(EffectKind::ProcessKill, target).severity(Severity::High);
            machine.add(all.note("ends the terminals of everything else that runs in it"));
            continue;
        }
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
