//! Processes kept within bounds.
//!
//! | module | holds |
//! |---|---|
//! | `scope` | what a confined command may do, as a value |
//! | `kernel` | what this machine can enforce, and what of a scope it cannot |
//! | `filter` | the system calls that are refused or asked about, as a program for the kernel |
//! | `mediation` | answers the calls that the kernel asks about, and puts refusals into words |
//! | `memory` | memory that belongs to no process |
//! | `confinement` | starts a command inside a scope and stays with it |
//! | `launch` | the start itself: a process that gets its restrictions before its program |
//! | `namespaces` | the view of the file system for a command where Landlock is absent |
//! | `group` | control groups: a tree of processes bounded and ended by the kernel |
//! | `signals` | what we are asked by signals |
//! | `attempts` | when an agent is started again |
//! | `backlog` | what an agent was heard doing, on its way to who judges it |
//! | `breaker` | the circuit breaker of a provider |
//! | `failure` | what kind of failure an end was |
//! | `agent` | supervises a whole agent, and ends it with all that it started |
//! | `not_held` | what no kernel holds of a scope |
//! | `heartbeat` | keeps those who supervise running, or ends them |
//! | `hold` | what ends an agent when nothing of ours is left to do it |
//! | `ruleset` | the rules of Landlock for a scope |
//! | `runs` | what is kept of runs: state, lock, where they lie |
//! | `route` | what the end of a test run means and what to do next |
//! | `sampling` | what the processes of an agent use, looked at again and again |
//! | `stream` | what a client tells of its work, and what that costs |
//! | `switches` | the kill switches, as a function of what is known |
//! | `terminal` | a terminal between ours and the agent's |
//! | `terminals` | which terminals a confined command may use |
//! | `tree` | the processes below this one: found, measured, ended |
//!
//! **Invariants.** What is enforced is enforced by the kernel; what is not is a [`Gap`] and known before the command runs. Nothing here
//! prints, exits or reads the environment. This is the only crate with `unsafe`: where the kernel is called in ways that no safe crate
//! has, each place with its reason.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod agent;
mod attempts;
mod backlog;
mod breaker;
mod confinement;
mod error;
mod failure;
mod filter;
mod group;
mod heartbeat;
mod hold;
mod kernel;
mod launch;
mod mediation;
mod memory;
mod namespaces;
mod not_held;
mod route;
mod ruleset;
pub mod runs;
mod sampling;
mod scope;
mod signals;
mod stream;
mod switches;
mod terminal;
mod terminals;
mod tree;

pub use agent::{
    Above, Agent, Interaction, Life, Moment, Position, RunOutcome, Waited, stand_above, supervise,
};
pub use attempts::{ATTEMPT_VARIABLE, Attempts, Nesting, delay};
pub use backlog::{Backlog, Heard, Speaker, Waiting, backlog};
pub use breaker::{Breaker, Milliseconds, Passage};
pub use confinement::{Confined, Ending, Outcome, run_confined};
pub use error::SuperviseError;
pub use failure::{FailureCause, FailureClass, ProviderError, ProviderFailure};
pub use group::{Group, GroupLimits};
pub use heartbeat::{CONFINING, SUPERVISING};
pub use hold::Hold;
pub use kernel::{Gap, Kernel, OwnView};
pub use mediation::{Attempt, Refusal, SharedKind};
pub use namespaces::Hindrance;
pub use not_held::{NOT_HELD, NotHeld};
pub use route::{Failure, Next, Phase, Route, Runner};
pub use scope::{Bytes, Endpoint, Limits, Network, Period, Reading, Scope};
pub use signals::{Signals, ignore_file_size_signal};
pub use stream::{Estimate, Listener, Progress};
pub use switches::{Clock, Stop, Switches, next_call};
pub use tree::{Ended, Usage, adopt_orphans, end_all, usage};
