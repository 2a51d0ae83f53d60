//! Whether a function is written.

use tree_sitter::Node;

use crate::act::{Act, Saying, acts, unwritten_at};
use crate::admission::{Beside, admission};
use crate::completeness::CodeVerdict;
use crate::deferral::puts_off;
use crate::finding::{FindingKind, FindingWeight, GateFinding, shown};
use crate::function::{Function, Place, words};
use crate::language::SourceLanguage;
use crate::left_off;
use crate::promise;
use crate::proof::is_test_case;
use crate::remark::{Remark, is_for_heirs, is_meant, promises, remark_of, says_unwritten, stands_alone};
use crate::slight;
use crate::source::{Source, descendants, line_of, named_children};
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

/// Whether a function is named after what is not there: then it is what says so to others.
fn names_absence(name: &str) -> bool {
    let plain: String = name.to_lowercase().chars().filter(|letter| letter.is_alphanumeric()).collect();
    ["notimplemented", "unimplemented", "unsupported", "notsupported", "notallowed"]
        .iter()
        .any(|word| plain.contains(word))
}

/// The statement that says that the function is not written. One that only prints counts only where nothing else is done.
fn unwritten<'t>(done: &[(Node<'t>, Act)]) -> Option<(Node<'t>, Saying)> {
    done.iter().enumerate().find_map(|(place, (node, act))| match act {
        Act::Unwritten(Saying::Message) => {
            let goes_on = done.iter().skip(place + 1).any(|(_, act)| *act == Act::Work);
            (!goes_on).then_some((*node, Saying::Message))
        }
        Act::Unwritten(saying) => Some((*node, *saying)),
        _ => None,
    })
}

/// `return NotImplemented` of Python in a function that is no operator: only operators may answer so.
fn is_outside_of_protocol(source: &Source, function: &Function<'_>, statement: Node<'_>) -> bool {
    source.language() == SourceLanguage::Python
        && function.place == Place::Free
        && !function.name.starts_with("__")
        && source.text(statement).trim() == "return NotImplemented"
}

fn without_body(function: &Function<'_>) -> CodeVerdict {
    let is_made = named_children(function.node)
        .iter()
        .any(|child| matches!(child.kind(), "default_method_clause" | "delete_method_clause"));
    if is_made { CodeVerdict::Complete } else { CodeVerdict::Interface }
}

