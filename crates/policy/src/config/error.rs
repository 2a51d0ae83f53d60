//! Configuration errors: where, what was expected, and what to write instead.

use std::fmt;

use super::layer::LayerKind;

/// Everything that is wrong with the configuration. A file with an error is rejected as a whole.
///
/// Prints like a compiler, one error after the other, without colour.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigErrors {
    /// At least one error, in the order of layers, then of lines.
    pub errors: Vec<ConfigError>,
}

impl std::error::Error for ConfigErrors {}

impl ConfigErrors {
    /// The first error on one line, with its place, and how many others there are.
    pub fn in_short(&self) -> Option<String> {
        let first = self.errors.first()?.in_short();
        Some(match self.errors.len() {
            1 => first,
            2 => format!("{first}; and 1 more error"),
            many => format!("{first}; and {} more errors", many - 1),
        })
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n")?;
            }
            write!(formatter, "{error}")?;
        }
        Ok(())
    }
}

/// One error in a configuration file, a variable or a flag.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigError {
    /// What is wrong.
    pub kind: ConfigErrorKind,
    /// The layer it is in.
    pub layer: LayerKind,
    /// The file as it was named by the caller; `environment` or `flags`.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// How many characters are meant; at least 1.
    pub width: usize,
    /// The line itself.
    pub source_line: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl std::error::Error for ConfigError {}

impl ConfigError {
    /// What is wrong and where, on one line.
    fn in_short(&self) -> String {
        let what = match &self.kind {
            // Their list is long, and the nearest of them is in the hint.
            ConfigErrorKind::UnknownKey { key, .. } => format!("unknown key `{key}`"),
            other => other.to_string(),
        };
        let what = what.lines().next().unwrap_or_default();
        let hint = self.hint.as_deref().and_then(|hint| hint.lines().next());
        let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        format!("{what} (`{}`, line {}, column {}){hint}", self.file, self.line, self.column)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        // Tabs keep their place under the line, so that the caret stands where the eye expects it.
        let indent: String = self
            .source_line
            .chars()
            .take(self.column.saturating_sub(1))
            .map(|letter| if letter == '\t' { '\t' } else { ' ' })
            .collect();
        let missing = self.column.saturating_sub(1).saturating_sub(indent.chars().count());
        let available = self.source_line.chars().count().saturating_sub(self.column.saturating_sub(1)).max(1);
        writeln!(formatter, "error: {}", self.kind)?;
        writeln!(formatter, "{margin}--> {}:{}:{}", self.file, self.line, self.column)?;
        writeln!(formatter, "{margin} |")?;
        writeln!(formatter, "{number} | {}", self.source_line)?;
        let carets = "^".repeat(self.width.clamp(1, available));
        writeln!(formatter, "{margin} | {indent}{}{carets}", " ".repeat(missing))?;
        if let Some(hint) = &self.hint {
            writeln!(formatter, "{margin} = hint: {hint}")?;
        }
        Ok(())
    }
}

/// What an error calls the top of a file, which has no key.
pub(crate) const WHOLE: &str = "the file";

