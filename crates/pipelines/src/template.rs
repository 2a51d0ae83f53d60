//! Texts with `${...}` in them. What is filled in is data: nothing in it is looked at again.

use std::collections::BTreeMap;

/// A text with places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextTemplate {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Place(String),
}

/// What the places of a template stand for, by their names.
#[derive(Debug, Clone, Default)]
pub struct TemplateValues(pub BTreeMap<String, String>);

impl TextTemplate {
    /// Reads a text; `$${` stands for `${`.
    ///
    /// # Errors
    ///
    /// A place without an end, in words.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let (before, place) = rest.split_at(start);
            if let Some(escaped) = before.strip_suffix('$') {
                plain.push_str(escaped);
                plain.push_str("${");
                rest = place.get(2..).unwrap_or_default();
                continue;
            }
            plain.push_str(before);
            let Some((name, after)) = place.get(2..).unwrap_or_default().split_once('}') else {
                return Err("`${` has no `}`; `$${` writes it as it is".to_owned());
            };
            let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
            if name.trim().is_empty() || !name.trim().chars().all(is_part) {
                let shown = name.lines().next().unwrap_or_default();
                return Err(format!("`${{{shown}` is not a name in braces; `$${{` writes it as it is"));
            }
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(Part::Place(name.trim().to_owned()));
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self { parts })
    }

    /// The names of its places, in order.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Place(name) => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    /// The text with its places filled in. A place that nothing is known of stays empty.
    pub fn filled(&self, values: &TemplateValues) -> String {
        self.parts.iter().fold(String::new(), |mut text, part| {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Place(name) => text.push_str(values.0.get(name).map_or("", String::as_str)),
            }
            text
        })
    }

    /// The same as one word of a command line.
    ///
    /// # Errors
    ///
    /// What was filled in at its beginning would make an option of it; in words.
    pub fn word(&self, values: &TemplateValues) -> Result<String, String> {
        let word = self.filled(values);
        match self.parts.first() {
            Some(Part::Place(name)) if word.starts_with('-') => {
                Err(format!("`${{{name}}}` begins with `-`, so it would be read as an option"))
            }
            _ => Ok(word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> TemplateValues {
        TemplateValues(
            [("inputs.a", "1 ${b}"), ("b", "--force")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
        )
    }

    #[test]
    fn what_is_filled_in_is_not_read_again() {
        let read = TextTemplate::read("x ${ inputs.a } $${b} ${none}.").unwrap();
        assert_eq!(read.filled(&values()), "x 1 ${b} ${b} .");
        assert_eq!(read.places().collect::<Vec<_>>(), ["inputs.a", "none"]);
        assert!(TextTemplate::read("${inputs.a").is_err());
    }

    #[test]
    fn a_value_does_not_become_an_option() {
        assert!(TextTemplate::read("${b}").unwrap().word(&values()).is_err());
        assert_eq!(TextTemplate::read("--with=${b}").unwrap().word(&values()).unwrap(), "--with=--force");
        assert_eq!(TextTemplate::read("-x").unwrap().word(&values()).unwrap(), "-x");
    }
}
