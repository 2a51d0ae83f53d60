//! What an assertion asserts, and how much.

use tree_sitter::Node;

use crate::act::{called, is_fixed, last_name};
use crate::language::SourceLanguage;
use crate::source::{Source, named_children};

pub(crate) fn is_assertion(source: &Source, callee: &str) -> bool {
    const STARTS: [&str; 15] = [
        "succeed",
        "assert",
        "expect",
        "should",
        "verify",
        "check",
        "ensure",
        "require",
        "must",
        "refute",
        "prop_assert",
        "is_expected",
        "raises",
        "test",
        "fail",
    ];
    const MATCHERS: [&str; 5] = ["tobe", "toequal", "tothrow", "tohave", "tomatch"];
    let first = callee.split(['.', ':']).next().unwrap_or(callee).to_lowercase();
    let last = last_name(callee).to_lowercase();
    let starts = |name: &str| STARTS.iter().any(|start| name.starts_with(start));
    if source.language() == SourceLanguage::Go && ["t", "tb", "b"].contains(&first.as_str()) {
        return ["error", "errorf", "fatal", "fatalf", "fail", "failnow"].contains(&last.as_str());
    }
    // `expect` of Rust is no assertion, but it can fail.
    if source.language() == SourceLanguage::Rust && ["expect", "expect_err"].contains(&last.as_str()) {
        return false;
    }
    starts(&last)
        || ["assert", "expect", "require", "assertions", "cy", "should", "chai"].contains(&first.as_str())
        || last.contains("assert")
        || last.contains("expect")
        || MATCHERS.iter().any(|start| last.starts_with(start))
        || last.starts_with("to_")
        || last == "to"
        || last == "not_to"
}

/// Whether a call is what another call on the same expression goes on with.
pub(crate) fn is_start_of_chain(source: &Source, node: Node<'_>) -> bool {
    let mut inner = node;
    while let Some(parent) = inner.parent() {
        let is_link = matches!(
            parent.kind(),
            "member_expression"
                | "field_expression"
                | "attribute"
                | "selector_expression"
                | "member_access_expression"
        );
        let is_receiver = parent.kind() == "call"
            && parent.child_by_field_name("receiver").is_some_and(|one| one.id() == inner.id())
            || parent.kind() == "method_invocation"
                && parent.child_by_field_name("object").is_some_and(|one| one.id() == inner.id());
        if is_receiver {
            return true;
        }
        if !is_link {
            let is_call = source.grammar().calls.iter().any(|(kind, _)| *kind == parent.kind());
            let callee = parent.child_by_field_name("function");
            return is_call
                && inner.id() != node.id()
                && callee.is_some_and(|callee| callee.id() == inner.id());
        }
        inner = parent;
    }
    false
}

/// Whether an assertion compares what is known beforehand.
pub(crate) fn is_hollow(source: &Source, node: Node<'_>, callee: &str, arguments: &[Node<'_>]) -> bool {
    let last = last_name(callee).to_lowercase();
    // Go hands the test itself over first.
    let arguments = match arguments {
        [first, rest @ ..]
            if source.language() == SourceLanguage::Go && ["t", "tb", "b"].contains(&source.text(*first)) =>
        {
            rest
        }
        all => all,
    };
    if ["fail", "fatal", "error", "errorf", "fatalf", "failnow"].contains(&last.as_str()) {
        // Go fails where a condition holds that never does.
        return source.language() == SourceLanguage::Go
            && condition_around(source, node).is_some_and(|condition| source.text(condition) == "false");
    }
    if source.language() == SourceLanguage::CSharp && callee.eq_ignore_ascii_case("assert.pass") {
        return true;
    }
    if last.contains("notnull") && arguments.iter().any(|one| source.text(*one).trim() == "new Object()") {
        return true;
    }
    if let Some(expected) = inner_expectation(source, node) {
        // The matchers of Ruby are calls: `to be(true)`.
        let matched: Vec<Node<'_>> = arguments
            .iter()
            .flat_map(|one| match called(source, *one) {
                Some(("be" | "eq" | "eql" | "equal", inner)) if !inner.is_empty() => inner,
                _ => vec![*one],
            })
            .collect();
        let is_fixed = |one: &Node<'_>| is_fixed(source, *one, 4);
        return matched.iter().all(is_fixed) && !expected.is_empty() && expected.iter().all(is_fixed);
    }
    // The arguments of a macro are tokens.
    if node.kind() == "macro_invocation" {
        let tokens = named_children(node).into_iter().find(|child| child.kind() == "token_tree");
        let compares = last.ends_with("_eq");
        let is_about_one = ["assert", "debug_assert", "prop_assert"].contains(&last.as_str());
        return tokens.is_some_and(|tokens| {
            (compares || is_about_one) && is_hollow_text(source.text(tokens), compares)
        });
    }
    let is_of_expectation = ["expect", "to", "not_to"].contains(&last.as_str());
    match arguments {
        _ if is_of_expectation => false,
        [] => callee == "SUCCEED",
        [one] => holds_always(source, *one),
        [first, second, ..] => {
            let is_about_one = ["assert", "asserttrue", "assert_true", "istrue", "true", "ok", "expect_true"]
                .contains(&last.as_str());
            if is_about_one {
                return holds_always(source, *first);
            }
            let compares = last.contains("eq") || last.contains("same") || last.contains("is_");
            let both_fixed = is_fixed(source, *first, 4) && is_fixed(source, *second, 4);
            compares && source.text(*first) == source.text(*second) && (both_fixed || is_name(*first))
        }
    }
}

