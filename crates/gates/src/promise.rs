//! Names that promise a result which depends on what a function is given: `parse_header`, `computeTotal`. A body that gives back nothing, zero or
//! an empty collection whatever it is given breaks that promise.

use tree_sitter::Node;

use crate::act::Act;
use crate::function::{Function, Place};
use crate::language::SourceLanguage;
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
    is_alone
        && !(function.place == Place::Unseen && source.language() == SourceLanguage::Python)
        && is_empty_handed(source, value)
        && names_work(&function.name)
}

/// Whether the first word of a name is such a verb, and an object stands behind it: `parse` alone may be a hook that others fill.
fn names_work(name: &str) -> bool {
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
    words.len() > 1 && words.first().is_some_and(|first| WORK.contains(&first.as_str()))
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
