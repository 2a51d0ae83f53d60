//! What a statement of a body does, as far as completeness goes.

use tree_sitter::Node;

use crate::function::words;
use crate::grammar::{Grammar, Value};
use crate::language::SourceLanguage;
use crate::remark::says_unwritten;
use crate::source::{Source, descendants, named_children, one_line};
use crate::telling::{
    answers_not_implemented, is_end, is_output, is_pause, is_timer, names_variable, said_by_statement,
};

/// What a statement does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Nothing.
    Nothing,
    /// A text that describes the function.
    Description,
    /// Says that the function is not written.
    Unwritten(Saying),
    /// Gives a fixed value back.
    FixedValue,
    /// Gives back an object that is made anew, or a constant by its name, whatever the arguments are.
    MadeValue,
    /// Gives back an object that pretends to be another, as tests do.
    Pretence,
    /// Prints a fixed text, or waits for a fixed time.
    Output,
    /// Ends the program or the function with a status.
    End,
    /// Anything else.
    Work,
}

/// How a statement says that something is not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Saying {
    /// By a call that means nothing else, such as the macro `todo`.
    Call,
    /// By an error that means nothing else, such as `NotImplementedError`.
    Error,
    /// By the message of an error.
    Message,
}

/// Where a program prints, as the first argument of what prints.
const STREAMS: [&str; 6] = ["stderr", "stdout", "os.Stderr", "os.Stdout", "STDERR", "STDOUT"];

/// How deep expressions are looked into (ours).
const DEPTH: usize = 40;

/// The statements of a body with what each does.
pub(crate) fn acts<'t>(source: &'t Source, body: Node<'t>) -> Vec<(Node<'t>, Act)> {
    let mut all = Vec::new();
    collect(source, body, &mut all, DEPTH);
    unfilled(source, &mut all);
    all
}

/// A variable that is given a fixed value, and given back without anything in between, is that value.
fn unfilled(source: &Source, all: &mut [(Node<'_>, Act)]) {
    let Some(((last, Act::Work), before)) =
        all.split_last_mut().map(|(last, before)| ((last.0, last.1), before))
    else {
        return;
    };
    let grammar = source.grammar();
    let given = match unwrapped(grammar, last) {
        node if grammar.returns.contains(&node.kind()) => named_children(node).first().copied(),
        node => Some(node),
    };
    let Some(given) = given.map(|node| unwrapped(grammar, node)) else { return };
    let given = match given.kind() {
        "expression_list" if given.named_child_count() == 1 => given.named_child(0).unwrap_or(given),
        _ => given,
    };
    if !matches!(given.kind(), "identifier" | "variable_name") {
        return;
    }
    let name = source.text(given);
    let is_kept = |(node, act): &(Node<'_>, Act)| match act {
        Act::Work => kept(source, *node).is_some(),
        Act::Nothing | Act::Description | Act::Output => true,
        Act::Unwritten(_) | Act::FixedValue | Act::MadeValue | Act::Pretence | Act::End => false,
    };
    if before.iter().all(is_kept) && before.iter().any(|(node, _)| kept(source, *node) == Some(name)) {
        for (_, act) in before.iter_mut().filter(|(_, act)| *act == Act::Work) {
            *act = Act::Nothing;
        }
        if let Some((_, act)) = all.last_mut() {
            *act = Act::FixedValue;
        }
    }
}

/// The variable that a statement gives a fixed value; `None` where it does something else.
fn kept<'t>(source: &'t Source, statement: Node<'t>) -> Option<&'t str> {
    const FIELDS: [(&str, &str); 4] =
        [("left", "right"), ("pattern", "value"), ("name", "value"), ("declarator", "value")];
    // A loop gives its counter a value, and goes on.
    let first = statement.kind().split('_').next().unwrap_or_default();
    if ["for", "while", "loop", "do", "until", "foreach", "enhanced", "if", "try", "with"].contains(&first) {
        return None;
    }
    // Each grammar has its own nodes around the two.
    let mut node = statement;
    for _ in 0..4 {
        let found = FIELDS.iter().find_map(|(name, value)| {
            Some((node.child_by_field_name(name)?, node.child_by_field_name(value)?))
        });
        if let Some((name, value)) = found {
            let is_plain = node.kind() != "augmented_assignment" && node.kind() != "keyed_element";
            return (is_plain && is_fixed(source, value, 4)).then(|| source.text(name));
        }
        let children = named_children(node);
        let inner = children
            .iter()
            .rev()
            .find(|child| child.kind().contains("declarat") || child.kind().contains("assignment"))?;
        if inner.kind() == "variable_declarator"
            && inner.child_by_field_name("value").is_none()
            && let (Some(name), Some(value)) =
                (inner.child_by_field_name("name"), named_children(*inner).last())
            && name.id() != value.id()
        {
            return is_fixed(source, *value, 4).then(|| source.text(name));
        }
        node = *inner;
    }
    None
}

fn collect<'t>(source: &'t Source, body: Node<'t>, all: &mut Vec<(Node<'t>, Act)>, depth: usize) {
    let grammar = source.grammar();
    let is_block = grammar.blocks.contains(&body.kind()) || grammar.is_function(body.kind());
    if !is_block {
        // A body that is one expression: its value is that of the function.
        let act = match value(source, body, depth) {
            Act::Work => act(source, body, depth),
            known => known,
        };
        let act = match act {
            Act::Work | Act::End if answers_not_implemented(source, body) => Act::Unwritten(Saying::Message),
            act => act,
        };
        return all.push((body, act));
    }
    let statements = statements(source, body);
    let last = statements.len().saturating_sub(1);
    for (place, statement) in statements.into_iter().enumerate() {
        if depth > 0 && grammar.blocks.contains(&statement.kind()) {
            collect(source, statement, all, depth - 1);
            continue;
        }
        let done = match (grammar.value, place == last) {
            // What is not ended by a semicolon is the value.
            (Value::LastExpression, true) if !is_ended(source, statement) => {
                match value(source, statement, depth) {
                    Act::Work => act(source, statement, depth),
                    known => known,
                }
            }
            _ => act(source, statement, depth),
        };
        let done = match done {
            Act::Work | Act::End if answers_not_implemented(source, statement) => {
                Act::Unwritten(Saying::Message)
            }
            done => done,
        };
        all.push((statement, done));
    }
}

