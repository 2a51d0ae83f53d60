//! Bodies that say that they are not written, and those that leave it to others.

use tree_sitter::Node;

use super::{JudgedFunction, Setting, found};
use crate::act::{Act, Saying, unwritten_at};
use crate::completeness::CodeVerdict;
use crate::finding::{FindingKind, FindingWeight};
use crate::function::{Function, Place, words};
use crate::language::SourceLanguage;
use crate::remark::{is_for_heirs, says_unwritten};
use crate::source::{Source, descendants, named_children};

/// The statement that says that the function is not written. One that only prints counts only where nothing else is done.
pub(super) fn unwritten<'t>(done: &[(Node<'t>, Act)]) -> Option<(Node<'t>, Saying)> {
    done.iter().enumerate().find_map(|(place, (node, act))| match act {
        Act::Unwritten(Saying::Message) => {
            let goes_on = done.iter().skip(place + 1).any(|(_, act)| *act == Act::Work);
            (!goes_on).then_some((*node, Saying::Message))
        }
        Act::Unwritten(saying) => Some((*node, *saying)),
        _ => None,
    })
}

pub(super) fn without_body(function: &Function<'_>) -> CodeVerdict {
    let is_made = named_children(function.node)
        .iter()
        .any(|child| matches!(child.kind(), "default_method_clause" | "delete_method_clause"));
    if is_made { CodeVerdict::Complete } else { CodeVerdict::Interface }
}

