//! How often gates sent the agent back at the end of a turn, so that they do not do it for ever.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// The event of an answer of gates.
pub const GATE_EVENT: &str = "checkrein.gate";

/// What the records say about the answers of gates.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GateAnswers {
    /// What tells the findings of the last answer from others.
    mark: String,
    /// How often the agent was sent back for these in a row.
    repeated: u64,
    /// How often it was sent back since the user spoke last.
    in_turn: u64,
}

impl GateAnswers {
    /// How often the agent was sent back for these findings in a row.
    pub fn times(&self, mark: &str) -> u64 {
        if self.mark == mark { self.repeated } else { 0 }
    }

    /// How often it was sent back since the user spoke last, whatever was found.
    pub fn in_turn(&self) -> u64 {
        self.in_turn
    }

    pub(super) fn prompted(&mut self) {
        self.in_turn = 0;
    }

    /// Takes in the fields of a [`GATE_EVENT`].
    pub(super) fn take(&mut self, fields: &Json) {
        let text = |name: &str| fields.get(name).and_then(Json::as_str).unwrap_or_default();
        if text("answer") != "sent_back" {
            return;
        }
        // A mark is sixteen digits; what is longer is none of ours.
        let mark: String = text("mark").chars().take(16).collect();
        self.repeated = self.times(&mark) + 1;
        self.in_turn += 1;
        self.mark = mark;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn being_sent_back_is_counted_by_what_was_found_and_by_turn() {
        let mut answers = GateAnswers::default();
        let sent = |mark: &str| json!({ "answer": "sent_back", "mark": mark });
        answers.take(&sent("a"));
        answers.take(&sent("a"));
        answers.take(&json!({ "answer": "let_go", "mark": "a" }));
        assert_eq!((answers.times("a"), answers.times("b"), answers.in_turn()), (2, 0, 2));
        answers.take(&sent("b"));
        answers.prompted();
        assert_eq!((answers.times("a"), answers.times("b"), answers.in_turn()), (0, 1, 0));
    }
}
