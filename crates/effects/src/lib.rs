//! What an action would do.
//!
//! | module | holds |
//! |---|---|
//! | `tools` | effects of tools other than the shell |
//! | `catalogue` | what programs do, as data |
//! | `predict` | from an action to its effects |
//! | `replaced_clients` | programs that take the place of a client |
//! | `run_on_opening` | settings of a project that run commands when it is opened |
//! | `added_settings` | lines that are added to start-up files and run nothing |
//! | `programs` | programs whose effects are more than data |
//! | `stake` | what an effect would cost |
//! | `guard` | effects on the guard itself |
//! | `directory_variables` | files of direnv that only set variables |
//! | `editor_settings` | settings of an editor or a directory that run nothing by themselves |
//! | `finalize` | certainty and names, when the stakes are set |
//!
//! **Invariants.** This crate decides nothing, and touches the machine only through [`World`](checkrein_facts::World). What is not understood
//! is an effect of its own, [`EffectKind::Opaque`](checkrein_protocol::EffectKind::Opaque), never nothing.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

/// The words of effects, as this crate looks for them.
mod effect {
    pub(crate) use checkrein_protocol::{
        Certainty, Depth, Effect, EffectKind, EffectSite, FileChange, NetworkReach, Severity, SiteKind,
        Stake, Target,
    };
}
mod action {
    pub(crate) use checkrein_protocol::Action;
}
mod interpreter {
    pub(crate) use checkrein_interpreter::*;
}
mod nature {
    pub(crate) use checkrein_protocol::{Nature, Relief};
}
mod world {
    pub(crate) use checkrein_facts::*;
    pub(crate) use checkrein_protocol::Timestamp;
}
mod places {
    pub(crate) use checkrein_facts::places::*;
}
mod path {
    pub(crate) use checkrein_protocol::AbsolutePath;
}

mod added_settings;
mod catalogue;
mod directory_variables;
mod editor_settings;
mod finalize;
mod guard;
mod predict;
mod programs;
mod replaced_clients;
mod run_on_opening;
mod stake;
mod tools;

pub use catalogue::{is_read_through, program_names};
pub use checkrein_interpreter::{AnnouncedContent, LoggedMessage, Prediction, RunCommand, Value};
pub use predict::{predict, predict_with};
pub use programs::remote_hosts;
pub use run_on_opening::names_code;
