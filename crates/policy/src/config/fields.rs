//! Reading the fields of a map: rules, tripwires, patterns, blueprints.

use super::error::{ConfigErrorKind, Fault, Position, closest};
use super::yaml::{NodeValue, YamlEntry, YamlNode};
use crate::rule::Condition;

/// How thoroughly a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Its form. Conditions are parsed when they are needed.
    Form,
    /// Also every condition and every example.
    Everything,
}

/// The keys that a map may have: name, whether it must be there, what is expected, what it is for.
pub(crate) type Keys = &'static [(&'static str, bool, &'static str, &'static str)];

pub(crate) fn text(entry: &YamlEntry) -> Result<String, Vec<Fault>> {
    match entry.value.scalar() {
        Some(text) => Ok(text.to_owned()),
        None => Err(vec![bad(&entry.key, &entry.value, "a text")]),
    }
}

/// A text, or a list of texts.
pub(crate) fn text_or_texts(entry: &YamlEntry) -> Result<Vec<String>, Vec<Fault>> {
    match entry.value.scalar() {
        Some(text) => Ok(vec![text.to_owned()]),
        None => texts(entry),
    }
}

pub(crate) fn texts(entry: &YamlEntry) -> Result<Vec<String>, Vec<Fault>> {
    let NodeValue::List(items) = &entry.value.value else {
        return Err(vec![bad(&entry.key, &entry.value, "a list of texts")]);
    };
    let texts: Vec<String> = items.iter().filter_map(YamlNode::scalar).map(str::to_owned).collect();
    match items.iter().find(|item| item.scalar().is_none()) {
        Some(item) => Err(vec![bad(&entry.key, item, "a text")]),
        None => Ok(texts),
    }
}

/// One of some words.
pub(crate) fn word<T>(
    entry: &YamlEntry,
    expected: &str,
    words: &[&'static str],
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, Vec<Fault>> {
    let word = entry.value.scalar().unwrap_or_default();
    read(word).ok_or_else(|| {
        let hint = closest(word, words.iter().copied()).map(|word| format!("did you mean `{word}`?"));
        vec![bad(&entry.key, &entry.value, expected).with_optional_hint(hint)]
    })
}

/// The entries of a map; anything else is a fault.
pub(crate) fn map<'a>(key: &str, node: &'a YamlNode, expected: &str) -> Result<&'a [YamlEntry], Vec<Fault>> {
    match &node.value {
        NodeValue::Map(entries) => Ok(entries),
        NodeValue::Plain(_) | NodeValue::Quoted(_) | NodeValue::List(_) => {
            Err(vec![bad(key, node, expected)])
        }
    }
}

/// Keys that must be there and are not.
pub(crate) fn missing(what: &'static str, node: &YamlNode, entries: &[YamlEntry], keys: Keys) -> Vec<Fault> {
    keys.iter()
        .filter(|(key, required, ..)| *required && !entries.iter().any(|entry| entry.key == *key))
        .map(|(key, _, expected, _)| Fault::new(node.at, ConfigErrorKind::Missing { what, key, expected }))
        .collect()
}

pub(crate) fn unknown_key(entry: &YamlEntry, keys: Keys) -> Fault {
    let names = || keys.iter().map(|(name, ..)| *name);
    let expected: Vec<String> = names().map(|name| format!("`{name}`")).collect();
    let kind = ConfigErrorKind::UnknownKey { key: entry.key.clone(), expected: expected.join(", ") };
    let hint = closest(&entry.key, names()).map(|name| format!("did you mean `{name}`?"));
    Fault::new(entry.at, kind).with_optional_hint(hint)
}

pub(crate) fn bad(key: &str, node: &YamlNode, expected: &str) -> Fault {
    let kind = ConfigErrorKind::BadValue {
        key: key.to_owned(),
        found: node.description(),
        expected: expected.to_owned(),
    };
    Fault::new(node.at, kind)
}

/// Whether a name is one of letters, digits, `_` and `-`, at most 64 of them.
pub(crate) fn is_plain_name(text: &str) -> bool {
    let plain = text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-');
    plain && !text.is_empty() && text.len() <= 64
}

/// What is wrong with a condition, at its own place in the file.
pub(crate) fn condition_fault(node: &YamlNode) -> Option<Fault> {
    let text = node.scalar()?;
    let bad = Condition::parse(text).err()?;
    let quotes = usize::from(matches!(node.value, NodeValue::Quoted(_)));
    // Where the text stands on one line as it is, the place of the error in it is known to the letter.
    let verbatim = node.at.width == text.chars().count() + 2 * quotes;
    let at = match bad.column.filter(|_| verbatim) {
        Some(column) => {
            Position { column: node.at.column + quotes + column.saturating_sub(1), width: 1, ..node.at }
        }
        None => node.at,
    };
    Some(Fault::new(at, ConfigErrorKind::BadCondition { message: bad.message }))
}
