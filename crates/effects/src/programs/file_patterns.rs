//! Programs that take files away by patterns which they read themselves: `del 'dist/**'`, `rimraf -g 'dist/*'` (del-cli 6, rimraf 6).

use crate::effect::Depth;
use crate::interpreter::{Call, Exit, Machine, Value};

/// `del`, `del-cli`, `premove`: every word is a pattern.
pub(crate) fn removed_patterns(machine: &mut Machine<'_>, call: &Call) -> Exit {
    if !call.arguments.has(&["-d", "--dry-run"]) {
        remove(machine, &call.arguments.operands);
    }
    Exit::unknown()
}

/// `rimraf`: words are patterns where an option says so.
pub(crate) fn rimraf(machine: &mut Machine<'_>, call: &Call) -> Exit {
    if call.arguments.has(&["-g", "--glob"]) && !call.arguments.has(&["-G", "--no-glob"]) {
        remove(machine, &call.arguments.operands);
    } else {
        for word in &call.arguments.operands {
            machine.delete(word, Depth::Recursive);
        }
    }
    Exit::unknown()
}

fn remove(machine: &mut Machine<'_>, words: &[Value]) {
    // What begins so is left out.
    for word in words.iter().filter(|word| !word.known_start().starts_with('!')) {
        match word.as_exact() {
            Some(text) if text.contains(['*', '?', '[']) => {
                machine.delete(&Value::Glob(text.to_owned()), Depth::Recursive);
            }
            Some(_) | None => machine.delete(word, Depth::Recursive),
        }
    }
}
