//! What the nodes of a syntax tree mean, one table for each language. The rules ask these tables and know no language.

mod braces;
mod scripts;

pub(crate) use braces::{C, CSHARP, GO, JAVA, JAVASCRIPT, RUST};
pub(crate) use scripts::{PHP, PYTHON, RUBY, SHELL};

/// Whether what holds a function expects others to write its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// A class, struct or implementation: its functions have bodies.
    Concrete,
    /// An interface, trait or protocol: its functions need none.
    Contract,
}

/// What the nodes of one language mean. Kinds are names of nodes in the grammar of the language.
#[derive(Debug)]
pub(crate) struct Grammar {
    /// Functions with a name.
    pub(crate) functions: &'static [&'static str],
    /// Functions without a name of their own.
    pub(crate) closures: &'static [&'static str],
    /// Functions that have no body by their nature.
    pub(crate) signatures: &'static [&'static str],
    /// What holds functions.
    pub(crate) holders: &'static [(&'static str, Holder)],
    /// Words before a function or its holder that say that the body is written elsewhere.
    pub(crate) contract_words: &'static [&'static str],
    /// Bases that make their class a contract.
    pub(crate) contract_bases: &'static [&'static str],
    /// Nodes that only group statements.
    pub(crate) blocks: &'static [&'static str],
    /// Nodes around an expression that add nothing to it.
    pub(crate) wrappers: &'static [&'static str],
    /// Statements that do nothing.
    pub(crate) nothing: &'static [&'static str],
    /// Comments.
    pub(crate) comments: &'static [&'static str],
    /// Texts in quotes, as a whole.
    pub(crate) texts: &'static [&'static str],
    /// Statements that raise an error.
    pub(crate) raises: &'static [&'static str],
    /// Statements that give a value back.
    pub(crate) returns: &'static [&'static str],
    /// Calls, with the field that holds what is called.
    pub(crate) calls: &'static [(&'static str, &'static str)],
    /// Literals and names that always have the same value.
    pub(crate) constants: &'static [&'static str],
    /// Collections that are constant when all that they hold is.
    pub(crate) collections: &'static [&'static str],
    /// Texts of expressions that make an empty or default value.
    pub(crate) empty_values: &'static [&'static str],
    /// Names of errors that say that something is not written yet.
    pub(crate) unfinished_errors: &'static [&'static str],
    /// Names of calls that say the same.
    pub(crate) unfinished_calls: &'static [&'static str],
    /// Names of calls that end with an error, whose message says which.
    pub(crate) failing_calls: &'static [&'static str],
    /// Names of calls that wrap a value without changing what it is.
    pub(crate) wrapping_calls: &'static [&'static str],
    /// Names of calls that make an object for tests that takes every call.
    pub(crate) pretences: &'static [&'static str],
    /// What catches errors, with the field that holds its body; an empty field means its block among the children.
    pub(crate) catches: &'static [(&'static str, &'static str)],
    /// Whether the last expression of a body is its value.
    pub(crate) value: Value,
    /// Names of functions that are empty by intent, such as those that take an object apart.
    pub(crate) empty_by_intent: &'static [&'static str],
    /// What a fragment is put into when it does not stand alone: before and after it.
    pub(crate) around: &'static [(&'static str, &'static str)],
    /// What starts a comment to the end of the line.
    pub(crate) line_comments: &'static [&'static str],
    /// Kinds of nodes that show that a text is code, not prose.
    pub(crate) code_signs: &'static [&'static str],
}

/// What the value of a function is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    /// What a statement gives back.
    Returned,
    /// Also the last expression of the body.
    LastExpression,
}

impl Grammar {
    /// Whether a kind of node has its own functions.
    pub(crate) fn is_function(&self, kind: &str) -> bool {
        self.functions.contains(&kind) || self.signatures.contains(&kind)
    }

    /// What holds functions, by kind.
    pub(crate) fn holder(&self, kind: &str) -> Option<Holder> {
        self.holders.iter().find(|(own, _)| *own == kind).map(|(_, holder)| *holder)
    }
}
