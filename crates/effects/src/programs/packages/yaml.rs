//! YAML as a tree, bounded in size: files of tasks are written in it.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value as Json};

/// The greatest number of values in one text, those that stand for others counted again with all in them (ours).
const VALUES: usize = 32 * 1024;
/// How many bytes of a text that stands for another count as one more value (ours).
const BYTES: usize = 64;
/// How deep lists and maps may be nested (ours).
const DEPTH: usize = 32;

/// A list or map that is not closed yet.
struct Open {
    value: Json,
    key: Option<String>,
    anchor: usize,
    /// How many values it holds so far, with those in them.
    size: usize,
}

/// The first document of a text; `None` where it cannot be read. What is written without quotes is a text too, but for `null`.
pub(crate) fn document(text: &str) -> Option<Json> {
    let mut parser = Parser::new_from_str(text);
    let mut open: Vec<Open> = Vec::new();
    let mut anchors: HashMap<usize, (Json, usize)> = HashMap::new();
    let mut left = VALUES;
    let mut root = None;
    while let Some(event) = parser.next_event() {
        let (event, _) = event.ok()?;
        let is_plain = matches!(event, Event::Scalar(..));
        let (value, anchor, size) = match event {
            Event::Scalar(text, ScalarStyle::Plain, anchor, _) if matches!(&*text, "" | "~" | "null") => {
                (Json::Null, anchor, 1)
            }
            Event::Scalar(text, _, anchor, _) => {
                let size = 1 + text.len() / BYTES;
                (Json::String(text.into_owned()), anchor, size)
            }
            Event::Alias(anchor) => {
                // What it stands for is paid before it is copied.
                let (value, size) = anchors.get(&anchor)?;
                left = left.checked_sub(*size)?;
                (value.clone(), 0, *size)
            }
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) if open.len() < DEPTH => {
                let is_list = matches!(event, Event::SequenceStart(..));
                let value = if is_list { Json::Array(Vec::new()) } else { Json::Object(Map::new()) };
                left = left.checked_sub(1)?;
                open.push(Open { value, key: None, anchor, size: 1 });
                continue;
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => return None,
            Event::SequenceEnd | Event::MappingEnd => {
                let closed = open.pop()?;
                (closed.value, closed.anchor, closed.size)
            }
            Event::DocumentEnd => break,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => continue,
        };
        if is_plain {
            left = left.checked_sub(1)?;
        }
        if anchor != 0 {
            anchors.insert(anchor, (value.clone(), size));
        }
        if let Some(outer) = open.last_mut() {
            outer.size += size;
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

    #[test]
    fn what_stands_for_others_is_counted_with_all_in_it() {
        let levels: Vec<String> = (1..9)
            .map(|level| {
                format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 10].join(","))
            })
            .collect();
        assert_eq!(document(&format!("a0: &a0 [x]\n{}", levels.concat())), None);
        let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(64 * 1024), vec!["*a"; 100].join(","));
        assert_eq!(document(&long), None);
        let few = format!("a: &a [x, y]\nb: [{}]\n", vec!["*a"; 1000].join(","));
        assert!(document(&few).is_some());
    }
}
