//! Functions that do little, and beside which somebody says that this is not all: in a comment, a description, a message, or by what the
//! code looks like.
//!
//! How much must be said depends on how little is done. A function that looks at no state knows no time, so one that gives back a fixed value
//! or fails whatever it is given, and speaks of "yet" or "later", speaks of its own making.

use tree_sitter::Node;

use crate::act::{Act, acts, called, unwrapped, whole_callee};
use crate::admission::{Beside, admission_of, message_admits};
use crate::body::above;
use crate::comment::{holds_code, holds_lines_of_code};
use crate::finding::FindingKind;
use crate::function::{Function, words};
use crate::language::SourceLanguage;
use crate::remark::is_meant;
use crate::slight::{Little, behind, little, parameters};
use crate::source::{Source, descendants, named_children};
use crate::telling::is_output;

/// How many statements one after the other are still few (ours).
const FEW: usize = 4;

/// How many nodes they have at most together (ours).
const NODES: usize = 120;

/// What is left of a body behind the guards at its beginning.
struct Rest<'a, 't> {
    statements: Vec<&'a (Node<'t>, Act)>,
    /// Where it begins.
    from: usize,
    beside: Beside,
}

/// What shows that a function is not written; `None` where nothing does, and where it does more than a little.
pub(crate) fn admitted<'t>(
    source: &'t Source,
    function: &Function<'t>,
    done: &[(Node<'t>, Act)],
) -> Option<(Node<'t>, FindingKind)> {
    let rest = rest(source, function, done)?;
    if let Some(raised) = failing_message(source, &rest) {
        return Some((raised, FindingKind::NotImplemented));
    }
    if let Some(comment) = admitting_comment(source, function, done, &rest) {
        return Some((comment, FindingKind::FakeResult));
    }
    // The lines that would do it were taken out.
    if matches!(rest.beside, Beside::Nothing | Beside::Small)
        && holds_lines_of_code(source, &[], &function.comments)
    {
        return function.comments.first().map(|comment| (*comment, FindingKind::FakeResult));
    }
    if rest.beside != Beside::Nothing || rest.from != 0 {
        return None;
    }
    told(source, function, &rest).map(|node| (node, FindingKind::FakeResult))
}

fn rest<'a, 't>(
    source: &'t Source,
    function: &Function<'t>,
    done: &'a [(Node<'t>, Act)],
) -> Option<Rest<'a, 't>> {
    let mut statements: Vec<&(Node<'t>, Act)> = done
        .iter()
        .filter(|(node, act)| {
            !matches!(act, Act::Nothing | Act::Description) && !names_what_is_unused(source, *node)
        })
        .collect();
    let guards = statements.iter().take_while(|(node, _)| is_guard(source, *node)).count();
    let from =
        guards.checked_sub(1).and_then(|last| statements.get(last)).map_or(0, |(node, _)| node.end_byte());
    statements.drain(..guards);
    if statements.is_empty() || statements.len() > FEW {
        return None;
    }
    let computes_nothing = statements.iter().all(|(node, act)| match act {
        Act::FixedValue | Act::MadeValue | Act::Output | Act::End | Act::Pretence => true,
        Act::Work => {
            little(source, function, *node, *act).is_some_and(|one| one != Little::Small)
                || only_waits(source, *node)
        }
        Act::Nothing | Act::Description | Act::Unwritten(_) => false,
    });
    let is_small = |(node, act): &&(Node<'t>, Act)| {
        matches!(act, Act::FixedValue | Act::MadeValue | Act::Output | Act::End | Act::Pretence)
            || little(source, function, *node, *act).is_some()
    };
    let beside = match () {
        () if computes_nothing && guards == 0 => Beside::Nothing,
        () if statements.iter().all(is_small) => Beside::Small,
        () if is_straight(source, &statements) || computes_nothing => Beside::Little,
        () => return None,
    };
    Some(Rest { statements, from, beside })
}

/// Whether statements go one after the other and are small.
fn is_straight(source: &Source, statements: &[&(Node<'_>, Act)]) -> bool {
    let grammar = source.grammar();
    let mut count = 0;
    statements.iter().all(|(node, _)| {
        descendants(*node).filter(Node::is_named).all(|part| {
            count += 1;
            let first = part.kind().split('_').next().unwrap_or_default();
            // A function that is given back is what the function is; other ones inside are judged by themselves.
            let is_loop = matches!(first, "for" | "while" | "loop" | "do" | "until" | "foreach" | "enhanced")
                && !grammar.returns.contains(&part.kind());
            count <= NODES && !is_loop
        })
    })
}

/// `let _ = (message, key);`: says that they are not used.
fn names_what_is_unused(source: &Source, statement: Node<'_>) -> bool {
    let text = source.text(statement).trim();
    match source.language() {
        SourceLanguage::Rust => {
            text.starts_with("let _ =") && !text.contains(['.', '?']) && !has_call(source, statement)
        }
        SourceLanguage::Go | SourceLanguage::CSharp => {
            text.starts_with("_ =") && !has_call(source, statement)
        }
        SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx => {
            text.starts_with("void ") && !has_call(source, statement)
        }
        SourceLanguage::Python => {
            text.starts_with("del ") || text.starts_with("_ =") && !has_call(source, statement)
        }
        SourceLanguage::Java
        | SourceLanguage::C
        | SourceLanguage::Cpp
        | SourceLanguage::Ruby
        | SourceLanguage::Php => false,
        // Gives what the function was given a name.
        SourceLanguage::Shell => text.starts_with("local ") && !text.contains("$(") && !text.contains('`'),
    }
}

fn has_call(source: &Source, node: Node<'_>) -> bool {
    descendants(node).any(|part| called(source, part).is_some())
}

/// Whether a statement only leaves the function under a condition: with a fixed value, or an error.
fn is_guard(source: &Source, statement: Node<'_>) -> bool {
    let grammar = source.grammar();
    let node = unwrapped(grammar, statement);
    let leaves = |body: Node<'_>| {
        let inside = acts(source, body);
        !inside.is_empty()
            && inside.iter().all(|(node, act)| match act {
                Act::FixedValue | Act::MadeValue | Act::Output | Act::End | Act::Nothing => true,
                Act::Work => fails(source, *node) || gives_back_small(source, *node),
                Act::Description | Act::Unwritten(_) | Act::Pretence => false,
            })
    };
    match node.kind() {
        "if_statement" | "if_expression" | "if" | "unless" => {
            let has_more = node.child_by_field_name("alternative").is_some()
                || named_children(node).iter().any(|child| child.kind().starts_with("else"));
            !has_more
                && ["consequence", "body"]
                    .iter()
                    .find_map(|field| node.child_by_field_name(field))
                    .is_some_and(leaves)
        }
        "if_modifier" | "unless_modifier" => node
            .child_by_field_name("body")
            .is_some_and(|body| grammar.returns.contains(&body.kind()) || fails(source, body)),
        _ => false,
    }
}

/// Whether a statement gives back a name, or an expression without a call.
fn gives_back_small(source: &Source, statement: Node<'_>) -> bool {
    let node = unwrapped(source.grammar(), statement);
    source.grammar().returns.contains(&node.kind()) && !has_call(source, node)
}

/// Whether a statement fails.
fn fails(source: &Source, statement: Node<'_>) -> bool {
    let grammar = source.grammar();
    let node = unwrapped(grammar, statement);
    if grammar.raises.contains(&node.kind()) {
        return true;
    }
    let value = if grammar.returns.contains(&node.kind()) {
        named_children(node).last().map_or(node, |value| unwrapped(grammar, *value))
    } else {
        node
    };
    let value = match value.kind() {
        "expression_list" => named_children(value).last().copied().unwrap_or(value),
        _ => value,
    };
    called(source, value).is_some_and(|(callee, _)| {
        let whole = whole_callee(source, value, callee);
        let plain = callee.split('<').next().unwrap_or(callee);
        let last = crate::act::last_name(callee);
        [callee, plain, last, whole.as_str()].iter().any(|name| grammar.failing_calls.contains(name))
            && !is_output(callee)
    })
}

/// Whether a loop does nothing but wait.
fn only_waits(source: &Source, statement: Node<'_>) -> bool {
    let node = unwrapped(source.grammar(), statement);
    let is_loop = ["for", "while", "loop"].contains(&node.kind().split('_').next().unwrap_or_default());
    is_loop
        && node.child_by_field_name("body").is_some_and(|body| {
            acts(source, body).iter().all(|(inner, act)| match act {
                Act::Nothing | Act::Output => true,
                Act::Work => {
                    let inner = unwrapped(source.grammar(), *inner);
                    called(source, inner).is_some_and(|(callee, _)| {
                        crate::telling::is_pause(&whole_callee(source, inner, callee))
                    })
                }
                Act::Description
                | Act::Unwritten(_)
                | Act::FixedValue
                | Act::MadeValue
                | Act::Pretence
                | Act::End => false,
            })
        })
}

/// The error that the function ends with whatever it is given, where its message says that the work is still to be done.
fn failing_message<'t>(source: &Source, rest: &Rest<'_, 't>) -> Option<Node<'t>> {
    let ((last, _), before) = rest.statements.split_last()?;
    let is_last = fails(source, *last) && before.iter().all(|(_, act)| *act == Act::Output);
    let texts = source.grammar().texts;
    (is_last
        && descendants(*last).any(|part| texts.contains(&part.kind()) && message_admits(source.text(part))))
    .then_some(*last)
}

/// The comment that says that the code beside it is not all.
fn admitting_comment<'t>(
    source: &'t Source,
    function: &Function<'t>,
    done: &[(Node<'t>, Act)],
    rest: &Rest<'_, 't>,
) -> Option<Node<'t>> {
    let inside: Vec<Node<'t>> = function
        .comments
        .iter()
        .copied()
        .chain(behind(source, function))
        .filter(|comment| comment.start_byte() >= rest.from && !is_about_a_part(*comment))
        .filter(|comment| rest.beside == Beside::Nothing || !is_about_a_branch(source, function, *comment))
        .collect();
    let inside = runs(source, &inside);
    let described = done.iter().filter(|(_, act)| *act == Act::Description).map(|(node, _)| *node);
    let mut around = above(source, function);
    around.reverse();
    let texts: Vec<(Node<'t>, String)> =
        described.map(|node| (node, source.text(node).to_owned())).chain(runs(source, &around)).collect();
    if inside.is_empty() && texts.is_empty() {
        return None;
    }
    let shown = i32::from(leaves_unused(source, function));
    // Code that is explained at several places is not put off.
    let is_one = rest.beside == Beside::Nothing || inside.len() == 1;
    let admitting = inside.iter().find(|(_, text)| {
        is_one && admission_of(&function.name, text).is_of_unfinished(rest.beside, shown) && !is_meant(text)
    });
    if let Some((comment, _)) = admitting {
        return Some(*comment);
    }
    if !inside.is_empty() && rest.beside != Beside::Nothing {
        return None;
    }
    texts
        .into_iter()
        .find(|(_, text)| admission_of(&function.name, text).is_described(shown) && !is_meant(text))
        .map(|(node, _)| node)
}

/// Whether a comment stands inside of a value, of which it describes a part: a field, an argument.
fn is_about_a_part(comment: Node<'_>) -> bool {
    const VALUES: [&str; 14] = [
        "field_initializer_list",
        "object",
        "array",
        "dictionary",
        "list",
        "argument_list",
        "arguments",
        "initializer_list",
        "initializer_expression",
        "hash",
        "literal_value",
        "array_expression",
        "tuple",
        "tuple_expression",
    ];
    comment.parent().is_some_and(|parent| VALUES.contains(&parent.kind()))
}

/// Whether a comment stands on the line of a statement that does nothing, in a block inside of the body: that branch is left open.
fn is_about_a_branch(source: &Source, function: &Function<'_>, comment: Node<'_>) -> bool {
    let row = comment.start_position().row;
    descendants(function.node).any(|node| {
        source.grammar().nothing.contains(&node.kind())
            && node.end_position().row == row
            && node.parent().map(|block| block.id()) != function.body.map(|body| body.id())
    })
}

/// Comments on lines one after the other as one text: a sentence goes over several.
fn runs<'t>(source: &Source, comments: &[Node<'t>]) -> Vec<(Node<'t>, String)> {
    let mut found: Vec<(Node<'t>, usize, String)> = Vec::new();
    for comment in comments {
        let row = comment.start_position().row;
        match found.last_mut() {
            Some((_, last, text)) if row == *last + 1 => {
                text.push('\n');
                text.push_str(source.text(*comment));
                *last = comment.end_position().row;
            }
            _ => found.push((*comment, comment.end_position().row, source.text(*comment).to_owned())),
        }
    }
    found.into_iter().map(|(node, _, text)| (node, text)).collect()
}

/// Whether a function is given something by a name that its body does not have.
fn leaves_unused(source: &Source, function: &Function<'_>) -> bool {
    let (Some(list), Some(body)) = (parameters(function), function.body) else { return false };
    if function.overrides {
        return false;
    }
    let used: std::collections::HashSet<&str> = descendants(body)
        .filter(|part| part.named_child_count() == 0 && !source.grammar().comments.contains(&part.kind()))
        .map(|part| source.text(part))
        .collect();
    let text = source.text(body);
    named_children(list).into_iter().any(|parameter| {
        let whole = source.text(parameter);
        let name = match source.language() {
            SourceLanguage::C | SourceLanguage::Cpp | SourceLanguage::Java | SourceLanguage::CSharp => {
                words(whole).last()
            }
            SourceLanguage::Php => whole.split_once('$').and_then(|(_, name)| words(name).next()),
            _ => words(whole).find(|word| !["mut", "ref", "const"].contains(word)),
        };
        name.is_some_and(|name| {
            !["self", "cls", "mcs", "this", "void"].contains(&name)
                && (!used.contains(name) && !used.contains(format!("${name}").as_str())
                    || text.contains(&format!("(void){name};")))
        })
    })
}

/// What a body that computes nothing tells people: that the work was done, which it was not, or that it is still to be done; or the code that
/// would do it stands in a comment.
fn told<'t>(source: &'t Source, function: &Function<'t>, rest: &Rest<'_, 't>) -> Option<Node<'t>> {
    let grammar = source.grammar();
    let is_told = |node: &Node<'t>| {
        let inner = unwrapped(grammar, *node);
        called(source, inner)
            .is_some_and(|(callee, _)| is_output(callee) || is_output(&whole_callee(source, inner, callee)))
            || matches!(inner.kind(), "echo_statement" | "print_intrinsic")
    };
    let told: Vec<Node<'t>> =
        rest.statements.iter().map(|(node, _)| *node).filter(|node| is_told(node)).collect();
    // The code that would do it stands in a comment.
    if (!told.is_empty() || leaves_unused(source, function))
        && let Some(comment) = function.comments.iter().find(|comment| holds_code(source, **comment))
    {
        return Some(*comment);
    }
    if told.is_empty() {
        return None;
    }
    let messages = || {
        told.iter()
            .flat_map(|node| descendants(*node).map(move |part| (*node, part)))
            .filter(|(_, part)| grammar.texts.contains(&part.kind()) || part.kind() == "word")
    };
    let previews = ["dry", "preview", "plan", "explain", "simulat", "mock", "fake", "stub", "usage", "help"]
        .iter()
        .any(|word| function.name.to_lowercase().contains(word));
    if previews {
        return None;
    }
    let admits = messages().find(|(_, part)| {
        let text = source.text(*part);
        let said = admission_of(&function.name, text);
        said.is_told() || text.to_lowercase().contains("no-op")
    });
    let claims = || messages().find(|(_, part)| claims(&function.name, source.text(*part)));
    admits.or_else(claims).map(|(node, _)| node)
}

/// Whether a message says that what the function is called after was done: `save` that prints "Saved".
fn claims(name: &str, message: &str) -> bool {
    const TELLING: [&str; 22] = [
        "print", "log", "show", "report", "warn", "echo", "display", "usage", "notify", "announce", "debug",
        "info", "say", "tell", "trace", "dump", "list", "is", "has", "on", "fail", "end",
    ];
    const IRREGULAR: [(&str, &str); 6] = [
        ("send", "sent"),
        ("build", "built"),
        ("write", "written"),
        ("make", "made"),
        ("do", "done"),
        ("run", "ran"),
    ];
    // What a language calls by itself is named by it.
    if name.starts_with("__") && name.ends_with("__") {
        return false;
    }
    let Some(verb) = first_word(name) else { return false };
    if verb.len() < 3 || TELLING.contains(&verb.as_str()) {
        return false;
    }
    let lower = message.to_lowercase();
    let said: Vec<&str> = words(&lower).collect();
    let doubled = verb.chars().next_back().map(|last| format!("{verb}{last}ed")).unwrap_or_default();
    let without_e = verb.strip_suffix('e').unwrap_or(&verb);
    let forms = [
        format!("{without_e}ed"),
        doubled,
        verb.strip_suffix('y').map_or_else(String::new, |stem| format!("{stem}ied")),
    ];
    let is_form = |word: &str| forms.iter().any(|form| form == word);
    let is_done = said.iter().any(|word| is_form(word))
        || IRREGULAR.iter().any(|(base, done)| *base == verb && said.contains(done))
        || said.contains(&verb.as_str())
            && [
                "finished",
                "complete",
                "completed",
                "succeeded",
                "successful",
                "successfully",
                "done",
                "called",
            ]
            .iter()
            .any(|word| said.contains(word));
    is_done
        && !said
            .iter()
            .any(|word| ["not", "no", "nothing", "cannot", "could", "must", "been", "already"].contains(word))
}

/// The first word of a name in small letters.
fn first_word(name: &str) -> Option<String> {
    let name = name.trim_start_matches('_');
    let mut word = String::new();
    for letter in name.chars() {
        let ends = !letter.is_alphanumeric() || letter.is_uppercase() && !word.is_empty();
        if ends {
            break;
        }
        word.extend(letter.to_lowercase());
    }
    (!word.is_empty()).then_some(word)
}
