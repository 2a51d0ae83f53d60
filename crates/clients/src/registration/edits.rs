//! Changes of a JSON text by insertions and removals alone: comments, indentation, ends of lines and one-line objects stay as they are written,
//! and what was inserted goes again without a trace.

use std::ops::Range;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value as Json;

use crate::error::SettingsError;

/// A value as it is written, with its place in the text.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    range: Range<usize>,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    Object(Vec<Property>),
    Array(Vec<Node>),
    Text(String),
    Other,
}

#[derive(Debug, Clone)]
struct Property {
    range: Range<usize>,
    name: String,
    value: Node,
}

/// Indentation where a text has none to go by.
const INDENT: &str = "  ";

impl Node {
    /// Parses a text that holds one value. An empty one counts as an empty object.
    pub(crate) fn parse(text: &str) -> Result<Self, SettingsError> {
        let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default())?;
        Ok(parsed
            .value
            .map_or(Self { range: 0..0, content: Content::Object(Vec::new()) }, |value| node(&value)))
    }

    /// Whether it is an object.
    pub(crate) fn is_object(&self) -> bool {
        matches!(self.content, Content::Object(_))
    }

    /// Returns the value of a property; of several with that name the last one, as clients do.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.properties().iter().rev().find(|property| property.name == name).map(|property| &property.value)
    }

    /// Returns the names of its properties.
    pub(crate) fn names(&self) -> Vec<String> {
        self.properties().iter().map(|property| property.name.clone()).collect()
    }

    /// Returns its elements; `None` where it is not an array.
    pub(crate) fn elements(&self) -> Option<&[Self]> {
        match &self.content {
            Content::Array(elements) => Some(elements),
            Content::Object(_) | Content::Text(_) | Content::Other => None,
        }
    }

    /// Returns the texts among the values of its properties.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.properties().iter().filter_map(|property| match &property.value.content {
            Content::Text(text) => Some(text.as_str()),
            Content::Object(_) | Content::Array(_) | Content::Other => None,
        })
    }

    fn properties(&self) -> &[Property] {
        match &self.content {
            Content::Object(properties) => properties,
            Content::Array(_) | Content::Text(_) | Content::Other => &[],
        }
    }

    fn children(&self) -> Vec<Range<usize>> {
        match &self.content {
            Content::Object(properties) => properties.iter().map(|one| one.range.clone()).collect(),
            Content::Array(elements) => elements.iter().map(|one| one.range.clone()).collect(),
            Content::Text(_) | Content::Other => Vec::new(),
        }
    }

    /// Returns the text with a property behind the last one of this object.
    pub(crate) fn with_property(&self, text: &str, name: &str, value: &Json) -> String {
        self.with_child(text, &|form| format!("{}: {}", Json::from(name), form.written(value)))
    }

    /// Returns the text with a value behind the last one of this array.
    pub(crate) fn with_element(&self, text: &str, value: &Json) -> String {
        self.with_child(text, &|form| form.written(value))
    }

    /// Returns the text without a property of this object.
    pub(crate) fn without_property(&self, text: &str, name: &str) -> Result<String, SettingsError> {
        let at = self.properties().iter().rposition(|property| property.name == name);
        at.map_or(Ok(text.to_owned()), |at| self.without_child(text, at))
    }

    /// Returns the text without the element at this place of this array.
    pub(crate) fn without_element(&self, text: &str, at: usize) -> Result<String, SettingsError> {
        self.without_child(text, at)
    }

    fn with_child(&self, text: &str, written: &dyn Fn(&Form) -> String) -> String {
        let children = self.children();
        let inside = self.inside();
        let between = |range: Range<usize>| text.get(range).unwrap_or_default();
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let unit = Self::unit(text);
        let own_margin = margin(text, self.range.start);
        // Behind the comments that follow the last child, too: they say something of that one.
        let at = inside.start + between(inside.clone()).trim_end().len();
        let tail = between(children.last().map_or(inside.start, |last| last.end)..inside.end);
        let is_on_lines = match children.first() {
            Some(first) => between(inside.start..first.start).contains('\n') || tail.contains('\n'),
            None => text.trim().contains('\n') || self.range.start == text.len() - text.trim_start().len(),
        };
        let child_margin = match children.first() {
            Some(first) if between(inside.start..first.start).contains('\n') => margin(text, first.start),
            Some(_) | None => format!("{own_margin}{unit}"),
        };
        let lines = is_on_lines.then_some((newline, child_margin.as_str()));
        let mut item = written(&Form { lines, unit: &unit });
        match lines {
            Some((newline, margin)) => item.insert_str(0, &format!("{newline}{margin}")),
            None if !children.is_empty() => item.insert(0, ' '),
            None => {}
        }
        if is_on_lines && children.is_empty() && !tail.contains('\n') {
            item.push_str(newline);
            item.push_str(&own_margin);
        }
        let mut changed = text.to_owned();
        changed.insert_str(at, &item);
        if let Some(last) = children.last()
            && comma(text, last.end..inside.end).is_none()
        {
            changed.insert(last.end, ',');
        }
        changed
    }

    fn without_child(&self, text: &str, at: usize) -> Result<String, SettingsError> {
        let children = self.children();
        let Some(child) = children.get(at) else { return Ok(text.to_owned()) };
        let inside = self.inside();
        let before = text.get(inside.start..child.start).unwrap_or_default();
        let start = inside.start + before.trim_end().len();
        let mut first = start..child.end;
        let previous = at.checked_sub(1).and_then(|at| children.get(at));
        let separator = match (children.get(at + 1), previous) {
            (Some(next), _) => comma(text, child.end..next.start),
            (None, Some(previous)) => comma(text, previous.end..child.start),
            (None, None) => {
                let rest = text.get(child.end..inside.end).unwrap_or_default();
                if rest.trim().is_empty() {
                    first.end = inside.end;
                }
                None
            }
        };
        // What stands behind it must not get into a comment that stands before it.
        let rest = text.get(child.end..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let is_followed = !without_comments(rest).trim_matches([',', ' ', '\t']).is_empty();
        if is_followed && is_in_line_comment(text, start) {
            first = child.clone();
        }
        let separator = separator.map(|comma| comma..comma + 1);
        let without = cut(text, std::iter::once(first).chain(separator).collect());
        Self::parse(&without).map(|_| without)
    }

    /// What stands between its brackets.
    fn inside(&self) -> Range<usize> {
        let end = self.range.end.saturating_sub(1).max(self.range.start);
        (self.range.start + 1).min(end)..end
    }

    /// By how much a level is indented in the text.
    fn unit(text: &str) -> String {
        let Ok(root) = Self::parse(text) else { return INDENT.to_owned() };
        let first = root.children().into_iter().next();
        let first = first.filter(|first| {
            text.get(root.range.start..first.start).is_some_and(|before| before.contains('\n'))
        });
        let unit = first.map(|first| margin(text, first.start));
        unit.filter(|unit| !unit.is_empty()).unwrap_or_else(|| INDENT.to_owned())
    }
}

