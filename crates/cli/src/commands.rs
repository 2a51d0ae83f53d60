//! One file for each command of the full program.

#[cfg(target_os = "linux")]
pub mod acp;
pub mod agents;
pub mod allow;
pub mod answers;
pub mod approvals;
pub mod audit;
pub mod audit_keys;
mod call_shown;
pub mod change;
pub mod check;
pub mod config;
pub mod credential;
pub mod diff;
pub mod doctor;
#[cfg(not(target_os = "linux"))]
pub mod elsewhere;
pub mod engine;
#[cfg(target_os = "linux")]
pub mod exec;
pub mod export;
pub mod gate;
pub mod halt;
pub mod history;
pub mod incidents;
pub mod init;
mod insertions;
mod lifted_halts;
pub mod log;
pub(crate) mod manual;
pub mod marks;
pub mod mask;
pub mod mcp;
pub(crate) mod mcp_servers;
pub mod name_choice;
pub mod notify;
pub mod open;
pub mod opinion;
pub mod pipeline;
#[cfg(target_os = "linux")]
pub mod plugin;
pub mod policy;
pub mod policy_try;
pub mod preset;
pub(crate) mod purge;
pub mod push_hook;
pub mod recover;
pub mod replay;
pub mod restore;
pub mod reviews;
pub mod rollback;
#[cfg(target_os = "linux")]
pub mod route;
#[cfg(target_os = "linux")]
pub mod run;
pub mod runs;
pub mod serve;
pub mod session_choice;
mod session_file;
mod session_reading;
pub mod session_rollback;
pub mod sessions;
pub mod settings_change;
mod short_names;
pub mod show;
pub mod snapshots;
pub mod stats;
mod status_line;
pub mod statusline;
mod stopped_calls;
mod story;
pub mod surprises;
pub mod team_policy;
pub mod trust;
pub mod undo;
pub mod uninstall;
pub(crate) mod update;
pub mod watch;
mod whole_files;
pub mod worktree;

use std::cell::Cell;

use checkrein_clients::CLIENTS;
use checkrein_world::find_workspace;

use crate::terminal::{Reply, log as say};
use checkrein_engine::asking::{self, Asker};
use checkrein_engine::config_files::write_private;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::installation::{FALLEN_HINT, Fallen, Installations};

/// How a command ended, as an exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// Done; for `check`, ok or nudge.
    Done,
    /// It failed, or what it looked at is not well.
    Failed,
    /// `check`: block or halt.
    Blocked,
    /// `check`: a user would be asked.
    Escalated,
    /// That of the command that was run.
    Passed(u8),
}

impl ExitStatus {
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
pub enum OutputForm {
    /// Words, tables, colour.
    Text,
    /// JSON.
    Json,
}

impl OutputForm {
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

/// Refuses commands that only a user may give when an agent gives them, or somebody of whom that cannot be told.
pub fn for_people_only(environment: &HostEnvironment, command: &str) -> Result<(), CommandError> {
    for_asker(environment, Asker::Person, command)
}

/// Refuses commands that no agent may give when one gives them; a service may.
pub fn for_no_agent(environment: &HostEnvironment, command: &str) -> Result<(), CommandError> {
    for_asker(environment, Asker::PersonOrService, command)
}

thread_local! {
    /// Whether the work of this thread was asked for by somebody who proved to be the user otherwise than by the process above.
    static ANSWERED_FOR: Cell<bool> = const { Cell::new(false) };
}

/// Does some work that somebody asked for who has shown the key of the server.
pub(crate) fn answered_for<T>(work: impl FnOnce() -> T) -> T {
    let before = ANSWERED_FOR.replace(true);
    let result = work();
    ANSWERED_FOR.set(before);
    result
}

fn for_asker(environment: &HostEnvironment, asker: Asker, command: &str) -> Result<(), CommandError> {
    if ANSWERED_FOR.get() {
        return Ok(());
    }
    match asking::sign(environment, asker) {
        None => Ok(()),
        Some(sign) => {
            let hint = match &sign {
                asking::Sign::Copy(installed) => format!("run `{installed} {command}`"),
                asking::Sign::Environment
                | asking::Sign::Supervised
                | asking::Sign::Client(_)
                | asking::Sign::Detached => "run it yourself in a terminal of your own".to_owned(),
            };
            Err(CommandError::user(format!("`checkrein {command}` is for humans only, and {sign}"), hint))
        }
    }
}

/// How a command ends that asked a user first and got no yes. A no is not an error, though nothing was done; that nobody could answer is.
pub(crate) fn unconfirmed(reply: Reply, output: OutputForm) -> Result<ExitStatus, CommandError> {
    match (reply, output) {
        (Reply::Nobody, _) => Err(CommandError::user(
            "nothing was done: there is no terminal to ask at",
            "`--yes` answers the question for scripts",
        )),
        (Reply::Yes | Reply::No, OutputForm::Json) => Err(CommandError::user(
            "nothing was done: the answer was no",
            "`--yes` does it without a question",
        )),
        (Reply::Yes | Reply::No, OutputForm::Text) => {
            say("nothing was done");
            Ok(ExitStatus::Failed)
        }
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
pub(crate) fn tell_fallen(environment: &HostEnvironment, output: OutputForm) {
    if output == OutputForm::Json {
        return;
    }
    // What cannot be read is told by `doctor`.
    let (here, elsewhere): (Vec<Fallen>, Vec<Fallen>) = Installations::load(environment)
        .unwrap_or_default()
        .fallen()
        .into_iter()
        .partition(|fallen| concerns(environment, fallen));
    // Those of another project are told of once; `doctor` names them always.
    let path = environment.state_path.join("fallen-told.json");
    let told: Vec<String> = checkrein_files::read(path.as_str(), checkrein_files::SMALL)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default();
    let now: Vec<String> = elsewhere.iter().map(ToString::to_string).collect();
    for fallen in here.iter().chain(elsewhere.iter().filter(|fallen| !told.contains(&fallen.to_string()))) {
        say(&format!("warning: {fallen}\nhint: {FALLEN_HINT}"));
    }
    // What an agent read, no user was told of.
    let is_person = asking::sign(environment, Asker::Person).is_none();
    if now != told
        && is_person
        && let Ok(text) = serde_json::to_vec(&now)
        && let Err(error) = write_private(&path, &text)
    {
        say(&error.message);
    }
}

/// Whether settings that no longer call the hooks are those of this project, or of all.
fn concerns(environment: &HostEnvironment, fallen: &Fallen) -> bool {
    let is_of_all = CLIENTS.iter().any(|client| fallen.settings.is_within(&environment.folder_of(client)));
    let workspace = find_workspace(&environment.cwd);
    is_of_all || fallen.settings.is_within(&workspace) || fallen.settings.is_within(&environment.cwd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_statuses_are_those_that_others_rely_on() {
        assert_eq!(
            [ExitStatus::Done, ExitStatus::Failed, ExitStatus::Blocked, ExitStatus::Escalated]
                .map(ExitStatus::code),
            [0, 1, 2, 3]
        );
    }
}
