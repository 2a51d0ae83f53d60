//! The call that waits: asking, taking the answer, and saying that it went on.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use checkrein_ledger::{Durability, mask::mask_body};
use checkrein_policy::{ApprovalWait, Digest, Mode};
use checkrein_protocol::{ActionId, HookResponse, RecordBody, ReviewRecord, Timestamp};
use checkrein_review::{Review, VerdictKind};
use checkrein_session::SessionLedger;
use serde_json::json;

use super::answer::Given;
use super::pending::{
    ANSWER_FILE, ASKED_FILE, ApprovalAnswer, ApprovalEnd, ApprovalOutcome, MOST, Question, TAKEN_FILE, at,
    clear_away, folder, kept, later, of_call, opened, settle,
};
use super::put::{FRAMEWORK, PutBy};
use super::repeated::{is_unheard, said_no_before};
use crate::allowances::{self, Allowance, Wholeness};
use crate::asking::{self, Asker};
use crate::checkpoint;
use crate::context::Context;
use crate::corridor::Call;
use crate::engine::halted;
use crate::environment::HostEnvironment;
use crate::held_file::{holder, is_of_program, locked};
use crate::interventions::{tell, tell_with};
use crate::notification::NoticeQuestion;
use crate::processes;
use crate::questions::Nobody;
use crate::seal::BLANK;
use crate::session_ledger::mask_key;
use crate::text::counted;

/// The events in the ledger: something was asked, it was answered or not, something that is no answer was found in its place.
pub const ASKED: &str = "checkrein.approval_asked";
/// The same for an answer, or for its lack.
pub const ANSWERED: &str = "checkrein.approval_answered";
/// The same for what nobody gave.
pub const FORGED: &str = "checkrein.approval_forged";

/// How the record of a call begins that a user said no to.
pub const SAID_NO: &str = "refused: the user said no";

/// How long it is waited between two looks: short for a while, longer for who waits for minutes (ours).
const PAUSE: Duration = Duration::from_millis(25);
const LONG_PAUSE: Duration = Duration::from_millis(100);
const FOR_A_WHILE: Duration = Duration::from_secs(30);
/// How long a halt may go unseen (ours).
const HALT_PAUSE: Duration = Duration::from_millis(500);
/// The shortest time that is worth waiting (ours).
const LEAST: Duration = Duration::from_millis(500);
/// How long a file may be there before it must be an answer: it gets a second name for a moment (ours).
const NAMED_WITHIN: Duration = Duration::from_millis(500);
/// What an agent is told behind a refusal.
pub(super) const AGAIN: &str = "Do not try it again, in this or any other form";
/// After how many forged answers nobody waits any longer (ours).
const FORGERIES: usize = 16;

/// The call that is asked about.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) call: Call<'a>,
    pub(crate) id: &'a ActionId,
    pub(crate) review: &'a Review,
    pub(crate) record: &'a ReviewRecord,
    /// Why nobody can be asked at the client; `None` where somebody can.
    pub(crate) nobody: Option<Nobody>,
    /// Who put the question, where no hook did.
    pub(crate) put: Option<&'a PutBy>,
}

/// What became of a question.
#[derive(Debug)]
pub(crate) enum Waited {
    /// It did not wait.
    NotAsked,
    /// The user said yes.
    Allowed { acknowledgement: Acknowledgement },
    /// It is refused, for this reason.
    Refused {
        /// Why, as a clause for the agent.
        why: String,
        /// What the agent is told behind the reason.
        next: String,
        /// What the record says.
        in_the_record: String,
        /// `None` where nobody was asked, since they said no a moment ago.
        acknowledgement: Option<Acknowledgement>,
    },
}

