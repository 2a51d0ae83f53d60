//! What separates the fields of what is expanded, where more than one text may stand in `IFS`.
//!
//! `foo && IFS=:; rm $list` takes `$list` apart at its colons or does not. What takes words apart is run once with each text.

use checkrein_shell::{AssignedValue, Assignment, Part, Simple, Word};

use super::expand::joined_values;
use super::machine::Machine;
use super::shell::{Variable, VariableContent};
use super::simple::CHOICES;
use super::statements::Done;
use super::value::Value;

/// The variable.
const NAME: &str = "IFS";

/// What is tried where nothing is known of the text: what holds from the start, and what people set most (ours).
const USUAL: [&str; CHOICES] = [" \t\n", ":", ",", ";"];

impl Machine<'_> {
    /// The texts that `IFS` may hold, where a command takes something apart by it and there is more than one.
    pub(super) fn separators_in_doubt(&self, simple: &Simple) -> Option<Vec<String>> {
        let texts = self.possible_separators()?;
        let arrays = simple.assignments.iter().chain(&simple.declared_arrays).flat_map(elements);
        simple.words.iter().chain(arrays).any(is_taken_apart).then_some(texts)
    }

    /// The same for the words of a loop.
    pub(super) fn separators_in_doubt_among(&self, words: &[Word]) -> Option<Vec<String>> {
        let texts = self.possible_separators()?;
        words.iter().any(is_taken_apart).then_some(texts)
    }

    /// Values as one text, as `$*` stands for: with the first character of `IFS` between them, a space where that is not set, and nothing
    /// where it is empty.
    pub(super) fn joined_by_separator(&self, values: &[Value]) -> Value {
        let texts = self.separators();
        let mut between: Vec<Option<char>> = texts.iter().map(|text| text.chars().next()).collect();
        between.dedup();
        between
            .into_iter()
            .map(|sign| joined_values(values, &sign.map(String::from).unwrap_or_default()))
            .reduce(|one, other| one.join(&other))
            .unwrap_or(Value::Unknown)
    }

    /// The texts that `IFS` may hold: at least one, that of a shell which nobody told otherwise where nothing is known.
    pub(super) fn separators(&self) -> Vec<String> {
        self.possible_separators().unwrap_or_else(|| {
            let known = self.variable(NAME).and_then(|value| value.as_exact().map(str::to_owned));
            vec![known.unwrap_or_else(|| USUAL[0].to_owned())]
        })
    }

    /// The texts that `IFS` may hold, where there is more than one.
    fn possible_separators(&self) -> Option<Vec<String>> {
        if self.budget.scanning > 0 || self.position.unsure > 0 {
            return None;
        }
        match &self.shell.variables.get(self.shell.referred(NAME))?.content {
            VariableContent::Scalar(Value::Exact(_)) | VariableContent::Unset => None,
            VariableContent::Scalar(Value::AnyOf(texts)) if texts.len() <= CHOICES => Some(texts.clone()),
            VariableContent::Scalar(_)
            | VariableContent::List(_)
            | VariableContent::Map(_)
            | VariableContent::Unknown => Some(USUAL.map(str::to_owned).to_vec()),
        }
    }

    /// Runs something once with each of these texts in `IFS`, which is as uncertain behind it as before.
    pub(super) fn run_with_each_separator(
        &mut self,
        texts: &[String],
        run: &dyn Fn(&mut Self) -> Done,
    ) -> Done {
        let name = self.shell.referred(NAME).to_owned();
        let before = self.shell.variables.get(&name).cloned();
        let done = self.run_with_each(&name, texts, run);
        let is_one_of_these = |variable: &Variable| match &variable.content {
            VariableContent::Scalar(value) => {
                value.alternatives().is_some_and(|held| {
                    // Set to one text on all ways, it was set by what ran.
                    held.len() > 1 && held.iter().all(|text| texts.contains(text))
                })
            }
            VariableContent::List(_)
            | VariableContent::Map(_)
            | VariableContent::Unknown
            | VariableContent::Unset => false,
        };
        if let (Some(before), true) = (before, self.shell.variables.get(&name).is_some_and(is_one_of_these)) {
            self.shell.variables.insert(name, before);
        }
        done
    }
}

/// The words of an array.
fn elements(assignment: &Assignment) -> impl Iterator<Item = &Word> {
    let elements = match &assignment.value {
        AssignedValue::Scalar(_) => &[],
        AssignedValue::Array(elements) => elements.as_slice(),
    };
    elements.iter().map(|(_, word)| word)
}

/// Whether something unquoted is expanded in a word.
fn is_taken_apart(word: &Word) -> bool {
    word.parts.iter().any(|part| match part {
        Part::Parameter(_) | Part::CommandSubstitution(_) => true,
        Part::Literal(_)
        | Part::Quoted(_)
        | Part::Bytes(_)
        | Part::DoubleQuoted(_)
        | Part::ProcessSubstitution(..)
        | Part::Arithmetic(_)
        | Part::Braces(_) => false,
    })
}
