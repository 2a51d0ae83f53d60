//! Files with texts of one's own by name: YAML, one map of names to texts.

use super::yaml::{self, NodeValue};

/// One text of such a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedText {
    /// Its name.
    pub name: String,
    /// The text.
    pub text: String,
    /// The line of the name, from 1.
    pub line: usize,
}

/// What is wrong with such a file, in one clause, and on which line, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedTextError {
    /// Where.
    pub line: usize,
    /// What.
    pub what: String,
}

/// The texts of a file, in its order; an empty file has none. An error names the line.
pub fn named_texts(text: &str) -> Result<Vec<NamedText>, NamedTextError> {
    let root = yaml::parse(text)
        .map_err(|fault| NamedTextError { line: fault.at.line, what: fault.kind.to_string() })?;
    let wrong = |line: usize, what: &str| NamedTextError { line, what: what.to_owned() };
    let NodeValue::Map(entries) = root.value else {
        return Err(wrong(root.at.line, "the file is not a map of names to texts"));
    };
    let named = entries.into_iter().map(|entry| match entry.value.scalar() {
        Some(text) => Ok(NamedText { name: entry.key, text: text.to_owned(), line: entry.at.line }),
        None => Err(wrong(entry.at.line, &format!("what stands behind `{}` is not a text", entry.key))),
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_texts_and_nothing_else() {
        let texts = named_texts("stuck_loop: \"Hm: {summary}.\"\nany: |\n  one\n  two\n").unwrap();
        assert_eq!(
            texts.iter().map(|one| (one.name.as_str(), one.line)).collect::<Vec<_>>(),
            [("stuck_loop", 1), ("any", 2)]
        );
        assert_eq!(texts[1].text.trim_end(), "one\ntwo");
        assert_eq!(named_texts("").unwrap(), []);
        for (text, line) in [("- a", 1), ("a: b\nc: [d]", 2), ("a: b\nc:\n", 2)] {
            assert_eq!(named_texts(text).unwrap_err().line, line, "{text}");
        }
        assert!(named_texts("a: \"").is_err());
    }
}
