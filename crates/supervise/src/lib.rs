//! Agents within limits: what they use, what ends them, what is kept of their runs.
//!
//! | module | holds |
//! |---|---|
//! | `agent` | supervises a whole agent, and ends it with all that it started |
//! | `retry` | when an agent is started again |
//! | `rotation` | which of several values of a credential is taken next |
//! | `event_queue` | what an agent was heard doing, on its way to who judges it |
//! | `breaker` | the circuit breaker of a provider |
//! | `error_stream` | what an agent says beside its stream, looked through for errors |
//! | `failure` | what kind of failure an end was |
//! | `test_triage` | what the end of a test run means and what to do next |
//! | `runs` | what is kept of runs: state, lock, where they lie |
//! | `sampling` | what the processes of an agent use, looked at again and again |
//! | `spending_share` | when a user is warned of what is spent, and amounts of a budget in words |
//! | `stream` | what a client tells of its work, and what that costs |
//! | `switches` | the kill switches, as a function of what is known |
//!
//! **Invariants.** Whatever ends a run makes one [`Stop`], and what is left of its limits is written down. Nothing here prints, exits or
//! reads the environment; what the kernel is asked for is asked by `checkrein-sandbox`.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

#[cfg(target_os = "linux")]
mod agent;
mod breaker;
#[cfg(target_os = "linux")]
mod error_stream;
mod event_queue;
mod failure;
mod retry;
mod rotation;
pub mod runs;
#[cfg(target_os = "linux")]
mod sampling;
mod spending_share;
mod stream;
mod switches;
mod test_triage;

#[cfg(target_os = "linux")]
pub use agent::{
    Agent, Interaction, Life, ProgressReport, RunOutcome, SupervisorExit, SupervisorLink, SupervisorSide,
    TerminalOutput, stand_above, supervise,
};
pub use breaker::{Breaker, Milliseconds, Passage};
pub use event_queue::{Backlog, EventSender, StreamEvent, Waiting, backlog};
pub use failure::{FailureCause, FailureClass, ProviderError, ProviderFailure};
pub use retry::{ATTEMPT_VARIABLE, Attempts, Nesting, delay};
pub use rotation::{Rotation, Turn};
pub use spending_share::{SpendingShare, of_budget};
pub use stream::{Estimate, RunProgress, StreamParser};
pub use switches::{NextCost, RunClock, Stop, Switches, next_call};
pub use test_triage::{Next, Phase, Route, TestFailureKind, TestRunner};
