//! Ending processes as on Windows: `taskkill`, `wmic`, and the cmdlets of PowerShell.

use super::ending::pattern_kill;
use super::patterns::Comparison;
use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Machine, Value};
use crate::nature::Nature;

/// The end of processes of a name in which `*` and `?` stand for others, and `.exe` says nothing.
pub(crate) fn named_kill(name: &str) -> Draft {
    let plain = name.trim_matches(['"', '\'', '%', ' ']).trim_end_matches(".exe");
    let pattern: String = plain
        .chars()
        .map(|c| match c {
            '*' | '%' => ".*".to_owned(),
            '?' => ".".to_owned(),
            c => c.to_string(),
        })
        .collect();
    let by =
        if pattern.contains(".*") || name.contains('%') { Comparison::Names } else { Comparison::WholeNames };
    pattern_kill(&pattern, by).nature(Nature::Signal)
}

/// The end of processes that are chosen by nothing that is known.
pub(crate) fn unnamed_kill() -> Draft {
    Draft::new(EffectKind::ProcessKill, Target::Process("every process that is listed".to_owned()))
        .nature(Nature::Signal)
        .severity(Severity::High)
        .note("which of all processes are ended is not known")
}

/// `taskkill /F /IM NAME`, `taskkill /PID NUMBER`, `tskill NUMBER-OR-NAME`; others take ports or names as they are.
pub(crate) fn taskkill(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut words = call.words.iter();
    let mut found = false;
    while let Some(word) = words.next() {
        let option = word.known_start().to_ascii_lowercase();
        match option.trim_start_matches(['/', '-']) {
            "im" | "pid" if option.starts_with(['/', '-']) => {
                found = true;
                let value = words.next().cloned().unwrap_or(Value::Unknown);
                kill_one(machine, &value);
            }
            "fi" if option.starts_with(['/', '-']) => {
                let filter = words.next().map(Value::known_start).unwrap_or_default();
                if let Some((_, name)) = filter.to_ascii_lowercase().split_once("imagename eq ") {
                    found = true;
                    machine.add(named_kill(name));
                }
            }
            "s" | "u" | "p" if option.starts_with(['/', '-']) && option.len() == 2 => {
                words.next();
            }
            _ if option.starts_with(['/', '-']) => {}
            _ => {
                found = true;
                kill_one(machine, word);
            }
        }
    }
    if !found && !call.words.is_empty() && call.program == "taskkill" && !asks_for_help(call) {
        machine.add(unnamed_kill());
    }
    Exit::unknown()
}

fn asks_for_help(call: &Call) -> bool {
    call.words.iter().all(|word| matches!(word.as_exact(), Some("/?" | "-?" | "-h" | "--help" | "--version")))
}

fn kill_one(machine: &mut Machine<'_>, value: &Value) {
    match value.as_exact() {
        Some(number) if number.chars().all(|c| c.is_ascii_digit()) => {
            let target = Target::Process(number.to_owned());
            machine.add(Draft::new(EffectKind::ProcessKill, target).nature(Nature::Signal));
        }
        Some(name) => machine.add(named_kill(name)),
        None => machine.effect(EffectKind::ProcessKill, value),
    }
}

/// `wmic process where name="x" delete`, `... call terminate`.
pub(crate) fn wmic(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let said: Vec<String> = call.words.iter().map(Value::known_start).collect();
    let said = said.join(" ").to_ascii_lowercase();
    let ends = said.contains("process") && (said.contains("delete") || said.contains("terminate"));
    if !ends {
        return Exit::unknown();
    }
    let named = ["name", "commandline", "executablepath"].iter().find_map(|field| {
        let (_, behind) = said.split_once(field)?;
        let behind = behind.trim_start();
        let value = behind.strip_prefix('=').or_else(|| behind.strip_prefix("like"))?.trim_start();
        let end = value.find([' ', ')']).unwrap_or(value.len());
        value.get(..end).map(str::to_owned)
    });
    let number = said.split_once("processid=").map(|(_, behind)| behind.trim_matches(['\'', '"']).to_owned());
    match (named, number) {
        (Some(name), _) => machine.add(named_kill(&name)),
        (None, Some(number)) => {
            let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
            machine.effect(EffectKind::ProcessKill, &Value::Exact(digits));
        }
        (None, None) => machine.add(unnamed_kill()),
    }
    Exit::unknown()
}
