//! Patterns: detectors that notice when a session goes wrong, and that know progress.
//!
//! [`DetectorState`] is the state of all of them. It takes up what happens, one action at a time, in constant time and memory, and says which
//! [`Issue`]s there are. Each issue names the actions that it rests on.
//!
//! | module | holds |
//! |---|---|
//! | `detector_state` | the state of all detectors, and what is new |
//! | `issue` | the vocabulary of the answer |
//! | `step` | what detectors are told about an action |
//! | `observation`, `normalise` | what is kept of an output: marks, error signatures, counts of tests |
//! | `failure` | what makes two failures the same: the tests that failed, or the text without words that are made up |
//! | `own_text` | what a command prints of its own text beside what it runs |
//! | `polling` | which commands ask how something is getting on, and which failures say that it is not done yet |
//! | `stuck_loop`, `messages` | stuck loops: equal actions, cycles, monologues |
//! | `errors` | repetitive errors (upstream 1.2) |
//! | `oscillating_edits` | oscillating edits |
//! | `stagnation` | tests that come out the same (seed 004, upstream 3.8) |
//! | `scope`, `goal_drift`, `resource_spiral`, `exploration_wandering`, `hallucination` | scope creep, goal drift, resource spirals, wandering, hallucination (upstream 1.2) |
//! | `claims` | what an agent says that it has seen |
//! | `cascade` | an agent that talks itself into new work (seed 004, upstream 3.1) |
//! | `combination` | patterns that are worse together (upstream 1.2) |
//! | `repeated_verdicts` | different calls that are refused or hinted at for one reason |
//! | `own_pattern` | patterns and tripwires of the user, and what their plugins see |
//! | `settings` | what a policy may set about the detectors |
//!
//! **Invariants.** No input or output, no clock, no randomness. What changes is never a repetition: every detector compares results, not
//! only actions, so that work which gets somewhere is left alone.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation))]

mod cascade;
mod claims;
mod combination;
mod detector_state;
mod errors;
mod exploration_wandering;
mod failure;
mod goal_drift;
mod hallucination;
mod issue;
mod messages;
mod normalise;
mod observation;
mod oscillating_edits;
mod own_pattern;
mod own_text;
mod polling;
mod repeated_verdicts;
mod resource_spiral;
mod scope;
mod settings;
mod stagnation;
mod step;
mod stuck_loop;

pub use cascade::cascade;
pub use checkrein_protocol::{
    ActionNumber, Cascade, CascadeLevel, Claim, ErrorCategory, ErrorSignature, Fingerprint, Issue, Missing,
    Observation, PatternKind, Share, TestCounts,
};
pub use claims::claim;
pub use detector_state::{ActiveIssue, DetectorState, IssueChange};
pub use errors::{ERRORS_IN_VIEW, telling_line};
pub use observation::{ActionSuccess, observation};
pub use own_pattern::FiredPattern;
pub use own_text::without_own_numbers;
pub use repeated_verdicts::VerdictCause;
pub use scope::{ScopeSide, Touch, Use};
pub use settings::{Audience, PatternSensitivity, PatternSettings};
pub use step::{ActionFacts, Activity, Bearing, Clarity, Edit, OutcomeFacts, Pace, Probe, VisitedPlace};
