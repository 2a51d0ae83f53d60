//! What is kept of runs: their state, their lock, where they lie.
//!
//! | module | holds |
//! |---|---|
//! | `error` | why something of a run could not be used |
//! | `file` | private files that are whole or not there |
//! | `hooks` | the limits of a run, for the hooks of its agent |
//! | `lock` | who works on something, and whether they still live |
//! | `state` | what is known of a run, and what is left of its limits |
//! | `store` | all runs: active ones, and those that are done and stay as they are |

mod error;
pub mod file;
mod hooks;
mod lock;
mod state;
mod store;

pub use error::{RunError, RunErrorKind};
pub use hooks::{HookLimits, HookStop, HookSwitch, HookedSession, REWINDS, RUN_VARIABLE, SetBack};
pub use lock::{AcquiredLock, Holder, Insistence, Lock};
pub use state::{
    CommandWord, Profile, RunAttempt, RunEnd, RunId, RunLimits, RunSettings, RunSpending, RunStage, RunState,
    StepSettings,
};
pub use store::{Archived, Found, LoadedRun, RunStateDamage, Runs, Whereabouts};
