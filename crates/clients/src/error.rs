//! What can be wrong with a payload or a settings file.

use jsonc_parser::errors::ParseError;
use thiserror::Error;

/// A payload that could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Not JSON.
    #[error("the payload is not JSON: {cause}")]
    NotJson {
        /// What the parser says, with line and column.
        cause: serde_json::Error,
    },
    /// JSON, but not an object.
    #[error("the payload is not a JSON object")]
    NotAnObject,
    /// A name stands twice in one object, and readers differ in which of the two values they take.
    #[error("the payload says something twice, and which of it counts is not known")]
    Twofold,
    /// More values than can be held, in a field by which something is decided.
    #[error("the payload holds more values than are read, in `{field}`")]
    TooManyValues {
        /// Its name.
        field: String,
    },
    /// A field that every payload has is missing or of another type.
    #[error("the payload has no usable field `{field}`")]
    MissingField {
        /// Its name.
        field: &'static str,
    },
    /// A call under an event that is not known.
    #[error("the event `{name}` is not known, and it carries a call of a tool")]
    UnknownEvent {
        /// The name of the event, cut.
        name: String,
    },
    /// A call that can be read in two ways.
    #[error(
        "the input of `{tool}` says different things under names of the same meaning, so what it does cannot be told"
    )]
    Contradicting {
        /// The tool.
        tool: String,
    },
    /// A call whose input has not the form that its tool takes.
    #[error("the input of `{tool}` has no usable `{field}`, so what it does cannot be told")]
    Input {
        /// The tool.
        tool: String,
        /// The name of the field.
        field: &'static str,
    },
}

impl From<ParseError> for SettingsError {
    fn from(error: ParseError) -> Self {
        Self::NotJson {
            line: error.line_display(),
            column: error.column_display(),
            cause: error.kind().to_string(),
        }
    }
}

/// A settings file of a client that could not be edited.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Not JSON; the client ignores the whole file, and so would anything written into it.
    #[error("the settings file is not valid JSON at line {line}, column {column}: {cause}")]
    NotJson {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What the parser says.
        cause: String,
    },
    /// A name that decides about hooks stands twice, and clients differ in which of the two values they take.
    #[error("`{key}` stands twice in the settings file, and which of the two counts is not known")]
    Twofold {
        /// The name.
        key: String,
    },
    /// Not TOML, or not of the form that the client reads.
    #[error("the settings file cannot be read at line {line}: {cause}")]
    NotToml {
        /// From 1.
        line: usize,
        /// What the parser says.
        cause: String,
    },
    /// Something stands where an object or array must be.
    #[error("`{key}` in the settings file is not {expected}")]
    WrongType {
        /// The path of the key.
        key: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A file that would be ours as a whole holds something else.
    #[error("the file is there already and was not written by `checkrein init`")]
    Foreign,
    /// A file that is ours as a whole holds what somebody else wrote into it.
    #[error("the file was changed since `checkrein init` wrote it")]
    Changed,
}

impl SettingsError {
    /// Returns what to do about it where something was to be written.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotJson { .. } | Self::NotToml { .. } => {
                "mend the file by hand first; this file stays as it is"
            }
            Self::Twofold { .. } => "take one of the two away first; this file stays as it is",
            Self::Foreign => "move it away first; this file stays as it is",
            Self::Changed => {
                "move what you added into a file of its own and delete this one; this file stays as it is"
            }
            Self::WrongType { .. } => {
                "the client would drop the whole file with this value; mend it first, this file stays as it is"
            }
        }
    }

    /// Returns what to do about it where the file was only read.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NotJson { .. } | Self::NotToml { .. } => {
                "mend the file by hand, then run `checkrein doctor` again"
            }
            Self::Twofold { .. } => "take one of the two away, then run `checkrein doctor` again",
            Self::Changed => {
                "move what you added into a file of its own, then run `checkrein init` and `checkrein doctor` again"
            }
            Self::Foreign => "move it away, then run `checkrein doctor` again",
            Self::WrongType { .. } => {
                "the client would drop the whole file with this value: mend it, then run `checkrein doctor` again"
            }
        }
    }
}

/// A list of prices that cannot be read.
#[derive(Debug, Error)]
#[error(
    "line {line}, column {column}: `{found}` is not a price; a line is `model,input,output,cache_write,cache_read`"
)]
pub struct PriceError {
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
    /// What stands there.
    pub found: String,
}
