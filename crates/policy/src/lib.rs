//! What is allowed: configuration and rules.
//!
//! | module | holds |
//! |---|---|
//! | `cascade_pattern` | own patterns of cascades |
//! | `config` | typed settings, layers, tightening, errors with line and column |
//! | `demands` | what a user demands in a prompt, and what it forbids |
//! | `governance` | tiers, thresholds, trust debt, contracts, tripwires |
//! | `rule` | what a rule is, findings, custom rules |
//! | `rules` | the built-in rules, one file each |
//! | `trial` | examples and fixtures, played |
//! | `scope` | where mutations are expected |
//! | `production` | whether an effect is on production |
//! | `policy` | configuration and rules together |
//!
//! **Invariants.** This crate gets texts and facts and returns values: it reads no file, environment or clock. Adding a
//! rule or an effect never makes the strictest finding milder. A project file never loosens what the layers below it
//! say. Every configuration error has a line and a column. A rule that fails is an error, never a pass.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod cascade_pattern;
mod config;
mod demands;
mod governance;
mod policy;
mod production;
mod rule;
pub mod rules;
mod scope;
mod trial;

pub use cascade_pattern::CascadePattern;
pub use checkrein_protocol::{Decision, Posture, VerdictKind};
pub use config::*;
pub use demands::{Ban, BannedDeed, Demand, demands, forbids, lies_at};
pub use governance::*;
pub use policy::*;
pub use production::{OnProduction, ProductionBy, on_production};
pub use rule::*;
pub use scope::{covers, in_scope, location};
pub use trial::*;
