//! JSON that code reads into lists and maps, and writes again: what it writes is worked out where all of it is known.

use checkrein_scripts::Language;
use serde_json::Value as Json;

use super::evaluator::{Evaluator, Given};
use super::value::ScriptValue;

/// How long the texts are that are read into lists and maps, in bytes (ours).
const READ: usize = 64 * 1024;

/// How far values stand inside each other at most (ours).
const DEEP: usize = 32;

/// Beyond which whole numbers are not written alike everywhere (ECMA-262, `Number.MAX_SAFE_INTEGER`).
const WHOLE: u64 = 1 << 53;

/// How many signs `JSON.stringify` indents by at most (ECMA-262, 25.5.2).
const INDENT: usize = 10;

/// How a text is laid out.
struct Layout {
    /// What stands in front of a value for each level; `None` for all in one line.
    indent: Option<String>,
    /// What stands between values in one line, and behind a key.
    between: &'static str,
    colon: &'static str,
    /// Whether signs beyond ASCII are written as escapes.
    escapes: bool,
    /// Whether keys stand in their order.
    sorted: bool,
}

impl Evaluator<'_, '_, '_> {
    /// What a function that reads or writes JSON gives; `None` where it is none, or where not all is known.
    pub(super) fn json(&mut self, name: &str, given: &Given) -> Option<ScriptValue> {
        match (self.language, name) {
            (Language::Python, "json.loads") | (Language::JavaScript, "JSON.parse") if is_alone(given) => {
                parsed(&given.at(0).exact()?)
            }
            (Language::Python, "json.load") if is_alone(given) => {
                let file = given.at(0);
                let text = matches!(file, ScriptValue::File(_)).then(|| self.read(&file))?;
                parsed(&text.exact()?)
            }
            (Language::Python, "json.dumps") if given.positional.len() == 1 => {
                written(&given.at(0), &python_layout(given)?, 0).map(ScriptValue::text)
            }
            (Language::Python, "json.dump") if given.positional.len() == 2 => {
                let ScriptValue::File(path) = given.at(1) else { return None };
                let text = written(&given.at(0), &python_layout(given)?, 0)?;
                let text = Given { positional: vec![ScriptValue::text(text)], named: Vec::new() };
                self.put_in(&path, "write", &text);
                Some(ScriptValue::Local)
            }
            (Language::JavaScript, "JSON.stringify") => {
                let indent = match given.positional.get(2) {
                    None => None,
                    Some(ScriptValue::Number(number)) => {
                        Some(" ".repeat(usize::try_from(*number).ok()?.min(INDENT)))
                    }
                    Some(other) => Some(other.exact()?.chars().take(INDENT).collect()),
                };
                // What picks members may leave some out.
                let picks = given.positional.get(1).is_some_and(|picks| {
                    matches!(picks, ScriptValue::Function(_) | ScriptValue::List(_) | ScriptValue::Method(..))
                });
                let indent = indent.filter(|indent: &String| !indent.is_empty());
                let colon = if indent.is_some() { ": " } else { ":" };
                let layout = Layout { indent, between: ",", colon, escapes: false, sorted: false };
                let text = written(&given.at(0), &layout, 0).filter(|_| !picks && given.named.is_empty())?;
                Some(ScriptValue::text(text))
            }
            _ => None,
        }
    }
}

/// Whether a function is given one thing and nothing else.
fn is_alone(given: &Given) -> bool {
    given.positional.len() == 1 && given.named.is_empty()
}

/// The layout that Python is told; `None` where that is not all known. Source: docs.python.org, "json".
fn python_layout(given: &Given) -> Option<Layout> {
    let mut layout = Layout { indent: None, between: ", ", colon: ": ", escapes: true, sorted: false };
    for (name, value) in &given.named {
        match (name.as_str(), value) {
            ("indent", ScriptValue::Number(number)) => {
                layout.indent = Some(" ".repeat(usize::try_from(*number).ok()?.min(READ)));
            }
            ("indent", ScriptValue::Text(_)) => layout.indent = Some(value.exact()?),
            ("ensure_ascii", ScriptValue::Truth(escapes)) => layout.escapes = *escapes,
            ("sort_keys", ScriptValue::Truth(sorted)) => layout.sorted = *sorted,
            _ => return None,
        }
    }
    Some(layout)
}

/// An object or a list as code has it; `None` of anything else, and where something in it is not followed.
fn parsed(text: &str) -> Option<ScriptValue> {
    let json: Json = if text.len() <= READ { serde_json::from_str(text).ok()? } else { return None };
    (json.is_object() || json.is_array()).then(|| followed(&json, 0))?
}

