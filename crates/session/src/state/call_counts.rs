//! What became of the calls, in the words in which a user is told.

use checkrein_protocol::{ActionId, CallDisposition, Enforcement, ReviewRecord, VerdictKind};
use serde::{Deserialize, Serialize};

use super::SessionState;
use super::bounds::{self, push_bounded};

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
    /// They were let through, and did not run as far as is known: the client or its user refused them.
    #[serde(default)]
    pub not_run: u64,
    /// They were let through, and their turn or session ended without a word of how they had ended.
    #[serde(default)]
    pub untold: u64,
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
        self.calls() - self.ok - self.not_run - self.untold
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

    /// Each count with its word, also those that are zero.
    pub fn parts(&self) -> [(u64, &'static str); 8] {
        [
            (self.ok, "ok"),
            (self.hinted, "hinted"),
            (self.rewritten, "rewritten"),
            (self.saved, "saved"),
            (self.not_run, "not run"),
            (self.untold, "outcome unknown"),
            (self.asked, "asked"),
            (self.stopped, "stopped"),
        ]
    }

    /// The count of this kind.
    fn of_kind(&mut self, kind: CallKind) -> &mut u64 {
        match kind {
            CallKind::Ok => &mut self.ok,
            CallKind::Hinted => &mut self.hinted,
            CallKind::Rewritten => &mut self.rewritten,
            CallKind::Saved => &mut self.saved,
            CallKind::NotRun => &mut self.not_run,
            CallKind::Untold => &mut self.untold,
            CallKind::Asked => &mut self.asked,
            CallKind::Stopped => &mut self.stopped,
        }
    }

    /// Counts a call as another kind than before.
    fn recount(&mut self, from: CallKind, to: CallKind) {
        let before = self.of_kind(from);
        if let Some(fewer) = before.checked_sub(1) {
            *before = fewer;
            *self.of_kind(to) += 1;
        }
    }
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum CallKind {
    Ok,
    Hinted,
    Rewritten,
    Saved,
    NotRun,
    Untold,
    Asked,
    Stopped,
}

impl CallKind {
    fn of(review: &ReviewRecord) -> Self {
        let saved = review.snapshot.as_ref().is_some_and(|saved| saved.entries > 0);
        match (review.disposition(), review.mode, review.verdict) {
            (CallDisposition::Refused, _, _) => Self::Stopped,
            (CallDisposition::Asked, _, _) => Self::Asked,
            (CallDisposition::LetRun, Enforcement::Observe, _)
            | (CallDisposition::LetRun, Enforcement::Enforce, VerdictKind::Ok) => Self::Ok,
            (CallDisposition::LetRun, Enforcement::Enforce, _) if review.rewrite.is_some() => Self::Rewritten,
            (CallDisposition::LetRun, Enforcement::Enforce, _) if saved => Self::Saved,
            (CallDisposition::LetRun, Enforcement::Enforce, _) => Self::Hinted,
        }
    }
}

/// A call, and as what it was counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CountedCall {
    id: ActionId,
    /// What it is where it ran.
    kind: CallKind,
    /// As what it is counted now.
    counted: CallKind,
}

impl SessionState {
    pub(super) fn count_call(&mut self, review: &ReviewRecord) {
        let kind = CallKind::of(review);
        for counts in [&mut self.calls, &mut self.calls_of_turn] {
            *counts.of_kind(kind) += 1;
        }
        // Of a question the counts say that it was asked, whatever the answer was.
        if !matches!(kind, CallKind::Asked | CallKind::Stopped)
            && review.action_id.as_str().len() <= bounds::TEXT_BYTES
        {
            let counted = CountedCall { id: review.action_id.clone(), kind, counted: kind };
            push_bounded(&mut self.counted, counted, bounds::RECENT);
        }
    }

    pub(super) fn count_not_run(&mut self, id: &ActionId) {
        self.recount(id, |_| CallKind::NotRun);
    }

    /// Its turn or session is over, and nobody told how it had ended.
    pub(super) fn count_untold(&mut self, id: &ActionId) {
        self.recount(id, |_| CallKind::Untold);
    }

    /// An end that comes late says that the call ran after all.
    pub(super) fn count_run(&mut self, id: &ActionId) {
        self.recount(id, |call| call.kind);
    }

    /// What became of the calls where the session ends now: of those that are still open nobody tells how they end.
    pub fn calls_at_the_end(&self) -> CallCounts {
        let mut counts = self.calls;
        for id in self.open_calls.ids() {
            if let Some(call) = self.counted.iter().rfind(|call| call.id == *id) {
                counts.recount(call.counted, CallKind::Untold);
            }
        }
        counts
    }

    fn recount(&mut self, id: &ActionId, change: impl Fn(&CountedCall) -> CallKind) {
        let Some(call) = self.counted.iter_mut().rfind(|call| call.id == *id) else { return };
        let (from, to) = (call.counted, change(call));
        if from != to {
            call.counted = to;
            self.calls.recount(from, to);
            self.calls_of_turn.recount(from, to);
        }
    }
}
