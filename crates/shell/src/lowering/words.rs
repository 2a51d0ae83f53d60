//! Quoting and expansions inside a word, read from the text itself.

use shuck_ast::{BourneParameterExpansion, ParameterOp, WordPart, WordPartNode};

use super::{Lowering, brace, escapes};
use crate::tree::{ParameterExpansion, ParameterOperation, Part, ProblemKind, Word};

/// What quotes stand around the text that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// None: text is literal, may be split and globbed.
    None,
    /// `"..."`
    Double,
    /// The word of `${x:-word}` inside `"..."`: `'` is an ordinary character, `"` quotes again.
    DoubleOperand,
    /// A here-document's body, or arithmetic: no quote is special.
    HereDocument,
}

/// What ends the text that is read; it is left for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// The end of the word.
    End,
    /// `"`
    DoubleQuote,
    /// `}`
    Brace,
    /// `/` or `}`
    SlashOrBrace,
    /// `:` or `}`, but not the `:` of `a ? b : c`.
    ColonOrBrace,
    /// The `]` of a subscript.
    Bracket,
}

/// Where the parser saw a substitution: it knows best where one ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: MarkKind,
}

/// What stands at a [`Mark`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MarkKind {
    Command,
    Arithmetic,
    Process,
}

impl Lowering<'_, '_> {
    /// A word as written, without brace expansion.
    pub(super) fn word(&mut self, word: &shuck_ast::Word) -> Word {
        let (start, end) = (word.span.start.offset(), word.span.end.offset().min(self.text.len()));
        if start >= end {
            return self.word_without_place(word);
        }
        let marks = marks_of(&word.parts);
        let mut reader = Reader::new(self, start, end, &marks);
        let parts = reader.parts(Quoting::None, Until::End);
        if reader.ran_on {
            self.refuse_what_ran_on();
        }
        Word { parts, span: self.place.span(start, end) }
    }

    /// The same inside `[[`, where blanks and operators may stand in a regular expression.
    pub(super) fn word_of_condition(&mut self, word: &shuck_ast::Word) -> Word {
        if word.span.start.offset() >= word.span.end.offset() {
            return self.word_without_place(word);
        }
        let marks = marks_of(&word.parts);
        self.word_at(word.span, Some(&marks))
    }

    /// A word of a command line: brace expansion may make several of it.
    pub(super) fn words_into(&mut self, word: &shuck_ast::Word, out: &mut Vec<Word>) {
        let (start, end) = (word.span.start.offset(), word.span.end.offset());
        if start >= end {
            out.push(self.word_without_place(word));
            return;
        }
        let marks = marks_of(&word.parts);
        let mut reader = Reader::new(self, start, end.min(self.text.len()), &marks);
        let parts = reader.parts(Quoting::None, Until::End);
        let ran_on = reader.ran_on;
        let names_before_braces = std::mem::take(&mut reader.names_before_braces);
        let span = self.place.span(start, end);
        if ran_on {
            self.refuse_what_ran_on();
        }
        let read = Word { parts, span };
        if !brace::may_expand(&read) {
            out.push(read);
            return;
        }
        match brace::expand(&read, &names_before_braces, &mut self.reading.brace_budget) {
            brace::Expansion::Words(words) => out.extend(words),
            brace::Expansion::Widened(word) => {
                self.problem(
                    ProblemKind::Unsupported,
                    span,
                    "brace expansion makes too many words; one stands for all of them",
                );
                out.push(word);
            }
        }
    }

    /// What a shell runs behind the end of a word would be lost in it.
    fn refuse_what_ran_on(&mut self) {
        let refusal = (ProblemKind::ParserFailed, "the parser took what follows a word for a part of it");
        self.reading.refused.get_or_insert(refusal);
    }

    /// The word that stands at `span`.
    pub(super) fn word_at(&mut self, span: shuck_ast::Span, marks: Option<&[Mark]>) -> Word {
        let (start, end) = (span.start.offset(), span.end.offset().min(self.text.len()));
        let parts = Reader::new(self, start, end, marks.unwrap_or_default()).parts(Quoting::None, Until::End);
        Word { parts, span: self.place.span(start, end) }
    }
}

