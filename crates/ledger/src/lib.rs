//! The hash-chained record of a session, its verifier, and what its records come to for whoever keeps it.
//!
//! | module | holds |
//! |---|---|
//! | `state_directory` | the state directory: where everything lies, private files |
//! | `ledger` | appending to a ledger under a lock |
//! | `ledger_file` | the file of a ledger, with what opens sealed records |
//! | `locked` | a ledger under lock, and repairing its end |
//! | `hash_chain` | one line: how a record gets its hash and how it is checked |
//! | `projection` | what the records come to: a value of the caller that follows from them |
//! | `cache` | the projection on disk |
//! | `room` | which actions were answered while nothing could be written |
//! | `anchors` | the last records of ledgers, written down elsewhere as witnesses |
//! | `authentications` | who showed what to get in, in a chain of its own |
//! | `pipeline_records` | what runs of pipelines came to, in a chain of its own |
//! | `side_chain` | a chain beside those of sessions |
//! | `read` | reading records: all, the last ones, those of one action |
//! | `tail` | reading on where a ledger grows |
//! | `verify` | finding edits, deletions, reordering, truncation |
//! | `halt` | halt files |
//! | `retention` | removing sessions, with a record of what went, there and in other stores |
//! | `testimony` | what is kept of sessions outside, so that the loss of records shows |
//! | `event_log` | what records tell that is worth a look, for whatever gathers logs |
//! | `event_forms` | the same for tools for security events: CEF and OCSF |
//! | `export` | JSON Lines and CSV |
//! | [`mask`] | taking secrets and personal data out of everything that is written |
//! | `error` | what can go wrong with a ledger |
//!
//! **Invariants.** The ledger is the truth: the projection is a cache that equals what the records say, and no record is changed or
//! taken out of a ledger. An append costs the same however long the ledger is. Everything is masked before it is written. Damage is
//! reported, never smoothed over. Times come from the caller.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod anchors;
mod authentications;
mod cache;
mod error;
mod event_forms;
mod event_log;
mod export;
mod halt;
mod hash_chain;
mod ledger;
mod ledger_file;
mod locked;
pub mod mask;
mod pipeline_records;
mod projection;
mod read;
mod retention;
mod room;
mod side_chain;
mod state_directory;
mod tail;
mod testimony;
mod verify;

pub use authentications::{
    Authentication, AuthenticationAct, AuthenticationResult, RecordedAuthentication, authentications,
    record_authentication, record_authentications,
};
pub use error::LedgerError;
pub use event_forms::{EventForm, event_line};
pub use event_log::{EVENTS, Event, EventDetail, EventLevel, EventLog, EventWords, event_of, old_events};
pub use export::{ExportError, export_csv, export_csv_header, export_json_lines};
pub use halt::{Halt, HaltTarget, Lifted, halt, halt_name, halted, is_halted, resume};
pub use hash_chain::{content_hash, first_prev};
pub use ledger::{Appended, Durability, Known, LOCK_WAIT, Ledger};
pub use ledger_file::LedgerFile;
pub use pipeline_records::{
    PipelineRecord, SealedPipeline, TreeMark, pipeline_records, record_pipeline, sealed_pipelines,
};
pub use projection::Projection;
pub use read::{Line, Lines, find, last, lines, lines_from};
pub use retention::{Due, record_removal, removals, remove};
pub use side_chain::{old_beginnings, remove_beginnings};
pub use state_directory::{FolderName, StateDirectory};
pub use tail::{Tail, TailGrowth};
pub use testimony::{Testified, Testimony};
pub use verify::{
    Broken, BrokenKind, HomeVerification, Verification, verify, verify_against, verify_all, verify_pipelines,
    verify_session,
};
