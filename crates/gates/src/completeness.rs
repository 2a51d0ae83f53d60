//! The gate of completeness: whether code is written, tests prove something, and errors arrive.

use std::ops::RangeInclusive;

use crate::act::{Saying, unwritten_at};
use crate::body::{Setting, judge};
use crate::comment;
use crate::dropped;
use crate::exemption::{AllowedFinding, Exemptions};
use crate::finding::{FindingKind, FindingWeight, GateFinding, shown};
use crate::function::{Function, functions};
use crate::language::SourceLanguage;
use crate::proof;
use crate::remark::{Remark, remark_of};
use crate::source::{Source, Unread, descendants, line_of};

/// What a fragment of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CodeVerdict {
    /// Written.
    Complete,
    /// Declares what others write.
    Interface,
    /// Does nothing, or always the same, which may be meant so.
    Ambiguous,
    /// Says or shows that it is not written.
    Stub,
    /// Could not be read as code.
    NotParsed,
}

impl CodeVerdict {
    /// The word that is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Interface => "interface",
            Self::Ambiguous => "ambiguous",
            Self::Stub => "stub",
            Self::NotParsed => "not_parsed",
        }
    }
}

/// A piece of code to judge by itself.
#[derive(Debug, Clone, Copy)]
pub struct Fragment<'a> {
    /// Its language.
    pub language: SourceLanguage,
    /// The code: a function, some of them, or a file.
    pub code: &'a str,
    /// Where it comes from.
    pub origin: CodeOrigin,
}

/// Where code comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeOrigin {
    /// Code that is shipped, or not known.
    Product,
    /// Tests, and what they are made with: there empty functions are usual.
    Tests,
}

impl CodeOrigin {
    /// By the names of its folders and file, as test runners look for them.
    pub fn of_path(path: &str) -> Self {
        const FOLDERS: [&str; 9] =
            ["test", "tests", "__tests__", "spec", "specs", "testdata", "fixtures", "mocks", "__mocks__"];
        let lower = path.to_lowercase();
        let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
        let stem = name.split('.').next().unwrap_or(name);
        let is_named = stem.starts_with("test_")
            || stem.ends_with("_test")
            || stem.ends_with("_spec")
            || [".test.", ".spec."].iter().any(|part| name.contains(part))
            || ["conftest", "tests", "test"].contains(&stem)
            // `OrderTest.java`, `OrderTests.cs`: in capitals, so that `latest.js` is none.
            || path.rsplit('/').next().is_some_and(|name| {
                let stem = name.split('.').next().unwrap_or(name);
                ["Test", "Tests", "Spec", "IT"].iter().any(|end| stem.len() > end.len() && stem.ends_with(end))
            });
        if is_named || folders.split('/').any(|folder| FOLDERS.contains(&folder)) {
            Self::Tests
        } else {
            Self::Product
        }
    }

    pub(crate) fn setting(self) -> Setting {
        match self {
            Self::Product => Setting::Code,
            Self::Tests => Setting::Tests,
        }
    }
}

/// What a fragment is, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentAnswer {
    /// What it is.
    pub verdict: CodeVerdict,
    /// What was found, by line.
    pub findings: Vec<GateFinding>,
}

