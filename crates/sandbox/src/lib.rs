//! Processes confined, bounded and ended by the kernel.
//!
//! | module | holds |
//! |---|---|
//! | `confinement` | starts a command inside a scope and stays with it |
//! | `filter` | the system calls that are refused or asked about, as a program for the kernel |
//! | `control_group` | control groups: a tree of processes bounded and ended by the kernel |
//! | `heartbeat` | keeps those who supervise running, or ends them |
//! | `orphan_control` | what ends an agent when nothing of ours is left to do it |
//! | `kernel` | what this machine can enforce, and what of a scope it cannot |
//! | `launch` | the start itself: a process that gets its restrictions before its program |
//! | `mediation` | answers the calls that the kernel asks about, and puts refusals into words |
//! | `memory` | memory that belongs to no process |
//! | `namespaces` | the view of the file system for a command where Landlock is absent |
//! | `not_held` | what no kernel holds of a scope |
//! | `prepare` | what a process does between its beginning and its program |
//! | `ruleset` | the rules of Landlock for a scope |
//! | `scope` | what a confined command may do, as a value |
//! | `signals` | what we are asked by signals |
//! | `terminal` | a terminal between ours and the agent's |
//! | `terminals` | which terminals a confined command may use |
//! | `process_tree` | the processes below this one: found, measured, ended |
//! | `error` | what can fail here: kind, cause, hint |
//!
//! **Invariants.** What is enforced is enforced by the kernel; what is not is a [`Gap`] and known before the command runs. Nothing here
//! prints, exits or reads the environment. This is the only library with `unsafe`: where the kernel is called in ways that no safe crate
//! has, each place with its reason.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod confinement;
mod control_group;
mod error;
mod filter;
pub mod heartbeat;
mod kernel;
mod launch;
mod mediation;
pub mod memory;
mod namespaces;
mod not_held;
pub mod orphan_control;
mod prepare;
pub mod process_tree;
mod ruleset;
mod scope;
mod signals;
pub mod terminal;
mod terminals;

pub use confinement::{CommandOutcome, ExitCause, SandboxedCommand, run_confined};
pub use control_group::{ControlGroup, GroupLimits};
pub use error::SuperviseError;
pub use heartbeat::{CONFINING, SUPERVISING};
pub use kernel::{Gap, Kernel, OwnView};
pub use mediation::{AttemptedAction, Refusal, SharedKind};
pub use namespaces::Hindrance;
pub use not_held::{NOT_HELD, NotHeld};
pub use orphan_control::Hold;
pub use prepare::{SplitSide, bound_tasks, enter, split};
pub use process_tree::{EndedProcesses, Usage, adopt_orphans, end_all, usage};
pub use scope::{Bytes, Endpoint, Network, Period, ReadScope, ResourceLimits, Scope};
pub use signals::{Signals, ignore_file_size_signal};