/// The statements of a block, without comments, names and parameters.
fn statements<'t>(source: &Source, body: Node<'t>) -> Vec<Node<'t>> {
    let grammar = source.grammar();
    let mut cursor = body.walk();
    let is_function = grammar.is_function(body.kind());
    let mut found = Vec::new();
    for (place, child) in body.children(&mut cursor).enumerate() {
        let field = u32::try_from(place).ok().and_then(|place| body.field_name_for_child(place));
        let is_part_of_header =
            is_function && matches!(field, Some("name" | "parameters" | "object" | "declarator" | "type"));
        if child.is_named() && !is_part_of_header && !grammar.comments.contains(&child.kind()) {
            found.push(child);
        }
    }
    found
}

fn is_ended(source: &Source, statement: Node<'_>) -> bool {
    statement.kind() == "expression_statement" && source.text(statement).ends_with(';')
}

fn act(source: &Source, statement: Node<'_>, depth: usize) -> Act {
    let grammar = source.grammar();
    let node = unwrapped(grammar, statement);
    let kind = node.kind();
    let text = source.text(node).trim();
    if grammar.nothing.contains(&kind) || grammar.nothing.contains(&text) || text == ";" || text.is_empty() {
        return Act::Nothing;
    }
    // How C says that a parameter is not used.
    if text.strip_prefix("(void)").is_some_and(|rest| !rest.contains('(')) {
        return Act::Nothing;
    }
    if source.language() == SourceLanguage::Shell && matches!(text, "true" | "return 0" | "return" | "local")
    {
        return Act::Nothing;
    }
    if grammar.texts.contains(&kind) && source.language() != SourceLanguage::Shell {
        return Act::Description;
    }
    if grammar.raises.contains(&kind) || always_fails(source, node) {
        return raised(source, node);
    }
    if let Some(said) = said_by_statement(source, node) {
        return said;
    }
    if grammar.returns.contains(&kind) {
        let values: Vec<_> = named_children(node)
            .into_iter()
            .filter(|node| !grammar.comments.contains(&node.kind()))
            .collect();
        return match values.as_slice() {
            [] => Act::Nothing,
            [one] => value(source, *one, depth),
            several if several.iter().all(|one| value(source, *one, depth) == Act::FixedValue) => {
                Act::FixedValue
            }
            _ => Act::Work,
        };
    }
    call(source, node)
}

