//! Wire types: what crosses the edge of the process or is kept on disk.
//!
//! | module | holds |
//! |---|---|
//! | `hook` | what a client's hook tells and what it is told |
//! | `record` | the records of a session's ledger |
//! | `older` | what older versions wrote in another way |
//! | `usage` | tokens and money |
//! | `batch` | the questions and answers of `check --batch` |
//!
//! **Invariants.** Types and their spelling only, older spellings with them, no logic.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod batch;
mod hook;
mod older;
mod record;
mod usage;

pub use batch::*;
pub use hook::*;
pub use record::*;
pub use usage::*;
