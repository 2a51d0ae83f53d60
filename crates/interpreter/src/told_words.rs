//! Which commands tell the words that they are given: in what they print, or in what they complain of.

use super::effect::NetworkReach;
use super::known_hosts::reach;
use super::value::Value;

/// Built-ins that give variables values.
pub(super) const DECLARING: &[&str] = &["export", "declare", "typeset", "local", "readonly"];

/// The beginnings of the names of programs that show the words that they are given.
const SHOWING: &[&str] = &[
    "echo", "print", "expr", "awk", "gawk", "jq", "sed", "env", "eval", "figlet", "banner", "logger", "date",
    "seq", "basename", "dirname", "yes",
];

/// Commands that do not print their words, neither when all goes well nor in what they complain of (ours, from their manuals): clients of
/// databases above all.
const QUIET: &[&str] = &[
    ":",
    "true",
    "psql",
    "pg_dump",
    "pg_restore",
    "pg_isready",
    "mysql",
    "mysqldump",
    "mysqladmin",
    "mariadb",
    "mongosh",
    "redis-cli",
];

/// Whether a command prints nothing of its words.
pub(super) fn is_quiet(program: &str, words: &[Value]) -> bool {
    // A test of numbers tells what is none.
    let is_number_test = |word: &Value| {
        matches!(word.as_exact(), Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-o" | "-a"))
    };
    match program {
        "[" | "test" => words.len() <= 5 && !words.iter().any(is_number_test),
        // An image keeps what it is built with.
        "docker" | "podman" => {
            let verb = words.get(1).map(Value::known_start).unwrap_or_default();
            words.len() < 2 || ["run", "exec", "compose"].contains(&verb.as_str())
        }
        // What they send, and to whom, is told by itself.
        "curl" | "wget" => true,
        _ if DECLARING.contains(&program) => true,
        _ if QUIET.contains(&program) => !is_addressed_elsewhere(words),
        _ => is_of_code(program) && words.len() > 1 && !has_code(words),
    }
}

/// Whether the words of a client name a host of somebody else (psql(1), mysql(1), `redis-cli --help`: `-h`, `--host`).
fn is_addressed_elsewhere(words: &[Value]) -> bool {
    let is_other =
        |host: &str| !host.is_empty() && !host.starts_with('/') && reach(host) == NetworkReach::External;
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let Some(text) = word.as_exact() else { continue };
        let host = match text.strip_prefix("--host").or_else(|| text.strip_prefix("-h")) {
            Some("") => words.next().and_then(Value::as_exact).unwrap_or_default(),
            Some(attached) => attached.trim_start_matches('='),
            None if text.contains("://") => text,
            None => continue,
        };
        if is_other(host) {
            return true;
        }
    }
    false
}

/// Whether a program shows words or variables that it is given. One of another language shows them by the code in its words.
pub(super) fn is_shown_by(program: &str, words: &[Value]) -> bool {
    if is_of_code(program) {
        return words.len() < 2 || has_code(words);
    }
    SHOWING.iter().any(|name| program.starts_with(name))
}

/// Whether a program runs code of a language, out of a file or of its words.
fn is_of_code(program: &str) -> bool {
    const OF_CODE: &[&str] =
        &["python", "node", "nodejs", "perl", "ruby", "php", "lua", "bash", "sh", "zsh", "dash", "ksh"];
    OF_CODE.contains(&program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.'))
}

/// Whether code stands in the words of a command, or comes in.
fn has_code(words: &[Value]) -> bool {
    let is_code = |text: &str| {
        matches!(text, "-" | "--eval" | "--print" | "-s")
            || text.starts_with('-') && !text.starts_with("--") && text.contains(['c', 'e', 'p', 'r'])
    };
    // Behind the file stand words for it.
    let options = words.iter().skip(1).take_while(|word| word.known_start().starts_with('-'));
    options.into_iter().any(|word| word.as_exact().is_none_or(is_code))
}
