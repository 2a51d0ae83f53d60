//! Why something of a run or its worktree could not be used: kind, cause, hint.

use std::fmt::Display;
use std::io;
use std::path::Path;

/// Whose fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunErrorKind {
    /// What was asked for cannot be.
    Asked,
    /// It is in use by somebody else.
    Busy,
    /// What is there is not provably ours, so it is left alone.
    NotOurs,
    /// Both sides changed the same.
    Conflict,
    /// A file of ours is damaged.
    Damaged,
    /// The machine refused, or `git` did.
    Machine,
}

/// Why something of a run could not be used.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct RunError {
    /// Whose fault it is.
    pub kind: RunErrorKind,
    /// What happened: lower case, no period.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl RunError {
    /// An error of a kind, with what happened and what can be done.
    pub fn new(kind: RunErrorKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: hint.into() }
    }

    /// What was asked for cannot be done.
    pub fn asked(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(RunErrorKind::Asked, message, hint)
    }

    /// Something that is not proved to be ours.
    pub fn not_ours(message: impl Into<String>) -> Self {
        Self::new(
            RunErrorKind::NotOurs,
            message,
            "nothing was touched; look at it yourself and remove by hand what is yours",
        )
    }

    /// The failure of a call of the system, for `map_err`.
    pub fn file<E: Display + Into<io::Error>>(what: &str, path: &Path) -> impl FnOnce(E) -> Self {
        let place = format!("cannot {what} `{}`", path.display());
        move |cause| {
            Self::new(
                RunErrorKind::Machine,
                format!("{place}: {cause}"),
                "check who owns it and whether there is space",
            )
        }
    }
}
