//! What tests assert.

use tree_sitter::Node;

use crate::act::{called, is_fixed, last_name};
use crate::body::Setting;
use crate::finding::{FindingKind, FindingWeight, GateFinding, shown};
use crate::function::{Function, words};
use crate::language::SourceLanguage;
use crate::source::{Source, descendants, line_of, named_children};

/// A test.
#[derive(Debug)]
pub(crate) struct TestCase<'t> {
    /// Its name.
    pub(crate) name: String,
    /// The whole.
    pub(crate) node: Node<'t>,
    /// How many assertions it makes.
    pub(crate) assertions: usize,
    /// How many of them always hold.
    pub(crate) trivial: usize,
    /// Where each of these is.
    hollow: Vec<Node<'t>>,
    /// Whether it can fail by other means, such as a call that panics.
    can_fail: bool,
    /// Whether it is not run, and nothing says why.
    is_skipped: bool,
    /// Whether it is empty: that is said elsewhere.
    is_empty: bool,
}

/// What is wrong with the tests of a text.
pub(crate) fn findings(source: &Source, all: &[Function<'_>], setting: Setting) -> Vec<GateFinding> {
    let mut found = Vec::new();
    for case in cases(source, all, setting) {
        let about = |node: Node<'_>, kind, weight| GateFinding {
            line: line_of(node),
            first_line: line_of(node),
            last_line: node.end_position().row + 1,
            kind,
            weight,
            function: case.name.clone(),
            text: shown(source.text(node)),
        };
        if case.is_skipped {
            found.push(about(case.node, FindingKind::SkippedTest, FindingWeight::Warning));
        }
        for node in &case.hollow {
            found.push(about(*node, FindingKind::TrivialAssertion, FindingWeight::Error));
        }
        if case.assertions == 0 && !case.can_fail && !case.is_skipped && !case.is_empty {
            found.push(about(case.node, FindingKind::NoAssertion, FindingWeight::Warning));
        }
    }
    found
}

