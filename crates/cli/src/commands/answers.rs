//! What a user answered to the question about a call, and which calls the client refused, as the records that follow them tell.

use std::collections::{HashMap, HashSet};

use checkrein_engine::approvals::{ANSWERED, SAID_NO};
use checkrein_engine::questions::{TOLD_FIRST, is_question_about};
use checkrein_protocol::{ActionId, Enforcement, Record, RecordBody, ReviewRecord, VerdictKind};
use checkrein_session::OpenCalls;

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionOutcome {
    /// The call ran after it.
    Yes,
    /// The same, and a user at the terminal was asked before.
    YesByUser,
    /// They were told why, and are asked when the same call comes again.
    Told,
    /// The client had put the question, went on, and the call never ran.
    No,
    /// The client went on without having put the question, and the call never ran.
    NoAnswer,
    /// It was refused, since it would have reached nobody.
    Refused,
    /// The user said no to the question that waited for them.
    NoByUser,
    /// The call ran, although nobody was asked.
    Nobody,
    /// There is no answer yet.
    Open,
    /// It was no question of ours: the call was let through, and the client or its user refused it, as far as is known.
    NotRun,
    /// It was no question of ours: the call was let through, and its turn ended without a word of how it had ended.
    Untold,
}

impl QuestionOutcome {
    /// In one word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::YesByUser => "yes by user",
            Self::NoByUser => "no by user",
            Self::NoAnswer => "no answer",
            Self::Yes
            | Self::Told
            | Self::No
            | Self::Refused
            | Self::Nobody
            | Self::Open
            | Self::NotRun
            | Self::Untold => self.word(),
        }
    }

    /// The word for people behind one for programs.
    pub fn word_of(name: &str) -> &str {
        let differs = [Self::YesByUser, Self::NoByUser, Self::NoAnswer];
        differs.into_iter().find(|outcome| outcome.name() == name).map_or(name, |outcome| outcome.word())
    }

    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::YesByUser => "yes by you",
            Self::Told => "told",
            Self::No => "no",
            Self::NoAnswer => "nobody answered",
            Self::NoByUser => "no by you",
            Self::Refused => "refused",
            Self::Nobody => "unanswered",
            Self::Open => "open",
            Self::NotRun => "not run",
            Self::Untold => "outcome unknown",
        }
    }

    /// Whether the call did not run, as far as we know.
    pub fn kept_from_running(self) -> bool {
        match self {
            Self::No | Self::NoAnswer | Self::NoByUser | Self::Refused | Self::NotRun => true,
            Self::Yes | Self::YesByUser | Self::Told | Self::Nobody | Self::Open | Self::Untold => false,
        }
    }

    /// In a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Yes => "yes: it ran",
            Self::YesByUser => "yes, by you: it ran",
            Self::Told => "the agent was told why first: you are asked when the same call comes again",
            Self::No => "no: it did not run",
            Self::NoAnswer => "nobody answered: it did not run",
            Self::NoByUser => "no, by you: it did not run",
            Self::Refused => "refused: nobody could be asked",
            Self::Nobody => "nobody: it ran without an answer",
            Self::Open => "not yet",
            Self::NotRun => "the client or its user refused it, as far as we know",
            Self::Untold => "not known: the client refused it, or it failed, or its end was not told",
        }
    }
}

/// The answers to all questions in the records of one session, oldest first, and the calls that did not run.
pub fn answers<'a>(records: impl IntoIterator<Item = &'a Record>) -> HashMap<ActionId, QuestionOutcome> {
    let mut reader = AnswerReader::default();
    records.into_iter().for_each(|record| reader.take(record));
    reader.found
}

/// Reads what was answered, record by record; it keeps no more than the questions.
#[derive(Debug, Default)]
pub struct AnswerReader {
    /// What became of each question until now.
    pub found: HashMap<ActionId, QuestionOutcome>,
    /// The calls of those that are open.
    calls: HashMap<ActionId, ReviewRecord>,
    /// Those of which the client told that it asks about them.
    asked: HashSet<ActionId>,
    /// Those that a user at the terminal answers.
    by_user: HashSet<ActionId>,
    open: OpenCalls,
}

impl AnswerReader {
    /// Takes up the next record of the session.
    pub fn take(&mut self, record: &Record) {
        let not_run = self.open.take(record);
        let is_prompt = matches!(record.body, RecordBody::Prompt { .. });
        not_run.into_iter().for_each(|id| self.close(id, is_prompt));
        if is_prompt || matches!(record.body, RecordBody::Event { .. }) {
            for id in self.open.untold(record) {
                self.found.entry(id.clone()).or_insert(QuestionOutcome::Untold);
            }
        }
        match &record.body {
            RecordBody::Review(review)
                if review.verdict == VerdictKind::Escalate && review.mode == Enforcement::Enforce =>
            {
                let answer = match review.answered.as_deref() {
                    Some(TOLD_FIRST) => QuestionOutcome::Told,
                    Some(said) if said.starts_with(SAID_NO) => QuestionOutcome::NoByUser,
                    Some(_) => QuestionOutcome::Refused,
                    None => QuestionOutcome::Open,
                };
                self.found.insert(review.action_id.clone(), answer);
                if answer == QuestionOutcome::Open {
                    self.calls.insert(review.action_id.clone(), ReviewRecord::clone(review));
                }
            }
            RecordBody::Unanswered(unanswered) => {
                self.found.insert(unanswered.action_id.clone(), QuestionOutcome::Nobody);
                self.calls.remove(&unanswered.action_id);
            }
            RecordBody::Outcome(outcome) => {
                if let Some(QuestionOutcome::NotRun | QuestionOutcome::Untold) =
                    self.found.get(&outcome.action_id)
                {
                    self.found.remove(&outcome.action_id);
                }
                if let Some(answer @ QuestionOutcome::Open) = self.found.get_mut(&outcome.action_id) {
                    let is_known = self.by_user.contains(&outcome.action_id);
                    *answer = if is_known { QuestionOutcome::YesByUser } else { QuestionOutcome::Yes };
                    self.calls.remove(&outcome.action_id);
                }
            }
            RecordBody::Event { name, fields } if name == "PermissionRequest" => {
                // The client gives no number of the call, so what is called tells.
                let asked = self.calls.iter().filter(|(_, review)| is_question_about(fields, review));
                let asked: Vec<ActionId> = asked.map(|(id, _)| id.clone()).collect();
                if fields["answerer"] == "user" {
                    self.by_user.extend(asked.iter().cloned());
                }
                self.asked.extend(asked);
            }
            RecordBody::Event { name, fields } if name == ANSWERED && fields["end"] == "allowed" => {
                // It was answered before the review was written down.
                if let Some(id) = fields["action"].as_str() {
                    self.by_user.insert(ActionId(id.to_owned()));
                }
            }
            _ => {}
        }
    }

    /// Settles a call that did not run. Whoever speaks has answered what was asked.
    fn close(&mut self, id: ActionId, is_spoken: bool) {
        let was_put = self.asked.remove(&id);
        self.by_user.remove(&id);
        let end = match self.calls.remove(&id) {
            None => QuestionOutcome::NotRun,
            Some(_) if was_put || is_spoken => QuestionOutcome::No,
            Some(_) => QuestionOutcome::NoAnswer,
        };
        self.found.insert(id, end);
    }
}
