//! Findings that somebody allowed: `checkrein: allow KIND: REASON` in a comment on the line, on the one above, or above the function.

use std::collections::HashSet;

use tree_sitter::Node;

use crate::finding::{FindingKind, FindingWeight, GateFinding, shown};
use crate::function::Function;
use crate::source::{Source, line_of};

/// The word before an exemption.
pub(crate) const WORD: &str = "checkrein: allow ";

/// The fewest letters of a reason (ours): less says nothing.
const SHORTEST_REASON: usize = 10;

/// The fewest different letters of a reason (ours).
const FEWEST_LETTERS: usize = 4;

/// A finding that a text allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedFinding {
    /// What was found.
    pub kind: FindingKind,
    /// The line of the exemption, counted from 1.
    pub line: usize,
    /// What it says: one line, cut to 120 characters.
    pub text: String,
}

/// The findings about exemptions that came with a change and keep something back: whoever makes the change wrote the reason too.
pub fn new_exemptions(allowed: &[AllowedFinding], is_new: impl Fn(usize) -> bool) -> Vec<GateFinding> {
    let mut lines = HashSet::new();
    allowed
        .iter()
        .filter(|one| is_new(one.line) && lines.insert(one.line))
        .map(|one| GateFinding::at(one.line, FindingKind::NewExemption, FindingWeight::Warning, &one.text))
        .collect()
}

/// One exemption.
#[derive(Debug)]
struct Exemption {
    kinds: Vec<FindingKind>,
    /// Where it holds: from its own line to the end of what follows.
    first: usize,
    last: usize,
    has_reason: bool,
    text: String,
}

/// All exemptions of a text.
#[derive(Debug)]
pub(crate) struct Exemptions(Vec<Exemption>);

impl Exemptions {
    /// Reads those of all comments.
    pub(crate) fn read(source: &Source, all: &[Function<'_>], loose: &[Node<'_>]) -> Self {
        let comments = all.iter().flat_map(|function| function.comments.iter()).chain(loose);
        Self(comments.filter_map(|comment| exemption(source, all, *comment)).collect())
    }

    /// Takes away what is allowed, and tells it. That a test is gone is allowed anywhere in its file.
    pub(crate) fn apply(&self, findings: &mut Vec<GateFinding>) -> Vec<AllowedFinding> {
        let mut allowed = Vec::new();
        findings.retain(|finding| {
            let by = self.0.iter().find(|one| {
                one.has_reason
                    // Of a file that is not read nothing can say that it is in order.
                    && !(finding.kind == FindingKind::NotParsed && finding.weight == FindingWeight::Error)
                    && one.kinds.contains(&finding.kind)
                    && ((one.first..=one.last).contains(&finding.line) || finding.is_of_what_is_gone())
            });
            allowed.extend(by.map(|one| AllowedFinding {
                kind: finding.kind,
                line: one.first,
                text: one.text.clone(),
            }));
            by.is_none()
        });
        allowed
    }

    /// Those that do not say why, or name no kind: they allow nothing.
    pub(crate) fn without_reason(&self) -> impl Iterator<Item = GateFinding> {
        self.0.iter().filter(|one| !one.has_reason || one.kinds.is_empty()).map(|one| GateFinding {
            line: one.first,
            first_line: one.first,
            last_line: one.first,
            kind: FindingKind::ExemptionWithoutReason,
            weight: FindingWeight::Error,
            function: String::new(),
            text: one.text.clone(),
        })
    }
}

/// Whether a text can be a reason: long enough, and not one letter again and again.
pub(crate) fn is_reason(text: &str) -> bool {
    let letters: HashSet<char> = text.chars().filter(|letter| letter.is_alphabetic()).collect();
    text.chars().count() >= SHORTEST_REASON && letters.len() >= FEWEST_LETTERS
}

fn exemption(source: &Source, all: &[Function<'_>], comment: Node<'_>) -> Option<Exemption> {
    let text = source.text(comment);
    let (_, wanted) = text.split_once(WORD)?;
    let (names, reason) = wanted.split_once(':').unwrap_or((wanted, ""));
    let kinds = names.split(',').filter_map(|name| FindingKind::named(name.trim())).collect();
    let has_reason = is_reason(reason.trim().trim_end_matches("*/").trim());
    let first = line_of(comment);
    let line_below = comment.end_position().row + 2;
    // Above a function it holds for all of it.
    let function = all.iter().find(|function| {
        let start = function.node.start_position().row + 1;
        let header = function.header.lines().count().max(1);
        (start.saturating_sub(header)..=start).contains(&line_below)
    });
    let last = function.map_or(line_below, |function| function.node.end_position().row + 1);
    Some(Exemption { kinds, first, last: last.max(line_below), has_reason, text: shown(text) })
}
