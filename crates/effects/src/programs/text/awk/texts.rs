//! Texts that a program puts together.

use crate::interpreter::Value;

/// The greatest length of a text that is kept, in bytes (ours).
const TEXT: usize = 64 * 1024;

/// One text behind another, as long as they are not too long to be kept.
pub(super) fn put_together(left: &Value, right: &Value) -> Value {
    let length = |value: &Value| value.known_start().len().saturating_add(value.known_end().len());
    if length(left).saturating_add(length(right)) > TEXT { Value::Unknown } else { left.followed_by(right) }
}

pub(super) fn mapped(value: &Value, work: impl Fn(&str) -> String) -> Value {
    let texts = value.alternatives().map(|texts| texts.iter().map(|text| work(text)).collect::<Vec<_>>());
    match texts {
        Some(texts) if texts.iter().all(|text| text.len() <= TEXT) => Value::one_of(texts),
        Some(_) | None => Value::Unknown,
    }
}

/// `sprintf(format, ...)`
pub(super) fn formatted(values: &[Value]) -> Value {
    let Some(format) = values.first().and_then(Value::as_exact) else {
        return values.first().map_or(Value::Unknown, |format| {
            Value::exact("").followed_by(format).followed_by(&Value::Unknown)
        });
    };
    let mut given = values.iter().skip(1);
    let mut whole = Value::exact("");
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            whole = put_together(&whole, &Value::exact(c.to_string()));
            continue;
        }
        let part = match rest.next() {
            Some('%') | None => Value::exact("%"),
            Some('s') => given.next().cloned().unwrap_or_else(|| Value::exact("")),
            Some('d' | 'i') => match given.next().and_then(Value::as_exact) {
                Some(number) if number.parse::<i64>().is_ok() => Value::exact(number),
                Some(_) | None => Value::Unknown,
            },
            Some('c') => match given.next().and_then(Value::as_exact) {
                Some(text) => match text.parse::<u32>().ok().and_then(char::from_u32) {
                    Some(letter) => Value::exact(letter.to_string()),
                    None => Value::exact(text.chars().take(1).collect::<String>()),
                },
                None => Value::Unknown,
            },
            Some(mut sign) => {
                while !sign.is_ascii_alphabetic() {
                    let Some(next) = rest.next() else { break };
                    sign = next;
                }
                given.next();
                Value::Unknown
            }
        };
        whole = put_together(&whole, &part);
    }
    whole
}
