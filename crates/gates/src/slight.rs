//! Bodies that do next to nothing: they give back what they were given, or a small expression, tell people something, or wait.
//!
//! Such a body is honest by itself. It is a stub where it says so: by a comment that puts the real work off, or by what it prints.

use tree_sitter::Node;

use crate::act::{Act, called, is_fixed, last_name, unwrapped, whole_callee};
use crate::admission::admission;
use crate::deferral::{Weight, admits_pretence, puts_off, tells_of_pretence, wants_the_real, weighed};
use crate::finding::FindingKind;
use crate::function::Function;
use crate::language::SourceLanguage;
use crate::remark::{Remark, is_meant, remark_of};
use crate::source::{Source, descendants, named_children};
use crate::telling::{is_output, is_pause, is_timer};

/// How many nodes an expression has at most that counts as small (ours).
const SMALL: usize = 30;

/// What a statement does that is next to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Little {
    /// Tells people something, also with variables in it.
    Told,
    /// Gives back a parameter as it came.
    Echo,
    /// Gives back the object itself, as calls in a chain do.
    Itself,
    /// Gives back a small expression without calls.
    Small,
    /// Gives back a fixed value, ends, waits.
    Fixed,
}

/// What shows that a body that does next to nothing is not written; `None` where nothing does, and where it does more.
pub(crate) fn admitted<'t>(
    source: &'t Source,
    function: &Function<'t>,
    real: &[&(Node<'t>, Act)],
) -> Option<(Node<'t>, FindingKind)> {
    let all: Option<Vec<Little>> =
        real.iter().map(|(node, act)| little(source, function, *node, *act)).collect();
    let all = all?;
    if let Some((node, _)) =
        real.iter().find(|(node, act)| *act != Act::Work && answers_after_a_pause(source, *node))
    {
        return Some((*node, FindingKind::FakeResult));
    }
    let pauses = real.iter().any(|(node, act)| *act == Act::Output && is_pause_statement(source, *node));
    let made = real.iter().zip(&all).find(|((node, act), one)| {
        (**one == Little::Small || matches!(act, Act::FixedValue | Act::MadeValue))
            && makes_object(source, *node)
    });
    if pauses && let Some(((node, _), _)) = made {
        return Some((*node, FindingKind::FakeResult));
    }
    // What is given back as it came, or made up, says nothing by itself; a truth value may be the right one.
    let takes = takes_something(source, function);
    let least = real.iter().zip(&all).filter_map(|((node, act), one)| {
        let is_value =
            matches!(act, Act::FixedValue | Act::MadeValue) || *one == Little::Fixed && *act == Act::Work;
        match () {
            () if *one == Little::Echo => Some(Weight::Speaks),
            () if *one == Little::Itself => Some(Weight::PutsOff),
            () if is_value && is_plain_answer(source, *node) => takes.then_some(Weight::PutsOff),
            () if is_value && takes => Some(Weight::Speaks),
            () if is_value && makes_object(source, *node) => Some(Weight::PutsOff),
            () => None,
        }
    });
    let least = least.min();
    let gives_nothing_new = all.iter().all(|one| *one != Little::Small);
    // Several lines explain.
    let explains = function.comments.len() > 2;
    let comments = function.comments.iter().copied().chain(behind(source, function));
    for comment in comments {
        let text = source.text(comment);
        let remark = remark_of(text);
        let is_marked = remark == Remark::Mark && (gives_nothing_new || wants_the_real(text));
        // A body that only tells people something may have work that is left beside it.
        let is_about_this = is_marked && all.iter().any(|one| *one != Little::Told);
        let says = matches!(remark, Remark::Unwritten | Remark::Elided | Remark::StandIn)
            || is_about_this
            || puts_off(text)
            || admits_pretence(text)
            || !explains && least.is_some_and(|least| weighed(text) >= least) && !admission(text).explains();
        if says && !is_meant(text) {
            return Some((comment, FindingKind::FakeResult));
        }
    }
    // What it prints tells of the whole, where it computes nothing.
    let texts = source.grammar().texts;
    let told = real.iter().zip(&all).find(|((node, act), one)| {
        (**one == Little::Told || *act == Act::Output)
            && descendants(*node).any(|part| {
                (texts.contains(&part.kind()) || part.kind() == "word")
                    && tells_of_pretence(source.text(part))
            })
    });
    let previews = ["dry", "preview", "plan", "explain", "simulat", "mock", "fake", "stub"]
        .iter()
        .any(|word| function.name.to_lowercase().contains(word));
    told.filter(|_| gives_nothing_new && !previews).map(|((node, _), _)| (*node, FindingKind::FakeResult))
}

pub(crate) fn little(source: &Source, function: &Function<'_>, node: Node<'_>, act: Act) -> Option<Little> {
    match act {
        Act::FixedValue | Act::MadeValue | Act::Output | Act::End => return Some(Little::Fixed),
        Act::Work => {}
        Act::Nothing | Act::Description | Act::Unwritten(_) | Act::Pretence => return None,
    }
    let grammar = source.grammar();
    let inner = unwrapped(grammar, node);
    if let Some((callee, arguments)) = called(source, inner)
        && (is_output(callee) || is_output(&whole_callee(source, inner, callee)))
    {
        return arguments.iter().all(|one| is_small(source, *one)).then_some(Little::Told);
    }
    let is_return = grammar.returns.contains(&inner.kind());
    let values: Vec<Node<'_>> = if is_return { named_children(inner) } else { vec![inner] };
    let is_value = is_return || is_expression(inner.kind());
    if !is_value || values.is_empty() {
        return None;
    }
    let mut said = Little::Echo;
    for value in values.into_iter().flat_map(parts).filter(|value| !grammar.comments.contains(&value.kind()))
    {
        let value = wrapped(source, unwrapped(grammar, value));
        if is_object_itself(source, value) {
            said = Little::Itself;
            continue;
        }
        if is_parameter(source, function, value)
            || is_copied(source, function, value)
            || is_fixed(source, value, 4)
        {
            continue;
        }
        if !is_small(source, value) {
            return None;
        }
        said = if said != Little::Small && !names_parameter(source, function, value) {
            Little::Fixed
        } else {
            Little::Small
        };
    }
    Some(said)
}

/// What is inside of a call that only wraps it: `Ok(data)`.
fn wrapped<'t>(source: &'t Source, node: Node<'t>) -> Node<'t> {
    match called(source, node) {
        Some((callee, arguments)) if source.grammar().wrapping_calls.contains(&callee) => {
            arguments.first().copied().unwrap_or(node)
        }
        _ => node,
    }
}

/// The values of a list of values.
fn parts(node: Node<'_>) -> Vec<Node<'_>> {
    if node.kind() == "expression_list" { named_children(node) } else { vec![node] }
}

/// Kinds of nodes that are values by themselves where a body ends with one.
fn is_expression(kind: &str) -> bool {
    matches!(
        kind,
        "identifier"
            | "binary_expression"
            | "binary"
            | "object"
            | "array"
            | "struct_expression"
            | "call_expression"
            | "call"
            | "hash"
            | "tuple_expression"
            | "field_expression"
    )
}

/// Whether a value is a parameter of the function.
fn is_parameter(source: &Source, function: &Function<'_>, node: Node<'_>) -> bool {
    if !matches!(node.kind(), "identifier" | "variable_name" | "simple_identifier") {
        return false;
    }
    let name = source.text(node);
    parameters(function).is_some_and(|list| {
        source
            .text(list)
            .split(|sign: char| !(sign.is_alphanumeric() || "_$".contains(sign)))
            .any(|word| word == name)
    })
}

/// The list of what a function is given.
pub(crate) fn parameters<'t>(function: &Function<'t>) -> Option<Node<'t>> {
    function.node.child_by_field_name("parameters").or_else(|| {
        let declarator = function.node.child_by_field_name("declarator")?;
        declarator.child_by_field_name("parameters")
    })
}

