//! PowerShell and `cmd`, which agents start on other systems too: what removes files, and the commands that stand in the text.

use crate::effect::Depth;
use crate::interpreter::filters::decoded_base64;
use crate::interpreter::{Call, Exit, Input, Machine, Value};

/// Names under which `cmd` removes files.
const REMOVERS: &[&str] = &["rm", "del", "erase", "rd", "rmdir"];

/// `pwsh -Command ...`, `powershell -EncodedCommand ...`: options may be shortened and are written in any case.
pub(crate) fn powershell(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut words = call.words.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.as_exact() else { continue };
        let Some(option) = text.strip_prefix(['-', '/']).map(str::to_ascii_lowercase) else {
            if text == "-" {
                continue;
            }
            // Without an option the words are a script or a command.
            if text.to_ascii_lowercase().ends_with(".ps1") {
                let code = machine.read(word).into_text();
                return follow_powershell(machine, call, &code);
            }
            return follow_powershell(machine, call, word);
        };
        let is = |whole: &str, least: usize| option.len() >= least && whole.starts_with(&option);
        if is("command", 1) {
            let rest: Vec<&str> = words.filter_map(Value::as_exact).collect();
            // about_Pwsh: "If the value of Command is -, the command text is read from standard input."
            if rest == ["-"] {
                return follow_input(machine, call);
            }
            return follow_powershell(machine, call, &Value::Exact(rest.join(" ")));
        }
        if is("encodedcommand", 1) || option == "ec" {
            // Two bytes a letter.
            let decoded = words
                .next()
                .and_then(Value::as_exact)
                .and_then(decoded_base64)
                .map_or(Value::Unknown, |text| Value::Exact(text.replace('\0', "")));
            machine.unread("the command is written so that nobody can read it");
            return follow_powershell(machine, call, &decoded);
        }
        if is("file", 1) {
            return words.next().map_or_else(Exit::unknown, |file| {
                if file.as_exact() == Some("-") {
                    return follow_input(machine, call);
                }
                let code = machine.read(file).into_text();
                follow_powershell(machine, call, &code)
            });
        }
        if is("executionpolicy", 2) || is("workingdirectory", 1) || is("configurationname", 6) {
            words.next();
        }
    }
    follow_input(machine, call)
}

/// What comes in is carried out line by line.
fn follow_input(machine: &mut Machine<'_>, call: &Call) -> Exit {
    match &call.input {
        Input::Text(text) => follow_powershell(machine, call, text),
        Input::Inherited | Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown => {
            super::shells::code_input(machine, call)
        }
    }
}

/// `cmd /C ...`, also with the command attached.
pub(crate) fn cmd(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut words = call.words.iter().filter_map(Value::as_exact);
    while let Some(word) = words.next() {
        let start: String = word.chars().take(2).collect::<String>().to_ascii_lowercase();
        if matches!(start.as_str(), "/c" | "/k" | "-c") {
            let attached = word.get(2..).unwrap_or_default();
            let rest: Vec<&str> =
                std::iter::once(attached).chain(words).filter(|word| !word.is_empty()).collect();
            return follow(machine, call, &Value::Exact(rest.join(" ")));
        }
    }
    super::shells::code_input(machine, call)
}

fn follow_powershell(machine: &mut Machine<'_>, call: &Call, text: &Value) -> Exit {
    if let Some(text) = text.as_exact() {
        super::cmdlets::follow(machine, &without_comments(text));
    }
    let code = text.as_exact().map_or_else(|| text.clone(), |text| Value::Exact(without_comments(text)));
    super::code(machine, call, &code)
}

fn follow(machine: &mut Machine<'_>, call: &Call, text: &Value) -> Exit {
    if let Some(text) = text.as_exact() {
        for statement in without_comments(text).split([';', '|', '&', '\n', '{', '}']) {
            remove(machine, statement);
        }
    }
    let code = text.as_exact().map_or_else(|| text.clone(), |text| Value::Exact(without_comments(text)));
    super::code(machine, call, &code)
}

/// The text without `<# ... #>`.
fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once("<#") {
        kept.push_str(before);
        rest = inside.split_once("#>").map_or("", |(_, behind)| behind);
    }
    kept.push_str(rest);
    kept
}

/// The files that a statement removes, when it is one that does.
fn remove(machine: &mut Machine<'_>, statement: &str) {
    let mut words = statement.split_whitespace();
    let Some(name) = words.next().map(|word| word.trim_matches(['"', '\'', '(']).to_ascii_lowercase()) else {
        return;
    };
    if !REMOVERS.contains(&name.as_str()) {
        return;
    }
    let home = machine.world().place().home.as_str().to_owned();
    for word in words.filter(|word| !word.starts_with(['-', '/']) || word.len() > 3 && word.starts_with('/'))
    {
        let mut path = word.trim_matches(['"', '\'', ',', ')']).to_owned();
        for variable in ["$env:USERPROFILE", "$env:HOME", "${HOME}", "$HOME", "%USERPROFILE%", "~"] {
            if let Some(rest) = path.strip_prefix(variable) {
                path = format!("{home}{}", rest.replace('\\', "/"));
                break;
            }
        }
        let path = if path.contains(['*', '?']) { Value::Glob(path) } else { Value::Exact(path) };
        machine.possibly(|machine| machine.delete(&path, Depth::Recursive));
    }
}
