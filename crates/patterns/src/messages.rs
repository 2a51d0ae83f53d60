//! What is said and forgotten without anything being done: monologues, and memory that is emptied again and again.

use checkrein_policy::{CascadeThresholds, StuckLoopThresholds};
use checkrein_protocol::{Fingerprint, Severity};
use serde::{Deserialize, Serialize};

use crate::issue::{ActionNumber, Issue, PatternKind, Share};
use crate::settings::Audience;

/// What was said since the last action.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Messages {
    last: Fingerprint,
    same: u32,
    condensed: u32,
    cascade: Share,
}

impl Messages {
    pub(crate) fn said(&mut self, message: Fingerprint, cascade: Share) {
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

    pub(crate) fn cascade(
        &self,
        now: ActionNumber,
        audience: Audience,
        thresholds: CascadeThresholds,
    ) -> Option<Issue> {
        match audience {
            Audience::Person => None,
            Audience::Nobody => crate::cascade::issue(self.cascade, now, thresholds),
        }
    }

    pub(crate) fn detect(&self, now: ActionNumber, thresholds: &StuckLoopThresholds) -> Option<Issue> {
        let number = |threshold: u64| u32::try_from(threshold).unwrap_or(u32::MAX);
        let (monologue, condensations) = (number(thresholds.messages), number(thresholds.condensations));
        let (count, needed, summary, advice) = if self.condensed >= condensations {
            let summary = format!(
                "the conversation was condensed {} times in a row and nothing was done",
                self.condensed
            );
            let advice = "the context does not fit any more: begin anew with a short summary of what is done and what is left";
            (self.condensed, condensations, summary, advice)
        } else if self.same >= monologue {
            let summary = format!("the same message was written {} times in a row", self.same);
            (self.same, monologue, summary, "do the next thing, or ask the user one open question and wait")
        } else {
            return None;
        };
        let beyond = f64::from(count - needed);
        Some(Issue {
            kind: PatternKind::StuckLoop,
            severity: if count >= needed.saturating_add(4) { Severity::High } else { Severity::Medium },
            confidence: Share::new(0.5 + 0.1 * beyond),
            impact: Share::new(0.1 * beyond),
            signal: f64::from(count),
            summary,
            advice: advice.to_owned(),
            actions: vec![now],
            growth: None,
            growths: Vec::new(),
        })
    }
}
