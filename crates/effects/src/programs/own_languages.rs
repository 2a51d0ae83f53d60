//! Programs that are no interpreters by trade and read a language of their own all the same: typesetters, viewers, database clients, provers. What
//! it can do to files and what it runs stands in their words and in what comes in.
//!
//! | module | holds |
//! |---|---|
//! | `clients` | commands of database clients that reach the machine of the user |
//! | `codes` | options whose value is code in a language |
//! | `consoles` | consoles of frameworks and languages |
//! | `macros` | macro processors, roff, templates |
//! | `pages` | TeX, PostScript, and the prefixes of ImageMagick |

mod clients;
mod codes;
mod consoles;
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
    macros::run(machine, call, program);
    pages::run(machine, call, program);
    clients::run(machine, call, program);
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
    let files = call.arguments.operands.iter().filter_map(|file| {
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
