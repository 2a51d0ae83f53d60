//! How much values weigh that code makes: texts that grow, lists within lists. What weighs too much is not known, and what is made
//! counts as work, so that no code makes its reader take memory or time without bound.

use super::evaluator::Evaluator;
use super::value::ScriptValue;
use crate::interpreter::Value;

/// The greatest length of a text that is made, in bytes (ours).
pub(super) const TEXT: usize = 128 * 1024;
/// The greatest weight of a value with all that it holds, in bytes (ours).
const WHOLE: usize = 256 * 1024;
/// What a value weighs beside its texts, in bytes (ours).
const ITEM: usize = 16;
/// How deep a value may hold others (ours).
const NESTED: usize = 24;
/// The greatest length of the full name of something, in bytes (ours).
const NAME: usize = 4096;
/// How many bytes that are made count as one step (ours).
const BYTES_OF_STEP: usize = 256;

/// The length of all texts that a value holds, in bytes.
pub(super) fn length(value: &Value) -> usize {
    match value {
        Value::Exact(text) | Value::Glob(text) => text.len(),
        Value::AnyOf(texts) => texts.iter().map(String::len).sum(),
        Value::Between { prefix, suffix } => prefix.len().saturating_add(suffix.len()),
        Value::Unknown => 0,
    }
}

/// A text and the one behind it; unknown where it would grow too long, which is measured before it is made.
pub(super) fn put_together(first: &Value, next: &Value) -> Value {
    let count = |value: &Value| value.alternatives().map_or(1, <[String]>::len).max(1);
    let made =
        length(first).saturating_mul(count(next)).saturating_add(length(next).saturating_mul(count(first)));
    if made > TEXT { Value::Unknown } else { first.followed_by(next) }
}

/// A text with one part replaced by another wherever it stands; unknown where it would grow too long.
pub(super) fn replaced(text: &str, from: &str, to: &str) -> Value {
    if from.is_empty() {
        return Value::Unknown;
    }
    let count = text.matches(from).count();
    if text.len().saturating_add(count.saturating_mul(to.len())) > TEXT {
        return Value::Unknown;
    }
    Value::exact(text.replace(from, to))
}

/// A text several times; unknown where it would grow too long.
pub(super) fn repeated(text: &str, count: usize) -> Value {
    if text.len().saturating_mul(count) > TEXT { Value::Unknown } else { Value::exact(text.repeat(count)) }
}

/// Several texts one behind the other.
pub(super) fn concatenated<'t>(parts: impl IntoIterator<Item = &'t ScriptValue>) -> ScriptValue {
    let mut whole = ScriptValue::text("");
    // What is exact is gathered first: each text is copied once.
    let mut gathered = String::new();
    for part in parts {
        match part {
            ScriptValue::Text(Value::Exact(text)) if gathered.len().saturating_add(text.len()) <= TEXT => {
                gathered.push_str(text);
            }
            other => {
                whole = whole.followed_by(&ScriptValue::text(std::mem::take(&mut gathered)));
                whole = whole.followed_by(other);
            }
        }
    }
    if gathered.is_empty() { whole } else { whole.followed_by(&ScriptValue::text(gathered)) }
}

/// Adds the weight of a value to that of others; `false` where it is too much, or holds others too deeply.
fn weigh(value: &ScriptValue, depth: usize, bytes: &mut usize) -> bool {
    *bytes = bytes.saturating_add(ITEM);
    if depth > NESTED || *bytes > WHOLE {
        return false;
    }
    match value {
        ScriptValue::Text(text)
        | ScriptValue::Path(text)
        | ScriptValue::File(text)
        | ScriptValue::Secret(_, text)
        | ScriptValue::Socket(text)
        | ScriptValue::Database(text) => {
            *bytes = bytes.saturating_add(length(text));
            *bytes <= WHOLE
        }
        ScriptValue::List(items) => items.iter().all(|item| weigh(item, depth + 1, bytes)),
        ScriptValue::Map(entries) => entries.iter().all(|(key, entry)| {
            *bytes = bytes.saturating_add(key.len());
            weigh(entry, depth + 1, bytes)
        }),
        ScriptValue::Method(of, name) => name.len() <= NAME && weigh(of, depth + 1, bytes),
        ScriptValue::Name(name) | ScriptValue::Network(name) => {
            *bytes = bytes.saturating_add(name.len());
            name.len() <= NAME
        }
        ScriptValue::Number(_)
        | ScriptValue::Truth(_)
        | ScriptValue::Function(_)
        | ScriptValue::Class(_)
        | ScriptValue::Object(_)
        | ScriptValue::Process(_)
        | ScriptValue::Local
        | ScriptValue::Foreign => true,
    }
}

