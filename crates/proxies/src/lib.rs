//! What stands between an editor and an agent that speak the Agent Client Protocol (ACP): a proxy that passes everything on, byte for byte
//! and in order, and has each call judged by the engine on its way.
//!
//! | module | holds |
//! |---|---|
//! | `proxy` | a connection with its two directions |
//! | `from_agent`, `from_editor` | what is done about what comes from each side |
//! | `notices` | what the agent tells of its own calls |
//! | `desk` | what both directions share: asking the engine, telling the user, ending a turn |
//! | `state` | what is known of sessions, calls, and who waits for which answer |
//! | `reviewer` | the engine, asked within a time and behind a boundary |
//! | `methods` | which requests of an agent ask for something to be done, however they are written; pure |
//! | `acts` | what a message asks for, as actions; pure |
//! | `edits` | edits of files as language servers have them, under whatever method; pure |
//! | `inputs` | what the fields of an input run and which files they name; pure |
//! | `logins` | ways to log in that an agent offers |
//! | `words` | what titles and shown texts say that is asked for; pure |
//! | `answers` | the lines that we write ourselves; pure |
//! | `standing` | what a user allowed for the rest of a session; pure |
//! | `message`, `scan` | a line as far as it has to be known; pure |
//! | `lines`, `outlet` | lines out of a stream, and what leaves, within bounds |
//!
//! **Invariants.** A line that is passed on is passed on as it came, but for the question to which a reason is added, and the lasting yes to an agent,
//! which becomes one for a single call. What cannot be judged
//! is refused and said. What a side sends never makes memory grow without a bound.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod acts;
mod answers;
mod desk;
mod edits;
mod from_agent;
mod from_editor;
mod inputs;
mod lines;
mod logins;
mod message;
mod methods;
mod notices;
mod outlet;
mod proxy;
mod reviewer;
mod scan;
mod standing;
mod state;
mod words;

pub use desk::Say;
pub use proxy::{Ends, Proxy};
pub use reviewer::{CallJudge, EngineJudge, Said};
