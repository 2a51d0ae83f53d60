//! Patterns: detectors that notice when a session goes wrong, and that know progress.
//!
//! [`Behaviour`] is the state of all of them. It takes up what happens, one action at a time, in constant time and memory, and says which
//! [`Issue`]s there are. Each issue names the actions that it rests on.
//!
//! | module | holds |
//! |---|---|
//! | `behaviour` | the state of all detectors, and what is new |
//! | `issue` | the vocabulary of the answer |
//! | `step` | what detectors are told about an action |
//! | `observation`, `normalise` | what is kept of an output: marks, error signatures, counts of tests |
//! | `loops`, `messages` | stuck loops: equal actions, cycles, monologues |
//! | `errors` | repetitive errors (upstream 1.2) |
//! | `edits` | oscillating edits |
//! | `stagnation` | tests that come out the same (seed 004, upstream 3.8) |
//! | `scope`, `drift`, `spiral`, `wandering`, `phantoms` | scope creep, goal drift, resource spirals, wandering, hallucination (upstream 1.2) |
//! | `claims` | what an agent says that it has seen |
//! | `cascade` | an agent that talks itself into new work (seed 004, upstream 3.1) |
//! | `combination` | patterns that are worse together (upstream 1.2) |
//!
//! **Invariants.** No input or output, no clock, no randomness. What changes is never a repetition: every detector compares results, not
//! only actions, so that work which gets somewhere is left alone.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation))]

mod behaviour;
mod cascade;
mod claims;
mod combination;
mod drift;
mod edits;
mod errors;
mod issue;
mod loops;
mod messages;
mod normalise;
mod observation;
mod phantoms;
mod scope;
mod settings;
mod spiral;
mod stagnation;
mod step;
mod wandering;

pub use behaviour::{Behaviour, News, Standing};
pub use cascade::cascade;
pub use checkrein_protocol::{
    ActionNumber, Cascade, CascadeLevel, Claim, ErrorCategory, ErrorSignature, Issue, Mark, Missing,
    Observation, PatternKind, Share, TestCounts,
};
pub use claims::claim;
pub use observation::{Success, observation};
pub use scope::{Side, Touch, Use};
pub use settings::{Audience, PatternSensitivity, PatternSettings};
pub use step::{Bearing, Clarity, Deed, Edit, Ending, Place, Plan, Probe};
