//! Files that come from devices, and versions of programs that run others.

use crate::interpreter::{Call, Exit, Machine, Value};

use super::containers::write_into;

/// `adb pull`: the last of several names is where the files come to (developer.android.com, "Android Debug Bridge").
pub(crate) fn device_pull(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut names: Vec<Value> =
        call.arguments.operands.iter().filter(|word| !word.known_start().starts_with('-')).cloned().collect();
    let place = if names.len() > 1 { names.pop() } else { None };
    let place = place.unwrap_or_else(|| Value::exact("."));
    for name in names {
        write_into(machine, &name, &place);
    }
    Exit::unknown()
}

/// `nvm run`: everything behind the version is for Node (`nvm help`, 0.40).
pub(crate) fn run_node(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let behind = call.words.iter().skip_while(|word| word.as_exact() != Some("run")).skip(1);
    let behind = behind.skip_while(|word| word.as_exact() == Some("--silent"));
    let mut words = vec![Value::exact("node")];
    for (at, word) in behind.enumerate() {
        if at > 0 || !word.as_exact().is_some_and(is_version) {
            words.push(word.clone());
        }
    }
    if words.len() == 1 {
        return Exit::unknown();
    }
    machine.run_words(&words, call.input.clone())
}

/// Whether a word names a version of Node: a number, or one of the names for them.
fn is_version(word: &str) -> bool {
    let number = word.strip_prefix('v').unwrap_or(word);
    number.starts_with(|letter: char| letter.is_ascii_digit())
        && number.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
        || word.starts_with("lts/")
        || word.starts_with("iojs")
        || matches!(word, "node" | "default" | "stable" | "unstable" | "system" | "--lts" | "--latest")
}