/// What is left of a value that weighs too much: where it is from, and nothing else.
fn coarse(value: &ScriptValue) -> ScriptValue {
    let unknown = || ScriptValue::Text(Value::Unknown);
    let marked = |item: &ScriptValue| {
        let item = match item {
            ScriptValue::List(items) => items.first().unwrap_or(item),
            other => other,
        };
        match item {
            ScriptValue::Network(url) => Some(ScriptValue::Network(url.chars().take(NAME).collect())),
            ScriptValue::Secret(place, _) => Some(ScriptValue::secret(place.as_str())),
            ScriptValue::Foreign => Some(ScriptValue::Foreign),
            _ => None,
        }
    };
    match value {
        ScriptValue::List(items) => {
            ScriptValue::List(vec![items.iter().find_map(marked).unwrap_or_else(unknown)])
        }
        ScriptValue::Map(entries) => {
            entries.iter().find_map(|(_, entry)| marked(entry)).unwrap_or_else(unknown)
        }
        ScriptValue::Method(_, _) | ScriptValue::Name(_) => ScriptValue::Foreign,
        ScriptValue::Path(_) => ScriptValue::Path(Value::Unknown),
        ScriptValue::File(_) => ScriptValue::File(Value::Unknown),
        other => marked(other).unwrap_or_else(unknown),
    }
}

impl Evaluator<'_, '_, '_> {
    /// A value as it was made, or what is known of it where it is too much. Making it counts as work.
    pub(super) fn within_bounds(&mut self, value: ScriptValue) -> ScriptValue {
        let holds_others = matches!(
            value,
            ScriptValue::List(_) | ScriptValue::Map(_) | ScriptValue::Method(_, _) | ScriptValue::Name(_)
        );
        if !holds_others && !matches!(&value, ScriptValue::Text(text) if length(text) >= BYTES_OF_STEP) {
            return value;
        }
        let mut bytes = 0;
        let fits = weigh(&value, 0, &mut bytes);
        self.works(bytes / BYTES_OF_STEP);
        if fits { value } else { coarse(&value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_would_grow_too_long_is_not_made() {
        let long = "a".repeat(4096);
        assert_eq!(replaced(&long, "a", &long), Value::Unknown);
        assert_eq!(replaced("axa", "a", "bb"), Value::exact("bbxbb"));
        assert_eq!(repeated(&long, usize::MAX), Value::Unknown);
        assert_eq!(repeated("ab", 2), Value::exact("abab"));
        let several = Value::AnyOf((0..16).map(|number| format!("{number}{}", "b".repeat(8192))).collect());
        assert_eq!(put_together(&several, &several), Value::Unknown);
        assert_eq!(put_together(&Value::exact("a"), &Value::exact("b")), Value::exact("ab"));
    }

    #[test]
    fn a_value_that_holds_too_much_is_left_coarse() {
        let mut nested = ScriptValue::text("a");
        for _ in 0..NESTED + 2 {
            nested = ScriptValue::List(vec![nested]);
        }
        assert!(!weigh(&nested, 0, &mut 0));
        let fetched = ScriptValue::List(vec![ScriptValue::Network("https://a.example".to_owned()), nested]);
        assert_eq!(
            coarse(&fetched),
            ScriptValue::List(vec![ScriptValue::Network("https://a.example".to_owned())])
        );
    }

    #[test]
    fn texts_are_put_together_in_order() {
        let parts = [ScriptValue::text("a"), ScriptValue::Number(1), ScriptValue::text("b")];
        assert_eq!(concatenated(&parts), ScriptValue::text("a1b"));
    }
}
