//! The text of programming languages, read: Python and JavaScript by parsers of theirs into one form of tree, Perl, Ruby, PHP, Lua and R by
//! the rules of their words into tokens.
//!
//! | module | holds |
//! |---|---|
//! | [`token`] | languages and tokens |
//! | `lexer` | text to tokens |
//! | [`tree`] | the own form of syntax trees |
//! | `reading` | text to trees, by parsers |
//!
//! **Invariants.** Total: any text gives tokens or a tree, and what could not be read is said to be broken. Work is bounded by bytes, depth
//! and time. No type of a parser leaves `reading`. What the text would do is nothing of this crate.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod lexer;
mod reading;
pub mod token;
pub mod tree;

pub use lexer::tokens;
pub use reading::parse;
pub use token::Language;