/// Judges a piece of code by itself.
pub fn judge_fragment(fragment: Fragment<'_>) -> FragmentAnswer {
    let source = match Source::fragment(fragment.language, fragment.code) {
        Ok(source) => source,
        Err(cause) => return unread(cause),
    };
    let (all, loose) = functions(&source);
    let setting = fragment.origin.setting();
    let mut findings = Vec::new();
    let mut verdict = None;
    for function in &all {
        let judged = judge(&source, function, setting);
        findings.extend(judged.findings);
        // The body of an overloaded function stands behind its other forms.
        let is_form = function.body.is_none()
            && !function.name.is_empty()
            && all.iter().any(|other| other.body.is_some() && other.name == function.name);
        let is_first = verdict.is_none() && !is_form;
        // The first one is what is asked about; of the others only a stub says something about the whole.
        if is_first || judged.verdict == CodeVerdict::Stub {
            verdict = Some(judged.verdict);
        }
    }
    let outside = outside_of_functions(&source, &all, &loose);
    if outside.iter().any(|finding| finding.weight == FindingWeight::Error) {
        verdict = Some(CodeVerdict::Stub);
    }
    findings.extend(outside);
    let proofs = proof::findings(&source, &all, setting);
    if proofs.iter().any(|finding| finding.kind == FindingKind::TrivialAssertion)
        && proofs_nothing(&source, &all, setting)
    {
        verdict = Some(CodeVerdict::Stub);
    }
    findings.extend(proofs);
    findings.extend(dropped::findings(&source, &all));
    if let Some(finding) = unread_stub(&source) {
        findings.push(finding);
        verdict = Some(CodeVerdict::Stub);
    }
    let verdict = match verdict {
        Some(verdict) if verdict == CodeVerdict::Stub => verdict,
        // Where most of it is not understood nothing is said about it.
        _ if is_garbled(&source, fragment.code) => {
            return FragmentAnswer { verdict: CodeVerdict::NotParsed, findings };
        }
        Some(verdict) => verdict,
        None => CodeVerdict::Complete,
    };
    finish(&source, &loose, &all, verdict, findings)
}

fn finish(
    source: &Source,
    loose: &[tree_sitter::Node<'_>],
    all: &[Function<'_>],
    verdict: CodeVerdict,
    mut findings: Vec<GateFinding>,
) -> FragmentAnswer {
    let exemptions = Exemptions::read(source, all, loose);
    let before = findings.len();
    exemptions.apply(&mut findings);
    let is_left = findings.iter().any(|finding| finding.weight == FindingWeight::Error);
    // What was allowed with a reason is as good as written.
    let verdict = match verdict {
        CodeVerdict::Stub if before > findings.len() && !is_left => CodeVerdict::Complete,
        verdict => verdict,
    };
    findings.sort_by_key(|finding| (finding.line, finding.kind));
    FragmentAnswer { verdict, findings }
}

/// Whether all assertions of a fragment hold always.
fn proofs_nothing(source: &Source, all: &[Function<'_>], setting: Setting) -> bool {
    let cases = proof::cases(source, all, setting);
    !cases.is_empty() && cases.iter().all(proof::TestCase::proves_nothing)
}

/// Half of the text, or no function where the text is not short.
fn is_garbled(source: &Source, code: &str) -> bool {
    let faults = source.faults();
    faults > 0 && (source.root().is_error() || faults * 2 > code.len())
}

/// Where the text is broken, the words in it are all there is to go by: a call that says that something is not written.
fn unread_stub(source: &Source) -> Option<GateFinding> {
    if source.faults() == 0 || source.language() != SourceLanguage::Rust {
        return None;
    }
    let tokens = |node: &tree_sitter::Node<'_>| {
        let name = source.grammar().unfinished_calls.contains(&source.text(*node));
        name && source.whole()[node.end_byte()..].starts_with('!')
    };
    let broken = |node: &tree_sitter::Node<'_>| {
        std::iter::successors(node.parent(), tree_sitter::Node::parent).any(|one| one.is_error())
    };
    let found = descendants(source.root()).find(|node| node.is_named() && tokens(node) && broken(node))?;
    Some(GateFinding {
        line: line_of(found),
        first_line: line_of(found),
        last_line: line_of(found),
        kind: FindingKind::UnfinishedBranch,
        weight: FindingWeight::Error,
        function: String::new(),
        text: shown(source.whole().lines().nth(line_of(found) - 1).unwrap_or_default()),
    })
}

fn unread(cause: Unread) -> FragmentAnswer {
    let text = match cause {
        Unread::TooLong => "longer than 1 MiB",
        Unread::TooHard => "the parser gave up",
    };
    let finding = GateFinding {
        line: 1,
        first_line: 1,
        last_line: 1,
        kind: FindingKind::NotParsed,
        weight: FindingWeight::Error,
        function: String::new(),
        text: text.to_owned(),
    };
    FragmentAnswer { verdict: CodeVerdict::NotParsed, findings: vec![finding] }
}

/// What stands outside of all functions: calls that say that something is not written, comments in place of code.
fn outside_of_functions(
    source: &Source,
    all: &[Function<'_>],
    loose: &[tree_sitter::Node<'_>],
) -> Vec<GateFinding> {
    let inside = |node: tree_sitter::Node<'_>| {
        all.iter().any(|function| {
            function.node.start_byte() <= node.start_byte() && node.end_byte() <= function.node.end_byte()
        })
    };
    let finding = |node: tree_sitter::Node<'_>, kind, weight| GateFinding {
        line: line_of(node),
        first_line: line_of(node),
        last_line: node.end_position().row + 1,
        kind,
        weight,
        function: String::new(),
        text: shown(source.text(node)),
    };
    let mut found = Vec::new();
    for node in descendants(source.root()).filter(tree_sitter::Node::is_named) {
        let saying = unwritten_at(source, node);
        let is_said = match saying {
            Some(Saying::Call) => true,
            // A property that is one expression is a function without being called one.
            Some(Saying::Error | Saying::Message) => is_in_property(node),
            None => false,
        };
        if is_said && !inside(node) {
            found.push(finding(node, FindingKind::UnfinishedBranch, FindingWeight::Error));
        }
    }
    for comment in loose {
        if remark_of(source.text(*comment)) == Remark::Elided {
            found.push(finding(*comment, FindingKind::ElidedCode, FindingWeight::Error));
        }
    }
    found
}

fn is_in_property(node: tree_sitter::Node<'_>) -> bool {
    let mut around = std::iter::successors(node.parent(), tree_sitter::Node::parent);
    around.any(|one| matches!(one.kind(), "property_declaration" | "indexer_declaration"))
}

/// A file to examine.
#[derive(Debug, Clone, Copy)]
pub struct GateText<'a> {
    /// Its language.
    pub language: SourceLanguage,
    /// The text as it is now.
    pub text: &'a str,
    /// The lines that changed, counted from 1; `None` for all of them.
    pub changed: Option<&'a [RangeInclusive<usize>]>,
    /// Where it comes from.
    pub origin: CodeOrigin,
}

