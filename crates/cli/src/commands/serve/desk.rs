//! What the server gives on: the commands themselves, with what they print for programs as their answer.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use checkrein_engine::approvals::{ApprovalAnswer, ApprovalSource, HandedOut, PutBy, hand_out};
use checkrein_engine::asking::{self, Asker};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::{CommandError, ErrorKind};
use checkrein_engine::senders::Keeping;
use checkrein_protocol::{AbsolutePath, SessionId};
use checkrein_review::ReviewCache;
use checkrein_server::{AnswerDoor, Commands, Detail, Extent, ServedAnswer, ServedCommand, ServedQuestion};
use serde_json::{Deserializer, Value as Json, json};

use crate::commands::approvals::put::Letter;
use crate::commands::incidents::ClosingSource;
use crate::commands::opinion::{Opinion, OpinionWanted, judge};
use crate::commands::restore::{New, Permissions, RestoreConsent};
use crate::commands::reviews::Shown;
use crate::commands::{
    ExitStatus, OutputForm, Switch, agents, answered_for, approvals, check, diff, halt, incidents, marks,
    reviews, rollback, session_rollback, snapshots, stats,
};
use crate::moments::TimeStart;
use crate::terminal::{Reply, in_dialogue, print_exact};

/// How many rows a list has at most (ours).
const ROWS: usize = 500;
/// How many questions of frameworks wait at once (ours).
const QUESTIONS: usize = 32;
/// The longest line in which such a question says what became of it, in bytes (ours).
const LONGEST_LINE: u64 = 64 * 1024;

/// Carries out commands for the server.
#[derive(Debug)]
pub(super) struct Desk {
    environment: HostEnvironment,
    /// Whether whoever started the server could give the commands themselves that only people may.
    starter: Starter,
    /// The processes in which questions of frameworks wait.
    waiting: Mutex<Vec<Child>>,
    /// Reviews that were asked for, as long as what they rest on holds.
    reviews: Mutex<ReviewCache>,
}

/// Who started the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Starter {
    Person,
    /// It cannot be told: a service, or a process that an agent left behind.
    NotKnown,
}

impl Desk {
    pub(super) fn new(environment: &HostEnvironment) -> Self {
        let starter = match asking::sign(environment, Asker::Person) {
            None => Starter::Person,
            Some(_) => Starter::NotKnown,
        };
        let reviews = Mutex::new(check::cache(environment));
        Self { environment: environment.clone(), starter, waiting: Mutex::default(), reviews }
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

    /// Has a question wait in a process of its own: a lock says who waits, and this process answers questions too.
    fn put(&self, question: ServedQuestion) -> Result<ExitStatus, CommandError> {
        let failed = |error: &dyn std::fmt::Display| CommandError {
            kind: ErrorKind::System,
            message: format!("the question cannot be put: {error}"),
            hint: None,
            in_short: None,
        };
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
        if waiting.len() >= QUESTIONS {
            return Err(CommandError::user(
                format!("{QUESTIONS} questions wait already"),
                "ask again once some of them are answered",
            ));
        }
        let letter = Letter {
            session: question.session,
            put: PutBy {
                asker: question.asker,
                action_hash: question.action_hash,
                message: question.message,
            },
            seconds: question.seconds,
            question: question.question,
        };
        let letter = serde_json::to_vec(&letter).map_err(|error| failed(&error))?;
        let program =
            self.environment.program.as_ref().ok_or_else(|| failed(&"this program is not known"))?;
        // A group of its own: the question outlives the server, and is answered by the command line then.
        let mut child = Command::new(program)
            .args(["approval", "put", "--json"])
            .current_dir(self.environment.cwd.as_str())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| failed(&error))?;
        if let Some(mut pipe) = child.stdin.take() {
            // Who does not read it answers nothing, which is told below.
            drop(pipe.write_all(&letter));
        }
        let output = child.stdout.take().map(BufReader::new);
        waiting.push(child);
        drop(waiting);
        let mut line = String::new();
        if let Some(output) = output {
            output.take(LONGEST_LINE).read_line(&mut line).map_err(|error| failed(&error))?;
        }
        print_exact(&line);
        Ok(ExitStatus::Done)
    }

