//! What a change record says, and its steps.

use checkrein_policy::Digest;
use checkrein_protocol::{AbsolutePath, Action, ActionId, ChangeId, CodeRecord, Effect, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::allowances::manner;

/// How much of what a verification or a rollback printed is kept, in bytes (ours): its end.
pub const STEP_OUTPUT: usize = 4 * 1024;

/// A change as it was opened. Nothing of it is written again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeRecord {
    /// Its name.
    pub id: ChangeId,
    /// When it was opened.
    pub at: Timestamp,
    /// Who opened it.
    pub by: ChangeActor,
    /// Where it is tracked: a number, a link, a word.
    pub issue: String,
    /// The command, letter by letter.
    pub command: String,
    /// Where it runs.
    pub directory: AbsolutePath,
    /// What of production it is on, in words.
    pub site: String,
    /// Its blast radius: what was predicted that it changes.
    pub effects: Vec<Effect>,
    /// The files of code that it runs.
    pub code: Vec<CodeRecord>,
    /// The commands that take it back, in their order.
    pub rollback: Vec<String>,
    /// The command that succeeds when the change works.
    pub verification: String,
}

/// Who did something about a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeActor {
    /// A person.
    Person,
    /// An agent, or what it started.
    Agent,
}

/// Something that was done about a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum ChangeStep {
    /// A person approved it.
    Approved {
        /// When.
        at: Timestamp,
        /// Until when its command may run.
        until: Timestamp,
        /// Who.
        by: String,
        /// The digest of the record that they read.
        record: String,
    },
    /// Its command was let pass.
    Passed {
        /// When.
        at: Timestamp,
        /// The folder of the session.
        session: String,
        /// The action.
        action: ActionId,
    },
    /// Its command ended.
    Ran {
        /// When.
        at: Timestamp,
        /// Whether it failed.
        failed: bool,
    },
    /// Its verification ran.
    Verified {
        /// When.
        at: Timestamp,
        /// Who ran it.
        by: ChangeActor,
        /// Whether it succeeded.
        passed: bool,
        /// How it ended, in words.
        ended: String,
        /// The end of what it printed, masked.
        output: String,
    },
    /// Its rollback ran.
    RolledBack {
        /// When.
        at: Timestamp,
        /// Whether every command of it succeeded.
        done: bool,
        /// The commands that ran.
        commands: Vec<RolledBackCommand>,
    },
    /// A person closed it.
    Closed {
        /// When.
        at: Timestamp,
        /// What came of it, in their words.
        outcome: String,
    },
}

/// A command of a rollback that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RolledBackCommand {
    /// The command.
    pub command: String,
    /// How it ended, in words.
    pub ended: String,
    /// The end of what it printed, masked.
    pub output: String,
}

impl ChangeStep {
    /// When it was done.
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Approved { at, .. }
            | Self::Passed { at, .. }
            | Self::Ran { at, .. }
            | Self::Verified { at, .. }
            | Self::RolledBack { at, .. }
            | Self::Closed { at, .. } => *at,
        }
    }

    /// Its name: a part of the name of its file, and the word for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Approved { .. } => "approved",
            Self::Passed { .. } => "passed",
            Self::Ran { .. } => "ran",
            Self::Verified { .. } => "verified",
            Self::RolledBack { .. } => "rolled-back",
            Self::Closed { .. } => "closed",
        }
    }
}

/// A change with all that was done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedChange {
    /// What it says.
    pub record: ChangeRecord,
    /// The digest of its file, which an approval names.
    pub digest: String,
    /// What was done about it, oldest first.
    pub steps: Vec<ChangeStep>,
}

/// How it stands with a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeState {
    /// It waits for a person to approve it.
    Waiting,
    /// Its command may run until then.
    Approved(Timestamp),
    /// The approval ended, and its command did not run.
    Expired,
    /// Its command was let pass, and no end of it is known.
    Running,
    /// Its command ran, and nobody verified it.
    Unverified,
    /// Its verification succeeded.
    Verified,
    /// Its verification failed.
    Failed,
    /// It was taken back.
    RolledBack,
    /// It is closed.
    Closed,
}

