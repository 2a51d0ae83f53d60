//! A text as a syntax tree, whole file or fragment.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Tree};

use crate::grammar::Grammar;
use crate::language::SourceLanguage;

/// The longest text that is read, in bytes (upstream skips files above 1 MB; here that is said).
pub(crate) const LONGEST: usize = 1024 * 1024;

/// How often the parser may report progress before it is stopped (ours): some 100 times what a file of [`LONGEST`] needs.
const PATIENCE: usize = 2_000_000;

/// Why a text has no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// Longer than [`LONGEST`].
    TooLong,
    /// The parser gave up.
    TooHard,
}

/// A text with its tree.
#[derive(Debug)]
pub(crate) struct Source {
    text: String,
    tree: Tree,
    language: SourceLanguage,
    is_fragment: bool,
}

impl Source {
    /// Reads a whole file.
    pub(crate) fn file(language: SourceLanguage, text: &str) -> Result<Self, Unread> {
        Self::read(language, text.to_owned(), false)
    }

    /// Reads a piece of a file, such as one method: it is put into what it must have stood in, when it reads better so.
    pub(crate) fn fragment(language: SourceLanguage, text: &str) -> Result<Self, Unread> {
        let text = without_indentation(text);
        let grammar = language.grammar();
        let mut best = Self::read(language, text.clone(), true)?;
        for (before, after) in grammar.around {
            if best.faults() == 0 && best.has_function() {
                break;
            }
            let wrapped = Self::read(language, format!("{before}{text}{after}"), true)?;
            if (wrapped.faults(), !wrapped.has_function()) < (best.faults(), !best.has_function()) {
                best = wrapped;
            }
        }
        Ok(best)
    }

    fn read(language: SourceLanguage, text: String, is_fragment: bool) -> Result<Self, Unread> {
        if text.len() > LONGEST {
            return Err(Unread::TooLong);
        }
        let mut parser = Parser::new();
        parser.set_language(&language.tables()).map_err(|_| Unread::TooHard)?;
        let mut steps = 0_usize;
        let mut watch = |_: &tree_sitter::ParseState| {
            steps += 1;
            if steps > PATIENCE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut watch);
        let bytes = text.as_bytes();
        let tree = parser
            .parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
            .ok_or(Unread::TooHard)?;
        Ok(Self { text, tree, language, is_fragment })
    }

    /// The language.
    pub(crate) fn language(&self) -> SourceLanguage {
        self.language
    }

    /// What the nodes mean.
    pub(crate) fn grammar(&self) -> &'static Grammar {
        self.language.grammar()
    }

    /// Whether this is a piece of a file, of which the surroundings are not known.
    pub(crate) fn is_fragment(&self) -> bool {
        self.is_fragment
    }

    /// The root of the tree.
    pub(crate) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// The whole text.
    pub(crate) fn whole(&self) -> &str {
        &self.text
    }

    /// The text of a node.
    pub(crate) fn text(&self, node: Node<'_>) -> &str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// How many bytes and tokens are not understood.
    pub(crate) fn faults(&self) -> usize {
        if !self.root().has_error() {
            return 0;
        }
        let broken = |node: Node<'_>| match () {
            () if node.is_error() => node.byte_range().len().max(1),
            () if node.is_missing() => 1,
            () => 0,
        };
        descendants(self.root()).map(broken).sum()
    }

    fn has_function(&self) -> bool {
        let grammar = self.grammar();
        descendants(self.root()).any(|node| grammar.is_function(node.kind()))
    }

    /// Whether a declaration of C or C++ declares a function; all other signatures do.
    pub(crate) fn is_declared_function(&self, node: Node<'_>) -> bool {
        match self.language {
            SourceLanguage::C | SourceLanguage::Cpp => {
                let mut inner = node.child_by_field_name("declarator");
                while let Some(found) = inner {
                    match found.kind() {
                        "function_declarator" => return true,
                        "pointer_declarator" | "reference_declarator" => {
                            inner = found.child_by_field_name("declarator").or_else(|| found.named_child(0));
                        }
                        _ => return false,
                    }
                }
                false
            }
            _ => true,
        }
    }
}

/// The line of a node, counted from 1.
pub(crate) fn line_of(node: Node<'_>) -> usize {
    node.start_position().row + 1
}

/// All nodes from this one downward, parents first. Does not recurse: a text may be nested as deep as it likes.
pub(crate) fn descendants(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut waiting = vec![node];
    std::iter::from_fn(move || {
        let next = waiting.pop()?;
        let mut cursor = next.walk();
        let first = waiting.len();
        waiting.extend(next.children(&mut cursor));
        if let Some(new) = waiting.get_mut(first..) {
            new.reverse();
        }
        Some(next)
    })
}

/// The named children of a node.
pub(crate) fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// A fragment cut out of its surroundings keeps their indentation; where it begins with one, that is taken away.
fn without_indentation(text: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let indentation = &first[..first.len() - first.trim_start().len()];
    if indentation.is_empty() {
        return text.to_owned();
    }
    let lines = text.split('\n').map(|line| line.strip_prefix(indentation).unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// A text of several lines in one, with single spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
