//! A question that an agent framework puts: it acts by itself, wants the word of a person first, and asks for it by message (ACGP, HITL). It
//! waits in a process of its own, like the call of a hook, and is answered in the same ways.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::{Duration, Instant};

use checkrein_ledger::Durability;
use checkrein_protocol::{Action, ActionId, HookEvent, HookEventKind, RecordBody, SessionId, Timestamp};
use checkrein_review::VerdictKind;
use serde::{Deserialize, Serialize};

use super::pending::{USED_FILE, at};
use super::waiting::{Asked, Waited, Waiting};
use crate::adjudication::Surface;
use crate::allowances::{self, Allowance, Wholeness};
use crate::checkpoint;
use crate::context::Context;
use crate::corridor::{Call, changed_since};
use crate::engine::halted;
use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::held_file::own_text;
use crate::senders::{begun, brought_along, client_of};
use crate::session_ledger;
use crate::unhooked::looked_at;

/// What the records call the client of such questions.
pub const FRAMEWORK: &str = "acgp";

/// A question that a framework puts.
#[derive(Debug, Clone)]
pub struct PutQuestion {
    /// The session that it counts to.
    pub session: SessionId,
    /// What the framework wants to do.
    pub action: Action,
    /// Who asks, in their own words.
    pub put: PutBy,
    /// How long it waits.
    pub limit: Duration,
}

/// Who put a question, and about what exactly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutBy {
    /// The name that the framework gave of itself.
    pub asker: String,
    /// The digest of the action as it was sent.
    pub action_hash: String,
    /// What the framework says about it; masked.
    pub message: Option<String>,
}

/// What became of it at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put {
    /// It waits.
    Waits {
        /// The name of the question.
        id: String,
        /// When the answer is no.
        expires_at: Timestamp,
    },
    /// Nobody is asked: it is refused anyway.
    Refused {
        /// The verdict.
        verdict: VerdictKind,
        /// Why.
        reason: String,
    },
}

/// Puts a question, tells by `told` what became of it at once, and waits for its answer where it waits for one.
///
/// # Errors
///
/// It cannot be written down.
pub fn put(
    environment: &HostEnvironment,
    question: &PutQuestion,
    told: &mut dyn FnMut(&Put),
) -> Result<(), CommandError> {
    let started = Instant::now();
    let client = client_of(&question.put.asker);
    let context = Context::open(environment.clone(), &question.action.cwd).overseeing(&client);
    let config = context.policy().config();
    let ledger = session_ledger::ledger(environment, &question.session, config);
    let unwritten = |error: &dyn std::fmt::Display| {
        CommandError::user(
            format!("the question cannot be written down: {error}"),
            "check that the state directory can be written to",
        )
    };
    if let Some(reason) = halted(environment, &question.session) {
        told(&Put::Refused { verdict: VerdictKind::Halt, reason });
        return Ok(());
    }
    let mut state = ledger.state().map_err(|error| unwritten(&error))?;
    if state.records() == 0 {
        let debt = brought_along(environment, &client, context.workspace(), config);
        let body = begun(question.session.clone(), client, &question.action, &context, debt);
        ledger.append(environment.now(), body, Durability::Plain).map_err(|error| unwritten(&error))?;
        state = ledger.state().map_err(|error| unwritten(&error))?;
    }
    let id = ActionId(format!("{FRAMEWORK}-{}-{}", environment.now().0, checkrein_files::aside()));
    let (review, mut record, world) =
        looked_at(&context, &question.action, &state, id.clone(), (started, Surface::Message));
    let write = |record| {
        let body = RecordBody::Review(Box::new(record));
        ledger.append(environment.now(), body, Durability::Durable).map_err(|error| unwritten(&error))
    };
    if review.verdict.kind >= VerdictKind::Block {
        let reason = checkpoint::masked(&context, &review.reasoning.primary);
        write(record)?;
        told(&Put::Refused { verdict: review.verdict.kind, reason });
        return Ok(());
    }
    if allowances::wholeness(&record) == Wholeness::CutShort {
        let reason = "the action is too long to be shown as a whole".to_owned();
        record.answered = Some(format!("refused: {reason}"));
        write(record)?;
        told(&Put::Refused { verdict: VerdictKind::Block, reason });
        return Ok(());
    }
    let event = HookEvent {
        client: environment.client.client,
        name: "HITL".to_owned(),
        session: question.session.clone(),
        actor: None,
        cwd: question.action.cwd.clone(),
        permission_mode: None,
        transcript: None,
        moment: HookEventKind::BeforeAction { call: Some(id.clone()), action: question.action.clone() },
    };
    let call = Call { event: &event, id: Some(&id), action: &question.action, halted: None, started };
    let by = PutBy {
        asker: checkpoint::masked(&context, &question.put.asker),
        message: question.put.message.as_deref().map(|text| checkpoint::masked(&context, text)),
        action_hash: question.put.action_hash.clone(),
    };
    let asked = Asked { call, id: &id, review: &review, record: &record, nobody: None, put: Some(&by) };
    let waiting = Waiting::begin(&context, &ledger, &asked, question.limit).map_err(|why| unwritten(&why))?;
    told(&Put::Waits { id: waiting.id().to_owned(), expires_at: waiting.expires_at() });
    let again = |asked: &Allowance| changed_since(&context, &question.action, asked, &world);
    let found = waiting.until_answered();
    let waited = waiting.end(found, question.limit, &again);
    record.answered = match &waited {
        Waited::NotAsked | Waited::Allowed { .. } => None,
        Waited::Refused { in_the_record, .. } => Some(in_the_record.clone()),
    };
    // A yes that is not on record is none: then the question counts as gone.
    write(record)?;
    match waited {
        Waited::NotAsked => {}
        Waited::Allowed { acknowledgement } => acknowledgement.went_on(),
        Waited::Refused { acknowledgement, .. } => {
            if let Some(acknowledgement) = acknowledgement {
                acknowledgement.went_on();
            }
        }
    }
    Ok(())
}

/// Whether an answer is handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandedOut {
    /// To this receiver: for the first time, or since they ask again.
    ToThem,
    /// To another one before: it is used up.
    ToAnother,
}

/// Hands a yes out to the receiver of this name, and to no other: it is good for one action. A receiver that lost it may ask again.
///
/// # Errors
///
/// It cannot be written down to whom it went; then it goes to nobody.
pub fn hand_out(environment: &HostEnvironment, id: &str, receiver: &str) -> io::Result<HandedOut> {
    let path = at(environment, id, USED_FILE);
    let own = checkrein_policy::Digest::of(receiver).to_string();
    match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
        Ok(mut file) => {
            file.write_all(own.as_bytes())?;
            file.sync_all()?;
            Ok(HandedOut::ToThem)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let known = own_text(&path)?;
            Ok(if known == own { HandedOut::ToThem } else { HandedOut::ToAnother })
        }
        Err(error) => Err(error),
    }
}
