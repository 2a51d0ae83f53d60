//! Answering a question.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::thread;
use std::time::{Duration, Instant};

use checkrein_protocol::Timestamp;
use serde::{Deserialize, Serialize};

use super::pending::{
    ANSWER_FILE, ApprovalAnswer, ApprovalAnswerer, ApprovalEnd, ApprovalRequest, ApprovalState, TAKEN_FILE,
    at, kept, one,
};
use crate::allowances;
use crate::asking::{self, Asker};
use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::held_file::locked;
use crate::text::{cut, plain};

/// How long the waiting call has to take an answer, and then to say that it went on (ours).
const TAKEN_WITHIN: Duration = Duration::from_secs(5);
const DONE_WITHIN: Duration = Duration::from_secs(10);
/// How long it is waited between two looks (ours).
const PAUSE: Duration = Duration::from_millis(20);

/// What stands in the file of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Given {
    pub(super) id: String,
    /// The digest of what was shown.
    pub(super) shown: String,
    pub(super) answer: ApprovalAnswer,
    pub(super) by: ApprovalAnswerer,
    pub(super) at: Timestamp,
}

/// An answer that reached its call.
#[derive(Debug, Clone, PartialEq)]
pub struct AnsweredApproval {
    /// The question, with what became of it.
    pub approval: ApprovalRequest,
    /// The name of the allowance that was given beyond the call, where one was.
    pub allowance: Option<String>,
}

/// Answers a question as it was shown, and waits until the call that asks has gone on, or was refused. Whoever calls this has made sure that
/// it is a user who answers. The lock that proves it belongs to this process, so it is not to be called by a process below an agent.
///
/// # Errors
///
/// There is no such question, another one stands in its place by now, nothing waits for it any more, somebody else answers it, or it cannot
/// be answered so.
pub fn answer(
    environment: &HostEnvironment,
    (id, shown): (&str, &str),
    wanted: &ApprovalAnswer,
    by: ApprovalAnswerer,
) -> Result<AnsweredApproval, CommandError> {
    if let Some(sign) = asking::sign_of(own_process(), Asker::Person) {
        return Err(CommandError::user(
            format!("this process cannot answer `{}`: {sign}", plain(id)),
            format!("`checkrein approval allow {}` in a terminal answers it", plain(id)),
        ));
    }
    let approval = one(environment, id).ok_or_else(|| unknown(id))?;
    if approval.shown != shown {
        return Err(CommandError::user(
            format!("`{}` is another question than the one that was shown", plain(id)),
            format!("`checkrein approval show {}` shows what it asks now", plain(id)),
        ));
    }
    if approval.state != ApprovalState::Pending {
        return Err(stale(&approval));
    }
    if let Some(reason) = approval.bars(wanted) {
        return Err(CommandError::user(
            format!(
                "`{}` can be allowed only for the waiting call: {}",
                cut(&approval.call(), 100),
                reason.why()
            ),
            format!("`checkrein approval allow {id} --once` lets it pass this time"),
        ));
    }
    if approval.is_for_once() && wanted.is_lasting() {
        return Err(CommandError::user(
            format!(
                "`{}` can be allowed only this time: whoever asks will ask again",
                cut(&approval.call(), 100)
            ),
            format!("`checkrein approval allow {id} --once` lets it pass this time"),
        ));
    }
    let given = Given {
        id: id.to_owned(),
        shown: approval.shown.clone(),
        answer: wanted.clone(),
        by,
        at: environment.now(),
    };
    let text = serde_json::to_string(&given)
        .map_err(|error| CommandError::user(error.to_string(), "report this as a defect"))?;
    let path = at(environment, id, ANSWER_FILE);
    let text = kept(environment, (id, ANSWER_FILE), &text)
        .map_err(|error| CommandError::file("encrypt", path.display(), &error))?;
    // An answer that was taken has left its name free.
    if at(environment, id, TAKEN_FILE).exists() {
        return Err(answering(id));
    }
    // The lock is held until this ends: it says who answers.
    let lock = locked(&path, text.as_bytes(), |fresh, path| {
        fs::hard_link(fresh, path)?;
        fs::remove_file(fresh)
    })
    .map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => answering(id),
        _ => CommandError::file("write", path.display(), &error),
    })?;
    let settled = until_settled(environment, &given, &lock)?;
    drop(lock);
    if settled.state == ApprovalState::Allowed
        && let Some(rule) = settled.rule(wanted, environment.now())
    {
        let given = allowances::give(environment, &rule).map_err(|error| {
            CommandError::user(
                format!("the call went on, but nothing is allowed beyond it: {error}"),
                format!("`checkrein allow {}` allows more", plain(settled.review.action_id.as_str())),
            )
        });
        return Ok(AnsweredApproval { approval: settled, allowance: Some(given?) });
    }
    Ok(AnsweredApproval { approval: settled, allowance: None })
}

