//! Names that promise a result which depends on what a function is given: `parse_header`, `computeTotal`. A body that gives back nothing, zero or
//! an empty collection whatever it is given breaks that promise.

use tree_sitter::Node;

use crate::act::Act;
use crate::body::above;
use crate::function::{Function, Place, words};
use crate::language::SourceLanguage;
use crate::remark::is_meant;
use crate::source::Source;

/// Verbs of work whose result nobody has beforehand (ours).
const WORK: [&str; 33] = [
    "aggregate",
    "analyze",
    "calculate",
    "calc",
    "compile",
    "compress",
    "compute",
    "convert",
    "decode",
    "decompress",
    "decrypt",
    "derive",
    "deserialize",
    "download",
    "encode",
    "encrypt",
    "estimate",
    "evaluate",
    "extract",
    "fetch",
    "generate",
    "interpolate",
    "measure",
    "merge",
    "normalize",
    "parse",
    "predict",
    "rank",
    "render",
    "serialize",
    "summarize",
    "tokenize",
    "translate",
];

/// Whether a body that always gives the same value breaks what the name of its function promises.
pub(crate) fn is_broken(
    source: &Source,
    function: &Function<'_>,
    value: Node<'_>,
    real: &[&(Node<'_>, Act)],
) -> bool {
    // A comment gives a reason, or puts the work off, which is judged by what it says.
    let is_alone = real.len() == 1 && function.comments.is_empty();
    let is_method_alone = function.place == Place::Unseen && source.language() == SourceLanguage::Python;
    if !is_alone || is_method_alone {
        return false;
    }
    is_empty_handed(source, value) && names_work(&function.name)
        || is_by_itself(source, function)
            && names_deed(source, &function.name)
            && (!is_truth_value(source, value) || names_check(&function.name))
}

/// Whether a statement gives back yes or no.
fn is_truth_value(source: &Source, statement: Node<'_>) -> bool {
    let text = source.text(statement).trim().trim_start_matches("return").trim().trim_end_matches(';').trim();
    let text = text.strip_prefix("Ok(").and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    ["true", "false"].contains(&text.to_lowercase().as_str())
}

/// Whether a function is one of its kind: nothing inherits it and nothing has to have it, it stands under no condition beside another of its name,
/// and nothing says why it is as it is.
fn is_by_itself(source: &Source, function: &Function<'_>) -> bool {
    let before = function.header.split_once('(').map_or(function.header, |(before, _)| before);
    let has_word = |word: &str| words(before).any(|other| other == word);
    let is_own = match (function.place, source.language()) {
        // Methods of a type itself are nobody else's in Rust; those of a trait are said to override.
        (Place::Free, _) | (Place::Class, SourceLanguage::Rust) => true,
        (Place::Class, SourceLanguage::Java | SourceLanguage::CSharp) => {
            has_word("private") || has_word("static")
        }
        (Place::Class, SourceLanguage::Php | SourceLanguage::TypeScript | SourceLanguage::Tsx) => {
            has_word("private")
        }
        (
            Place::Class,
            SourceLanguage::Python
            | SourceLanguage::JavaScript
            | SourceLanguage::Go
            | SourceLanguage::C
            | SourceLanguage::Cpp
            | SourceLanguage::Ruby
            | SourceLanguage::Shell,
        )
        | (Place::Contract | Place::Unseen, _) => false,
    };
    let is_conditional = || {
        std::iter::successors(function.node.parent(), Node::parent)
            .any(|node| CONDITIONS.contains(&node.kind().split('_').next().unwrap_or_default()))
    };
    is_own
        && !function.is_inner
        && !function.overrides
        && !is_method_of_go(source, function)
        && !before.contains(['@', '#'])
        && above(source, function).iter().all(|comment| !explains(source.text(*comment)))
        && !described(source, function).is_some_and(explains)
        && !is_conditional()
}

/// What the kinds of nodes begin with that choose between functions of one name.
const CONDITIONS: [&str; 8] = ["if", "try", "else", "elif", "except", "preproc", "unless", "catch"];

fn is_method_of_go(source: &Source, function: &Function<'_>) -> bool {
    source.language() == SourceLanguage::Go && function.node.kind() == "method_declaration"
}

/// The description that a body of Python begins with.
fn described<'s>(source: &'s Source, function: &Function<'_>) -> Option<&'s str> {
    let first = function.body?.named_child(0)?;
    let text = if first.kind() == "expression_statement" { first.named_child(0)? } else { first };
    (text.kind() == "string").then(|| source.text(text))
}

/// Whether a text says that the same value always is what is meant.
fn explains(text: &str) -> bool {
    const ALWAYS: [&str; 24] = [
        "always",
        "constant",
        "default",
        "defaults",
        "fallback",
        "fixed",
        "never",
        "nothing",
        "no",
        "noop",
        "none",
        "not",
        "override",
        "overridden",
        "only",
        "otherwise",
        "platform",
        "platforms",
        "reserved",
        "same",
        "unused",
        "unsupported",
        "hook",
        "compatibility",
    ];
    let lower = text.to_lowercase();
    is_meant(text) || words(&lower).any(|word| ALWAYS.contains(&word))
}

/// Verbs of a check, whose answer depends on what is checked.
const CHECKS: [&str; 6] = ["authenticate", "authorize", "check", "compare", "validate", "verify"];

/// Further verbs of what a function does to or makes of what it is given (ours). A method may do nothing of it in one class; a function that
/// stands by itself is there to do it.
const DEEDS: [&str; 62] = [
    "apply",
    "assemble",
    "average",
    "build",
    "classify",
    "clean",
    "collect",
    "combine",
    "count",
    "create",
    "crop",
    "deduplicate",
    "detect",
    "diff",
    "distribute",
    "expand",
    "export",
    "filter",
    "find",
    "flatten",
    "format",
    "group",
    "hash",
    "import",
    "index",
    "insert",
    "invert",
    "join",
    "list",
    "load",
    "lookup",
    "make",
    "match",
    "multiply",
    "open",
    "pack",
    "partition",
    "query",
    "read",
    "reduce",
    "replace",
    "request",
    "resample",
    "resolve",
    "retrieve",
    "reverse",
    "round",
    "sample",
    "scale",
    "scan",
    "search",
    "select",
    "simplify",
    "slice",
    "solve",
    "sort",
    "split",
    "sum",
    "transform",
    "transpose",
    "truncate",
    "unpack",
];

/// Words by which a name says that nothing is what it gives.
const ABSENT: [&str; 18] = [
    "none",
    "null",
    "nil",
    "nothing",
    "empty",
    "zero",
    "false",
    "never",
    "no",
    "noop",
    "default",
    "dummy",
    "fake",
    "stub",
    "mock",
    "placeholder",
    "missing",
    "unsupported",
];

/// Whether the first word of a name is a check.
fn names_check(name: &str) -> bool {
    words_of(name).first().is_some_and(|first| CHECKS.contains(&first.as_str()))
}

/// Words that a name begins with whose functions may well give the same whatever they are given: questions, and what others call.
const ASKED: [&str; 36] = [
    "after",
    "allow",
    "allows",
    "are",
    "before",
    "can",
    "cannot",
    "configure",
    "did",
    "does",
    "enter",
    "exit",
    "get",
    "handle",
    "has",
    "have",
    "init",
    "is",
    "may",
    "must",
    "needs",
    "new",
    "on",
    "requires",
    "setup",
    "shall",
    "should",
    "supports",
    "teardown",
    "test",
    "use",
    "visit",
    "wants",
    "was",
    "will",
    "with",
];

/// Whether a name of several words says that something is done, and no word of it says that nothing comes of it. In C, functions are often handed
/// over by their names and have to be there, so only those count that are called after work or a deed.
fn names_deed(source: &Source, name: &str) -> bool {
    let words = words_of(name);
    let Some(first) = words.first().map(String::as_str) else { return false };
    let is_deed = match source.language() {
        SourceLanguage::C | SourceLanguage::Cpp => {
            DEEDS.contains(&first) || WORK.contains(&first) || CHECKS.contains(&first)
        }
        SourceLanguage::Rust
        | SourceLanguage::Python
        | SourceLanguage::JavaScript
        | SourceLanguage::TypeScript
        | SourceLanguage::Tsx
        | SourceLanguage::Go
        | SourceLanguage::Java
        | SourceLanguage::Ruby
        | SourceLanguage::Php
        | SourceLanguage::CSharp
        | SourceLanguage::Shell => !ASKED.contains(&first),
    };
    is_deed && words.len() > 1 && !words.iter().any(|word| ABSENT.contains(&word.as_str()))
}

/// Whether the first word of a name is such a verb, and an object stands behind it: `parse` alone may be a hook that others fill.
fn names_work(name: &str) -> bool {
    let words = words_of(name);
    words.len() > 1 && words.first().is_some_and(|first| WORK.contains(&first.as_str()))
}

/// The words of a name in small letters.
fn words_of(name: &str) -> Vec<String> {
    // `Model::predictPrice` is called after its class too.
    let name = name.rsplit([':', '.']).next().unwrap_or(name);
    let mut words: Vec<String> = Vec::new();
    for letter in name.chars() {
        let begins = letter.is_uppercase() && words.last().is_none_or(|word| !word.is_empty());
        if letter == '_' || letter == '$' || begins || words.is_empty() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut()
            && letter.is_alphanumeric()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a statement gives back nothing, zero, or something empty.
fn is_empty_handed(source: &Source, statement: Node<'_>) -> bool {
    const EMPTY: [&str; 20] = [
        "None",
        "null",
        "nil",
        "NULL",
        "nullptr",
        "undefined",
        "0",
        "0.0",
        "-1",
        "\"\"",
        "''",
        "[]",
        "{}",
        "()",
        "array()",
        "Vec::new()",
        "vec![]",
        "String::new()",
        "Default::default()",
        "default",
    ];
    let text = source.text(statement).trim().trim_start_matches("return").trim().trim_end_matches(';').trim();
    let inside = ["Ok(", "Some("].iter().find_map(|start| text.strip_prefix(start)?.strip_suffix(')'));
    EMPTY.contains(&inside.unwrap_or(text)) && inside != Some("()") && !text.is_empty()
}
