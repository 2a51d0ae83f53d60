//! From the parser's syntax tree to ours.
//!
//! The parser decides where commands, words and redirections begin and end. What is inside a word is read here,
//! from the text itself: the parser gives up on deep operands silently, keeps some escapes and undoes others, and
//! does not look into `${ command; }`. Bodies of substitutions are parsed again as texts of their own.
//!
//! | module | reads |
//! |---|---|
//! | `statements` | statements, pipelines, simple commands |
//! | `shown` | the text as the parser is shown it |
//! | `compounds` | loops, conditionals, functions, coprocesses |
//! | `conditions` | `[[ ... ]]` |
//! | `assignments` | `NAME=value`, arrays |
//! | `redirects` | redirections and here-documents |
//! | `detached` | redirections that the parser takes for commands |
//! | `words` | quoting and expansions inside a word |
//! | `parameters` | `${...}` |
//! | `substitutions` | `$( )`, back-ticks, `<( )`, arithmetic |
//! | `brackets` | where an opened bracket closes |
//! | `escapes` | `$'...'` |
//! | `brace` | brace expansion |
//!
//! The parser is shown a text of the same length in which braces inside words are hidden: module `shown`.

mod assignments;
mod brace;
mod brackets;
mod compounds;
mod conditions;
mod detached;
mod escapes;
mod parameters;
mod redirects;
mod shown;
mod statements;
mod substitutions;
mod words;

use shuck_parser::parser::{ParseDiagnostic, ParseStatus, Parser, ShellDialect};

use crate::tree::{Block, Command, Launch, Opaque, Parsed, Problem, ProblemKind, ShellStatement, Span};

/// Nesting that the lowering follows, counted over statements, quotes, operands and substitutions. Ours: the
/// parser stops at 100 levels of its own, each of which may hold several of these.
const DEPTH_LIMIT: usize = 512;

/// Bytes that may be parsed again as bodies of substitutions, over the whole text. Ours: 16 times the text limit.
const REREAD_LIMIT: usize = 1024 * 1024;

/// Characters and parts that brace expansion may make, over the whole text. Ours.
const BRACE_LIMIT: usize = 256 * 1024;

/// Longest text that is tried as zsh, in bytes. Ours.
const SHORT_FORMS_BYTES: usize = 8 * 1024;

/// Words that open a command in a text that is tried as zsh. Ours.
const SHORT_FORMS_LIMIT: usize = 48;

/// Longest text kept in an opaque command. Ours.
const OPAQUE_TEXT_LIMIT: usize = 4096;

/// Reads `text` on the caller's stack and without a deadline; the guard decides when that is safe.
pub(crate) fn read(text: &str) -> Parsed {
    let mut reading =
        Reading { problems: Vec::new(), brace_budget: BRACE_LIMIT, depth: 0, reread: 0, refused: None };
    let script = block_of(&mut reading, text, Place::Offset(0));
    match reading.refused {
        None => Parsed { script, problems: reading.problems },
        // A refusal anywhere makes the whole text opaque: what was built so far may miss something.
        Some((kind, message)) => {
            // Kept statements are dropped here on purpose, together with their problems.
            drop(script);
            refusal(text, kind, message)
        }
    }
}

/// The answer for a text that is not read at all: one opaque command and one problem.
pub(crate) fn refusal(text: &str, kind: ProblemKind, message: &str) -> Parsed {
    let span = Span { start: 0, end: text.len() };
    Parsed {
        script: vec![ShellStatement { command: opaque(text, kind), launch: Launch::Foreground, span }],
        problems: vec![Problem { kind, span, message: message.to_owned() }],
    }
}

/// What one call of [`read`] shares over all texts that it parses.
struct Reading {
    problems: Vec<Problem>,
    /// How much brace expansion may still make.
    brace_budget: usize,
    depth: usize,
    reread: usize,
    refused: Option<(ProblemKind, &'static str)>,
}

/// How positions of a text that is parsed map to the text that the caller gave.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// The text stands in the caller's text as it is, from this byte on.
    Offset(usize),
    /// The text was changed before parsing (back-ticks, `<<-`): everything in it is reported at this place.
    Fixed(Span),
}

impl Place {
    fn span(self, start: usize, end: usize) -> Span {
        match self {
            Self::Offset(base) => Span { start: base + start, end: base + end.max(start) },
            Self::Fixed(span) => span,
        }
    }

    /// The place of a piece of this text.
    fn inside(self, start: usize) -> Self {
        match self {
            Self::Offset(base) => Self::Offset(base + start),
            Self::Fixed(span) => Self::Fixed(span),
        }
    }
}

/// One text that is being lowered.
struct Lowering<'text, 'reading> {
    text: &'text str,
    place: Place,
    reading: &'reading mut Reading,
}

