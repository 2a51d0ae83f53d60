//! Programs that are no interpreters by trade and read a language of their own all the same: typesetters, viewers, database clients, provers. What
//! it can do to files and what it runs stands in their words and in what comes in.
//!
//! | module | holds |
//! |---|---|
//! | `clients` | commands of database clients that reach the machine of the user |
//! | `codes` | options whose value is code in a language |
//! | `consoles` | consoles of frameworks and languages |
//! | `included` | credentials that become a part of what is printed |
//! | `macros` | macro processors, roff, templates |
//! | `pages` | TeX, PostScript, and the prefixes of ImageMagick |

mod clients;
mod codes;
mod consoles;
mod included;
mod macros;
mod pages;

use crate::interpreter::{Call, Input, Machine, Value};

/// The greatest length of a text that is looked through, in bytes (ours).
const TEXT: usize = 256 * 1024;

/// Adds what the words and the input of a call say in the language of its program.
pub(crate) fn own_languages(machine: &mut Machine<'_>, call: &Call) {
    let program = call.program.split(' ').next().unwrap_or_default();
    codes::run(machine, call, program);
    consoles::run(machine, call, program);
    included::run(machine, call, program);
    macros::run(machine, call, program);
    pages::run(machine, call, program);
    clients::run(machine, call, program);
}

/// Interpreters that read code from their input where no file is named.
const READERS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "fish", "python", "python2", "python3", "node", "nodejs", "ruby",
    "perl", "php", "lua", "deno", "bun",
];

/// Follows what comes in to an interpreter among the words of a call of which nothing else was run: hundreds of programs run another one, and each
/// is called otherwise (`ddtrace-run python -`, `setuidgid dev sh`, `torchrun python`).
pub(crate) fn handed_input(machine: &mut Machine<'_>, call: &Call) {
    if !matches!(call.input, Input::Text(_)) || READERS.contains(&call.program.as_str()) {
        return;
    }
    let Some(at) = place_of_reader(&call.words) else { return };
    let words = call.words.get(at..).unwrap_or_default().to_vec();
    machine.possibly(|machine| machine.run_words(&words, call.input.clone()));
}

/// Where among words an interpreter stands that reads code from its input: nothing but options is behind it.
pub(crate) fn place_of_reader(words: &[Value]) -> Option<usize> {
    let is_reader = |word: &Value| {
        let name = word.as_exact().map(|text| text.rsplit('/').next().unwrap_or(text));
        name.is_some_and(|name| READERS.contains(&name))
    };
    let at = words.iter().position(is_reader)?;
    let mut behind = words.iter().skip(at + 1);
    behind.all(|word| word.as_exact().is_some_and(|text| text.starts_with('-'))).then_some(at)
}

/// The texts that a call is given: its words and what comes in.
fn texts(call: &Call) -> Vec<String> {
    let input = match &call.input {
        Input::Text(text) => text.as_exact(),
        Input::Inherited | Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown => None,
    };
    let words = call.words.iter().filter_map(Value::as_exact);
    words.chain(input).filter(|text| text.len() <= TEXT).map(str::to_owned).collect()
}

/// The texts of the files that a call names.
fn sources(machine: &Machine<'_>, call: &Call) -> Vec<String> {
    // Of a program that is in no catalogue it is not known which words are operands.
    let is_operand = |word: &&Value| !word.known_start().starts_with('-');
    let operands: Vec<&Value> = match call.arguments.operands.as_slice() {
        [] => call.words.iter().filter(is_operand).collect(),
        operands => operands.iter().collect(),
    };
    let files = operands.into_iter().filter_map(|file| {
        let found = machine.one_path_through(file)?;
        machine.text(&found).as_exact().filter(|text| text.len() <= TEXT).map(str::to_owned)
    });
    files.collect()
}

/// Runs text of a shell that such a language may run.
fn may_run(machine: &mut Machine<'_>, command: &str) {
    let command = command.trim();
    if !command.is_empty() {
        machine.possibly(|machine| machine.run_text(&Value::exact(command), Input::Inherited));
    }
}

/// A path as these programs read it: `~` is the home directory.
fn path(machine: &Machine<'_>, text: &str) -> Value {
    let home = &machine.world().place().home;
    match text.strip_prefix("~/") {
        Some(rest) => Value::Exact(format!("{home}/{rest}")),
        None => Value::exact(text),
    }
}
