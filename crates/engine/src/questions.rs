//! Whether a question reaches a user. A question that nobody answers must not become a yes. It is refused here, in words that do not say
//! that somebody is being asked. One that became a yes all the same is noticed afterwards.
//!
//! What a client does with a question of its hook is told by its row ([`checkrein_clients::ClientAdapter::questions`]).

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use checkrein_clients::{Announces, Question, Questions};
use checkrein_facts::History;
use checkrein_ledger::last;
use checkrein_policy::{ApprovalWait, Profile};
use checkrein_protocol::{
    AbsolutePath, Action, ActionId, DoubtRecord, Enforcement, HookEvent, HookEventKind, PermissionMode,
    Record, RecordBody, ReviewRecord, UnansweredRecord,
};
use checkrein_session::SessionLedger;

use checkrein_review::{MOST_DOUBT, Review, Subject, VerdictKind};
use serde_json::{Value as Json, json};

use crate::approvals;
use crate::context::Context;
use crate::environment::HostEnvironment;
use crate::other_answerers::brought_by_project;
use crate::processes::{self, Process, words_of};
use crate::records::recorded_input;
use crate::text::call;
use crate::text::cut;

/// What the doubt grows by when a call ran without its answer, in hundredths of risk (ours): as much as by a file that an understood command deleted unseen.
const POINTS: i32 = 12;

/// In how many of the newest records the review of a call and the question about it are looked for (ours).
const RECORDS: [usize; 2] = [16, 256];

/// How long the question about a call is waited for when its outcome came first: hooks of one call may run side by side (ours).
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(50);

/// How many processes above the hook are looked at to find its client (ours).
const ANCESTORS: usize = 6;

/// What the record says of a question that waits for the same call once more.
pub const TOLD_FIRST: &str = "told why first: the client's own question does not show it";