/// How an inserted value is written: the end of a line and the margin of its own line, where it has one.
struct Form<'a> {
    lines: Option<(&'a str, &'a str)>,
    unit: &'a str,
}

impl Form<'_> {
    fn written(&self, value: &Json) -> String {
        self.at(value, 0)
    }

    fn at(&self, value: &Json, depth: usize) -> String {
        match value {
            Json::Object(fields) if !fields.is_empty() => {
                let one = |(name, value): (&String, &Json)| {
                    format!("{}: {}", Json::from(name.as_str()), self.at(value, depth + 1))
                };
                self.bracketed(["{", "}"], &fields.iter().map(one).collect::<Vec<_>>(), depth)
            }
            Json::Array(items) if !items.is_empty() => {
                let items: Vec<String> = items.iter().map(|item| self.at(item, depth + 1)).collect();
                self.bracketed(["[", "]"], &items, depth)
            }
            Json::Null
            | Json::Bool(_)
            | Json::Number(_)
            | Json::String(_)
            | Json::Array(_)
            | Json::Object(_) => value.to_string(),
        }
    }

    fn bracketed(&self, [open, close]: [&str; 2], items: &[String], depth: usize) -> String {
        match self.lines {
            None => format!("{open}{}{close}", items.join(", ")),
            Some((newline, margin)) => {
                let outer = format!("{newline}{margin}{}", self.unit.repeat(depth));
                let inner = format!("{outer}{}", self.unit);
                format!("{open}{inner}{}{outer}{close}", items.join(&format!(",{inner}")))
            }
        }
    }
}

fn node(value: &Value<'_>) -> Node {
    let range = value.range();
    let content = match value {
        Value::Object(object) => Content::Object(
            object
                .properties
                .iter()
                .map(|property| Property {
                    range: property.range.start..property.range.end,
                    name: property.name.as_str().to_owned(),
                    value: node(&property.value),
                })
                .collect(),
        ),
        Value::Array(array) => Content::Array(array.elements.iter().map(node).collect()),
        Value::StringLit(text) => Content::Text(text.value.to_string()),
        Value::NumberLit(_) | Value::BooleanLit(_) | Value::NullKeyword(_) => Content::Other,
    };
    Node { range: range.start..range.end, content }
}