/// What was found in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExaminedFile {
    /// What was found in what changed, by line.
    pub findings: Vec<GateFinding>,
    /// The findings that were allowed, with a reason.
    pub allowed: Vec<AllowedFinding>,
    /// How many functions changed.
    pub functions: usize,
    /// Bytes that the parser did not understand; what stands there was not judged as code.
    pub not_understood: usize,
}

/// Examines what changed in a file.
pub fn examine_file(file: GateText<'_>) -> ExaminedFile {
    let source = match Source::file(file.language, file.text) {
        Ok(source) => source,
        Err(cause) => {
            let findings = unread(cause).findings;
            return ExaminedFile {
                findings,
                allowed: Vec::new(),
                functions: 0,
                not_understood: file.text.len(),
            };
        }
    };
    let (all, loose) = functions(&source);
    let setting = file.origin.setting();
    let is_changed = |first: usize, last: usize| {
        file.changed
            .is_none_or(|ranges| ranges.iter().any(|range| *range.start() <= last && first <= *range.end()))
    };
    let lines = |function: &Function<'_>| (line_of(function.node), function.node.end_position().row + 1);
    let mut findings = Vec::new();
    let mut count = 0;
    for function in &all {
        let (first, last) = lines(function);
        if is_changed(first, last) {
            count += 1;
            findings.extend(judge(&source, function, setting).findings);
        }
    }
    findings.extend(outside_of_functions(&source, &all, &loose));
    findings.extend(proof::findings(&source, &all, setting));
    findings.extend(dropped::findings(&source, &all));
    findings.extend(comment::findings(&source, &all, &loose));
    if let Some(faults) = comment::garbled(&source) {
        findings.push(faults);
    }
    findings.retain(|finding| file.changed.is_none_or(|ranges| finding.touches(ranges)));
    let exemptions = Exemptions::read(&source, &all, &loose);
    let allowed = exemptions.apply(&mut findings);
    findings.extend(
        exemptions
            .without_reason()
            .filter(|finding| file.changed.is_none_or(|ranges| finding.touches(ranges))),
    );
    findings.sort_by_key(|finding| (finding.line, finding.kind));
    findings.dedup();
    ExaminedFile { findings, allowed, functions: count, not_understood: source.faults() }
}