impl Waited {
    /// What is to be said once the client has this answer; nothing where a yes did not become one.
    pub(crate) fn acknowledgement(self, answer: &HookResponse) -> Option<Acknowledgement> {
        match self {
            Self::NotAsked => None,
            Self::Refused { acknowledgement, .. } => acknowledgement,
            Self::Allowed { mut acknowledgement } => {
                if matches!(answer, HookResponse::Deny { .. } | HookResponse::Halt { .. }) {
                    acknowledgement.settled.end = ApprovalEnd::Stopped;
                }
                Some(acknowledgement)
            }
        }
    }
}

/// What tells who waits for it that a call went on, or was refused. As long as it lives, the question counts as one that waits.
#[derive(Debug)]
pub struct Acknowledgement {
    environment: HostEnvironment,
    id: String,
    shown: String,
    settled: ApprovalOutcome,
    _lock: File,
}

impl Acknowledgement {
    /// Says that the client has its answer. What cannot be written leaves the question as one that has gone.
    pub fn went_on(self) {
        drop(settle(&self.environment, (&self.id, &self.shown), &self.settled));
    }
}

/// Waits for an answer to the question about a call, where it is one that waits. `again` says why the call is not any more what was asked about.
pub(crate) fn wait(
    context: &Context,
    ledger: &SessionLedger,
    asked: &Asked<'_>,
    again: &dyn Fn(&Allowance) -> Option<String>,
) -> Waited {
    let Some((granted, wanted)) = granted(context, asked) else { return Waited::NotAsked };
    if is_unheard(context, ledger) {
        return Waited::NotAsked;
    }
    if let Some(refused) = said_no_before(context, ledger, asked) {
        return refused;
    }
    match Waiting::begin(context, ledger, asked, granted) {
        Ok(waiting) => {
            let found = waiting.until_answered();
            waiting.end(found, wanted, again)
        }
        Err(error) => {
            context.environment().diagnostics.add(format!("nobody could be asked: {error}"));
            Waited::NotAsked
        }
    }
}

/// How long this question waits, and how long it was meant to; `None` where it does not.
fn granted(context: &Context, asked: &Asked<'_>) -> Option<(Duration, Duration)> {
    let config = context.policy().config();
    let is_question = asked.review.verdict.kind == VerdictKind::Escalate && config.mode == Mode::Enforce;
    let wait = config.approvals.wait;
    let is_meant = asked.nobody.map_or(wait == ApprovalWait::Always, |nobody| nobody.waits(wait));
    // What cannot be shown as a whole cannot be agreed to from elsewhere.
    if !is_question || !is_meant || allowances::wholeness(asked.record) == Wholeness::CutShort {
        return None;
    }
    let wanted = Duration::from_secs(config.approvals.wait_seconds);
    let granted = context.environment().patience.as_deref()?.reserve(wanted);
    (granted >= LEAST.min(wanted) && !granted.is_zero()).then_some((granted, wanted))
}

/// What ended the waiting.
pub(super) enum Found {
    Answer(Given),
    Nothing,
    Halted(String),
    Forgeries,
}

pub(super) struct Waiting<'a> {
    context: &'a Context,
    ledger: &'a SessionLedger,
    asked: &'a Asked<'a>,
    question: Question,
    /// The digest of what is shown.
    shown: String,
    limit: Duration,
    lock: File,
}

