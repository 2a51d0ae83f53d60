//! The functions of a text, and where each of them stands.

use std::collections::HashSet;

use tree_sitter::Node;

use crate::grammar::Holder;
use crate::language::SourceLanguage;
use crate::source::{Source, descendants, named_children};

/// Where a function stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Outside of everything.
    Free,
    /// In a class or the like.
    Class,
    /// In something whose functions others write: an interface, trait, protocol, abstract class.
    Contract,
    /// In something that is not seen: a method that was cut out of its class.
    Unseen,
}

/// A function.
#[derive(Debug)]
pub(crate) struct Function<'t> {
    /// The whole.
    pub(crate) node: Node<'t>,
    /// Its body, where it has one.
    pub(crate) body: Option<Node<'t>>,
    /// Its name; empty where it has none.
    pub(crate) name: String,
    /// Where it stands.
    pub(crate) place: Place,
    /// What stands before the body: decorators, attributes, modifiers, parameters, the result.
    pub(crate) header: &'t str,
    /// The comments in it that are in no function inside of it.
    pub(crate) comments: Vec<Node<'t>>,
    /// Whether it is inside of another function.
    pub(crate) is_inner: bool,
    /// Whether something that is named by its place says that it overrides another.
    pub(crate) overrides: bool,
}

/// All functions, those around others first, and the comments outside of all.
pub(crate) fn functions(source: &Source) -> (Vec<Function<'_>>, Vec<Node<'_>>) {
    let grammar = source.grammar();
    let mut found: Vec<Function<'_>> = Vec::new();
    let mut loose = Vec::new();
    let bases = bases(source);
    // A node, the function around it, and what holds it.
    let mut waiting = vec![(source.root(), None::<usize>, None::<Holding>)];
    while let Some((node, around, holder)) = waiting.pop() {
        let kind = node.kind();
        if grammar.comments.contains(&kind) {
            match around.and_then(|at| found.get_mut(at)) {
                Some(function) => function.comments.push(node),
                None => loose.push(node),
            }
            continue;
        }
        let (mut inside, mut holding) = (around, holder);
        let declares = !grammar.signatures.contains(&kind) || source.is_declared_function(node);
        if node.is_named() && grammar.is_function(kind) && declares {
            found.push(function(source, node, around.is_some(), holder));
            inside = Some(found.len() - 1);
            // What is declared inside of a body belongs to it, not to the class around.
            holding = None;
        } else if node.is_named() && grammar.holder(kind).is_some() {
            holding = Some(self::holding(source, node, &bases));
        }
        let mut cursor = node.walk();
        let first = waiting.len();
        waiting.extend(node.children(&mut cursor).map(|child| (child, inside, holding)));
        if let Some(new) = waiting.get_mut(first..) {
            new.reverse();
        }
    }
    (found, loose)
}

fn function<'t>(source: &'t Source, node: Node<'t>, is_inner: bool, holder: Option<Holding>) -> Function<'t> {
    let body = body_of(source, node);
    let start = beginning(source, node);
    let end = body.map_or(node.end_byte(), |body| body.start_byte());
    let header = source.whole().get(start..end).unwrap_or_default();
    let name = name_of(source, node);
    let (place, overrides) = place(source, node, header, holder, is_inner);
    Function { node, body, name, place, header, comments: Vec::new(), is_inner, overrides }
}

fn body_of<'t>(source: &Source, node: Node<'t>) -> Option<Node<'t>> {
    let body = node.child_by_field_name("body");
    match source.language() {
        // Ruby leaves an empty body out; one in a single expression is a field all the same.
        SourceLanguage::Ruby => body.or(Some(node)),
        _ => body,
    }
}

/// Where decorators and attributes begin that belong to a function.
fn beginning(source: &Source, node: Node<'_>) -> usize {
    if let Some(parent) = node.parent().filter(|parent| parent.kind() == "decorated_definition") {
        return parent.start_byte();
    }
    let mut first = node;
    while let Some(before) = first.prev_named_sibling() {
        let is_attached = matches!(before.kind(), "attribute_item" | "decorator")
            // A comment may stand between attributes.
            || source.grammar().comments.contains(&before.kind())
                && before.prev_named_sibling().is_some_and(|more| more.kind() == "attribute_item");
        if !is_attached {
            break;
        }
        first = before;
    }
    first.start_byte()
}

fn name_of(source: &Source, node: Node<'_>) -> String {
    let named = node.child_by_field_name("name").or_else(|| {
        let mut declarator = node.child_by_field_name("declarator")?;
        while let Some(inner) = declarator.child_by_field_name("declarator") {
            declarator = inner;
        }
        Some(declarator)
    });
    let named = named.or_else(|| {
        // `const f = () => ...`, `{ f: function () {} }`, `f = () => {}` in a class.
        let parent = node.parent()?;
        ["name", "key", "left", "property"].iter().find_map(|field| parent.child_by_field_name(field))
    });
    named.map(|node| source.text(node).to_owned()).unwrap_or_default()
}

