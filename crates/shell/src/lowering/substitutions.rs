//! Command, process and arithmetic substitutions.

use std::borrow::Cow;

use super::words::{MarkKind, Quoting, Reader, Until};
use super::{Lowering, Place, brackets};
use crate::tree::{
    Arithmetic, Block, Direction, ParameterExpansion, ParameterOperation, Part, ProblemKind, Word,
};

impl Lowering<'_, '_> {
    /// The arithmetic expression that stands at `span`.
    pub(super) fn arithmetic_at(&mut self, span: shuck_ast::Span) -> Arithmetic {
        let (start, end) = (span.start.offset(), span.end.offset().min(self.text.len()));
        Reader::new(self, start, end, &[]).arithmetic(start, end)
    }
}

impl Reader<'_, '_, '_> {
    /// `$(...)` or `$((...))`, at the dollar.
    pub(super) fn parenthesis_after_dollar(&mut self, parts: &mut Vec<Part>) {
        let start = self.at;
        let arithmetic_close = self.double_parenthesis_close();
        let close = match self.mark() {
            _ if arithmetic_close.is_some() => self.end,
            Some(mark) => mark.end.saturating_sub(1),
            None => self.close_or_end(start + 1),
        };
        if let Some(inner_close) = arithmetic_close {
            let arithmetic = self.arithmetic(start + 3, inner_close);
            parts.push(Part::Arithmetic(arithmetic));
            self.at = (inner_close + 2).min(self.end);
        } else {
            let block = self.lowering.inner_block(start + 2, close);
            parts.push(Part::CommandSubstitution(block));
            self.at = (close + 1).min(self.end);
        }
    }

    /// Where the expression of `$((...))` ends; `None` when this is a command substitution that starts with `(`. Not
    /// asked of the parser, which takes `$((rm a) | (cat))` for arithmetic.
    fn double_parenthesis_close(&self) -> Option<usize> {
        if self.peek_at(2) != Some(b'(') {
            return None;
        }
        let close = brackets::closing_parenthesis(self.lowering.text, self.at + 2, self.end)?;
        (self.lowering.text.as_bytes().get(close + 1) == Some(&b')') && close + 1 < self.end).then_some(close)
    }

    /// `$[...]`, the old spelling of `$((...))`.
    pub(super) fn arithmetic_in_brackets(&mut self, parts: &mut Vec<Part>) {
        let open = self.at + 1;
        let close = brackets::closing_square(self.lowering.text, open, self.end).unwrap_or(self.end);
        let arithmetic = self.arithmetic(open + 1, close);
        parts.push(Part::Arithmetic(arithmetic));
        self.at = (close + 1).min(self.end);
    }

    /// `<(...)` and `>(...)`, at the angle.
    pub(super) fn process_substitution(&mut self, parts: &mut Vec<Part>) {
        let direction = if self.peek() == Some(b'<') { Direction::Read } else { Direction::Write };
        let close = match self.mark() {
            Some(mark) if mark.kind == MarkKind::Process => mark.end.saturating_sub(1),
            Some(_) | None => self.close_or_end(self.at + 1),
        };
        let block = self.lowering.inner_block(self.at + 2, close);
        parts.push(Part::ProcessSubstitution(direction, block));
        self.at = (close + 1).min(self.end);
    }

    /// `` `...` ``: one level of backslashes is taken off before the body is parsed, so nested ones open up in turn.
    pub(super) fn back_tick(&mut self, quoting: Quoting, parts: &mut Vec<Part>) {
        let start = self.at;
        let mut close = start + 1;
        let bytes = self.lowering.text.as_bytes();
        while close < self.end && bytes.get(close) != Some(&b'`') {
            close += if bytes.get(close) == Some(&b'\\') { 2 } else { 1 };
        }
        let close = close.min(self.end);
        let body = self.slice(start + 1, close);
        let block = match without_one_escape_level(body, quoting) {
            Cow::Borrowed(_) => self.lowering.inner_block(start + 1, close),
            Cow::Owned(text) => {
                let place = Place::Fixed(self.lowering.place.span(start, close + 1));
                self.lowering.reread(&text, place)
            }
        };
        parts.push(Part::CommandSubstitution(block));
        self.at = (close + 1).min(self.end);
    }

    /// `${ command; }` and `${| command; }`, at the dollar.
    pub(super) fn braced_command(&mut self, parts: &mut Vec<Part>) {
        let open = self.at + 1;
        let close = brackets::closing_brace(self.lowering.text, open, self.end).unwrap_or(self.end);
        let from = open + 1 + usize::from(self.peek_at(2) == Some(b'|'));
        let block = self.lowering.inner_block(from, close);
        parts.push(Part::CommandSubstitution(block));
        self.at = (close + 1).min(self.end);
    }

    /// The expression between two positions of the text.
    pub(super) fn arithmetic(&mut self, start: usize, end: usize) -> Arithmetic {
        let mut inner = Reader::new(self.lowering, start, end, &[]);
        let parts = inner.parts(Quoting::HereDocument, Until::End);
        Arithmetic { text: self.slice(start, end).to_owned(), substitutions: blocks_of(parts) }
    }

    fn close_or_end(&mut self, open: usize) -> usize {
        brackets::closing_parenthesis(self.lowering.text, open, self.end).unwrap_or_else(|| {
            let span = self.lowering.place.span(open, self.end);
            self.lowering.problem(ProblemKind::Syntax, span, "a substitution is not closed");
            self.end
        })
    }
}

