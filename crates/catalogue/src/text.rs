//! Texts of entries, borrowed from the running program where an entry is built in.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};

/// Text of an entry. Decoding a built-in entry copies none of it, since most of an entry is not needed for one call.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Text(Cow<'static, str>);

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(Cow::Owned(text.to_owned()))
    }
}

impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de: 'static> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowed;
        impl<'de: 'static> Visitor<'de> for Borrowed {
            type Value = Text;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text::from(text))
            }
        }
        deserializer.deserialize_str(Borrowed)
    }
}

/// Names without blanks, in one text: decoding a list of them takes no memory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct NameList(Text);

impl NameList {
    /// The list of these names, none of which holds a blank.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a String>) -> Self {
        let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
        Self(Text::from(names.join(" ").as_str()))
    }

    /// Each name, in the order given.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split(' ').filter(|name| !name.is_empty())
    }

    /// Whether the name is one of these.
    pub fn contains(&self, name: &str) -> bool {
        self.iter().any(|known| known == name)
    }
}
