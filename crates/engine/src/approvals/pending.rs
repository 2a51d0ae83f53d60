//! The files of questions that wait, and how it stands with each.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use checkrein_files::Forced;
use checkrein_ledger::FolderName;
use checkrein_policy::Digest;
use checkrein_protocol::{AbsolutePath, ReviewRecord, RuledOut, Timestamp, Unliftable};
use serde::{Deserialize, Serialize};

use super::put::PutBy;
use crate::allowances::{self, Allowance, AllowedFor, Wholeness};
use crate::environment::HostEnvironment;
use crate::error::CommandError;
use crate::held_file::{holder, is_left_behind, own_text};
use crate::seal::{BLANK, Sealed, is_sealed, sealed};
use crate::text::call;

/// The greatest number of questions that are kept (ours).
pub(super) const MOST: usize = 1000;
/// For how long a question is listed after it was asked, in milliseconds (ours).
const LISTED: u64 = 7 * 24 * 60 * 60 * 1000;

pub(super) const ASKED_FILE: &str = ".json";
pub(super) const ANSWER_FILE: &str = ".answer";
pub(super) const TAKEN_FILE: &str = ".taken";
pub(super) const DONE_FILE: &str = ".done";
pub(super) const USED_FILE: &str = ".used";

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalAnswer {
    /// Yes, to the call that waits.
    Once,
    /// Yes, and to the same call in the rest of the session.
    Session,
    /// Yes, and to the same call from now on, where it runs.
    Always,
    /// No.
    No {
        /// A word to the agent.
        message: Option<String>,
    },
}

impl ApprovalAnswer {
    /// In one word: `once`, `session`, `always`, `no`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
            Self::Always => "always",
            Self::No { .. } => "no",
        }
    }

    /// Whether more than the call that waits is allowed.
    pub(super) fn is_lasting(&self) -> bool {
        match self {
            Self::Session | Self::Always => true,
            Self::Once | Self::No { .. } => false,
        }
    }
}

/// From where an answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalSource {
    /// `checkrein approval`.
    CommandLine,
    /// The page of the server.
    Console,
    /// A program that asked the server.
    Api,
    /// Whoever holds a signed link.
    Link,
}

/// Who answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalAnswerer {
    /// Their name: of the login, or by which they signed in.
    pub name: String,
    /// From where.
    pub source: ApprovalSource,
    /// What more is known of it: a terminal, an address.
    pub place: Option<String>,
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalOutcome {
    /// How it ended.
    pub end: ApprovalEnd,
    /// The answer, where there was one.
    pub answer: Option<ApprovalAnswer>,
    /// Who gave it.
    pub by: Option<ApprovalAnswerer>,
    /// When.
    pub at: Timestamp,
}

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalEnd {
    /// The user said yes, and the call went on.
    Allowed,
    /// The user said no.
    Denied,
    /// Nobody answered in time.
    Expired,
    /// The session was halted meanwhile, or the call would do something else by then.
    Stopped,
}

/// How it stands with a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// The call waits.
    Pending,
    /// The user said yes, and the call went on.
    Allowed,
    /// The call was refused: by the user, or since something changed meanwhile.
    Denied,
    /// Nobody answered in time, and the call was refused.
    Expired,
    /// What waited has ended without an answer.
    Gone,
}

impl ApprovalState {
    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Gone => "gone",
        }
    }
}

/// What the waiting call writes down. Everything in it is masked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Question {
    pub(super) id: String,
    pub(super) session: String,
    pub(super) client: String,
    pub(super) workspace: AbsolutePath,
    pub(super) why: String,
    pub(super) process: i32,
    pub(super) asked_at: Timestamp,
    pub(super) expires_at: Timestamp,
    pub(super) review: Box<ReviewRecord>,
    /// Who put it, where no hook did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) put: Option<PutBy>,
    /// The seal of all the rest.
    pub(super) seal: String,
}

impl Question {
    /// The file, sealed: whoever alters what people read of it has no key to seal it again.
    pub(super) fn sealed(&self, environment: &HostEnvironment) -> io::Result<String> {
        sealed(environment, Sealed::Question, &self.id, &serde_json::to_string_pretty(self)?)
    }
}

/// What stands in the file that says what became of a question, sealed for that question as it was shown.
#[derive(Debug, Serialize, Deserialize)]
struct OutcomeFile {
    #[serde(flatten)]
    outcome: ApprovalOutcome,
    seal: String,
}

/// The text of a file of a question as it is kept: encrypted where records are, and bound to its question.
///
/// # Errors
///
/// It is to be encrypted, and there is no key. Then it must not be written.
pub(super) fn kept(
    environment: &HostEnvironment,
    (id, ending): (&str, &str),
    text: &str,
) -> io::Result<String> {
    let vault = environment.state.vault();
    vault.seal_text(text, &format!("approvals/{id}{ending}")).map_err(io::Error::other)
}

