//! Words that stand there only if a variable holds something: `${x:+word}`, `${x-word}`.
//!
//! Whether a variable is set is not always known: the shell may have it from elsewhere, or one of two ways set it. What the words are then is
//! not one text with an unknown part, but one of two commands, and each is followed by itself.

use checkrein_shell::{AssignedValue, ParameterExpansion, ParameterOperation, Part, Simple, Word};

use super::exit::Output;
use super::machine::{Absence, Machine};
use super::parameter::is_empty;
use super::shell::{Treatment, Variable, VariableContent};
use super::statements::Done;
use super::value::Value;
use super::ways::Supposed;

/// How many variables of one command are tried both ways (ours).
const TRIED: usize = 3;
/// How deep in such ways further ones are followed (ours).
const DEEP: usize = 3;

impl Machine<'_> {
    /// The variables of which a command has words that depend on whether they hold something, where that is not known, each with what else
    /// they may hold.
    pub(super) fn open_presences(&self, simple: &Simple) -> Vec<(String, VariableContent)> {
        if self.budget.scanning > 0 || self.position.supposing >= DEEP {
            return Vec::new();
        }
        let mut found = Vec::new();
        let values =
            simple.assignments.iter().chain(&simple.declared_arrays).flat_map(|assignment| match &assignment
                .value
            {
                AssignedValue::Scalar(word) => vec![word],
                AssignedValue::Array(elements) => elements.iter().map(|(_, word)| word).collect(),
            });
        for word in simple.words.iter().chain(values) {
            self.look_for_presences(&word.parts, &mut found);
        }
        found.truncate(TRIED * 2);
        found
    }

    fn look_for_presences(&self, parts: &[Part], found: &mut Vec<(String, VariableContent)>) {
        for part in parts {
            match part {
                Part::DoubleQuoted(inner) => self.look_for_presences(inner, found),
                Part::Parameter(parameter) => self.look_at_presence(parameter, found),
                Part::Literal(_)
                | Part::Quoted(_)
                | Part::Bytes(_)
                | Part::CommandSubstitution(_)
                | Part::ProcessSubstitution(..)
                | Part::Arithmetic(_)
                | Part::Braces(_) => {}
            }
        }
    }

    fn look_at_presence(&self, parameter: &ParameterExpansion, found: &mut Vec<(String, VariableContent)>) {
        let (word, is_alternative) = match &parameter.operation {
            ParameterOperation::Alternative { word, .. } => (word, true),
            ParameterOperation::Default { word, .. } | ParameterOperation::Assign { word, .. } => {
                (word, false)
            }
            _ => return,
        };
        let name = self.shell.referred(&parameter.name);
        let is_plain = !parameter.indirect
            && parameter.index.is_none()
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !is_plain || found.iter().any(|(known, _)| known == name) {
            return;
        }
        let from_environment = self
            .is_perhaps_in_shell(name)
            .then(|| VariableContent::Scalar(self.environment(name).unwrap_or(Value::Unknown)));
        let own = self.shell.variables.get(name).map(|variable| &variable.content);
        let Some(content) = own.or(from_environment.as_ref()) else {
            // Without it the words are what the command itself says, and are followed so. What it may hold says nothing in its own place.
            let is_open = self.environment(name).is_none_or(|value| is_empty(&value).is_none());
            if is_alternative && is_open && !names(word, name) {
                found.push((name.to_owned(), VariableContent::Scalar(Value::something())));
            }
            return;
        };
        let open = match content {
            VariableContent::Scalar(value) => {
                is_empty(value).is_none() || self.is_perhaps_unset(name) || self.is_presumed(name)
            }
            VariableContent::Unset => self.is_presumed(name),
            VariableContent::List(_) | VariableContent::Map(_) | VariableContent::Unknown => false,
        };
        if !open {
            return;
        }
        let something = match content {
            VariableContent::Scalar(Value::AnyOf(texts)) => {
                Value::one_of(texts.iter().filter(|text| !text.is_empty()).cloned().collect())
            }
            VariableContent::Scalar(value) if is_empty(value) == Some(false) => value.clone(),
            _ => Value::something(),
        };
        found.push((name.to_owned(), VariableContent::Unset));
        if !names(word, name) || something.alternatives().is_some() {
            found.push((name.to_owned(), VariableContent::Scalar(something)));
        }
    }

    /// Follows a command with what else its variables may hold; answers what it would print then, and what it would leave.
    pub(super) fn run_with_presences(
        &mut self,
        simple: &Simple,
        presences: Vec<(String, VariableContent)>,
    ) -> (Output, Vec<Supposed>) {
        let (mut told, mut all) = (Output::Nothing, Vec::new());
        for (name, content) in presences {
            let supposed = self.suppose_apart(Absence::Variable, |machine| {
                let before = machine.shell.variables.get(&name).cloned();
                let tried = Variable {
                    content,
                    exported: before.as_ref().is_some_and(|variable| variable.exported),
                    readonly: false,
                    origin: None,
                    treatment: Treatment::None,
                };
                machine.shell.perhaps_unset.remove(&name);
                machine.shell.presumed.remove(&name);
                machine.shell.variables.insert(name.clone(), tried.clone());
                let done = machine.run_simple(simple);
                // What was only tried is not left behind; what the command itself gave the variable is.
                if machine.shell.variables.get(&name) == Some(&tried) {
                    match before {
                        Some(variable) => machine.shell.variables.insert(name.clone(), variable),
                        None => machine.shell.variables.remove(&name),
                    };
                }
                told = match std::mem::replace(&mut told, Output::Nothing) {
                    Output::Nothing => done.output.clone(),
                    before => before.join(done.output.clone()),
                };
                Done { output: Output::Nothing, ..done }
            });
            all.extend(supposed);
        }
        (told, all)
    }
}

/// Whether a word asks for a variable of this name.
fn names(word: &Word, name: &str) -> bool {
    fn in_parts(parts: &[Part], name: &str) -> bool {
        parts.iter().any(|part| match part {
            Part::DoubleQuoted(inner) => in_parts(inner, name),
            Part::Parameter(parameter) => parameter.name == name,
            Part::Arithmetic(arithmetic) => arithmetic.text.contains(name),
            Part::CommandSubstitution(_) | Part::ProcessSubstitution(..) | Part::Braces(_) => true,
            Part::Literal(_) | Part::Quoted(_) | Part::Bytes(_) => false,
        })
    }
    in_parts(&word.parts, name)
}
