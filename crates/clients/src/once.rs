//! Objects in which nothing stands twice: which of two values a reader takes, nobody knows.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// JSON in which no object has a key twice.
struct Once;

/// Returns whether a text is JSON in which a key stands twice in one object.
pub fn says_twice(text: &[u8]) -> bool {
    let is_once = |text: &str| serde_json::from_str::<Once>(text).is_ok();
    let is_json = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    let text = String::from_utf8_lossy(text);
    is_json(&text) && !is_once(&text)
}

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OnceVisitor)
    }
}

struct OnceVisitor;

impl<'de> Visitor<'de> for OnceVisitor {
    type Value = Once;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON without a key that stands twice")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_str<E>(self, _: &str) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_unit<E>(self) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rest: A) -> Result<Once, A::Error> {
        while rest.next_element::<Once>()?.is_some() {}
        Ok(Once)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut rest: A) -> Result<Once, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some((key, Once)) = rest.next_entry::<String, Once>()? {
            if !keys.insert(key) {
                return Err(A::Error::custom("a key stands twice"));
            }
        }
        Ok(Once)
    }
}

#[cfg(test)]
mod tests {
    use super::says_twice;

    #[test]
    fn a_key_that_stands_twice_is_found_however_deep_and_however_written() {
        for text in [r#"{"a":1,"a":1}"#, r#"[{"b":{"c":1,"\u0063":2}}]"#] {
            assert!(says_twice(text.as_bytes()), "{text}");
        }
        for text in [
            r#"{"a":{"a":1},"b":[{"a":1},{"a":2}]}"#,
            "{\"a\":1,\"a\"",
            "null",
            "-1.5e3",
            "18446744073709551616",
        ] {
            assert!(!says_twice(text.as_bytes()), "{text}");
        }
    }
}
