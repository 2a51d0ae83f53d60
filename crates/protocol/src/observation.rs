//! What an outcome showed, in a few numbers: all that the detectors ever see of an output.

use serde::{Deserialize, Serialize};

use crate::mark::Fingerprint;

/// What an outcome showed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Observation {
    /// The mark of the output without times, durations, addresses and colours; zero when it is empty.
    pub digest: Fingerprint,
    /// The error, when the action failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorSignature>,
    /// How many tests passed and failed, when the output says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestCounts>,
    /// What sort of thing was not there, when the action failed for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// What makes it the same failure as another one: the tests that failed, or the text without words that are made up for each run; zero
    /// where it is no other than `digest`.
    #[serde(default, skip_serializing_if = "Fingerprint::is_zero")]
    pub failure: Fingerprint,
}

/// A sort of thing that was used as if it were there (upstream 1.2: phantom files and incorrect references).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// A file or directory.
    Path,
    /// A program.
    Command,
    /// A package of a registry.
    Package,
    /// A module that is loaded.
    Module,
    /// A name in a module, a type or a scope.
    Symbol,
}

/// An error without what differs from one occurrence to the next (upstream 1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorSignature {
    /// What sort of error it is.
    pub category: ErrorCategory,
    /// The mark of its telling line without paths, numbers and times.
    pub signature: Fingerprint,
    /// The mark of the line numbers it names; zero when it names none. The same error at another place is one that moves.
    pub place: Fingerprint,
}

/// The sorts of error (upstream 1.2 and 1.4; `usage`, `resources` and `conflict` are ours).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCategory {
    /// A file, directory, command or host does not exist.
    NotFound,
    /// Not allowed.
    PermissionDenied,
    /// A text that cannot be parsed.
    Syntax,
    /// A module or package that cannot be loaded.
    Import,
    /// It took too long.
    Timeout,
    /// The network.
    Network,
    /// A test that failed.
    TestFailure,
    /// Types do not fit.
    Type,
    /// Options or arguments that the program does not know.
    Usage,
    /// Memory or disk.
    Resources,
    /// A merge or a lock.
    Conflict,
    /// Something else.
    Other,
}

impl ErrorCategory {
    /// The category in words, for a message.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotFound => "something that does not exist",
            Self::PermissionDenied => "a missing permission",
            Self::Syntax => "a syntax error",
            Self::Import => "a module that cannot be loaded",
            Self::Timeout => "a time-out",
            Self::Network => "a network error",
            Self::TestFailure => "a failing test",
            Self::Type => "a type error",
            Self::Usage => "options that the program does not know",
            Self::Resources => "missing memory or space",
            Self::Conflict => "a conflict",
            Self::Other => "the same error",
        }
    }
}

/// How many tests passed and failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCounts {
    /// Passed.
    pub passed: u32,
    /// Failed.
    pub failed: u32,
}

impl Observation {
    /// Whether the action answered nothing.
    pub fn is_empty(&self) -> bool {
        self.digest == Fingerprint::default()
    }
}