/// Whether a statement is an assertion that never holds, which raises an error with its message.
fn always_fails(source: &Source, node: Node<'_>) -> bool {
    node.kind() == "assert_statement"
        && node
            .named_child(0)
            .is_some_and(|condition| matches!(source.text(condition), "False" | "false" | "0"))
}

/// What the value of an expression is.
fn value(source: &Source, expression: Node<'_>, depth: usize) -> Act {
    let grammar = source.grammar();
    let node = unwrapped(grammar, expression);
    if grammar.returns.contains(&node.kind()) {
        return act(source, node, depth.saturating_sub(1));
    }
    if grammar.raises.contains(&node.kind()) {
        return raised(source, node);
    }
    let said = call(source, node);
    if said != Act::Work {
        return said;
    }
    // An error that is given back instead of raised.
    let is_sum = node.kind() == "expression_list";
    if is_sum {
        let parts: Vec<Act> =
            named_children(node).into_iter().map(|part| value(source, part, depth)).collect();
        if let Some(unwritten) = parts.iter().find(|part| matches!(part, Act::Unwritten(_))) {
            return *unwritten;
        }
    }
    if is_unwritten_name(source, node) {
        return Act::Unwritten(Saying::Error);
    }
    if is_fixed(source, node, depth) {
        return Act::FixedValue;
    }
    if is_pretence(source, node) {
        return Act::Pretence;
    }
    if is_made(source, node) { Act::MadeValue } else { Act::Work }
}

/// Whether an expression makes an object of fixed values, or is a constant by the form of its name.
fn is_made(source: &Source, node: Node<'_>) -> bool {
    let is_name = ["identifier", "scoped_identifier", "selector_expression", "member_expression"];
    if is_name.contains(&node.kind()) || ["field_access", "member_access_expression"].contains(&node.kind()) {
        let last = words(source.text(node)).last().unwrap_or_default();
        return last.len() > 1
            && last.chars().any(char::is_uppercase)
            && last.chars().all(|letter| letter.is_uppercase() || letter == '_' || letter.is_ascii_digit());
    }
    let is_new = matches!(node.kind(), "object_creation_expression" | "new_expression");
    let has_body = || {
        named_children(node)
            .iter()
            .any(|child| matches!(child.kind(), "class_body" | "initializer_expression"))
    };
    is_new
        && !has_body()
        && called(source, node)
            .is_some_and(|(_, arguments)| arguments.iter().all(|one| is_fixed(source, *one, 2)))
}

/// Whether an expression makes an object for tests that takes every call.
fn is_pretence(source: &Source, node: Node<'_>) -> bool {
    called(source, node).is_some_and(|(callee, _)| {
        let pretences = source.grammar().pretences;
        pretences.contains(&callee) || pretences.contains(&whole_callee(source, node, callee).as_str())
    })
}

/// What is called, with the object that it is called of.
pub(crate) fn whole_callee(source: &Source, node: Node<'_>, callee: &str) -> String {
    let of = ["object", "receiver", "scope"].iter().find_map(|field| node.child_by_field_name(field));
    match of {
        Some(of) => format!("{}.{callee}", source.text(of)),
        None => callee.to_owned(),
    }
}

/// The name of an error such as `ErrNotImplemented`, as a value.
fn is_unwritten_name(source: &Source, node: Node<'_>) -> bool {
    let is_name = ["identifier", "selector_expression", "scoped_identifier", "field_expression", "constant"];
    let last = words(source.text(node)).last().unwrap_or_default();
    // Python's value of that name is part of a protocol.
    is_name.contains(&node.kind())
        && source.language() != SourceLanguage::Python
        && names_unwritten(source, last)
}

