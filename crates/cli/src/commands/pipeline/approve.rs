//! A question of a pipeline to a user: it waits as `checkrein approval` knows it, in a process of its own, and is answered there.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

use checkrein_engine::approvals::{self, ApprovalEnd, ApprovalState, PutBy};
use checkrein_policy::Digest;
use checkrein_sandbox::end_with_parent;
use checkrein_supervise::runs::file::replace;
use serde_json::Value as Json;

use super::super::approvals::put::Letter;
use super::act::{StepEvent, StepWork};

/// How often it is looked for an answer.
const LOOKING: Duration = Duration::from_millis(50);

/// What became of a question.
pub(super) enum Answered {
    /// A user said yes; who.
    Yes(String),
    /// No, and why.
    No(String),
    /// There is no answer, and why.
    Nobody(String),
    /// The pipeline was stopped.
    Stopped,
}

/// Asks, and waits for the answer as long as the step may take.
pub(super) fn ask(work: &StepWork, question: Json, message: &str) -> io::Result<Answered> {
    // What was answered while nobody waited for it any more was answered all the same.
    if let Some(before) = &work.question
        && let Some(answered) = settled(work, before)
    {
        return Ok(answered);
    }
    let letter = Letter {
        session: format!("pipeline-{}", work.id),
        put: PutBy {
            asker: format!("the pipeline `{}`, step `{}`", work.pipeline.name, work.step.name),
            action_hash: Digest::of(&question.to_string()).to_string(),
            message: Some(message.to_owned()),
        },
        seconds: work.step.time.0.as_secs(),
        question,
    };
    let mut command = Command::new(work.program()?);
    command.args(["approval", "put"]).current_dir(&work.directory);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    end_with_parent(&mut command);
    let mut child = command.spawn()?;
    let text = serde_json::to_vec(&letter)?;
    child.stdin.take().map(|mut input| input.write_all(&text)).transpose()?;
    let mut line = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    let told: Json = serde_json::from_str(&line).unwrap_or_default();
    let Some(id) = told["id"].as_str() else {
        child.wait()?;
        let reason = told["reason"].as_str().map(|reason| Answered::No(format!("nobody is asked: {reason}")));
        let why = told["error"].as_str().unwrap_or("the question could not be put").to_owned();
        return Ok(reason.unwrap_or(Answered::Nobody(why)));
    };
    let about = message.to_owned();
    drop(work.events.send(StepEvent::Asked { place: work.place, question: id.to_owned(), about }));
    loop {
        if child.try_wait()?.is_some() {
            break;
        }
        if work.stop.load(Ordering::Relaxed) {
            child.kill()?;
            child.wait()?;
            return Ok(Answered::Stopped);
        }
        std::thread::sleep(LOOKING);
    }
    Ok(settled(work, id)
        .unwrap_or_else(|| Answered::Nobody("the question is gone without an answer".to_owned())))
}

/// What became of a question that does not wait any more; `None` where nothing did. Who answered is kept with the attempt.
fn settled(work: &StepWork, id: &str) -> Option<Answered> {
    let found = approvals::one(&work.environment, id)?;
    let settled = found.settled.as_ref();
    if let Some(settled) = settled
        && let Ok(text) = serde_json::to_vec_pretty(settled)
    {
        // The answer counts also where it cannot be kept here: it is in the record of questions.
        drop(replace(&work.folder.join("answer.json"), &text));
    }
    let by = settled.and_then(|settled| settled.by.as_ref()).map_or("a user", |by| by.name.as_str());
    match found.state {
        ApprovalState::Allowed => Some(Answered::Yes(by.to_owned())),
        ApprovalState::Denied => Some(match settled.map(|settled| settled.end) {
            Some(ApprovalEnd::Stopped) => Answered::No("something changed while it waited".to_owned()),
            Some(ApprovalEnd::Allowed | ApprovalEnd::Denied | ApprovalEnd::Expired) | None => {
                Answered::No(format!("{by} said no"))
            }
        }),
        ApprovalState::Expired => Some(Answered::Nobody("nobody answered in time".to_owned())),
        ApprovalState::Pending | ApprovalState::Gone => None,
    }
}
