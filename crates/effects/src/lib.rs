//! What an action would do.
//!
//! | module | holds |
//! |---|---|
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

/// The words of effects, as this crate looks for them.
mod effect {
    pub(crate) use checkrein_protocol::{
        Aim, Certainty, Depth, Effect, EffectKind, FileChange, Reach, Severity, Stake, Target,
    };
}
mod action {
    pub(crate) use checkrein_protocol::Action;
}
mod nature {
    pub(crate) use checkrein_protocol::{Nature, Relief};
}
mod path {
    pub(crate) use checkrein_protocol::AbsolutePath;
}

mod catalogue;
mod guard;
mod intent;
mod interpreter;
mod places;
mod predict;
mod programs;
mod recorded;
mod settle;
mod stake;
mod tally;
mod tools;
mod world;

pub use catalogue::{
    CatalogueError, CatalogueProblem, UserCatalogue, Wording, is_read_through, program_names,
};
pub use checkrein_protocol::{
    AbsolutePath, Action, Aim, Certainty, Change, ChangeKind, Depth, Effect, EffectKind, FileChange, Intent,
    Nature, Reach, Relief, Severity, Stake, Standing, Target, ToolName,
};
pub use guard::leads_guard;
pub use intent::intent;
pub use interpreter::{RunCommand, Value};
pub use places::{regenerated_tree, regenerated_when_ignored};
pub use predict::{Prediction, predict, predict_with};
pub use recorded::*;
pub use tally::*;
pub use world::*;