/// Whether a name is one of an error that says that something is not written, in the words that it is put together from: `ErrWIP`,
/// `NotYetDone`.
fn names_unwritten(source: &Source, name: &str) -> bool {
    if source.grammar().unfinished_errors.contains(&name) {
        return true;
    }
    let parts = parts_of_name(name);
    let has = |word: &str| parts.iter().any(|part| part == word);
    let is_error = ["err", "error", "exception", "failure"].iter().any(|word| has(word));
    let is_told =
        ["todo", "wip", "stub", "stubbed", "unimplemented", "unfinished"].iter().any(|word| has(word))
            || has("not")
                && (has("implemented")
                    || has("yet")
                    || has("done") && parts.len() <= 4
                    || has("written")
                    || has("coded"));
    is_error && is_told
}

/// The words that a name is put together from, in small letters.
fn parts_of_name(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        let begins = !letter.is_alphanumeric() || letter.is_uppercase() && !before.is_uppercase();
        if begins && parts.last().is_some_and(|part| !part.is_empty()) {
            parts.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(part) = parts.last_mut()
        {
            part.extend(letter.to_lowercase());
        }
        before = letter;
    }
    parts
}

/// Whether an expression always has the same value.
pub(crate) fn is_fixed(source: &Source, node: Node<'_>, depth: usize) -> bool {
    let grammar = source.grammar();
    let node = unwrapped(grammar, node);
    let text = source.text(node).trim();
    let squeezed = one_line(text);
    if grammar.empty_values.contains(&squeezed.as_str()) {
        return true;
    }
    // A text that takes values in is not fixed.
    let takes_in =
        ["interpolation", "template_substitution", "variable_name", "expansion", "simple_expansion"];
    let is_plain = || !descendants(node).any(|part| takes_in.contains(&part.kind()));
    if grammar.constants.contains(&node.kind()) {
        return is_plain();
    }
    if depth == 0 {
        return false;
    }
    // The name of a field is no value.
    if node.kind() == "keyed_element" {
        return node.named_child(1).is_some_and(|value| is_fixed(source, value, depth - 1));
    }
    if grammar.collections.contains(&node.kind()) {
        return named_children(node).into_iter().filter(|part| !grammar.comments.contains(&part.kind())).all(
            |part| grammar.texts.contains(&part.kind()) && is_plain() || is_fixed(source, part, depth - 1),
        );
    }
    if node.kind() == "array_creation_expression" {
        return !names_variable(node);
    }
    let Some((callee, arguments)) = called(source, node) else { return false };
    let wraps = grammar.wrapping_calls.contains(&callee)
        || grammar.wrapping_calls.contains(&whole_callee(source, node, callee).as_str());
    wraps && arguments.iter().all(|one| is_fixed(source, *one, depth - 1))
}

/// What is called by a node, and with what; `None` when it is not a call.
pub(crate) fn called<'t>(source: &'t Source, node: Node<'t>) -> Option<(&'t str, Vec<Node<'t>>)> {
    let grammar = source.grammar();
    let (_, field) = grammar.calls.iter().find(|(kind, _)| *kind == node.kind())?;
    let callee = if field.is_empty() { node.named_child(0) } else { node.child_by_field_name(field) };
    let callee = callee?;
    let receiver = ["receiver", "object", "scope"].iter().find_map(|field| node.child_by_field_name(field));
    let is_receiver = |child: &Node<'_>| receiver.is_some_and(|receiver| receiver.id() == child.id());
    let arguments = named_children(node)
        .into_iter()
        .filter(|child| {
            !is_receiver(child) && child.id() != callee.id() && !grammar.comments.contains(&child.kind())
        })
        .flat_map(|child| match child.kind() {
            "arguments" | "argument_list" | "token_tree" => named_children(child),
            _ => vec![child],
        })
        .map(|argument| match argument.kind() {
            "argument" => argument.named_child(0).unwrap_or(argument),
            _ => argument,
        })
        .collect();
    Some((source.text(callee).trim_start_matches('\\'), arguments))
}

