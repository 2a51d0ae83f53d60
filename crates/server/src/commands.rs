//! The commands of the command line that the server gives on. Whoever starts the server brings them, so that there is one way to do each.

use checkrein_engine::error::CommandError;
use serde_json::Value as Json;

/// A command, with what it is given.
#[derive(Debug, Clone, PartialEq)]
pub enum ServedCommand {
    /// `issue list`.
    Issues,
    /// `incident list`.
    Incidents,
    /// `incident close`.
    CloseIncident {
        /// The incident.
        incident: String,
        /// What the user says about it.
        note: String,
        /// From where it came.
        from: AnswerDoor,
    },
    /// `ticket list`.
    Tickets,
    /// `ticket close`.
    CloseTicket {
        /// The ticket.
        ticket: String,
        /// What the user says about it.
        note: String,
    },
    /// `agent list`.
    Agents,
    /// `agent tier`.
    Tier {
        /// The agent.
        agent: String,
        /// The tier, or `configured`.
        tier: String,
        /// Why.
        note: String,
    },
    /// `snapshot list` in a workspace.
    Snapshots {
        /// The workspace.
        workspace: String,
    },
    /// `snapshot diff` in a workspace: what differs from now.
    Difference {
        /// The workspace.
        workspace: String,
        /// The number of the snapshot.
        snapshot: u64,
        /// What is told of each file.
        detail: Detail,
    },
    /// `snapshot restore` in a workspace.
    Restore {
        /// The workspace.
        workspace: String,
        /// The number of the snapshot.
        snapshot: u64,
        /// What of it; all when empty.
        paths: Vec<String>,
    },
    /// `stats`.
    Stats {
        /// How far back, in milliseconds.
        period: u64,
    },
    /// `halt`.
    Halt {
        /// The session; `None` for all.
        session: Option<String>,
        /// Why.
        reason: String,
    },
    /// `resume`.
    Resume {
        /// The session; `None` for all.
        session: Option<String>,
    },
    /// `session rollback`.
    Rollback {
        /// The session.
        session: String,
        /// Before which action.
        before: String,
        /// Whether it is done.
        extent: Extent,
    },
    /// `wrong`.
    Wrong {
        /// The call.
        action: String,
    },
    /// `missed`.
    Missed {
        /// The call.
        action: String,
    },
    /// `approval list`.
    Approvals,
    /// `approval show`, of exactly this name.
    Approval {
        /// The question.
        approval: String,
    },
    /// A question that a framework puts.
    Put(ServedQuestion),
    /// A yes, handed out to who asked for it.
    HandOut {
        /// The question.
        approval: String,
        /// Who receives it.
        receiver: String,
    },
    /// `approval allow` and `approval deny`.
    Answer {
        /// The question.
        approval: String,
        /// The answer.
        answer: ServedAnswer,
        /// The digest of what who answers was shown; `None` where they read it now.
        shown: Option<String>,
        /// From where it came.
        from: AnswerDoor,
    },
    /// An action of a sender of messages, as a line of `check --batch`.
    Evaluate {
        /// The name that the sender gives of itself.
        sender: String,
        /// The session that it counts to.
        session: String,
        /// The question.
        question: Json,
        /// Whether it is put down, or only answered.
        extent: Extent,
    },
    /// A line of `check --batch`.
    Check {
        /// The question.
        question: Json,
    },
}

/// A question that a framework puts by message.
#[derive(Debug, Clone, PartialEq)]
pub struct ServedQuestion {
    /// The session that it counts to.
    pub session: String,
    /// Who asks, in their own words.
    pub asker: String,
    /// What they say about it.
    pub message: Option<String>,
    /// The digest of the action as it was sent.
    pub action_hash: String,
    /// How long it waits, in seconds.
    pub seconds: u64,
    /// The action, as a line of `check --batch`.
    pub question: Json,
}

/// An answer to a call that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServedAnswer {
    /// Yes, to this call.
    Once,
    /// Yes, for the rest of the session.
    Session,
    /// Yes, from now on.
    Always,
    /// No, with a word to the agent.
    No(Option<String>),
}

/// The way by which an answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerDoor {
    /// A page.
    Console,
    /// A program.
    Api,
    /// A page that a signed link leads to.
    Link,
}

/// What is told of a file that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Its path.
    Paths,
    /// Also the lines that differ.
    Lines,
}

/// Whether something is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// It is.
    Done,
    /// It is shown only.
    Shown,
}

/// Who carries commands out, on a thread that may wait.
pub trait Commands: Send + Sync {
    /// Does it; returns the objects that the command prints with `--json`.
    fn carry_out(&self, command: ServedCommand) -> Result<Vec<Json>, CommandError>;
}
