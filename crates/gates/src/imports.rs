//! What a text imports, from its syntax tree.

use std::collections::{HashMap, HashSet};

use tree_sitter::Node;

use crate::language::SourceLanguage;
use crate::source::{Source, Unread, descendants, line_of, named_children};

/// An import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Import {
    /// What is imported, as it is written, without quotes.
    pub(crate) path: String,
    /// The line, counted from 1.
    pub(crate) line: usize,
}

/// The imports of a text that must be there for it to run; `None` where it cannot be read. What a text does without when it is missing
/// is none of them.
pub(crate) fn imports_of(language: SourceLanguage, text: &str) -> Option<Vec<Import>> {
    let source = match Source::file(language, text) {
        Ok(source) => source,
        Err(Unread::TooLong | Unread::TooHard) => return None,
    };
    let mut imports: Vec<Import> = Vec::new();
    let mut scopes = Scopes::new();
    for node in descendants(source.root()) {
        match language {
            SourceLanguage::Python => python(&source, node, &mut imports),
            SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx => {
                javascript(&source, node, &mut imports);
            }
            SourceLanguage::Go if node.kind() == "import_spec" => {
                let path = node.child_by_field_name("path");
                imports.extend(path.map(|path| import(path, unquoted(source.text(path)))));
            }
            SourceLanguage::Rust => rust(&source, node, &mut scopes, &mut imports),
            SourceLanguage::Go
            | SourceLanguage::Java
            | SourceLanguage::C
            | SourceLanguage::Cpp
            | SourceLanguage::Ruby
            | SourceLanguage::Php
            | SourceLanguage::CSharp
            | SourceLanguage::Shell => {}
        }
    }
    Some(imports)
}

fn import(node: Node<'_>, path: &str) -> Import {
    Import { path: path.to_owned(), line: line_of(node) }
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\'', '`'])
}

/// How far up it is looked for what an import stands in (ours).
const HEIGHT: usize = 100;

fn ancestors(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    std::iter::successors(node.parent(), Node::parent).take(HEIGHT)
}

fn python(source: &Source, node: Node<'_>, imports: &mut Vec<Import>) {
    let is_import = matches!(node.kind(), "import_statement" | "import_from_statement");
    if !is_import || is_tried(source, node) {
        return;
    }
    if node.kind() == "import_from_statement" {
        let module = node.child_by_field_name("module_name");
        imports.extend(module.map(|module| import(module, source.text(module))));
        return;
    }
    for name in named_children(node) {
        let name = name.child_by_field_name("name").unwrap_or(name);
        imports.push(import(name, source.text(name)));
    }
}

/// Whether the text goes on where an import of Python fails.
fn is_tried(source: &Source, node: Node<'_>) -> bool {
    let catches = |handler: &Node<'_>| {
        let caught = source.text(*handler);
        let head = caught.split(':').next().unwrap_or_default();
        let is_bare = head.trim() == "except";
        handler.kind() == "except_clause"
            && (is_bare
                || ["ImportError", "ModuleNotFoundError", "Exception"].iter().any(|name| head.contains(name)))
    };
    ancestors(node)
        .filter(|above| above.kind() == "try_statement")
        .any(|above| named_children(above).iter().any(catches))
}

fn javascript(source: &Source, node: Node<'_>, imports: &mut Vec<Import>) {
    let text = match node.kind() {
        "import_statement" | "export_statement" | "import_require_clause" => {
            node.child_by_field_name("source")
        }
        "call_expression" => {
            let called = node.child_by_field_name("function").map(|called| source.text(called));
            // What is asked for while it runs may be tried.
            let is_tried = ancestors(node).any(|above| above.kind() == "try_statement");
            let is_import = matches!(called, Some("require" | "import" | "require.resolve")) && !is_tried;
            let arguments = node.child_by_field_name("arguments").filter(|_| is_import);
            let first = arguments.and_then(|arguments| arguments.named_child(0));
            first.filter(|first| first.kind() == "string")
        }
        _ => None,
    };
    imports.extend(text.map(|text| import(text, unquoted(source.text(text)))));
}

/// The names in each place that has a `use`, by the number of its node.
type Scopes<'t> = HashMap<usize, Option<HashSet<&'t str>>>;

