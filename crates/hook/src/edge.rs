//! The hook's edge: one payload on standard input, one JSON object on standard output and exit status 0, whatever happens; or, for clients that
//! obey nothing but an exit status, the reason on standard error and exit status 2.
//!
//! The work is done in a thread with a stack of its own, so that neither depth nor time nor a panic in it can hold up an answer. The main
//! thread waits for a bounded time, and answers by the table of [`checkrein_engine::fail_closed`] when that thread did not.

use std::io::{self, Write as _};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use checkrein_clients::{ClientAdapter, FIRST, HookOutput};
use checkrein_protocol::{HookEvent, HookEventKind, HookResponse, SessionId};
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::remarks::{log, log_all};
use crate::resident;
use checkrein_engine::Engine;
use checkrein_engine::approvals::{Acknowledgement, Patience};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::fail_closed::Failure;
use checkrein_engine::installation::calls_its_own_hooks;

/// The greatest payload that is read, in bytes. The outcome of an edit carries the whole old file, so this is generous; it takes up to
/// four times as much memory (ours).
const PAYLOAD_LIMIT: usize = 12 * 1024 * 1024;

/// The longest shell command that is looked at, in bytes: no system starts a shell with more than 128 KiB on its command line (ours).
const COMMAND_LIMIT: usize = 2 * 1024 * 1024;

/// How long a payload may take to arrive (ours).
const INPUT_DEADLINE: Duration = Duration::from_secs(5);

/// How long the work may take: far below the time-out of the client, after which it would let the call run (ours).
const WORK_DEADLINE: Duration = Duration::from_secs(10);

/// How long the work may take once the waiting for an answer of a user is over, so that it ends within the time of the client (ours).
const REST_DEADLINE: Duration = Duration::from_secs(7);

/// How long the process stays to write down why it refused (ours).
const RECORD_DEADLINE: Duration = Duration::from_secs(1);

/// Room for the recursion of the interpreter, which is bounded by counts and needs far less (ours). Only touched pages cost anything.
pub(crate) const STACK: usize = 64 * 1024 * 1024;

/// Answers one hook call of the client with this name. One that this version does not know is answered in the form that most clients obey,
/// which is that of the first. Never fails: what goes wrong is in the answer.
///
/// `waits` is how long an answer of a user may be waited for, in seconds, as the registration says it; without it, what fits into the time
/// that `checkrein init` registers.
pub fn answer_hook_of(name: Option<&str>, waits: Option<u32>) {
    let begun = Instant::now();
    let known = name.map(checkrein_clients::named);
    if let (Some(None), Some(name)) = (known, name) {
        log(&format!(
            "checkrein-hook: no client is called `{name}`; it is answered like `{}`",
            FIRST.client.name()
        ));
    }
    let client = known.flatten().unwrap_or(FIRST);
    let limit = waits.or_else(|| client.hooks.patience()).map_or(0, u64::from);
    answer_hook(client, &Arc::new(Patience::new(begun, Duration::from_secs(limit))));
}

/// Answers one hook call of a client. Never fails: what goes wrong is in the answer.
fn answer_hook(client: &'static ClientAdapter, patience: &Arc<Patience>) {
    // A panic message would go to the client's log with whatever it quotes.
    panic::set_hook(Box::new(|_| {}));
    // Where files may not grow, a record that cannot be written must be an error and not the end of this process.
    checkrein_sandbox::ignore_file_size_signal();
    match read_payload() {
        // Somebody looks what this program does: there is no call of which a record would tell.
        Ok(payload) if payload.iter().all(u8::is_ascii_whitespace) => {
            let failure = Failure::Payload("nothing came on the input".to_owned());
            let refused = (client.refuse)(&failure.reason());
            write(&refused);
            end(&refused);
        }
        Ok(payload) => work_on(client, payload, patience),
        Err(failure) => refuse(client, None, &failure),
    }
}

