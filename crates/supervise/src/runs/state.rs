//! What is known of a run, and what is left of its limits.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use checkrein_protocol::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::RunError;
use crate::failure::ProviderFailure;
use crate::stream::RunProgress;
use crate::switches::Switches;
use checkrein_sandbox::Bytes;

/// The name of a run: the time at which it began, and what tells it from others of that time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// A name for a run that begins now, in seconds since 1970; `twist` tells it from others of the same second.
    pub fn at(seconds: u64, twist: u32) -> Self {
        let began = Timestamp(seconds.saturating_mul(1_000)).calendar().to_name();
        Self(format!("{began}-{:04x}", twist & 0xffff))
    }

    /// The name as text: digits, `a` to `f` and dashes, so it is a safe file name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = RunError;

    fn from_str(text: &str) -> Result<Self, RunError> {
        let is_plain = text.len() == 20
            && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'a'..=b'f'));
        if is_plain {
            return Ok(Self(text.to_owned()));
        }
        Err(RunError::asked(
            format!("`{}` is not a name of a run", text.escape_debug()),
            "`checkrein run list` lists them",
        ))
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A word of a command line: text where it is text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommandWord {
    /// Text.
    Text(String),
    /// Bytes that are no text.
    Bytes(Vec<u8>),
}

impl From<&OsStr> for CommandWord {
    fn from(word: &OsStr) -> Self {
        word.to_str()
            .map_or_else(|| Self::Bytes(word.as_bytes().to_vec()), |text| Self::Text(text.to_owned()))
    }
}

impl From<CommandWord> for OsString {
    fn from(word: CommandWord) -> Self {
        match word {
            CommandWord::Text(text) => text.into(),
            CommandWord::Bytes(bytes) => OsString::from_vec(bytes),
        }
    }
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStage {
    /// Everything is there for it; the agent does not run yet.
    Prepared,
    /// The agent runs, or was cut off.
    Started,
    /// It was stopped, and can go on.
    Stopped,
    /// It ended by itself.
    Ended,
    /// Its changes are in the work tree that it came from.
    Merged,
    /// Its changes were thrown away.
    Discarded,
}

impl RunStage {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prepared => "prepared",
            Self::Started => "started",
            Self::Stopped => "stopped",
            Self::Ended => "ended",
            Self::Merged => "merged",
            Self::Discarded => "discarded",
        }
    }
}

/// Where a run ends at the latest, as it is written down.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RunLimits {
    /// US dollars.
    pub dollars: Option<f64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Answers of the model.
    pub iterations: Option<u64>,
    /// Milliseconds by the clock.
    pub milliseconds: Option<u64>,
    /// Bytes of memory at one time.
    pub memory: Option<u64>,
}

/// What a run has spent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RunSpending {
    /// US dollars; `None` when that is not known.
    pub dollars: Option<f64>,
    /// Tokens, counted as limits count them.
    pub tokens: u64,
    /// Answers of the model.
    pub iterations: u64,
    /// Milliseconds by the clock.
    pub milliseconds: u64,
}

impl Default for RunSpending {
    fn default() -> Self {
        Self { dollars: Some(0.0), tokens: 0, iterations: 0, milliseconds: 0 }
    }
}

impl RunSpending {
    /// What one attempt has spent.
    pub fn of(progress: &RunProgress, running: Duration) -> Self {
        Self {
            dollars: Some(progress.dollars()),
            tokens: progress.tokens.counted(),
            iterations: progress.iterations,
            milliseconds: u64::try_from(running.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            dollars: self.dollars.zip(other.dollars).map(|(one, two)| one + two),
            tokens: self.tokens.saturating_add(other.tokens),
            iterations: self.iterations.saturating_add(other.iterations),
            milliseconds: self.milliseconds.saturating_add(other.milliseconds),
        }
    }
}

impl RunLimits {
    /// What is written down of switches.
    pub fn of(switches: &Switches) -> Self {
        Self {
            dollars: switches.budget,
            tokens: switches.tokens,
            iterations: switches.iterations,
            milliseconds: switches.time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            memory: switches.memory.map(|bytes| bytes.0),
        }
    }

