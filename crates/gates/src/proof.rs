//! What tests assert, and whether they run.

use std::collections::HashSet;

use tree_sitter::Node;

use crate::act::{called, last_name};
use crate::assertion::{
    Strength, condition_around, holds_always, is_assertion, is_hollow, is_self_comparison, is_start_of_chain,
    squeezed, strength, strength_of_condition, subjects,
};
use crate::body::Setting;
use crate::finding::{FindingKind, FindingWeight, GateFinding, shown};
use crate::function::{Function, words};
use crate::language::SourceLanguage;
use crate::reach::{Runs, rows, runs_in};
use crate::source::{Source, descendants, line_of, named_children};

/// A test.
#[derive(Debug)]
pub(crate) struct TestCase<'t> {
    /// Its name.
    pub(crate) name: String,
    /// The class that it stands in; empty where it stands in none.
    pub(crate) scope: String,
    /// The whole.
    pub(crate) node: Node<'t>,
    /// What stands before its body; empty for one that is a call.
    pub(crate) header: &'t str,
    /// What it asserts.
    pub(crate) assertions: Vec<Assertion<'t>>,
    /// Whether it is run.
    pub(crate) skip: Skip,
    /// Whether the others of its file are not run because of it.
    pub(crate) is_only: bool,
    /// Whether it can fail by other means, such as a call that panics.
    can_fail: bool,
    /// Whether it is empty: that is said elsewhere.
    is_empty: bool,
}

impl TestCase<'_> {
    /// Whether it has assertions, and each of them always holds.
    pub(crate) fn proves_nothing(&self) -> bool {
        !self.assertions.is_empty() && self.assertions.iter().all(|one| one.is_hollow)
    }
}

/// An assertion.
#[derive(Debug)]
pub(crate) struct Assertion<'t> {
    /// The whole.
    pub(crate) node: Node<'t>,
    /// What it asserts, without spaces.
    pub(crate) key: String,
    /// How much it says.
    pub(crate) strength: Strength,
    /// The values that it is about.
    pub(crate) subjects: Vec<String>,
    /// How often it runs.
    pub(crate) runs: Runs,
    /// Whether it always holds.
    pub(crate) is_hollow: bool,
}

/// Whether a test is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Skip {
    /// It is.
    Runs,
    /// It is not, and the text says why.
    WithReason,
    /// It is not, and nothing says why.
    Bare,
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
        if case.skip == Skip::Bare {
            found.push(about(case.node, FindingKind::SkippedTest, FindingWeight::Warning));
        }
        for one in &case.assertions {
            if one.is_hollow {
                found.push(about(one.node, FindingKind::TrivialAssertion, FindingWeight::Error));
            } else if is_self_comparison(source, one.node) {
                // That a result is always the same is worth a test, but seldom what is meant.
                found.push(about(one.node, FindingKind::TrivialAssertion, FindingWeight::Warning));
            }
        }
        let is_unreached =
            !case.assertions.is_empty() && case.assertions.iter().all(|one| one.runs == Runs::Times(0));
        let asserts_nothing =
            case.assertions.is_empty() && !case.can_fail && !is_about_no_error(source, case.node);
        if (asserts_nothing || is_unreached) && case.skip != Skip::Bare && !case.is_empty {
            found.push(about(case.node, FindingKind::NoAssertion, FindingWeight::Warning));
        }
    }
    found
}

/// Whether a comment says that a test proves that nothing fails.
fn is_about_no_error(source: &Source, test: Node<'_>) -> bool {
    const PHRASES: [&str; 8] = [
        "not raise",
        "not throw",
        "not panic",
        "not crash",
        "not fail",
        "no exception",
        "no error",
        "no panic",
    ];
    descendants(test)
        .filter(|part| source.grammar().comments.contains(&part.kind()))
        .any(|comment| PHRASES.iter().any(|phrase| source.text(comment).to_lowercase().contains(phrase)))
}

