//! What a word of a condition or pattern says: the variable that stands in it, the text that fits it.

use checkrein_shell::{ParameterExpansion, ParameterOperation, Part, Word};

use super::{Assumption, Says};

/// A word in which one variable stands.
pub(super) struct Tested {
    pub(super) name: String,
    pub(super) prefix: String,
    pub(super) suffix: String,
    /// Whether the value itself stands there, not something that it gives way to.
    pub(super) is_plain: bool,
}

impl Tested {
    /// Whether nothing stands beside the variable.
    pub(super) fn is_bare(&self) -> bool {
        self.prefix.is_empty() && self.suffix.is_empty()
    }

    pub(super) fn says(&self, says: Says) -> Assumption {
        Assumption { name: self.name.clone(), says }
    }
}

/// The variable that stands in a word, where it is the only thing that is expanded there.
pub(super) fn tested(word: &Word) -> Option<Tested> {
    let parts = match word.parts.as_slice() {
        [Part::DoubleQuoted(inner)] => inner.as_slice(),
        parts => parts,
    };
    let place = parts.iter().position(|part| parameter_in(part).is_some())?;
    let parameter = parameter_in(parts.get(place)?)?;
    let text = |parts: &[Part]| -> Option<String> { parts.iter().map(text_of).collect() };
    let is_plain = match &parameter.operation {
        ParameterOperation::Plain => true,
        // What stands in for it is nothing, so that something can only be the variable.
        ParameterOperation::Default { word, .. } if word.parts.is_empty() => true,
        ParameterOperation::Alternative { colon: true, .. }
        | ParameterOperation::RemovePrefix { .. }
        | ParameterOperation::RemoveSuffix { .. } => false,
        _ => return None,
    };
    (parameter.index.is_none() && !parameter.indirect && is_name(&parameter.name)).then_some(())?;
    Some(Tested {
        name: parameter.name.clone(),
        prefix: text(parts.get(..place)?)?,
        suffix: text(parts.get(place + 1..)?)?,
        is_plain,
    })
}

fn parameter_in(part: &Part) -> Option<&ParameterExpansion> {
    match part {
        Part::Parameter(parameter) => Some(parameter),
        Part::DoubleQuoted(inner) => match inner.as_slice() {
            [Part::Parameter(parameter)] => Some(parameter),
            _ => None,
        },
        Part::Literal(_)
        | Part::Quoted(_)
        | Part::Bytes(_)
        | Part::CommandSubstitution(_)
        | Part::ProcessSubstitution(..)
        | Part::Arithmetic(_)
        | Part::Braces(_) => None,
    }
}

/// The name of the variable of which a word is the length: `${#name}`.
pub(super) fn length_of(word: &Word) -> Option<String> {
    let parts = match word.parts.as_slice() {
        [Part::DoubleQuoted(inner)] => inner.as_slice(),
        parts => parts,
    };
    let [Part::Parameter(parameter)] = parts else { return None };
    let is_length = parameter.operation == ParameterOperation::Length
        && parameter.index.is_none()
        && !parameter.indirect
        && is_name(&parameter.name);
    is_length.then(|| parameter.name.clone())
}

fn is_name(name: &str) -> bool {
    let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_word
        && (name.parse::<usize>().is_ok_and(|number| number > 0)
            || !name.starts_with(|c: char| c.is_ascii_digit()))
}

/// What fits a pattern of `case`, where that is known.
pub(super) fn pattern_says(pattern: &Word) -> Option<Says> {
    if let Some(says) = written(pattern) {
        return Some(says);
    }
    let parts: Vec<&Part> = pattern.parts.iter().collect();
    let start: String = parts
        .iter()
        .map_while(|part| match part {
            Part::Quoted(text) => Some(text.clone()),
            Part::DoubleQuoted(inner) => inner.iter().map(text_of).collect(),
            Part::Literal(text) => Some(text.split(['*', '?', '[', '\\', '(', '|']).next()?.to_owned()),
            Part::Bytes(_)
            | Part::Parameter(_)
            | Part::CommandSubstitution(_)
            | Part::ProcessSubstitution(..)
            | Part::Arithmetic(_)
            | Part::Braces(_) => None,
        })
        .next()?;
    let is_special = |c: char| matches!(c, '@' | '+' | '!');
    let start = start.trim_end_matches(is_special);
    (!start.is_empty() && !start.starts_with('~')).then(|| Says::Begins(start.to_owned()))
}

/// Whether only the empty text fits a pattern.
pub(in super::super) fn is_written_empty(pattern: &Word) -> bool {
    written(pattern) == Some(Says::Exactly(String::new()))
}

/// The one text that fits a pattern without signs of one.
pub(super) fn written(pattern: &Word) -> Option<Says> {
    let is_special = pattern
        .parts
        .iter()
        .any(|part| matches!(part, Part::Literal(text) if text.contains(['*', '?', '[', '\\', '(', '~'])));
    written_text(pattern).filter(|_| !is_special).map(Says::Exactly)
}

/// The text of a word in which nothing is expanded.
pub(super) fn written_text(word: &Word) -> Option<String> {
    let is_home = matches!(word.parts.first(), Some(Part::Literal(text)) if text.starts_with('~'));
    let text: Option<String> = word
        .parts
        .iter()
        .map(|part| match part {
            Part::DoubleQuoted(inner) => inner.iter().map(text_of).collect(),
            part => text_of(part),
        })
        .collect();
    text.filter(|_| !is_home)
}

fn text_of(part: &Part) -> Option<String> {
    match part {
        Part::Literal(text) | Part::Quoted(text) => Some(text.clone()),
        Part::DoubleQuoted(_)
        | Part::Bytes(_)
        | Part::Parameter(_)
        | Part::CommandSubstitution(_)
        | Part::ProcessSubstitution(..)
        | Part::Arithmetic(_)
        | Part::Braces(_) => None,
    }
}

/// The text of a word that is written out in one piece.
pub(super) fn plain(word: &Word) -> Option<&str> {
    match word.parts.as_slice() {
        [Part::Literal(text) | Part::Quoted(text)] => Some(text),
        _ => None,
    }
}
