//! A word on its way to the words that it becomes.

use crate::expand::bounded;
use crate::pattern::escape;
use crate::value::Value;

/// A word in the making.
#[derive(Debug, Default)]
pub(super) struct Field {
    pub(super) pieces: Vec<Piece>,
    /// Whether something in it was quoted, so that it stays even when empty.
    pub(super) quoted: bool,
    /// The variable that was not set, when the field stands on one.
    pub(super) hollow: Option<String>,
    /// Whether bytes stand in it that are no text.
    pub(super) has_bytes: bool,
}

#[derive(Debug)]
pub(super) struct Piece {
    pub(super) value: Value,
    /// Whether pattern characters in it are special.
    pub(super) active: bool,
}

/// The words that one word becomes.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// Whether one of them may be several, or none.
    pub(super) loose: bool,
    pub(super) done: Vec<Field>,
    pub(super) current: Option<Field>,
}

impl Fields {
    pub(super) fn current(&mut self) -> &mut Field {
        self.current.get_or_insert_with(Field::default)
    }

    pub(super) fn push(&mut self, value: Value, active: bool) {
        self.current().pieces.push(Piece { value, active });
    }

    pub(super) fn push_quoted(&mut self, value: Value) {
        let field = self.current();
        field.quoted = true;
        field.pieces.push(Piece { value, active: false });
    }

    pub(super) fn end_field(&mut self) {
        self.done.extend(self.current.take());
    }

    /// Adds the value of an unquoted expansion: it may become several words, or none.
    pub(super) fn push_split(&mut self, value: Value, separators: &str) {
        let must_split = |text: &str| text.chars().any(|c| separators.contains(c));
        match &value {
            Value::Exact(text) => {
                let mut between_words = false;
                // Whether a separator that is no white space ended the last word already: white space around it belongs to it.
                let mut marked = true;
                let mut word = String::new();
                for c in text.chars() {
                    if !separators.contains(c) {
                        if between_words {
                            self.end_field();
                            between_words = false;
                        }
                        marked = false;
                        word.push(c);
                        continue;
                    }
                    if !word.is_empty() {
                        self.push(Value::Exact(std::mem::take(&mut word)), true);
                    }
                    if c.is_whitespace() {
                        between_words = self.current.is_some();
                    } else {
                        if between_words && marked {
                            self.end_field();
                        }
                        self.current().quoted = true;
                        between_words = true;
                        marked = true;
                    }
                }
                if !word.is_empty() {
                    self.push(Value::Exact(word), true);
                } else if between_words {
                    self.end_field();
                }
            }
            Value::AnyOf(texts) if texts.iter().any(|text| must_split(text)) => {
                self.push(Value::Unknown, true);
            }
            // What was printed of patterns and of other words: each is a word again.
            Value::Glob(text) if must_split(text) => {
                if text.starts_with(|c| separators.contains(c)) {
                    self.end_field();
                }
                let words = text.split(|c| separators.contains(c)).filter(|word| !word.is_empty());
                for (index, word) in words.enumerate() {
                    if index > 0 {
                        self.end_field();
                    }
                    self.push(Value::of_pattern(word), true);
                }
                if text.ends_with(|c| separators.contains(c)) {
                    self.end_field();
                }
            }
            // The words that are known to the end stand for themselves; what may be several behind them is one.
            Value::Between { prefix, .. } if must_split(prefix) => {
                let Some((head, tail)) = prefix.rsplit_once(|c: char| separators.contains(c)) else { return };
                let (head, tail) = (head.to_owned(), tail.to_owned());
                self.loose = true;
                self.push_split(Value::Exact(format!("{head} ")), &format!("{separators} "));
                self.push(Value::exact(tail).followed_by(&Value::Unknown), true);
            }
            Value::AnyOf(_) | Value::Glob(_) | Value::Between { .. } | Value::Unknown => {
                self.loose |= matches!(value, Value::Unknown | Value::Between { .. });
                self.push(value, true);
            }
        }
    }
}

/// How the parts of a word are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Into any number of words.
    Words,
    /// Into one text: redirections, subjects of `case`.
    Text,
    /// Into one text, the value of a variable: a home directory may stand behind every colon.
    Value,
    /// Into one text, what follows `export` and its like: a name, and behind its sign a value.
    Declaration,
}

/// The pieces as one text.
pub(super) fn joined(pieces: &[Piece]) -> Value {
    let mut value = Value::exact("");
    for piece in pieces {
        value = bounded(value.followed_by(&piece.value));
    }
    value
}

/// The pieces as a pattern, in which only what is active is special; `None` when one is not known.
pub(super) fn pattern_of(pieces: &[Piece]) -> Option<String> {
    let mut pattern = String::new();
    for piece in pieces {
        let text = piece.value.as_exact()?;
        if piece.active {
            pattern.push_str(text);
        } else {
            pattern.push_str(&escape(text));
        }
    }
    Some(pattern)
}