/// All tests of a text.
pub(crate) fn cases<'t>(source: &'t Source, all: &[Function<'t>], setting: Setting) -> Vec<TestCase<'t>> {
    let is_case = |function: &&Function<'_>| is_test(source, function, setting);
    // Functions of the text that assert something for the tests that call them.
    let asserting: HashSet<&str> = all
        .iter()
        .filter(|function| !is_case(function) && function.name.len() > 2)
        .filter(|function| asserts(source, function.node))
        .map(|function| function.name.as_str())
        .collect();
    let read = |name, node, header, skip| case(source, &asserting, (name, node, header), skip);
    let mut found: Vec<TestCase<'t>> = all
        .iter()
        .filter(is_case)
        .map(|function| {
            let skip = skip_by_header(source, function.header).max(skip_around(source, function.node));
            read(name_of_test(source, function), function.node, function.header, skip)
        })
        .collect();
    found.extend(descendants(source.root()).filter(Node::is_named).filter_map(|node| {
        let (name, skip, is_only) = called_case(source, node)?;
        let case = read(name, node, "", skip.max(skip_around(source, node)));
        Some(TestCase { is_only, ..case })
    }));
    found
}

/// Whether something in a node asserts something.
fn asserts(source: &Source, node: Node<'_>) -> bool {
    descendants(node).filter(Node::is_named).any(|part| {
        part.kind() == "assert_statement" && source.language() != SourceLanguage::Php
            || part.id() != node.id()
                && called(source, part).is_some_and(|(callee, _)| is_assertion(source, callee))
    })
}

/// The name of a test; where a macro makes it, with what tells it from the others.
fn name_of_test(source: &Source, function: &Function<'_>) -> String {
    let is_macro = matches!(source.language(), SourceLanguage::C | SourceLanguage::Cpp)
        && function.name.chars().all(|letter| letter.is_uppercase() || letter == '_');
    match function.node.child_by_field_name("declarator") {
        Some(declarator) if is_macro => squeezed(source.text(declarator)),
        _ => function.name.clone(),
    }
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
                && (source.is_fragment() || is_collected(source, function.node))
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

/// Whether a test runner of Python looks into what a function stands in: a class of which it knows by its name or its base that it holds tests.
fn is_collected(source: &Source, node: Node<'_>) -> bool {
    let is_switched_off = |around: Node<'_>| {
        named_children(around).iter().any(|one| squeezed(source.text(*one)) == "__test__=False")
    };
    let class =
        std::iter::successors(node.parent(), Node::parent).find(|one| one.kind() == "class_definition");
    let Some(class) = class else { return !is_switched_off(source.root()) };
    let name = class.child_by_field_name("name").map(|name| source.text(name)).unwrap_or_default();
    let bases = class.child_by_field_name("superclasses").map(|bases| source.text(bases)).unwrap_or_default();
    let has_base = words(bases).next().is_some();
    // Another class may take its tests over.
    let is_base = || {
        descendants(source.root()).filter(|one| one.kind() == "argument_list").any(|one| {
            one.parent().is_some_and(|of| of.kind() == "class_definition")
                && words(source.text(one)).any(|word| word == name)
        })
    };
    let body = class.child_by_field_name("body");
    !body.is_some_and(is_switched_off)
        && !is_switched_off(source.root())
        && (name.starts_with("Test")
            || has_base
            || name.ends_with("Mixin")
            || name.ends_with("Base")
            || is_base())
}

/// Whether a function is a test, or the body of one that a call makes.
pub(crate) fn is_test_case(source: &Source, function: &Function<'_>) -> bool {
    let call = || function.node.parent().and_then(|parent| parent.parent());
    is_test(source, function, Setting::Tests)
        || source.grammar().closures.contains(&function.node.kind())
            && call().is_some_and(|call| called_case(source, call).is_some())
}

/// `it("adds", () => ...)`, `it "adds" do ... end`.
fn called_case(source: &Source, node: Node<'_>) -> Option<(String, Skip, bool)> {
    let (callee, arguments) = called(source, node)?;
    let mut parts = callee.split(['.', '(']);
    let first = parts.next().unwrap_or_default();
    let modifier = parts.next().unwrap_or_default();
    let is_script = matches!(
        source.language(),
        SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx
    );
    let is_case = match source.language() {
        _ if is_script => ["it", "test", "specify", "xit", "xtest", "fit"].contains(&first),
        SourceLanguage::Ruby => ["it", "specify", "xit", "example", "fit"].contains(&callee),
        _ => false,
    };
    let title = arguments.first().filter(|node| source.grammar().texts.contains(&node.kind()))?;
    let has_body = arguments.iter().any(|argument| {
        source.grammar().closures.contains(&argument.kind())
            || matches!(argument.kind(), "do_block" | "block")
    });
    let is_planned = is_script && modifier == "todo";
    if !is_case || !has_body && !is_planned {
        return None;
    }
    let is_skipped = first.starts_with('x') || ["skip", "todo", "failing"].contains(&modifier);
    let is_only = modifier == "only" || first == "fit";
    Some((source.text(*title).to_owned(), if is_skipped { Skip::Bare } else { Skip::Runs }, is_only))
}

/// Whether what stands around a test is skipped: a group of tests, a class, a whole file.
fn skip_around(source: &Source, node: Node<'_>) -> Skip {
    let around = std::iter::successors(node.parent(), Node::parent);
    let by_groups = around
        .map(|one| match called(source, one) {
            Some((callee, _))
                if ["xdescribe", "xcontext", "describe.skip", "context.skip", "suite.skip"]
                    .contains(&callee) =>
            {
                Skip::Bare
            }
            _ if source.grammar().holder(one.kind()).is_some() => {
                skip_by_header(source, text_before_body(source, one))
            }
            _ => Skip::Runs,
        })
        .max();
    let by_file = || {
        named_children(source.root()).iter().any(|one| {
            let text = squeezed(source.text(*one));
            text.starts_with("pytestmark=") && text.contains("mark.skip") && !text.contains("skipif")
        })
    };
    let whole = source.language() == SourceLanguage::Python && by_file();
    by_groups.unwrap_or(Skip::Runs).max(if whole { Skip::WithReason } else { Skip::Runs })
}

/// What stands before the body of a class: its decorators and attributes.
fn text_before_body<'t>(source: &'t Source, class: Node<'_>) -> &'t str {
    let start = match class.parent().filter(|parent| parent.kind() == "decorated_definition") {
        Some(parent) => parent.start_byte(),
        None => class.start_byte(),
    };
    let end = class.child_by_field_name("body").map_or(class.end_byte(), |body| body.start_byte());
    source.whole().get(start..end).unwrap_or_default()
}

fn case<'t>(
    source: &'t Source,
    asserting: &HashSet<&str>,
    (name, node, header): (String, Node<'t>, &'t str),
    skip: Skip,
) -> TestCase<'t> {
    let scope = std::iter::successors(node.parent(), Node::parent)
        .find(|one| source.grammar().holder(one.kind()).is_some())
        .and_then(|holder| holder.child_by_field_name("name"))
        .map(|name| source.text(name).to_owned())
        .unwrap_or_default();
    let mut case = TestCase {
        name,
        scope,
        node,
        header,
        assertions: Vec::new(),
        skip,
        is_only: false,
        can_fail: false,
        is_empty: false,
    };
    let whole = rows(source, node, header);
    for part in descendants(node).filter(Node::is_named) {
        let (callee, arguments) = match called(source, part) {
            Some(call) if part.id() != node.id() => call,
            _ => ("", Vec::new()),
        };
        let is_statement = part.kind() == "assert_statement" && source.language() != SourceLanguage::Php;
        case.can_fail |= can_fail(source, callee) && !is_loose_expectation(source, part, callee);
        if is_skip(source, callee) {
            let is_certain = !is_within_condition(source, part, node);
            case.skip = case.skip.max(match arguments.is_empty() {
                true => Skip::Bare,
                false if is_certain => Skip::WithReason,
                false => Skip::Runs,
            });
        }
        // `expect(x).toBe(y)` is one assertion: the inner call does not count once more.
        let asserts = is_statement
            || !callee.is_empty()
                && (is_assertion(source, callee) || asserting.contains(last_name(callee)))
                && !is_start_of_chain(source, part)
                && !is_loose_expectation(source, part, callee);
        if asserts {
            case.assertions.push(assertion(source, (part, callee, &arguments), node, whole));
        }
        if is_bare_skip(source, part) {
            case.skip = Skip::Bare;
        }
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

fn assertion<'t>(
    source: &'t Source,
    (node, callee, arguments): (Node<'t>, &str, &[Node<'t>]),
    test: Node<'_>,
    whole: Runs,
) -> Assertion<'t> {
    let condition = if node.kind() == "assert_statement" { node.named_child(0) } else { None };
    let (strength, is_hollow) = match condition {
        Some(condition) => (strength_of_condition(source, condition, 8), holds_always(source, condition)),
        None => (strength(source, node, callee, arguments), is_hollow(source, node, callee, arguments)),
    };
    // What fails a test of Go says nothing without its condition.
    let around = match source.language() {
        SourceLanguage::Go => condition_around(source, node),
        _ => None,
    };
    let key = match around {
        Some(condition) => squeezed(source.text(condition)),
        None => squeezed(source.text(condition.unwrap_or(node))),
    };
    let subjects = subjects(source, node, arguments);
    let runs = runs_in(source, node, test).within(whole);
    Assertion { node, key, strength, subjects, runs, is_hollow }
}

