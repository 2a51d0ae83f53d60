//! YAML as a tree with positions, bounded in size.
//!
//! Anchors, aliases, tags and several documents are refused: a policy should read the same to a user and to the
//! guard. No type of the parser leaves this module.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput};

use super::error::{ConfigErrorKind, Fault, Position};

/// The greatest length of a configuration file, in bytes (ours).
pub const BYTES_LIMIT: usize = 256 * 1024;
/// How deep lists and maps may be nested (ours).
const DEPTH_LIMIT: usize = 24;

/// A value in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct YamlNode {
    /// Where it begins.
    pub at: Position,
    /// What it is.
    pub value: NodeValue,
}

/// What a value in a file is.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeValue {
    /// A scalar without quotes: its meaning follows from the key.
    Plain(String),
    /// A scalar that is text for certain.
    Quoted(String),
    /// A list.
    List(Vec<YamlNode>),
    /// A map, in the order of the file.
    Map(Vec<YamlEntry>),
}

/// One `key: value` of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct YamlEntry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub at: Position,
    /// The value.
    pub value: YamlNode,
}

impl YamlNode {
    /// What it is, for messages.
    pub fn description(&self) -> String {
        match &self.value {
            NodeValue::Plain(text) if is_null(text) => "nothing".to_owned(),
            NodeValue::Plain(text) => format!("`{text}`"),
            NodeValue::Quoted(text) => format!("the text `{text}`"),
            NodeValue::List(_) => "a list".to_owned(),
            NodeValue::Map(_) => "a map".to_owned(),
        }
    }

    /// The text of a scalar that is there.
    pub fn scalar(&self) -> Option<&str> {
        match &self.value {
            NodeValue::Plain(text) if is_null(text) => None,
            NodeValue::Plain(text) | NodeValue::Quoted(text) => Some(text),
            NodeValue::List(_) | NodeValue::Map(_) => None,
        }
    }

    /// Whether there is nothing after the key.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, NodeValue::Plain(text) if is_null(text))
    }
}

/// The empty values of YAML's core schema.
fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// Reads a text; an empty one is an empty map.
pub fn parse(text: &str) -> Result<YamlNode, Fault> {
    if text.len() > BYTES_LIMIT {
        return Err(Fault::new(Position::START, ConfigErrorKind::TooLarge { limit: BYTES_LIMIT }));
    }
    let mut builder = Builder { open: Vec::new(), root: None, documents: 0 };
    let mut parser = Parser::new_from_str(text);
    while let Some((event, span)) = next(&mut parser)? {
        builder.take(event, span)?;
    }
    Ok(builder.root.unwrap_or(YamlNode { at: Position::START, value: NodeValue::Map(Vec::new()) }))
}

fn next<'text>(parser: &mut Parser<'text, StrInput<'text>>) -> Result<Option<(Event<'text>, Span)>, Fault> {
    parser.next_event().transpose().map_err(|error| syntax(&error))
}

fn syntax(error: &ScanError) -> Fault {
    Fault::new(point(*error.marker()), ConfigErrorKind::Syntax { message: error.info().to_lowercase() })
        .with_hint(
            "quote texts that hold `: `, `#` or begin with a special character, and indent with spaces",
        )
}

fn point(marker: Marker) -> Position {
    Position { line: marker.line().max(1), column: marker.col() + 1, width: 1 }
}

fn position(span: Span) -> Position {
    let width = if span.start.line() == span.end.line() {
        span.end.col().saturating_sub(span.start.col()).max(1)
    } else {
        1
    };
    Position { width, ..point(span.start) }
}

/// A list or map whose end has not come yet.
enum Open {
    List { at: Position, items: Vec<YamlNode> },
    Map { at: Position, entries: Vec<YamlEntry>, key: Option<(String, Position)> },
}

struct Builder {
    open: Vec<Open>,
    root: Option<YamlNode>,
    documents: usize,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Fault> {
        let at = position(span);
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(unsupported(at, "a second document"));
                }
                Ok(())
            }
            Event::Alias(_) => Err(unsupported(at, "an alias")),
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => Err(unsupported(at, "a tag")),
            Event::Scalar(_, _, 1.., None)
            | Event::SequenceStart(1.., None)
            | Event::MappingStart(1.., None) => Err(unsupported(at, "an anchor")),
            Event::Scalar(text, ScalarStyle::Plain, 0, None) => {
                self.finish(YamlNode { at, value: NodeValue::Plain(text.into_owned()) })
            }
            Event::Scalar(text, _, 0, None) => {
                self.finish(YamlNode { at, value: NodeValue::Quoted(text.into_owned()) })
            }
            Event::SequenceStart(0, None) => self.open(Open::List { at, items: Vec::new() }, at),
            Event::MappingStart(0, None) => self.open(Open::Map { at, entries: Vec::new(), key: None }, at),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List { at, items }) => self.finish(YamlNode { at, value: NodeValue::List(items) }),
                Some(Open::Map { at, entries, .. }) => {
                    self.finish(YamlNode { at, value: NodeValue::Map(entries) })
                }
                None => Ok(()),
            },
        }
    }

    fn open(&mut self, open: Open, at: Position) -> Result<(), Fault> {
        if self.open.len() >= DEPTH_LIMIT {
            return Err(Fault::new(at, ConfigErrorKind::TooDeep { limit: DEPTH_LIMIT }));
        }
        self.open.push(open);
        Ok(())
    }

    fn finish(&mut self, node: YamlNode) -> Result<(), Fault> {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List { items, .. }) => items.push(node),
            Some(Open::Map { entries, key, .. }) => {
                if let Some((name, at)) = key.take() {
                    entries.push(YamlEntry { key: name, at, value: node });
                    return Ok(());
                }
                let at = node.at;
                let (NodeValue::Plain(name) | NodeValue::Quoted(name)) = node.value else {
                    return Err(unsupported(at, "a list or map as a key"));
                };
                if let Some(first) = entries.iter().find(|entry| entry.key == name) {
                    let line = first.at.line;
                    return Err(Fault::new(at, ConfigErrorKind::Duplicate { key: name, first: line }));
                }
                *key = Some((name, at));
            }
        }
        Ok(())
    }
}

fn unsupported(at: Position, what: &'static str) -> Fault {
    Fault::new(at, ConfigErrorKind::Unsupported { what })
        .with_hint("write the value out: one plain document, without anchors, aliases and tags")
}
