//! Files of instructions that a program carries out: makefiles, scripts of a project, programs for `sed`.

use crate::interpreter::{Input, Machine, Output, Value};
use crate::path::AbsolutePath;

/// The text of a file of instructions. `None` where it is not there, or cannot be read: that nobody looked at what is carried out is said,
/// as it is of a script.
pub(super) fn instructions(machine: &mut Machine<'_>, path: &AbsolutePath) -> Option<String> {
    match machine.text(path) {
        Value::Exact(text) => Some(text),
        Value::AnyOf(_) | Value::Glob(_) | Value::Between { .. } | Value::Unknown => {
            not_read(machine, path);
            None
        }
    }
}

/// Says that what a file holds is carried out and was not read, where the file is there.
pub(super) fn not_read(machine: &mut Machine<'_>, path: &AbsolutePath) {
    if machine.nothing_is_at(path) {
        return;
    }
    if let Output::Network(url) = machine.peek(&Value::exact(path.as_str())) {
        machine.runs_from_network(&url);
        return;
    }
    let name = path.name().unwrap_or(path.as_str()).to_owned();
    machine.unread(format!("`{name}` cannot be read, and what it says is carried out"));
}

/// The text of instructions that come in. `None` where it is not known, which is said.
pub(super) fn instructions_coming_in(machine: &mut Machine<'_>, input: &Input) -> Option<String> {
    match input {
        Input::Text(Value::Exact(text)) => return Some(text.clone()),
        Input::Network(url) => machine.runs_from_network(url),
        Input::Text(_) | Input::Local(_) | Input::Secret(_) | Input::Unknown => {
            machine.unread("what comes in is not known, and what it says is carried out");
        }
        // Somebody types it.
        Input::Inherited => {}
    }
    None
}
