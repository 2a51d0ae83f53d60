//! The orders that `pdb` is given, by an option, on its standard input or in `.pdbrc`, and the Python in them (Python 3.13, "pdb").

use crate::interpreter::{Call, Exit, Input, Machine, Output, Value};
use crate::programs::shells;

/// Runs the code in the orders of a debugger.
pub(super) fn debugged(machine: &mut Machine<'_>, call: &Call, operands: &[Value]) {
    let mut words = operands.iter();
    let mut orders = Vec::new();
    while let Some(word) = words.next() {
        let start = word.known_start();
        let value = match start.strip_prefix("--command=") {
            Some(attached) => Some(Value::exact(attached)),
            None if matches!(start.as_str(), "-c" | "--command") => words.next().cloned(),
            None if start.starts_with("-c") && !start.starts_with("--") => start.get(2..).map(Value::exact),
            None => None,
        };
        orders.extend(value);
    }
    let home = machine.world().place().home.join(".pdbrc");
    for file in [home.as_str(), ".pdbrc"] {
        if let Output::Text(text) = machine.peek(&Value::exact(file)) {
            orders.push(text);
        }
    }
    match &call.input {
        Input::Text(text) => orders.push(text.clone()),
        Input::Local(place) => orders.push(machine.code_coming_in(place).unwrap_or(Value::Unknown)),
        Input::Network(url) => machine.runs_from_network(url),
        Input::Inherited | Input::Secret(_) | Input::Unknown => {}
    }
    let mut code = String::new();
    let mut reads_on = false;
    for order in orders {
        let Some(text) = order.as_exact() else {
            machine.opaque("a command for the debugger is not known");
            continue;
        };
        for part in text.lines().flat_map(|line| line.split(";;")) {
            reads_on |= part.trim() == "interact";
            for statement in code_in(part.trim()) {
                code.push_str(statement);
                code.push('\n');
            }
        }
    }
    if !code.is_empty() {
        crate::programs::code(machine, call, &Value::Exact(code));
    }
    if reads_on && call.input != Input::Inherited {
        let _: Exit = shells::code_input(machine, call);
    }
}

/// The Python in one order: what is no order at all is a statement; some orders work out an expression that is given to them.
fn code_in(order: &str) -> Vec<&str> {
    if let Some(statement) = order.strip_prefix('!') {
        return vec![statement.trim()];
    }
    let end = order.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(order.len());
    let (name, rest) = order.split_at(end);
    let rest = rest.trim();
    // `p = 1` and `c.x()` are statements in some versions and orders in others.
    let is_assigned = rest.starts_with('=') && !rest.starts_with("==");
    if is_assigned || name.is_empty() && !order.is_empty() {
        return vec![order];
    }
    match name {
        "p" | "pp" | "exec" | "whatis" | "source" | "display" | "debug" => vec![rest],
        // `break module.function, condition`: the first part is worked out where it is not a line.
        "b" | "break" | "tbreak" => {
            let (place, condition) = rest.split_once(',').unwrap_or((rest, ""));
            let is_place = place
                .trim()
                .rsplit(':')
                .next()
                .is_some_and(|line| !line.is_empty() && line.trim().chars().all(|c| c.is_ascii_digit()));
            let whole = if is_place { condition } else { rest };
            if whole.trim().is_empty() { Vec::new() } else { vec![whole.trim()] }
        }
        "condition" => {
            vec![rest.split_once(char::is_whitespace).map_or("", |(_, condition)| condition.trim())]
        }
        // `alias NAME ORDER`
        "alias" => {
            rest.split_once(char::is_whitespace).map_or_else(Vec::new, |(_, body)| code_in(body.trim()))
        }
        name if ORDERS.contains(&name) => Vec::new(),
        _ => vec![order],
    }
}

/// Orders of `pdb` that work out nothing of what is given to them.
const ORDERS: &[&str] = &[
    "",
    "h",
    "help",
    "w",
    "where",
    "bt",
    "d",
    "down",
    "u",
    "up",
    "cl",
    "clear",
    "disable",
    "enable",
    "ignore",
    "s",
    "step",
    "n",
    "next",
    "unt",
    "until",
    "r",
    "return",
    "rv",
    "c",
    "cont",
    "continue",
    "j",
    "jump",
    "l",
    "list",
    "ll",
    "longlist",
    "a",
    "args",
    "undisplay",
    "unalias",
    "commands",
    "end",
    "silent",
    "exceptions",
    "interact",
    "q",
    "quit",
    "exit",
    "run",
    "restart",
    "retval",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_orders_is_found() {
        for (order, code) in [
            ("!x = 1", vec!["x = 1"]),
            ("p f(1)", vec!["f(1)"]),
            ("whatis f()", vec!["f()"]),
            ("source f()", vec!["f()"]),
            ("display f()", vec!["f()"]),
            ("b 3, f()", vec!["f()"]),
            ("b a.py:3, f()", vec!["f()"]),
            ("tbreak f()", vec!["f()"]),
            ("break f, g(1)", vec!["f, g(1)"]),
            ("condition 1 f()", vec!["f()"]),
            ("alias z f(%1)", vec!["f(%1)"]),
            ("alias z p f(%1)", vec!["f(%1)"]),
            ("debug f()", vec!["f()"]),
            ("alias z __f(1)", vec!["__f(1)"]),
            ("import os", vec!["import os"]),
            ("n = f()", vec!["n = f()"]),
            ("os.remove('x')", vec!["os.remove('x')"]),
            ("continue", vec![]),
            ("b 3", vec![]),
            ("l 1, 5", vec![]),
            ("run -x y", vec![]),
        ] {
            assert_eq!(code_in(order), code, "{order}");
        }
    }
}
