//! Whether an assertion is reached, and how often.

use tree_sitter::Node;

use crate::act::called;
use crate::function::words;
use crate::language::SourceLanguage;
use crate::source::{Source, descendants, named_children};

/// How many levels around an assertion are looked at (ours).
const LEVELS: usize = 200;

/// How often something in a test runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    /// So many times at most.
    Times(usize),
    /// As often as something says that is not seen.
    Unknown,
}

impl Runs {
    /// What runs so often for each time that something around it does.
    pub(crate) fn within(self, around: Self) -> Self {
        match (self, around) {
            (Self::Times(0), _) | (_, Self::Times(0)) => Self::Times(0),
            (Self::Times(one), Self::Times(other)) => Self::Times(one.saturating_mul(other)),
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
        }
    }
}

/// How often a node in a test runs for each time that the test does; never where nothing leads to it.
pub(crate) fn runs_in(source: &Source, node: Node<'_>, test: Node<'_>) -> Runs {
    let mut runs = Runs::Times(1);
    let mut inner = node;
    for _ in 0..LEVELS {
        if inner.id() == test.id() {
            break;
        }
        let Some(parent) = inner.parent() else { break };
        let here = match parent.kind() {
            kind if is_block(source, kind) && follows_return(source, inner) => Runs::Times(0),
            kind if kind.starts_with("if") && is_body(parent, inner) && never_holds(source, parent) => {
                Runs::Times(0)
            }
            kind if is_loop(kind) && is_body(parent, inner) => loop_runs(source, parent, test),
            kind if is_any_function(source, kind) && parent.id() != test.id() => {
                closure_runs(source, parent, test)
            }
            "do_block" | "block" if source.language() == SourceLanguage::Ruby => {
                block_runs(source, parent, test)
            }
            _ => Runs::Times(1),
        };
        runs = here.within(runs);
        inner = parent;
    }
    runs
}

fn is_block(source: &Source, kind: &str) -> bool {
    // Go puts statements into a list of their own.
    source.grammar().blocks.contains(&kind) || kind == "statement_list"
}

/// Whether a statement before this one in the same block always leaves the function.
fn follows_return(source: &Source, node: Node<'_>) -> bool {
    let grammar = source.grammar();
    std::iter::successors(node.prev_named_sibling(), Node::prev_named_sibling).take(LEVELS).any(|before| {
        let statement = match named_children(before).as_slice() {
            [one] if grammar.wrappers.contains(&before.kind()) => *one,
            _ => before,
        };
        grammar.returns.contains(&statement.kind())
            // The last expression of Ruby may be guarded: `return if ...` has another kind.
            && !source.text(statement).contains(" if ")
    })
}

/// Whether a child is what runs where a condition holds.
fn is_body(parent: Node<'_>, child: Node<'_>) -> bool {
    ["consequence", "body", "then"]
        .iter()
        .any(|field| parent.child_by_field_name(field).is_some_and(|one| one.id() == child.id()))
}

fn never_holds(source: &Source, statement: Node<'_>) -> bool {
    let condition =
        statement.child_by_field_name("condition").map(|node| source.text(node)).unwrap_or_default();
    let core =
        condition.trim_matches(|letter: char| letter == '(' || letter == ')' || letter.is_whitespace());
    ["False", "false", "FALSE", "0"].contains(&core)
}

fn is_loop(kind: &str) -> bool {
    kind.starts_with("for") || kind == "enhanced_for_statement" || kind.starts_with("while")
}

fn loop_runs(source: &Source, statement: Node<'_>, test: Node<'_>) -> Runs {
    if statement.kind().starts_with("while") {
        return if never_holds(source, statement) { Runs::Times(0) } else { Runs::Unknown };
    }
    let clause = named_children(statement)
        .into_iter()
        .find(|child| child.kind() == "range_clause")
        .unwrap_or(statement);
    let over = ["right", "value"].iter().find_map(|field| clause.child_by_field_name(field));
    over.map_or(Runs::Unknown, |over| elements(source, over, test))
}

/// The name that a function inside of another goes by.
pub(crate) fn bound_name<'t>(source: &'t Source, function: Node<'_>) -> Option<&'t str> {
    let bound = function.child_by_field_name("name").or_else(|| {
        let parent = function.parent()?;
        // What is handed over is called by somebody else.
        ["name", "left", "pattern"].iter().find_map(|field| parent.child_by_field_name(field))
    });
    bound.map(|name| source.text(name))
}

/// Whether a node is a function, with a name or without.
pub(crate) fn is_any_function(source: &Source, kind: &str) -> bool {
    source.grammar().functions.contains(&kind) || source.grammar().closures.contains(&kind)
}

/// A function inside of a test: one with a name that nothing names runs never.
fn closure_runs(source: &Source, function: Node<'_>, test: Node<'_>) -> Runs {
    if let Some(name) = bound_name(source, function) {
        let uses = words(source.text(test)).filter(|word| *word == name).count();
        return if uses == 1 { Runs::Times(0) } else { Runs::Unknown };
    }
    let parent = function.parent();
    // `[...].forEach((one) => ...)`
    let call = parent.and_then(|parent| parent.parent());
    let over = call
        .and_then(|call| call.child_by_field_name("function"))
        .filter(|callee| {
            callee.child_by_field_name("property").is_some_and(|name| source.text(name) == "forEach")
        })
        .and_then(|callee| callee.child_by_field_name("object"));
    over.map_or(Runs::Times(1), |over| elements(source, over, test))
}

/// A block of Ruby: `[...].each do |one| ... end`.
fn block_runs(source: &Source, block: Node<'_>, test: Node<'_>) -> Runs {
    let Some(call) = block.parent().filter(|call| call.id() != test.id()) else { return Runs::Times(1) };
    let is_each =
        call.child_by_field_name("method").is_some_and(|name| source.text(name).starts_with("each"));
    match call.child_by_field_name("receiver") {
        Some(over) if is_each => elements(source, over, test),
        _ => Runs::Times(1),
    }
}