impl<'text> Lowering<'text, '_> {
    /// The part of the text that a position of the parser means; empty when it means none.
    fn slice(&self, span: shuck_ast::Span) -> &'text str {
        self.text.get(span.start.offset()..span.end.offset()).unwrap_or_default()
    }

    fn span(&self, span: shuck_ast::Span) -> Span {
        let trimmed = self.slice(span).trim_end_matches([' ', '\t', '\n', ';', '&']).len();
        let start = span.start.offset();
        self.place.span(start, start + trimmed)
    }

    fn problem(&mut self, kind: ProblemKind, span: Span, message: impl Into<String>) {
        self.reading.problems.push(Problem { kind, span, message: message.into() });
    }

    /// Runs `inner` one level deeper; `None`, and a refused text, when that is too deep.
    fn deeper<Out>(&mut self, inner: impl FnOnce(&mut Self) -> Out) -> Option<Out> {
        if self.reading.depth >= DEPTH_LIMIT {
            self.reading.refused.get_or_insert((ProblemKind::TooDeep, "the text is nested too deeply"));
            return None;
        }
        self.reading.depth += 1;
        let out = inner(self);
        self.reading.depth -= 1;
        Some(out)
    }

    /// Parses the body of a substitution that stands at `start..end` of this text.
    fn inner_block(&mut self, start: usize, end: usize) -> Block {
        let body = self.text.get(start..end).unwrap_or_default();
        self.reread(body, self.place.inside(start))
    }

    /// Parses a text that belongs to this one, one level deeper.
    fn reread(&mut self, text: &str, place: Place) -> Block {
        self.reading.reread += text.len();
        if self.reading.reread > REREAD_LIMIT {
            self.reading
                .refused
                .get_or_insert((ProblemKind::TooDeep, "the text holds too many nested substitutions"));
        }
        if self.reading.refused.is_some() {
            return Vec::new();
        }
        self.deeper(|lowering| block_of(lowering.reading, text, place)).unwrap_or_default()
    }
}

/// Parses one text and lowers all of it.
fn block_of(reading: &mut Reading, text: &str, place: Place) -> Block {
    if text.trim_matches([' ', '\t', '\n']).is_empty() {
        return Vec::new();
    }
    let shown = shown::shown(text);
    let mut result = Parser::new(&shown).parse();
    if result.status != ParseStatus::Clean && is_shallow(text) {
        // What bash refuses may be the short forms of zsh, which many people's agents run.
        let other = Parser::with_dialect(&shown, ShellDialect::Zsh).parse();
        if other.status == ParseStatus::Clean {
            result = other;
        }
    }
    let mut lowering = Lowering { text, place, reading };
    let mut block = lowering.block(&result.file.body);
    if result.status != ParseStatus::Clean {
        let message = result.terminal_error.map(|error| error.to_string());
        lowering.add_unread(&mut block, &result.diagnostics, message);
    }
    block
}

/// Whether a text opens so few commands that the parser, which does not bound its recursion for the forms of zsh, needs little stack.
fn is_shallow(text: &str) -> bool {
    let opens = |word: &&str| {
        matches!(
            *word,
            "if" | "elif"
                | "else"
                | "then"
                | "for"
                | "foreach"
                | "repeat"
                | "while"
                | "until"
                | "do"
                | "case"
                | "select"
                | "function"
                | "time"
                | "coproc"
                | "nocorrect"
                | "noglob"
                | "always"
                | "!"
                | "-"
        )
    };
    let words =
        text.split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '{' | '}'));
    text.len() <= SHORT_FORMS_BYTES
        && words.filter(opens).count() + text.matches("()").count() <= SHORT_FORMS_LIMIT
}

impl Lowering<'_, '_> {
    /// Records why the parser stumbled and puts the text that it skipped into the block as an opaque command.
    fn add_unread(&mut self, block: &mut Block, diagnostics: &[ParseDiagnostic], fatal: Option<String>) {
        let first = diagnostics.first();
        let failed_at = first.map_or(0, |diagnostic| diagnostic.span.start.offset());
        let message = first
            .map(|diagnostic| diagnostic.message.clone())
            .or(fatal)
            .unwrap_or_else(|| "the text is not well formed".to_owned());
        let kind = if message.contains("too deep") || message.contains("fuel exhausted") {
            ProblemKind::TooDeep
        } else {
            ProblemKind::Syntax
        };

        let base = self.place.span(0, 0).start;
        let before = match self.place {
            Place::Offset(_) => {
                block.iter().take_while(|statement| statement.span.start < base + failed_at).count()
            }
            Place::Fixed(_) => block.len(),
        };
        let unread_from = match self.place {
            Place::Offset(_) => block
                .iter()
                .take(before)
                .map(|statement| statement.span.end.saturating_sub(base))
                .max()
                .unwrap_or(0),
            Place::Fixed(_) => 0,
        };
        let unread = self.text.get(unread_from..).unwrap_or(self.text).trim_matches([' ', '\t', '\n', ';']);
        let span = self.place.span(unread_from, self.text.len());
        let at = self.place.span(failed_at.min(self.text.len()), self.text.len());
        self.problem(kind, at, message);
        block.insert(
            before,
            ShellStatement { command: opaque(unread, kind), launch: Launch::Foreground, span },
        );
    }
}

/// An opaque command with the beginning of its text.
fn opaque(text: &str, reason: ProblemKind) -> Command {
    let mut end = text.len().min(OPAQUE_TEXT_LIMIT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Command::Opaque(Opaque { text: text.get(..end).unwrap_or_default().to_owned(), reason })
}
