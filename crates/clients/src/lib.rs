//! One module per client: its hook form to the protocol and back, installation, the canary.
//!
//! | module | holds |
//! |---|---|
//! | `claude` | Claude Code: `decode`, `encode`, `settings` (where hooks are registered), `canary` |
//! | `transcript` | what clients write down of a session: what was said, called, answered and spent |
//! | `going_on` | starting a client again so that it goes on with its session |
//! | `prices` | what tokens cost |
//! | `error` | what can be wrong with a payload or a settings file |
//!
//! **Invariants.** No quirk of a client leaves its module. This crate reads and writes no file: it takes and gives texts.
//! An answer is one JSON object, and never an explicit approval: a guard that finds nothing wrong has no opinion.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation))]

pub mod claude;
mod error;
mod going_on;
mod prices;
pub mod transcript;

pub use error::{DecodeError, PriceError, SettingsError};
pub use going_on::{GoingOn, Manner, going_on};
pub use prices::{Priced, Prices};
