//! The binaries and what only they may do: read the environment, the clock and the files of policy, and talk to people.
//!
//! | module | holds |
//! |---|---|
//! | `surroundings` | the one place that reads the environment: home, state, configuration, workspace |
//! | `asking` | who asks: a person or an agent, told by the processes above |
//! | `settings` | the layers of configuration, read and merged |
//! | `places` | where home, configuration and state of the person really are |
//! | `rules` | the texts that the rules of a workspace rest on |
//! | `beginning` | what a session began with, and being held to it |
//! | `guard` | the two functions that every surface calls: before an action and after it |
//! | `saving` | saving what an action would destroy, right before it runs |
//! | `aftermath` | after a call: what really changed, against what was predicted |
//! | `watch` | after each outcome: what the detectors find, what is done about it |
//! | `stepping_in` | doing it: halting, going back, reporting |
//! | `rollback` | the way back to what stood before a session went wrong |
//! | `credentials` | what agents need to log in, in the keyring or a file |
//! | `deletion` | files that held something secret, written over and removed |
//! | `spending` | what a session spends, read from the client's transcript, and its budget |
//! | `rehearsal` | a recorded session, played: reviewed and watched, recorded nowhere |
//! | `incident` | what is kept of an emergency stop |
//! | `notice` | telling people, in a process of its own |
//! | `edge` | the hook's edge: standard input to one JSON answer, whatever happens |
//! | `fail_closed` | the one table from failure to verdict |
//! | `installation` | where hooks were registered, and what of that is out of the agent's reach |
//! | `commands` | one file for each command of the full program |
//! | `terminal` | colour, tables, questions |
//! | `error` | what a command can fail with, as a person reads it |
//!
//! **Invariants.** No logic worth testing alone. Nothing crosses the hook's edge but through [`fail_closed`]. The hook starts no
//! runtime, opens no database, and no process but the one that tells people, where they want to be told.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod aftermath;
mod answering;
pub mod asking;
mod beginning;
mod cleanup;
pub mod commands;
pub mod credentials;
mod deletion;
pub mod edge;
pub mod error;
pub mod fail_closed;
pub mod guard;
mod incident;
pub mod installation;
mod limits;
mod notice;
mod places;
mod processes;
mod questions;
mod recording;
mod records;
pub mod rehearsal;
mod rollback;
mod rules;
mod saving;
pub mod settings;
mod spending;
mod stepping_in;
mod stop;
pub mod surroundings;
pub mod terminal;
mod turn_end;
mod watch;
