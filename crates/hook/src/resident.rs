//! Asking a process that stays, where there is one: it has in memory what this process would have to read and to build.
//!
//! An answer counts only where everything about it is proven ([`checkrein_engine::resident`]). Whatever else comes, or does not come in time, is
//! as if nobody had been there: the hook decides by itself, within the time that it always has.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use checkrein_clients::{ClientAdapter, HookOutput};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::resident::{self, ResidentKey, Speaker};
use checkrein_protocol::{HookEvent, HookEventKind};

use crate::conversation::{Answer, Conversation, NONCE, Request};

/// How long the other side may take to say that it is there (ours): it says so without being asked. Who is stopped says nothing.
const HELLO_DEADLINE: Duration = Duration::from_millis(100);

/// How long an answer may take from then on (ours). What the hook does by itself after that still ends within its own deadline.
const ANSWER_DEADLINE: Duration = Duration::from_secs(2);

/// The longest payload with which anybody is asked, in bytes (ours): what is longer takes its time anyway.
const LONGEST: usize = 256 * 1024;

/// The name of the program that stays, beside the hook.
const PROGRAM: &str = "checkrein";

/// The answer of a process that stays, with what did not work there; `None` where the hook decides by itself.
pub(crate) fn ask(
    client: &'static ClientAdapter,
    event: &HookEvent,
    environment: &HostEnvironment,
    payload: &[u8],
) -> Option<(HookOutput, Vec<String>)> {
    let is_taken = matches!(event.moment, HookEventKind::BeforeAction { .. } | HookEventKind::AfterAction(_));
    if !is_taken || payload.len() > LONGEST {
        return None;
    }
    // Where nobody listens that is all.
    let mut conversation = Conversation::with(&resident::socket(environment)).ok()?;
    asked(&mut conversation, client, event, environment, payload).ok().flatten()
}

fn asked(
    conversation: &mut Conversation,
    client: &'static ClientAdapter,
    event: &HookEvent,
    environment: &HostEnvironment,
    payload: &[u8],
) -> io::Result<Option<(HookOutput, Vec<String>)>> {
    conversation.give(HELLO_DEADLINE);
    let Some(program) = beside(environment) else { return Ok(None) };
    if !conversation.is_with_own_user()
        || conversation.process().is_none_or(|process| resident::is_untouched(process, &program).is_err())
        || !resident::is_in_its_places(environment, client, &event.cwd, &event.session)
    {
        return Ok(None);
    }
    let Some(key) = ResidentKey::of(environment) else { return Ok(None) };
    let theirs: [u8; NONCE] = conversation.hear_exactly()?;
    let own = fresh()?;
    let request = Request {
        client: client.client.name().to_owned(),
        directory: environment.cwd.to_string(),
        variables: environment.variables.as_ref().clone(),
        payload: payload.to_vec(),
    };
    let request = request.written();
    let code = key.code(Speaker::Hook, &[&theirs, &own, &request]);
    conversation.give(ANSWER_DEADLINE);
    conversation.say(&[&own, &code, &request])?;
    let heard = conversation.hear()?;
    let (code, answer) = heard.split_at_checked(code.len()).unwrap_or_default();
    if !key.is_code(Speaker::Engine, &[&theirs, &own, &request, answer], code) {
        return Ok(None);
    }
    Ok(match Answer::read(answer) {
        Some(Answer::Given { output, remarks }) => Some((output, remarks)),
        Some(Answer::NotTaken) | None => None,
    })
}

/// The program that may answer: it stands in the folder of this one.
fn beside(environment: &HostEnvironment) -> Option<PathBuf> {
    environment.program.as_deref().and_then(Path::parent).map(|folder| folder.join(PROGRAM))
}

/// Bytes that nobody had before.
pub(crate) fn fresh() -> io::Result<[u8; NONCE]> {
    let mut bytes = [0; NONCE];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
