//! One file for each command of the full program.

pub mod audit;
pub mod check;
pub mod config;
pub mod credential;
pub mod diff;
pub mod doctor;
pub mod exec;
pub mod export;
pub mod halt;
pub mod incidents;
pub mod init;
pub mod kept;
pub mod log;
pub mod marks;
pub mod notify;
pub mod policy;
mod recording;
pub mod recover;
pub mod replay;
pub mod restoring;
pub mod reviews;
pub mod rollback;
pub mod route;
pub mod run;
pub mod runs;
pub mod sessions;
pub mod show;
pub mod snapshots;
pub mod surprises;
pub mod trust;
pub mod undo;
pub mod watch;
pub mod worktree;

use crate::terminal::log as say;
use checkrein_engine::asking::{self, Asker};
use checkrein_engine::environment::Surroundings;
use checkrein_engine::error::CommandError;
use checkrein_engine::installation::{FALLEN_HINT, Installations};

/// How a command ended, as an exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done; for `check`, ok or nudge.
    Done,
    /// It failed, or what it looked at is not well.
    Failed,
    /// `check`: block or halt.
    Blocked,
    /// `check`: a person would be asked.
    Escalated,
    /// That of the command that was run.
    Passed(u8),
}

impl Exit {
    /// The number (design 12).
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Blocked => 2,
            Self::Escalated => 3,
            Self::Passed(status) => status,
        }
    }
}

/// Whether a command prints for people or for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Words, tables, colour.
    Text,
    /// JSON.
    Json,
}

impl Output {
    /// From a `--json` switch.
    pub fn from_switch(json: Switch) -> Self {
        match json {
            Switch::On => Self::Json,
            Switch::Off => Self::Text,
        }
    }
}

/// A switch of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// Given.
    On,
    /// Not given.
    Off,
}

impl From<bool> for Switch {
    fn from(given: bool) -> Self {
        if given { Self::On } else { Self::Off }
    }
}

/// Refuses commands that only a person may give when an agent gives them, or somebody of whom that cannot be told.
pub fn for_people_only(surroundings: &Surroundings, command: &str) -> Result<(), CommandError> {
    for_asker(surroundings, Asker::Person, command)
}

/// Refuses commands that no agent may give when one gives them; a service may.
pub fn for_no_agent(surroundings: &Surroundings, command: &str) -> Result<(), CommandError> {
    for_asker(surroundings, Asker::PersonOrService, command)
}

fn for_asker(surroundings: &Surroundings, asker: Asker, command: &str) -> Result<(), CommandError> {
    match asking::sign(surroundings, asker) {
        None => Ok(()),
        Some(sign) => Err(CommandError::user(
            format!("`checkrein {command}` is for a person, and {sign}"),
            "run it yourself in a terminal of your own",
        )),
    }
}

/// JSON on several lines.
pub fn pretty(value: &impl serde::Serialize) -> Result<String, CommandError> {
    serde_json::to_string_pretty(value)
        .map_err(|error| CommandError::user(error.to_string(), "report this as a defect"))
}

/// JSON on one line.
pub fn line(value: &impl serde::Serialize) -> Result<String, CommandError> {
    serde_json::to_string(value)
        .map_err(|error| CommandError::user(error.to_string(), "report this as a defect"))
}

/// Says, beside the output, in which projects calls were reviewed once and are no more: there no hook runs that could say so.
pub(crate) fn tell_fallen(surroundings: &Surroundings, output: Output) {
    if output == Output::Json {
        return;
    }
    // What cannot be read is told by `doctor`.
    for fallen in Installations::load(surroundings).unwrap_or_default().fallen() {
        say(&format!("warning: {fallen}\nhint: {FALLEN_HINT}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_statuses_are_those_that_others_rely_on() {
        assert_eq!([Exit::Done, Exit::Failed, Exit::Blocked, Exit::Escalated].map(Exit::code), [0, 1, 2, 3]);
    }
}
