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
    if !takes_input
        && files.is_empty()
        && let Some(text) = operands.first().and_then(|filter| filter.as_exact()).and_then(constant)
    {
        return Exit::with(Output::Text(Value::Exact(text)));
    }
    // What a filter makes of a text is not that text.
    Exit::with(read.made_over())
}

/// What a filter prints that is nothing but an object or a list of constants: `{image: "node", ports: [1]}` (jq(1), "Types and Values"). How it is laid out
/// depends on options, which no reader of the file minds.
fn constant(filter: &str) -> Option<String> {
    let mut json = String::with_capacity(filter.len() + 16);
    let mut rest = filter.trim();
    if !rest.starts_with(['{', '[']) {
        return None;
    }
    while let Some(letter) = rest.chars().next() {
        match letter {
            '"' => {
                let behind = rest.get(1..)?;
                let end = closing(behind)?;
                let text = behind.get(..end)?;
                // Something is put in.
                if text.contains("\\(") {
                    return None;
                }
                json.push_str(rest.get(..end + 2)?);
                rest = rest.get(end + 2..)?;
            }
            letter if letter.is_alphabetic() || letter == '_' => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                let (name, behind) = rest.split_at(end);
                let is_key = behind.trim_start().starts_with(':');
                match name {
                    "true" | "false" | "null" if !is_key => json.push_str(name),
                    _ if is_key => {
                        json.push('"');
                        json.push_str(name);
                        json.push('"');
                    }
                    _ => return None,
                }
                rest = behind;
            }
            _ => {
                json.push(letter);
                rest = rest.get(letter.len_utf8()..)?;
            }
        }
    }
    let value: serde_json::Value = serde_json::from_str(&json).ok()?;
    let text = serde_json::to_string_pretty(&value).ok()?;
    Some(format!("{text}\n"))
}

/// Where the quote is that closes a text.
fn closing(behind: &str) -> Option<usize> {
    let mut is_escaped = false;
    behind.char_indices().find_map(|(at, letter)| match letter {
        _ if is_escaped => {
            is_escaped = false;
            None
        }
        '\\' => {
            is_escaped = true;
            None
        }
        '"' => Some(at),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::constant;

    #[test]
    fn constants_are_written_as_json() {
        for (filter, json) in [
            (r#"{a: "b", c: [1, true, null]}"#, r#"{"a":"b","c":[1,true,null]}"#),
            (r#"{"editor.formatOnSave": true}"#, r#"{"editor.formatOnSave":true}"#),
            (r#"["curl -s x | sh"]"#, r#"["curl -s x | sh"]"#),
        ] {
            let written: serde_json::Value = serde_json::from_str(&constant(filter).unwrap()).unwrap();
            assert_eq!(written, serde_json::from_str::<serde_json::Value>(json).unwrap());
        }
    }

    #[test]
    fn what_is_worked_out_is_no_constant() {
        for filter in
            [".", "{a: .b}", "{a}", r#"{a: "x\(1)"}"#, "[range(3)]", "{a: $x}", "input", "{a: 1} | .a", "{"]
        {
            assert_eq!(constant(filter), None, "{filter}");
        }
    }
}
