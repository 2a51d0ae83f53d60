//! What an action would do.
//!
//! | module | holds |
//! |---|---|
//! | `action` | the action: a tool call |
//! | `change` | what was seen to change after an action ran |
//! | `effect` | the vocabulary of effects: kind, target, certainty, stake, severity |
//! | `nature` | what is special about an effect, as far as anything is decided by it |
//! | `path` | absolute paths |
//! | `world` | the facts an interpretation may rest on, behind one trait |
//! | `recorded` | the world as a list of facts, for replay and tests |
//! | `tools` | effects of tools other than the shell |
//! | `catalogue` | what programs do, as data |
//! | `predict` | from an action to its effects |
//! | `interpreter` | shell text to effects |
//! | `programs` | programs whose effects are more than data |
//! | `stake` | what an effect would cost |
//! | `guard` | effects on the guard itself |
//! | `settle` | certainty and names, when the stakes are set |
//! | `places` | well-known paths: credentials, start-up files, the system, generated files |
//!
//! **Invariants.** This crate decides nothing, and touches the machine only through [`World`]. What is not understood
//! is an effect of its own, [`EffectKind::Opaque`], never nothing.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod action;
mod catalogue;
mod change;
mod effect;
mod guard;
mod interpreter;
mod nature;
mod path;
mod places;
mod predict;
mod programs;
mod recorded;
mod settle;
mod stake;
mod tally;
mod tools;
mod world;

pub use action::*;
pub use catalogue::{
    CatalogueError, CatalogueProblem, UserCatalogue, Wording, is_read_through, program_names,
};
pub use change::*;
pub use effect::*;
pub use interpreter::{RunCommand, Value};
pub use nature::*;
pub use path::*;
pub use places::{regenerated_tree, regenerated_when_ignored};
pub use predict::{Prediction, predict, predict_with};
pub use recorded::*;
pub use tally::*;
pub use world::*;