/// The blanks at the beginning of the line on which a place is.
fn margin(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rfind('\n').map_or(before, |end| before.get(end + 1..).unwrap_or_default());
    line.chars().take_while(|sign| matches!(sign, ' ' | '\t')).collect()
}

fn cut(text: &str, mut ranges: Vec<Range<usize>>) -> String {
    ranges.sort_by_key(|range| std::cmp::Reverse(range.start));
    let mut rest = text.to_owned();
    for range in ranges {
        rest.replace_range(range, "");
    }
    rest
}

/// The place of the first comma in a range that is not in a comment.
fn comma(text: &str, range: Range<usize>) -> Option<usize> {
    let between = without_comments(text.get(range.clone())?);
    between.find(',').map(|at| range.start + at)
}

/// Whether what is written at a place would belong to a comment that ends with its line.
fn is_in_line_comment(text: &str, at: usize) -> bool {
    let probed = format!("{}x", text.get(..at).unwrap_or_default());
    !without_comments(&probed).ends_with('x')
}

/// The text with blanks in place of its comments, as clients read it that take them.
pub(crate) fn without_comments(text: &str) -> String {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Inside {
        Nothing,
        Text,
        Escape,
        Line,
        Block,
    }
    let bytes = text.as_bytes();
    let mut kept = bytes.to_vec();
    let (mut inside, mut at) = (Inside::Nothing, 0);
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        let (then, width) = match (inside, byte, next) {
            (Inside::Nothing, b'"', _) | (Inside::Escape, _, _) => (Inside::Text, 1),
            (Inside::Nothing, b'/', Some(b'/')) => (Inside::Line, 2),
            (Inside::Nothing, b'/', Some(b'*')) => (Inside::Block, 2),
            (Inside::Text, b'\\', _) => (Inside::Escape, 1),
            (Inside::Text, b'"', _) | (Inside::Line, b'\n', _) => (Inside::Nothing, 1),
            (Inside::Block, b'*', Some(b'/')) => (Inside::Nothing, 2),
            (before, _, _) => (before, 1),
        };
        let is_comment = |state| matches!(state, Inside::Line | Inside::Block);
        if is_comment(then) || is_comment(inside) {
            let range = at..(at + width).min(bytes.len());
            kept.get_mut(range)
                .into_iter()
                .flatten()
                .filter(|byte| !b"\r\n".contains(byte))
                .for_each(|byte| *byte = b' ');
        }
        inside = then;
        at += width;
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inserted_goes_without_a_trace() {
        let value = serde_json::json!({ "a": [{ "b": 1 }], "c": [] });
        for before in [
            "{\"x\":1}",
            "{ \"x\": 1 }",
            "{\n\t\"x\": 1\n}",
            "{\r\n    \"x\": 1\r\n}\r\n",
            "{\n  \"x\": 1}\n",
            "{\n  // first\n  \"x\": 1, // of x\n  \"y\": {} /* of y, and */ // more\n  // last\n}\n",
            "{\"x\": 1 // of x, only\n}",
            "// head\n{\n  \"x\": \"é // , \"\n}\n// foot",
        ] {
            let root = Node::parse(before).unwrap();
            let after = root.with_property(before, "ours", &value);
            let parsed: Json = serde_json::from_str(&without_comments(&after)).expect(&after);
            assert_eq!(parsed["ours"], value, "{after}");
            let back = Node::parse(&after).unwrap().without_property(&after, "ours").unwrap();
            assert_eq!(back, before, "{after}");
        }
    }

    #[test]
    fn a_property_between_others_goes_alone() {
        let text = "{\n  \"a\": 1, // a\n  \"ours\": {\"b\": 2}, // b\n  \"c\": 3\n}\n";
        let back = Node::parse(text).unwrap().without_property(text, "ours").unwrap();
        assert_eq!(back, "{\n  \"a\": 1, // a // b\n  \"c\": 3\n}\n");
        for text in ["{ // note\n  \"ours\": 1 }", "{ // note\n  \"ours\": 1, \"c\": 3 }"] {
            let back = Node::parse(text).unwrap().without_property(text, "ours").unwrap();
            let parsed: Json = serde_json::from_str(&without_comments(&back)).expect(&back);
            assert_eq!(parsed.get("c").is_some(), text.contains("\"c\""), "{back}");
        }
    }

    #[test]
    fn ends_of_lines_and_tabs_are_those_of_the_file() {
        let text = "{\r\n\t\"x\": 1\r\n}\r\n";
        let after = Node::parse(text).unwrap().with_property(text, "ours", &serde_json::json!({ "a": 1 }));
        assert_eq!(after, "{\r\n\t\"x\": 1,\r\n\t\"ours\": {\r\n\t\t\"a\": 1\r\n\t}\r\n}\r\n");
    }
}