/// What is wrong with a piece of configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigErrorKind {
    /// Not YAML.
    #[error("this is not YAML: {message}")]
    Syntax {
        /// What the parser says.
        message: String,
    },
    /// More text than any configuration needs.
    #[error("the file is longer than {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// Deeper than any configuration needs.
    #[error("lists and maps are nested more than {limit} deep")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// A part of YAML that is not accepted here.
    #[error("{what} is not accepted in configuration")]
    Unsupported {
        /// The part.
        what: &'static str,
    },
    /// The same key twice.
    #[error("`{key}` is set a second time, after line {first}")]
    Duplicate {
        /// The key.
        key: String,
        /// The line of the first.
        first: usize,
    },
    /// A key that does not exist.
    #[error("unknown key `{key}`, expected {expected}")]
    UnknownKey {
        /// The key, as a whole path.
        key: String,
        /// The keys that exist at this place.
        expected: String,
    },
    /// A value of the wrong type or outside its bounds.
    #[error("`{key}` is {found}, expected {expected}")]
    BadValue {
        /// The key, as a whole path.
        key: String,
        /// What stands there.
        found: String,
        /// What should.
        expected: String,
    },
    /// A key that must be there and is not.
    #[error("a {what} has no `{key}`, expected {expected}")]
    Missing {
        /// What it is missing in.
        what: &'static str,
        /// The key.
        key: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// A name that is used for another rule.
    #[error("the name `{name}` belongs to {owner}")]
    NameTaken {
        /// The name.
        name: String,
        /// Whose it is.
        owner: &'static str,
    },
    /// A rule that does not exist.
    #[error("there is no rule `{name}`")]
    UnknownRule {
        /// The name.
        name: String,
    },
    /// A condition that does not parse, or can work on no action.
    #[error("the condition cannot be used: {message}")]
    BadCondition {
        /// What the parser says, or why it fails.
        message: String,
    },
    /// An example that does not show what it should.
    #[error("the example is not met: {message}")]
    BadExample {
        /// What happened.
        message: String,
    },
    /// Something that is well formed and cannot be meant.
    #[error("{message}")]
    Unfit {
        /// What does not fit.
        message: String,
    },
    /// Two values that cannot both hold.
    #[error("`{key}` ({value}) must not be {relation} `{other}` ({other_value})")]
    Contradiction {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// `below` or `above`.
        relation: &'static str,
        /// The other key.
        other: &'static str,
        /// Its value.
        other_value: String,
    },
}

/// Where something stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// How many characters on that line it covers; at least 1.
    pub width: usize,
}

impl Position {
    /// The beginning of a text.
    pub const START: Self = Self { line: 1, column: 1, width: 1 };
}

/// An error that does not know its file yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// Where it is.
    pub at: Position,
    /// What is wrong.
    pub kind: Box<ConfigErrorKind>,
    /// What to write instead.
    pub hint: Option<String>,
}

impl Fault {
    /// A fault at a place, without a hint.
    pub fn new(at: Position, kind: ConfigErrorKind) -> Self {
        Self { at, kind: Box::new(kind), hint: None }
    }

    /// The same in a section of the file that has settings of its own: keys are named with the path of the section.
    pub(crate) fn within(mut self, section: &str) -> Self {
        if let ConfigErrorKind::UnknownKey { key, .. }
        | ConfigErrorKind::BadValue { key, .. }
        | ConfigErrorKind::Duplicate { key, .. } = self.kind.as_mut()
        {
            *key = if key == WHOLE { section.to_owned() } else { format!("{section}.{key}") };
        }
        self
    }

    /// The same with what to write instead.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with what to write instead, where that is known.
    #[must_use]
    pub fn with_optional_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// The error with the text it was found in.
    pub fn located(self, layer: LayerKind, file: &str, text: &str) -> ConfigError {
        let source_line = text.lines().nth(self.at.line.saturating_sub(1)).unwrap_or_default();
        ConfigError {
            kind: *self.kind,
            layer,
            file: file.to_owned(),
            line: self.at.line,
            column: self.at.column,
            width: self.at.width,
            source_line: source_line.chars().take(240).collect(),
            hint: self.hint,
        }
    }
}

/// The word closest to `word`, when it is close enough to be a slip.
pub fn closest<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = match word.chars().count() {
        0..=2 => 1,
        3..=6 => 2,
        _ => 3,
    };
    words
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be added, removed or replaced to get from one word to the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, letter) in left.chars().take(64).enumerate() {
        let mut diagonal = index;
        let mut before = index + 1;
        let mut next = Vec::with_capacity(row.len());
        next.push(before);
        for (other, above) in right.iter().zip(row.iter().skip(1)) {
            let cost = if letter == *other { diagonal } else { 1 + diagonal.min(*above).min(before) };
            diagonal = *above;
            before = cost;
            next.push(cost);
        }
        row = next;
    }
    row.last().copied().unwrap_or(right.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let words = ["risk", "rules", "rationality", "enabled"];
        assert_eq!(closest("rissk", words.into_iter()), Some("risk"));
        assert_eq!(closest("enable", words.into_iter()), Some("enabled"));
        assert_eq!(closest("rationalty", words.into_iter()), Some("rationality"));
        assert_eq!(closest("database", words.into_iter()), None);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }
}
