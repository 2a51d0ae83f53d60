//! Whether a function is written.

mod empty;
mod fixed;
mod unwritten;

use tree_sitter::Node;

use empty::empty;
use fixed::fixed;
pub(crate) use unwritten::above;
use unwritten::{
    is_outside_of_protocol, names_absence, not_implemented, output_says_unwritten, refuses, unwritten,
    unwritten_inside, without_body,
};

use crate::act::{Act, Saying, acts};
use crate::completeness::CodeVerdict;
use crate::finding::{FindingKind, FindingWeight, GateFinding, shown};
use crate::function::{Function, Place};
use crate::left_off;
use crate::remark::{Remark, remark_of, stands_alone};
use crate::slight;
use crate::source::{Source, line_of, named_children};
use crate::taken_out::taken_out;
use crate::thin;

/// What kind of text a function stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    /// Code that is shipped.
    Code,
    /// Tests and what they are made with.
    Tests,
}

/// What a function is, and what was found in it.
#[derive(Debug)]
pub(crate) struct JudgedFunction {
    /// What it is.
    pub(crate) verdict: CodeVerdict,
    /// What was found.
    pub(crate) findings: Vec<GateFinding>,
}

impl JudgedFunction {
    fn plain(verdict: CodeVerdict) -> Self {
        Self { verdict, findings: Vec::new() }
    }
}

