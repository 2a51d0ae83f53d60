//! `checkrein approval put`: a question that came to the server by message waits here, in a process of its own.

use std::io::Read as _;
use std::time::Duration;

use checkrein_engine::approvals::{self, Put, PutBy, PutQuestion};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_protocol::{BatchQuestion, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::commands::{ExitStatus, check, for_no_agent};
use crate::terminal::print_exact;

/// The longest question, in bytes (ours): as long as the longest body that the server takes.
const LONGEST: u64 = 2 * 1024 * 1024;

/// What the server writes to it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Letter {
    /// The session that it counts to.
    pub(crate) session: String,
    /// Who asks.
    pub(crate) put: PutBy,
    /// How long it waits.
    pub(crate) seconds: u64,
    /// What is to be done, as `check --batch` takes it.
    pub(crate) question: Json,
}

/// Reads the question, says in one line what becomes of it at once, and waits.
pub(crate) fn put(environment: &HostEnvironment) -> Result<ExitStatus, CommandError> {
    for_no_agent(environment, "approval put")?;
    put_what_was_read(environment).inspect_err(|error| {
        print_exact(&json!({ "error": error.message, "hint": error.hint }).to_string());
    })?;
    Ok(ExitStatus::Done)
}

fn put_what_was_read(environment: &HostEnvironment) -> Result<(), CommandError> {
    let unreadable = |error: &dyn std::fmt::Display| {
        CommandError::user(
            format!("the question cannot be read: {error}"),
            "the server writes it; use `serve`",
        )
    };
    let mut text = String::new();
    std::io::stdin().take(LONGEST).read_to_string(&mut text).map_err(|error| unreadable(&error))?;
    let letter: Letter = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    let wanted: BatchQuestion =
        serde_json::from_value(letter.question).map_err(|error| unreadable(&error))?;
    let cwd = check::directory(environment, wanted.cwd.as_deref())?;
    let question = PutQuestion {
        session: SessionId(letter.session),
        action: check::action(wanted, cwd),
        put: letter.put,
        limit: Duration::from_secs(letter.seconds),
    };
    approvals::put(environment, &question, &mut |put| {
        let told = match put {
            Put::Waits { id, expires_at } => json!({ "id": id, "expires_at": expires_at }),
            Put::Refused { verdict, reason } => json!({ "refused": verdict, "reason": reason }),
        };
        print_exact(&told.to_string());
    })
}
