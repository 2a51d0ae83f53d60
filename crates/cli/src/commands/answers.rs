//! What a user answered to the question about a call, as the records that follow it tell.

use std::collections::{HashMap, HashSet};

use checkrein_engine::questions::{TOLD_FIRST, is_question_about};
use checkrein_protocol::{ActionId, Enforcement, Record, RecordBody, ReviewRecord, VerdictKind};

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionOutcome {
    /// The call ran after it.
    Yes,
    /// The same, and a user at the terminal was asked before.
    YesByUser,
    /// They were told why, and are asked when the same call comes again.
    Told,
    /// The client went on and the call never ran.
    No,
    /// It was refused, since it would have reached nobody.
    Refused,
    /// The call ran, although nobody was asked.
    Nobody,
    /// There is no answer yet.
    Open,
}

impl QuestionOutcome {
    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::YesByUser => "yes by user",
            Self::Told => "told",
            Self::No => "no",
            Self::Refused => "refused",
            Self::Nobody => "unanswered",
            Self::Open => "open",
        }
    }

    /// In a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Yes => "yes: it ran",
            Self::YesByUser => "yes, by the user: it ran",
            Self::Told => "told why first: they are asked when the same call comes again",
            Self::No => "no: it did not run",
            Self::Refused => "refused: nobody could be asked",
            Self::Nobody => "nobody: it ran without an answer",
            Self::Open => "not yet",
        }
    }
}

/// The answers to all questions in the records of one session, oldest first.
pub fn answers<'a>(records: impl IntoIterator<Item = &'a Record>) -> HashMap<ActionId, QuestionOutcome> {
    let mut found: HashMap<ActionId, QuestionOutcome> = HashMap::new();
    let mut calls: HashMap<ActionId, &ReviewRecord> = HashMap::new();
    let mut by_user: HashSet<ActionId> = HashSet::new();
    for record in records {
        match &record.body {
            RecordBody::Review(review)
                if review.verdict == VerdictKind::Escalate && review.mode == Enforcement::Enforce =>
            {
                let answer = match review.answered.as_deref() {
                    Some(TOLD_FIRST) => QuestionOutcome::Told,
                    Some(_) => QuestionOutcome::Refused,
                    None => QuestionOutcome::Open,
                };
                found.insert(review.action_id.clone(), answer);
                calls.insert(review.action_id.clone(), review);
            }
            RecordBody::Unanswered(unanswered) => {
                found.insert(unanswered.action_id.clone(), QuestionOutcome::Nobody);
            }
            RecordBody::Outcome(outcome) => {
                if let Some(answer @ QuestionOutcome::Open) = found.get_mut(&outcome.action_id) {
                    let is_known = by_user.contains(&outcome.action_id);
                    *answer = if is_known { QuestionOutcome::YesByUser } else { QuestionOutcome::Yes };
                }
            }
            RecordBody::Event { name, fields }
                if name == "PermissionRequest" && fields["answerer"] == "user" =>
            {
                // The client gives no number of the call, so what is called tells.
                let is_open = |id: &ActionId| found.get(id) == Some(&QuestionOutcome::Open);
                let asked =
                    calls.iter().filter(|(id, review)| is_open(id) && is_question_about(fields, review));
                by_user.extend(asked.map(|(id, _)| id.clone()));
            }
            // The calls of one answer are asked about side by side; when they are over, or somebody speaks, each had its answer.
            RecordBody::Prompt { .. } => close(&mut found),
            RecordBody::Event { name, .. }
                if matches!(name.as_str(), "PostToolBatch" | "Stop" | "SessionEnd") =>
            {
                close(&mut found);
            }
            _ => {}
        }
    }
    found
}

fn close(found: &mut HashMap<ActionId, QuestionOutcome>) {
    found
        .values_mut()
        .filter(|answer| **answer == QuestionOutcome::Open)
        .for_each(|answer| *answer = QuestionOutcome::No);
}