/// Whether an answer could be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    /// It could.
    Yes,
    /// The client closed the pipe.
    No,
}

/// Gives the answer; a client that closed the pipe cannot be told anything any more.
fn write(answer: &HookOutput) -> Heard {
    let mut output = io::stdout().lock();
    let written = output.write_all(&answer.object).and_then(|()| output.flush());
    if let Some(reason) = &answer.refusal {
        drop(writeln!(io::stderr().lock(), "{}", reason.trim_end()));
    }
    if written.is_ok() { Heard::Yes } else { Heard::No }
}

/// Has the work done by a thread, which gives the answer itself and ends the process, so that nobody has to be woken for it.
fn work_on(client: &'static ClientAdapter, payload: Vec<u8>, patience: &Arc<Patience>) {
    // Who answers, the worker or the main thread: the first one to set it.
    let answered = Arc::new(AtomicBool::new(false));
    // Whose call it is, as soon as that is known.
    let session = Arc::new(OnceLock::new());
    let (sender, receiver) = mpsc::channel();
    let shared = (Arc::clone(&session), Arc::clone(&answered), Arc::clone(patience));
    let worker = thread::Builder::new().stack_size(STACK).spawn(move || {
        let (session, answered, patience) = shared;
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| respond(client, payload, &session, patience)));
        match outcome.unwrap_or(Err(Failure::Panic)) {
            Ok((answer, approval)) => {
                if !answered.swap(true, Ordering::AcqRel) {
                    // Only what the client could take up has gone on.
                    if let (Heard::Yes, Some(approval)) = (write(&answer), approval) {
                        approval.went_on();
                    }
                    end(&answer);
                }
            }
            // The main thread may have given up already.
            Err(failure) => drop(sender.send(failure)),
        }
    });
    let failure = match worker {
        Err(error) => Failure::Resources(error.to_string()),
        Ok(_) => failure_within(&receiver, patience),
    };
    if answered.swap(true, Ordering::AcqRel) {
        // It came in the last moment and is being written: the worker ends the process.
        drop(receiver.recv());
        return;
    }
    refuse(client, session.get().cloned(), &failure);
}

/// The failure of the work, where it fails or takes too long; what is waited for an answer of a user does not count.
fn failure_within(receiver: &mpsc::Receiver<Failure>, patience: &Patience) -> Failure {
    let begun = Instant::now();
    loop {
        let left = || patience.extended(WORK_DEADLINE, REST_DEADLINE, begun).saturating_sub(begun.elapsed());
        match receiver.recv_timeout(left()) {
            Ok(failure) => return failure,
            Err(RecvTimeoutError::Disconnected) => return Failure::Panic,
            Err(RecvTimeoutError::Timeout) if !left().is_zero() => {}
            Err(RecvTimeoutError::Timeout) => return Failure::ReviewDeadline,
        }
    }
}

#[expect(clippy::exit, reason = "the answer is given, and no other thread has anything to say")]
fn end(answer: &HookOutput) {
    std::process::exit(answer.status())
}