/// What `expect(...)` holds, of which `node` is the end: `expect(true).toBe(true)`, `expect(1).to eq(1)`.
fn inner_expectation<'t>(source: &'t Source, node: Node<'t>) -> Option<Vec<Node<'t>>> {
    let mut start = node.child_by_field_name("function").or_else(|| node.child_by_field_name("receiver"))?;
    for _ in 0..8 {
        if let Some(("expect", arguments)) = called(source, start) {
            return Some(arguments);
        }
        start =
            ["object", "receiver", "function"].iter().find_map(|field| start.child_by_field_name(field))?;
    }
    None
}

/// Whether a condition is true whatever the code does.
pub(crate) fn holds_always(source: &Source, condition: Node<'_>) -> bool {
    let condition = unwrapped(condition);
    let text = source.text(condition).trim();
    if ["true", "True", "TRUE", "1", "!false", "not False"].contains(&text) {
        return true;
    }
    // A tuple of Python with something in it is true: `assert (x == 1, "message")`.
    if condition.kind() == "tuple" {
        return condition.named_child_count() > 0;
    }
    let sides: Vec<Node<'_>> = named_children(condition);
    if let (Some(Joint::Or), [left, right]) = (joint(source, condition), sides.as_slice()) {
        return holds_always(source, *left)
            || holds_always(source, *right)
            || are_complements(source.text(*left), source.text(*right));
    }
    if is_of_every_object(source, condition) {
        return true;
    }
    let [left, right] = sides.as_slice() else { return false };
    if !is_comparison(condition) {
        return false;
    }
    let is_equal = source.text(*left) == source.text(*right);
    let says_equal = text.contains("==") || text.contains(" is ") && !text.contains(" not ");
    let sign = text.get(left.byte_range().len()..).unwrap_or_default().trim_start();
    is_equal && says_equal && (is_fixed(source, *left, 4) || is_name(*left))
        || is_no_less_than_zero(source.text(*left), sign, source.text(*right))
}

/// Whether a size is said to be no less than nothing.
fn is_no_less_than_zero(left: &str, sign: &str, right: &str) -> bool {
    const SIZES: [&str; 8] = ["len", "length", "size", "count", "Length", "Count", "strlen", "Len"];
    let callee = left.trim().split_once('(').map_or(left, |(before, _)| before);
    let ends_as_size = left.trim().trim_end_matches("()").rsplit(['.', '>', ':']).next();
    let is_size = SIZES.contains(&callee.trim()) || ends_as_size.is_some_and(|name| SIZES.contains(&name));
    is_size
        && (sign.starts_with(">=") && right.trim() == "0" || sign.starts_with('>') && right.trim() == "-1")
}