/// Reads the parts of one word.
pub(super) struct Reader<'outer, 'text, 'reading> {
    pub(super) lowering: &'outer mut Lowering<'text, 'reading>,
    pub(super) at: usize,
    pub(super) end: usize,
    marks: &'outer [Mark],
    /// Which parts of the word are `$name` right before a `{`: brace expansion comes first and may lengthen the name.
    names_before_braces: Vec<usize>,
    level: usize,
    /// Round brackets that are open outside quotes and expansions: those of a pattern (`@(a|b)`).
    brackets: usize,
    /// Whether something was read that ends a word for every shell.
    ran_on: bool,
}

impl<'outer, 'text, 'reading> Reader<'outer, 'text, 'reading> {
    pub(super) fn new(
        lowering: &'outer mut Lowering<'text, 'reading>,
        at: usize,
        end: usize,
        marks: &'outer [Mark],
    ) -> Self {
        Self {
            lowering,
            at,
            end,
            marks,
            names_before_braces: Vec::new(),
            level: 0,
            brackets: 0,
            ran_on: false,
        }
    }

    /// Reads up to the byte that `until` names, or to the end.
    pub(super) fn parts(&mut self, quoting: Quoting, until: Until) -> Vec<Part> {
        if self.lowering.reading.depth >= super::DEPTH_LIMIT {
            self.lowering
                .reading
                .refused
                .get_or_insert((ProblemKind::TooDeep, "the text is nested too deeply"));
            self.at = self.end;
            return Vec::new();
        }
        self.lowering.reading.depth += 1;
        self.level += 1;
        let mut parts = Vec::new();
        let mut nesting = Nesting::default();
        while let Some(byte) = self.peek() {
            if nesting.stops(byte, until) {
                break;
            }
            self.part(byte, quoting, &mut parts);
        }
        self.level -= 1;
        self.lowering.reading.depth -= 1;
        parts
    }

    fn part(&mut self, byte: u8, quoting: Quoting, parts: &mut Vec<Part>) {
        match byte {
            b'\\' => self.backslash(quoting, parts),
            b'\'' if quoting == Quoting::None => self.single_quoted(parts),
            b'"' if matches!(quoting, Quoting::None | Quoting::DoubleOperand) => {
                self.at += 1;
                let inner = self.parts(Quoting::Double, Until::DoubleQuote);
                self.skip(b'"');
                parts.push(Part::DoubleQuoted(inner));
            }
            b'$' => self.dollar(quoting, parts),
            b'`' => self.back_tick(quoting, parts),
            b'<' | b'>' if quoting == Quoting::None && self.peek_at(1) == Some(b'(') => {
                self.process_substitution(parts);
            }
            _ => {
                let from = self.at;
                self.at += 1;
                while self.peek().is_some_and(|next| !is_special(next)) {
                    self.at += 1;
                }
                if self.level == 1 && quoting == Quoting::None {
                    self.look_for_end(from);
                }
                push_text(parts, quoting, self.slice(from, self.at));
            }
        }
    }

