//! Agents within limits: what they use, what ends them, what is kept of their runs.
//!
//! | module | holds |
//! |---|---|
//! | `agent` | supervises a whole agent, and ends it with all that it started |
//! | `attempts` | when an agent is started again |
//! | `backlog` | what an agent was heard doing, on its way to who judges it |
//! | `breaker` | the circuit breaker of a provider |
//! | `failure` | what kind of failure an end was |
//! | `route` | what the end of a test run means and what to do next |
//! | `runs` | what is kept of runs: state, lock, where they lie |
//! | `sampling` | what the processes of an agent use, looked at again and again |
//! | `stream` | what a client tells of its work, and what that costs |
//! | `switches` | the kill switches, as a function of what is known |
//!
//! **Invariants.** Whatever ends a run makes one [`Stop`], and what is left of its limits is written down. Nothing here prints, exits or
//! reads the environment; what the kernel is asked for is asked by `checkrein-sandbox`.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod agent;
mod attempts;
mod backlog;
mod breaker;
mod failure;
mod route;
pub mod runs;
mod sampling;
mod stream;
mod switches;

pub use agent::{
    Above, Agent, Interaction, Life, Moment, Position, RunOutcome, Waited, stand_above, supervise,
};
pub use attempts::{ATTEMPT_VARIABLE, Attempts, Nesting, delay};
pub use backlog::{Backlog, Heard, Speaker, Waiting, backlog};
pub use breaker::{Breaker, Milliseconds, Passage};
pub use failure::{FailureCause, FailureClass, ProviderError, ProviderFailure};
pub use route::{Failure, Next, Phase, Route, Runner};
pub use stream::{Estimate, Listener, Progress};
pub use switches::{Clock, Stop, Switches, next_call};