/// Judges one function; those inside of it are judged by themselves.
pub(crate) fn judge(source: &Source, function: &Function<'_>, setting: Setting) -> JudgedFunction {
    let Some(body) = function.body else { return JudgedFunction::plain(without_body(function)) };
    let done = acts(source, body);
    if let Some(at) = unwritten(&done)
        && !(at.1 == Saying::Message && names_absence(&function.name))
    {
        return not_implemented(source, function, &done, at, setting);
    }
    if setting == Setting::Code
        && !names_absence(&function.name)
        && let Some(comment) = taken_out(source, function, &done)
    {
        let kind = FindingKind::PlaceholderBody;
        return found(source, function, comment, kind, FindingWeight::Error, CodeVerdict::Stub);
    }
    let real: Vec<&(Node<'_>, Act)> =
        done.iter().filter(|(_, act)| !matches!(act, Act::Nothing | Act::Description)).collect();
    if real.is_empty() {
        return empty(source, function, &done, setting);
    }
    if setting == Setting::Code
        && let Some(node) = left_off::skipped(source, &real)
    {
        let kind = FindingKind::SkippedBody;
        return found(source, function, node, kind, FindingWeight::Error, CodeVerdict::Stub);
    }
    if let [one] = real.as_slice()
        && is_outside_of_protocol(source, function, one.0)
    {
        let kind = FindingKind::NotImplemented;
        return found(source, function, one.0, kind, FindingWeight::Error, CodeVerdict::Stub);
    }
    let said = real.iter().find(|(node, act)| *act == Act::Output && output_says_unwritten(source, *node));
    if let Some((node, _)) = said
        && real.iter().all(|(_, act)| *act != Act::Work)
    {
        return found(
            source,
            function,
            *node,
            FindingKind::NotImplemented,
            FindingWeight::Error,
            CodeVerdict::Stub,
        );
    }
    if let Some((node, _)) = real.iter().find(|(_, act)| *act == Act::Pretence)
        && setting == Setting::Code
        && real.iter().all(|(_, act)| *act != Act::Work)
    {
        return found(
            source,
            function,
            *node,
            FindingKind::FakeResult,
            FindingWeight::Error,
            CodeVerdict::Stub,
        );
    }
    let admitted = || {
        let says = setting == Setting::Code && !names_absence(&function.name);
        let first = says.then(|| slight::admitted(source, function, &real)).flatten();
        let is_own = says && function.place != Place::Contract;
        let (node, kind) =
            first.or_else(|| is_own.then(|| thin::admitted(source, function, &done)).flatten())?;
        Some(found(source, function, node, kind, FindingWeight::Error, CodeVerdict::Stub))
    };
    if real.iter().all(|(_, act)| matches!(act, Act::FixedValue | Act::MadeValue | Act::Output | Act::End)) {
        let judged = fixed(source, function, &real, setting);
        return match admitted() {
            Some(stub) if judged.verdict != CodeVerdict::Stub => stub,
            Some(_) | None => judged,
        };
    }
    if let Some(stub) = admitted() {
        return stub;
    }
    if setting == Setting::Code
        && function.place != Place::Contract
        && let Some(comment) = left_off::in_place_of_the_end(source, function, &done)
    {
        let kind = FindingKind::ElidedCode;
        return found(source, function, comment, kind, FindingWeight::Error, CodeVerdict::Stub);
    }
    worked(source, function, body, setting)
}

fn is_closure(source: &Source, function: &Function<'_>) -> bool {
    source.grammar().closures.contains(&function.node.kind())
}

/// A body that does something: what in it is not written.
fn worked(source: &Source, function: &Function<'_>, body: Node<'_>, setting: Setting) -> JudgedFunction {
    let mut judged = JudgedFunction::plain(CodeVerdict::Complete);
    for (node, saying) in unwritten_inside(source, body) {
        let (weight, verdict) = match saying {
            Saying::Call if !refuses(source, node) => (FindingWeight::Error, CodeVerdict::Stub),
            // Also how code says which case it does not support.
            Saying::Call | Saying::Error | Saying::Message => {
                (FindingWeight::Warning, CodeVerdict::Ambiguous)
            }
        };
        judged.verdict = judged.verdict.max(verdict);
        judged.findings.push(finding(source, function, node, FindingKind::UnfinishedBranch, weight));
    }
    if setting == Setting::Code
        && let Some(comment) =
            function.comments.iter().find(|comment| is_all_that_is_tried(source, **comment))
    {
        judged.verdict = CodeVerdict::Stub;
        let kind = FindingKind::PlaceholderBody;
        judged.findings.push(finding(source, function, *comment, kind, FindingWeight::Error));
    }
    for comment in &function.comments {
        let kind = match remark_of(source.text(*comment)) {
            // Between statements that work it may as well describe something.
            Remark::Unwritten if stands_alone(source.text(*comment)) => FindingKind::PlaceholderBody,
            Remark::Elided => FindingKind::ElidedCode,
            // Tests are made of stand-ins.
            Remark::StandIn if setting == Setting::Code => FindingKind::FakeResult,
            Remark::Unwritten | Remark::StandIn | Remark::Mark | Remark::Plain => continue,
        };
        judged.verdict = CodeVerdict::Stub;
        judged.findings.push(finding(source, function, *comment, kind, FindingWeight::Error));
    }
    judged
}

/// Whether a comment is all that stands in the block of a `try`: nothing that is tried can fail.
fn is_all_that_is_tried(source: &Source, comment: Node<'_>) -> bool {
    let grammar = source.grammar();
    comment.parent().is_some_and(|block| {
        grammar.blocks.contains(&block.kind())
            && block.parent().is_some_and(|around| around.kind() == "try_statement")
            && block.parent().and_then(|around| around.child_by_field_name("body")) == Some(block)
            && named_children(block).iter().all(|child| {
                grammar.comments.contains(&child.kind()) || grammar.nothing.contains(&child.kind())
            })
    })
}

fn found(
    source: &Source,
    function: &Function<'_>,
    node: Node<'_>,
    kind: FindingKind,
    weight: FindingWeight,
    verdict: CodeVerdict,
) -> JudgedFunction {
    let mut finding = finding(source, function, node, kind, weight);
    // A whole function is meant: it changed when any of its lines did.
    finding.first_line = finding.first_line.min(line_of(function.node));
    finding.last_line = finding.last_line.max(function.node.end_position().row + 1);
    JudgedFunction { verdict, findings: vec![finding] }
}

fn finding(
    source: &Source,
    function: &Function<'_>,
    node: Node<'_>,
    kind: FindingKind,
    weight: FindingWeight,
) -> GateFinding {
    GateFinding {
        line: line_of(node),
        first_line: line_of(node),
        last_line: node.end_position().row + 1,
        kind,
        weight,
        function: function.name.clone(),
        text: shown(source.text(node)),
    }
}