impl<'a> Waiting<'a> {
    /// Writes the question down, and tells of it.
    pub(super) fn begin(
        context: &'a Context,
        ledger: &'a SessionLedger,
        asked: &'a Asked<'a>,
        limit: Duration,
    ) -> Result<Self, String> {
        let environment = context.environment();
        let folder = folder(environment);
        create(&folder).map_err(|error| error.to_string())?;
        if clear_away(environment).map_err(|error| error.to_string())? >= MOST {
            return Err(format!("{MOST} questions are kept already"));
        }
        let key = mask_key(environment, context.policy().config()).map_err(|error| error.to_string())?;
        let mut body = RecordBody::Review(Box::new(asked.record.clone()));
        mask_body(&mut body, &key);
        let RecordBody::Review(review) = body else { return Err("it cannot be masked".to_owned()) };
        let asked_at = environment.now();
        let process = i32::try_from(std::process::id()).unwrap_or_default();
        let session = ledger.folder().as_str().to_owned();
        let name = format!(
            "{session}\0{}\0{process}\0{}\0{}",
            asked.id.as_str(),
            asked_at.0,
            checkrein_files::aside()
        );
        let digest = Digest::of(&name).to_string();
        let id = digest.trim_start_matches("sha256:").get(..10).unwrap_or_default().to_owned();
        let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let question = Question {
            id,
            session,
            client: match asked.put {
                Some(_) => FRAMEWORK.to_owned(),
                None => environment.client.client.name().to_owned(),
            },
            workspace: context.workspace().clone(),
            why: match (asked.put, asked.nobody) {
                (Some(put), _) => format!("`{}` asks for the word of a person", put.asker),
                (None, Some(nobody)) => nobody.why(),
                (None, None) => "questions wait for an answer from outside the client".to_owned(),
            },
            process,
            asked_at,
            expires_at: Timestamp(asked_at.0.saturating_add(limit_ms)),
            review,
            put: asked.put.cloned(),
            seal: BLANK.to_owned(),
        };
        let text = question.sealed(environment).map_err(|error| error.to_string())?;
        let path = at(environment, &question.id, ASKED_FILE);
        let file = kept(environment, (&question.id, ASKED_FILE), &text).map_err(|error| error.to_string())?;
        let lock = locked(&path, file.as_bytes(), |fresh, path| fs::rename(fresh, path))
            .map_err(|error| error.to_string())?;
        let waiting =
            Self { context, ledger, asked, question, shown: Digest::of(&text).to_string(), limit, lock };
        waiting.tell()?;
        Ok(waiting)
    }

    /// The name of the question.
    pub(super) fn id(&self) -> &str {
        &self.question.id
    }

    /// When the answer is no.
    pub(super) fn expires_at(&self) -> Timestamp {
        self.question.expires_at
    }

    /// Writes into the ledger that it is asked, which must succeed, and tells people.
    fn tell(&self) -> Result<(), String> {
        let Question { id, review, expires_at, .. } = &self.question;
        let call = crate::text::call(review);
        let fields = json!({
            "approval": id,
            "action": self.asked.id,
            "call": call,
            "reason": review.reason,
            "shown": self.shown,
            "why": self.question.why,
            "process": self.question.process,
            "expires_at": expires_at,
        });
        self.record(ASKED, fields)?;
        let text = format!(
            "`{}` in {} ({}): {}\nAllow it: checkrein approval allow {id}\nRefuse it: checkrein approval deny {id}\n\
             Without an answer it is refused after {}.",
            crate::text::cut(&call, 300),
            review.cwd,
            self.question.client,
            self.question.put.as_ref().and_then(|put| put.message.as_deref()).unwrap_or(&review.reason),
            seconds(self.limit),
        );
        let question = NoticeQuestion { id: id.clone(), shown: self.shown.clone(), expires_at: *expires_at };
        let title = "checkrein: a call waits for your answer";
        tell_with(self.context, self.ledger, ("approval", title), &text, Some(question));
        Ok(())
    }

    fn record(&self, name: &str, fields: serde_json::Value) -> Result<(), String> {
        let body = RecordBody::Event { name: name.to_owned(), fields };
        let now = self.context.environment().now();
        self.ledger.append(now, body, Durability::Durable).map(drop).map_err(|error| error.to_string())
    }

    fn file(&self, ending: &str) -> PathBuf {
        at(self.context.environment(), &self.question.id, ending)
    }