fn respond(
    client: &'static ClientAdapter,
    payload: Vec<u8>,
    session: &OnceLock<SessionId>,
    patience: Arc<Patience>,
) -> Result<(HookOutput, Option<Acknowledgement>), Failure> {
    let started = Instant::now();
    let event = (client.decode)(&payload).map_err(|error| Failure::Payload(error.to_string()))?;
    // Nobody else sets it.
    drop(session.set(event.session.clone()));
    if is_too_long(&event) {
        return Err(Failure::Oversize);
    }
    let environment = HostEnvironment::of_process().map_err(|error| Failure::Resources(error.to_string()))?;
    let event = checkrein_clients::adapter(event.client).workspace.placed(event, &environment.cwd);
    // A client that calls the hooks of another one beside its own is answered by its own: each call counts once.
    let caller = checkrein_clients::adapter(event.client);
    if caller.client != client.client && calls_its_own_hooks(&environment, caller) {
        return Ok(((caller.encode)(&event, &HookResponse::NoOpinion, None), None));
    }
    if let Some((answer, remarks)) = resident::ask(client, &event, &environment, &payload) {
        log_all(&remarks);
        std::mem::forget((event, environment, payload));
        return Ok((answer, None));
    }
    // What was large is not kept twice.
    drop(payload);
    let engine = Engine::new(environment.with_patience(patience));
    let mut response = engine.answer(&event, started);
    log_all(&response.diagnostics);
    // Some clients call the hooks of another one, with payloads of their own.
    let client = checkrein_clients::adapter(event.client);
    let encoded = (client.encode)(&event, &response.answer, response.for_user.as_deref());
    let approval = response.approval.take();
    // The process ends in a moment and gives all its memory back at once; giving it back piece by piece costs more than that.
    std::mem::forget((engine, event, response));
    Ok((encoded, approval))
}

/// Whether a command is longer than is looked at.
pub(crate) fn is_too_long(event: &HookEvent) -> bool {
    match &event.moment {
        HookEventKind::BeforeAction { action, .. } => {
            action.shell_text().is_some_and(|text| text.len() > COMMAND_LIMIT)
        }
        _ => false,
    }
}

/// Refuses because of a failure at the edge: first the answer, which touches nothing that may hang, then, if that is still possible
/// and does not take long, the record of it.
fn refuse(client: &'static ClientAdapter, session: Option<SessionId>, failure: &Failure) {
    let refused = (client.refuse)(&failure.reason());
    write(&refused);
    let failure = failure.clone();
    let (sender, receiver) = mpsc::channel::<()>();
    let recorder = thread::Builder::new().spawn(move || {
        let record = || {
            if let Ok(environment) = HostEnvironment::of_process() {
                checkrein_engine::record_failure(&environment, session, &failure);
                log_all(&environment.diagnostics.take());
            }
        };
        drop(panic::catch_unwind(AssertUnwindSafe(record)));
        drop(sender);
    });
    if recorder.is_ok() {
        // It ends when the record is written; when it is not, the answer stands all the same.
        let _ = receiver.recv_timeout(RECORD_DEADLINE);
    }
    end(&refused);
}

/// Reads until the end of the input, or until a whole JSON object has come and nothing more is waiting: a client that never closes
/// the pipe is answered all the same.
fn read_payload() -> Result<Vec<u8>, Failure> {
    let input = io::stdin();
    let deadline = Instant::now() + INPUT_DEADLINE;
    // Small, since every page that a short process touches first costs it a fault; a large payload grows it.
    let mut payload = Vec::with_capacity(2 * 1024);
    loop {
        if !is_readable(&input, Duration::ZERO)? {
            if is_whole(&payload) {
                return Ok(payload);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || !is_readable(&input, left)? {
                return Err(Failure::InputDeadline);
            }
        }
        payload.reserve(1024);
        match rustix::io::read(&input, spare_capacity(&mut payload)) {
            Ok(0) => return Ok(payload),
            Ok(_) | Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(error) => return Err(Failure::Payload(format!("the payload could not be read: {error}"))),
        }
        if payload.len() > PAYLOAD_LIMIT {
            return Err(Failure::Oversize);
        }
    }
}

fn is_readable(input: &io::Stdin, wait: Duration) -> Result<bool, Failure> {
    let mut waiting = [PollFd::new(input, PollFlags::IN)];
    let wait = Timespec::try_from(wait).map_err(|_| Failure::InputDeadline)?;
    match poll(&mut waiting, Some(&wait)) {
        Ok(count) => Ok(count > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(Failure::Resources(error.to_string())),
    }
}

fn is_whole(payload: &[u8]) -> bool {
    let ends = payload.iter().rev().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'}');
    ends && serde_json::from_slice::<serde::de::IgnoredAny>(payload).is_ok()
}