/// The text of a file of a question; `ending` is the one that it was written with.
///
/// # Errors
///
/// It is not a file of ours, or its key is not here.
pub(super) fn opened(
    environment: &HostEnvironment,
    path: &Path,
    (id, ending): (&str, &str),
) -> io::Result<String> {
    let vault = environment.state.vault();
    vault.open_text(&own_text(path)?, &format!("approvals/{id}{ending}")).map_err(io::Error::other)
}

/// Says what became of a question, as it was shown.
pub(super) fn settle(
    environment: &HostEnvironment,
    (id, shown): (&str, &str),
    outcome: &ApprovalOutcome,
) -> io::Result<()> {
    let text = serde_json::to_string(&OutcomeFile { outcome: outcome.clone(), seal: BLANK.to_owned() })?;
    let text = sealed(environment, Sealed::Outcome, &format!("{id} {shown}"), &text)?;
    let text = kept(environment, (id, DONE_FILE), &text)?;
    checkrein_files::replace(&at(environment, id, DONE_FILE), text.as_bytes(), 0o600, Forced::Content)
}

/// What became of a question, where the call that waited said it.
fn outcome(environment: &HostEnvironment, id: &str, shown: &str) -> Option<ApprovalOutcome> {
    let text = opened(environment, &at(environment, id, DONE_FILE), (id, DONE_FILE)).ok()?;
    let OutcomeFile { outcome, seal } = serde_json::from_str(&text).ok()?;
    is_sealed(environment, Sealed::Outcome, &format!("{id} {shown}"), &text, &seal).then_some(outcome)
}

/// A question, and how it stands with it.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRequest {
    /// Its name.
    pub id: String,
    /// The session, by the name of its folder.
    pub session: FolderName,
    /// The client.
    pub client: String,
    /// The project.
    pub workspace: AbsolutePath,
    /// Why nobody is asked at the client, as a clause.
    pub why: String,
    /// The number of the process that waits.
    pub process: i32,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When the answer is no.
    pub expires_at: Timestamp,
    /// The review of the call, masked.
    pub review: Box<ReviewRecord>,
    /// Who put it, where no hook did: a framework.
    pub put: Option<PutBy>,
    /// How it stands with it.
    pub state: ApprovalState,
    /// What became of it; `None` where nothing did.
    pub settled: Option<ApprovalOutcome>,
    /// The digest of what is shown of it.
    pub shown: String,
}

impl ApprovalRequest {
    /// The call in one line, masked.
    pub fn call(&self) -> String {
        call(&self.review)
    }

    /// How the user lets the call pass when it is made again, as a sentence without an end.
    pub(super) fn later(&self) -> String {
        later(&self.review)
    }

    /// Why an answer cannot be given; `None` where it can. What holds for longer than the call that waits is held to what `checkrein allow`
    /// lets pass.
    pub fn bars(&self, answer: &ApprovalAnswer) -> Option<Unliftable> {
        if !answer.is_lasting() {
            return None;
        }
        // Whatever rules out anything rules out what lasts.
        speaks_against(&self.review).into_iter().next()
    }

    /// Whether only the call that waits can be allowed, whatever it is: who put the question asks about each.
    pub fn is_for_once(&self) -> bool {
        self.put.is_some()
    }

    /// What an answer allows beyond the call that waits, as `checkrein allow` would write it; `None` for an answer that does not, or cannot.
    pub fn rule(&self, answer: &ApprovalAnswer, at: Timestamp) -> Option<Allowance> {
        if self.put.is_some() {
            return None;
        }
        let span = match answer {
            ApprovalAnswer::Session => AllowedFor::Session(self.session.as_str().to_owned()),
            ApprovalAnswer::Always => AllowedFor::Always,
            ApprovalAnswer::Once | ApprovalAnswer::No { .. } => return None,
        };
        if self.bars(answer).is_some() {
            return None;
        }
        Some(Allowance { span, at, ..of_call(&self.review)? })
    }
}

/// The allowance of one call, once.
pub(super) fn of_call(review: &ReviewRecord) -> Option<Allowance> {
    Some(Allowance {
        digest: review.digest.clone()?,
        directory: AbsolutePath::new(&review.cwd)?,
        is_below: false,
        span: AllowedFor::Once,
        at: Timestamp(0),
        words: call(review),
        effects: review.effects.clone(),
        code: review.code.clone()?,
    })
}

/// What speaks against allowing a recorded call with `checkrein allow`, what rules out most first.
pub fn speaks_against(review: &ReviewRecord) -> Vec<Unliftable> {
    let mut against = review.unliftable.clone();
    let is_barred = against.iter().any(|reason| reason.rules_out() == RuledOut::All);
    if !is_barred && (review.code.is_none() || review.digest.is_none()) {
        against.push(Unliftable::Older);
    }
    match allowances::wholeness(review) {
        Wholeness::Whole => {}
        Wholeness::Masked => against.push(Unliftable::Masked),
        Wholeness::CutShort => against.push(Unliftable::CutShort),
    }
    against.sort_by_key(|reason| (std::cmp::Reverse(reason.rules_out()), *reason));
    against.dedup();
    against
}