/// Tests that assert less than they did.
pub(crate) fn weakened(
    before: &Source,
    now: &Source,
    all: &[Function<'_>],
    setting: Setting,
) -> Vec<GateFinding> {
    let (old_functions, _) = crate::function::functions(before);
    let (old, new) = (cases(before, &old_functions, setting), cases(now, all, setting));
    let real = |case: &TestCase<'_>| case.assertions - case.trivial;
    let same = |name: &str| new.iter().filter(|case| case.name == name).collect::<Vec<_>>();
    let mut found = Vec::new();
    for case in &old {
        let twins = old.iter().filter(|other| other.name == case.name).count();
        if twins > 1 || case.name.is_empty() {
            continue;
        }
        if let [now_case] = same(&case.name).as_slice()
            && (real(now_case) < real(case) || now_case.is_skipped && !case.is_skipped)
        {
            found.push(GateFinding {
                line: line_of(now_case.node),
                first_line: line_of(now_case.node),
                last_line: now_case.node.end_position().row + 1,
                kind: FindingKind::WeakenedTest,
                weight: FindingWeight::Error,
                function: case.name.clone(),
                text: format!("{} assertions before, {} now", real(case), real(now_case)),
            });
        }
    }
    found
}

/// All tests of a text.
pub(crate) fn cases<'t>(source: &'t Source, all: &[Function<'t>], setting: Setting) -> Vec<TestCase<'t>> {
    let mut found: Vec<TestCase<'t>> = all
        .iter()
        .filter(|function| is_test(source, function, setting))
        .map(|function| {
            case(source, function.name.clone(), function.node, is_skipped_by_header(source, function.header))
        })
        .collect();
    found.extend(
        descendants(source.root()).filter(Node::is_named).filter_map(|node| called_case(source, node)),
    );
    found
}

fn is_test(source: &Source, function: &Function<'_>, setting: Setting) -> bool {
    let (name, header) = (function.name.as_str(), function.header);
    let is_marked = |marks: &[&str]| {
        header
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with(['@', '[', '#']))
            .any(|line| words(line).take(3).any(|word| marks.contains(&word)))
    };
    match source.language() {
        SourceLanguage::Rust => {
            header.lines().map(str::trim).filter_map(|line| line.strip_prefix("#[")).any(|line| {
                let path = line.split(['(', '=', ']']).next().unwrap_or_default().trim();
                ["test", "rstest", "test_case", "wasm_bindgen_test"].contains(&last_name(path))
            })
        }
        // Outside of tests functions have such names too.
        SourceLanguage::Python => {
            (setting == Setting::Tests || source.is_fragment())
                && (name.starts_with("test_") || name == "test")
                && !function.is_inner
                && !header.contains("fixture")
        }
        SourceLanguage::Java | SourceLanguage::CSharp => is_marked(&[
            "Test",
            "ParameterizedTest",
            "RepeatedTest",
            "Fact",
            "Theory",
            "TestMethod",
            "TestCase",
            "DataTestMethod",
        ]),
        SourceLanguage::Go => name.starts_with("Test") && header.contains("*testing.T)"),
        SourceLanguage::Ruby => name.starts_with("test_"),
        SourceLanguage::Php => {
            (name.starts_with("test") && header.contains("function")) || is_marked(&["Test", "test"])
        }
        SourceLanguage::C | SourceLanguage::Cpp => {
            ["TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TEST_CASE", "BOOST_AUTO_TEST_CASE"].contains(&name)
                || name.starts_with("test_") && function.node.kind() == "function_definition"
        }
        // Calls make the tests of these, or nothing does.
        SourceLanguage::JavaScript
        | SourceLanguage::TypeScript
        | SourceLanguage::Tsx
        | SourceLanguage::Shell => false,
    }
}

/// `it("adds", () => ...)`, `it "adds" do ... end`.
fn called_case<'t>(source: &'t Source, node: Node<'t>) -> Option<TestCase<'t>> {
    let (callee, arguments) = called(source, node)?;
    let mut parts = callee.split('.');
    let first = parts.next().unwrap_or_default();
    let modifier = parts.next().unwrap_or_default();
    let is_script = matches!(
        source.language(),
        SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx
    );
    let is_case = match source.language() {
        _ if is_script => ["it", "test", "specify", "xit", "xtest"].contains(&first),
        SourceLanguage::Ruby => ["it", "specify", "xit", "example"].contains(&callee),
        _ => false,
    };
    let title = arguments.first().filter(|node| source.grammar().texts.contains(&node.kind()))?;
    let has_body = arguments.iter().any(|argument| {
        source.grammar().closures.contains(&argument.kind())
            || matches!(argument.kind(), "do_block" | "block")
    });
    if !is_case || !has_body {
        return None;
    }
    let is_skipped = first.starts_with('x') || ["skip", "todo", "failing"].contains(&modifier);
    Some(case(source, source.text(*title).to_owned(), node, is_skipped))
}

fn case<'t>(source: &'t Source, name: String, node: Node<'t>, is_skipped: bool) -> TestCase<'t> {
    let mut case = TestCase {
        name,
        node,
        assertions: 0,
        trivial: 0,
        hollow: Vec::new(),
        can_fail: false,
        is_skipped,
        is_empty: false,
    };
    for part in descendants(node).filter(Node::is_named) {
        let (is_assertion, is_hollow) = match part.kind() {
            "assert_statement" if source.language() != SourceLanguage::Php => {
                (true, part.named_child(0).is_some_and(|condition| holds_always(source, condition)))
            }
            _ => match called(source, part) {
                Some((callee, arguments)) if part.id() != node.id() => {
                    case.can_fail |= can_fail(source, callee);
                    case.is_skipped |= is_skip(source, callee) && arguments.is_empty();
                    (is_assertion(source, callee), is_hollow(source, part, callee, &arguments))
                }
                _ => (false, false),
            },
        };
        // `expect(x).toBe(y)` is one assertion: the inner call does not count once more.
        if is_assertion && !is_start_of_chain(source, part) {
            case.assertions += 1;
            if is_hollow {
                case.trivial += 1;
                case.hollow.push(part);
            }
        }
        case.is_skipped |= is_bare_skip(source, part);
        case.can_fail |= matches!(part.kind(), "try_expression" | "assert_statement")
            || part.kind() == "attribute_item" && source.text(part).contains("should_panic");
    }
    let body = node.child_by_field_name("body");
    case.is_empty = body.is_some_and(|body| {
        let acts = crate::act::acts(source, body);
        acts.iter().all(|(_, act)| {
            matches!(
                act,
                crate::act::Act::Nothing | crate::act::Act::Description | crate::act::Act::Unwritten(_)
            )
        })
    });
    let above = node.start_byte();
    case.can_fail |= source.whole()[..above].trim_end().ends_with("should_panic]");
    case
}

/// Whether a call is what another call on the same expression goes on with.
fn is_start_of_chain(source: &Source, node: Node<'_>) -> bool {
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

fn is_assertion(source: &Source, callee: &str) -> bool {
    const STARTS: [&str; 14] = [
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

fn can_fail(source: &Source, callee: &str) -> bool {
    const FAILING: [&str; 8] =
        ["unwrap", "unwrap_err", "expect", "expect_err", "panic", "throw", "raise", "die"];
    let last = last_name(callee);
    FAILING.contains(&last)
        // A helper that is named after what it proves.
        || ["check", "verify", "validate", "compare", "run_test", "test", "snapshot", "exercise"]
            .iter()
            .any(|start| last.to_lowercase().contains(start))
        || source.language() == SourceLanguage::Go && callee == "t.Run"
}

fn is_skip(source: &Source, callee: &str) -> bool {
    match source.language() {
        SourceLanguage::Python => ["pytest.skip", "self.skipTest"].contains(&callee),
        SourceLanguage::Go => ["t.Skip", "t.SkipNow"].contains(&callee),
        SourceLanguage::Ruby => ["skip", "pending"].contains(&callee),
        SourceLanguage::Php => last_name(callee) == "markTestSkipped",
        _ => false,
    }
}

/// `skip` of Ruby without a reason is a name that stands alone.
fn is_bare_skip(source: &Source, part: Node<'_>) -> bool {
    source.language() == SourceLanguage::Ruby
        && part.kind() == "identifier"
        && is_skip(source, source.text(part))
        && part.parent().is_some_and(|parent| source.grammar().blocks.contains(&parent.kind()))
}

/// `#[ignore]`, `@pytest.mark.skip`, `@Disabled`, `[Ignore]`, each without a reason.
fn is_skipped_by_header(source: &Source, header: &str) -> bool {
    header.lines().map(str::trim).any(|line| match source.language() {
        SourceLanguage::Rust => line.contains("#[ignore]"),
        SourceLanguage::Python => ["@pytest.mark.skip", "@unittest.skip", "@skip"].iter().any(|mark| {
            let rest = line.strip_prefix(mark);
            rest.is_some_and(|rest| rest.is_empty() || rest == "()" || rest == "(\"\")")
        }),
        SourceLanguage::Java => ["@Disabled", "@Ignore"].iter().any(|mark| {
            line.strip_prefix(mark)
                .is_some_and(|rest| !rest.starts_with('(') && !rest.starts_with(char::is_alphanumeric))
        }),
        SourceLanguage::CSharp => line.contains("[Ignore]"),
        _ => false,
    })
}

/// Whether an assertion compares what is known beforehand.
fn is_hollow(source: &Source, node: Node<'_>, callee: &str, arguments: &[Node<'_>]) -> bool {
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
        return false;
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
        [] => false,
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
fn holds_always(source: &Source, condition: Node<'_>) -> bool {
    let text = source.text(condition).trim();
    if ["true", "True", "TRUE", "1", "!false", "not False"].contains(&text) {
        return true;
    }
    let sides: Vec<Node<'_>> = named_children(condition);
    let is_comparison = matches!(
        condition.kind(),
        "comparison_operator" | "binary_expression" | "binary" | "equality_expression"
    );
    match sides.as_slice() {
        [left, right] if is_comparison => {
            let is_equal = source.text(*left) == source.text(*right);
            let says_equal = text.contains("==") || text.contains(" is ") && !text.contains(" not ");
            is_equal && says_equal && (is_fixed(source, *left, 4) || is_name(*left))
        }
        _ => false,
    }
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
    by_comma || by_sign
}

fn is_name(node: Node<'_>) -> bool {
    matches!(node.kind(), "identifier" | "constant" | "variable_name")
}