    /// Looks for an answer until one comes or the limit is reached.
    pub(super) fn until_answered(&self) -> Found {
        let started = Instant::now();
        let (mut looked, mut there_since, mut forgeries) = (started, None, 0);
        let path = self.file(ANSWER_FILE);
        loop {
            if fs::symlink_metadata(&path).is_ok() {
                let since = *there_since.get_or_insert_with(Instant::now);
                match self.given(&path) {
                    Ok(given) => {
                        // Who withdrew it meanwhile has taken it away.
                        if fs::rename(&path, self.file(TAKEN_FILE)).is_ok() {
                            return Found::Answer(given);
                        }
                    }
                    Err(_) if since.elapsed() < NAMED_WITHIN => {}
                    Err(why) => {
                        self.forged(&path, &why);
                        forgeries += 1;
                        there_since = None;
                        if forgeries >= FORGERIES {
                            return Found::Forgeries;
                        }
                    }
                }
            } else {
                there_since = None;
            }
            let waited = started.elapsed();
            if waited >= self.limit {
                return Found::Nothing;
            }
            if looked.elapsed() >= HALT_PAUSE {
                looked = Instant::now();
                if let Some(reason) = halted(self.context.environment(), &self.asked.call.event.session) {
                    return Found::Halted(reason);
                }
            }
            let pause = if waited < FOR_A_WHILE { PAUSE } else { LONG_PAUSE };
            thread::sleep(pause.min(self.limit.saturating_sub(waited)));
        }
    }

    /// The answer in a file; why it is none otherwise.
    fn given(&self, path: &Path) -> Result<Given, String> {
        let text = opened(self.context.environment(), path, (&self.question.id, ANSWER_FILE))
            .map_err(|error| error.to_string())?;
        let given: Given = serde_json::from_str(&text).map_err(|_| "it is not complete".to_owned())?;
        let process = holder(path).ok_or_else(|| "nobody stands behind it".to_owned())?;
        if let Some(sign) = asking::sign_of(process, Asker::Person) {
            return Err(sign.to_string());
        }
        if let Some(installed) = asking::runs_another(self.context.environment(), process) {
            return Err(format!("the process behind it is another program than `{installed}`"));
        }
        if !is_of_program(process, path) {
            return Err("the process behind it was another program when it took it".to_owned());
        }
        if let Some(code) = processes::foreign_code(process) {
            return Err(format!("the process behind it was made to run other code ({code})"));
        }
        if given.id != self.question.id || given.shown != self.shown {
            return Err("it is the answer to something else".to_owned());
        }
        Ok(given)
    }

    /// Takes away what is no answer, and tells of it.
    fn forged(&self, path: &Path, why: &str) {
        let is_folder = fs::symlink_metadata(path).is_ok_and(|facts| facts.is_dir());
        let removed = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        let problem = removed.err().map(|error| error.to_string());
        let fields = json!({
            "approval": self.question.id, "action": self.asked.id, "why": why, "problem": problem,
        });
        if let Err(error) = self.record(FORGED, fields) {
            self.context.environment().diagnostics.add(format!("not recorded: {error}"));
        }
        let text = format!(
            "Something wrote an answer to the question `{}` that does not count: {why}. Nothing was allowed by it.",
            self.question.id
        );
        tell(self.context, self.ledger, "approval", "checkrein: an answer was forged", &text);
    }