/// How the user lets a recorded call pass when it is made again, as a sentence without an end.
pub(super) fn later(review: &ReviewRecord) -> String {
    match speaks_against(review).into_iter().find(|reason| reason.rules_out() == RuledOut::All) {
        Some(reason) => reason.instead().to_owned(),
        None => format!(
            "`checkrein allow {}` lets the call pass when it is made again",
            crate::text::plain(review.action_id.as_str())
        ),
    }
}

/// All questions, oldest first. What cannot be read is left out: it is no question of ours.
///
/// # Errors
///
/// The folder cannot be read.
pub fn all(environment: &HostEnvironment) -> Result<Vec<ApprovalRequest>, CommandError> {
    let names = names(environment)
        .map_err(|error| CommandError::file("read", folder(environment).display(), &error))?;
    let mut found: Vec<ApprovalRequest> = names.iter().filter_map(|name| read(environment, name)).collect();
    found.sort_by(|one, other| (one.asked_at, &one.id).cmp(&(other.asked_at, &other.id)));
    Ok(found)
}

/// The question of this name; `None` when there is none.
pub fn one(environment: &HostEnvironment, id: &str) -> Option<ApprovalRequest> {
    read(environment, id)
}

fn read(environment: &HostEnvironment, id: &str) -> Option<ApprovalRequest> {
    if !is_name(id) {
        return None;
    }
    let path = at(environment, id, ASKED_FILE);
    let text = opened(environment, &path, (id, ASKED_FILE)).ok()?;
    let question: Question = serde_json::from_str(&text).ok()?;
    if question.id != id || !is_sealed(environment, Sealed::Question, id, &text, &question.seal) {
        return None;
    }
    let shown = Digest::of(&text).to_string();
    // The lock first: whoever gives it up has written before what became of the question.
    let is_held = holder(&path) == Some(question.process);
    let settled = outcome(environment, id, &shown);
    let is_late = environment.now() > question.expires_at;
    let state = match &settled {
        Some(settled) => match settled.end {
            ApprovalEnd::Allowed => ApprovalState::Allowed,
            ApprovalEnd::Denied | ApprovalEnd::Stopped => ApprovalState::Denied,
            ApprovalEnd::Expired => ApprovalState::Expired,
        },
        None if !is_held => ApprovalState::Gone,
        None if is_late => ApprovalState::Expired,
        None => ApprovalState::Pending,
    };
    Some(ApprovalRequest {
        session: FolderName::on_disk(question.session.as_ref())?,
        id: question.id,
        client: question.client,
        workspace: question.workspace,
        why: question.why,
        process: question.process,
        asked_at: question.asked_at,
        expires_at: question.expires_at,
        review: question.review,
        put: question.put,
        state,
        settled,
        shown,
    })
}

/// The names of all questions.
fn names(environment: &HostEnvironment) -> io::Result<Vec<String>> {
    let folder = folder(environment);
    match fs::symlink_metadata(&folder) {
        Ok(facts) if facts.is_dir() => {}
        Ok(_) => return Err(io::Error::new(ErrorKind::NotADirectory, "it is not a directory")),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    }
    let entries = fs::read_dir(&folder)?.flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let asked = names.filter_map(|name| name.strip_suffix(ASKED_FILE).map(str::to_owned));
    Ok(asked.filter(|name| is_name(name)).take(MOST).collect())
}

/// Removes what was asked long ago, and what killed processes were writing; how many questions are left. No file is opened: closing one would give up the locks of this process.
pub(super) fn clear_away(environment: &HostEnvironment) -> io::Result<usize> {
    let now = environment.now();
    for entry in fs::read_dir(folder(environment))?.flatten() {
        if is_left_behind(&entry.path(), now.0) {
            drop(fs::remove_file(entry.path()));
        }
    }
    let mut left = 0;
    for name in names(environment)? {
        let path = at(environment, &name, ASKED_FILE);
        let written = fs::symlink_metadata(&path)?.mtime().unsigned_abs().saturating_mul(1000);
        if now.0.saturating_sub(written) <= LISTED {
            left += 1;
            continue;
        }
        for ending in [ANSWER_FILE, TAKEN_FILE, DONE_FILE, USED_FILE, ASKED_FILE] {
            // What stays is looked at again next time.
            drop(fs::remove_file(at(environment, &name, ending)));
        }
    }
    Ok(left)
}

fn is_name(name: &str) -> bool {
    (4..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Where questions and answers are.
pub(super) fn folder(environment: &HostEnvironment) -> PathBuf {
    environment.state.root().join("approvals")
}

pub(super) fn at(environment: &HostEnvironment, id: &str, ending: &str) -> PathBuf {
    folder(environment).join(format!("{id}{ending}"))
}
