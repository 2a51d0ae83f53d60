//! Claude Code.
//!
//! | module | holds |
//! |---|---|
//! | `decode` | its hook payloads to events |
//! | `encode` | answers to its hook output |
//! | `command` | the command line that it runs for each event |
//! | `settings` | registering the hooks, and seeing whether they are registered |
//! | `canary` | a payload that must be denied |
//!
//! The forms are those that version 2.1 was seen to obey; where its documentation differs, what it does wins.

mod canary;
mod command;
mod decode;
mod encode;
mod settings;

pub use canary::{CANARY_SESSION, Canary, canary};
pub use command::{HookCommand, PLACES, Unanswered};
pub use decode::decode;
pub use encode::{deny_everything, encode};
pub use settings::{
    EVENTS, Matching, Protection, Registration, leads_guard, protection, register, registration,
    reviewing_command, unregister, variables,
};
