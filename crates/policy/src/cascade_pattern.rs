//! Own patterns of cascades: what agents say when they talk themselves into new work (seed 004).

use crate::config::CascadeCategory;

/// An own pattern of a cascade, as it stands in one line: `NAME CATEGORY WEIGHT PHRASE`, where ` ... ` in the phrase stands for at most 80 bytes
/// of the same line (upstream 3.1).
#[derive(Debug, Clone, PartialEq)]
pub struct CascadePattern {
    /// What it is called in records.
    pub name: String,
    /// What it is a sign of.
    pub category: CascadeCategory,
    /// How sure a sign, above 0, at most 1.
    pub weight: f64,
    /// What must be said, one after the other, in small letters; never empty.
    pub phrases: Vec<String>,
}

impl CascadePattern {
    /// The pattern in a line; `None` where it is none.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.trim().splitn(4, char::is_whitespace);
        let (name, category, weight, phrase) = (words.next()?, words.next()?, words.next()?, words.next()?);
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
            return None;
        }
        let category = CascadeCategory::from_word(category)?;
        let weight = weight.parse::<f64>().ok().filter(|weight| *weight > 0.0 && *weight <= 1.0)?;
        let phrase = phrase.to_lowercase().replace('\u{2019}', "'");
        let phrases: Vec<String> = phrase.split("...").map(|part| part.trim().to_owned()).collect();
        let are_said = phrases.iter().all(|part| !part.is_empty());
        are_said.then(|| Self { name: name.to_owned(), category, weight, phrases })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_pattern_or_none() {
        let read = CascadePattern::parse("next-ticket  scope_expansion 0.6 Next ticket ... shall I")
            .map(|read| read.phrases);
        assert_eq!(read, None, "two blanks leave no category");
        let read = CascadePattern::parse("next-ticket scope_expansion 0.6 Next ticket ... shall I").unwrap();
        assert_eq!(read.phrases, ["next ticket", "shall i"]);
        assert_eq!((read.category, read.weight), (CascadeCategory::ScopeExpansion, 0.6));
        for line in [
            "",
            "name scope_expansion 0.6",
            "name scope 0.6 next",
            "na/me scope_expansion 0.6 next",
            "name scope_expansion 0 next",
            "name scope_expansion 1.1 next",
            "name scope_expansion NaN next",
            "name scope_expansion 0.6 ... next",
        ] {
            assert_eq!(CascadePattern::parse(line), None, "{line}");
        }
    }
}
