//! The two programs: the hook that clients start for every event, and the command line. What both do with a tool call is in the engine
//! (`checkrein_engine`); here people are talked to, and the standard input of a hook becomes an answer.
//!
//! | module | holds |
//! |---|---|
//! | `edge` | the hook's edge: standard input to one JSON answer, whatever happens |
//! | `commands` | one file for each command of the full program |
//! | `credentials` | what agents need to log in, in the keyring or a file |
//! | `deletion` | files that held something secret, written over and removed |
//! | `terminal` | colour, tables, questions |
//!
//! **Invariants.** Nothing crosses the hook's edge but through [`checkrein_engine::fail_closed`]. The hook starts no
//! runtime, opens no database, and no process but the one that tells people, where they want to be told.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod commands;
pub mod credentials;
mod deletion;
pub mod edge;
pub mod terminal;
