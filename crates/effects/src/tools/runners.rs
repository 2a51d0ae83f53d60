//! What tools run that take a program with its arguments, or code in a language, by the names of their fields.

use serde_json::Value as Json;

use super::call::text_of;
use checkrein_shell::quoted;

use super::client_tools::command_text;

/// Fields that hold a program where its arguments stand in another one.
const PROGRAMS: &[&str] = &["program", "executable", "binary", "command", "cmd", "file"];
/// Fields that hold its arguments.
const ARGUMENTS: &[&str] = &["args", "arguments", "argv", "parameters"];
/// Fields that hold code.
const CODE: &[&str] =
    &["code", "source", "source_code", "snippet", "script", "python_code", "javascript", "expression"];
/// Fields that name its language.
const LANGUAGES: &[&str] = &["language", "lang", "runtime", "kernel", "interpreter"];

/// How the program of a language is given code, by the names of the language.
const RUNNERS: &[(&[&str], &str)] = &[
    (&["python", "python3", "py", "ipython", "jupyter", "notebook"], "python3 -c"),
    (&["javascript", "js", "node", "nodejs", "typescript", "ts", "deno", "bun"], "node -e"),
    (&["ruby", "rb"], "ruby -e"),
    (&["perl"], "perl -e"),
    (&["php"], "php -r"),
    (&["r", "rscript"], "Rscript -e"),
    (&["lua"], "lua -e"),
    (&["bash", "sh", "shell", "zsh", "terminal"], "bash -c"),
];

/// The command line of a program that is given with its arguments apart: `{program, args}`.
pub(super) fn program(input: &Json) -> Option<String> {
    let program = text_of(input, PROGRAMS).filter(|program| !program.trim().is_empty())?;
    let listed = ARGUMENTS.iter().find_map(|key| input.get(key)).filter(|given| given.is_array())?;
    let arguments: Vec<String> =
        listed.as_array()?.iter().map(|word| word.as_str().map(quoted)).collect::<Option<_>>()?;
    match command_text(&Json::from(program)) {
        // One that is written with blanks is a command line already.
        Some(line) if line.contains(char::is_whitespace) => Some(format!("{line} {}", arguments.join(" "))),
        Some(name) => Some(format!("{} {}", quoted(&name), arguments.join(" "))),
        None => None,
    }
}

/// The command line that would run the code of a tool, whose name and server have these words. Where nothing names the language, it is read
/// in both that tools run most.
pub(super) fn code<'a>(input: &Json, mut words: impl Iterator<Item = &'a str>) -> Option<String> {
    let code = quoted(text_of(input, CODE)?);
    let runner = |name: &str| {
        let name = name.to_ascii_lowercase();
        RUNNERS.iter().find(|(names, _)| names.contains(&name.as_str())).map(|(_, runner)| *runner)
    };
    match text_of(input, LANGUAGES).and_then(runner).or_else(|| words.find_map(runner)) {
        Some(runner) => Some(format!("{runner} {code}")),
        None => Some(format!("python3 -c {code}; node -e {code}")),
    }
}
