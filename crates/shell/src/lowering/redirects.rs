//! Redirections and here-documents.

use std::borrow::Cow;

use shuck_ast::{Heredoc, RedirectKind, RedirectTarget};

use super::words::{Quoting, Reader, Until};
use super::{Lowering, Place};
use crate::tree::{Descriptor, Part, Redirect, RedirectOperation, Word};

impl Lowering<'_, '_> {
    pub(super) fn redirects(&mut self, redirects: &[shuck_ast::Redirect]) -> Vec<Redirect> {
        redirects.iter().filter_map(|redirect| self.redirect(redirect)).collect()
    }

    /// `None` for the second half of `&>>`, which the parser splits into `>>` and `2>&1`.
    pub(super) fn redirect(&mut self, redirect: &shuck_ast::Redirect) -> Option<Redirect> {
        let written = self.slice(redirect.span);
        let digits = written.bytes().take_while(u8::is_ascii_digit).count();
        let (number, operator) = written.split_at_checked(digits).unwrap_or(("", written));
        if operator.starts_with("&>>") && redirect.kind == RedirectKind::DupOutput {
            return None;
        }
        let descriptor = match &redirect.fd_var {
            Some(name) => Some(Descriptor::Variable(name.to_string())),
            None => number.parse().ok().map(Descriptor::Number),
        }
        // `<&3` and `>&3` are one operation in the tree, but mean different descriptors when none is written.
        .or_else(|| operator.starts_with("<&").then_some(Descriptor::Number(0)));
        let word = match &redirect.target {
            RedirectTarget::Word(word) => self.target(word, operator),
            RedirectTarget::Heredoc(document) => {
                return Some(Redirect {
                    descriptor,
                    operation: RedirectOperation::HereDocument(self.here_document(document)),
                });
            }
        };
        let operation = match redirect.kind {
            RedirectKind::Output => RedirectOperation::Write(word),
            RedirectKind::Clobber => RedirectOperation::Clobber(word),
            RedirectKind::Append if operator.starts_with("&>>") => RedirectOperation::AppendAll(word),
            RedirectKind::Append => RedirectOperation::Append(word),
            RedirectKind::Input => RedirectOperation::Read(word),
            RedirectKind::ReadWrite => RedirectOperation::ReadWrite(word),
            RedirectKind::OutputBoth => RedirectOperation::WriteAll(word),
            RedirectKind::HereString => RedirectOperation::HereString(word),
            RedirectKind::HereDoc | RedirectKind::HereDocStrip => RedirectOperation::HereDocument(word),
            RedirectKind::DupOutput if descriptor.is_none() && names_a_file(&word) => {
                RedirectOperation::WriteAll(word)
            }
            RedirectKind::DupOutput | RedirectKind::DupInput => RedirectOperation::Duplicate(word),
        };
        Some(Redirect { descriptor, operation })
    }

    /// The target word. That of `2>&1` has no place of its own, so it is read behind the operator.
    fn target(&mut self, word: &shuck_ast::Word, operator: &str) -> Word {
        if word.span.start.offset() < word.span.end.offset() {
            return self.word(word);
        }
        match operator.trim_start_matches(['<', '>', '&', '|']).trim() {
            "" => self.word_without_place(word),
            text => Word { parts: vec![Part::Literal(text.to_owned())], span: self.span(word.span) },
        }
    }

    fn here_document(&mut self, document: &Heredoc) -> Word {
        let span = document.body.span;
        let raw = self.slice(span);
        let place = self.place.span(span.start.offset(), span.end.offset());
        let text = if document.delimiter.strip_tabs { without_leading_tabs(raw) } else { Cow::Borrowed(raw) };
        if !document.delimiter.expands_body {
            return Word { parts: vec![Part::Quoted(text.into_owned())], span: place };
        }
        let text_place = match text {
            Cow::Borrowed(_) => self.place.inside(span.start.offset()),
            Cow::Owned(_) => Place::Fixed(place),
        };
        let mut inner = Lowering { text: &text, place: text_place, reading: self.reading };
        let parts = Reader::new(&mut inner, 0, text.len(), &[]).parts(Quoting::HereDocument, Until::End);
        Word { parts: vec![Part::DoubleQuoted(parts)], span: place }
    }
}

/// `>&word` copies a descriptor when the word is a number or `-`, and names a file otherwise. A word whose value is
/// not known here stays a copy.
fn names_a_file(word: &Word) -> bool {
    let mut text = String::new();
    for part in &word.parts {
        match part {
            Part::Literal(piece) | Part::Quoted(piece) => text.push_str(piece),
            Part::DoubleQuoted(inner) => match inner.as_slice() {
                [] => {}
                [Part::Quoted(piece)] => text.push_str(piece),
                _ => return word.parts.len() > 1 || inner.len() > 1,
            },
            Part::Parameter(_)
            | Part::CommandSubstitution(_)
            | Part::ProcessSubstitution(_, _)
            | Part::Arithmetic(_) => return word.parts.len() > 1,
        }
    }
    !text.is_empty() && !text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit())
}

/// `<<-` takes the leading tabs off every line.
fn without_leading_tabs(text: &str) -> Cow<'_, str> {
    if text.starts_with('\t') || text.contains("\n\t") {
        Cow::Owned(text.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect())
    } else {
        Cow::Borrowed(text)
    }
}
