//! Reading the fields of a map, with the place of what is wrong.

use std::time::Duration;

use checkrein_policy::yaml::{NodeValue, YamlEntry, YamlNode};
use checkrein_policy::{ConfigErrorKind, Fault, closest};

use crate::template::TextTemplate;

/// The entries of a map with only known keys; what is unknown is a fault.
pub(super) fn known<'a>(
    node: &'a YamlNode,
    what: &str,
    keys: &[&str],
    faults: &mut Vec<Fault>,
) -> &'a [YamlEntry] {
    let NodeValue::Map(entries) = &node.value else {
        faults.push(bad(what, node, "a map"));
        return &[];
    };
    for entry in entries.iter().filter(|entry| !keys.contains(&entry.key.as_str())) {
        let expected: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
        let kind = ConfigErrorKind::UnknownKey { key: entry.key.clone(), expected: expected.join(", ") };
        let hint = closest(&entry.key, keys.iter().copied()).map(|key| format!("did you mean `{key}`?"));
        faults.push(Fault::new(entry.at, kind).with_optional_hint(hint));
    }
    entries
}

pub(super) fn find<'a>(entries: &'a [YamlEntry], key: &str) -> Option<&'a YamlEntry> {
    entries.iter().find(|entry| entry.key == key)
}

pub(super) fn bad(key: &str, node: &YamlNode, expected: &str) -> Fault {
    let kind = ConfigErrorKind::BadValue {
        key: key.to_owned(),
        found: node.description(),
        expected: expected.to_owned(),
    };
    Fault::new(node.at, kind)
}

pub(super) fn unfit(node: &YamlNode, message: impl Into<String>) -> Fault {
    Fault::new(node.at, ConfigErrorKind::Unfit { message: message.into() })
}

/// The text of a field that may be missing.
pub(super) fn text(entries: &[YamlEntry], key: &str, faults: &mut Vec<Fault>) -> Option<String> {
    let entry = find(entries, key)?;
    let text = entry.value.scalar().map(str::to_owned);
    if text.is_none() {
        faults.push(bad(key, &entry.value, "a text"));
    }
    text
}

/// A list of texts, or one text; nothing where the field is missing.
pub(super) fn texts(entries: &[YamlEntry], key: &str, faults: &mut Vec<Fault>) -> Vec<String> {
    let Some(entry) = find(entries, key) else { return Vec::new() };
    if let Some(text) = entry.value.scalar() {
        return vec![text.to_owned()];
    }
    let NodeValue::List(items) = &entry.value.value else {
        faults.push(bad(key, &entry.value, "a list of texts"));
        return Vec::new();
    };
    faults.extend(items.iter().filter(|item| item.scalar().is_none()).map(|item| bad(key, item, "a text")));
    items.iter().filter_map(YamlNode::scalar).map(str::to_owned).collect()
}

/// A template of a field.
pub(super) fn template(entry: &YamlEntry, faults: &mut Vec<Fault>) -> Option<TextTemplate> {
    let Some(text) = entry.value.scalar() else {
        faults.push(bad(&entry.key, &entry.value, "a text"));
        return None;
    };
    read_template(&entry.value, text, faults)
}

/// A list of templates.
pub(super) fn templates(entry: &YamlEntry, faults: &mut Vec<Fault>) -> Vec<TextTemplate> {
    let NodeValue::List(items) = &entry.value.value else {
        faults.push(bad(&entry.key, &entry.value, "a list of words: the program, then its arguments"));
        return Vec::new();
    };
    let mut read = Vec::new();
    for item in items {
        match item.scalar() {
            Some(text) => read.extend(read_template(item, text, faults)),
            None => faults.push(bad(&entry.key, item, "a text")),
        }
    }
    if items.is_empty() {
        faults.push(bad(&entry.key, &entry.value, "at least a program"));
    }
    read
}

pub(super) fn read_template(node: &YamlNode, text: &str, faults: &mut Vec<Fault>) -> Option<TextTemplate> {
    TextTemplate::read(text).map_err(|message| faults.push(unfit(node, message))).ok()
}

/// A whole number within bounds.
pub(super) fn number(
    entries: &[YamlEntry],
    key: &str,
    (least, most): (u32, u32),
    faults: &mut Vec<Fault>,
) -> Option<u32> {
    let entry = find(entries, key)?;
    let number = entry.value.scalar().and_then(|text| text.parse().ok());
    let number = number.filter(|number| (least..=most).contains(number));
    if number.is_none() {
        faults.push(bad(key, &entry.value, &format!("a whole number from {least} to {most}")));
    }
    number
}

/// A time such as `90s`, `30m` or `2h`, of at most a week.
pub(super) fn time(entries: &[YamlEntry], key: &str, faults: &mut Vec<Fault>) -> Option<Duration> {
    let entry = find(entries, key)?;
    let read = entry.value.scalar().and_then(|text| {
        let (amount, unit) = text.split_at(text.len().checked_sub(1)?);
        let seconds = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 60 * 60,
            _ => return None,
        };
        let all = amount.parse::<u64>().ok()?.checked_mul(seconds)?;
        (1..=7 * 24 * 60 * 60).contains(&all).then(|| Duration::from_secs(all))
    });
    if read.is_none() {
        faults.push(bad(key, &entry.value, "a time such as 90s, 30m or 2h, at most a week"));
    }
    read
}

/// Yes or no.
pub(super) fn yes(entries: &[YamlEntry], key: &str, faults: &mut Vec<Fault>) -> bool {
    let Some(entry) = find(entries, key) else { return false };
    match entry.value.scalar() {
        Some("true") => true,
        Some("false") => false,
        _ => {
            faults.push(bad(key, &entry.value, "true or false"));
            false
        }
    }
}

/// One of some words.
pub(super) fn word<T>(
    entries: &[YamlEntry],
    key: &str,
    words: &[(&'static str, T)],
    faults: &mut Vec<Fault>,
) -> Option<T>
where
    T: Clone,
{
    let entry = find(entries, key)?;
    let given = entry.value.scalar().unwrap_or_default();
    let found = words.iter().find(|(word, _)| *word == given).map(|(_, value)| value.clone());
    if found.is_none() {
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let hint = closest(given, names.iter().copied()).map(|word| format!("did you mean `{word}`?"));
        faults.push(bad(key, &entry.value, &format!("one of {}", names.join(", "))).with_optional_hint(hint));
    }
    found
}

/// Whether a name is one of letters, digits, `_` and `-`, which begins with a letter or digit, at most 40 of them: it is part of the names of
/// files and branches.
pub(super) fn is_name(text: &str) -> bool {
    let plain = text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'));
    plain && text.starts_with(|letter: char| letter.is_ascii_alphanumeric()) && text.len() <= 40
}

/// Whether a path lies below the directory that it is relative to.
pub(super) fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && !path.starts_with('/')
        && path.split('/').all(|part| !part.is_empty() && part != ".." && part != "." && part != ".git")
}