impl ChangeState {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting for approval",
            Self::Approved(_) => "approved",
            Self::Expired => "approval expired",
            Self::Running => "running",
            Self::Unverified => "not verified",
            Self::Verified => "verified",
            Self::Failed => "verification failed",
            Self::RolledBack => "rolled back",
            Self::Closed => "closed",
        }
    }
}

impl OpenedChange {
    /// How it stands with it at a time.
    pub fn state(&self, now: Timestamp) -> ChangeState {
        let mut state = ChangeState::Waiting;
        for step in &self.steps {
            state = match (step, state) {
                (_, ChangeState::Closed) | (ChangeStep::Closed { .. }, _) => ChangeState::Closed,
                (ChangeStep::Approved { .. }, _) => self.approval(now),
                (ChangeStep::Passed { .. }, _) => ChangeState::Running,
                (ChangeStep::Ran { .. }, _) => ChangeState::Unverified,
                (ChangeStep::Verified { passed: true, .. }, _) => ChangeState::Verified,
                (ChangeStep::RolledBack { done: true, .. }, _) => ChangeState::RolledBack,
                (
                    ChangeStep::Verified { passed: false, .. } | ChangeStep::RolledBack { done: false, .. },
                    _,
                ) => ChangeState::Failed,
            };
        }
        state
    }

    /// What its newest approval comes to: one that is of another text than that of the record is none.
    fn approval(&self, now: Timestamp) -> ChangeState {
        let newest = self.steps.iter().rev().find_map(|step| match step {
            ChangeStep::Approved { at, until, record, .. } => Some((*at, *until, record)),
            ChangeStep::Passed { .. }
            | ChangeStep::Ran { .. }
            | ChangeStep::Verified { .. }
            | ChangeStep::RolledBack { .. }
            | ChangeStep::Closed { .. } => None,
        });
        match newest {
            Some((at, until, record)) if *record == self.digest && at.0 <= now.0.saturating_add(AHEAD) => {
                if now.0 <= until.0 {
                    ChangeState::Approved(until)
                } else {
                    ChangeState::Expired
                }
            }
            Some(_) | None => ChangeState::Waiting,
        }
    }

    /// The call that it was let pass by: the folder of its session and its action.
    pub fn passed(&self) -> Option<(&str, &ActionId)> {
        self.steps.iter().find_map(|step| match step {
            ChangeStep::Passed { session, action, .. } => Some((session.as_str(), action)),
            ChangeStep::Approved { .. }
            | ChangeStep::Ran { .. }
            | ChangeStep::Verified { .. }
            | ChangeStep::RolledBack { .. }
            | ChangeStep::Closed { .. } => None,
        })
    }
}

/// How far in the future an approval may be of, in milliseconds (ours): clocks are set.
const AHEAD: u64 = 5 * 60 * 1000;

