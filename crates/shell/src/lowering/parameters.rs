//! `${...}`

use super::words::{Quoting, Reader, Until, is_special_parameter};
use crate::tree::{Arithmetic, ParameterExpansion, ParameterOperation, Part, ReplaceScope, Word};

impl Reader<'_, '_, '_> {
    /// `${...}`, at the dollar.
    pub(super) fn braced_parameter(&mut self, quoting: Quoting, parts: &mut Vec<Part>) {
        if matches!(self.peek_at(2), Some(b' ' | b'\t' | b'\n' | b'|')) {
            self.braced_command(parts);
            return;
        }
        self.at += 2;
        let body = self.at;
        let parameter = self.parameter(quoting).unwrap_or_else(|| {
            // Not a form that is known: what runs inside it is kept.
            self.at = body;
            ParameterExpansion {
                name: String::new(),
                index: None,
                indirect: false,
                operation: ParameterOperation::Other(vec![self.operand(Quoting::None, Until::Brace)]),
            }
        });
        self.skip(b'}');
        parts.push(Part::Parameter(Box::new(parameter)));
    }

    /// The inside of `${...}`, up to the brace that closes it.
    fn parameter(&mut self, quoting: Quoting) -> Option<ParameterExpansion> {
        match (self.peek()?, self.peek_at(1)) {
            // `${#}`, `${!}` and operations on them: `#` and `!` are names here.
            (b'#' | b'!', Some(b'}' | b':' | b'-' | b'=' | b'+' | b'%' | b'/') | None)
                if !self.is_prefix_of_special() => {}
            (b'#', Some(_)) => {
                self.at += 1;
                let (name, index) = self.reference()?;
                return (self.peek() == Some(b'}')).then_some(ParameterExpansion {
                    name,
                    index,
                    indirect: false,
                    operation: ParameterOperation::Length,
                });
            }
            (b'!', Some(_)) => {
                self.at += 1;
                return self.indirect(quoting);
            }
            (_, _) => {}
        }
        let (name, index) = self.reference()?;
        let operation = self.operation(quoting)?;
        Some(ParameterExpansion { name, index, indirect: false, operation })
    }

    /// `${#-}` is the length of `$-`, while `${#-word}` is a default for `$#`.
    fn is_prefix_of_special(&self) -> bool {
        self.peek_at(1).is_some_and(is_special_parameter) && self.peek_at(2) == Some(b'}')
    }

    fn indirect(&mut self, quoting: Quoting) -> Option<ParameterExpansion> {
        let (name, index) = self.reference()?;
        if index.is_none() && matches!(self.peek(), Some(b'*' | b'@')) && self.peek_at(1) == Some(b'}') {
            self.at += 1;
            return Some(ParameterExpansion {
                name,
                index: None,
                indirect: false,
                operation: ParameterOperation::NamesWithPrefix,
            });
        }
        let selects_all = index.as_ref().is_some_and(
            |word| matches!(word.parts.as_slice(), [Part::Literal(text)] if text == "@" || text == "*"),
        );
        if selects_all && self.peek() == Some(b'}') {
            return Some(ParameterExpansion {
                name,
                index,
                indirect: false,
                operation: ParameterOperation::Keys,
            });
        }
        let operation = self.operation(quoting)?;
        Some(ParameterExpansion { name, index, indirect: true, operation })
    }

    /// A name with its subscript, if it has one.
    fn reference(&mut self) -> Option<(String, Option<Word>)> {
        let from = self.at;
        match self.peek()? {
            byte if byte == b'_' || byte.is_ascii_alphabetic() => {
                self.skip_name();
            }
            byte if byte.is_ascii_digit() => {
                while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                    self.at += 1;
                }
            }
            byte if is_special_parameter(byte) => self.at += 1,
            _ => return None,
        }
        let name = self.slice(from, self.at).to_owned();
        let index = if self.skip(b'[') {
            let word = self.operand(Quoting::None, Until::Bracket);
            if !self.skip(b']') {
                return None;
            }
            Some(word)
        } else {
            None
        };
        Some((name, index))
    }

    /// What follows the reference, up to the closing brace. `None` when it is not known what it means.
    fn operation(&mut self, quoting: Quoting) -> Option<ParameterOperation> {
        let operator = match self.peek() {
            None | Some(b'}') => return Some(ParameterOperation::Plain),
            Some(operator) => operator,
        };
        self.at += 1;
        let operation = match operator {
            b':' => match self.peek() {
                Some(b'-' | b'=' | b'?' | b'+') => self.value_operation(quoting),
                _ => Some(self.substring()),
            },
            b'-' | b'=' | b'?' | b'+' => {
                self.at -= 1;
                self.value_operation(quoting)
            }
            b'#' => {
                let longest = self.skip(b'#');
                let pattern = self.operand(Quoting::None, Until::Brace);
                Some(ParameterOperation::RemovePrefix { pattern, longest })
            }
            b'%' => {
                let longest = self.skip(b'%');
                let pattern = self.operand(Quoting::None, Until::Brace);
                Some(ParameterOperation::RemoveSuffix { pattern, longest })
            }
            b'/' => Some(self.replace()),
            b'^' | b',' => {
                let all = self.skip(operator);
                let pattern = self.operand(Quoting::None, Until::Brace);
                Some(ParameterOperation::Case { upper: operator == b'^', all, pattern })
            }
            b'@' => {
                let letter = self.rest().chars().next()?;
                self.at += letter.len_utf8();
                Some(ParameterOperation::Transform(letter))
            }
            _ => Some(self.other()),
        }?;
        matches!(self.peek(), None | Some(b'}')).then_some(operation)
    }

    /// `-`, `=`, `?`, `+`, with or without a colon before.
    fn value_operation(&mut self, quoting: Quoting) -> Option<ParameterOperation> {
        let colon = self.at.checked_sub(1).is_some_and(|before| self.slice(before, self.at) == ":");
        let operator = self.peek()?;
        self.at += 1;
        let inner = match quoting {
            Quoting::None => Quoting::None,
            Quoting::Double | Quoting::DoubleOperand | Quoting::HereDocument => Quoting::DoubleOperand,
        };
        let word = self.operand(inner, Until::Brace);
        match operator {
            b'-' => Some(ParameterOperation::Default { word, colon }),
            b'=' => Some(ParameterOperation::Assign { word, colon }),
            b'?' => Some(ParameterOperation::Error { word, colon }),
            b'+' => Some(ParameterOperation::Alternative { word, colon }),
            _ => None,
        }
    }

    fn replace(&mut self) -> ParameterOperation {
        let scope = match self.peek() {
            Some(b'/') => ReplaceScope::All,
            Some(b'#') => ReplaceScope::Prefix,
            Some(b'%') => ReplaceScope::Suffix,
            Some(_) | None => ReplaceScope::First,
        };
        if scope != ReplaceScope::First {
            self.at += 1;
        }
        let start = self.at;
        // A slash that comes first belongs to the pattern: `${x////_}`.
        let leading_slash = scope == ReplaceScope::All && self.skip(b'/');
        let mut pattern = self.operand(Quoting::None, Until::SlashOrBrace);
        if leading_slash {
            pattern.parts.insert(0, Part::Literal("/".to_owned()));
            pattern.span = self.lowering.place.span(start, self.at);
        }
        let with = if self.skip(b'/') {
            self.operand(Quoting::None, Until::Brace)
        } else {
            Word { parts: Vec::new(), span: self.lowering.place.span(self.at, self.at) }
        };
        ParameterOperation::Replace { pattern, with, scope }
    }

    fn substring(&mut self) -> ParameterOperation {
        let offset = self.arithmetic_until(Until::ColonOrBrace);
        let length = self.skip(b':').then(|| self.arithmetic_until(Until::Brace));
        ParameterOperation::Substring { offset, length }
    }

    fn arithmetic_until(&mut self, until: Until) -> Arithmetic {
        let from = self.at;
        let parts = self.parts(Quoting::HereDocument, until);
        Arithmetic {
            text: self.slice(from, self.at).to_owned(),
            substitutions: super::substitutions::blocks_of(parts),
        }
    }

    fn other(&mut self) -> ParameterOperation {
        ParameterOperation::Other(vec![self.operand(Quoting::None, Until::Brace)])
    }

    fn operand(&mut self, quoting: Quoting, until: Until) -> Word {
        let from = self.at;
        let parts = self.parts(quoting, until);
        Word { parts, span: self.lowering.place.span(from, self.at) }
    }
}
