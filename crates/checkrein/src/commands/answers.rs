//! What a person answered to the question about a call, as the records that follow it tell.

use std::collections::HashMap;

use checkrein_protocol::{ActionId, Enforcement, Record, RecordBody, VerdictKind};

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The call ran after it.
    Yes,
    /// The client went on and the call never ran.
    No,
    /// It was refused, since it would have reached nobody.
    Refused,
    /// The call ran, although nobody was asked.
    Nobody,
    /// There is no answer yet.
    Open,
}

impl Answer {
    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
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
            Self::No => "no: it did not run",
            Self::Refused => "refused: nobody could be asked",
            Self::Nobody => "nobody: it ran without an answer",
            Self::Open => "not yet",
        }
    }
}

/// The answers to all questions in the records of one session, oldest first.
pub fn answers<'a>(records: impl IntoIterator<Item = &'a Record>) -> HashMap<ActionId, Answer> {
    let mut found: HashMap<ActionId, Answer> = HashMap::new();
    for record in records {
        match &record.body {
            RecordBody::Review(review)
                if review.verdict == VerdictKind::Escalate && review.mode == Enforcement::Enforce =>
            {
                let answer = if review.answered.is_some() { Answer::Refused } else { Answer::Open };
                found.insert(review.action_id.clone(), answer);
            }
            RecordBody::Unanswered(unanswered) => {
                found.insert(unanswered.action_id.clone(), Answer::Nobody);
            }
            RecordBody::Outcome(outcome) => {
                if let Some(answer @ Answer::Open) = found.get_mut(&outcome.action_id) {
                    *answer = Answer::Yes;
                }
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

fn close(found: &mut HashMap<ActionId, Answer>) {
    found.values_mut().filter(|answer| **answer == Answer::Open).for_each(|answer| *answer = Answer::No);
}