/// How many elements a collection has that stands in the text, or a variable that is given one.
pub(crate) fn elements(source: &Source, node: Node<'_>, test: Node<'_>) -> Runs {
    const FIELDS: [(&str, &str); 3] = [("left", "right"), ("pattern", "value"), ("name", "value")];
    if let Some(count) = literal(source, node) {
        return Runs::Times(count);
    }
    let whole = source.text(node).trim().trim_start_matches('&');
    let name = whole.trim_end_matches(".iter()").trim_end_matches(".into_iter()");
    if name.is_empty()
        || !name.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '$')
    {
        return Runs::Unknown;
    }
    let given = |node: Node<'_>| {
        FIELDS.iter().find_map(|(left, right)| {
            let (left, right) = (node.child_by_field_name(left)?, node.child_by_field_name(right)?);
            (source.text(left).trim() == name).then(|| literal(source, right))
        })
    };
    // One that grows later has more than it is given at first.
    let grows = ["append", "push", "extend", "add", "insert"];
    let is_changed = grows.iter().any(|verb| source.text(test).contains(&format!("{name}.{verb}")))
        || source.text(test).contains(&format!("append({name}"));
    let found = descendants(test).find_map(given).or_else(|| descendants(source.root()).find_map(given));
    match found.flatten() {
        Some(count) if !is_changed => Runs::Times(count),
        _ => Runs::Unknown,
    }
}

/// How many elements a collection has; `None` where it is none, or takes in what another holds.
fn literal(source: &Source, node: Node<'_>) -> Option<usize> {
    const COLLECTIONS: [&str; 12] = [
        "list",
        "tuple",
        "set",
        "dictionary",
        "array",
        "array_expression",
        "literal_value",
        "array_initializer",
        "initializer_list",
        "array_creation_expression",
        "object",
        "tuple_expression",
    ];
    const SPREADS: [&str; 4] = ["list_splat", "spread_element", "splat_argument", "dictionary_splat"];
    let mut node = node;
    for _ in 0..6 {
        let children = named_children(node);
        if COLLECTIONS.contains(&node.kind()) {
            let takes_in = children.iter().any(|child| SPREADS.contains(&child.kind()));
            let elements = children.iter().filter(|child| !source.grammar().comments.contains(&child.kind()));
            return (!takes_in).then(|| elements.count());
        }
        node = match node.kind() {
            "composite_literal" => node.child_by_field_name("body")?,
            "reference_expression"
            | "parenthesized_expression"
            | "expression_list"
            | "as_expression"
            | "satisfies_expression" => children.first().copied()?,
            _ => return None,
        };
    }
    None
}

/// How many rows of arguments a test is run with.
pub(crate) fn rows(source: &Source, node: Node<'_>, header: &str) -> Runs {
    let count = |signs: &[&str]| {
        let rows = signs.iter().map(|sign| header.matches(sign).count()).sum::<usize>();
        Runs::Times(rows.max(1))
    };
    match source.language() {
        SourceLanguage::Python => {
            let Some(decorated) = node.parent().filter(|parent| parent.kind() == "decorated_definition")
            else {
                return Runs::Times(1);
            };
            let decorators =
                named_children(decorated).into_iter().filter(|child| child.kind() == "decorator");
            decorators
                .filter_map(|decorator| parametrized(source, decorator))
                .fold(Runs::Times(1), Runs::within)
        }
        SourceLanguage::Rust => count(&["#[case(", "#[case::", "#[test_case("]),
        SourceLanguage::CSharp => count(&["InlineData(", "TestCase(", "DataRow("]),
        SourceLanguage::Php => count(&["TestWith("]),
        SourceLanguage::Java => {
            let source_of = header.split_once("@ValueSource").or_else(|| header.split_once("@CsvSource"));
            let inner = source_of
                .and_then(|(_, rest)| rest.split_once('{'))
                .and_then(|(_, rest)| rest.split_once('}'));
            match inner {
                Some((rows, _)) if rows.trim().is_empty() => Runs::Times(0),
                // A comma in a text makes it more than it is, before and after alike.
                Some((rows, _)) => Runs::Times(rows.trim().trim_end_matches(',').split(',').count()),
                None => Runs::Times(1),
            }
        }
        SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx => {
            let table = node.child_by_field_name("function").and_then(|callee| called(source, callee));
            match table {
                Some((callee, arguments)) if callee.ends_with(".each") => {
                    arguments.first().map_or(Runs::Unknown, |rows| elements(source, *rows, node))
                }
                _ => Runs::Times(1),
            }
        }
        SourceLanguage::Go
        | SourceLanguage::C
        | SourceLanguage::Cpp
        | SourceLanguage::Ruby
        | SourceLanguage::Shell => Runs::Times(1),
    }
}

/// `@pytest.mark.parametrize("a, b", [...])`; `None` for other decorators.
fn parametrized(source: &Source, decorator: Node<'_>) -> Option<Runs> {
    let (callee, arguments) = called(source, *named_children(decorator).first()?)?;
    if !callee.ends_with("parametrize") {
        return None;
    }
    let rows = arguments.iter().find_map(|one| match one.kind() {
        "keyword_argument" => one
            .child_by_field_name("name")
            .filter(|name| source.text(*name) == "argvalues")
            .and_then(|_| one.child_by_field_name("value")),
        _ => None,
    });
    let rows = rows.or_else(|| arguments.get(1).copied());
    Some(rows.map_or(Runs::Unknown, |rows| elements(source, rows, decorator)))
}
