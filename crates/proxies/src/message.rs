//! One line of a conversation, as far as it has to be known to decide about it.

use std::borrow::Cow;
use std::ops::Range;

use checkrein_protocol::folded;
use serde_json::Value as Json;

use crate::methods::RUNNING;
use crate::scan::{self, Field};

/// What a line is.
#[derive(Debug)]
pub(crate) enum Line<'a> {
    /// One message.
    Message(Message<'a>),
    /// Several messages, each as its own text.
    Batch(Vec<&'a [u8]>),
    /// Nothing but white space.
    Blank,
    /// Not JSON, or not a message.
    Unreadable,
}

/// A request, a notification or a response.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    /// Its id as it stands there; `None` for a notification.
    pub(crate) id: Option<&'a [u8]>,
    /// The method; `None` for a response.
    pub(crate) method: Option<Cow<'a, str>>,
    /// All methods that it names, where its id, its method or its parameters stand there twice: which of two a reader takes, nobody knows.
    pub(crate) twofold: Vec<Cow<'a, str>>,
    /// The parameters.
    pub(crate) params: Option<&'a [u8]>,
    /// Where they stand.
    pub(crate) params_at: Option<Range<usize>>,
    /// The result of a response.
    pub(crate) result: Option<&'a [u8]>,
    /// The error of a response.
    pub(crate) error: Option<&'a [u8]>,
}

/// An id by which a response is matched with its request: `1` and `"1"` are two.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key(String);

impl Key {
    /// The key of an id as it stands in a message.
    pub(crate) fn of(id: &[u8]) -> Self {
        let read = serde_json::from_slice::<Json>(id).map(|id| id.to_string());
        Self(read.unwrap_or_else(|_| String::from_utf8_lossy(id).into_owned()))
    }

    /// The key of an id of ours, which is a text.
    pub(crate) fn of_text(id: &str) -> Self {
        Self(Json::from(id).to_string())
    }

    /// The id, where it is a text.
    pub(crate) fn text(&self) -> Option<String> {
        serde_json::from_str(&self.0).ok()
    }
}

impl<'a> Line<'a> {
    /// Reads a line.
    pub(crate) fn read(line: &'a [u8]) -> Self {
        // Some readers end a line at a carriage return too, and would see other messages than we do.
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        if text.strip_suffix(b"\r").unwrap_or(text).contains(&b'\r') {
            return Self::Unreadable;
        }
        if let Some(fields) = scan::fields(line) {
            return Self::Message(Message::of(&fields));
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            return Self::Blank;
        }
        match scan::items(line) {
            // Nobody may write several messages within several messages, and some readers would take them all the same.
            Some(items) if !items.iter().any(|item| item.starts_with(b"[")) => Self::Batch(items),
            Some(_) | None => Self::Unreadable,
        }
    }
}