fn place(
    source: &Source,
    node: Node<'_>,
    header: &str,
    holder: Option<Holding>,
    is_inner: bool,
) -> (Place, bool) {
    let grammar = source.grammar();
    // Modifiers stand before the parameters, decorators on lines of their own.
    let before = header.split_once('(').map_or(header, |(before, _)| before);
    let decorators = header.lines().map(str::trim).filter(|line| line.starts_with(['@', '[', '#']));
    let words = words(before).chain(decorators.flat_map(words)).collect::<Vec<_>>();
    let overrides = words.iter().any(|word| ["override", "Override", "overrides"].contains(word))
        || header.trim_end().ends_with("override");
    if grammar.contract_words.iter().any(|word| words.contains(word)) {
        return (Place::Contract, overrides);
    }
    let Some(holder) = holder else {
        let is_method = is_method_by_form(source, node);
        return match (source.is_fragment() && !is_inner, is_method) {
            (true, true) => (Place::Unseen, overrides),
            _ => (Place::Free, overrides),
        };
    };
    (holder.place, overrides || holder.is_of_trait)
}

/// What holds a function.
#[derive(Debug, Clone, Copy)]
struct Holding {
    place: Place,
    /// Whether it writes the functions of a trait.
    is_of_trait: bool,
}

/// Looked at once for each class, not for each of its functions.
fn holding(source: &Source, holder: Node<'_>, bases: &HashSet<&str>) -> Holding {
    let name = ["name", "type"].iter().find_map(|field| holder.child_by_field_name(field));
    let place = match source.grammar().holder(holder.kind()) {
        _ if name.is_some_and(|name| source.text(name) == "_Fragment") => Place::Unseen,
        Some(Holder::Contract) => Place::Contract,
        _ if is_contract_by_base(source, holder, bases) => Place::Contract,
        _ => Place::Class,
    };
    Holding { place, is_of_trait: holder.child_by_field_name("trait").is_some() }
}

/// The names that classes of the text derive from, in Python.
fn bases(source: &Source) -> HashSet<&str> {
    if source.language() != SourceLanguage::Python {
        return HashSet::new();
    }
    descendants(source.root())
        .filter(|node| node.kind() == "class_definition")
        .filter_map(|class| class.child_by_field_name("superclasses"))
        .flat_map(|bases| words(source.text(bases)))
        .collect()
}

/// Whether a class says, by its bases, its name or its other methods, that others complete it.
fn is_contract_by_base(source: &Source, holder: Node<'_>, all_bases: &HashSet<&str>) -> bool {
    if source.language() != SourceLanguage::Python {
        return false;
    }
    let grammar = source.grammar();
    let bases = holder.child_by_field_name("superclasses").map(|node| source.text(node)).unwrap_or_default();
    let name = holder.child_by_field_name("name").map(|node| source.text(node)).unwrap_or_default();
    let by_base = words(bases).any(|word| grammar.contract_bases.contains(&word));
    let by_name = ["Base", "Abstract"].iter().any(|start| name.starts_with(start))
        || ["Base", "Interface", "Protocol", "Mixin"].iter().any(|end| name.ends_with(end));
    // One abstract method makes the class one that is not used by itself.
    let by_method = || {
        descendants(holder)
            .filter(|node| node.kind() == "decorator")
            .any(|node| words(source.text(node)).any(|word| grammar.contract_words.contains(&word)))
    };
    by_base || by_name || all_bases.contains(name) || by_method()
}

/// Whether a function is a method by its form: a receiver as its first parameter, or a name and a body without a word that makes it a function.
fn is_method_by_form(source: &Source, node: Node<'_>) -> bool {
    match source.language() {
        SourceLanguage::Python => {
            let parameters = node.child_by_field_name("parameters");
            let first = parameters.and_then(|parameters| parameters.named_child(0));
            first.is_some_and(|first| {
                let name = words(source.text(first)).next();
                name.is_some_and(|name| ["self", "cls", "mcs"].contains(&name))
            })
        }
        SourceLanguage::Rust => {
            let parameters = node.child_by_field_name("parameters");
            parameters
                .is_some_and(|node| named_children(node).iter().any(|one| one.kind() == "self_parameter"))
        }
        SourceLanguage::Java | SourceLanguage::CSharp => true,
        SourceLanguage::Go => node.kind() == "method_declaration",
        SourceLanguage::JavaScript
        | SourceLanguage::TypeScript
        | SourceLanguage::Tsx
        | SourceLanguage::C
        | SourceLanguage::Cpp
        | SourceLanguage::Ruby
        | SourceLanguage::Php
        | SourceLanguage::Shell => false,
    }
}

/// The words of a text: letters, digits, underscores.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty())
}
