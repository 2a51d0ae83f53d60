//! Comments outside and inside of functions: code in them, marks of unfinished work.

use tree_sitter::Node;

use crate::dropped::around;
use crate::finding::{FindingKind, FindingWeight, GateFinding, shown};
use crate::function::Function;
use crate::language::SourceLanguage;
use crate::remark::{Remark, remark_of};
use crate::source::{Source, descendants, line_of};

/// How many lines in a row must be code (ours): one line is often an example.
const FEWEST_LINES: usize = 2;

/// What comments of a file show.
pub(crate) fn findings(source: &Source, all: &[Function<'_>], loose: &[Node<'_>]) -> Vec<GateFinding> {
    let mut comments: Vec<Node<'_>> =
        all.iter().flat_map(|function| function.comments.iter().copied()).collect();
    comments.extend(loose.iter().copied());
    comments.sort_by_key(Node::start_byte);
    let mut found: Vec<GateFinding> = comments
        .iter()
        .filter(|comment| remark_of(source.text(**comment)) == Remark::Mark)
        .map(|comment| {
            let (line, last) = (line_of(*comment), comment.end_position().row + 1);
            finding(source, all, *comment, (line, last), FindingKind::WorkMark)
        })
        .collect();
    found.extend(commented_out(source, all, &comments));
    found
}

/// A file that is not understood at a place.
pub(crate) fn garbled(source: &Source) -> Option<GateFinding> {
    let first = descendants(source.root()).find(|node| node.is_error() || node.is_missing())?;
    // A quarter of a file that is not understood is no file of this language; less is often a macro or a new form.
    let is_lost = source.faults() * 4 > source.whole().len();
    // Macros of C may hold what is no C by itself.
    if !is_lost && matches!(source.language(), SourceLanguage::C | SourceLanguage::Cpp) {
        return None;
    }
    Some(GateFinding {
        line: line_of(first),
        first_line: line_of(first),
        last_line: if is_lost { usize::MAX } else { first.end_position().row + 1 },
        kind: FindingKind::NotParsed,
        weight: if is_lost { FindingWeight::Error } else { FindingWeight::Warning },
        function: String::new(),
        text: shown(source.text(first)),
    })
}

fn finding(
    source: &Source,
    all: &[Function<'_>],
    node: Node<'_>,
    (line, last_line): (usize, usize),
    kind: FindingKind,
) -> GateFinding {
    let (weight, function) = (FindingWeight::Warning, around(all, node));
    GateFinding { line, first_line: line, last_line, kind, weight, function, text: shown(source.text(node)) }
}

/// Whether a comment is a line of code that was taken out: it calls something, and is nothing else.
pub(crate) fn holds_code(source: &Source, comment: Node<'_>) -> bool {
    let Some(text) = line_of_code(source, comment) else { return false };
    let text = text.trim();
    // In a shell, and in Ruby, nearly every sentence reads as code.
    let looks_like = match source.language() {
        SourceLanguage::Shell => text.contains(['$', '|', '>']) && !text.ends_with('.'),
        SourceLanguage::Ruby => text.ends_with(')') && text.contains(['=', '.']),
        _ => text.ends_with([')', ';', '{']) && text.contains('('),
    };
    if !looks_like || text.split_whitespace().count() > 12 {
        return false;
    }
    let text = match source.language() {
        SourceLanguage::Php => format!("<?php\n{text}"),
        _ => text.to_owned(),
    };
    let Ok(read) = Source::fragment(source.language(), &text) else { return false };
    let grammar = source.grammar();
    let calls =
        descendants(read.root()).any(|node| grammar.calls.iter().any(|(kind, _)| *kind == node.kind()));
    calls && read.faults() == 0
}

/// Whether lines of code were taken out among these comments.
pub(crate) fn holds_lines_of_code(source: &Source, all: &[Function<'_>], comments: &[Node<'_>]) -> bool {
    !commented_out(source, all, comments).is_empty()
}

/// Line comments in a row whose text is code.
fn commented_out(source: &Source, all: &[Function<'_>], comments: &[Node<'_>]) -> Vec<GateFinding> {
    let mut found = Vec::new();
    let mut rows: Vec<(Node<'_>, &str)> = Vec::new();
    for (place, comment) in comments.iter().enumerate() {
        if let Some(text) = line_of_code(source, *comment) {
            rows.push((*comment, text));
        }
        let next = comments.get(place + 1);
        let goes_on = next.is_some_and(|next| {
            next.start_position().row == comment.start_position().row + 1
                && line_of_code(source, *next).is_some()
        });
        if !goes_on {
            if let (Some((first, _)), Some((last, _))) = (rows.first(), rows.last())
                && is_code(source, &rows)
            {
                let lines = (line_of(*first), line_of(*last));
                found.push(finding(source, all, *first, lines, FindingKind::CommentedOutCode));
            }
            rows.clear();
        }
    }
    found
}

/// What a line comment holds; `None` for comments that document something.
fn line_of_code<'t>(source: &'t Source, comment: Node<'t>) -> Option<&'t str> {
    let text = source.text(comment).trim_end();
    let start = source.grammar().line_comments.iter().find(|start| text.starts_with(**start))?;
    let rest = text.get(start.len()..)?;
    (!rest.starts_with(['/', '!', '#', ':'])).then_some(rest)
}

/// The lines of code that a comment holds as text, without what makes them a comment. Comments within it, and lines without a word, are no code.
pub(crate) fn code_in_comment<'t>(source: &'t Source, comment: Node<'t>) -> Vec<&'t str> {
    let starts = source.grammar().line_comments;
    let lines: Vec<&str> = if let Some(line) = line_of_code(source, comment) {
        vec![line]
    } else {
        // What documents something begins with a second star or another sign.
        let inside = source.text(comment).strip_prefix("/*").and_then(|text| text.strip_suffix("*/"));
        let inside = inside.filter(|text| !text.starts_with(['*', '!'])).unwrap_or_default();
        inside.lines().collect()
    };
    let is_comment = |line: &str| starts.iter().any(|start| line.trim_start().starts_with(start));
    let lines = lines.into_iter().filter(|line| !line.trim().is_empty() && !is_comment(line));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect()
}

fn is_code(source: &Source, rows: &[(Node<'_>, &str)]) -> bool {
    if rows.len() < FEWEST_LINES {
        return false;
    }
    // Prose has no such lines: this spares the parser most comments.
    let looks_like = |line: &str| {
        let line = line.trim();
        line.ends_with([';', '{', '}', ')', ':', ',', ']']) || line.contains(" = ") || line.contains('(')
    };
    let lines: Vec<&str> = rows.iter().map(|(_, text)| *text).collect();
    let filled = lines.iter().filter(|line| !line.trim().is_empty()).count();
    if filled < FEWEST_LINES || lines.iter().filter(|line| looks_like(line)).count() * 3 < filled * 2 {
        return false;
    }
    let text = lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n");
    // All that stands outside of this sign is text for PHP.
    let text = if source.language() == SourceLanguage::Php { format!("<?php\n{text}") } else { text };
    let Ok(read) = Source::fragment(source.language(), &text) else { return false };
    let signs = source.grammar().code_signs;
    let count = descendants(read.root()).filter(|node| signs.contains(&node.kind())).count();
    read.faults() == 0 && count >= FEWEST_LINES
}
