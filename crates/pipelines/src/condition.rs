//! Whether a step is wanted: comparisons of what is known with words, all of which must hold.

use crate::template::TemplateValues;

/// `inputs.kind == 'bug' and steps.triage.outcome != 'failed'`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepCondition {
    text: String,
    comparisons: Vec<Comparison>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Comparison {
    name: String,
    is_equal: bool,
    word: String,
}

impl StepCondition {
    /// Reads a condition.
    ///
    /// # Errors
    ///
    /// It is not one; in words.
    pub fn read(text: &str) -> Result<Self, String> {
        let comparisons = text.split(" and ").map(comparison).collect::<Result<_, _>>()?;
        Ok(Self { text: text.trim().to_owned(), comparisons })
    }

    /// The condition as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names that it asks about.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.comparisons.iter().map(|comparison| comparison.name.as_str())
    }

    /// A comparison that never holds: of the outcome of a step that the one with this condition waits for, with a word that such an outcome
    /// cannot be, since what runs follows only on what lets it on.
    pub fn never_holds(&self, lets_on: &[&str]) -> Option<(&str, &str)> {
        self.comparisons.iter().find_map(|comparison| {
            let step = comparison.name.strip_prefix("steps.")?.strip_suffix(".outcome")?;
            let word = comparison.word.as_str();
            (comparison.is_equal && !lets_on.contains(&word)).then_some((step, word))
        })
    }

    /// Whether it holds. What is not known is the empty text.
    pub fn holds(&self, values: &TemplateValues) -> bool {
        self.comparisons.iter().all(|comparison| {
            let value = values.0.get(&comparison.name).map_or("", |value| value.trim());
            (value == comparison.word) == comparison.is_equal
        })
    }
}

fn comparison(text: &str) -> Result<Comparison, String> {
    let odd = || format!("`{}` is not a comparison such as `inputs.kind == 'bug'`", text.trim());
    let (is_equal, (name, word)) = match (text.split_once("=="), text.split_once("!=")) {
        (Some(sides), None) => (true, sides),
        (None, Some(sides)) => (false, sides),
        _ => return Err(odd()),
    };
    let word = word.trim();
    let word = ['\'', '"']
        .iter()
        .find_map(|quote| word.strip_prefix(*quote)?.strip_suffix(*quote))
        .ok_or_else(|| format!("{}: put the word into quotes", odd()))?;
    if word.contains(['\'', '"']) {
        return Err(odd());
    }
    Ok(Comparison { name: name.trim().to_owned(), is_equal, word: word.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_comparisons_must_hold() {
        let values = TemplateValues([("inputs.kind".to_owned(), "bug\n".to_owned())].into_iter().collect());
        for (text, holds) in [
            ("inputs.kind == 'bug'", true),
            ("inputs.kind != \"bug\"", false),
            ("inputs.kind == 'bug' and inputs.other == ''", true),
            ("inputs.kind == 'bug' and inputs.other != ''", false),
        ] {
            assert_eq!(StepCondition::read(text).unwrap().holds(&values), holds, "{text}");
        }
        for odd in ["", "inputs.kind", "inputs.kind == bug", "a == 'b' != 'c'", "a = 'b'", "a == 'b' or 'c'"]
        {
            assert!(StepCondition::read(odd).is_err(), "{odd}");
        }
    }
}