    /// Looks whether letters outside quotes end a word.
    fn look_for_end(&mut self, from: usize) {
        for byte in self.slice(from, self.at).bytes() {
            match byte {
                b'(' => self.brackets += 1,
                b')' => match self.brackets.checked_sub(1) {
                    Some(brackets) => self.brackets = brackets,
                    None => self.ran_on = true,
                },
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' if self.brackets == 0 => {
                    self.ran_on = true;
                }
                _ => {}
            }
        }
    }

    fn backslash(&mut self, quoting: Quoting, parts: &mut Vec<Part>) {
        let from = self.at;
        self.at += 1;
        let Some(next) = self.rest().chars().next() else {
            push_text(parts, quoting, "\\");
            return;
        };
        if next == '\n' {
            self.at += 1;
            return;
        }
        let escapes = match quoting {
            Quoting::None => true,
            Quoting::Double => matches!(next, '$' | '`' | '"' | '\\'),
            Quoting::DoubleOperand => matches!(next, '$' | '`' | '"' | '\\' | '}'),
            Quoting::HereDocument => matches!(next, '$' | '`' | '\\'),
        };
        let after = self.at + next.len_utf8();
        if escapes {
            push_quoted(parts, self.slice(self.at, after));
        } else {
            push_text(parts, quoting, self.slice(from, after));
        }
        self.at = after;
    }

    fn single_quoted(&mut self, parts: &mut Vec<Part>) {
        let from = self.at + 1;
        let close = self.slice(from, self.end).find('\'').map_or(self.end, |offset| from + offset);
        parts.push(Part::Quoted(self.slice(from, close).to_owned()));
        self.at = (close + 1).min(self.end);
    }

    fn dollar(&mut self, quoting: Quoting, parts: &mut Vec<Part>) {
        // The shell takes continued lines together before it looks for expansions.
        while self.peek_at(1) == Some(b'\\') && self.peek_at(2) == Some(b'\n') {
            self.at += 2;
        }
        match self.peek_at(1) {
            Some(b'\'') if matches!(quoting, Quoting::None | Quoting::DoubleOperand) => {
                let (pieces, taken) = escapes::decode(self.slice(self.at + 2, self.end));
                parts.extend(pieces.into_iter().map(|piece| match piece {
                    escapes::Piece::Text(text) => Part::Quoted(text),
                    escapes::Piece::Bytes(count) => Part::Bytes(count),
                }));
                self.at = (self.at + 2 + taken).min(self.end);
            }
            // `$"..."` is a translated string: quoted like any other.
            Some(b'"') if quoting == Quoting::None => self.at += 1,
            Some(b'(') => self.parenthesis_after_dollar(parts),
            Some(b'[') => self.arithmetic_in_brackets(parts),
            Some(b'{') => self.braced_parameter(quoting, parts),
            Some(byte) if byte == b'_' || byte.is_ascii_alphabetic() => {
                self.at += 1;
                let name = self.continued_name();
                if self.level == 1 && self.peek() == Some(b'{') {
                    self.names_before_braces.push(parts.len());
                }
                parts.push(plain_parameter(name));
            }
            Some(byte) if is_special_parameter(byte) || byte.is_ascii_digit() => {
                parts.push(plain_parameter(char::from(byte).to_string()));
                self.at += 2;
            }
            Some(_) | None => {
                push_text(parts, quoting, "$");
                self.at += 1;
            }
        }
    }

    /// A name, which may go on in the next line.
    fn continued_name(&mut self) -> String {
        let mut name = String::new();
        loop {
            let from = self.at;
            self.skip_name();
            name.push_str(self.slice(from, self.at));
            let goes_on = self.rest().starts_with("\\\n") && self.peek_at(2).is_some_and(is_name_byte);
            if !goes_on {
                return name;
            }
            self.at += 2;
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, distance: usize) -> Option<u8> {
        let at = self.at + distance;
        if at < self.end { self.lowering.text.as_bytes().get(at).copied() } else { None }
    }

    pub(super) fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.at += 1;
        }
        found
    }

    /// Steps over a name and answers whether there was one.
    pub(super) fn skip_name(&mut self) -> bool {
        let from = self.at;
        while self.peek().is_some_and(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
            self.at += 1;
        }
        self.at > from
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> &'text str {
        self.lowering.text.get(from..to).unwrap_or_default()
    }

    pub(super) fn rest(&self) -> &'text str {
        self.slice(self.at, self.end)
    }

    /// The parser's idea of what stands at the present position, when it has one.
    pub(super) fn mark(&self) -> Option<Mark> {
        let index = self.marks.partition_point(|mark| mark.start < self.at);
        self.marks.get(index).copied().filter(|mark| mark.start == self.at && mark.end <= self.end)
    }
}

/// Brackets and `?` that were passed on the way to the end of a subscript or an offset.
#[derive(Default)]
struct Nesting {
    open: usize,
    questions: usize,
}

