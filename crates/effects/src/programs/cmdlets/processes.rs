//! Processes that a statement of PowerShell ends: `Get-Process node | Stop-Process`, `(Get-Process -Id 17).Kill()`.
//!
//! Sources: the reference of `Microsoft.PowerShell.Management`, and `System.Diagnostics.Process` of .NET.

use crate::effect::EffectKind;
use crate::interpreter::{Machine, Value};
use crate::programs::processes::{named_kill, unnamed_kill};

/// What ends processes, by a word of the statement.
const ENDERS: &[&str] = &["stop-process", "spps", "suspend-process", "debug-process"];
/// What lists processes.
const LISTERS: &[&str] = &["get-process", "gps"];
/// Behind which the names of processes stand.
const BEFORE_NAMES: &[&str] = &[
    "-name",
    "-processname",
    "get-process",
    "gps",
    "stop-process",
    "spps",
    "-eq",
    "-like",
    "-match",
    "-in",
    "-contains",
];
/// Behind which a number stands, or what comes to one.
const BEFORE_NUMBERS: &[&str] = &["-id", "-pid", "-inputobject"];

/// Adds the processes that a statement ends.
pub(super) fn end(machine: &mut Machine<'_>, statement: &str) {
    let lower = statement.to_ascii_lowercase();
    let is_between = |c: char| c.is_whitespace() || matches!(c, '|' | '{' | '}' | '(' | ')' | ',' | ';');
    let words: Vec<&str> = lower.split(is_between).filter(|word| !word.is_empty()).collect();
    let is_kill = lower.contains(".kill(")
        && (lower.contains("get-process")
            || lower.contains("diagnostics.process")
            || lower.contains("$_.kill("));
    // `kill` is another name of `Stop-Process`; what is piped into it are processes.
    let is_kill =
        is_kill || words.windows(2).any(|pair| matches!(pair, [of, "kill"] if LISTERS.contains(of)));
    if lower.contains("-whatif") || !(is_kill || words.iter().any(|word| ENDERS.contains(word))) {
        return;
    }
    let (mut names, mut is_chosen) = (Vec::new(), false);
    let mut before = "";
    for word in words {
        let plain = word.trim_matches(['"', '\'']);
        let asks_by_name = before.ends_with("getprocessesbyname") || BEFORE_NAMES.contains(&before);
        if BEFORE_NUMBERS.contains(&before) || before.ends_with("getprocessbyid") {
            is_chosen = true;
            if plain.chars().all(|c| c.is_ascii_digit()) {
                machine.effect(EffectKind::ProcessKill, &Value::exact(plain));
            }
        } else if asks_by_name && !word.starts_with('-') && !ENDERS.contains(&word) && word != "kill" {
            is_chosen = true;
            let is_number = plain.chars().all(|c| c.is_ascii_digit());
            if is_number {
                machine.effect(EffectKind::ProcessKill, &Value::exact(plain));
            } else if !plain.starts_with('$') && !BEFORE_NAMES.contains(&plain) && !is_filter(plain) {
                names.push(plain.to_owned());
            } else if is_filter(plain) {
                is_chosen = false;
            }
        }
        before = word;
    }
    for name in &names {
        machine.add(named_kill(name));
    }
    if names.is_empty() && !is_chosen {
        machine.add(unnamed_kill());
    }
}

/// Whether a word is the next cmdlet of the pipeline, not the name of a process.
fn is_filter(word: &str) -> bool {
    matches!(
        word,
        "where-object"
            | "where"
            | "?"
            | "foreach-object"
            | "foreach"
            | "%"
            | "sort-object"
            | "select-object"
            | "select"
            | ".kill"
    ) || word.starts_with('.')
}
