//! What is known of a session after its records: the projection of a ledger that reviewing the next action needs.
//!
//! | module | holds |
//! |---|---|
//! | `state` | the compact state, and how each record changes it |
//! | `spent` | what a session has spent: tokens, money, processes, bytes |
//! | `open_calls` | which calls did not run, as far as the records tell |
//! | `recall` | which of the things that were done before a text is about |
//! | `deeds` | what an action did to paths, for later ones to be told |
//! | `sessions` | all sessions at a glance |
//! | `retention` | which sessions are old enough to go |
//!
//! **Invariants.** The state follows from the records alone, and what is rebuilt from a ledger equals what grew with it. Every part is
//! bounded: a million records later it is no larger.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod deeds;
mod open_calls;
pub mod recall;
mod retention;
mod sessions;
mod spent;
mod state;

pub use open_calls::{OpenCalls, calls_not_run};
pub use retention::prune;
pub use sessions::{SessionSummary, sessions, summary};
pub use spent::{Cost, UsageTotals};
pub use state::{
    CARRIED_EVENT, CHANGE_EVENT, CallCounts, DueChange, FlowReading, FlowReadings, GATE_EVENT, GateAnswers,
    HeldPluginFactor, HeldPluginIssue, NeedsYes, PlannedCall, PluginAdvice, PluginFindings, ResumeTerms,
    SESSION_END, SessionState, StandingTerms, TERMS_EVENT, TURN_END_EVENTS, UsedUp, VerdictCounts, bounds,
    file_operations,
};

/// The ledger of a session, with its state.
pub type SessionLedger = checkrein_ledger::Ledger<SessionState>;

/// What an append to the ledger of a session did.
pub type SessionAppend = checkrein_ledger::Appended<SessionState>;

/// A session as it was read, with all that is needed to append to it without reading it again.
pub type KnownSession = checkrein_ledger::Known<SessionState>;
