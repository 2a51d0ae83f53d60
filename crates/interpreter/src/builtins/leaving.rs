//! Built-ins that go elsewhere: `exit`, `return`, `break`, `continue`; and where they do not.

use crate::{Done, Exit, Flow, Machine, Status, Value};

/// Runs one of them.
pub(super) fn run(machine: &mut Machine<'_>, name: &str, words: &[Value]) -> Done {
    machine.list_command(name, words);
    let words = match words.split_first() {
        Some((first, rest)) if first.as_exact() == Some("--") => rest,
        _ => words,
    };
    match name {
        // Only a login shell has it. Others say so and go on.
        "logout" => machine.perhaps_leave(Flow::Exit, status(machine, words)),
        // bash shows what it is for, or says that it is no number, and goes on. Where there are too many words it drops the rest of the line, and
        // goes on with the next one.
        "exit"
            if words.len() > 1
                || words.first().is_some_and(|word| !word.as_exact().is_some_and(is_number)) =>
        {
            machine.perhaps_leave(Flow::Exit, status(machine, words))
        }
        "exit" => Done::leaving(Flow::Exit, status(machine, words)),
        "return" => back(machine, words),
        "break" => out_of_loop(machine, words, Flow::Break),
        _ => out_of_loop(machine, words, Flow::Continue),
    }
}

/// `return`, which outside functions and sourced files some shells take for `exit`, and bash for nothing.
fn back(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let status = status(machine, words);
    if machine.shell.returns == 0 {
        return machine.perhaps_leave(Flow::Exit, status);
    }
    match words {
        [] => Done::leaving(Flow::Return, status),
        [number] if number.as_exact().is_some_and(is_number) => Done::leaving(Flow::Return, status),
        // bash returns when it is no number, and ends when there are too many; others end.
        [_] => machine.perhaps_leave(Flow::Return, status),
        _ => machine.perhaps_leave(Flow::Exit, status),
    }
}

/// `break` and `continue`, which do nothing where there is no loop.
fn out_of_loop(machine: &mut Machine<'_>, words: &[Value], flow: fn(u32) -> Flow) -> Done {
    let loops = machine.shell.loops;
    if loops == 0 {
        return if machine.shell.left_loops {
            // Some shells leave the subshell.
            machine.perhaps_leave(Flow::Exit, Status::Success)
        } else {
            Done::next(Exit { status: Status::Open, ..Exit::success() })
        };
    }
    let levels = match words {
        [] => Some(1),
        [number] => number.as_exact().and_then(|text| text.parse::<u32>().ok()).filter(|levels| *levels > 0),
        _ => None,
    };
    match levels {
        Some(levels) if levels > loops && machine.shell.left_loops => {
            // Some shells count the loops around the subshell too, and leave it.
            machine.perhaps_ends();
            Done::leaving(flow(loops), Status::Success)
        }
        Some(levels) => Done::leaving(flow(levels.min(loops)), Status::Success),
        None => machine.perhaps_leave(Flow::Break(loops), Status::Failure),
    }
}

fn status(machine: &Machine<'_>, words: &[Value]) -> Status {
    match words.first() {
        None => machine.shell.last_status,
        Some(word) => match word.as_exact() {
            Some("0") => Status::Success,
            // What is no number counts as a failure; others are taken by their last eight bits.
            Some(text) => match text.parse::<i64>() {
                Ok(number) if number.rem_euclid(256) == 0 => Status::Success,
                Ok(_) | Err(_) => Status::Failure,
            },
            None => Status::Open,
        },
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<i64>().is_ok()
}
