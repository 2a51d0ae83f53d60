//! What the server gives on: the commands themselves, with what they print for programs as their answer.

use std::path::Path;

use checkrein_engine::approvals::{ApprovalAnswer, ApprovalSource};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_protocol::AbsolutePath;
use checkrein_server::{AnswerDoor, Commands, Detail, Extent, ServedAnswer, ServedCommand};
use serde_json::{Deserializer, Value as Json};

use crate::commands::opinion::{Opinion, judge};
use crate::commands::restore::{New, Permissions, RestoreConsent};
use crate::commands::reviews::Shown;
use crate::commands::{
    ExitStatus, OutputForm, Switch, answered_for, approvals, check, diff, halt, incidents, marks, reviews,
    rollback, session_rollback, snapshots, stats,
};
use crate::terminal::{Reply, in_dialogue};

/// How many rows a list has at most (ours).
const ROWS: usize = 500;

/// Carries out commands for the server.
#[derive(Debug)]
pub(super) struct Desk {
    environment: HostEnvironment,
}

impl Desk {
    pub(super) fn new(environment: &HostEnvironment) -> Self {
        Self { environment: environment.clone() }
    }

    /// As if the user stood in a workspace.
    fn within(&self, workspace: &str) -> Result<HostEnvironment, CommandError> {
        let cwd = AbsolutePath::new(workspace).filter(|path| Path::new(path.as_str()).is_dir());
        let cwd = cwd.ok_or_else(|| {
            CommandError::user(
                format!("`{workspace}` is not a directory"),
                "give the root of the workspace as an absolute path",
            )
        })?;
        Ok(HostEnvironment { cwd, ..self.environment.clone() })
    }

    fn run(&self, command: ServedCommand) -> Result<ExitStatus, CommandError> {
        const JSON: OutputForm = OutputForm::Json;
        let environment = &self.environment;
        match command {
            ServedCommand::Issues => marks::issues(environment, ROWS, JSON),
            ServedCommand::Incidents => incidents::incidents(environment, JSON),
            ServedCommand::Tickets => reviews::reviews(environment, Shown::All, JSON),
            ServedCommand::CloseTicket { ticket, note } => reviews::close(environment, &ticket, &note, JSON),
            ServedCommand::Snapshots { workspace } => snapshots::list(&self.within(&workspace)?, ROWS, JSON),
            ServedCommand::Difference { workspace, snapshot, detail } => {
                let patch = match detail {
                    Detail::Paths => Switch::Off,
                    Detail::Lines => Switch::On,
                };
                diff::diff(&self.within(&workspace)?, number(snapshot)?, None, patch, JSON)
            }
            ServedCommand::Restore { workspace, snapshot, paths } => {
                let permissions = Permissions { consent: RestoreConsent::Given, ..Permissions::default() };
                rollback::rollback(&self.within(&workspace)?, number(snapshot)?, &paths, permissions, JSON)
            }
            ServedCommand::Stats { period } => stats::stats(environment, period, Switch::Off, JSON),
            ServedCommand::Halt { session, reason } => {
                halt::halt(environment, session.as_deref(), &reason, JSON)
            }
            ServedCommand::Resume { session } => {
                let which = session.as_deref().map_or(halt::Which::All, halt::Which::Named);
                halt::resume(environment, which, JSON)
            }
            ServedCommand::Rollback { session, before, extent } => {
                let consent = match extent {
                    Extent::Done => RestoreConsent::Given,
                    Extent::Shown => RestoreConsent::ShowOnly,
                };
                let terms = (consent, New::default());
                session_rollback::rollback_session(environment, &session, &before, terms, JSON)
            }
            ServedCommand::Wrong { action } => judge(environment, &action, Opinion::Wrong, JSON),
            ServedCommand::Missed { action } => judge(environment, &action, Opinion::Missed, JSON),
            ServedCommand::Approvals => approvals::list(environment, JSON),
            ServedCommand::Answer { approval, answer, from } => {
                let answer = match answer {
                    ServedAnswer::Once => ApprovalAnswer::Once,
                    ServedAnswer::Session => ApprovalAnswer::Session,
                    ServedAnswer::Always => ApprovalAnswer::Always,
                    ServedAnswer::No(message) => ApprovalAnswer::No { message },
                };
                let source = match from {
                    AnswerDoor::Console => ApprovalSource::Console,
                    AnswerDoor::Api => ApprovalSource::Api,
                };
                approvals::answer_from(environment, &approval, &answer, source)
            }
            ServedCommand::Check { question } => check::answer(environment, &question),
        }
    }
}

impl Commands for Desk {
    fn carry_out(&self, command: ServedCommand) -> Result<Vec<Json>, CommandError> {
        // Whoever asks has shown the key of the server, which no agent has: what commands ask about the process above them is answered by it.
        let (result, said) = in_dialogue(|_, _| Reply::No, || answered_for(|| self.run(command)));
        result?;
        Ok(values(&said))
    }
}

fn number(snapshot: u64) -> Result<checkrein_snapshot::SnapshotId, CommandError> {
    snapshot.to_string().parse().map_err(|_| {
        CommandError::user(format!("`{snapshot}` is not a snapshot"), "`checkrein snapshot list` lists them")
    })
}

/// The objects in what a command said; remarks in words between them are left out.
fn values(said: &str) -> Vec<Json> {
    let mut found = Vec::new();
    let mut rest = said;
    while let Some(start) = rest.find('{') {
        rest = &rest[start..];
        let mut stream = Deserializer::from_str(rest).into_iter::<Json>();
        match stream.next() {
            Some(Ok(value)) => {
                found.push(value);
                rest = &rest[stream.byte_offset()..];
            }
            Some(Err(_)) | None => rest = rest.split_once('\n').map_or("", |(_, rest)| rest),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_between_remarks() {
        let said = "a remark {\n{\"a\": 1}\n{\n  \"b\": {}\n}\nread 1 of 2\n";
        assert_eq!(values(said), [serde_json::json!({"a": 1}), serde_json::json!({"b": {}})]);
        assert!(values("").is_empty());
    }
}