/// Whether a node stands below a condition, so that it does not always run.
fn is_within_condition(source: &Source, node: Node<'_>, test: Node<'_>) -> bool {
    std::iter::successors(node.parent(), Node::parent).take_while(|one| one.id() != test.id()).any(|one| {
        one.kind().starts_with("if")
            || one.kind().contains("conditional")
            || one.kind() == "unless"
            || source.grammar().catches.iter().any(|(kind, _)| *kind == one.kind())
    })
}

/// `expect(add(2, 3));` of JavaScript, which expects nothing.
fn is_loose_expectation(source: &Source, node: Node<'_>, callee: &str) -> bool {
    let is_script = matches!(
        source.language(),
        SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx
    );
    is_script
        && callee == "expect"
        && node.parent().is_some_and(|parent| parent.kind() == "expression_statement")
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
        SourceLanguage::Go => ["t.Skip", "t.SkipNow", "t.Skipf"].contains(&callee),
        SourceLanguage::Ruby => ["skip", "pending"].contains(&callee),
        SourceLanguage::Php => ["markTestSkipped", "markTestIncomplete"].contains(&last_name(callee)),
        SourceLanguage::CSharp => ["Assert.Ignore", "Assert.Inconclusive", "Assert.Skip"].contains(&callee),
        SourceLanguage::C | SourceLanguage::Cpp => ["GTEST_SKIP", "SKIP"].contains(&callee),
        SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx => {
            ["this.skip", "t.skip", "ctx.skip", "context.skip"].contains(&callee)
        }
        SourceLanguage::Rust | SourceLanguage::Java | SourceLanguage::Shell => false,
    }
}

