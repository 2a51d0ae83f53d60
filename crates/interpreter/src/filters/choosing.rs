//! Lists whose order is not known: filters that choose by position may choose any of their lines.

use super::{filtered, input_text};
use crate::{Call, Input, Machine, Output, Value};

/// Filters that pass lines on as they are, and only choose which.
const CHOOSERS: &[&str] =
    &["head", "tail", "grep", "egrep", "fgrep", "sort", "uniq", "tac", "shuf", "awk", "gawk", "mawk"];
/// Options of `grep` after which it still prints whole lines of its input.
const WHOLE_LINES: &str = "viEFPxwaeGz";

/// A list of names on its way through a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum List {
    /// These lines, in an order that is not known.
    Unordered(String),
    /// Lines of which only is known what they may be: a pattern, or alternatives.
    Some(Value),
}

/// The list that a call reads; `None` when it reads no such.
pub(super) fn list(machine: &Machine<'_>, call: &Call) -> Option<List> {
    let Input::Text(value) = &call.input else { return None };
    match value {
        Value::Glob(_) | Value::AnyOf(_) => Some(List::Some(value.clone())),
        Value::Exact(text) if machine.unordered.as_ref() == Some(text) => Some(List::Unordered(text.clone())),
        Value::Exact(_) | Value::Between { .. } | Value::Unknown => None,
    }
}

impl List {
    /// What the call chooses of the list, when that does not go by what is in the lines.
    pub(super) fn chosen(&self, machine: &mut Machine<'_>, call: &Call) -> Option<Value> {
        match self {
            Self::Some(value) => only_chooses(call).then(|| value.clone()),
            Self::Unordered(text) => {
                if !goes_by_position(call) {
                    return None;
                }
                let known = input_text(machine, call)?;
                let lines = text.lines().count();
                let taken = filtered(call.program.as_str(), &known.options, &known.text)?.lines().count();
                Some(match taken {
                    0 => Value::exact(""),
                    _ if taken == lines => Value::exact(text),
                    _ => Value::one_of(text.lines().map(str::to_owned).collect()),
                })
            }
        }
    }

    /// Remembers that what was made of the list has no known order either, unless it was put into one.
    pub(super) fn passed_on(&self, machine: &mut Machine<'_>, call: &Call, output: &Output) {
        if let (Self::Unordered(_), Output::Text(Value::Exact(text))) = (self, output) {
            machine.unordered = (call.program != "sort").then(|| text.clone());
        }
    }
}

fn only_chooses(call: &Call) -> bool {
    if !CHOOSERS.contains(&call.program.as_str()) {
        return false;
    }
    if call.program.ends_with("grep") {
        return call.words.iter().filter_map(Value::as_exact).filter(|word| word.starts_with('-')).all(
            |word| !word.starts_with("--") && word.chars().skip(1).all(|letter| WHOLE_LINES.contains(letter)),
        );
    }
    !call.program.ends_with("awk") || goes_by_position(call)
}

/// Whether a filter asks where a line stands, not what is in it.
fn goes_by_position(call: &Call) -> bool {
    let scripts = || call.words.iter().filter_map(Value::as_exact).filter(|word| !word.starts_with('-'));
    match call.program.as_str() {
        "head" | "tail" => true,
        "sed" | "gsed" => {
            scripts().any(|script| script.starts_with(|first: char| first.is_ascii_digit() || first == '$'))
        }
        "awk" | "gawk" | "mawk" => {
            scripts().any(|script| script.trim_start().starts_with("NR") && !script.contains('$'))
        }
        _ => false,
    }
}
