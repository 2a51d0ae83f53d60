//! The hook that clients start for every event: its standard input becomes one answer, whatever happens. What is done with a tool call is
//! in the engine (`checkrein_engine`).
//!
//! | module | holds |
//! |---|---|
//! | `edge` | the hook's edge: standard input to one JSON answer |
//! | `resident` | asking a process that stays, where there is one |
//! | `serving` | that process |
//! | `conversation` | what the two say to each other |
//! | `remarks` | what is said on standard error |
//!
//! **Invariants.** Nothing crosses the hook's edge but through [`checkrein_engine::fail_closed`]. The hook starts no
//! runtime, opens no database, and no process but the one that tells people, where they want to be told, and gates at the end of a turn, where they are asked for. Only here memory goes unreturned,
//! since the process ends.

mod conversation;
mod edge;
pub mod remarks;
mod resident;
mod serving;

pub use edge::answer_hook_of;
pub use serving::ResidentEngine;
