//! Where the functions of a text stand, for whoever measures the gate: what it is right about is known where a function was changed on purpose.

use std::ops::{Range, RangeInclusive};

use crate::function::{Function, Place, functions};
use crate::language::SourceLanguage;
use crate::source::{Source, line_of, named_children};

/// A function with a name and a body, by bytes of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionSpan {
    /// Its name.
    pub name: String,
    /// What stands before its body: decorators, modifiers, parameters, the result.
    pub header: String,
    /// Its body, with the signs around it where the language has some.
    pub body: Range<usize>,
    /// What its body is made of, without comments.
    pub statements: Vec<Range<usize>>,
    /// Its lines, counted from 1.
    pub lines: RangeInclusive<usize>,
}

/// The functions of a text that do something by themselves: none that others write, and none inside of another. Nothing where the text is not
/// read without a fault.
pub fn function_spans(language: SourceLanguage, text: &str) -> Vec<FunctionSpan> {
    let Ok(source) = Source::file(language, text) else { return Vec::new() };
    if source.faults() > 0 {
        return Vec::new();
    }
    let (all, _) = functions(&source);
    all.iter().filter_map(|function| span(&source, function)).collect()
}

fn span(source: &Source, function: &Function<'_>) -> Option<FunctionSpan> {
    let body = function.body.filter(|body| *body != function.node)?;
    if function.name.is_empty() || function.is_inner || function.place == Place::Contract {
        return None;
    }
    let is_comment = |kind: &str| source.grammar().comments.contains(&kind);
    let statements = named_children(body).into_iter().filter(|node| !is_comment(node.kind()));
    Some(FunctionSpan {
        name: function.name.clone(),
        header: function.header.to_owned(),
        body: body.byte_range(),
        statements: statements.map(|node| node.byte_range()).collect(),
        lines: line_of(function.node)..=function.node.end_position().row + 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_and_their_statements_are_found() {
        let text = "def f(a):\n    # note\n    b = a\n    return b\n\n\nclass C:\n    def g(self):\n        return 1\n";
        let all = function_spans(SourceLanguage::Python, text);
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["f", "g"]);
        assert_eq!(&text[all[0].body.clone()], "b = a\n    return b");
        assert_eq!(all[0].statements.len(), 2);
        assert_eq!(all[0].lines, 1..=4);

        let text = "fn f(a: u8) -> u8 {\n    let b = a;\n    b\n}\ntrait T { fn g(&self) { } }\n";
        let all = function_spans(SourceLanguage::Rust, text);
        assert_eq!(all.len(), 1);
        assert!(all[0].header.contains("-> u8") && text[all[0].body.clone()].starts_with('{'));
        assert!(function_spans(SourceLanguage::Rust, "fn f( {").is_empty());
    }
}
