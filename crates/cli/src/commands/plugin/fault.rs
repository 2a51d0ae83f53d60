//! How a plugin fails.

use std::fmt;

/// The sorts of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// Its process did not begin, or this machine does not hold its bounds.
    NotStarted,
    /// It did not introduce itself.
    NoGreeting,
    /// It speaks another version of the protocol.
    WrongProtocol,
    /// It took too long.
    Timeout,
    /// It used more than it may.
    Limit,
    /// It ended.
    Ended,
    /// A line is not a JSON object.
    NotJson,
    /// A line is too long.
    TooLong,
    /// A line does not answer what was asked.
    WrongAnswer,
    /// It says itself that it failed.
    OwnError,
    /// What it was given is not wanted where it goes, and stands aside.
    PutAside,
    /// Its files are not those that were enabled.
    Changed,
}

impl FaultKind {
    /// The word in records.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::NotStarted => "not_started",
            Self::NoGreeting => "no_greeting",
            Self::WrongProtocol => "wrong_protocol",
            Self::Timeout => "timeout",
            Self::Limit => "limit",
            Self::Ended => "ended",
            Self::NotJson => "not_json",
            Self::TooLong => "too_long",
            Self::WrongAnswer => "wrong_answer",
            Self::OwnError => "own_error",
            Self::PutAside => "put_aside",
            Self::Changed => "changed",
        }
    }
}

/// A failure of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PluginFault {
    /// Of which sort.
    pub(super) kind: FaultKind,
    /// What is known about it.
    pub(super) detail: String,
    /// The line of its output that shows it, from 1.
    pub(super) line: Option<u64>,
}

impl PluginFault {
    /// A failure that no line shows.
    pub(super) fn new(kind: FaultKind, detail: String) -> Self {
        Self { kind, detail, line: None }
    }
}

impl fmt::Display for PluginFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "line {line} of its output: {}", self.detail),
            None => formatter.write_str(&self.detail),
        }
    }
}
