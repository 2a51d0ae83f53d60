//! `NAME=value` and arrays.

use shuck_ast::{ArrayElem, ArrayExpr, AssignmentValue, Subscript};

use super::{Lowering, brackets};
use crate::tree::{AssignedValue, Assignment, ProblemKind, Word};

impl Lowering<'_, '_> {
    pub(super) fn assignments(&mut self, assignments: &[shuck_ast::Assignment]) -> Vec<Assignment> {
        assignments.iter().map(|assignment| self.assignment(assignment)).collect()
    }

    pub(super) fn assignment(&mut self, assignment: &shuck_ast::Assignment) -> Assignment {
        self.refuse_broken_array(assignment);
        Assignment {
            name: assignment.target.name.to_string(),
            index: assignment.target.subscript.as_deref().map(|subscript| self.subscript(subscript)),
            append: assignment.append,
            value: match &assignment.value {
                AssignmentValue::Scalar(word) => AssignedValue::Scalar(self.word(word)),
                AssignmentValue::Compound(array) => AssignedValue::Array(self.array(array)),
            },
        }
    }

    /// The parser accepts arrays that do not close or that hold operators, and hides the lines behind them in
    /// here-documents that the shell never opens. The shell rejects them, so nothing good is lost by refusing.
    pub(super) fn refuse_broken_array(&mut self, assignment: &shuck_ast::Assignment) {
        let text = self.text;
        let sound = match &assignment.value {
            AssignmentValue::Scalar(_) => text.as_bytes().get(assignment.span.end.offset()) != Some(&b'('),
            AssignmentValue::Compound(_) => {
                let name_end = assignment.target.name_span.end.offset();
                let behind = text.get(name_end..).unwrap_or_default();
                let open = name_end + usize::from(behind.starts_with('+')) + 1;
                brackets::closing_parenthesis(text, open, text.len()).is_some_and(|close| {
                    close + 1 == assignment.span.end.offset()
                        && !brackets::holds_operator(text, open + 1, close)
                })
            }
        };
        if !sound {
            self.reading.refused.get_or_insert((ProblemKind::Syntax, "an array is not well formed"));
        }
    }

    fn array(&mut self, array: &ArrayExpr) -> Vec<(Option<Word>, Word)> {
        let mut elements = Vec::with_capacity(array.elements.len());
        for element in &array.elements {
            match element {
                ArrayElem::Sequential(value) => {
                    let mut words = Vec::with_capacity(1);
                    self.words_into(&value.word, &mut words);
                    elements.extend(words.into_iter().map(|word| (None, word)));
                }
                ArrayElem::Keyed { key, value } | ArrayElem::KeyedAppend { key, value } => {
                    let key = self.subscript(key);
                    elements.push((Some(key), self.word(&value.word)));
                }
            }
        }
        elements
    }

    fn subscript(&mut self, subscript: &Subscript) -> Word {
        self.word_at(subscript.syntax_source_text().span(), None)
    }
}
