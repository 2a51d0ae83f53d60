//! The command line. What is done with a tool call is in the engine (`checkrein_engine`); here people are talked to.
//!
//! | module | holds |
//! |---|---|
//! | `api` | what `--json` prints, and its schema |
//! | `arguments` | every command with its options, help and examples |
//! | `dispatch` | from the words of a command line to the command |
//! | `commands` | one file for each command |
//! | `authentications` | writing down who authenticated |
//! | `credentials` | what agents need to log in, in the keyring or a file |
//! | `secure_deletion` | files that held something secret, written over and removed |
//! | `signature` | signatures of policies |
//! | `moments` | since when, as a user writes it |
//! | `phrases` | what the kinds of records are called for people |
//! | `render` | what records and times are in words |
//! | `terminal` | colour, tables, questions |

#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "what only `exec`, `run` and `route` need is there all the same")
)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod api;
mod arguments;
mod authentications;
pub mod commands;
pub mod credentials;
mod dispatch;
mod moments;
pub mod phrases;
pub mod render;
mod secure_deletion;
mod signature;
pub mod terminal;

pub use dispatch::{fault_of_words, run};
