//! What a command can fail with, as a user reads it.

use std::fmt;

use checkrein_clients::SettingsError;
use checkrein_ledger::LedgerError;
use checkrein_sandbox::SuperviseError;
use checkrein_snapshot::SnapshotError;
use checkrein_supervise::runs::{RunError, RunErrorKind};

/// Whose fault it is; decides the wording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The user asked for something that cannot be.
    User,
    /// The configuration is wrong.
    Configuration,
    /// The machine refused.
    System,
}

/// The failure of a command: kind, cause, hint.
#[derive(Debug)]
pub struct CommandError {
    /// Whose fault it is.
    pub kind: ErrorKind,
    /// What happened: lower case, no period.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The message on one line, where it has several.
    pub in_short: Option<String>,
}

impl CommandError {
    /// The user asked for something that cannot be.
    pub fn user(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind: ErrorKind::User, message: message.into(), hint: Some(hint.into()), in_short: None }
    }

    /// The file with the settings of a client cannot be edited.
    pub fn settings(path: impl fmt::Display, error: SettingsError) -> Self {
        let message = format!("`{path}`: {error}");
        Self { message, ..Self::from(error) }
    }

    /// The failure on one line.
    pub fn in_short(&self) -> &str {
        self.in_short.as_deref().unwrap_or(&self.message)
    }

    /// The machine refused to do something with a file.
    pub fn file(what: &str, path: impl fmt::Display, error: &std::io::Error) -> Self {
        let hint = match error.kind() {
            std::io::ErrorKind::PermissionDenied => {
                Some("check who owns it and who may write there".to_owned())
            }
            std::io::ErrorKind::StorageFull => Some("free some space and try again".to_owned()),
            _ => None,
        };
        Self {
            kind: ErrorKind::System,
            message: format!("cannot {what} `{path}`: {error}"),
            hint,
            in_short: None,
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for CommandError {}

impl From<LedgerError> for CommandError {
    fn from(error: LedgerError) -> Self {
        Self {
            kind: ErrorKind::System,
            message: error.to_string(),
            hint: Some(error.hint().to_owned()),
            in_short: None,
        }
    }
}

impl From<SnapshotError> for CommandError {
    fn from(error: SnapshotError) -> Self {
        let is_unknown = matches!(error, SnapshotError::Unknown(_));
        let kind = if is_unknown { ErrorKind::User } else { ErrorKind::System };
        Self { kind, message: error.to_string(), hint: Some(error.hint().to_owned()), in_short: None }
    }
}

impl From<SuperviseError> for CommandError {
    fn from(error: SuperviseError) -> Self {
        Self {
            kind: ErrorKind::System,
            message: error.to_string(),
            hint: Some(error.hint().to_owned()),
            in_short: None,
        }
    }
}

impl From<RunError> for CommandError {
    fn from(error: RunError) -> Self {
        let kind = match error.kind {
            RunErrorKind::Asked | RunErrorKind::Busy | RunErrorKind::NotOurs | RunErrorKind::Conflict => {
                ErrorKind::User
            }
            RunErrorKind::Damaged | RunErrorKind::Machine => ErrorKind::System,
        };
        Self { kind, message: error.message, hint: Some(error.hint), in_short: None }
    }
}

impl From<SettingsError> for CommandError {
    fn from(error: SettingsError) -> Self {
        Self {
            kind: ErrorKind::Configuration,
            message: error.to_string(),
            hint: Some(error.hint().to_owned()),
            in_short: None,
        }
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        Self { kind: ErrorKind::System, message: error.to_string(), hint: None, in_short: None }
    }
}