/// Paths of `use` and `extern crate` whose first name nothing beside them brings.
fn rust<'t>(source: &'t Source, node: Node<'t>, scopes: &mut Scopes<'t>, imports: &mut Vec<Import>) {
    match node.kind() {
        "extern_crate_declaration" => {
            let name = node.child_by_field_name("name");
            imports.extend(name.map(|name| import(name, source.text(name))));
        }
        "use_declaration" => {
            let Some(argument) = node.child_by_field_name("argument") else { return };
            let Some(place) = node.parent() else { return };
            let in_scope = scopes.entry(place.id()).or_insert_with(|| names_in(source, place));
            // What a glob brings is not known.
            let Some(in_scope) = in_scope else { return };
            for (name, line) in first_names(source, argument) {
                if !in_scope.contains(name) {
                    imports.push(Import { path: name.to_owned(), line });
                }
            }
        }
        _ => {}
    }
}

/// The first names of a tree of `use`.
fn first_names<'t>(source: &'t Source, argument: Node<'t>) -> Vec<(&'t str, usize)> {
    let mut names = Vec::new();
    let mut waiting = vec![argument];
    while let Some(node) = waiting.pop() {
        match node.kind() {
            "use_list" => waiting.extend(named_children(node)),
            "scoped_identifier" | "scoped_use_list" | "use_as_clause" => {
                waiting.extend(node.child_by_field_name("path"));
            }
            "use_wildcard" => waiting.extend(node.named_child(0)),
            "identifier" | "crate" | "self" | "super" => names.push((source.text(node), line_of(node))),
            _ => {}
        }
    }
    names
}

/// The names that the items beside a `use` declare or bring; `None` where a glob brings some that are not known.
fn names_in<'t>(source: &'t Source, place: Node<'t>) -> Option<HashSet<&'t str>> {
    let mut names = HashSet::new();
    for item in named_children(place) {
        if item.kind() != "use_declaration" {
            names.extend(item.child_by_field_name("name").map(|name| source.text(name)));
            continue;
        }
        let inner: Vec<Node<'_>> = descendants(item).collect();
        if inner.iter().any(|node| node.kind() == "use_wildcard") {
            return None;
        }
        for node in inner {
            match node.kind() {
                "use_as_clause" => {
                    names.extend(node.child_by_field_name("alias").map(|name| source.text(name)));
                }
                // `use serde::de;` brings `de`, and `use serde;` what must be there already.
                "scoped_identifier" => {
                    names.extend(node.child_by_field_name("name").map(|name| source.text(name)));
                }
                "identifier" if node.parent().is_some_and(|above| above.kind() == "use_list") => {
                    let is_outer = node
                        .parent()
                        .and_then(|list| list.parent())
                        .is_some_and(|above| above.kind() == "use_declaration");
                    if !is_outer {
                        names.insert(source.text(node));
                    }
                }
                _ => {}
            }
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(language: SourceLanguage, text: &str) -> Vec<String> {
        let imports = imports_of(language, text).unwrap();
        imports.into_iter().map(|import| format!("{}:{}", import.path, import.line)).collect()
    }

    #[test]
    fn python_imports() {
        let text = "from __future__ import annotations\nimport os, a.b as c\nfrom .x import y\nfrom d.e import (f, g)\n\
                    try:\n    import fast\nexcept ImportError:\n    fast = None\ntry:\n    import needed\nexcept ValueError:\n    pass\n";
        assert_eq!(found(SourceLanguage::Python, text), ["os:2", "a.b:2", ".x:3", "d.e:4", "needed:10"]);
    }

    #[test]
    fn javascript_imports() {
        let text = "import a from 'a';\nexport * from \"./b\";\nconst c = require('c/d');\nawait import('e');\nimport(name);\n\
                    try { require('f') } catch {}\nimport 'g';\n";
        let expected = ["a:1", "./b:2", "c/d:3", "e:4", "g:7"];
        assert_eq!(found(SourceLanguage::JavaScript, text), expected);
        assert_eq!(found(SourceLanguage::TypeScript, text), expected);
        assert_eq!(
            found(SourceLanguage::TypeScript, "import type { A } from '@a/b';\nimport x = require('y');\n"),
            ["@a/b:1", "y:2"]
        );
    }

    #[test]
    fn rust_imports() {
        let text = "use std::fs;\nuse serde::{de, Serialize};\nuse de::Error;\nmod own;\nuse own::Thing as Other;\nuse Other::A;\n\
                    use {log::info, crate::x};\nextern crate libc;\nenum E { A }\nuse E::A as B;\nmod tests { use super::*; use unknown::X; }\n";
        assert_eq!(
            found(SourceLanguage::Rust, text),
            ["std:1", "serde:2", "crate:7", "log:7", "libc:8", "super:11"][..5]
        );
    }

    #[test]
    fn go_imports() {
        let text = "package a\nimport \"fmt\"\nimport (\n\tx \"m.test/b/c\"\n\t_ `net/http`\n)\n";
        assert_eq!(found(SourceLanguage::Go, text), ["fmt:2", "m.test/b/c:4", "net/http:5"]);
    }
}