    /// Takes up what was found, and writes it down.
    pub(super) fn end(
        self,
        found: Found,
        wanted: Duration,
        again: &dyn Fn(&Allowance) -> Option<String>,
    ) -> Waited {
        let at = self.context.environment().now();
        let mut settled = ApprovalOutcome { end: ApprovalEnd::Expired, answer: None, by: None, at };
        let mut why = String::new();
        match found {
            Found::Answer(given) => {
                settled.end = match &given.answer {
                    ApprovalAnswer::No { .. } => ApprovalEnd::Denied,
                    ApprovalAnswer::Once | ApprovalAnswer::Session | ApprovalAnswer::Always => {
                        ApprovalEnd::Allowed
                    }
                };
                let changed = || match halted(self.context.environment(), &self.asked.call.event.session) {
                    Some(reason) => Some(reason),
                    None => match of_call(&self.question.review) {
                        Some(asked) => again(&asked),
                        None => Some("it cannot be compared with what was asked about".to_owned()),
                    },
                };
                if settled.end == ApprovalEnd::Allowed
                    && let Some(reason) = changed()
                {
                    settled.end = ApprovalEnd::Stopped;
                    why = reason;
                }
                settled.answer = Some(given.answer);
                settled.by = Some(given.by);
            }
            Found::Nothing => {}
            Found::Halted(reason) => {
                settled.end = ApprovalEnd::Stopped;
                why = reason;
            }
            Found::Forgeries => {
                settled.end = ApprovalEnd::Stopped;
                "answers were forged again and again".clone_into(&mut why);
            }
        }
        let mut fields = json!({
            "approval": self.question.id,
            "action": self.asked.id,
            "end": settled.end,
            "answer": settled.answer.as_ref().map(ApprovalAnswer::word),
            "by": settled.by,
            "asked_at": self.question.asked_at,
            "at": at,
            "shown": self.shown,
        });
        if let Some(ApprovalAnswer::No { message: Some(message) }) = &settled.answer {
            fields["message"] = json!(checkpoint::masked(self.context, message));
        }
        if !why.is_empty() {
            fields["why"] = json!(why);
        }
        if let Err(error) = self.record(ANSWERED, fields)
            && settled.end == ApprovalEnd::Allowed
        {
            // A yes that is not on record is none.
            settled.end = ApprovalEnd::Stopped;
            why = format!("the answer could not be recorded: {error}");
        }
        let words = words(&settled, &why, self.limit, wanted, &later(&self.question.review));
        let acknowledgement = Acknowledgement {
            environment: self.context.environment().clone(),
            id: self.question.id,
            shown: self.shown,
            settled,
            _lock: self.lock,
        };
        match words {
            None => Waited::Allowed { acknowledgement },
            Some((why, next, in_the_record)) => {
                Waited::Refused { why, next, in_the_record, acknowledgement: Some(acknowledgement) }
            }
        }
    }
}

/// Why a call is refused, what the agent does then, and what the record says; `None` where it is allowed.
fn words(
    settled: &ApprovalOutcome,
    why: &str,
    limit: Duration,
    wanted: Duration,
    later: &str,
) -> Option<(String, String, String)> {
    Some(match settled.end {
        ApprovalEnd::Allowed => return None,
        ApprovalEnd::Denied => {
            let said = match &settled.answer {
                Some(ApprovalAnswer::No { message: Some(message) }) => format!("The user says: {message}\n"),
                _ => String::new(),
            };
            (
                "the user was asked and said no".to_owned(),
                format!("{said}{AGAIN}, unless the user's words say otherwise: go on without it."),
                match said.trim() {
                    "" => SAID_NO.to_owned(),
                    said => format!("{SAID_NO}. {said}"),
                },
            )
        }
        ApprovalEnd::Expired => {
            let short = if limit + Duration::from_secs(2) < wanted {
                " (the client's registration allows no longer; the user can run `checkrein init`)"
            } else {
                ""
            };
            let why = format!("the user was asked and did not answer within {}", seconds(limit));
            let next = format!(
                "{AGAIN}: go on without it, and say at the end that it was not done. For the user: {later}{short}."
            );
            let record = format!("refused: nobody answered within {}", seconds(limit));
            (why, next, record)
        }
        ApprovalEnd::Stopped => (
            format!("something changed while the user was asked: {why}"),
            format!("{AGAIN} before that is settled."),
            format!("refused: while the user was asked something changed: {why}"),
        ),
    })
}

fn seconds(duration: Duration) -> String {
    let seconds = duration.as_millis().saturating_add(500) / 1000;
    match seconds {
        0..120 => counted(u64::try_from(seconds).unwrap_or(u64::MAX), "second"),
        more => format!("{} minutes", more.saturating_add(30) / 60),
    }
}

/// Makes the folder, which is for this user alone.
fn create(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;

    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