/// Why nobody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nobody {
    /// The profile is for work that nobody watches.
    Profile(Profile),
    /// The user does not want to be asked.
    NotWanted,
    /// The client decides about such places by itself, whatever its hooks say.
    Decided(PermissionMode),
    /// The client runs without a user, and without a way to ask one.
    Headless,
    /// The client, by its title, does not know questions of hooks.
    Lost(&'static str),
    /// A hook that the project brings, in this file or folder, answers before the user can.
    AnsweredBy(&'static str),
    /// Somebody can be asked, and would not be shown why: they read it first.
    Unexplained,
}

impl Nobody {
    /// Why a question about this call reaches nobody; `None` when it reaches a user, as far as can be told.
    pub(crate) fn about(
        event: &HookEvent,
        review: &Review,
        profile: Profile,
        around: &HostEnvironment,
        workspace: &AbsolutePath,
        history: &History,
    ) -> Option<Self> {
        match profile {
            Profile::Unattended | Profile::Strict => return Some(Self::Profile(profile)),
            Profile::Interactive => {}
        }
        let (HookEventKind::BeforeAction { action, .. } | HookEventKind::PermissionAsked { action }) =
            &event.moment
        else {
            return None;
        };
        let question = Question {
            tool: &action.tool,
            permission_mode: event.permission_mode,
            shell_text: action.shell_text(),
            effects: &review.side_effects.effects,
            workspace,
            home: &around.home,
            variables: &around.variables,
        };
        let answered = || brought_by_project(around, workspace, &event.cwd).map(Self::AnsweredBy);
        match (around.client.questions)(&question) {
            Questions::Asked => answered(),
            Questions::AskedUnexplained => {
                if let Some(answered) = answered() {
                    return Some(answered);
                }
                // The same call once more: they have read it.
                let is_told = history.recent.iter().any(|past| past.exact == review.fingerprint.exact);
                (!is_told).then_some(Self::Unexplained)
            }
            Questions::AskedOfProgram(argument) => {
                let is_nobody = answering_program(around.process, argument) == Answering::Nobody;
                if is_nobody { Some(Self::Headless) } else { answered() }
            }
            Questions::AskedUnless(arguments) => {
                if is_started_with(around.process, arguments) {
                    Some(Self::Headless)
                } else {
                    answered()
                }
            }
            Questions::NotWanted => Some(Self::NotWanted),
            Questions::Decided(mode) => Some(Self::Decided(mode)),
            Questions::Lost => Some(Self::Lost(around.client.title)),
        }
    }

    /// Whether the client, which asks now, has that answered by something else than its user.
    pub(crate) fn is_answered_elsewhere(self) -> bool {
        match self {
            Self::Profile(_) | Self::NotWanted | Self::Decided(_) | Self::Headless => true,
            // The user reads what this client asks by itself; hooks of others are looked after where the call is reviewed.
            Self::Lost(_) | Self::AnsweredBy(_) | Self::Unexplained => false,
        }
    }

    /// Whether such a question waits for an answer from outside the client.
    pub(crate) fn waits(self, wait: ApprovalWait) -> bool {
        match self {
            Self::Profile(_) => wait <= ApprovalWait::Unattended,
            Self::NotWanted | Self::Decided(_) | Self::Headless | Self::Lost(_) | Self::AnsweredBy(_) => {
                wait <= ApprovalWait::Lost
            }
            Self::Unexplained => wait <= ApprovalWait::Always,
        }
    }

    /// Why, as a clause.
    pub(crate) fn why(self) -> String {
        match self {
            Self::Profile(profile) => format!("the profile is `{}`", profile.word()),
            Self::NotWanted => "the client is told not to ask (`dontAsk`)".to_owned(),
            Self::Decided(PermissionMode::BypassPermissions) => "permissions are bypassed".to_owned(),
            Self::Decided(PermissionMode::Auto) => "in mode `auto` a model answers for the user".to_owned(),
            Self::Decided(PermissionMode::Plan) => {
                "in mode `plan` the client may let this call through unasked".to_owned()
            }
            Self::Decided(_) => "the client may decide by itself in its permission mode".to_owned(),
            Self::Headless => "the client runs without a user".to_owned(),
            Self::Lost(title) => format!("{title} asks nobody on behalf of a hook"),
            Self::AnsweredBy(place) => {
                format!("a hook in `{place}` of this project answers in place of the user")
            }
            Self::Unexplained => "the client does not show them why".to_owned(),
        }
    }

    /// How a user allows it after all, as a clause behind "by".
    fn way(self) -> &'static str {
        match self {
            Self::Profile(_) => {
                "doing it in a terminal, with `checkrein allow LAST` there, or with another profile (`checkrein config show profile` says which file sets it)"
            }
            Self::NotWanted | Self::Decided(_) => {
                "doing it in a terminal, with `checkrein allow LAST` there, or by going on in permission mode `default`, in which they are asked"
            }
            Self::Headless => {
                "doing it in a terminal, with `checkrein allow LAST` there, or in an interactive session, in which they are asked"
            }
            // A call of a service is nothing that a user could type.
            Self::Lost(title) if title == checkrein_clients::GATEWAY.title => {
                "`checkrein allow LAST` in a terminal; then the same call passes"
            }
            Self::Lost(_) => "doing it in a terminal, or with `checkrein allow LAST` there",
            Self::AnsweredBy(_) => {
                "doing it in a terminal, with `checkrein allow LAST` there, or by moving that hook to their own settings"
            }
            Self::Unexplained => "saying yes when the same call is made again",
        }
    }

    /// What the agent is told.
    pub(crate) fn refusal(self, review: &Review) -> String {
        if self == Self::Unexplained {
            let why = "the client would ask the user without showing them why";
            return format!(
                "{}\nThe user reads this now. If the call is needed, make exactly the same one again: then the user is asked.",
                review.message_when_refused(why)
            );
        }
        let refused = review.message_when_refused(&format!("nobody can be asked here ({})", self.why()));
        // What went wrong here is the reason, so no other way to make the call helps.
        if review.failures.contains(&review.reasoning.primary) {
            return format!(
                "{refused}\nDo not try it again until that is done: go on with what changes nothing, or stop and tell the user."
            );
        }
        if review.reasoning.subject == Subject::Session {
            return format!(
                "{refused}\nDo not make the same call again before something has changed that it depends on. The user allows it as it is by {}.",
                self.way()
            );
        }
        let next = if review.alternatives.is_empty() {
            "Do not try it again, also not in another form: go on without it, and say at the end that it is left."
        } else {
            "Do not try it again: do what is named instead, or go on without it and say at the end that it is left."
        };
        format!("{refused}\n{next} The user allows it by {}.", self.way())
    }

    /// What the record says that the agent was told.
    pub(crate) fn in_the_record(self) -> String {
        if self == Self::Unexplained {
            return TOLD_FIRST.to_owned();
        }
        format!("refused: nobody can be asked, because {}", self.why())
    }
}

/// Whether the client that started a hook was itself started with one of these arguments.
fn is_started_with(hook: i32, arguments: &[&str]) -> bool {
    let line = Process::client(hook).and_then(|(number, _)| words_of(number, 1 << 20)).unwrap_or_default();
    let mut words = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    words.any(|word| arguments.contains(&word.split_once('=').map_or(&*word, |(name, _)| name)))
}

/// Whether a program answers the questions of the client.
#[derive(PartialEq, Eq)]
enum Answering {
    Program,
    Nobody,
    NotKnown,
}

