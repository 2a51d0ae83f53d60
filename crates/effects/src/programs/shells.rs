//! Interpreters that run what comes in on their standard input.

use crate::interpreter::{Call, Exit, Input, Machine, Value};

/// A shell that runs its standard input.
pub(crate) fn input(machine: &mut Machine<'_>, call: &Call) -> Exit {
    machine.run_input(&call.input)
}

/// An interpreter of another language that runs its standard input.
pub(crate) fn code_input(machine: &mut Machine<'_>, call: &Call) -> Exit {
    match &call.input {
        Input::Inherited => {
            machine.left_open(&call.program);
            Exit::unknown()
        }
        Input::Network(url) => {
            machine.runs_from_network(url);
            Exit::unknown()
        }
        Input::Text(text) => super::code(machine, call, text),
        Input::Local(place)
            if machine.code_coming_in(place).is_none() && machine.is_written_here_unread(place) =>
        {
            machine.unread(format!(
                "what `{}` reads and runs was written by this command, and is not known",
                call.program
            ));
            Exit::unknown()
        }
        Input::Local(place) => {
            let text = machine.code_coming_in(place).unwrap_or(Value::Unknown);
            super::code(machine, call, &text)
        }
        Input::Secret(_) => super::code(machine, call, &Value::Unknown),
        Input::Unknown => {
            machine.unread(format!("what `{}` reads and runs is not known", call.program));
            Exit::unknown()
        }
    }
}
