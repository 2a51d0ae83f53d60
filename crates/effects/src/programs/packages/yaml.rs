//! YAML as a tree, bounded in size: files of tasks are written in it.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value as Json};

/// The greatest number of values in one text, those that stand for others counted again (ours).
const VALUES: usize = 32 * 1024;
/// How deep lists and maps may be nested (ours).
const DEPTH: usize = 32;

/// A list or map that is not closed yet.
struct Open {
    value: Json,
    key: Option<String>,
    anchor: usize,
}

/// The first document of a text; `None` where it cannot be read. What is written without quotes is a text too, but for `null`.
pub(super) fn document(text: &str) -> Option<Json> {
    let mut parser = Parser::new_from_str(text);
    let mut open: Vec<Open> = Vec::new();
    let mut anchors: HashMap<usize, Json> = HashMap::new();
    let mut left = VALUES;
    let mut root = None;
    while let Some(event) = parser.next_event() {
        let (event, _) = event.ok()?;
        let (value, anchor) = match event {
            Event::Scalar(text, ScalarStyle::Plain, anchor, _) if matches!(&*text, "" | "~" | "null") => {
                (Json::Null, anchor)
            }
            Event::Scalar(text, _, anchor, _) => (Json::String(text.into_owned()), anchor),
            Event::Alias(anchor) => (anchors.get(&anchor)?.clone(), 0),
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) if open.len() < DEPTH => {
                let is_list = matches!(event, Event::SequenceStart(..));
                let value = if is_list { Json::Array(Vec::new()) } else { Json::Object(Map::new()) };
                open.push(Open { value, key: None, anchor });
                continue;
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => return None,
            Event::SequenceEnd | Event::MappingEnd => {
                let closed = open.pop()?;
                (closed.value, closed.anchor)
            }
            Event::DocumentEnd => break,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => continue,
        };
        left = left.checked_sub(size(&value))?;
        if anchor != 0 {
            anchors.insert(anchor, value.clone());
        }
        match open.last_mut() {
            None => root = Some(value),
            Some(Open { value: Json::Array(items), .. }) => items.push(value),
            Some(Open { value: Json::Object(entries), key, .. }) => match (key.take(), value) {
                (None, Json::String(text)) => *key = Some(text),
                (None, other) => *key = Some(other.to_string()),
                // A map that is merged in.
                (Some(name), Json::Object(merged)) if name == "<<" => {
                    for (name, value) in merged {
                        entries.entry(name).or_insert(value);
                    }
                }
                (Some(name), value) => {
                    entries.insert(name, value);
                }
            },
            Some(_) => return None,
        }
    }
    Some(root.unwrap_or(Json::Null))
}

fn size(value: &Json) -> usize {
    match value {
        Json::Array(items) => 1 + items.len(),
        Json::Object(entries) => 1 + entries.len(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_lists_and_texts_are_read() {
        let read =
            document("a: &x\n  - 1\n  - 'two'\nb: *x\nc: |\n  one\n  two\nd: {e: ~}\n").unwrap_or_default();
        let wanted =
            serde_json::json!({"a": ["1", "two"], "b": ["1", "two"], "c": "one\ntwo\n", "d": {"e": null}});
        assert_eq!(read, wanted);
        assert_eq!(document("a: [1"), None);
    }
}