/// A body that says that it is not written is a contract where others write it, else a stub.
pub(super) fn not_implemented(
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
                (Place::Unseen | Place::Class | Place::Free, _) => {
                    says_so() || is_left_to_others(source, function, node)
                }
            }
        }
    };
    if is_for_others {
        return JudgedFunction::plain(CodeVerdict::Interface);
    }
    if saying == Saying::Call && refuses(source, node) {
        let kind = FindingKind::NotImplemented;
        return found(source, function, node, kind, FindingWeight::Warning, CodeVerdict::Ambiguous);
    }
    // A whole file shows what a message is about: one that says why something is refused is an answer.
    if saying == Saying::Error
        && !source.is_fragment()
        && (says_why(source, node) || refuses_after_work(source, done, node))
    {
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
pub(super) fn is_given(source: &Source, function: Node<'_>) -> bool {
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
pub(super) fn says_why(source: &Source, node: Node<'_>) -> bool {
    let texts = source.grammar().texts;
    let mut messages =
        descendants(node).filter(|part| texts.contains(&part.kind())).map(|part| source.text(part));
    messages.any(|text| {
        words(text).count() >= 3 && !says_unwritten(text) && !text.to_lowercase().contains("written")
    })
}

/// A method without its class: one that states what it returns, and raises the bare error that Python has for this, is how a contract is
/// written there. One with a message, or called, says something about itself.
pub(super) fn is_declared_only(source: &Source, function: &Function<'_>, raised: Node<'_>) -> bool {
    source.language() == SourceLanguage::Python
        && source.text(raised).trim() == "raise NotImplementedError"
        && function.node.child_by_field_name("return_type").is_some()
}

/// Whether a function is named after what is not there: then it is what says so to others.
pub(super) fn names_absence(name: &str) -> bool {
    let plain: String = name.to_lowercase().chars().filter(|letter| letter.is_alphanumeric()).collect();
    ["notimplemented", "unimplemented", "unsupported", "notsupported", "notallowed"]
        .iter()
        .any(|word| plain.contains(word))
}

/// `return NotImplemented` of Python in a function that is no operator: only operators may answer so.
pub(super) fn is_outside_of_protocol(source: &Source, function: &Function<'_>, statement: Node<'_>) -> bool {
    source.language() == SourceLanguage::Python
        && function.place == Place::Free
        && !function.name.starts_with("__")
        && source.text(statement).trim() == "return NotImplemented"
}

/// What says, at any depth, that something is not written; functions inside with a name are judged by themselves.
pub(super) fn unwritten_inside<'t>(source: &'t Source, body: Node<'t>) -> Vec<(Node<'t>, Saying)> {
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

pub(super) fn output_says_unwritten(source: &Source, node: Node<'_>) -> bool {
    let texts = source.grammar().texts;
    descendants(node).any(|part| texts.contains(&part.kind()) && says_unwritten(source.text(part)))
}

/// Whether `unimplemented!` of Rust has a message by which something is refused for good, such as "only maps can be read".
pub(super) fn refuses(source: &Source, call: Node<'_>) -> bool {
    const REFUSED: [&str; 7] =
        ["unsupported", "not supported", "not support", " only ", " instead", "cannot", "can't"];
    const PUT_OFF: [&str; 7] = ["yet", "todo", "later", "soon", "for now", "implement", "future"];
    if source.is_fragment() || !source.text(call).trim_start().starts_with("unimplemented!") {
        return false;
    }
    let texts = source.grammar().texts;
    let mut messages = descendants(call)
        .filter(|part| texts.contains(&part.kind()))
        .map(|part| format!(" {} ", source.text(part).trim_matches('"').to_lowercase()));
    messages.any(|text| {
        REFUSED.iter().any(|word| text.contains(word)) && !PUT_OFF.iter().any(|word| text.contains(word))
    })
}

/// Whether an error comes behind work, with a reason that this work found: `raise NotImplementedError(reason)`.
fn refuses_after_work(source: &Source, done: &[(Node<'_>, Act)], raised: Node<'_>) -> bool {
    let texts = source.grammar().texts;
    let works = done.iter().any(|(node, act)| *act == Act::Work && node.end_byte() <= raised.start_byte());
    let mut parts = descendants(raised);
    works
        && descendants(raised).any(|part| part.kind() == "argument_list" && part.named_child_count() > 0)
        && !parts.any(|part| texts.contains(&part.kind()))
}

/// Whether a bare error leaves a method of Python to others: its class says by its name or description that it is abstract, or the module
/// does, or a method beside it says that this one cannot be called.
fn is_left_to_others(source: &Source, function: &Function<'_>, raised: Node<'_>) -> bool {
    let is_bare =
        matches!(source.text(raised).trim(), "raise NotImplementedError" | "raise NotImplementedError()");
    if source.language() != SourceLanguage::Python || function.place != Place::Class || !is_bare {
        return false;
    }
    let class = std::iter::successors(function.node.parent(), Node::parent)
        .find(|node| node.kind() == "class_definition");
    let Some(class) = class else { return false };
    let name = class.child_by_field_name("name").map(|node| source.text(node)).unwrap_or_default();
    let Some(body) = class.child_by_field_name("body") else { return false };
    ["Base", "Abstract", "Interface"].iter().any(|word| name.contains(word))
        || description(source, body).is_some_and(|text| is_for_heirs(text) || is_of_interface(text))
        || description(source, source.root()).is_some_and(is_for_heirs)
        || is_ruled_out(source, body, &function.name)
}

/// The text that a block of Python begins with.
fn description<'s>(source: &'s Source, block: Node<'_>) -> Option<&'s str> {
    let grammar = source.grammar();
    let first = named_children(block).into_iter().find(|node| !grammar.comments.contains(&node.kind()))?;
    let text = if first.kind() == "expression_statement" { first.named_child(0)? } else { first };
    (text.kind() == "string").then(|| source.text(text))
}

/// Whether a description calls something an interface that others fill. One to a service is work.
fn is_of_interface(text: &str) -> bool {
    let lower = text.to_lowercase();
    let all: Vec<&str> = words(&lower).collect();
    all.iter().enumerate().any(|(place, word)| {
        let before = place.checked_sub(1).and_then(|before| all.get(before)).copied().unwrap_or_default();
        let after = all.get(place + 1).copied().unwrap_or_default();
        *word == "interface"
            && !["user", "line", "command", "graphical", "web", "programming"].contains(&before)
            && !["to", "with", "into", "between", "around"].contains(&after)
    })
}

/// Whether a class has a method that says that another one cannot be called: `can_write_eof` that always gives `False`.
fn is_ruled_out(source: &Source, class: Node<'_>, name: &str) -> bool {
    let asks = [format!("can_{name}"), format!("supports_{name}"), format!("has_{name}")];
    named_children(class).into_iter().filter(|node| node.kind() == "function_definition").any(|method| {
        let is_asked = method.child_by_field_name("name").map(|node| source.text(node));
        is_asked.is_some_and(|asked| asks.iter().any(|ask| ask == asked))
            && method
                .child_by_field_name("body")
                .and_then(|body| named_children(body).last().copied())
                .is_some_and(|last| source.text(last).trim() == "return False")
    })
}