/// The digest of a command and the manner in which it is to be run, whatever the client calls its tool; `None` for what is no command.
pub(super) fn command_digest(action: &Action) -> Option<String> {
    let text = action.shell_text()?;
    // Some clients say in the input where a command runs, which the record says of itself.
    let is_place = |value: &Json| value.as_str() == Some(action.cwd.as_str());
    let beside = manner(action)
        .into_iter()
        .filter(|(_, value)| !is_place(value))
        .map(|(name, value)| format!("\u{0}{name} {value}"));
    let whole: String = std::iter::once(text.to_owned()).chain(beside).collect();
    Some(Digest::of(&format!("checkrein change 1\n{whole}")).to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn opened(steps: Vec<ChangeStep>) -> OpenedChange {
        let record = ChangeRecord {
            id: ChangeId("4f3c9a-12ab".to_owned()),
            at: Timestamp(1),
            by: ChangeActor::Agent,
            issue: "OPS-1".to_owned(),
            command: "true".to_owned(),
            directory: AbsolutePath::root(),
            site: String::new(),
            effects: Vec::new(),
            code: Vec::new(),
            rollback: vec!["true".to_owned()],
            verification: "true".to_owned(),
        };
        OpenedChange { record, digest: "sha256:1".to_owned(), steps }
    }

    fn approved(at: u64, until: u64, record: &str) -> ChangeStep {
        let (at, until) = (Timestamp(at), Timestamp(until));
        ChangeStep::Approved { at, until, by: "dev".to_owned(), record: record.to_owned() }
    }

    #[test]
    fn a_command_is_told_by_its_text_and_manner_whatever_the_tool_is_called() {
        let place = AbsolutePath::new("/home/dev/proj").unwrap();
        let of = |tool: &str, input: Json| {
            let tool = checkrein_protocol::ToolName(tool.to_owned());
            command_digest(&Action { tool, input, cwd: place.clone() })
        };
        let plain = command_digest(&Action::command("make deploy", place.clone()));
        assert!(plain.is_some());
        for same in [
            json!({ "command": "make deploy", "description": "Deploy", "timeout": 5 }),
            json!({ "command": "make deploy", "workdir": "/home/dev/proj" }),
        ] {
            assert_eq!(of("Bash", same.clone()), plain, "{same}");
        }
        for other in [
            json!({ "command": "make deploy " }),
            json!({ "command": "make deploy", "workdir": "/home/dev" }),
            json!({ "command": "make deploy", "run_in_background": true }),
            json!({ "command": "make deploy", "sandbox_permissions": "require_escalated" }),
        ] {
            assert_ne!(of("Bash", other.clone()), plain, "{other}");
        }
        assert_eq!(of("Write", json!({ "file_path": "/home/dev/proj/a", "content": "x" })), None);
    }

    #[test]
    fn an_approval_is_of_one_text_and_ends() {
        let whole = opened(vec![approved(10, 20, "sha256:1")]);
        assert_eq!(whole.state(Timestamp(15)), ChangeState::Approved(Timestamp(20)));
        assert_eq!(whole.state(Timestamp(21)), ChangeState::Expired);
        let other = opened(vec![approved(10, 20, "sha256:2")]);
        assert_eq!(other.state(Timestamp(15)), ChangeState::Waiting);
        let future = opened(vec![approved(AHEAD + 100, u64::MAX, "sha256:1")]);
        assert_eq!(future.state(Timestamp(50)), ChangeState::Waiting);
    }

    #[test]
    fn steps_lead_from_one_state_to_the_next() {
        let passed = ChangeStep::Passed {
            at: Timestamp(11),
            session: "s".to_owned(),
            action: ActionId("a".to_owned()),
        };
        let verified = |passed| ChangeStep::Verified {
            at: Timestamp(13),
            by: ChangeActor::Agent,
            passed,
            ended: String::new(),
            output: String::new(),
        };
        let all = vec![
            (approved(10, 20, "sha256:1"), ChangeState::Approved(Timestamp(20))),
            (passed, ChangeState::Running),
            (ChangeStep::Ran { at: Timestamp(12), failed: false }, ChangeState::Unverified),
            (verified(false), ChangeState::Failed),
            (verified(true), ChangeState::Verified),
            (
                ChangeStep::RolledBack { at: Timestamp(14), done: true, commands: Vec::new() },
                ChangeState::RolledBack,
            ),
            (ChangeStep::Closed { at: Timestamp(15), outcome: String::new() }, ChangeState::Closed),
            (approved(16, 20, "sha256:1"), ChangeState::Closed),
        ];
        let mut steps = Vec::new();
        for (step, state) in all {
            steps.push(step);
            assert_eq!(opened(steps.clone()).state(Timestamp(16)), state);
        }
    }
}
