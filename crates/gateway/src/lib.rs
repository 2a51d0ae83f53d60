//! A gateway before an MCP server: the client speaks to it as to the server. Calls of tools are reviewed, results masked, descriptions pinned.
//!
//! | module | holds |
//! |---|---|
//! | `message` | lines of JSON-RPC: what can be told of one without taking it apart |
//! | `definition` | what a server says about a tool, and what in it speaks to the model behind the user's back |
//! | `pins`, `pin_store` | what was accepted of it and what waits; where that is kept |
//! | `result` | what a server answered, before the model reads it |
//! | `relay` | what becomes of each line: a machine without input and output |
//! | `reviewer` | who decides, as the relay asks them |
//! | `engine_reviewer`, `hook_reviews` | the door to the engine, and what the client's own hook said already |
//! | `lines`, `server_process` | a server that is a process: its lines, and its end |
//! | `http` | a server at an address |
//! | `texts` | what the gateway says |
//!
//! **Invariants.** What cannot be decided is refused, and said. What is neither a call nor read by a model passes byte for byte and in order.
//! A refusal is the result of a call, never an error of the protocol. Words of a server only make a verdict stricter.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod definition;
mod engine_reviewer;
mod hook_reviews;
mod http;
mod lines;
mod message;
mod pin_store;
mod pins;
mod relay;
mod result;
mod reviewer;
mod server_process;
mod texts;

pub use definition::{INSTRUCTIONS, ToolDefinition, ToolHints};
pub use engine_reviewer::{EngineReviewer, gateway_server};
pub use http::{FixedHeader, ServerAddress, serve_address};
pub use pin_store::{Origin, PinStore};
pub use pins::{PinnedDefinition, Pins, Standing, ToolPin, WaitingDefinition};
pub use relay::{LONGEST_LINE, Relay, Sent};
pub use reviewer::{Asking, CallEnding, CallPassage, CallRequest, Reviewer, Ruling, UserAnswer};
pub use server_process::{ClientSide, serve_process};