/// The blocks that evaluating these parts runs, in order.
pub(super) fn blocks_of(parts: Vec<Part>) -> Vec<Block> {
    let mut blocks = Vec::new();
    collect(parts, &mut blocks);
    blocks
}

fn collect(parts: Vec<Part>, blocks: &mut Vec<Block>) {
    for part in parts {
        match part {
            Part::Literal(_) | Part::Quoted(_) | Part::Bytes(_) => {}
            Part::DoubleQuoted(inner) => collect(inner, blocks),
            Part::Braces(braces) => collect(braces.hidden, blocks),
            Part::CommandSubstitution(block) | Part::ProcessSubstitution(_, block) => {
                blocks.push(block);
            }
            Part::Arithmetic(arithmetic) => blocks.extend(arithmetic.substitutions),
            Part::Parameter(parameter) => collect_parameter(*parameter, blocks),
        }
    }
}

fn collect_parameter(parameter: ParameterExpansion, blocks: &mut Vec<Block>) {
    if let Some(index) = parameter.index {
        collect(index.parts, blocks);
    }
    let words: Vec<Word> = match parameter.operation {
        ParameterOperation::Plain
        | ParameterOperation::Length
        | ParameterOperation::NamesWithPrefix
        | ParameterOperation::Keys
        | ParameterOperation::Transform(_) => Vec::new(),
        ParameterOperation::Default { word, .. }
        | ParameterOperation::Assign { word, .. }
        | ParameterOperation::Error { word, .. }
        | ParameterOperation::Alternative { word, .. } => vec![word],
        ParameterOperation::RemovePrefix { pattern, .. }
        | ParameterOperation::RemoveSuffix { pattern, .. }
        | ParameterOperation::Case { pattern, .. } => vec![pattern],
        ParameterOperation::Replace { pattern, with, .. } => vec![pattern, with],
        ParameterOperation::Substring { offset, length } => {
            blocks.extend(offset.substitutions);
            blocks.extend(length.into_iter().flat_map(|length| length.substitutions));
            Vec::new()
        }
        ParameterOperation::Other(words) => words,
    };
    for word in words {
        collect(word.parts, blocks);
    }
}

fn without_one_escape_level(text: &str, quoting: Quoting) -> Cow<'_, str> {
    let in_double_quotes = matches!(quoting, Quoting::Double | Quoting::DoubleOperand);
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        if byte == b'\\'
            && let Some(&next) = bytes.get(at + 1)
        {
            if matches!(next, b'`' | b'\\' | b'$') || (in_double_quotes && next == b'"') {
                out.push_str(text.get(kept..at).unwrap_or_default());
                kept = at + 1;
            }
            at += 1;
        }
        at += 1;
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    Cow::Owned(out)
}