/// `isinstance(x, object)`, which every value is.
fn is_of_every_object(source: &Source, condition: Node<'_>) -> bool {
    matches!(called(source, condition), Some(("isinstance", arguments))
        if arguments.get(1).is_some_and(|kind| source.text(*kind) == "object"))
}

/// Whether one of two conditions always holds: `r.is_ok()` and `r.is_err()`, `x` and `!x`.
fn are_complements(one: &str, other: &str) -> bool {
    const PAIRS: [(&str, &str); 2] = [(".is_ok()", ".is_err()"), (".is_some()", ".is_none()")];
    let (one, other) = (one.trim(), other.trim());
    let opposed = |yes: &str, no: &str| {
        PAIRS.iter().any(|(first, second)| {
            matches!((yes.strip_suffix(first), no.strip_suffix(second)), (Some(a), Some(b)) if a == b)
        }) || no.strip_prefix('!') == Some(yes)
            || no.strip_prefix("not ") == Some(yes)
    };
    opposed(one, other) || opposed(other, one)
}

/// How two conditions are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    And,
    Or,
}

fn joint(source: &Source, condition: Node<'_>) -> Option<Joint> {
    let mut cursor = condition.walk();
    condition.children(&mut cursor).filter(|child| !child.is_named()).find_map(|child| {
        match source.text(child) {
            "or" | "||" => Some(Joint::Or),
            "and" | "&&" => Some(Joint::And),
            _ => None,
        }
    })
}

fn is_comparison(node: Node<'_>) -> bool {
    matches!(node.kind(), "comparison_operator" | "binary_expression" | "binary" | "equality_expression")
}

/// A condition without what stands around it.
fn unwrapped(condition: Node<'_>) -> Node<'_> {
    let mut node = condition;
    for _ in 0..8 {
        match named_children(node).as_slice() {
            [inner]
                if matches!(
                    node.kind(),
                    "parenthesized_expression" | "condition_clause" | "parenthesized_statements"
                ) =>
            {
                node = *inner;
            }
            _ => break,
        }
    }
    node
}

/// How much an assertion says of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// Something that many values fulfil: that it is there, that it is not another.
    Loose,
    /// Not known.
    Unknown,
    /// Which value it is.
    Exact,
}

/// How much an assertion says: by the name of what is called, or by the condition that it is given.
pub(crate) fn strength(source: &Source, node: Node<'_>, callee: &str, arguments: &[Node<'_>]) -> Strength {
    let name: String =
        last_name(callee).to_lowercase().chars().filter(|letter| letter.is_alphanumeric()).collect();
    if arguments.iter().any(|one| takes_anything(source.text(*one))) || name.starts_with("debug") {
        return Strength::Loose;
    }
    if node.kind() == "macro_invocation" {
        return strength_of_macro(source, node, &name);
    }
    // The matchers of Ruby are what the call is given.
    if ["to", "notto", "tonot"].contains(&name.as_str()) {
        let matcher = arguments.first().map(|one| source.text(*one)).unwrap_or_default();
        let matcher = matcher.split(['(', ' ', '.']).next().unwrap_or_default();
        return match (name.as_str(), matcher) {
            ("to", "eq" | "eql" | "equal" | "be" | "match_array" | "contain_exactly") => Strength::Exact,
            (_, "eq" | "eql" | "equal" | "be_nil" | "be_truthy" | "be_present" | "be_a") => Strength::Loose,
            _ => Strength::Unknown,
        };
    }
    // Go compares in the condition around the call.
    if source.language() == SourceLanguage::Go
        && let Some(condition) = condition_around(source, node)
    {
        return match strength_of_condition(source, condition, 8) {
            // What fails the test is the opposite of what it asserts.
            _ if source.text(condition).contains("!=") => Strength::Exact,
            Strength::Exact => Strength::Loose,
            other => other,
        };
    }
    let is_about_one = ["assert", "asserttrue", "istrue", "true", "ok", "expecttrue", "check", "require"]
        .contains(&name.as_str());
    if is_about_one && let Some(condition) = arguments.first() {
        return strength_of_condition(source, *condition, 8);
    }
    strength_of_name(source, node, &name)
}