/// The name behind the last dot, colons or arrow.
pub(crate) fn last_name(callee: &str) -> &str {
    let name = callee.split("::<").next().unwrap_or(callee);
    name.rsplit(['.', ':', '>', '\\']).next().unwrap_or(name)
}

fn call(source: &Source, node: Node<'_>) -> Act {
    let grammar = source.grammar();
    let Some((callee, arguments)) = called(source, node) else { return Act::Work };
    if is_unfinished_call(source, callee) {
        return Act::Unwritten(Saying::Call);
    }
    let last = last_name(callee);
    if grammar.unfinished_errors.contains(&last) {
        return Act::Unwritten(Saying::Error);
    }
    // `Task.FromException<int>`
    let plain = callee.split('<').next().unwrap_or(callee);
    if [callee, plain, last].iter().any(|name| grammar.failing_calls.contains(name)) {
        let inside = || arguments.iter().flat_map(|argument| descendants(*argument));
        if inside().any(|part| part.is_named() && names_unwritten_error(source, part)) {
            return Act::Unwritten(Saying::Error);
        }
        if inside().any(|part| grammar.texts.contains(&part.kind()) && says_unwritten(source.text(part))) {
            return Act::Unwritten(Saying::Message);
        }
    }
    if is_end(callee) && arguments.iter().all(|argument| is_fixed(source, *argument, 2)) {
        return Act::End;
    }
    let is_told =
        |argument: &Node<'_>| STREAMS.contains(&source.text(*argument)) || is_fixed(source, *argument, 2);
    let whole = whole_callee(source, node, callee);
    if (is_output(callee) || is_output(&whole)) && arguments.iter().all(is_told) {
        return Act::Output;
    }
    if is_pause(&whole) && arguments.iter().all(|argument| !names_variable(*argument)) {
        return Act::Output;
    }
    // Waiting as JavaScript writes it; what it waits for is a fixed time.
    if callee == "Promise" && is_timer(source, &arguments) {
        return Act::Output;
    }
    Act::Work
}

/// Whether a call says by its name that something is not written.
pub(crate) fn is_unfinished_call(source: &Source, callee: &str) -> bool {
    let names = source.grammar().unfinished_calls;
    match source.language() {
        SourceLanguage::Rust => names.contains(&last_name(callee)),
        _ => {
            names.contains(&callee) || callee.strip_prefix("self.").is_some_and(|name| names.contains(&name))
        }
    }
}

fn names_unwritten_error(source: &Source, part: Node<'_>) -> bool {
    let is_leaf = part.named_child_count() == 0;
    is_leaf && !source.grammar().texts.contains(&part.kind()) && names_unwritten(source, source.text(part))
}

/// What a statement does that raises an error.
fn raised(source: &Source, node: Node<'_>) -> Act {
    if descendants(node).any(|part| part.is_named() && names_unwritten_error(source, part)) {
        return Act::Unwritten(Saying::Error);
    }
    let texts = source.grammar().texts;
    let says =
        descendants(node).any(|part| texts.contains(&part.kind()) && says_unwritten(source.text(part)));
    if says { Act::Unwritten(Saying::Message) } else { Act::Work }
}

/// The expression inside of nodes that add nothing.
pub(crate) fn unwrapped<'t>(grammar: &Grammar, node: Node<'t>) -> Node<'t> {
    let mut node = node;
    for _ in 0..DEPTH {
        if !grammar.wrappers.contains(&node.kind()) {
            break;
        }
        let inner = named_children(node).into_iter().find(|child| !grammar.comments.contains(&child.kind()));
        let Some(inner) = inner else { break };
        node = inner;
    }
    node
}

/// Whether a node, wherever it stands, says that something is not written.
pub(crate) fn unwritten_at(source: &Source, node: Node<'_>) -> Option<Saying> {
    let grammar = source.grammar();
    let kind = node.kind();
    if grammar.raises.contains(&kind) {
        return match raised(source, node) {
            Act::Unwritten(saying) => Some(saying),
            _ => None,
        };
    }
    match call(source, node) {
        Act::Unwritten(saying) => Some(saying),
        _ => None,
    }
}
