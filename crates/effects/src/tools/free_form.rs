//! Tools of clients that are given a text and no object of fields: code of JavaScript that calls the other tools.
//!
//! Source: Codex, the declarations of its tools `exec` ("Run JavaScript code to orchestrate/compose tool calls") and `js_repl`; the first has no
//! Node, the second does.

use std::collections::HashSet;

use checkrein_protocol::folded;
use checkrein_shell::quoted;
use serde_json::Value as Json;

use super::call::texts_within;
use crate::action::Action;

/// The other tools as the code of such a tool finds them: what names each of them in it, and what it does.
const AROUND: &[(&str, &str, &str)] = &[
    ("tools", "exec_command", "(a) => child_process.execSync(a.cmd)"),
    ("tools", "shell_command", "(a) => child_process.execSync(a.command)"),
    ("tools", "local_shell", "(a) => child_process.execFileSync(a.command[0], a.command.slice(1))"),
    ("tools", "shell", "(a) => child_process.execFileSync(a.command[0], a.command.slice(1))"),
    ("codex", "tool", "(name, a) => child_process.execSync(a.cmd)"),
];
/// Functions that only show something.
const SHOWING: &str =
    "const text = (a) => a; const notify = (a) => a; const image = (a) => a; const audio = (a) => a;\n";
/// What stands in code that calls tools, and in no line of a shell.
const OF_CODE: &[&str] = &["tools.", "tools[", "ALL_TOOLS", "await ", "// @exec", "text("];

/// The command lines that run the code of such a tool; none where it is another one.
pub(super) fn shell_texts(action: &Action) -> Vec<String> {
    let is_code: fn(&str) -> bool = match folded(action.tool.as_str()).as_str() {
        "jsrepl" => |_| true,
        "exec" => |text| OF_CODE.iter().any(|part| text.contains(part)),
        _ => return Vec::new(),
    };
    let texts = match action.input.as_str() {
        Some(text) => vec![text],
        None => texts_within(&action.input, &|_| true),
    };
    let line = |text: &str| format!("node -e {}", quoted(&format!("{}{SHOWING}{text}", around(text))));
    texts.into_iter().filter(|text| is_code(text)).map(line).collect()
}

/// The tools that a text of code names: of one that it does not call nobody knows what it would be given.
fn around(text: &str) -> String {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let names: HashSet<&str> = text.split(|letter: char| !is_part(letter)).collect();
    let mut found = String::new();
    for holder in ["tools", "codex"] {
        let of_holder = AROUND.iter().filter(|(of, name, _)| *of == holder && names.contains(name));
        let members: Vec<String> = of_holder.map(|(_, name, does)| format!("{name}: {does}")).collect();
        if names.contains(holder) && !members.is_empty() {
            found.extend(["const ", holder, " = { ", &members.join(", "), " }; "]);
        }
    }
    if found.is_empty() { found } else { format!("const child_process = require('child_process'); {found}") }
}

/// The text of a tool that is given nothing else.
pub(super) fn only_text(input: &Json) -> Option<&str> {
    match input {
        Json::String(text) => Some(text),
        Json::Object(fields) if fields.len() == 1 => fields.get("input").and_then(Json::as_str),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => None,
    }
}
