//! `jq` and its kin: which words are files.

use crate::effect::EffectKind;
use crate::interpreter::{Call, Exit, Machine, Output, Value};

/// Options with one value (source: jq(1)).
const ONE: &[&str] = &["--indent", "-L", "--seq-delimiter"];

/// Options with a name and a text.
const NAMED_TEXT: &[&str] = &["--arg", "--argjson"];

/// Options with a name and a file, which is read.
const NAMED_FILE: &[&str] = &["--slurpfile", "--rawfile", "--argfile"];

/// `jq`, `gojq`, `jaq`
pub(crate) fn jq(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut read = Output::Nothing;
    let mut operands: Vec<&Value> = Vec::new();
    let mut has_filter = false;
    let mut takes_input = true;
    let mut in_place = false;
    let mut words = call.words.iter();
    while let Some(word) = words.next() {
        let text = word.as_exact().unwrap_or_default();
        match text {
            "--" => {
                operands.extend(words.by_ref());
            }
            // What follows are texts, but for the filter.
            "--args" | "--jsonargs" => {
                if operands.is_empty() && !has_filter {
                    operands.extend(words.next());
                }
                break;
            }
            _ if ONE.contains(&text) => {
                words.next();
            }
            _ if NAMED_TEXT.contains(&text) => {
                words.nth(1);
            }
            _ if NAMED_FILE.contains(&text) => {
                if let Some(file) = words.nth(1) {
                    read = read.followed_by(machine.read(file));
                }
            }
            "--from-file" => {
                has_filter = true;
                if let Some(file) = words.next() {
                    machine.read(file);
                }
            }
            "--null-input" => takes_input = false,
            "--in-place" => in_place = true,
            _ if text.starts_with("--") => {}
            _ if text.len() > 1 && text.starts_with('-') => {
                takes_input &= !text.contains('n');
                in_place |= text.contains('i') && call.program != "jq";
                if text.contains('f') {
                    has_filter = true;
                    if let Some(file) = words.next() {
                        machine.read(file);
                    }
                }
            }
            _ => operands.push(word),
        }
    }
    let files = operands.get(usize::from(!has_filter)..).unwrap_or_default();
    for file in files {
        read = read.followed_by(machine.read(file));
        if in_place {
            machine.effect(EffectKind::FileModify, file);
        }
    }
    if files.is_empty() && takes_input {
        read = read.followed_by(Output::from_input(&call.input));
    }
    // What a filter makes of a text is not that text.
    Exit::with(read.made_over())
}