impl<'a> Message<'a> {
    /// The message that these fields make up.
    pub(crate) fn of(fields: &[Field<'a>]) -> Self {
        let params = fields.iter().rev().find(|field| field.name == "params");
        let of_name = |name: &'static str| fields.iter().filter(move |field| field.name == name);
        let is_twofold = ["id", "method", "params"].iter().any(|name| of_name(name).nth(1).is_some());
        let methods = of_name("method").filter(|_| is_twofold);
        Self {
            id: scan::last(fields, "id"),
            // What stands there and is not a text is no method that anybody knows.
            method: scan::last(fields, "method").map(|value| scan::plain(value).unwrap_or(Cow::Borrowed(""))),
            twofold: methods.filter_map(|field| scan::plain(field.value)).collect(),
            params: params.map(|field| field.value),
            params_at: params.map(|field| field.at.clone()),
            result: scan::last(fields, "result"),
            error: scan::last(fields, "error"),
        }
    }

    /// The name of its method; empty for a response.
    pub(crate) fn method(&self) -> &str {
        self.method.as_deref().unwrap_or_default()
    }

    /// The parameters, strictly read; `Null` where there are none, `None` where they are not JSON.
    pub(crate) fn read_params(&self) -> Option<Json> {
        self.params.map_or(Some(Json::Null), strict)
    }
}

/// A value, read strictly but for bytes that are not UTF-8, which are read as readers of streams read them.
pub(crate) fn strict(value: &[u8]) -> Option<Json> {
    serde_json::from_slice(value).or_else(|_| serde_json::from_str(&String::from_utf8_lossy(value))).ok()
}

/// Whether a line that cannot be read holds the name of a method that matters, or a method and something to run: a reader that is less strict
/// than ours might obey it.
pub(crate) fn may_be_obeyed(line: &[u8]) -> bool {
    let text = unescaped(line).to_ascii_lowercase();
    let holds = |name: &[u8]| text.windows(name.len()).any(|window| window == name);
    [&b"permission"[..], b"fs/", b"terminal/"].into_iter().any(holds)
        || holds(b"\"method\"") && holds_name(line, &|name| RUNNING.contains(&name))
}

/// Whether a name for which this holds stands before a colon in a text that need not be JSON; names come folded.
pub(crate) fn holds_name(text: &[u8], is_meant: &dyn Fn(&str) -> bool) -> bool {
    let text = unescaped(text);
    let quoted = text.split(|byte| *byte == b'"').collect::<Vec<_>>();
    quoted.windows(2).any(|pair| {
        let [name, behind] = pair else { return false };
        behind.trim_ascii_start().starts_with(b":")
            && std::str::from_utf8(name).is_ok_and(|name| is_meant(&folded(name)))
    })
}

/// The text with escapes of plain characters taken out: `\/` and `\u0066`.
fn unescaped(line: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(line.len());
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        let digits = line.get(at + 2..at + 6).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|text| u8::from_str_radix(text, 16).ok());
        match (byte, line.get(at + 1), code) {
            (b'\\', Some(b'/'), _) => {
                text.push(b'/');
                at += 2;
            }
            (b'\\', Some(b'u'), Some(code)) => {
                text.push(code);
                at += 6;
            }
            _ => {
                text.push(*byte);
                at += 1;
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Message<'_> {
        match Line::read(text.as_bytes()) {
            Line::Message(message) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn requests_notifications_and_responses_are_told_apart() {
        let request = message(r#"{"jsonrpc":"2.0","id":null,"method":"fs\/read","params":{}}"#);
        assert_eq!((request.id, request.method()), (Some(&b"null"[..]), "fs/read"));
        let notification = message(r#"{"method":"x"}"#);
        assert_eq!((notification.id, notification.read_params()), (None, Some(Json::Null)));
        let response = message(r#"{"id":"1","result":null}"#);
        assert!(response.method.is_none() && response.result == Some(b"null"));
        assert!(matches!(Line::read(b"  \r\n"), Line::Blank));
        assert!(matches!(Line::read(b"[{\"id\":1},2]"), Line::Batch(items) if items.len() == 2));
        for line in [&b"hello {\"id\":1}"[..], b"[[{\"id\":1}]]", b"{\"a\":\r{\"method\":\"x\"}\r}\n"] {
            assert!(matches!(Line::read(line), Line::Unreadable));
        }
        assert!(matches!(Line::read(b"{\"id\":1}\r\n"), Line::Message(_)));
    }

    #[test]
    fn an_id_is_matched_by_its_kind_and_not_by_how_it_is_written() {
        assert_eq!(Key::of(b"\"a\""), Key::of(b"\"\\u0061\""));
        assert_eq!(Key::of(b"\"a\""), Key::of_text("a"));
        assert_ne!(Key::of(b"1"), Key::of(b"\"1\""));
        assert_ne!(Key::of(b"null"), Key::of(b"\"null\""));
    }

    #[test]
    fn what_a_laxer_reader_might_obey_is_known_in_broken_lines_too() {
        for line in [
            r#"{"method":"fs/write_text_file",}"#,
            r#"{"method":"\u0066s\/write_text_file""#,
            r#"x{"method":"session/request_permission"}"#,
            r#"{"a":1}{"method":"terminal/create"}"#,
            r#"{"method":"Terminal/Create",}"#,
            r#"{"method":"session/requestPermission",}"#,
            r#"{"method":"_acme/exec","params":{"Command":"ls",}}"#,
        ] {
            assert!(may_be_obeyed(line.as_bytes()), "{line}");
        }
        for line in [
            "Loading model... \\u00e9 \\u 50%",
            r#"{"command": "ls",}"#,
            r#"{"method":"_acme/say","params":{"text":"command",}}"#,
        ] {
            assert!(!may_be_obeyed(line.as_bytes()), "{line}");
        }
    }
}
