//! The server of one machine: API, live events, metrics and console over the records of all sessions. Nothing that decides about a call
//! needs it.
//!
//! | module | holds |
//! |---|---|
//! | `address` | where the server listens: loopback or a unix socket |
//! | `token` | keys: made from the randomness of the system, kept in private files |
//! | `access` | who may ask for what: host, origin, key, role |
//! | `visits` | the record of logins and of what was refused |
//! | `answer` | errors and values as JSON |
//! | `server` | from a bound address to requests |

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod access;
mod address;
mod answer;
mod server;
mod token;
mod visits;

pub use address::{Address, AddressError};
pub use server::{Announcement, Server};
