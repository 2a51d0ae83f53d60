//! The fields of a JSON object and the items of an array, found without reading what they hold.
//!
//! A line may be 50 MB long, and what matters of it stands in a few short fields. So the text is walked over once and nothing is copied.
//! What is found here is a superset of what a strict reader accepts: who needs a value reads it strictly. A name may stand there twice;
//! the last one counts, as for the readers of JavaScript and Rust.

use std::borrow::Cow;
use std::ops::Range;

/// One field of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    /// Its name.
    pub(crate) name: Cow<'a, str>,
    /// The text of its value.
    pub(crate) value: &'a [u8],
    /// Where that stands.
    pub(crate) at: Range<usize>,
}

/// The fields of an object in order; `None` when the text is not one object.
pub(crate) fn fields(text: &[u8]) -> Option<Vec<Field<'_>>> {
    let (found, end) = begun_fields(text)?;
    (blank(text, end?) == text.len()).then_some(found)
}

/// The fields of an object as far as the text goes, for a text that may be cut off: the whole ones, and where the object ends when it does.
pub(crate) fn begun_fields(text: &[u8]) -> Option<(Vec<Field<'_>>, Option<usize>)> {
    let mut at = blank(text, 0);
    (text.get(at) == Some(&b'{')).then_some(())?;
    at = blank(text, at + 1);
    let mut found = Vec::new();
    if text.get(at) == Some(&b'}') {
        return Some((found, Some(at + 1)));
    }
    loop {
        let Some(name_end) = string(text, at) else { return Some((found, None)) };
        let name = plain(text.get(at..name_end)?)?;
        at = blank(text, name_end);
        match text.get(at) {
            Some(b':') => {}
            Some(_) => return None,
            None => return Some((found, None)),
        }
        let start = blank(text, at + 1);
        let Some(end) = value(text, start) else { return Some((found, None)) };
        at = blank(text, end);
        match text.get(at) {
            Some(b',') => {
                found.push(Field { name, value: text.get(start..end)?, at: start..end });
                at = blank(text, at + 1);
            }
            Some(b'}') => {
                found.push(Field { name, value: text.get(start..end)?, at: start..end });
                return Some((found, Some(at + 1)));
            }
            Some(_) => return None,
            None => return Some((found, None)),
        }
    }
}

/// The items of an array in order; `None` when the text is not one array.
pub(crate) fn items(text: &[u8]) -> Option<Vec<&[u8]>> {
    let mut at = blank(text, 0);
    (text.get(at) == Some(&b'[')).then_some(())?;
    at = blank(text, at + 1);
    let mut found = Vec::new();
    if text.get(at) == Some(&b']') {
        return (blank(text, at + 1) == text.len()).then_some(found);
    }
    loop {
        let end = value(text, at)?;
        found.push(text.get(at..end)?);
        at = blank(text, end);
        match text.get(at)? {
            b',' => at = blank(text, at + 1),
            b']' => return (blank(text, at + 1) == text.len()).then_some(found),
            _ => return None,
        }
    }
}

/// The value of the last field with this name.
pub(crate) fn last<'a>(fields: &[Field<'a>], name: &str) -> Option<&'a [u8]> {
    fields.iter().rev().find(|field| field.name == name).map(|field| field.value)
}

/// The text of a string value of the last field with this name; `None` when it is not a string.
pub(crate) fn text<'a>(fields: &[Field<'a>], name: &str) -> Option<Cow<'a, str>> {
    last(fields, name).and_then(plain)
}

/// A string without its quotes; `None` when the value is not a string. Bytes that are not UTF-8 are read as readers of streams read them.
pub(crate) fn plain(value: &[u8]) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if inner.contains(&b'\\') {
        let whole = String::from_utf8_lossy(value);
        return serde_json::from_str::<String>(&whole).ok().map(Cow::Owned);
    }
    Some(String::from_utf8_lossy(inner))
}

/// Where the white space from `at` on ends.
fn blank(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count()
}

/// Where the string that begins at `at` ends; `None` when none begins there, or none ends.
fn string(text: &[u8], at: usize) -> Option<usize> {
    (text.get(at) == Some(&b'"')).then_some(())?;
    let mut at = at + 1;
    loop {
        let rest = text.get(at..)?;
        let next = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        at += next;
        if rest.get(next) == Some(&b'"') {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Where the value that begins at `at` ends; `None` when none begins there, or none ends.
fn value(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'"' => string(text, at),
        b'{' | b'[' => {
            let (mut depth, mut at) = (0_usize, at);
            loop {
                match text.get(at)? {
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            return Some(at + 1);
                        }
                    }
                    b'"' => {
                        at = string(text, at)?;
                        continue;
                    }
                    _ => {}
                }
                at += 1;
            }
        }
        _ => {
            let rest = text.get(at..)?;
            let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
            let length = rest.iter().position(ends).unwrap_or(rest.len());
            (length > 0).then_some(at + length)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value as Json, json};

    fn named(text: &str) -> Option<Vec<(String, String)>> {
        let pair =
            |field: Field<'_>| (field.name.into_owned(), String::from_utf8_lossy(field.value).into_owned());
        fields(text.as_bytes()).map(|all| all.into_iter().map(pair).collect())
    }

    #[test]
    fn fields_are_found_without_their_values_being_read() {
        let found =
            named(r#" { "a" : {"x":"}\"" , "y":[1,2]}, "b\u0063":null ,"d":-1e400,"e":"\\" } "#).unwrap();
        let expected =
            [("a", r#"{"x":"}\"" , "y":[1,2]}"#), ("bc", "null"), ("d", "-1e400"), ("e", r#""\\""#)];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(named("{}"), Some(vec![]));
        for other in ["", "[]", "{", r#"{"a"}"#, r#"{"a":1}{"b":2}"#, r#"{"a":}"#, r#"{"a":1"#, "{'a':1}"] {
            assert_eq!(named(other), None, "{other}");
        }
    }

    #[test]
    fn the_last_of_two_fields_with_one_name_counts() {
        let twice = fields(br#"{"method":"a","method":"b"}"#).unwrap();
        assert_eq!(text(&twice, "method").as_deref(), Some("b"));
    }

    #[test]
    fn a_text_that_is_cut_off_gives_its_whole_fields() {
        let (found, end) = begun_fields(br#"{"id":7,"method":"x","params":{"content":"aaa"#).unwrap();
        assert_eq!(
            (text(&found, "method").as_deref(), last(&found, "id"), end),
            (Some("x"), Some(&b"7"[..]), None)
        );
    }

    fn value() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i64>().prop_map(Json::from),
            any::<String>().prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
                prop::collection::vec((any::<String>(), inner), 0..4)
                    .prop_map(|all| Json::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn each_object_has_the_fields_that_a_strict_reader_finds(value in value(), pretty in any::<bool>()) {
            let object = json!({ "first": 1, "value": value, "last": [value] });
            let text = if pretty { serde_json::to_string_pretty(&object) } else { serde_json::to_string(&object) }.unwrap();
            let found = fields(text.as_bytes()).unwrap();
            let again: serde_json::Map<String, Json> = found
                .iter()
                .map(|field| (field.name.clone().into_owned(), serde_json::from_slice(field.value).unwrap()))
                .collect();
            prop_assert_eq!(Json::Object(again), object);
            for end in 0..text.len() {
                prop_assert!(fields(&text.as_bytes()[..end]).is_none());
            }
        }

        #[test]
        fn no_bytes_confuse_it(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = (fields(&bytes), items(&bytes), begun_fields(&bytes));
        }
    }
}
