//! Lines of JSON-RPC: what can be told of one without taking it apart.
//!
//! A line is read as far as it must be, so that what passes costs one scan and no tree, however deep it is. Names that stand twice in a
//! message make it malformed: two readers could take it for two different messages.

use std::collections::HashMap;
use std::fmt;

use checkrein_clients::says_twice;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value as Json;

/// What a message says of itself.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope {
    /// `null` is one too: some clients and servers write it, and it is answered.
    #[serde(default, deserialize_with = "present")]
    pub(crate) id: Option<Json>,
    #[serde(default)]
    pub(crate) method: Option<String>,
    /// Read so that it stands there once.
    #[serde(default, rename = "params")]
    _params: Option<IgnoredAny>,
    #[serde(default)]
    result: Option<IgnoredAny>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

/// What stands there, `null` too.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

impl Envelope {
    /// Whether it answers a request.
    pub(crate) fn is_answer(&self) -> bool {
        self.result.is_some() || self.error.is_some() || self.method.is_none()
    }

    /// Whether it is a call of a tool.
    pub(crate) fn is_call(&self) -> bool {
        self.method.as_deref() == Some(CALL)
    }
}

/// A message that is written as an object. Derived readers take a list for one too, and several messages within several would be one of them.
struct Object(Envelope);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Object, A::Error> {
        Envelope::deserialize(MapAccessDeserializer::new(fields)).map(Object)
    }
}

/// The method that calls a tool.
pub(crate) const CALL: &str = "tools/call";

/// What a line is.
#[derive(Debug)]
pub(crate) enum Line {
    /// Blanks.
    Empty,
    /// One message.
    Message(Envelope),
    /// Several in one array (protocol 2025-03-26).
    Batch(Vec<Envelope>),
    /// None that every reader would read the same.
    Malformed,
}

impl Line {
    /// Reads a line.
    pub(crate) fn of(line: &[u8]) -> Self {
        let text = line.trim_ascii();
        let read = match text.first() {
            None => return Self::Empty,
            Some(b'[') => serde_json::from_slice(text)
                .map(|all: Vec<Object>| Self::Batch(all.into_iter().map(|Object(one)| one).collect())),
            Some(_) => serde_json::from_slice(text).map(Self::Message),
        };
        read.unwrap_or(Self::Malformed)
    }
}

/// Whether a line mentions a word in any spelling that JSON has for it. Of a malformed line nothing else can be told.
pub(crate) fn mentions(line: &[u8], word: &str) -> bool {
    let mut plain = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((first, behind)) = rest.split_first() {
        let escape = if *first == b'\\' { behind.first() } else { None };
        match escape {
            Some(b'u') => {
                let digits = behind.get(1..5).and_then(|digits| std::str::from_utf8(digits).ok());
                match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
                    Some(code) => {
                        plain.push(u8::try_from(code).unwrap_or(b'?'));
                        rest = behind.get(5..).unwrap_or_default();
                    }
                    None => rest = behind,
                }
            }
            Some(letter) => {
                plain.push(*letter);
                rest = behind.get(1..).unwrap_or_default();
            }
            None => {
                // Zeros in between are how wider characters look.
                if *first != 0 {
                    plain.push(*first);
                }
                rest = behind;
            }
        }
    }
    plain.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

/// A message as a tree. Halves of surrogate pairs, which JavaScript writes where it cut a text, are read as unknown characters.
pub(crate) fn tree(line: &[u8]) -> Option<Json> {
    let text = line.trim_ascii();
    serde_json::from_slice(text).ok().or_else(|| serde_json::from_slice(&without_halves(text)?).ok())
}

/// Whether a name stands twice in one object of a message, also where halves of surrogate pairs stand in it.
pub(crate) fn names_twice(line: &[u8]) -> bool {
    without_halves(line).map_or_else(|| says_twice(line), |whole| says_twice(&whole))
}