    /// What is left of them after so much was spent. An error names what is used up, or of what it is not known.
    pub fn left(&self, spent: &RunSpending) -> Result<Switches, RunError> {
        let used_up = |what: String, option: &str| {
            RunError::asked(
                format!("nothing is left of {what}: going on does not renew a limit"),
                format!("give it more: `{option}`"),
            )
        };
        let budget = match (self.dollars, spent.dollars) {
            (None, _) => None,
            (Some(limit), Some(cost)) if cost < limit => Some(limit - cost),
            (Some(limit), Some(_)) => return Err(used_up(format!("its {limit:.2} dollars"), "--budget")),
            (Some(_), None) => {
                return Err(RunError::asked(
                    "it is not known what the run has cost, so its budget cannot hold",
                    "give it a new one: `--budget`",
                ));
            }
        };
        let count = |limit: Option<u64>, used: u64, what: &str, option: &str| match limit {
            Some(limit) if used >= limit => Err(used_up(format!("its {limit} {what}"), option)),
            limit => Ok(limit.map(|limit| limit - used)),
        };
        Ok(Switches {
            budget,
            tokens: count(self.tokens, spent.tokens, "tokens", "--tokens")?,
            iterations: count(self.iterations, spent.iterations, "answers", "--max-iterations")?,
            time: count(self.milliseconds, spent.milliseconds, "milliseconds", "--time")?
                .map(Duration::from_millis),
            // How long it may be silent is no amount that is used up.
            idle: None,
            memory: self.memory.map(Bytes),
            // Nor is how many processes there are.
            tasks: None,
        })
    }
}

/// How one attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// The exit status that the user saw.
    pub status: u8,
    /// The name of the switch that stopped it; `None` when it ended by itself.
    pub stopped_by: Option<String>,
    /// Why, in words.
    pub reason: Option<String>,
    /// What of its provider failed; `None` when nothing did.
    #[serde(default)]
    pub failure: Option<ProviderFailure>,
}

/// The limits of who watches, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Profile(pub String);

/// One time that the agent ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunAttempt {
    /// When it began, in milliseconds since 1970.
    pub at: u64,
    /// What it has spent so far.
    pub spent: RunSpending,
    /// The client's name for its session.
    pub session: Option<String>,
    /// How it ended; `None` while it runs, and when it was cut off.
    pub end: Option<RunEnd>,
}

/// Settings that a pipeline file has for the agent of one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepSettings {
    /// The file, as messages should name it.
    pub file: String,
    /// Texts with settings, those of the pipeline before those of the step.
    pub texts: Vec<String>,
    /// Whether they may only make things stricter, as those of a project.
    pub only_tighten: bool,
}

/// How it is run besides.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunSettings {
    /// How often the agent is started again after a failure that may pass.
    pub retries: u32,
    /// How long it may be silent, in milliseconds; what fits its profile when `None`.
    pub idle: Option<u64>,
    /// How many processes and threads it may have at one time; what is usual when `None`.
    #[serde(default)]
    pub tasks: Option<u32>,
    /// What ends it when all processes of ours are killed at once, in the words of the command line; what fits its profile when `None`.
    pub hold: Option<String>,
    /// The names of credentials with commas, never their values, each with the variable that they are in.
    pub credentials: Vec<(String, CommandWord)>,
    /// One price for every model, in the words of the command line.
    #[serde(default)]
    pub price: Option<String>,
    /// The pipeline that the agent works in.
    #[serde(default)]
    pub pipeline: Option<String>,
    /// The step of it.
    #[serde(default)]
    pub step: Option<String>,
    /// What its file sets for that.
    #[serde(default)]
    pub settings: Option<StepSettings>,
    /// What the kernel keeps the agent within, in the form of the command line; nothing when `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<serde_json::Value>,
}

