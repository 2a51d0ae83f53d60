//! Questions that wait for an answer from outside the client, where nobody is at it.
//!
//! | module | holds |
//! |---|---|
//! | `pending` | the files of such questions, and how it stands with each |
//! | `answer` | answering one: a user, by a command or a server |
//! | `put` | a question that an agent framework puts by message |
//! | `repeated` | a call that was refused and is made again unchanged |
//! | `waiting` | the call that waits: asking, taking the answer, saying that it went on |
//! | `patience` | how long a call may wait |
//!
//! Files, below `approvals/` in the state directory, by the name of the question:
//!
//! | file | written by | holds |
//! |---|---|---|
//! | `NAME.json` | the waiting call, which holds a lock on it as long as it waits | what is asked |
//! | `NAME.answer` | who answers, who holds a lock on it until the call went on | the answer, and a digest of what was shown |
//! | `NAME.taken` | the waiting call, which renames the answer | the same |
//! | `NAME.done` | the waiting call, once its client has its answer | what became of it |
//! | `NAME.used` | who hands a yes out to the framework that asked | to whom it went |
//!
//! **Invariants.** An answer counts only while the process that wrote it holds the lock, which the kernel tells the waiting call together with
//! its number, and only where nothing says that this process was started by an agent: a file that somebody writes is no answer. An answer is
//! linked to its name, so that of several one counts, and taken by a rename, so that it counts once or is withdrawn. It is for the call that
//! waits, as it was shown: a later one, even with the same text, is another question. Who is killed while they wait take their lock with them,
//! and what was asked is gone.

mod answer;
mod patience;
mod pending;
mod put;
mod repeated;
mod waiting;

pub use answer::{AnsweredApproval, answer};
pub use patience::Patience;
pub use pending::{
    ApprovalAnswer, ApprovalAnswerer, ApprovalEnd, ApprovalOutcome, ApprovalRequest, ApprovalSource,
    ApprovalState, all, one, speaks_against,
};
pub use put::{FRAMEWORK, HandedOut, Put, PutBy, PutQuestion, hand_out, put};
pub use waiting::{ANSWERED, ASKED, Acknowledgement, FORGED, SAID_NO};
pub(crate) use waiting::{Asked, Waited, wait};
