//! What is said and forgotten without anything being done: monologues, and memory that is emptied again and again.

use checkrein_effects::Severity;
use serde::{Deserialize, Serialize};

use crate::cascade::Cascade;
use crate::issue::{ActionNumber, Issue, PatternKind, Share};
use crate::mark::Mark;
use crate::settings::{Audience, PatternSettings};

/// Equal messages in a row that make a monologue (ours).
const MONOLOGUE: u32 = 4;

/// Condensations of the conversation in a row that make a loop (ours).
const CONDENSATIONS: u32 = 10;

/// What was said since the last action.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Messages {
    last: Mark,
    same: u32,
    condensed: u32,
    cascade: Share,
}

impl Messages {
    pub(crate) fn said(&mut self, message: Mark, cascade: Share) {
        self.cascade = cascade;
        self.condensed = 0;
        self.same = if self.last == message { self.same.saturating_add(1) } else { 1 };
        self.last = message;
    }

    pub(crate) fn condensed(&mut self) {
        self.condensed = self.condensed.saturating_add(1);
    }

    /// Something was done, or somebody else spoke.
    pub(crate) fn interrupted(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn cascade(&self, now: ActionNumber, settings: &PatternSettings) -> Option<Issue> {
        match settings.audience {
            Audience::Person => None,
            Audience::Nobody => Cascade::issue(self.cascade, now),
        }
    }

    pub(crate) fn detect(&self, now: ActionNumber, settings: &PatternSettings) -> Option<Issue> {
        let slack = u32::try_from(settings.slack()).unwrap_or_default();
        let (count, needed, summary, advice) = if self.condensed >= CONDENSATIONS + slack {
            let summary = format!(
                "the conversation was condensed {} times in a row and nothing was done",
                self.condensed
            );
            let advice = "the context does not fit any more: begin anew with a short summary of what is done and what is left";
            (self.condensed, CONDENSATIONS + slack, summary, advice)
        } else if self.same >= MONOLOGUE + slack {
            let summary = format!("the same message was written {} times in a row", self.same);
            (
                self.same,
                MONOLOGUE + slack,
                summary,
                "do the next thing, or ask the person one open question and wait",
            )
        } else {
            return None;
        };
        let beyond = f64::from(count - needed);
        Some(Issue {
            kind: PatternKind::StuckLoop,
            severity: if count >= needed + 4 { Severity::High } else { Severity::Medium },
            confidence: Share::new(0.5 + 0.1 * beyond),
            impact: Share::new(0.1 * beyond),
            signal: f64::from(count),
            summary,
            advice: advice.to_owned(),
            actions: vec![now],
            growth: None,
        })
    }
}