/// Whether a value is the object that a method is called of.
fn is_object_itself(source: &Source, node: Node<'_>) -> bool {
    matches!(source.text(node).trim(), "*this" | "this" | "self" | "$this")
}

/// Whether a value is a parameter in another form, or a part of it: `text.to_string()`, `document[:100]`.
fn is_copied(source: &Source, function: &Function<'_>, node: Node<'_>) -> bool {
    let is_part = matches!(
        node.kind(),
        "subscript" | "slice_expression" | "call_expression" | "call" | "method_invocation"
    );
    is_part && is_small(source, node) && {
        let names = descendants(node).filter(|part| is_parameter(source, function, *part)).count();
        let calls = descendants(node).filter_map(|part| called(source, part)).collect::<Vec<_>>();
        names == 1
            && calls
                .iter()
                .all(|(callee, arguments)| !callee.starts_with(char::is_uppercase) && arguments.is_empty())
    }
}

/// Whether an expression has a parameter of the function in it.
fn names_parameter(source: &Source, function: &Function<'_>, node: Node<'_>) -> bool {
    descendants(node).any(|part| {
        is_parameter(source, function, part)
            || matches!(part.kind(), "self" | "this" | "instance_variable" | "this_expression")
            || part.kind() == "shorthand_property_identifier"
    })
}

