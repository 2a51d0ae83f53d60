//! JSON with all names of its objects, those too that stand there twice: which of two values a reader takes, nobody knows.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value, as far as names and texts go.
#[derive(Debug)]
pub(crate) enum Pairs {
    /// Names with their values, in order.
    Object(Vec<(String, Pairs)>),
    /// Values in order.
    Array(Vec<Pairs>),
    /// A text.
    Text(String),
    /// Anything else.
    Other,
}

impl Pairs {
    /// Reads a text; `None` when it is not JSON.
    pub(crate) fn of(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    fn fields(&self) -> &[(String, Self)] {
        match self {
            Self::Object(fields) => fields,
            Self::Array(_) | Self::Text(_) | Self::Other => &[],
        }
    }

    /// A name that stands twice in this object, or anywhere below one of its fields with these names.
    pub(crate) fn twofold(&self, deep: &[&str]) -> Option<&str> {
        let mut below = self.fields().iter().filter(|(name, _)| deep.contains(&name.as_str()));
        self.own_twofold().or_else(|| below.find_map(|(_, value)| value.anywhere_twofold()))
    }

    fn own_twofold(&self) -> Option<&str> {
        let mut seen = BTreeSet::new();
        self.fields().iter().map(|(name, _)| name.as_str()).find(|name| !seen.insert(*name))
    }

    fn anywhere_twofold(&self) -> Option<&str> {
        let within = match self {
            Self::Object(fields) => fields.iter().find_map(|(_, value)| value.anywhere_twofold()),
            Self::Array(items) => items.iter().find_map(Self::anywhere_twofold),
            Self::Text(_) | Self::Other => None,
        };
        self.own_twofold().or(within)
    }

    /// The texts in each field with this name, with their own names.
    pub(crate) fn texts_below(&self, name: &str) -> Vec<(String, String)> {
        let found = self.fields().iter().filter(|(own, _)| own == name);
        found
            .flat_map(|(_, value)| value.fields())
            .filter_map(|(name, value)| match value {
                Self::Text(text) => Some((name.clone(), text.clone())),
                Self::Object(_) | Self::Array(_) | Self::Other => None,
            })
            .collect()
    }
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Pairs, E> {
        Ok(Pairs::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Pairs, E> {
        Ok(Pairs::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Pairs, E> {
        Ok(Pairs::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Pairs, E> {
        Ok(Pairs::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Pairs, E> {
        Ok(Pairs::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Pairs, E> {
        Ok(Pairs::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rest: A) -> Result<Pairs, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = rest.next_element()? {
            items.push(item);
        }
        Ok(Pairs::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut rest: A) -> Result<Pairs, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = rest.next_entry()? {
            fields.push(field);
        }
        Ok(Pairs::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_stands_twice_is_found_where_it_is_looked_for() {
        let twofold = |text: &str| Pairs::of(text).unwrap().twofold(&["deep"]).map(str::to_owned);
        assert_eq!(twofold(r#"{"a":1,"b":{},"\u0061":[]}"#).as_deref(), Some("a"));
        assert_eq!(twofold(r#"{"deep":[{"x":{"y":1,"y":-1.5}}]}"#).as_deref(), Some("y"));
        assert_eq!(twofold(r#"{"other":{"y":1,"y":true},"deep":{"y":null,"x":{"y":"z"}}}"#), None);
        assert!(Pairs::of("{").is_none());
    }

    #[test]
    fn texts_of_all_fields_with_a_name_are_found() {
        let read = Pairs::of(r#"{"env":{"A":"1","A":"2","B":3},"x":{"C":"4"},"env":{"D":"5"}}"#).unwrap();
        let found: Vec<String> =
            read.texts_below("env").into_iter().map(|(name, text)| name + &text).collect();
        assert_eq!(found, ["A1", "A2", "D5"]);
    }
}
