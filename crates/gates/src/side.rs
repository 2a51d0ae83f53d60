//! A changed file before or after the change, as far as its tests are compared.

use std::collections::{BTreeSet, HashSet};

use tree_sitter::Node;

use crate::assertion::Strength;
use crate::body::Setting;
use crate::finding::{FindingKind, FindingWeight, GateFinding, shown};
use crate::function::{functions, words};
use crate::language::SourceLanguage;
use crate::proof::{Skip, TestCase, cases};
use crate::reach::{Runs, bound_name, is_any_function};
use crate::source::{Source, descendants, line_of, named_children, one_line};

/// A file before or after the change.
#[derive(Debug, Default)]
pub(crate) struct Side {
    /// Its tests.
    pub(crate) cases: Vec<ReadCase>,
    /// Functions and classes of code that is no test.
    pub(crate) definitions: HashSet<String>,
    /// Words of code that is no test.
    pub(crate) words: HashSet<String>,
    /// How many lines it has.
    pub(crate) lines: usize,
}

/// A test as far as it is compared.
#[derive(Debug)]
pub(crate) struct ReadCase {
    /// Its name.
    pub(crate) name: String,
    /// The class that it stands in.
    pub(crate) scope: String,
    /// Its first line.
    pub(crate) first: usize,
    /// Its last line.
    pub(crate) last: usize,
    /// What it asserts that can fail.
    pub(crate) assertions: Vec<ReadAssertion>,
    /// Whether it is run.
    pub(crate) skip: Skip,
    /// Whether the others of its file are not run because of it.
    pub(crate) is_only: bool,
    /// What must hold for it to be built or run.
    pub(crate) conditions: BTreeSet<String>,
    /// The words in it.
    pub(crate) words: HashSet<String>,
    /// What it calls.
    pub(crate) calls: HashSet<String>,
    /// What it gives a function of its own.
    pub(crate) binds: HashSet<String>,
}

/// An assertion that can fail.
#[derive(Debug)]
pub(crate) struct ReadAssertion {
    /// What it asserts, without spaces.
    pub(crate) key: String,
    /// The whole.
    pub(crate) text: String,
    /// How much it says.
    pub(crate) strength: Strength,
    /// The values that it is about.
    pub(crate) subjects: Vec<String>,
    /// How often it runs.
    pub(crate) runs: Runs,
    /// The words in it.
    pub(crate) words: HashSet<String>,
}

impl ReadCase {
    /// A finding about it.
    pub(crate) fn finding(&self, weight: FindingWeight, text: &str) -> GateFinding {
        GateFinding {
            line: self.first,
            first_line: self.first,
            last_line: self.last,
            kind: FindingKind::WeakenedTest,
            weight,
            function: self.name.clone(),
            text: shown(text),
        }
    }

    /// Whether another test has its name and its class.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.name == other.name && self.scope == other.scope
    }

    /// How many assertions it makes.
    pub(crate) fn count(&self) -> usize {
        self.assertions.iter().map(|one| at_least(one.runs)).sum()
    }
}

/// How often something runs, as far as that is known.
pub(crate) fn at_least(runs: Runs) -> usize {
    match runs {
        Runs::Times(times) => times,
        Runs::Unknown => 1,
    }
}

/// Reads a file.
pub(crate) fn side(language: SourceLanguage, text: &str, setting: Setting) -> Side {
    let Ok(source) = Source::file(language, text) else { return Side::default() };
    let (all, _) = functions(&source);
    let found = cases(&source, &all, setting);
    let is_in_case = |node: Node<'_>| {
        found.iter().any(|case| {
            case.node.start_byte() <= node.start_byte() && node.end_byte() <= case.node.end_byte()
        })
    };
    let mut side = Side { lines: text.lines().count().max(1), ..Side::default() };
    if setting == Setting::Code {
        let is_code = |node: Node<'_>| !is_in_case(node) && !is_in_test_module(&source, node);
        let holders = descendants(source.root())
            .filter(|node| source.grammar().holder(node.kind()).is_some() && is_code(*node))
            .filter_map(|node| node.child_by_field_name("name"))
            .map(|name| source.text(name).to_owned());
        let named = all.iter().filter(|function| !function.is_inner && is_code(function.node));
        side.definitions = named
            .map(|function| function.name.clone())
            .chain(holders)
            .filter(|name| name.len() > 1)
            .collect();
        let leaves = descendants(source.root()).filter(|node| node.child_count() == 0 && is_code(*node));
        side.words = leaves.flat_map(|node| long_words(source.text(node))).collect();
    }
    side.cases = found.iter().map(|case| read_case(&source, case)).collect();
    if matches!(language, SourceLanguage::Python | SourceLanguage::Ruby) {
        drop_replaced(&mut side.cases);
    }
    side
}

/// A second function of the same name replaces the first.
fn drop_replaced(cases: &mut Vec<ReadCase>) {
    let mut kept: Vec<ReadCase> = Vec::new();
    for case in cases.drain(..) {
        // Tests that are calls have titles, and each of them runs.
        if !case.name.starts_with(['"', '\'']) {
            kept.retain(|other| !other.is_same(&case));
        }
        kept.push(case);
    }
    *cases = kept;
}

fn is_in_test_module(source: &Source, node: Node<'_>) -> bool {
    source.language() == SourceLanguage::Rust
        && std::iter::successors(Some(node), Node::parent).any(|one| {
            one.kind() == "mod_item"
                && one.child_by_field_name("name").is_some_and(|name| source.text(name).starts_with("test"))
        })
}

