//! Bodies that always give the same value.

use tree_sitter::Node;

use super::unwritten::output_says_unwritten;
use super::{JudgedFunction, Setting, found, is_closure};
use crate::act::Act;
use crate::completeness::CodeVerdict;
use crate::finding::{FindingKind, FindingWeight};
use crate::function::{Function, Place, words};
use crate::language::SourceLanguage;
use crate::promise;
use crate::remark::{Remark, promises, remark_of};
use crate::source::{Source, named_children};

/// A body that always gives the same value.
pub(super) fn fixed(
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
pub(super) fn takes_arguments(source: &Source, function: &Function<'_>) -> bool {
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