/// Waits until the call has said what became of it. An answer that it does not take is withdrawn.
fn until_settled(
    environment: &HostEnvironment,
    given: &Given,
    answer: &File,
) -> Result<ApprovalRequest, CommandError> {
    let id = given.id.as_str();
    let path = at(environment, id, ANSWER_FILE);
    // Once the call has taken it, somebody else's may stand there: that one is theirs to withdraw.
    let own = answer.metadata().ok().map(|facts| (facts.dev(), facts.ino()));
    let is_own = || fs::symlink_metadata(&path).is_ok_and(|facts| Some((facts.dev(), facts.ino())) == own);
    let started = Instant::now();
    let mut was_taken = None;
    loop {
        let is_there = is_own();
        if !is_there && was_taken.is_none() {
            was_taken = Some(Instant::now());
        }
        let now = one(environment, id).ok_or_else(|| unknown(id))?;
        let is_given_up = was_taken.map_or(started.elapsed() > TAKEN_WITHIN, |at| at.elapsed() > DONE_WITHIN);
        let is_over = now.settled.is_some() || now.state == ApprovalState::Gone || is_given_up;
        if !is_over {
            thread::sleep(PAUSE);
            continue;
        }
        // Whoever renames it has it: the call, or nobody any more.
        let is_withdrawn = is_there && fs::remove_file(&path).is_ok();
        let is_ours = now.settled.as_ref().is_some_and(|settled| {
            let is_same =
                settled.answer.as_ref() == Some(&given.answer) && settled.by.as_ref() == Some(&given.by);
            is_same && settled.end != ApprovalEnd::Stopped && !is_withdrawn
        });
        return if is_ours { Ok(now) } else { Err(stale(&now)) };
    }
}

fn own_process() -> i32 {
    i32::try_from(std::process::id()).unwrap_or_default()
}

fn answering(id: &str) -> CommandError {
    CommandError::user(
        format!("somebody else is answering `{id}`"),
        "`checkrein approval list` shows what became of it",
    )
}

fn unknown(id: &str) -> CommandError {
    CommandError::user(
        format!("no question is called `{}`", plain(id)),
        "`checkrein approval list` lists them",
    )
}

/// What is said to an answer that comes too late.
fn stale(approval: &ApprovalRequest) -> CommandError {
    let settled = approval.settled.as_ref();
    let by = settled.and_then(|settled| settled.by.as_ref()).map(|by| format!(", by {}", by.name));
    let by = by.unwrap_or_default();
    let what = match (approval.state, settled.map(|settled| settled.end)) {
        (ApprovalState::Allowed, _) => format!("it was allowed already{by}"),
        (ApprovalState::Denied, Some(ApprovalEnd::Stopped)) => {
            "the call was refused, since something changed while it waited".to_owned()
        }
        (ApprovalState::Denied, _) => format!("it was refused already{by}"),
        (ApprovalState::Expired, _) => "the answer came too late, and the call was refused".to_owned(),
        (ApprovalState::Gone, _) => "the waiting call has ended, so nothing was allowed".to_owned(),
        (ApprovalState::Pending, _) => "the call that waits did not take the answer".to_owned(),
    };
    let head = match approval.state {
        ApprovalState::Pending => "was not answered",
        ApprovalState::Allowed | ApprovalState::Denied | ApprovalState::Expired | ApprovalState::Gone => {
            "is no longer waiting"
        }
    };
    CommandError::user(format!("`{}` {head}: {what}", approval.id), approval.later())
}
