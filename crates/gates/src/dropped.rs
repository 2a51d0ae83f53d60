//! Errors that are caught and dropped.

use tree_sitter::Node;

use crate::act::{Act, acts};
use crate::finding::{FindingKind, FindingWeight, GateFinding, shown};
use crate::function::{Function, words};
use crate::language::SourceLanguage;
use crate::source::{Source, descendants, line_of, named_children};

/// All places where an error is caught and nothing is done about it.
pub(crate) fn findings(source: &Source, all: &[Function<'_>]) -> Vec<GateFinding> {
    descendants(source.root())
        .filter(Node::is_named)
        .filter_map(|node| Some((node, weight(source, node)?)))
        .map(|(node, weight)| GateFinding {
            line: line_of(node),
            first_line: line_of(node),
            last_line: node.end_position().row + 1,
            kind: FindingKind::SwallowedError,
            weight,
            function: around(all, node),
            text: shown(source.text(node)),
        })
        .collect()
}

/// The name of the innermost function around a node.
pub(crate) fn around(all: &[Function<'_>], node: Node<'_>) -> String {
    let holds = |function: &&Function<'_>| {
        function.node.start_byte() <= node.start_byte() && node.end_byte() <= function.node.end_byte()
    };
    all.iter().rfind(holds).map(|function| function.name.clone()).unwrap_or_default()
}

fn weight(source: &Source, node: Node<'_>) -> Option<FindingWeight> {
    let found = dropped(source, node)?;
    // Who says why meant it.
    let is_explained = descendants(node).any(|part| source.grammar().comments.contains(&part.kind()));
    (!is_explained).then_some(found)
}

fn dropped(source: &Source, node: Node<'_>) -> Option<FindingWeight> {
    let grammar = source.grammar();
    if let Some((_, field)) = grammar.catches.iter().find(|(kind, _)| *kind == node.kind()) {
        if is_dropping(source, node, field, &[Act::Nothing, Act::Description]) {
            let weight = catch_weight(source, node);
            return (weight == FindingWeight::Error || !is_expected(source, node)).then_some(weight);
        }
        // A fixed value in place of an error hides it; of one kind of error it may be the answer.
        let hides = is_dropping(source, node, field, &[Act::Nothing, Act::Description, Act::FixedValue]);
        let is_broad = catch_weight(source, node) == FindingWeight::Error;
        let is_told = |language| {
            !matches!(language, SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx)
        };
        return (hides && is_broad && is_told(source.language())).then_some(FindingWeight::Warning);
    }
    match source.language() {
        SourceLanguage::Rust => in_rust(source, node),
        SourceLanguage::Go => in_go(source, node),
        SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx => {
            in_javascript(source, node)
        }
        SourceLanguage::Ruby if node.kind() == "rescue_modifier" => Some(FindingWeight::Warning),
        SourceLanguage::Ruby
        | SourceLanguage::Python
        | SourceLanguage::Java
        | SourceLanguage::C
        | SourceLanguage::Cpp
        | SourceLanguage::Php
        | SourceLanguage::CSharp
        | SourceLanguage::Shell => None,
    }
}

fn is_dropping(source: &Source, node: Node<'_>, field: &str, acts_that_drop: &[Act]) -> bool {
    let body = if field.is_empty() {
        named_children(node).into_iter().find(|child| source.grammar().blocks.contains(&child.kind()))
    } else {
        node.child_by_field_name(field)
    };
    match body {
        Some(body) => acts(source, body).iter().all(|(_, act)| acts_that_drop.contains(act)),
        // Ruby leaves an empty one out.
        None => source.language() == SourceLanguage::Ruby,
    }
}

/// One that catches everything drops what nobody thought of; one kind of error may be expected.
fn catch_weight(source: &Source, node: Node<'_>) -> FindingWeight {
    const BROAD: [&str; 9] = [
        "Exception",
        "BaseException",
        "Throwable",
        "Error",
        "StandardError",
        "System.Exception",
        "std::exception",
        "java.lang.Exception",
        "...",
    ];
    const WORDS: [&str; 6] = ["except", "catch", "rescue", "as", "final", "const"];
    let head = source.text(node).lines().next().unwrap_or_default();
    let head = head.split(['{', ';']).next().unwrap_or_default().trim_end_matches(':');
    // Ruby gives the error a name behind an arrow.
    let head = head.split("=>").next().unwrap_or(head);
    // The error itself may have a name behind its type.
    let is_type = |word: &&str| word.contains(char::is_alphanumeric) || *word == "...";
    let mut kinds = head
        .split(|letter: char| letter.is_whitespace() || "(),|&*".contains(letter))
        .map(|word| word.trim_start_matches('\\'))
        .filter(|word| is_type(word) && !WORDS.contains(word) && !word.starts_with('$'));
    let is_untyped = matches!(
        source.language(),
        SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx
    );
    let first = kinds.next();
    let is_broad = first.is_none_or(|kind| BROAD.contains(&kind)) || kinds.any(|kind| BROAD.contains(&kind));
    if is_untyped || is_broad { FindingWeight::Error } else { FindingWeight::Warning }
}

/// Whether all that is caught are errors whose names say an ordinary state: that something is not there, or at its end.
fn is_expected(source: &Source, node: Node<'_>) -> bool {
    const ORDINARY: [&str; 14] = [
        "FileNotFoundError",
        "FileNotFoundException",
        "NoSuchFileException",
        "FileExistsError",
        "ProcessLookupError",
        "StopIteration",
        "StopAsyncIteration",
        "Empty",
        "Full",
        "BrokenPipeError",
        "CancelledError",
        "ENOENT",
        "EEXIST",
        "ESRCH",
    ];
    // Modules and name spaces before the names.
    const AROUND: [&str; 3] = ["Errno", "System", "IO"];
    let head = source.text(node).lines().next().unwrap_or_default();
    let head = head.split(['{', ';']).next().unwrap_or_default();
    let head = head.split("=>").next().unwrap_or(head).split(" as ").next().unwrap_or(head);
    // The body may follow on the same line.
    let head = match source.language() {
        SourceLanguage::Python => head.split(':').next().unwrap_or(head),
        _ => head,
    };
    let mut names =
        words(head).filter(|word| !AROUND.contains(word) && word.starts_with(char::is_uppercase)).peekable();
    names.peek().is_some() && names.all(|name| ORDINARY.contains(&name))
}

/// `if let Err(e) = f() {}`, and an arm that does nothing with an error.
fn in_rust(source: &Source, node: Node<'_>) -> Option<FindingWeight> {
    let is_empty = |node: Option<Node<'_>>| {
        node.is_some_and(|node| {
            matches!(source.text(node).split_whitespace().collect::<String>().as_str(), "{}" | "()")
        })
    };
    match node.kind() {
        "if_expression" if node.child_by_field_name("alternative").is_none() => {
            let condition = node.child_by_field_name("condition").map(|node| source.text(node));
            let is_about_error = condition.is_some_and(|text| text.starts_with("let Err("));
            (is_about_error && is_empty(node.child_by_field_name("consequence")))
                .then_some(FindingWeight::Error)
        }
        "match_arm" => {
            let pattern = node.child_by_field_name("pattern").map(|node| source.text(node));
            let is_error = pattern.is_some_and(|text| text.starts_with("Err(_"));
            (is_error && is_empty(node.child_by_field_name("value"))).then_some(FindingWeight::Warning)
        }
        _ => None,
    }
}