/// Whether a function is given anything.
fn takes_something(source: &Source, function: &Function<'_>) -> bool {
    parameters(function).is_some_and(|list| {
        named_children(list)
            .iter()
            .any(|one| !matches!(source.text(*one), "self" | "&self" | "&mut self" | "cls" | "void"))
    })
}

/// Whether a statement gives back yes, no or nothing.
fn is_plain_answer(source: &Source, node: Node<'_>) -> bool {
    let text =
        source.text(node).trim_start_matches("return").trim_matches([' ', ';', '(', ')']).to_lowercase();
    ["true", "false", "none", "null", "nil", "undefined", "", "0", "[]", "{}", "\"\"", "''"]
        .contains(&text.as_str())
}

/// Whether a statement only waits.
fn is_pause_statement(source: &Source, node: Node<'_>) -> bool {
    let inner = unwrapped(source.grammar(), node);
    called(source, inner).is_some_and(|(callee, arguments)| {
        is_pause(&whole_callee(source, inner, callee)) || callee == "Promise" && is_timer(source, &arguments)
    })
}

/// Whether a statement gives back an object, a list or the like that it makes.
fn makes_object(source: &Source, node: Node<'_>) -> bool {
    let grammar = source.grammar();
    descendants(node).take(12).any(|part| {
        let is_collection = grammar.collections.contains(&part.kind()) && part.named_child_count() > 0;
        is_collection && !part.kind().contains("unary") && part.kind() != "expression_list"
            || part.kind().contains("object_creation")
            || part.kind() == "struct_expression"
            || part.kind().contains("comprehension")
            || part.kind() == "composite_literal"
    })
}

/// Whether a promise gives a made-up value once a fixed time is over.
fn answers_after_a_pause(source: &Source, node: Node<'_>) -> bool {
    let calls = || descendants(node).filter_map(|part| called(source, part));
    calls().any(|(callee, _)| callee == "setTimeout")
        && calls()
            .any(|(callee, inner)| callee == "resolve" && inner.iter().any(|one| makes_object(source, *one)))
}

/// Whether an expression is short and calls nothing but what gives random values or default ones.
fn is_small(source: &Source, node: Node<'_>) -> bool {
    let mut count = 0;
    for part in descendants(node).filter(Node::is_named) {
        count += 1;
        if count > SMALL || source.grammar().is_function(part.kind()) || is_choice(part.kind()) {
            return false;
        }
        if let Some((callee, arguments)) = called(source, part)
            && !is_made_up(source, part, callee, &arguments)
        {
            return false;
        }
    }
    true
}

/// Kinds of expressions that decide something.
fn is_choice(kind: &str) -> bool {
    ["conditional", "ternary", "if_expression", "match", "switch", "comparison", "lambda", "closure", "await"]
        .iter()
        .any(|word| kind.contains(word))
        || kind == "subshell"
        || kind == "command_substitution"
}

/// Calls whose value has nothing to do with the arguments of the function: random numbers, default values.
fn is_made_up(source: &Source, node: Node<'_>, callee: &str, arguments: &[Node<'_>]) -> bool {
    const DEFAULT: [&str; 3] = ["default", "random", "rand"];
    // What only turns one form into another, or makes an object, computes nothing; its parts are looked at by themselves.
    const FORMS: [&str; 9] =
        ["to_vec", "to_string", "to_owned", "clone", "into", "tostring", "valueof", "tolist", "new"];
    let whole = whole_callee(source, node, callee).to_lowercase();
    let last = last_name(callee).to_lowercase();
    let is_made = node.kind().contains("object_creation")
        || node.kind() == "new_expression"
        || last_name(callee).starts_with(char::is_uppercase);
    if FORMS.contains(&last.as_str()) || is_made && source.language() != SourceLanguage::Go {
        return true;
    }
    let is_random = whole.contains("random") || DEFAULT.contains(&last.as_str());
    is_random && arguments.iter().all(|one| is_fixed(source, *one, 2))
}

/// A comment behind a function of one expression, on its last line.
pub(crate) fn behind<'t>(source: &Source, function: &Function<'t>) -> Option<Node<'t>> {
    let grammar = source.grammar();
    let is_block = |body: Node<'_>| grammar.blocks.contains(&body.kind());
    if function.body.is_some_and(is_block) {
        return None;
    }
    let row = function.node.end_position().row;
    let mut node = function.node;
    for _ in 0..4 {
        if let Some(next) = node.next_named_sibling() {
            let is_comment = grammar.comments.contains(&next.kind()) && next.start_position().row == row;
            return is_comment.then_some(next);
        }
        node = node.parent()?;
    }
    None
}
