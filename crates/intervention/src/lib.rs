//! Interventions: what is done about an issue, in proportion.
//!
//! [`Controller::decide`] takes an issue and answers with an [`Intervention`], or with the reason why nothing is done now. Five kinds form a
//! ladder (seed 000): a hint, a reminder of the task, tighter limits, a rollback, a stop. It goes up when that did not help and down when it did.
//!
//! | module | holds |
//! |---|---|
//! | `score` | how much an issue weighs (seed 000) |
//! | `strategy` | which rung comes next: progressive, pattern_specific (seed 000) |
//! | `custom` | the rules of a user for that |
//! | `controller` | what was done so far, and what is done now: cooldown, maxima, attempts, delay |
//! | `throttle` | tighter limits (seed 000) |
//! | `rollback` | which snapshots hold what stood before the trouble (seed 000) |
//! | `message` | what the agent reads |
//! | `constraints` | what the user demands beside the goal, in their own words (seed 000) |
//! | `template` | what a user wants it to read |
//! | `incident` | the report on a stop (seed 000) |
//! | `recovery` | which way out of a failure: five strategies, three policies (upstream 1.4) |
//!
//! **Invariants.** No input or output, no clock, no randomness. A stop comes only when something milder was tried for the same issue and the
//! issue is critical; an issue that is less grave never climbs that far.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation))]

mod constraints;
mod controller;
mod custom;
mod incident;
mod message;
mod recovery;
mod rollback;
mod score;
mod strategy;
mod template;
mod throttle;

pub use checkrein_protocol::{
    Intervention, InterventionKind, LimitedResource, Ran, RecoveryConsent, Rollback, Throttle,
};
pub use controller::{Controller, DecisionContext, Deferral, InterventionDecision};
pub use custom::{CustomStrategy, StrategyAnswer};
pub use incident::{
    Detection, FurtherStop, Impact, Incident, IncidentClosing, IncidentFacts, IncidentId, Recommendations,
    RecordSum, RecoveryOption, StopContext, TimelineEntry,
};
pub use message::{SessionLimit, Task};
pub use recovery::{
    FailureKind, RecoverableFailure, RecoveryAttempt, RecoveryPlan, RecoveryPolicy, RecoveryStrategy,
    SessionStanding, plan,
};
pub use rollback::{Candidate, Holds, Proposed, RollbackSnapshots, choose};
pub use score::{band, combined_score, severity_score};
pub use strategy::{pattern_specific, progressive};
pub use template::{PLACES, Template, TemplateError};
pub use throttle::{Growth, reduction};