fn strength_of_name(source: &Source, node: Node<'_>, name: &str) -> Strength {
    const LOOSE: [&str; 16] = [
        "defined",
        "truthy",
        "falsy",
        "instanceof",
        "isinstance",
        "null",
        "none",
        "nil",
        "exist",
        "exists",
        "empty",
        "greaterthan",
        "greaterthanorequal",
        "lessthan",
        "lessthanorequal",
        "anything",
    ];
    let is_negated = name.contains("not") || name.ends_with("ne") || is_negated(source, node);
    let is_exact = ["tobe", "be", "is", "eq", "eql", "same", "throwserror"].contains(&name)
        || name.contains("equal") && !name.contains("than")
        || name.ends_with("eq")
        || name.contains("same");
    // That something is nothing says which value it is.
    let says_nothing = ["null", "none", "nil"].iter().any(|end| name.ends_with(end));
    match (is_negated, is_exact || says_nothing) {
        (true, true) => Strength::Loose,
        (true, false) if name.ends_with("ne") => Strength::Loose,
        (true, false) if LOOSE.iter().any(|end| name.contains(end)) => Strength::Loose,
        (false, true) => Strength::Exact,
        (false, false) if LOOSE.iter().any(|end| name.contains(end)) => Strength::Loose,
        _ => Strength::Unknown,
    }
}

/// `expect(x).not.toBe(y)`.
fn is_negated(source: &Source, node: Node<'_>) -> bool {
    let callee = node.child_by_field_name("function").map(|callee| source.text(callee)).unwrap_or_default();
    callee.contains(".not.")
}

/// What a comparison holds that every value equals.
fn takes_anything(text: &str) -> bool {
    ["expect.anything()", "expect.any(", "mock.ANY", "mock.Anything", "anything()"]
        .iter()
        .any(|any| text.starts_with(any))
        || text == "ANY"
}

fn strength_of_macro(source: &Source, node: Node<'_>, name: &str) -> Strength {
    if name.ends_with("eq") {
        return Strength::Exact;
    }
    if name.ends_with("ne") {
        return Strength::Loose;
    }
    let tokens = named_children(node).into_iter().find(|child| child.kind() == "token_tree");
    let text = tokens.map(|tokens| source.text(tokens)).unwrap_or_default();
    match name {
        "assert" | "propassert" if text.contains("==") || text.contains("matches!") => Strength::Exact,
        "assert" | "propassert" => Strength::Loose,
        _ => Strength::Unknown,
    }
}

/// How much a condition says.
pub(crate) fn strength_of_condition(source: &Source, condition: Node<'_>, depth: usize) -> Strength {
    let condition = unwrapped(condition);
    let text = source.text(condition);
    if takes_anything(text) {
        return Strength::Loose;
    }
    let sides = named_children(condition);
    if let ([left, right], Some(joint), Some(depth)) =
        (sides.as_slice(), joint(source, condition), depth.checked_sub(1))
    {
        let (left, right) =
            (strength_of_condition(source, *left, depth), strength_of_condition(source, *right, depth));
        return match joint {
            Joint::And => left.max(right),
            Joint::Or => left.min(right),
        };
    }
    if is_comparison(condition) {
        let mut cursor = condition.walk();
        let sign = condition.children(&mut cursor).find(|child| !child.is_named());
        let is_same = source.text(*sides.first().unwrap_or(&condition))
            == source.text(*sides.last().unwrap_or(&condition));
        return match sign.map(|sign| source.text(sign)).unwrap_or_default() {
            _ if sides.iter().any(|side| takes_anything(source.text(*side))) => Strength::Loose,
            // The code under test is compared with itself.
            "==" | "===" | "is" if is_same => Strength::Loose,
            "==" | "===" | "is" | "<=>" => Strength::Exact,
            _ => Strength::Loose,
        };
    }
    match called(source, condition) {
        Some((callee, _)) if last_name(callee).to_lowercase().contains("equal") => Strength::Exact,
        _ => Strength::Loose,
    }
}

/// The condition of the `if` that a call stands in.
pub(crate) fn condition_around<'t>(source: &'t Source, node: Node<'t>) -> Option<Node<'t>> {
    let grammar = source.grammar();
    std::iter::successors(node.parent(), Node::parent)
        .take_while(|one| !grammar.is_function(one.kind()))
        .find(|one| one.kind() == "if_statement")?
        .child_by_field_name("condition")
}

