//! The facts that a judgement may rest on.
//!
//! | module | holds |
//! |---|---|
//! | `world` | the facts about a machine and a session, behind one trait |
//! | `recorded` | the world as a list of facts, for replay and tests |
//! | `tally` | what a session counts: amounts in windows of time |
//! | `terminal` | terminals and open programs into which a session types |
//! | `agent_variables` | variables that steer an agent that starts with them |
//! | `variable_lists` | lists of variables (`.env`), as dotenv reads them |
//! | `environment` | variables that lead the guard itself |
//! | `hook_line` | the command line by which a client asks the guard |
//! | `generated` | files that a build, an install or a download makes again |
//! | `places` | well-known paths: credentials, start-up files, the system |
//! | `owned_places` | places elsewhere that a user calls their own |
//! | `path_pattern` | patterns of paths |
//! | `resolve` | paths through symbolic links |
//! | `run_by_client` | files with code that a client runs when it is started |
//! | `answering_event` | the event at which hooks answer in place of the user |
//! | `attack_tools` | programs that are made to attack machines |
//! | `hidden_characters` | characters of which nothing is shown |
//! | `intent` | what an action is for, seen from what it would change |
//!
//! **Invariants.** Whoever judges asks [`World`] and nothing else, so that a past decision replays bit for bit. This crate interprets
//! no command: who needs facts alone does not build the interpreter.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod agent_variables;
mod answering_event;
mod attack_tools;
mod environment;
mod generated;
mod hidden_characters;
pub mod hook_line;
mod intent;
mod owned_places;
mod path_pattern;
pub mod places;
mod recorded;
mod resolve;
mod run_by_client;
mod tally;
mod terminal;
mod variable_lists;
mod world;

pub use agent_variables::{Steering, steering, steering_names};
pub use answering_event::{ANSWERING_EVENT, is_answering_event, names_answering_event};
pub use attack_tools::is_attack_tool;
pub use environment::leads_guard;
pub use generated::{
    generated, is_made_again_in_container, is_temporary_elsewhere, regenerable_cache, regenerated_tree,
    regenerated_when_ignored,
};
pub use hidden_characters::is_hidden;
pub use intent::intent;
pub use owned_places::is_owned;
pub use path_pattern::{Matches, PathPattern, name_matches};
pub use recorded::*;
pub use resolve::{Last, entry_of_process_itself, resolve};
pub use run_by_client::RunByClient;
pub use tally::*;
pub use terminal::{TERMINAL_BYTES, TERMINALS, TerminalMemory, TypedTerminal};
pub use variable_lists::listed_variables;
pub use world::*;
