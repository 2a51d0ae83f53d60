//! JavaScript and TypeScript, read by the parser of Oxc.

mod definitions;
mod expressions;
mod statements;
mod targets;

use oxc_allocator::Allocator;
use oxc_ast::ast::PropertyKey;
use oxc_parser::Parser;
use oxc_span::SourceType;

use super::Nesting;
use crate::tree::{Statement, SyntaxTree};

/// The tree of JavaScript code, or of TypeScript code when it is none.
pub(super) fn read(text: &str) -> SyntaxTree {
    let tree = read_as(text, SourceType::mjs().with_jsx(true));
    if tree.problem.is_none() {
        return tree;
    }
    // `with` and old forms of numbers are only known outside modules, types only to TypeScript.
    for other in [SourceType::cjs(), SourceType::ts()] {
        let other = read_as(text, other);
        if other.problem.is_none() {
            return other;
        }
    }
    tree
}

fn read_as(text: &str, source: SourceType) -> SyntaxTree {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, source).parse();
    let problem = (parsed.panicked || !parsed.diagnostics.is_empty()).then_some("cannot be read as a whole");
    let mut reader = Reader::default();
    let statements = reader.with_reserved(|reader| reader.statements(&parsed.program.body));
    SyntaxTree { statements, problem: reader.nesting.problem(problem) }
}

#[derive(Default)]
struct Reader {
    nesting: Nesting,
    /// What the present function declares with `var`.
    reserved: Vec<String>,
}

impl Reader {
    /// The statements of a function or a file, behind the names that it declares anywhere with `var`.
    fn with_reserved(&mut self, read: impl FnOnce(&mut Self) -> Vec<Statement>) -> Vec<Statement> {
        let outer = std::mem::take(&mut self.reserved);
        let mut statements = read(self);
        let names = std::mem::replace(&mut self.reserved, outer);
        if !names.is_empty() {
            statements.insert(0, Statement::Reserve(names));
        }
        statements
    }
}

/// The key of an entry or a member, when it is written as it is.
fn key(key: &PropertyKey<'_>) -> Option<String> {
    match key {
        PropertyKey::StaticIdentifier(name) => Some(name.name.to_string()),
        PropertyKey::PrivateIdentifier(name) => Some(format!("#{}", name.name)),
        PropertyKey::StringLiteral(text) => Some(text.value.to_string()),
        PropertyKey::NumericLiteral(number) => Some(number.value.to_string()),
        _ => None,
    }
}
