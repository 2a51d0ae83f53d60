//! Processes confined, bounded and ended by the kernel.
//!
//! | module | holds |
//! |---|---|
//! | `confinement` | starts a command inside a scope and stays with it |
//! | `filter` | the system calls that are refused or asked about, as a program for the kernel |
//! | `control_group` | control groups: a tree of processes bounded and ended by the kernel |
//! | `heartbeat` | keeps those who supervise running, or ends them |
//! | `orphan_control` | what ends an agent when nothing of ours is left to do it |
//! | `names` | what our own processes are called |
//! | `kernel` | what this machine can enforce, and what of a scope it cannot |
//! | `launch` | the start itself: a process that gets its restrictions before its program |
//! | `mediation` | answers the calls that the kernel asks about, and puts refusals into words |
//! | `memory` | memory that belongs to no process |
//! | `namespaces` | the view of the file system for a command where Landlock is absent |
//! | `not_held` | what no kernel holds of a scope |
//! | `prepare` | what a process does between its beginning and its program |
//! | `ruleset` | the rules of Landlock for a scope |
//! | `scope` | what a confined command may do, as a value |
//! | `shared_segments` | memory of System V that outlives its maker |
//! | `signals` | what we are asked by signals |
//! | `terminal` | a terminal between ours and the agent's |
//! | `terminals` | which terminals a confined command may use |
//! | `process_tree` | the processes below this one: found, measured, ended |
//! | `process_table` | what macOS tells of single processes |
//! | `usage` | what processes use, as a value |
//! | `error` | what can fail here: kind, cause, hint |
//!
//! Only Linux confines and bounds in these ways. Elsewhere the values are there, and [`Kernel::probe`] says that nothing is held.
//!
//! **Invariants.** What is enforced is enforced by the kernel; what is not is a [`Gap`] and known before the command runs. Nothing here
//! prints, exits or reads the environment. This is the only library with `unsafe`: where the kernel is called in ways that no safe crate
//! has, each place with its reason.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod error;
mod kernel;
mod names;
mod not_held;
mod scope;
mod signals;
mod usage;

#[cfg(target_os = "macos")]
pub mod process_table;

#[cfg(target_os = "linux")]
mod confinement;
#[cfg(target_os = "linux")]
mod control_group;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
pub mod heartbeat;
#[cfg(target_os = "linux")]
mod launch;
#[cfg(target_os = "linux")]
mod mediation;
#[cfg(target_os = "linux")]
pub mod memory;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
pub mod orphan_control;
#[cfg(target_os = "linux")]
mod prepare;
#[cfg(target_os = "linux")]
pub mod process_tree;
#[cfg(target_os = "linux")]
mod ruleset;
#[cfg(target_os = "linux")]
pub mod shared_segments;
#[cfg(target_os = "linux")]
pub mod terminal;
#[cfg(target_os = "linux")]
mod terminals;

pub use error::SuperviseError;
pub use kernel::{Gap, Hindrance, Kernel, OwnView, Surroundings};
pub use names::{CONFINING, SUPERVISING};
pub use not_held::{NOT_HELD, NotHeld};
pub use scope::{Bytes, Endpoint, Network, Period, ReadScope, ResourceLimits, Scope};
pub use signals::{Signals, ignore_file_size_signal};
pub use usage::Usage;

#[cfg(target_os = "linux")]
pub use confinement::{CommandOutcome, ExitCause, SandboxedCommand, run_confined};
#[cfg(target_os = "linux")]
pub use control_group::{ControlGroup, GroupLimits};
#[cfg(target_os = "linux")]
pub use mediation::{AttemptedAction, Refusal, SharedKind};
#[cfg(target_os = "linux")]
pub use orphan_control::Hold;
#[cfg(target_os = "linux")]
pub use prepare::{SplitSide, bound_tasks, end_with_parent, enter, split};
#[cfg(target_os = "linux")]
pub use process_tree::{EndedProcesses, adopt_orphans, end_all, usage};