/// A body that says that it is not written is a contract where others write it, else a stub.
fn not_implemented(
    source: &Source,
    function: &Function<'_>,
    done: &[(Node<'_>, Act)],
    (node, saying): (Node<'_>, Saying),
    setting: Setting,
) -> JudgedFunction {
    let description = done.iter().filter(|(_, act)| *act == Act::Description).map(|(node, _)| *node);
    let texts =
        description.chain(function.comments.iter().copied()).chain(above(source, function)).chain([node]);
    // What a test gives the code under test, to see what becomes of the error.
    if setting == Setting::Tests && saying != Saying::Call && is_given(source, function.node) {
        return JudgedFunction::plain(CodeVerdict::Complete);
    }
    let is_for_others = match saying {
        Saying::Call => false,
        Saying::Error | Saying::Message => {
            let says_so = || texts.into_iter().any(|node| is_for_heirs(source.text(node)));
            match (function.place, source.language()) {
                (Place::Contract, _) => true,
                // Python has words for what is abstract; without its class only the form of a method shows that it may be.
                (Place::Unseen, SourceLanguage::Python) => is_declared_only(source, function, node),
                (Place::Unseen | Place::Class | Place::Free, _) => says_so(),
            }
        }
    };
    if is_for_others {
        return JudgedFunction::plain(CodeVerdict::Interface);
    }
    // A whole file shows what a message is about: one that says why something is refused is an answer.
    if saying == Saying::Error && !source.is_fragment() && says_why(source, node) {
        let kind = FindingKind::NotImplemented;
        return found(source, function, node, kind, FindingWeight::Warning, CodeVerdict::Ambiguous);
    }
    // Tests hold objects of which they need a part only.
    let is_part_of_fake =
        setting == Setting::Tests && function.place == Place::Class && saying != Saying::Call;
    let weight = if is_part_of_fake { FindingWeight::Warning } else { FindingWeight::Error };
    found(source, function, node, FindingKind::NotImplemented, weight, CodeVerdict::Stub)
}

/// Whether a function without a name is an argument of a call.
fn is_given(source: &Source, function: Node<'_>) -> bool {
    source.grammar().closures.contains(&function.kind())
        && function
            .parent()
            .is_some_and(|parent| matches!(parent.kind(), "arguments" | "argument_list" | "argument"))
}

/// The comments right above a function, which describe it.
pub(crate) fn above<'t>(source: &Source, function: &Function<'t>) -> Vec<Node<'t>> {
    let grammar = source.grammar();
    let is_first = |node: Node<'_>| node.prev_named_sibling().is_none();
    let mut from = function.node;
    // The first function of a class stands in a block behind the comment.
    if is_first(from)
        && let Some(parent) = from.parent().filter(|parent| grammar.blocks.contains(&parent.kind()))
    {
        from = parent;
    }
    std::iter::successors(from.prev_named_sibling(), Node::prev_named_sibling)
        .take_while(|node| grammar.comments.contains(&node.kind()))
        .collect()
}

/// Whether an error has a message of some words that does not say that something is to be written.
fn says_why(source: &Source, node: Node<'_>) -> bool {
    let texts = source.grammar().texts;
    let mut messages =
        descendants(node).filter(|part| texts.contains(&part.kind())).map(|part| source.text(part));
    messages.any(|text| {
        words(text).count() >= 3 && !says_unwritten(text) && !text.to_lowercase().contains("written")
    })
}

/// A method without its class: one that states what it returns, and raises the bare error that Python has for this, is how a contract is
/// written there. One with a message, or called, says something about itself.
fn is_declared_only(source: &Source, function: &Function<'_>, raised: Node<'_>) -> bool {
    source.language() == SourceLanguage::Python
        && source.text(raised).trim() == "raise NotImplementedError"
        && function.node.child_by_field_name("return_type").is_some()
}

/// A body that does nothing.
fn empty(
    source: &Source,
    function: &Function<'_>,
    done: &[(Node<'_>, Act)],
    setting: Setting,
) -> JudgedFunction {
    let promise = function.comments.iter().find(|comment| match setting {
        Setting::Code => {
            let text = source.text(**comment);
            let beside = if function.overrides { Beside::Little } else { Beside::Nothing };
            let admits = admission(text).is_of_unfinished(beside, 0);
            (promises(text) || puts_off(text) || admits) && !is_meant(text)
        }
        // An empty test proves nothing, whatever is left to do in it.
        Setting::Tests => match remark_of(source.text(**comment)) {
            Remark::Unwritten => true,
            Remark::Mark => is_test_case(source, function),
            Remark::Elided | Remark::StandIn | Remark::Plain => {
                promises(source.text(**comment)) && is_test_case(source, function)
            }
        },
    });
    if function.place == Place::Contract {
        return JudgedFunction::plain(CodeVerdict::Interface);
    }
    if let Some(comment) = promise {
        let kind = FindingKind::PlaceholderBody;
        return found(source, function, *comment, kind, FindingWeight::Error, CodeVerdict::Stub);
    }
    let is_intended = source.grammar().empty_by_intent.contains(&function.name.as_str())
        || matches!(
            function.node.kind(),
            "constructor_declaration" | "compact_constructor_declaration" | "destructor_declaration"
        )
        || is_closure(source, function)
        || is_constructor_of_c(source, function)
        || says_that_nothing_is_used(source, function, done)
        || is_null_object(source, function);
    let description = done.iter().find(|(_, act)| *act == Act::Description).map(|(node, _)| *node);
    if source.language() == SourceLanguage::Python {
        return empty_in_python(source, function, description, done.len(), setting);
    }
    if is_intended || function.overrides {
        return JudgedFunction::plain(CodeVerdict::Complete);
    }
    // Whoever explains an empty body meant it.
    if !function.comments.is_empty() || setting == Setting::Tests {
        return JudgedFunction::plain(CodeVerdict::Ambiguous);
    }
    let kind = FindingKind::EmptyBody;
    found(source, function, function.node, kind, FindingWeight::Warning, CodeVerdict::Ambiguous)
}

/// In Python a description can be the whole body. A method without its class is a contract where it promises a value that an empty body
/// cannot give, or describes what its heirs do; a function that is only described is one that somebody was to write.
fn empty_in_python(
    source: &Source,
    function: &Function<'_>,
    description: Option<Node<'_>>,
    statements: usize,
    setting: Setting,
) -> JudgedFunction {
    let is_special = function.name.starts_with("__") && function.name.ends_with("__");
    if setting == Setting::Tests {
        return JudgedFunction::plain(CodeVerdict::Ambiguous);
    }
    let result = function.node.child_by_field_name("return_type").map(|node| source.text(node).trim());
    let is_method = matches!(function.place, Place::Unseen | Place::Class);
    let promises_value = result.is_some_and(|result| result != "None");
    if function.place == Place::Unseen {
        let is_contract =
            promises_value || result.is_some() && (description.is_some() || is_ellipsis(source, function));
        let verdict = if is_contract { CodeVerdict::Interface } else { CodeVerdict::Ambiguous };
        return JudgedFunction::plain(verdict);
    }
    if is_special {
        return JudgedFunction::plain(CodeVerdict::Ambiguous);
    }
    let is_decorated = function.header.trim_start().starts_with('@');
    let is_command = !takes_arguments(source, function) && !promises_value && source.is_fragment();
    match description {
        // A decorator or a framework may use the description; so may what calls a function that takes nothing and gives nothing.
        Some(text) if is_decorated || is_command || is_meant(source.text(text)) => {
            JudgedFunction::plain(CodeVerdict::Ambiguous)
        }
        Some(text) if statements == 1 => {
            let kind = FindingKind::DocumentationOnly;
            // What a class does not say, it may leave to its heirs.
            let (weight, verdict) = if is_method && !promises_value {
                (FindingWeight::Warning, CodeVerdict::Ambiguous)
            } else {
                (FindingWeight::Error, CodeVerdict::Stub)
            };
            found(source, function, text, kind, weight, verdict)
        }
        _ if !function.comments.is_empty() => JudgedFunction::plain(CodeVerdict::Ambiguous),
        _ => {
            let kind = FindingKind::EmptyBody;
            found(source, function, function.node, kind, FindingWeight::Warning, CodeVerdict::Ambiguous)
        }
    }
}

fn is_ellipsis(source: &Source, function: &Function<'_>) -> bool {
    function.body.is_some_and(|body| source.text(body).trim_end().ends_with("..."))
}

fn is_closure(source: &Source, function: &Function<'_>) -> bool {
    source.grammar().closures.contains(&function.node.kind())
}

/// Whether the form of an empty function says that it is meant: `(void)signal;`, a weak symbol, a receiver of Go without a name.
fn says_that_nothing_is_used(source: &Source, function: &Function<'_>, done: &[(Node<'_>, Act)]) -> bool {
    match source.language() {
        SourceLanguage::C | SourceLanguage::Cpp => {
            let is_unused = |(node, _): &(Node<'_>, Act)| source.text(*node).starts_with("(void)");
            !done.is_empty() && done.iter().all(is_unused)
                || function.header.contains("__attribute__((weak))")
                || words(function.header).any(|word| word == "__weak")
        }
        SourceLanguage::Go => function
            .node
            .child_by_field_name("receiver")
            .and_then(|receiver| receiver.named_child(0))
            .is_some_and(|receiver| receiver.child_by_field_name("name").is_none()),
        SourceLanguage::Rust
        | SourceLanguage::Python
        | SourceLanguage::JavaScript
        | SourceLanguage::TypeScript
        | SourceLanguage::Tsx
        | SourceLanguage::Java
        | SourceLanguage::Ruby
        | SourceLanguage::Php
        | SourceLanguage::CSharp
        | SourceLanguage::Shell => false,
    }
}

/// Whether a function stands in a class whose name says that it does nothing.
fn is_null_object(source: &Source, function: &Function<'_>) -> bool {
    std::iter::successors(function.node.parent(), Node::parent)
        .find(|one| source.grammar().holder(one.kind()).is_some())
        .and_then(|holder| holder.child_by_field_name("name"))
        .is_some_and(|name| ["Null", "Noop", "NoOp"].iter().any(|start| source.text(name).starts_with(start)))
}

/// A function of C++ without a type of its result makes an object or takes one apart.
fn is_constructor_of_c(source: &Source, function: &Function<'_>) -> bool {
    source.language() == SourceLanguage::Cpp && function.node.child_by_field_name("type").is_none()
}

/// A body that always gives the same value.
fn fixed(
    source: &Source,
    function: &Function<'_>,
    real: &[&(Node<'_>, Act)],
    setting: Setting,
) -> JudgedFunction {
    let promise = function.comments.iter().find(|comment| match setting {
        Setting::Code => promises(source.text(**comment)),
        Setting::Tests => matches!(remark_of(source.text(**comment)), Remark::Unwritten | Remark::StandIn),
    });
    if let Some(comment) = promise {
        let kind = FindingKind::FakeResult;
        return found(source, function, *comment, kind, FindingWeight::Error, CodeVerdict::Stub);
    }
    let value = real.iter().find(|(_, act)| *act == Act::FixedValue);
    if let Some((node, _)) = value
        && setting == Setting::Code
        && takes_arguments(source, function)
        && output_says_unwritten(source, *node)
        // A thing may be called so.
        && !source.text(*node).contains("todo")
    {
        let kind = FindingKind::FakeResult;
        return found(source, function, *node, kind, FindingWeight::Error, CodeVerdict::Stub);
    }
    let is_meant = function.overrides
        || function.place == Place::Contract
        || setting == Setting::Tests
        || is_closure(source, function)
        || function.name.starts_with("__");
    match value {
        Some((node, _)) if !is_meant && takes_arguments(source, function) => {
            let kind = FindingKind::FixedResult;
            let (weight, verdict) = if promise::is_broken(source, function, *node, real) {
                (FindingWeight::Error, CodeVerdict::Stub)
            } else {
                (FindingWeight::Warning, CodeVerdict::Ambiguous)
            };
            found(source, function, *node, kind, weight, verdict)
        }
        _ => JudgedFunction::plain(CodeVerdict::Complete),
    }
}

/// Whether a function has parameters that it could use: a receiver is none, and a name with an underscore says that it is not used.
fn takes_arguments(source: &Source, function: &Function<'_>) -> bool {
    let parameters = function.node.child_by_field_name("parameters").or_else(|| {
        let declarator = function.node.child_by_field_name("declarator")?;
        declarator.child_by_field_name("parameters")
    });
    let Some(parameters) = parameters else { return false };
    named_children(parameters).into_iter().any(|parameter| {
        let text = source.text(parameter);
        let name = match source.language() {
            // The type stands first.
            SourceLanguage::C | SourceLanguage::Cpp | SourceLanguage::Java | SourceLanguage::CSharp => {
                words(text).last()
            }
            _ => words(text).find(|word| !["mut", "ref", "const"].contains(word)),
        };
        let is_receiver = parameter.kind() == "self_parameter";
        name.is_some_and(|name| {
            !is_receiver && !["self", "cls", "mcs", "this", "void"].contains(&name) && !name.starts_with('_')
        })
    })
}

/// A body that does something: what in it is not written.
fn worked(source: &Source, function: &Function<'_>, body: Node<'_>, setting: Setting) -> JudgedFunction {
    let mut judged = JudgedFunction::plain(CodeVerdict::Complete);
    for (node, saying) in unwritten_inside(source, body) {
        let (weight, verdict) = match saying {
            Saying::Call => (FindingWeight::Error, CodeVerdict::Stub),
            // Also how code says which case it does not support.
            Saying::Error | Saying::Message => (FindingWeight::Warning, CodeVerdict::Ambiguous),
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

/// What says, at any depth, that something is not written; functions inside with a name are judged by themselves.
fn unwritten_inside<'t>(source: &'t Source, body: Node<'t>) -> Vec<(Node<'t>, Saying)> {
    let grammar = source.grammar();
    let mut all = Vec::new();
    let mut waiting = vec![body];
    while let Some(node) = waiting.pop() {
        let is_inner = node.id() != body.id() && grammar.is_function(node.kind());
        if is_inner {
            continue;
        }
        if let Some(saying) = node.is_named().then(|| unwritten_at(source, node)).flatten() {
            all.push((node, saying));
            continue;
        }
        let mut cursor = node.walk();
        let first = waiting.len();
        waiting.extend(node.children(&mut cursor));
        if let Some(new) = waiting.get_mut(first..) {
            new.reverse();
        }
    }
    all
}

fn output_says_unwritten(source: &Source, node: Node<'_>) -> bool {
    let texts = source.grammar().texts;
    descendants(node).any(|part| texts.contains(&part.kind()) && says_unwritten(source.text(part)))
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
