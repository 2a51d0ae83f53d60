//! Bodies that do nothing.

use tree_sitter::Node;

use super::fixed::takes_arguments;
use super::{JudgedFunction, Setting, found, is_closure};
use crate::act::Act;
use crate::admission::{Beside, admission};
use crate::completeness::CodeVerdict;
use crate::deferral::puts_off;
use crate::finding::{FindingKind, FindingWeight};
use crate::function::{Function, Place, words};
use crate::language::SourceLanguage;
use crate::proof::is_test_case;
use crate::remark::{Remark, is_meant, promises, remark_of};
use crate::source::Source;

/// A body that does nothing.
pub(super) fn empty(
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
pub(super) fn empty_in_python(
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

pub(super) fn is_ellipsis(source: &Source, function: &Function<'_>) -> bool {
    function.body.is_some_and(|body| source.text(body).trim_end().ends_with("..."))
}

/// Whether the form of an empty function says that it is meant: `(void)signal;`, a weak symbol, a receiver of Go without a name.
pub(super) fn says_that_nothing_is_used(
    source: &Source,
    function: &Function<'_>,
    done: &[(Node<'_>, Act)],
) -> bool {
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
pub(super) fn is_null_object(source: &Source, function: &Function<'_>) -> bool {
    std::iter::successors(function.node.parent(), Node::parent)
        .find(|one| source.grammar().holder(one.kind()).is_some())
        .and_then(|holder| holder.child_by_field_name("name"))
        .is_some_and(|name| ["Null", "Noop", "NoOp"].iter().any(|start| source.text(name).starts_with(start)))
}

/// A function of C++ without a type of its result makes an object or takes one apart.
pub(super) fn is_constructor_of_c(source: &Source, function: &Function<'_>) -> bool {
    source.language() == SourceLanguage::Cpp && function.node.child_by_field_name("type").is_none()
}