/// What is known of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// The form of this text.
    pub version: u32,
    /// Its name.
    pub id: RunId,
    /// How far it is.
    pub stage: RunStage,
    /// When it was prepared, in milliseconds since 1970.
    pub created: u64,
    /// When this was written.
    pub written: u64,
    /// The agent and its arguments, with secrets masked.
    pub agent: Vec<CommandWord>,
    /// Whether something in them was masked, so that they cannot be run again.
    pub masked: bool,
    /// Where the agent works.
    pub directory: PathBuf,
    /// The workspace that it was started for.
    pub workspace: PathBuf,
    /// Its worktree, when it has one of its own.
    pub worktree: Option<String>,
    /// Which limits hold besides.
    pub profile: Profile,
    /// The variables that are passed on; all when `None`.
    pub keeps: Option<Vec<CommandWord>>,
    /// How it is run besides.
    #[serde(default)]
    pub manner: RunSettings,
    /// What ends it.
    pub limits: RunLimits,
    /// What counts against the limits: everything since they were given.
    pub counted: RunSpending,
    /// Every time that the agent ran, first first.
    pub attempts: Vec<RunAttempt>,
}

impl RunState {
    /// The form that is written here.
    pub const VERSION: u32 = 1;

    /// What it has spent in all.
    pub fn spent(&self) -> RunSpending {
        self.attempts.iter().fold(RunSpending::default(), |sum, attempt| sum.plus(&attempt.spent))
    }

    /// Whether the client told anything of its work: else what it has spent but for the time is not known.
    pub fn told(&self) -> bool {
        self.session().is_some() || self.spent().iterations > 0
    }

    /// The client's name for its session, the last that is known.
    pub fn session(&self) -> Option<&str> {
        self.attempts.iter().rev().find_map(|attempt| attempt.session.as_deref())
    }

    /// How it ended last.
    pub fn end(&self) -> Option<&RunEnd> {
        self.attempts.last()?.end.as_ref()
    }

    /// The agent ran so far in its last attempt; what that has spent counts against the limits as well.
    pub fn progressed(&mut self, progress: &RunProgress, running: Duration, before: &RunSpending) {
        let spent = RunSpending::of(progress, running);
        self.counted = before.plus(&spent);
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.spent = spent;
            attempt.session = progress.session.clone().or_else(|| attempt.session.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_time() {
        let id = RunId::at(1_763_787_600, 0x2_00ff);
        assert_eq!(id.as_str(), "20251122-050000-00ff");
        assert_eq!(id.as_str().parse::<RunId>().unwrap(), id);
        assert_eq!(RunId::at(951_782_400, 0).as_str(), "20000229-000000-0000");
        for odd in ["", "../../etc/passwd", "20251122-050000-00f/", "20251122-050000-00ffa"] {
            assert!(odd.parse::<RunId>().is_err(), "{odd}");
        }
    }

    #[test]
    fn what_was_spent_is_not_given_again() {
        let limits = RunLimits { dollars: Some(5.0), tokens: Some(1_000), ..RunLimits::default() };
        let spent = RunSpending { dollars: Some(4.0), tokens: 400, iterations: 7, milliseconds: 9 };
        let left = limits.left(&spent).unwrap();
        assert_eq!(
            (left.budget, left.tokens, left.iterations, left.time),
            (Some(1.0), Some(600), None, None)
        );
        let twice = spent.plus(&spent);
        assert!(limits.left(&twice).unwrap_err().message.contains("its 5.00 dollars"));
        let tokens = RunLimits { dollars: None, ..limits };
        assert!(tokens.left(&RunSpending { tokens: 1_000, ..spent }).unwrap_err().hint.contains("--tokens"));
    }

    #[test]
    fn a_cost_that_is_not_known_is_not_zero() {
        let unknown = RunSpending { dollars: None, ..RunSpending::default() };
        assert_eq!(RunSpending::default().plus(&unknown).dollars, None);
        assert!(RunLimits { dollars: Some(5.0), ..RunLimits::default() }.left(&unknown).is_err());
        assert!(RunLimits::default().left(&unknown).is_ok());
    }
}
