//! What can fail here: kind, cause, hint.

use std::io;

/// Why a process could not be kept within bounds.
#[derive(Debug, thiserror::Error)]
pub enum SuperviseError {
    /// The program is not there.
    #[error("`{program}` is not there")]
    NotFound {
        /// As it was given.
        program: String,
    },
    /// The program may not be run.
    #[error("`{program}` cannot be run: {source}")]
    NotRun {
        /// As it was given.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// The kernel refused a restriction, so nothing was started.
    #[error("{what} could not be set up: {cause}")]
    Restriction {
        /// Which.
        what: &'static str,
        /// Why.
        cause: String,
    },
    /// What supervision needs could not be set up, and the program had begun, so it was ended.
    #[error("{what} could not be set up: {cause}")]
    Ended {
        /// Which.
        what: &'static str,
        /// Why.
        cause: String,
    },
    /// Text that is not a scope.
    #[error("`{text}` is not {what}")]
    Malformed {
        /// What it should be.
        what: &'static str,
        /// As it was given.
        text: String,
    },
}

impl SuperviseError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "check its name and `PATH`",
            Self::NotRun { .. } => "check that it is a program and that this user may run it",
            Self::Restriction { .. } => {
                "nothing was started; inside a container it may be the container that forbids it"
            }
            Self::Ended { .. } => {
                "the agent had begun, and was ended with all that it started; it may have used up the processes that you may have"
            }
            Self::Malformed { .. } => "`checkrein help` shows the forms with examples",
        }
    }

    /// Why a program was not started.
    pub fn starting(program: String, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NotFound { program },
            _ => Self::NotRun { program, source },
        }
    }

    /// The failure of a restriction, for `map_err`.
    pub fn restriction<E: ToString>(what: &'static str) -> impl FnOnce(E) -> Self {
        move |cause| Self::Restriction { what, cause: cause.to_string() }
    }

    /// The same failure where the program had begun.
    #[must_use]
    pub fn after_start(self) -> Self {
        match self {
            Self::Restriction { what, cause } => Self::Ended { what, cause },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_was_started_is_said_only_where_nothing_was() {
        let failure = || SuperviseError::restriction("a thread")("none is left");
        assert!(failure().hint().contains("nothing was started"));
        let later = failure().after_start();
        assert!(!later.hint().contains("nothing was started"));
        assert_eq!(later.to_string(), failure().to_string());
    }
}