/// `if err != nil {}`.
fn in_go(source: &Source, node: Node<'_>) -> Option<FindingWeight> {
    if node.kind() != "if_statement" {
        return None;
    }
    let condition = node.child_by_field_name("condition").map(|node| source.text(node))?;
    let is_about_error = condition.ends_with("!= nil") && condition.to_lowercase().contains("err");
    let body = node.child_by_field_name("consequence")?;
    let is_empty = acts(source, body).iter().all(|(_, act)| *act == Act::Nothing);
    (is_about_error && is_empty).then_some(FindingWeight::Error)
}

/// `.catch(() => {})`.
fn in_javascript(source: &Source, node: Node<'_>) -> Option<FindingWeight> {
    if node.kind() != "call_expression" {
        return None;
    }
    let callee = node.child_by_field_name("function").filter(|node| node.kind() == "member_expression")?;
    let property = callee.child_by_field_name("property").map(|node| source.text(node))?;
    let handler = node.child_by_field_name("arguments").and_then(|node| node.named_child(0))?;
    let body = handler.child_by_field_name("body").filter(|_| property == "catch")?;
    if body.kind() != "statement_block" {
        let is_nothing = matches!(source.text(body), "null" | "undefined" | "void 0");
        return is_nothing.then_some(FindingWeight::Warning);
    }
    acts(source, body).is_empty().then_some(FindingWeight::Error)
}
