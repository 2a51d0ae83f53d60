//! What became of the calls, in the words in which a user is told.

use checkrein_protocol::{Enforcement, ReviewRecord, VerdictKind};
use serde::{Deserialize, Serialize};

/// What became of calls: each is counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CallCounts {
    /// They ran, and nothing was said about them; also those that were observed only.
    pub ok: u64,
    /// They ran, and the agent was told something.
    pub hinted: u64,
    /// Something safer ran instead of them, or the same within bounds or with secrets masked.
    pub rewritten: u64,
    /// They ran after what they destroy was saved.
    pub saved: u64,
    /// A user was asked.
    pub asked: u64,
    /// They were refused.
    pub stopped: u64,
}

impl CallCounts {
    /// How many calls there were.
    pub fn calls(&self) -> u64 {
        self.parts().iter().map(|(count, _)| count).sum()
    }

    /// How many of them a user may want to look at.
    pub fn remarkable(&self) -> u64 {
        self.calls() - self.ok
    }

    /// The counts that are not zero, each behind its word: `38 ok, 2 rewritten, 3 saved`.
    pub fn in_words(&self) -> String {
        let said = self.parts().into_iter().filter(|(count, _)| *count > 0);
        said.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    }

    /// How many calls there were and what became of them, in one line: `43 calls: 38 ok, 2 rewritten, 3 saved`; `None` without a call.
    pub fn summary(&self) -> Option<String> {
        match self.calls() {
            0 => None,
            1 => Some(format!("1 call: {}", self.in_words())),
            many => Some(format!("{many} calls: {}", self.in_words())),
        }
    }

    /// The same in at most so many characters. The counts at the front, which a user needs to look at least, go first; `…` stands for them.
    pub fn summary_within(&self, most: usize) -> Option<String> {
        let whole = self.summary()?;
        if whole.chars().count() <= most {
            return Some(whole);
        }
        let (calls, _) = whole.split_once(": ")?;
        let said: Vec<String> = self
            .parts()
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        let last = |from: usize| said.get(from..).unwrap_or_default().join(", ");
        let behind_total = (1..said.len()).map(|from| format!("{calls}: … {}", last(from)));
        let alone = (1..said.len()).map(|from| format!("… {}", last(from)));
        let fitting = behind_total.chain(alone).find(|text| text.chars().count() <= most);
        Some(fitting.unwrap_or_else(|| calls.to_owned()))
    }

    fn parts(&self) -> [(u64, &'static str); 6] {
        [
            (self.ok, "ok"),
            (self.hinted, "hinted"),
            (self.rewritten, "rewritten"),
            (self.saved, "saved"),
            (self.asked, "asked"),
            (self.stopped, "stopped"),
        ]
    }

    /// Counts one more.
    pub(super) fn count(&mut self, review: &ReviewRecord) {
        let saved = review.snapshot.as_ref().is_some_and(|saved| saved.entries > 0);
        let counter = match (review.mode, review.verdict) {
            (Enforcement::Observe, _) | (Enforcement::Enforce, VerdictKind::Ok) => &mut self.ok,
            (Enforcement::Enforce, _) if review.answered.is_some() => &mut self.stopped,
            (Enforcement::Enforce, VerdictKind::Nudge) if review.rewrite.is_some() => &mut self.rewritten,
            (Enforcement::Enforce, VerdictKind::Nudge) if saved => &mut self.saved,
            (Enforcement::Enforce, VerdictKind::Nudge) => &mut self.hinted,
            (Enforcement::Enforce, VerdictKind::Escalate) => &mut self.asked,
            (Enforcement::Enforce, VerdictKind::Block | VerdictKind::Halt) => &mut self.stopped,
        };
        *counter += 1;
    }
}
