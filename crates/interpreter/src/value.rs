//! Abstract values: what is known about a piece of text before the command runs.

use serde::{Deserialize, Serialize};

/// What is known about a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// Exactly this text.
    Exact(String),
    /// One of these texts: at most [`Value::CHOICES`], or those of a list that was read, which may be long.
    AnyOf(Vec<String>),
    /// Any of the existing paths that match this pattern (absolute, or relative to the working directory). Stands for an
    /// expansion that could not be carried out against the world.
    Glob(String),
    /// Begins and ends so; what is between is not known, and may be empty.
    Between {
        /// The known beginning.
        prefix: String,
        /// The known end.
        suffix: String,
    },
    /// Nothing is known.
    Unknown,
}

impl Value {
    /// The greatest number of alternatives that are told apart (ours).
    pub const CHOICES: usize = 16;

    /// An exact text.
    pub fn exact(text: impl Into<String>) -> Self {
        Self::Exact(text.into())
    }

    /// Some text of which nothing is known but that it is not empty.
    pub fn something() -> Self {
        Self::Between { prefix: String::new(), suffix: String::new() }
    }

    /// The text, when exactly one is possible.
    pub fn as_exact(&self) -> Option<&str> {
        match self {
            Self::Exact(text) => Some(text),
            Self::AnyOf(_) | Self::Glob(_) | Self::Between { .. } | Self::Unknown => None,
        }
    }

    /// Every text that is possible, when they can be listed.
    pub fn alternatives(&self) -> Option<&[String]> {
        match self {
            Self::Exact(text) => Some(std::slice::from_ref(text)),
            Self::AnyOf(texts) => Some(texts),
            Self::Glob(_) | Self::Between { .. } | Self::Unknown => None,
        }
    }

    /// A word out of a text that holds patterns: a pattern where it has the signs of one.
    pub fn of_pattern(text: impl Into<String>) -> Self {
        let text = text.into();
        if text.contains(['*', '?', '[']) { Self::Glob(text) } else { Self::Exact(text) }
    }

    /// The text followed by another: exact where both are, bounded alternatives, else what is known of the ends.
    #[must_use]
    pub fn followed_by(&self, next: &Self) -> Self {
        if let (Some(left), Some(right)) = (self.alternatives(), next.alternatives())
            && (left.len().saturating_mul(right.len()) <= Self::CHOICES
                || left.len() == 1
                || right.len() == 1)
        {
            let joined = left.iter().flat_map(|l| right.iter().map(move |r| format!("{l}{r}")));
            return Self::one_of(joined.collect());
        }
        match (self, next) {
            (Self::Glob(left), Self::Exact(right) | Self::Glob(right))
            | (Self::Exact(left), Self::Glob(right)) => Self::Glob(format!("{left}{right}")),
            _ => Self::between(self.known_start(), next.known_end()),
        }
    }

    /// The smallest value that covers both.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        if self == other {
            return self.clone();
        }
        if let (Some(left), Some(right)) = (self.alternatives(), other.alternatives())
            && left.len().max(right.len()) <= Self::CHOICES
        {
            let mut all: Vec<String> = left.to_vec();
            all.extend(right.iter().filter(|text| !left.contains(text)).cloned());
            if all.len() <= Self::CHOICES {
                return Self::one_of(all);
            }
        }
        let prefix = shared_prefix(&self.known_start(), &other.known_start());
        let suffix = shared_suffix(&self.known_end(), &other.known_end());
        Self::between(prefix, suffix)
    }

    /// A value from a list of possible texts.
    pub fn one_of(mut texts: Vec<String>) -> Self {
        texts.dedup();
        if texts.len() > Self::CHOICES {
            texts.sort_unstable();
            texts.dedup();
        }
        match texts.len() {
            0 => Self::Unknown,
            1 => texts.pop().map_or(Self::Unknown, Self::Exact),
            _ => Self::AnyOf(texts),
        }
    }

    /// Text that every possibility begins with; empty when nothing is known.
    pub fn known_start(&self) -> String {
        match self {
            Self::Exact(text) => text.clone(),
            Self::AnyOf(texts) => fold_shared(texts, shared_prefix),
            Self::Glob(pattern) => pattern.split(['*', '?', '[']).next().unwrap_or_default().to_owned(),
            Self::Between { prefix, .. } => prefix.clone(),
            Self::Unknown => String::new(),
        }
    }

    /// Text that every possibility ends with; empty when nothing is known.
    pub fn known_end(&self) -> String {
        match self {
            Self::Exact(text) => text.clone(),
            Self::AnyOf(texts) => fold_shared(texts, shared_suffix),
            Self::Glob(pattern) => pattern.rsplit(['*', '?', ']']).next().unwrap_or_default().to_owned(),
            Self::Between { suffix, .. } => suffix.clone(),
            Self::Unknown => String::new(),
        }
    }

    fn between(prefix: String, suffix: String) -> Self {
        if prefix.is_empty() && suffix.is_empty() { Self::Unknown } else { Self::Between { prefix, suffix } }
    }
}

fn fold_shared(texts: &[String], shared: fn(&str, &str) -> String) -> String {
    let mut rest = texts.iter();
    let first = rest.next().cloned().unwrap_or_default();
    rest.fold(first, |known, text| shared(&known, text))
}

fn shared_prefix(left: &str, right: &str) -> String {
    left.chars().zip(right.chars()).take_while(|(l, r)| l == r).map(|(l, _)| l).collect()
}

fn shared_suffix(left: &str, right: &str) -> String {
    let reversed: Vec<char> =
        left.chars().rev().zip(right.chars().rev()).take_while(|(l, r)| l == r).map(|(l, _)| l).collect();
    reversed.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_keeps_what_is_known() {
        let left = Value::exact("/tmp/a.log");
        let right = Value::exact("/tmp/b.log");
        assert_eq!(left.join(&right), Value::AnyOf(vec!["/tmp/a.log".to_owned(), "/tmp/b.log".to_owned()]));
        let wide = Value::Between { prefix: "/tmp/x".to_owned(), suffix: ".log".to_owned() };
        assert_eq!(
            left.join(&wide),
            Value::Between { prefix: "/tmp/".to_owned(), suffix: ".log".to_owned() }
        );
        assert_eq!(Value::exact("a").join(&Value::Unknown), Value::Unknown);
    }

    #[test]
    fn putting_together_keeps_the_ends() {
        let unknown = Value::exact("build/").followed_by(&Value::Unknown).followed_by(&Value::exact("/x"));
        assert_eq!(unknown, Value::Between { prefix: "build/".to_owned(), suffix: "/x".to_owned() });
        assert_eq!(Value::exact("a").followed_by(&Value::exact("b")), Value::exact("ab"));
    }
}
