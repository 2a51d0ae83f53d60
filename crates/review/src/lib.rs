//! The decision: risk, rationality, side effects and rules, as one pure function.
//!
//! [`review`] takes an action, a world and a policy, and answers a [`Review`]: the verdict with everything that led to it.
//! The same three always give the same answer, bit for bit.
//!
//! | module | holds |
//! |---|---|
//! | `verdict` | the vocabulary of the answer |
//! | `review` | the function that all the others serve |
//! | `risk` | how bad it would be: base, stake, modifiers (design 5, seed 002) |
//! | `rationality` | whether it makes sense now: four components, those without input left out |
//! | `undoing`, `forbidden` | what contradicts the action before it, or what the user said |
//! | `side_effects` | what would change, whether it can be taken back, what softens it |
//! | `decision` | the matrix and the rules put together |
//! | `governance` | trace quality, thresholds, flags, trust debt, contracts |
//! | `rewrite` | safer commands that do what was wanted |
//! | `fetching` | commands that fetch code, without the steps that run it |
//! | `masking` | lists of settings shown without their secrets |
//! | `owned` | places elsewhere that the user calls their own |
//! | `containment` | opaque calls within bounds that the kernel enforces |
//! | `reasoning` | the answer in words: for a model to obey, for a user to read |
//! | `fingerprint` | what makes two actions the same, or of one kind |
//! | `flow` | what was read from outside, what is private, and what sends: all three together are asked about |
//! | `surprise` | what really changed against what was predicted, and how much trust that costs |
//! | `saving` | what is saved before it is lost, and what that changes |
//! | `cache` | answers kept while the facts they rest on hold |
//!
//! **Invariants.** No input or output, no clock, no randomness. A rule can only tighten. "Did not run" is a value of its own:
//! a component without input is `None`, a failing rule is listed in [`Review::failures`].
//!
//! ```
//! use checkrein_facts::{HostPaths, RecordedWorld};
//! use checkrein_protocol::{AbsolutePath, Action};
//! use checkrein_policy::Policy;
//! use checkrein_review::{VerdictKind, review};
//!
//! let home = AbsolutePath::new("/home/dev").ok_or("absolute")?;
//! let workspace = home.join("proj");
//! let place = HostPaths { home, user: None, workspace: workspace.clone(), temporary: vec![], guarded: vec![], expected: vec![] };
//! let world = RecordedWorld::complete(place).with_directory(&workspace);
//! let answer = review(&Action::command("echo 'rm -rf /'", workspace), &world, &Policy::default());
//! assert_eq!(answer.verdict.kind, VerdictKind::Ok);
//! # Ok::<(), &'static str>(())
//! ```

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod cache;
mod containment;
mod decision;
mod fetching;
mod fingerprint;
mod flow;
mod forbidden;
mod governance;
mod masking;
mod owned;
mod rationality;
mod reasoning;
mod review;
mod rewrite;
mod risk;
mod saving;
mod side_effects;
mod surprise;
mod undoing;
mod verdict;

pub use cache::{ReviewCache, Size, TimeToLive};
pub use checkrein_policy::VerdictKind;
pub use fingerprint::ActionFingerprint;
pub use flow::{planted_orders, sends_out};
pub use governance::{Ctq, Fired, GovernanceAssessment, TrustState, keep_contract, risk_class, settle_trust};
pub use masking::masked_command;
pub use reasoning::sentence;
pub use review::{Forecast, review};
pub use risk::DOUBT;
pub use saving::*;
pub use surprise::*;
pub use verdict::*;