fn long_words(text: &str) -> impl Iterator<Item = String> {
    words(text).filter(|word| word.len() > 2 && word.contains(char::is_alphabetic)).map(str::to_owned)
}

fn read_case(source: &Source, case: &TestCase<'_>) -> ReadCase {
    let text = source.text(case.node);
    let real = case.assertions.iter().filter(|one| !one.is_hollow && one.runs != Runs::Times(0));
    let inside = descendants(case.node).filter(|node| {
        node.is_named() && node.id() != case.node.id() && is_any_function(source, node.kind())
    });
    ReadCase {
        name: case.name.clone(),
        scope: case.scope.clone(),
        first: line_of(case.node),
        last: case.node.end_position().row + 1,
        assertions: real
            .map(|one| ReadAssertion {
                key: one.key.clone(),
                text: source.text(one.node).to_owned(),
                strength: one.strength,
                subjects: one.subjects.clone(),
                runs: one.runs,
                words: long_words(&one.key).chain(long_words(source.text(one.node))).collect(),
            })
            .collect(),
        skip: case.skip,
        is_only: case.is_only,
        conditions: conditions(source, case),
        words: long_words(text).collect(),
        calls: calls(text, &case.name),
        binds: inside.filter_map(|node| bound_name(source, node)).map(str::to_owned).collect(),
    }
}

/// The names that stand before a bracket: what a test calls, in every language, and in macros whose arguments are no tree.
fn calls(text: &str, own: &str) -> HashSet<String> {
    const USUAL: [&str; 22] = [
        "len", "range", "str", "int", "list", "dict", "set", "format", "print", "println", "vec", "String",
        "Some", "None", "Err", "unwrap", "clone", "into", "iter", "func", "function", "def",
    ];
    text.match_indices('(')
        .filter_map(|(at, _)| {
            let before = text.get(..at)?.trim_end_matches('!');
            let start = before
                .char_indices()
                .rev()
                .take_while(|(_, letter)| letter.is_alphanumeric() || *letter == '_')
                .last()
                .map(|(place, _)| place)?;
            before.get(start..)
        })
        .filter(|name| name.len() > 1 && !USUAL.contains(name) && *name != own && !is_of_a_runner(name))
        .map(str::to_owned)
        .collect()
}

/// Names that frameworks of tests have, which say nothing of what is tested.
fn is_of_a_runner(name: &str) -> bool {
    const STARTS: [&str; 16] = [
        "assert", "expect", "toBe", "toEqual", "toHave", "toMatch", "toThrow", "toStrict", "describe",
        "test", "it", "Fatal", "Error", "Run", "require", "should",
    ];
    const WHOLE: [&str; 12] =
        ["if", "for", "while", "eq", "to", "is", "raises", "parametrize", "each", "not_to", "case", "switch"];
    let lower = name.to_lowercase();
    STARTS.iter().any(|start| name.starts_with(start)) && name != "items" && !name.starts_with("iter")
        || lower.starts_with("assert")
        || lower.starts_with("expect")
        || WHOLE.contains(&name)
}

/// What must hold for a test to be built or run: conditions of the compiler, of the preprocessor, of the runner.
fn conditions(source: &Source, case: &TestCase<'_>) -> BTreeSet<String> {
    match source.language() {
        SourceLanguage::Rust => {
            let of_modules = std::iter::successors(Some(case.node), Node::parent).flat_map(|one| {
                std::iter::successors(one.prev_named_sibling(), Node::prev_named_sibling)
                    .take_while(|before| {
                        before.kind().contains("attribute") || before.kind().contains("comment")
                    })
                    .filter(|before| before.kind() == "attribute_item")
                    .collect::<Vec<_>>()
            });
            let inner =
                named_children(source.root()).into_iter().filter(|one| one.kind() == "inner_attribute_item");
            of_modules
                .chain(inner)
                .map(|node| one_line(source.text(node)))
                .filter(|text| text.contains("cfg(") && !text.contains("[cfg(test)]"))
                .collect()
        }
        SourceLanguage::Go => source
            .whole()
            .lines()
            .take_while(|line| !line.starts_with("package"))
            .filter(|line| line.starts_with("//go:build") || line.starts_with("// +build"))
            .map(one_line)
            .collect(),
        SourceLanguage::C | SourceLanguage::Cpp => std::iter::successors(case.node.parent(), Node::parent)
            .filter(|one| one.kind().starts_with("preproc_if"))
            .map(|one| one_line(source.text(one).lines().next().unwrap_or_default()))
            .collect(),
        SourceLanguage::Python => case
            .header
            .lines()
            .map(str::trim)
            .filter(|line| {
                line.contains("skipif(") || line.contains("skipIf(") || line.contains("skipUnless(")
            })
            .map(one_line)
            .collect(),
        SourceLanguage::JavaScript
        | SourceLanguage::TypeScript
        | SourceLanguage::Tsx
        | SourceLanguage::Java
        | SourceLanguage::Ruby
        | SourceLanguage::Php
        | SourceLanguage::CSharp
        | SourceLanguage::Shell => BTreeSet::new(),
    }
}

/// Whether a condition is one that nobody ever fulfils.
pub(crate) fn is_never(condition: &str) -> bool {
    condition.contains("any()")
        || condition.ends_with("#if 0")
        || words(condition).any(|word| ["never", "ignore"].contains(&word))
}
