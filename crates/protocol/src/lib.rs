//! The words that everything else speaks: what crosses the edge of the process, what is kept on disk, and the vocabulary of both.
//!
//! | module | holds |
//! |---|---|
//! | `action`, `path`, `time`, `change` | what an agent wants to do, where and when, and what was seen to change |
//! | `effect`, `effect_kind`, `nature` | what an action would change, and what is special about it |
//! | `resource_use` | how much of the machine an action is predicted to use |
//! | `decision`, `verdict`, `levels` | what a review says, and the bands and modes of it |
//! | `disposition` | what became of a call at the door |
//! | `issue`, `observation`, `message`, `mark` | what detectors find, and what they keep of outputs and messages |
//! | `intervention` | what is done about an issue |
//! | `site` | what an effect beyond this machine acts on, by its name there |
//! | `tally` | what an action adds to what a session counts |
//! | `hook` | what a client's hook tells and what it is told |
//! | `id` | the names of sessions, actions and change records |
//! | `plugin` | the manifest of a plugin, and the lines that are spoken with its process |
//! | `record` | the records of a session's ledger |
//! | `unreviewed` | actions that ran although no review had let them run |
//! | `unliftable` | what speaks against allowing a call beforehand, and the code that a call runs |
//! | `secret_mark` | which places hold secrets because a session put them there |
//! | `flow_mark` | what a session read from outside, and what private things |
//! | `shown` | words as people read them: as they are written |
//! | `older` | what older versions wrote in another way |
//! | `terminal_use` | what an action puts into terminals and open programs |
//! | `typed_text` | what a shell gets of a text that is typed into it |
//! | `usage` | tokens and money |
//! | `batch` | the questions and answers of `check --batch` |
//!
//! A word has one type: the crates above give on those of this one, and add what follows from them.
//!
//! **Invariants.** The ground floor: this crate needs `serde` and nothing of the house. Types, their spelling and what is true of a word by
//! definition; older spellings with them. It decides nothing.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod action;
mod batch;
mod change;
mod decision;
mod disposition;
mod effect;
mod effect_kind;
mod flow_mark;
mod hook;
mod id;
mod intervention;
mod issue;
mod levels;
mod mark;
mod message;
mod nature;
mod observation;
mod older;
mod path;
mod plugin;
mod record;
mod resource_use;
mod secret_mark;
mod shown;
mod site;
mod tally;
mod terminal_use;
mod time;
mod typed_text;
mod unliftable;
mod unreviewed;
mod usage;
mod verdict;

pub use action::*;
pub use batch::*;
pub use change::*;
pub use decision::*;
pub use disposition::CallDisposition;
pub use effect::*;
pub use effect_kind::*;
pub use flow_mark::*;
pub use hook::*;
pub use id::*;
pub use intervention::*;
pub use issue::*;
pub use levels::*;
pub use mark::*;
pub use message::*;
pub use nature::*;
pub use observation::*;
pub use path::*;
pub use plugin::*;
pub use record::*;
pub use resource_use::*;
pub use secret_mark::*;
pub use site::*;
pub use tally::*;
pub use terminal_use::{TerminalDeed, TerminalUse};
pub use time::*;
pub use typed_text::typed_lines;
pub use unliftable::*;
pub use unreviewed::*;
pub use usage::*;
pub use verdict::*;