/// A program that starts the client can take its questions: it says so on the command line, by an argument that begins so.
fn answering_program(hook: i32, argument: &str) -> Answering {
    let mut number = processes::above(hook);
    if number == 0 {
        return Answering::NotKnown;
    }
    let mut found = Answering::NotKnown;
    for _ in 0..ANCESTORS {
        let Some(line) = words_of(number, 1 << 20) else { break };
        if line.split(|byte| *byte == 0).any(|word| word.starts_with(argument.as_bytes())) {
            return Answering::Program;
        }
        found = Answering::Nobody;
        match Process::read(number) {
            Some(Process { parent, .. }) if parent > 0 => number = parent,
            Some(_) | None => break,
        }
    }
    found
}

/// The record that a call ran although a user was to be asked and was not; `None` for every other call.
pub(crate) fn unanswered(
    context: &Context,
    ledger: &SessionLedger,
    event: &HookEvent,
    id: &ActionId,
) -> Option<UnansweredRecord> {
    if context.environment().client.announces_questions == Announces::NotAll {
        return None;
    }
    let review = asked_about(ledger, id)?;
    for attempt in 0..=ATTEMPTS {
        if attempt > 0 {
            thread::sleep(PAUSE);
        }
        if RECORDS.iter().any(|count| was_asked(&last(&ledger.path(), *count).unwrap_or_default(), &review)) {
            return None;
        }
    }
    Some(UnansweredRecord {
        action_id: id.clone(),
        call: crate::checkpoint::masked(context, &cut(&call(&review), 200)),
        reason: review.reason,
        permission_mode: event.permission_mode,
        doubt: DoubtRecord { points: POINTS, ceiling: MOST_DOUBT },
    })
}

/// The review of a call when its answer was a question.
pub(crate) fn asked_about(ledger: &SessionLedger, id: &ActionId) -> Option<Box<ReviewRecord>> {
    let found = newest_review(ledger, id)?;
    let asked = found.verdict == VerdictKind::Escalate
        && found.mode == Enforcement::Enforce
        && found.answered.is_none();
    asked.then_some(found)
}

/// The review of a call, where it is among the newest records.
pub(crate) fn newest_review(ledger: &SessionLedger, id: &ActionId) -> Option<Box<ReviewRecord>> {
    RECORDS.iter().find_map(|count| {
        let records = last(&ledger.path(), *count).ok()?;
        records.into_iter().rev().find_map(|record| match record.body {
            RecordBody::Review(review) if review.action_id == *id => Some(review),
            _ => None,
        })
    })
}

/// Whether this guard asks about a call already that has not ended: as the agent made it, or in the form that it was given.
pub(crate) fn is_open(ledger: &SessionLedger, action: &Action) -> bool {
    let fields = json!({ "tool": action.tool.as_str(), "input": recorded_input(action) });
    let records = last(&ledger.path(), RECORDS[1]).unwrap_or_default();
    let mut ended: HashSet<&ActionId> = HashSet::new();
    for record in records.iter().rev() {
        match &record.body {
            RecordBody::Outcome(outcome) => {
                ended.insert(&outcome.action_id);
            }
            RecordBody::Review(review) => {
                let is_asked = review.verdict == VerdictKind::Escalate
                    && review.mode == Enforcement::Enforce
                    && review.answered.is_none();
                if is_asked && !ended.contains(&review.action_id) && is_question_about(&fields, review) {
                    return true;
                }
            }
            // What was asked before the user spoke again was answered by that.
            RecordBody::Prompt { .. } => return false,
            _ => {}
        }
    }
    false
}

/// Whether the client told of its question after the review. It gives no number of the call, so what is called tells.
fn was_asked(records: &[Record], review: &ReviewRecord) -> bool {
    let is_review = |record: &Record| matches!(&record.body, RecordBody::Review(one) if one.action_id == review.action_id);
    let mut behind = records.iter().skip_while(|record| !is_review(record));
    let by_client = behind.any(|record| match &record.body {
        RecordBody::Event { name, fields } => {
            name == "PermissionRequest" && is_question_about(fields, review)
        }
        _ => false,
    });
    // What waited for an answer has it before its review is written down.
    let by_approval = || {
        records.iter().any(|record| match &record.body {
            RecordBody::Event { name, fields } => {
                name == approvals::ANSWERED
                    && fields.get("action").and_then(Json::as_str) == Some(review.action_id.as_str())
            }
            _ => false,
        })
    };
    by_client || by_approval()
}

/// Whether the fields of a recorded `PermissionRequest` are those of the question about a reviewed call.
pub fn is_question_about(fields: &Json, review: &ReviewRecord) -> bool {
    let input = fields.get("input").unwrap_or(&Json::Null);
    let rewritten = || review.rewrite.is_some() && input.get("command") == review.rewrite.as_ref();
    fields.get("tool").and_then(Json::as_str) == Some(review.tool.as_str())
        && (principal(input) == principal(&review.input) || rewritten())
}

/// What a call is about: the field that tells two calls of a tool apart.
fn principal(input: &Json) -> &Json {
    let names = ["command", "file_path", "notebook_path", "url"];
    names.iter().find_map(|name| input.get(*name)).unwrap_or(input)
}