impl Nesting {
    fn stops(&mut self, byte: u8, until: Until) -> bool {
        match (until, byte) {
            (Until::DoubleQuote, b'"')
            | (Until::Brace | Until::SlashOrBrace | Until::ColonOrBrace, b'}')
            | (Until::SlashOrBrace, b'/') => true,
            (Until::Bracket, b'[') | (Until::ColonOrBrace, b'(') => {
                self.open += 1;
                false
            }
            (Until::Bracket, b']') if self.open == 0 => true,
            (Until::Bracket, b']') | (Until::ColonOrBrace, b')') => {
                self.open = self.open.saturating_sub(1);
                false
            }
            (Until::ColonOrBrace, b'?') => {
                self.questions += 1;
                false
            }
            (Until::ColonOrBrace, b':') if self.open == 0 && self.questions == 0 => true,
            (Until::ColonOrBrace, b':') => {
                self.questions = self.questions.saturating_sub(1);
                false
            }
            (_, _) => false,
        }
    }
}

pub(super) fn plain_parameter(name: String) -> Part {
    Part::Parameter(Box::new(ParameterExpansion {
        name,
        index: None,
        indirect: false,
        operation: ParameterOperation::Plain,
    }))
}

fn is_name_byte(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

pub(super) fn is_special_parameter(byte: u8) -> bool {
    matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
}

/// Bytes that end a run of ordinary text, in any quoting and before any end.
fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b'\\'
            | b'\''
            | b'"'
            | b'$'
            | b'`'
            | b'<'
            | b'>'
            | b'}'
            | b'/'
            | b':'
            | b'['
            | b']'
            | b'('
            | b')'
            | b'?'
    )
}

fn push_text(parts: &mut Vec<Part>, quoting: Quoting, text: &str) {
    match quoting {
        Quoting::None => match parts.last_mut() {
            Some(Part::Literal(last)) => last.push_str(text),
            _ => parts.push(Part::Literal(text.to_owned())),
        },
        Quoting::Double | Quoting::DoubleOperand | Quoting::HereDocument => {
            push_quoted(parts, text);
        }
    }
}

fn push_quoted(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        Some(Part::Quoted(last)) => last.push_str(text),
        _ => parts.push(Part::Quoted(text.to_owned())),
    }
}

/// Where the parser saw substitutions, in order, those inside operands and quotes included.
pub(super) fn marks_of(parts: &[WordPartNode]) -> Vec<Mark> {
    let mut marks = Vec::new();
    collect_marks(parts, &mut marks);
    marks.sort_by_key(|mark| mark.start);
    marks
}

fn collect_marks(parts: &[WordPartNode], marks: &mut Vec<Mark>) {
    for part in parts {
        let mark = |kind| Mark { start: part.span.start.offset(), end: part.span.end.offset(), kind };
        match &part.kind {
            WordPart::CommandSubstitution { .. } => marks.push(mark(MarkKind::Command)),
            WordPart::ProcessSubstitution { .. } => marks.push(mark(MarkKind::Process)),
            WordPart::ArithmeticExpansion { .. } => marks.push(mark(MarkKind::Arithmetic)),
            WordPart::DoubleQuoted { parts, .. } => collect_marks(parts, marks),
            WordPart::Parameter(parameter) => {
                if let Some(syntax) = parameter.bourne() {
                    collect_parameter_marks(syntax, marks);
                }
            }
            _ => {}
        }
    }
}

fn collect_parameter_marks(syntax: &BourneParameterExpansion, marks: &mut Vec<Mark>) {
    if let Some(operand) = syntax.operand_word_ast() {
        collect_marks(&operand.parts, marks);
    }
    if let BourneParameterExpansion::Operation { operator, .. } = syntax
        && let ParameterOp::ReplaceFirst { replacement_word_ast, .. }
        | ParameterOp::ReplaceAll { replacement_word_ast, .. } = &**operator
    {
        collect_marks(&replacement_word_ast.parts, marks);
    }
}