    fn run(&self, command: ServedCommand) -> Result<ExitStatus, CommandError> {
        const JSON: OutputForm = OutputForm::Json;
        let environment = &self.environment;
        match command {
            ServedCommand::Issues => marks::issues(environment, ROWS, JSON),
            ServedCommand::Incidents => incidents::incidents(environment, JSON),
            ServedCommand::CloseIncident { incident, note, from } => {
                let source = match from {
                    AnswerDoor::Console => ClosingSource::Console,
                    // No link in a notice leads here.
                    AnswerDoor::Api | AnswerDoor::Link => ClosingSource::Api,
                };
                incidents::close(environment, &incident, (&note, source), JSON)
            }
            ServedCommand::Tickets => reviews::reviews(environment, Shown::All, JSON),
            ServedCommand::CloseTicket { ticket, note } => reviews::close(environment, &ticket, &note, JSON),
            ServedCommand::Agents => agents::list(environment, JSON),
            ServedCommand::Tier { agent, tier, note } => {
                agents::tier(environment, &agent, &tier, &note, JSON)
            }
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
            ServedCommand::Stats { period } => {
                stats::stats(environment, &TimeStart::ago(period), Switch::Off, JSON)
            }
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
            ServedCommand::Wrong { action } => {
                judge(environment, &OpinionWanted::only(&action, Opinion::Wrong), JSON)
            }
            ServedCommand::Missed { action } => {
                judge(environment, &OpinionWanted::only(&action, Opinion::Missed), JSON)
            }
            ServedCommand::Approvals => approvals::list(environment, JSON),
            ServedCommand::Approval { approval } => approvals::named(environment, &approval),
            ServedCommand::Put(question) => self.put(question),
            ServedCommand::HandOut { approval, receiver } => {
                let handed = hand_out(environment, &approval, &receiver)
                    .map_err(|error| CommandError::file("write down to whom it goes", &approval, &error))?;
                print_exact(&json!({ "handed_out": handed == HandedOut::ToThem }).to_string());
                Ok(ExitStatus::Done)
            }
            ServedCommand::Answer { approval, answer, shown, from } => {
                let answer = match answer {
                    ServedAnswer::Once => ApprovalAnswer::Once,
                    ServedAnswer::Session => ApprovalAnswer::Session,
                    ServedAnswer::Always => ApprovalAnswer::Always,
                    ServedAnswer::No(message) => ApprovalAnswer::No { message },
                };
                let source = match from {
                    AnswerDoor::Console => ApprovalSource::Console,
                    AnswerDoor::Api => ApprovalSource::Api,
                    AnswerDoor::Link => ApprovalSource::Link,
                };
                approvals::answer_from(environment, &approval, &answer, shown.as_deref(), source)
            }
            ServedCommand::Evaluate { sender, session, question, extent } => {
                let keeping = match extent {
                    Extent::Done => Keeping::Recorded,
                    Extent::Shown => Keeping::Nothing,
                };
                let from = (sender.as_str(), &SessionId(session));
                check::answer_sender(environment, from, &question, keeping, &self.reviews)
            }
            ServedCommand::Check { question } => check::answer(environment, &question, &self.reviews),
        }
    }
}

impl Commands for Desk {
    fn carry_out(&self, command: ServedCommand) -> Result<Vec<Json>, CommandError> {
        let (result, said) = in_dialogue(
            |_, _| Reply::No,
            || match self.starter {
                // Whoever asks has shown the key of a server that a person started, and no agent has it: what commands ask about the process
                // above them is answered by it. The terminal may be closed by now.
                Starter::Person => answered_for(|| self.run(command)),
                // An agent has the key of a server that it started itself.
                Starter::NotKnown => self.run(command),
            },
        );
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