/// The text with an unknown character in place of each half of a surrogate pair; `None` where there is none.
fn without_halves(text: &[u8]) -> Option<Vec<u8>> {
    let code = |at: usize| -> Option<u32> {
        let escape = text.get(at..at + 6)?;
        let digits = escape.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut whole = Vec::with_capacity(text.len());
    let (mut at, mut found) = (0, false);
    while let Some(byte) = text.get(at) {
        if *byte != b'\\' {
            whole.push(*byte);
            at += 1;
            continue;
        }
        let length = match code(at) {
            Some(0xD800..=0xDBFF) if matches!(code(at + 6), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => {
                whole.extend_from_slice(b"\\ufffd");
                found = true;
                at += 6;
                continue;
            }
            Some(_) => 6,
            None => 2,
        };
        whole.extend_from_slice(text.get(at..(at + length).min(text.len())).unwrap_or_default());
        at += length;
    }
    found.then_some(whole)
}

/// How many values a line holds at most, by the signs between them outside of texts: what a tree of it takes is counted before it is built.
pub(crate) fn count_values(line: &[u8]) -> usize {
    let (mut count, mut is_text, mut is_escaped) = (0, false, false);
    for byte in line {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b',' | b':' | b'[' | b'{' if !is_text => count += 1,
            _ => {}
        }
    }
    count
}

/// The id of a message of which only the beginning and the end are known; `None` where neither shows it.
pub(crate) fn id_of_parts(head: &[u8], tail: &[u8]) -> Option<Json> {
    id_at_beginning(head).or_else(|| id_at_end(tail))
}

fn id_at_beginning(head: &[u8]) -> Option<Json> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = head.get(at) {
        match byte {
            b'"' => {
                let length = text_length(head.get(at..)?)?;
                let text = head.get(at..at + length)?;
                at += length;
                let rest = head.get(at..)?.trim_ascii_start();
                if depth == 1 && text == b"\"id\"" && rest.first() == Some(&b':') {
                    return scalar(rest.get(1..)?).map(|(id, _)| id);
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The id of a message that ends with it: behind it comes one bracket.
fn id_at_end(tail: &[u8]) -> Option<Json> {
    let at = tail.windows(4).rposition(|window| window == b"\"id\"")?;
    let rest = tail.get(at + 4..)?.trim_ascii_start().strip_prefix(b":")?;
    let (id, rest) = scalar(rest)?;
    (rest.trim_ascii() == b"}").then_some(id)
}

/// The text or number at the beginning, and what is behind it.
fn scalar(bytes: &[u8]) -> Option<(Json, &[u8])> {
    let bytes = bytes.trim_ascii_start();
    let length = match bytes.first()? {
        b'"' => text_length(bytes)?,
        _ => bytes.iter().position(|byte| matches!(byte, b',' | b'}') || byte.is_ascii_whitespace())?,
    };
    let (scalar, rest) = bytes.split_at_checked(length)?;
    Some((serde_json::from_slice(scalar).ok()?, rest))
}

/// The length of the text in quotes at the beginning; `None` where it does not end.
fn text_length(bytes: &[u8]) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// What is remembered of requests until they are answered, by their id.
#[derive(Debug)]
pub(crate) struct Requests<T> {
    open: HashMap<String, Vec<(Json, T)>>,
    count: usize,
}

impl<T> Default for Requests<T> {
    fn default() -> Self {
        Self { open: HashMap::new(), count: 0 }
    }
}

/// How many requests may be unanswered (ours): no client has more than a few.
const MOST: usize = 65_536;

impl<T> Requests<T> {
    /// Remembers a request; whether there was room.
    pub(crate) fn insert(&mut self, id: &Json, request: T) -> bool {
        if self.count >= MOST {
            return false;
        }
        self.count += 1;
        self.open.entry(name(id)).or_default().push((id.clone(), request));
        true
    }

    /// The request that an answer with this id is for. It is remembered no more where the id is written as it was.
    pub(crate) fn take(&mut self, id: &Json) -> Answered<T> {
        let name = name(id);
        let Some(same) = self.open.get_mut(&name) else { return Answered::Nothing };
        let Some(place) = same.iter().position(|(known, _)| known == id) else { return Answered::Misspelled };
        let (_, request) = same.remove(place);
        if same.is_empty() {
            self.open.remove(&name);
        }
        self.count -= 1;
        Answered::Request(request)
    }
}

/// What an answer is for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answered<T> {
    /// A request that is remembered.
    Request(T),
    /// None that is.
    Nothing,
    /// One whose id is written otherwise (`"5"` and `5.0` for `5`): some readers take it for an answer and some do not.
    Misspelled,
}

/// Whether some reader takes two ids for the same.
pub(crate) fn is_same(one: &Json, other: &Json) -> bool {
    name(one) == name(other)
}

/// An id as a text: the same for all that some reader takes for the same.
fn name(id: &Json) -> String {
    match id {
        Json::String(text) => text.trim().to_owned(),
        Json::Number(number) => match number.as_f64() {
            Some(float) if number.as_i64().is_none() && float.fract() == 0.0 => format!("{float:.0}"),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_told_at_any_depth() {
        let deep = format!(
            "{{\"id\":1,\"method\":\"tools/call\",\"params\":{}1{}}}",
            "[".repeat(5000),
            "]".repeat(5000)
        );
        assert!(matches!(Line::of(deep.as_bytes()), Line::Message(envelope) if envelope.is_call()));
        assert!(tree(deep.as_bytes()).is_none());
    }

    #[test]
    fn a_name_that_stands_twice_makes_a_message_malformed() {
        let twice = br#"{"id":1,"method":"ping","method":"tools/call"}"#;
        assert!(matches!(Line::of(twice), Line::Malformed));
        for spelled in
            [&br#"{"method":"tools\/call""#[..], br#"{"method":"\u0074ools/call""#, br"{tools/CALL"]
        {
            assert!(mentions(spelled, CALL), "{}", String::from_utf8_lossy(spelled));
        }
        assert!(!mentions(br#"{"method":"tools/list""#, CALL));
    }

    #[test]
    fn a_half_of_a_pair_is_an_unknown_character() {
        let read = tree(br#"{"a":"x\ud83d","b":"\ud83d\ude00","c":"\\ud83d"}"#).unwrap();
        assert_eq!(read, json!({ "a": "x\u{fffd}", "b": "\u{1f600}", "c": "\\ud83d" }));
    }

    #[test]
    fn the_id_of_a_long_message_is_found_at_either_end() {
        let head = br#"{"jsonrpc":"2.0","result":{"id":9},"id":"a\"b","x":"#;
        assert_eq!(id_of_parts(head, b""), Some(json!("a\"b")));
        assert_eq!(id_of_parts(br#"{"result":{"id":9,"#, br#"x"},"jsonrpc":"2.0","id":5}"#), Some(json!(5)));
        assert_eq!(
            id_of_parts(br#"{"result":{"id":9,"#, br#"{"id":5}}"#),
            None,
            "it is that of something inside"
        );
    }

    #[test]
    fn an_answer_finds_its_request_by_its_id_alone() {
        let mut requests = Requests::default();
        for number in [json!(7), json!("7"), json!("a")] {
            assert!(requests.insert(&number, number.to_string()));
        }
        assert_eq!(requests.take(&json!(7.0)), Answered::Misspelled);
        assert_eq!(requests.take(&json!("7")), Answered::Request("\"7\"".to_owned()));
        assert_eq!(requests.take(&json!("7")), Answered::Misspelled, "7 still waits");
        assert_eq!(requests.take(&json!(7)), Answered::Request("7".to_owned()));
        assert_eq!(requests.take(&json!(7)), Answered::Nothing);
        assert_eq!(requests.take(&json!("a")), Answered::Request("\"a\"".to_owned()));
        assert_eq!(requests.count, 0);
    }
}
