//! Ending processes, running things later, and programs that run a command in a special way.
//!
//! | module | holds |
//! |---|---|
//! | `ending` | ending processes |
//! | `limits` | holding processes up: what looks into them, and what they may use |
//! | `of_windows` | ending processes as on Windows |
//! | `patterns` | what a pattern of processes fits |
//! | `roles` | which processes the machine needs |
//! | `terminals` | `tmux` |

mod ending;
mod limits;
mod of_windows;
mod patterns;
mod roles;
mod terminals;

pub(crate) use ending::{
    HELD_UP, fuser, kill, kill_by_name, listed_kill, merge_counted, numbered_kill, suspended,
};
pub(crate) use limits::{attach, attached, limited, prlimit, renice, snice, throttle};
pub(crate) use of_windows::{named_kill, taskkill, unnamed_kill, wmic};
pub(crate) use terminals::tmux;

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
        "chokidar" => {
            if let Some(text) = arguments_command(call) {
                machine.run_text(&text, Input::Inherited);
            }
        }
        // air 1.61, `air --help`: keys of its configuration.
        "air" => {
            let keys = ["cmd", "pre_cmd", "post_cmd", "bin", "full_bin"];
            for (place, word) in call.words.iter().enumerate() {
                let Some(text) = word.as_exact() else { continue };
                let (name, value) =
                    text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
                let key = name.trim_start_matches('-').strip_prefix("build.");
                if key.is_some_and(|key| keys.contains(&key)) {
                    let given = value.map(Value::exact).or_else(|| call.words.get(place + 1).cloned());
                    if let Some(command) = given {
                        machine.run_text(&command, Input::Inherited);
                    }
                }
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
