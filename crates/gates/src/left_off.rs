//! Bodies that begin or stop where their work should go on: a return before all of it, a comment in place of the rest.

use tree_sitter::Node;

use crate::act::{Act, unwrapped};
use crate::admission::{Beside, admission_of};
use crate::deferral::puts_off;
use crate::function::Function;
use crate::remark::{is_meant, plain};
use crate::source::{Source, descendants, line_of, named_children};

/// Statements behind a return that are there all the same: what is declared for the whole function, and the names of places to go to.
const DECLARED: [&str; 8] = [
    "function_declaration",
    "generator_function_declaration",
    "class_declaration",
    "function_definition",
    "function_item",
    "use_declaration",
    "const_item",
    "labeled_statement",
];

/// The return that stands before all of a body, so that none of it runs.
pub(crate) fn skipped<'t>(source: &Source, real: &[&(Node<'t>, Act)]) -> Option<Node<'t>> {
    let ((first, _), rest) = real.split_first()?;
    let grammar = source.grammar();
    let is_return = grammar.returns.contains(&unwrapped(grammar, *first).kind());
    // Under a condition of the build it is one of two bodies.
    let is_of_build = first.prev_named_sibling().is_some_and(|before| before.kind() == "attribute_item");
    // `return` and a `yield` that is never reached make a generator of nothing in Python.
    let is_generator = |node: Node<'_>| descendants(node).any(|part| part.kind().starts_with("yield"));
    let works = |node: Node<'_>| !DECLARED.contains(&node.kind()) && !is_generator(node);
    (is_return && !is_of_build && rest.iter().any(|(node, _)| works(*node))).then_some(*first)
}

/// The comment that stands in place of the end of a body: behind the last statement that works, with at most a fixed value behind it.
pub(crate) fn in_place_of_the_end<'t>(
    source: &'t Source,
    function: &Function<'t>,
    done: &[(Node<'t>, Act)],
) -> Option<Node<'t>> {
    let body = function.body?;
    let last =
        done.iter().rposition(|(_, act)| !matches!(act, Act::FixedValue | Act::MadeValue | Act::Nothing))?;
    let (node, act) = done.get(last)?;
    if *act != Act::Work || gives_back(source, *node) {
        return None;
    }
    let ends_with_value = done.len() > last + 1;
    let own: Vec<Node<'t>> = function
        .comments
        .iter()
        .copied()
        .filter(|comment| {
            comment.start_byte() >= node.end_byte()
                && line_of(*comment) > node.end_position().row + 1
                && comment.parent().is_some_and(|parent| {
                    // The statements of Go are a list in the block.
                    parent == body || parent.kind() == "statement_list" && parent.parent() == Some(body)
                })
        })
        .collect();
    let first = own.first()?;
    let text = own.iter().map(|comment| source.text(*comment)).collect::<Vec<_>>().join(" ");
    let admits =
        admission_of(&function.name, &text).is_of_unfinished(Beside::Little, i32::from(ends_with_value));
    let is_rest = admits || puts_off(&text) || is_dots(&text) || marks_the_rest(&text);
    (is_rest && !is_meant(&text)).then_some(*first)
}

/// Whether a comment is a mark of unfinished work that names nothing: "TODO", "TODO(ann): finish", "TODO add the real logic here". One that says
/// what is missing is about that; this one is about all that would stand in its place.
fn marks_the_rest(comment: &str) -> bool {
    const MARKS: [&str; 4] = ["todo", concat!("fix", "me"), "xxx", "wip"];
    const WORDS: [&str; 37] = [
        "finish",
        "complete",
        "completed",
        "continue",
        "implement",
        "implementation",
        "add",
        "write",
        "do",
        "fill",
        "in",
        "the",
        "this",
        "it",
        "rest",
        "remaining",
        "actual",
        "real",
        "proper",
        "logic",
        "code",
        "work",
        "part",
        "steps",
        "here",
        "later",
        "now",
        "more",
        "of",
        "function",
        "method",
        "body",
        "to",
        "be",
        "done",
        "and",
        "soon",
    ];
    let text = plain(comment);
    let mut words =
        text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    let Some(mark) = words.next_if(|word| MARKS.contains(word)) else { return false };
    // Who is to do it stands in parentheses behind the mark.
    let owner =
        text.strip_prefix(mark).and_then(|rest| rest.strip_prefix('(')).and_then(|rest| rest.split_once(')'));
    let owners = owner.map_or(0, |(owner, _)| {
        owner.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).count()
    });
    words.skip(owners).all(|word| WORDS.contains(&word))
}

/// Whether a comment is nothing but dots.
fn is_dots(comment: &str) -> bool {
    (comment.contains("...") || comment.contains('…')) && !comment.contains(char::is_alphanumeric)
}

/// Whether a statement gives something back: nothing is missing behind it.
fn gives_back(source: &Source, statement: Node<'_>) -> bool {
    let grammar = source.grammar();
    let node = unwrapped(grammar, statement);
    grammar.returns.contains(&node.kind()) || named_children(node).is_empty() && node.kind() == "identifier"
}
