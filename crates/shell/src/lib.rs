//! Shell text to a typed tree.
//!
//! [`parse`] is total: whatever the text, it answers a tree plus the [`Problem`]s met on the way.
//! What could not be read is [`Command::Opaque`], never silently nothing.
//!
//! | module | holds |
//! |---|---|
//! | `tree` | the typed tree that everything above this crate sees |
//! | `guard` | [`parse`], [`parse_within`] and the [`ParseLimits`] that keep hostile text from hurting |
//! | `lowering` | the only place that knows the parser: its statements, our words |
//! | `posix` | [`parse_posix`]: the same for a shell that knows no more than POSIX |
//! | `quoting` | a text as one word again |
//! | `substance` | what of a text makes it the command that it is |
//! | `outline` | a tree as one compact line, for tests and for people |
//!
//! **Invariants.** No parser type leaves the lowering module. No input panics, overflows the stack or runs without
//! bound. Nothing that may run is dropped without a trace: what has no place in the tree is opaque or a problem.
//! This crate does not know about risk.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod guard;
mod lowering;
pub mod outline;
mod posix;
mod quoting;
mod substance;
mod tree;

pub use guard::{ParseLimits, parse, parse_within};
pub use posix::parse_posix;
pub use quoting::quoted;
pub use substance::{substance, without_options};
pub use tree::*;
