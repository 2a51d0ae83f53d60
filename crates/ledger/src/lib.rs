//! The hash-chained record of a session, its verifier and its state.
//!
//! | module | holds |
//! |---|---|
//! | `home` | the state directory: where everything lies, private files |
//! | `session` | appending to a ledger under a lock, and repairing its end |
//! | `line` | one line: how a record gets its hash and how it is checked |
//! | `state` | the compact state that judging the next action needs |
//! | `spent` | what a session has spent: tokens, money, processes, bytes |
//! | `cache` | the state on disk |
//! | `heads` | the last records of ledgers, written down elsewhere as witnesses |
//! | `read` | reading records: all, the last ones, those of one action |
//! | `verify` | finding edits, deletions, reordering, truncation |
//! | `listing` | all sessions at a glance |
//! | `halt` | halt files |
//! | `retention` | removing old sessions, with a record of what went |
//! | `testimony` | what is kept of sessions outside, so that the loss of records shows |
//! | `export` | JSON Lines and CSV |
//! | [`mask`] | taking secrets and personal data out of everything that is written |
//!
//! **Invariants.** The ledger is the truth: the state is a cache that equals what the records say, and no record is changed or
//! taken out of a ledger. An append costs the same however long the ledger is. Everything is masked before it is written. Damage is
//! reported, never smoothed over. Times come from the caller.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod cache;
mod deeds;
mod error;
mod export;
mod halt;
mod heads;
mod home;
mod line;
mod listing;
pub mod mask;
mod read;
mod retention;
mod session;
mod spent;
mod state;
mod testimony;
mod verify;

pub use error::LedgerError;
pub use export::{ExportError, export_csv, export_csv_header, export_json_lines};
pub use halt::{Halt, HaltTarget, Lifted, halt, halted, is_halted, resume};
pub use home::{FolderName, StateHome};
pub use line::{content_hash, first_prev};
pub use listing::{SessionSummary, sessions};
pub use read::{Line, Lines, find, last, lines};
pub use retention::prune;
pub use session::{Appended, Durability, KnownSession, LOCK_WAIT, SessionLedger};
pub use spent::{Cost, Spent};
pub use state::{SessionState, VerdictCounts, bounds, file_operations};
pub use testimony::{Testified, Testimony};
pub use verify::{
    Broken, BrokenKind, HomeVerification, Verification, verify, verify_against, verify_all, verify_session,
};
