//! Redirections and here-documents.

use std::borrow::Cow;

use shuck_ast::{Heredoc, HeredocDelimiter, RedirectKind, RedirectTarget};

use super::words::{Quoting, Reader, Until};
use super::{Lowering, Place};
use crate::ProblemKind;
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
        self.hold_to_end(document);
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

impl Lowering<'_, '_> {
    /// Refuses a here-document that the parser ends elsewhere than a shell: what stands behind it would be taken for text, or the other way round.
    fn hold_to_end(&mut self, document: &Heredoc) {
        let delimiter = &document.delimiter;
        let raw = self.slice(delimiter.raw.span);
        let body = document.body.span;
        let agrees = delimiter_of(raw).is_some_and(|cooked| {
            cooked == delimiter.cooked.as_str()
                && ends_at(self.text, body.start.offset(), &cooked, Lines::of(delimiter))
                    .is_none_or(|end| end == body.end.offset())
        });
        if !agrees {
            self.reading
                .refused
                .get_or_insert((ProblemKind::Syntax, "a here-document does not end where it seems to"));
        }
    }
}

/// The word that ends a here-document, as every shell reads it; `None` when shells differ or it spans lines.
fn delimiter_of(raw: &str) -> Option<String> {
    if raw.contains(['\n', '`']) || raw.contains("$'") || raw.contains("$\"") {
        return None;
    }
    let mut cooked = String::with_capacity(raw.len());
    let mut letters = raw.chars().peekable();
    let mut quote = None;
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if letter == open => quote = None,
            (None, '\\') => cooked.push(letters.next()?),
            (Some('"'), '\\') if letters.peek().is_some_and(|next| matches!(next, '$' | '"' | '\\')) => {
                cooked.extend(letters.next());
            }
            (None | Some(_), _) => cooked.push(letter),
        }
    }
    Some(cooked)
}

/// How the lines of a here-document are compared with its delimiter.
#[derive(Debug, Clone, Copy)]
struct Lines {
    strip_tabs: bool,
    /// Whether a backslash at the end of a line joins it with the next.
    joins: bool,
}

impl Lines {
    fn of(delimiter: &HeredocDelimiter) -> Self {
        Self { strip_tabs: delimiter.strip_tabs, joins: delimiter.expands_body }
    }
}

/// Where the line stands that ends a here-document; `None` when no line does, `usize::MAX` when shells differ about it.
fn ends_at(text: &str, start: usize, delimiter: &str, lines: Lines) -> Option<usize> {
    let mut at = start;
    let mut joined = String::new();
    let mut is_joined = false;
    for line in text.get(start..)?.split_inclusive('\n') {
        let shown = line.trim_end_matches('\n');
        let shown = if lines.strip_tabs { shown.trim_start_matches('\t') } else { shown };
        let backslashes = shown.len() - shown.trim_end_matches('\\').len();
        let continues = lines.joins && backslashes % 2 == 1;
        if continues {
            joined.push_str(&shown[..shown.len() - 1]);
            is_joined = true;
        } else if std::mem::take(&mut is_joined) {
            joined.push_str(shown);
            // One shell sees the end in the joined line, another in its last piece.
            if joined == delimiter || shown == delimiter {
                return Some(usize::MAX);
            }
            joined.clear();
        } else if shown == delimiter {
            return Some(at);
        }
        at += line.len();
    }
    None
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
            Part::Bytes(_) => return true,
            Part::Parameter(_)
            | Part::CommandSubstitution(_)
            | Part::ProcessSubstitution(_, _)
            | Part::Arithmetic(_)
            | Part::Braces(_) => return word.parts.len() > 1,
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
