//! Secrets in what the shell and programs say when they cannot use a word: they name it, and what they say goes into the conversation.
//!
//! Which words these are is a fixed table of commands and of what they take; a word that is used and not told of is none
//! (`[ -n "$TOKEN" ]`, `curl -H "... $TOKEN"`).

use crate::formats::asks_for_numbers;

use super::descriptors::Sink;
use super::machine::Machine;
use super::value::Value;
use crate::world::Entry;

/// Built-ins that name an operand which is no directory, no number, no name, no job and no option of theirs (the manual of bash 5.2; the
/// messages are those of bash and dash).
const BUILT_INS: &[&str] = &[
    "exit", "return", "break", "continue", "shift", "type", "hash", "unalias", "enable", "help", "umask",
    "ulimit", "wait", "fg", "bg", "jobs", "disown", "kill", "shopt", "bind", "caller", "dirs", "compopt",
];

/// Built-ins that name an operand which is no name of a variable; what stands behind `=` is a value.
const DECLARING: &[&str] =
    &["export", "declare", "typeset", "local", "readonly", "unset", "read", "mapfile", "readarray"];

/// Programs and built-ins that name each operand which is no file that they find, number, user or process (GNU coreutils 9, findutils 4.10, diffutils 3.10,
/// procps 4, less 668, file 5.46).
const PROGRAMS: &[&str] = &[
    "ls",
    "dir",
    "vdir",
    "cat",
    "tac",
    "nl",
    "head",
    "tail",
    "wc",
    "sort",
    "uniq",
    "cut",
    "paste",
    "join",
    "comm",
    "stat",
    "file",
    "rm",
    "rmdir",
    "cp",
    "mv",
    "link",
    "unlink",
    "chmod",
    "chown",
    "chgrp",
    "du",
    "df",
    "less",
    "more",
    "diff",
    "cmp",
    "sum",
    "cksum",
    "md5sum",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "b2sum",
    "od",
    "xxd",
    "hexdump",
    "strings",
    "tree",
    "realpath",
    "sleep",
    "id",
    "groups",
    "fold",
    "fmt",
    "expand",
    "unexpand",
    "rev",
    "column",
    "csplit",
    "tsort",
    "numfmt",
    "factor",
    "renice",
    "man",
    "cd",
    "chdir",
    "pushd",
    "source",
    ".",
];

/// What stands between two numbers that a test compares.
const COMPARISONS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl Machine<'_> {
    /// Adds the secret in a word that a command cannot use, and names.
    pub(super) fn note_complaint(&mut self, name: &str, rest: &[Value]) {
        if self.flow.secret_texts.is_empty() || self.away.is_some() || !self.errors_are_seen() {
            return;
        }
        let words: Vec<&Value> = match name {
            "test" | "[" => compared(rest),
            "printf" if rest.first().and_then(Value::as_exact).is_some_and(asks_for_numbers) => {
                rest.iter().skip(1).collect()
            }
            _ if BUILT_INS.contains(&name) => rest.iter().collect(),
            _ if DECLARING.contains(&name) => return self.note_misnamed(rest),
            // It is told that what is not there needs no word.
            "rm" if rest
                .iter()
                .any(|word| word.known_start().starts_with("-f") || word.known_start() == "-rf") =>
            {
                return;
            }
            _ if PROGRAMS.contains(&name) => rest.iter().filter(|word| !self.is_there(word)).collect(),
            _ => return,
        };
        self.note_told(words);
    }

    /// Adds the secret that is named because there is no command of that name.
    pub(super) fn note_no_command(&mut self, name: &str) {
        if !self.flow.secret_texts.is_empty() && self.away.is_none() && self.errors_are_seen() {
            self.note_told(vec![&Value::exact(name)]);
        }
    }

    /// Adds the secret among the choices that `select` shows.
    pub(super) fn note_choices(&mut self, choices: &[Value]) {
        if !self.flow.secret_texts.is_empty() && self.away.is_none() && self.errors_are_seen() {
            self.note_told(choices.iter().collect());
        }
    }

    /// Adds the secret in an arithmetic expression that is none: the error names it. A name alone is that of a variable.
    pub(super) fn note_no_expression(&mut self, text: &str) {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let starts_number =
            |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && word.parse::<i64>().is_err();
        let is_expression = !text.split(|c: char| !is_word(c)).any(starts_number)
            && text.chars().all(|c| is_word(c) || c.is_whitespace() || "()+-*/%<>=!&|^~?:,".contains(c));
        let fails = !is_expression || self.shell.options.nounset;
        if fails && !self.flow.secret_texts.is_empty() && self.away.is_none() && self.errors_are_seen() {
            self.note_told(vec![&Value::exact(text)]);
        }
    }

    /// As [`Machine::note_no_expression`], for what a variable holds that an expression names.
    pub(super) fn note_expression_in(&mut self, name: &str, text: &str) {
        if self.secret_variable(name).is_some() {
            self.note_no_expression(text);
        }
    }

    fn note_told(&mut self, words: Vec<&Value>) {
        if let Some(secret) = words.into_iter().find_map(|word| self.secret_held(word)) {
            self.note_let_out(&secret, "an error message names it");
        }
    }

    /// Names of variables that are none.
    fn note_misnamed(&mut self, words: &[Value]) {
        let is_name = |text: &str| {
            !text.starts_with(|c: char| c.is_ascii_digit())
                && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let names: Vec<Value> = words
            .iter()
            .filter_map(Value::as_exact)
            .map(|text| text.split_once('=').map_or(text, |(name, _)| name))
            .filter(|name| !is_name(name))
            .map(Value::exact)
            .collect();
        self.note_told(names.iter().collect());
    }

    /// Whether a word names something that is there, so that nothing is to be said of it.
    fn is_there(&self, word: &Value) -> bool {
        self.paths(word)
            .iter()
            .filter_map(|aim| aim.target.path())
            .any(|path| !matches!(self.entry(path), Entry::Missing | Entry::Unknown))
    }

    /// Whether what is written to the standard error at the present point can be seen.
    fn errors_are_seen(&self) -> bool {
        match self.descriptor(2).map(|opening| opening.sink) {
            Some(Sink::Errors) => true,
            Some(Sink::Output(_)) => !self.is_listened_to() && !self.is_kept(),
            Some(Sink::Elsewhere | Sink::Files { .. }) | None => false,
        }
    }
}

/// The words of a test that have to be numbers.
fn compared(words: &[Value]) -> Vec<&Value> {
    let is_comparison = |word: &Value| word.as_exact().is_some_and(|text| COMPARISONS.contains(&text));
    let places = words.iter().enumerate().filter(|(_, word)| is_comparison(word)).map(|(place, _)| place);
    places
        .flat_map(|place| [place.checked_sub(1), Some(place + 1)])
        .flatten()
        .filter_map(|place| words.get(place))
        .collect()
}
