//! What `--json` prints: one type for each answer, from which its schema and its page are made.
//!
//! | module | holds |
//! |---|---|
//! | `sessions` | answers about sessions, issues, tickets, incidents, surprises |
//! | `approvals` | answers about calls that wait for an answer |
//! | `changes` | answers about change records |
//! | `saved` | answers about snapshots, worktrees, and what puts files back |
//! | `programs` | answers about runs, confined commands and tests |
//! | `installation` | answers about settings, policy, trust, credentials, records |
//! | `gates` | answers of gates |
//! | `pipelines` | answers about pipelines |
//! | `plugins` | answers about plugins |
//! | `pushes` | answers of the hook that looks at pushes |
//! | `fixed` | forms that others rely on, which stay as they are and have no envelope |
//! | `parts` | parts of answers that other crates define |
//! | `reference` | which command answers with what; the schema and the page |
//!
//! An answer is an object. Its first field, `schema`, names its form: `checkrein/NAME/1`. A command that lists prints one such object on each
//! line, every other prints one object. Times are RFC 3339 in UTC. An error is an answer too ([`ErrorAnswer`]), on the stream of the answers.

pub mod approvals;
pub mod changes;
pub mod fixed;
pub mod gates;
pub mod installation;
mod parts;
pub mod pipelines;
pub mod plugins;
pub mod programs;
pub mod pushes;
mod reference;
pub mod saved;
pub mod sessions;

use std::borrow::Cow;

use checkrein_engine::error::{CommandError, ErrorKind};
use checkrein_protocol::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value as Json;

pub use reference::{CHECK, page, schema};

/// Something that `--json` prints, and how its form is called.
pub trait Answer: Serialize + JsonSchema {
    /// The name of the form with its version.
    const SCHEMA: &'static str;
}

/// Names the forms of answers.
macro_rules! answers {
    ($($answer:ty => $name:literal),* $(,)?) => {
        $(impl $crate::api::Answer for $answer {
            const SCHEMA: &'static str = concat!("checkrein/", $name, "/1");
        })*
    };
}
pub(crate) use answers;

#[derive(Serialize)]
struct Envelope<'a, T> {
    schema: &'static str,
    #[serde(flatten)]
    answer: &'a T,
}

/// An answer of a list, on one line.
///
/// # Errors
///
/// What cannot be put into JSON is a defect of ours.
pub fn line<T: Answer>(answer: &T) -> Result<String, CommandError> {
    crate::commands::line(&Envelope { schema: T::SCHEMA, answer })
}

/// The only answer of a command, on several lines.
///
/// # Errors
///
/// What cannot be put into JSON is a defect of ours.
pub fn pretty<T: Answer>(answer: &T) -> Result<String, CommandError> {
    crate::commands::pretty(&Envelope { schema: T::SCHEMA, answer })
}

/// An answer whose form another crate defines, with its name, on several lines.
///
/// # Errors
///
/// What cannot be put into JSON is a defect of ours.
pub fn named(schema: &'static str, answer: &impl Serialize) -> Result<String, CommandError> {
    crate::commands::pretty(&Envelope { schema, answer })
}

/// What the records hold, in their form: see `docs/reference/json.md`.
pub(crate) fn recorded(value: &impl Serialize) -> Json {
    serde_json::to_value(value).unwrap_or_default()
}

/// A time: RFC 3339 in UTC, such as `2026-11-23T01:19:19.000Z`.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Moment(String);

impl From<Timestamp> for Moment {
    fn from(time: Timestamp) -> Self {
        Self::from(time.0)
    }
}

impl From<u64> for Moment {
    /// From milliseconds since 1970.
    fn from(milliseconds: u64) -> Self {
        // The calendar counts seconds; what is left of one goes before the sign for UTC.
        let seconds = Timestamp(milliseconds).calendar().to_rfc3339();
        Self(seconds.replace('Z', &format!(".{:03}Z", milliseconds % 1000)))
    }
}

impl JsonSchema for Moment {
    fn schema_name() -> Cow<'static, str> {
        "Moment".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time", "description": "A time: RFC 3339 in UTC." })
    }
}

/// Why a command failed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorAnswer {
    /// What went wrong.
    pub error: Cause,
}

/// The parts of an error.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cause {
    /// Whose fault it is.
    pub kind: ErrorOrigin,
    /// What happened.
    pub cause: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The exit status of the command.
    pub exit_status: u8,
}

/// Whose fault an error is.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorOrigin {
    /// The command line is not understood.
    Usage,
    /// The request cannot be fulfilled.
    User,
    /// The configuration is wrong.
    Configuration,
    /// The machine refused.
    System,
}

/// Something that is said beside an answer, where that goes to standard error.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Remark {
    /// In words.
    pub text: String,
}

answers! { ErrorAnswer => "error", Remark => "remark" }

impl ErrorAnswer {
    /// Of a command that ends with a status.
    pub fn of(error: &CommandError, exit_status: u8) -> Self {
        let kind = match error.kind {
            ErrorKind::User => ErrorOrigin::User,
            ErrorKind::Configuration => ErrorOrigin::Configuration,
            ErrorKind::System => ErrorOrigin::System,
        };
        Self { error: Cause { kind, cause: error.message.clone(), hint: error.hint.clone(), exit_status } }
    }

    /// Of words that are not a command.
    pub fn of_usage(cause: String, hint: Option<String>, exit_status: u8) -> Self {
        Self { error: Cause { kind: ErrorOrigin::Usage, cause, hint, exit_status } }
    }

    /// On one line.
    pub fn line(&self) -> String {
        line(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rfc_3339_in_utc() {
        let text = |milliseconds: u64| serde_json::to_string(&Moment::from(milliseconds)).unwrap();
        assert_eq!(text(0), r#""1970-01-01T00:00:00.000Z""#);
        assert_eq!(text(1_790_000_000_123), r#""2026-09-21T14:13:20.123Z""#);
    }
}