/// The values that an assertion is about, without spaces: what it is given that is not known beforehand.
pub(crate) fn subjects(source: &Source, node: Node<'_>, arguments: &[Node<'_>]) -> Vec<String> {
    let mut parts: Vec<Node<'_>> = match node.kind() {
        "assert_statement" => node.named_child(0).into_iter().collect(),
        _ => arguments.to_vec(),
    };
    if let Some(inner) = inner_expectation(source, node) {
        parts.extend(inner);
    }
    if source.language() == SourceLanguage::Go {
        parts.extend(condition_around(source, node));
    }
    if node.kind() == "macro_invocation" {
        let tokens = named_children(node).into_iter().find(|child| child.kind() == "token_tree");
        let text = tokens.map(|tokens| squeezed(source.text(tokens))).unwrap_or_default();
        let inner = text.strip_prefix(['(', '[', '{']).and_then(|text| text.strip_suffix([')', ']', '}']));
        return split_top(inner.unwrap_or_default()).into_iter().filter(|part| is_telling(part)).collect();
    }
    let mut found = Vec::new();
    for part in parts.into_iter().map(unwrapped) {
        if is_comparison(part) || joint(source, part).is_some() {
            found.extend(named_children(part).into_iter().filter(|side| !is_fixed(source, *side, 4)));
        } else if !is_fixed(source, part, 4) {
            found.push(part);
        }
    }
    found.into_iter().map(|part| squeezed(source.text(part))).filter(|text| is_telling(text)).collect()
}

fn is_telling(text: &str) -> bool {
    text.len() > 2 && text.chars().any(char::is_alphabetic) && !text.starts_with(['"', '\''])
}

/// The parts between commas and signs of comparison that stand in no brackets.
fn split_top(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let mut parts = vec![String::new()];
    for letter in text.chars() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match parts.last_mut() {
            _ if depth == 0 && matches!(letter, ',' | '=' | '!' | '<' | '>') => parts.push(String::new()),
            Some(last) => last.push(letter),
            None => {}
        }
    }
    parts
}

/// A text without spaces.
pub(crate) fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The same for the tokens of a macro: `(true)`, `(1, 1)`, `(1 == 1)`.
fn is_hollow_text(tokens: &str, compares: bool) -> bool {
    let inner = tokens.trim().trim_start_matches(['(', '[', '{']).trim_end_matches([')', ']', '}']).trim();
    let first = inner.split(',').next().unwrap_or_default().trim();
    if !compares && first == "true" {
        return true;
    }
    let is_simple = |text: &str| {
        !text.is_empty()
            && text.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '"')
    };
    let same = |one: &str, other: &str| one.trim() == other.trim() && is_simple(one.trim());
    let mut parts = inner.split(',');
    let by_comma = match (parts.next(), parts.next()) {
        (Some(one), Some(other)) => compares && same(one, other),
        _ => false,
    };
    let by_sign = !compares && first.split_once("==").is_some_and(|(one, other)| same(one, other));
    let whole = tokens.trim().strip_prefix(['(', '[', '{']).unwrap_or(tokens);
    let whole = whole.strip_suffix([')', ']', '}']).unwrap_or(whole).split(',').next().unwrap_or_default();
    let by_joint = !compares
        && whole.split_once("||").is_some_and(|(one, other)| {
            other.trim() == "true" || one.trim() == "true" || are_complements(one, other)
        });
    by_comma || by_sign || by_joint
}

fn is_name(node: Node<'_>) -> bool {
    matches!(node.kind(), "identifier" | "constant" | "variable_name")
}

/// Whether an assertion compares a call with the same call: `assert add(1, 2) == add(1, 2)`.
pub(crate) fn is_self_comparison(source: &Source, node: Node<'_>) -> bool {
    if node.kind() != "assert_statement" {
        return false;
    }
    let Some(condition) = node.named_child(0).map(unwrapped).filter(|one| is_comparison(*one)) else {
        return false;
    };
    match named_children(condition).as_slice() {
        [left, right] => source.text(*left) == source.text(*right) && called(source, *left).is_some(),
        _ => false,
    }
}
