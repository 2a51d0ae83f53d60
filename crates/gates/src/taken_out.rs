//! Bodies whose code was taken out: it stands in comments, and beside them at most a fixed value, so that nothing is done any more.

use tree_sitter::Node;

use crate::act::Act;
use crate::comment::{code_in_comment, holds_code};
use crate::function::{Function, Place};
use crate::language::SourceLanguage;
use crate::remark::is_meant;
use crate::slight::{Little, little};
use crate::source::{Source, descendants};

/// The first comment that holds what the body did; `None` where the body does something, or no comment is code.
pub(crate) fn taken_out<'t>(
    source: &'t Source,
    function: &Function<'t>,
    done: &[(Node<'t>, Act)],
) -> Option<Node<'t>> {
    let does_nothing = done.iter().all(|(node, act)| match act {
        Act::Nothing | Act::Description | Act::FixedValue | Act::MadeValue | Act::Output | Act::End => true,
        Act::Work => little(source, function, *node, *act).is_some_and(|one| one != Little::Small),
        Act::Unwritten(_) | Act::Pretence => false,
    });
    function.body?;
    // In Python and Ruby a body begins at its first statement, behind the comments.
    let comments: Vec<Node<'t>> = function
        .comments
        .iter()
        .copied()
        .filter(|comment| function.node.start_byte() <= comment.start_byte())
        .collect();
    let first = *comments.first()?;
    if !does_nothing
        || function.place == Place::Contract
        || comments.iter().any(|comment| is_meant(source.text(*comment)))
    {
        return None;
    }
    let lines: Vec<&str> = comments.iter().flat_map(|comment| code_in_comment(source, *comment)).collect();
    match lines.as_slice() {
        [] => None,
        // One line may as well be an example, or what the function that is overridden does.
        [_] if function.overrides => None,
        [_] => comments.iter().copied().find(|comment| holds_code(source, *comment)),
        lines => {
            let shaped: Vec<&str> = lines.iter().copied().filter(|line| is_shaped(line)).collect();
            let is_code = is_body(source.language(), lines)
                || shaped.len() >= 2 && shaped.len() < lines.len() && is_body(source.language(), &shaped);
            is_code.then_some(first)
        }
    }
}

/// Whether a line has a sign that sentences hardly have.
fn is_shaped(line: &str) -> bool {
    line.contains(['=', '(', '$', '{', '}', '[', ']', '|', ';'])
        || line.trim_end().ends_with(':')
        || line.trim() == "end"
        || line.trim_start().starts_with("return ")
}

/// Whether lines are the body of a function that does something.
fn is_body(language: SourceLanguage, lines: &[&str]) -> bool {
    let Ok(read) = Source::fragment(language, &in_function(language, lines)) else { return false };
    let signs = read.grammar().code_signs;
    let count = descendants(read.root()).filter(|node| signs.contains(&node.kind())).count();
    // Of scripts nearly every sentence is a command.
    let is_wordy = matches!(language, SourceLanguage::Shell | SourceLanguage::Ruby);
    let shaped = lines.iter().filter(|line| is_shaped(line)).count();
    let enough = if is_wordy {
        count >= 1 && shaped == lines.len() || count >= 2 && shaped * 2 >= lines.len()
    } else {
        count >= 1 && shaped >= 1
    };
    read.faults() == 0 && enough
}

/// Lines as the body of a function of their language.
fn in_function(language: SourceLanguage, lines: &[&str]) -> String {
    let joined =
        |indent: &str| lines.iter().map(|line| format!("{indent}{line}")).collect::<Vec<_>>().join("\n");
    let inside = joined("");
    match language {
        SourceLanguage::Python => format!("async def f():\n{}\n", joined("    ")),
        SourceLanguage::Ruby => format!("def f\n{inside}\nend\n"),
        SourceLanguage::Shell => format!("f() {{\n{inside}\n}}\n"),
        SourceLanguage::Php => format!("<?php\nfunction f() {{\n{inside}\n}}\n"),
        SourceLanguage::Rust => format!("async fn f() {{\n{inside}\n}}\n"),
        SourceLanguage::Go => format!("package p\nfunc f() {{\n{inside}\n}}\n"),
        SourceLanguage::Java => format!("class C {{\nvoid f() {{\n{inside}\n}}\n}}\n"),
        SourceLanguage::CSharp => format!("class C {{\nasync void F() {{\n{inside}\n}}\n}}\n"),
        SourceLanguage::C | SourceLanguage::Cpp => format!("void f() {{\n{inside}\n}}\n"),
        SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx => {
            format!("class C {{\nasync f() {{\n{inside}\n}}\n}}\n")
        }
    }
}