/// `skip` of Ruby without a reason is a name that stands alone.
fn is_bare_skip(source: &Source, part: Node<'_>) -> bool {
    source.language() == SourceLanguage::Ruby
        && part.kind() == "identifier"
        && is_skip(source, source.text(part))
        && part.parent().is_some_and(|parent| source.grammar().blocks.contains(&parent.kind()))
}

/// `#[ignore]`, `@pytest.mark.skip`, `@Disabled`, `[Ignore]`, with a reason or without one.
fn skip_by_header(source: &Source, header: &str) -> Skip {
    header.lines().map(str::trim).map(|line| skip_by_line(source, line)).max().unwrap_or(Skip::Runs)
}

fn skip_by_line(source: &Source, line: &str) -> Skip {
    let marked = |marks: &[&str]| marks.iter().find_map(|mark| line.strip_prefix(mark));
    let by_rest = |rest: Option<&str>| match rest {
        // The name of another mark begins so.
        Some(rest) if rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_') => {
            Skip::Runs
        }
        Some(rest) if rest.contains(['"', '\'']) && !rest.contains("(\"\")") => Skip::WithReason,
        Some(_) => Skip::Bare,
        None => Skip::Runs,
    };
    match source.language() {
        SourceLanguage::Rust if squeezed(line).starts_with("#[cfg(any())]") => Skip::Bare,
        SourceLanguage::Rust => by_rest(marked(&["#[ignore"])),
        SourceLanguage::Python => {
            let always =
                ["skipif(True", "skipif(1", "skipIf(True", "skipIf(1"].iter().any(|mark| line.contains(mark));
            let by_condition = marked(&["@pytest.mark.xfail"]).is_some_and(|rest| {
                // A condition that is named first, or the error that is known.
                let inner = rest.trim_start_matches('(').trim_end_matches(')');
                inner.contains("raises")
                    || inner.split(',').next().is_some_and(|first| {
                        !first.contains('=') && !first.is_empty() && !first.starts_with(['"', '\''])
                    })
            });
            match () {
                () if always => Skip::WithReason,
                () if by_condition => Skip::Runs,
                () => by_rest(marked(&[
                    "@pytest.mark.skip",
                    "@unittest.skip",
                    "@skip",
                    "@pytest.mark.xfail",
                    "@unittest.expectedFailure",
                ])),
            }
        }
        SourceLanguage::Java => by_rest(marked(&["@Disabled", "@Ignore"])),
        SourceLanguage::CSharp if line.contains("[Ignore]") => Skip::Bare,
        SourceLanguage::CSharp
            if line.contains("Ignore(\"") || line.contains("Skip = \"") || line.contains("Skip=\"") =>
        {
            Skip::WithReason
        }
        SourceLanguage::CSharp
        | SourceLanguage::JavaScript
        | SourceLanguage::TypeScript
        | SourceLanguage::Tsx
        | SourceLanguage::Go
        | SourceLanguage::C
        | SourceLanguage::Cpp
        | SourceLanguage::Ruby
        | SourceLanguage::Php
        | SourceLanguage::Shell => Skip::Runs,
    }
}