fn followed(json: &Json, depth: usize) -> Option<ScriptValue> {
    if depth > DEEP {
        return None;
    }
    Some(match json {
        Json::Null => return None,
        Json::Bool(truth) => ScriptValue::Truth(*truth),
        Json::Number(number) => {
            ScriptValue::Number(number.as_i64().filter(|number| number.unsigned_abs() < WHOLE)?)
        }
        Json::String(text) => ScriptValue::text(text.as_str()),
        Json::Array(items) => {
            ScriptValue::List(items.iter().map(|item| followed(item, depth + 1)).collect::<Option<_>>()?)
        }
        Json::Object(members) => {
            let entries = members.iter().map(|(key, value)| {
                let is_plain = !key.is_empty() && !key.bytes().all(|digit| digit.is_ascii_digit());
                Some((key.clone(), followed(value, depth + 1).filter(|_| is_plain)?))
            });
            ScriptValue::Map(entries.collect::<Option<_>>()?)
        }
    })
}

fn written(value: &ScriptValue, layout: &Layout, depth: usize) -> Option<String> {
    if depth > DEEP {
        return None;
    }
    let parts = match value {
        ScriptValue::Truth(truth) => return Some(truth.to_string()),
        ScriptValue::Number(number) => return Some(number.to_string()),
        ScriptValue::Text(text) => return quoted(text.as_exact()?, layout),
        ScriptValue::List(items) => {
            items.iter().map(|item| written(item, layout, depth + 1)).collect::<Option<Vec<_>>>()?
        }
        ScriptValue::Map(entries) => {
            let mut once: Vec<(&str, &ScriptValue)> = Vec::new();
            for (key, value) in entries {
                // A key of which nothing is known may be any.
                if key.is_empty() || key.bytes().all(|digit| digit.is_ascii_digit()) {
                    return None;
                }
                match once.iter_mut().find(|(known, _)| known == key) {
                    Some((_, known)) => *known = value,
                    None => once.push((key, value)),
                }
            }
            if layout.sorted {
                once.sort_by_key(|(key, _)| *key);
            }
            let member = |(key, value): (&str, &ScriptValue)| {
                Some(quoted(key, layout)? + layout.colon + &written(value, layout, depth + 1)?)
            };
            once.into_iter().map(member).collect::<Option<Vec<_>>>()?
        }
        _ => return None,
    };
    let (open, close) = if matches!(value, ScriptValue::List(_)) { ("[", "]") } else { ("{", "}") };
    if parts.is_empty() {
        return Some(format!("{open}{close}"));
    }
    Some(match &layout.indent {
        None => format!("{open}{}{close}", parts.join(layout.between)),
        Some(indent) => {
            let (inside, around) = (indent.repeat(depth + 1), indent.repeat(depth));
            let lines = parts.join(&format!(",\n{inside}"));
            format!("{open}\n{inside}{lines}\n{around}{close}")
        }
    })
}

fn quoted(text: &str, layout: &Layout) -> Option<String> {
    let plain = serde_json::to_string(text).ok()?;
    if !layout.escapes {
        return Some(plain);
    }
    let mut escaped = String::new();
    for c in plain.chars() {
        if c.is_ascii() {
            // Python writes this one as it is, too.
            escaped.push(c);
        } else {
            let mut units = [0_u16; 2];
            for unit in c.encode_utf16(&mut units) {
                escaped.extend(format!("\\u{unit:04x}").chars());
            }
        }
    }
    Some(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_again_as_each_language_does() {
        let text = r#"{"name":"a\"b","all":[1,true,[]],"in":{"k":"ü"},"none":{}}"#;
        let value = parsed(text).unwrap();
        let given = |named: &[(&str, ScriptValue)]| Given {
            positional: vec![value.clone()],
            named: named.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        };
        let python = |named: &[(&str, ScriptValue)]| written(&value, &python_layout(&given(named))?, 0);
        assert_eq!(
            python(&[]).as_deref(),
            Some(
                "{\"name\": \"a\\\"b\", \"all\": [1, true, []], \"in\": {\"k\": \"\\u00fc\"}, \"none\": {}}"
            )
        );
        assert_eq!(
            python(&[("indent", ScriptValue::Number(2)), ("ensure_ascii", ScriptValue::Truth(false))])
                .as_deref(),
            Some(
                "{\n  \"name\": \"a\\\"b\",\n  \"all\": [\n    1,\n    true,\n    []\n  ],\n  \"in\": {\n    \"k\": \"ü\"\n  },\n  \"none\": {}\n}"
            )
        );
        assert_eq!(python(&[("separators", ScriptValue::Local)]), None);
        for other in ["[null]", "{\"a\": 1.5}", "{\"1\": 2}", "\"text\"", "{", "{\"\": 1}"] {
            assert_eq!(parsed(other), None, "{other}");
        }
        let unknown = ScriptValue::Map(vec![("a".to_owned(), ScriptValue::Local)]);
        assert_eq!(written(&unknown, &python_layout(&given(&[])).unwrap(), 0), None);
    }
}
