//! What became of a call at the door: one answer for everybody who counts, lists or explains calls.

use crate::levels::Enforcement;
use crate::record::ReviewRecord;
use crate::verdict::VerdictKind;

/// What became of a call when it came, before anything is known of its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallDisposition {
    /// It was let run, as it was or in another form.
    LetRun,
    /// A user was to decide.
    Asked,
    /// It was refused: by its verdict, or because the client cannot take what the verdict says.
    Refused,
}

impl ReviewRecord {
    /// Returns what became of the call at the door.
    pub fn disposition(&self) -> CallDisposition {
        // Where the agent was told something else than the verdict says, that is always a refusal.
        let is_told_otherwise = self.answered.is_some();
        match (self.mode, self.verdict) {
            (Enforcement::Enforce, VerdictKind::Escalate) if !is_told_otherwise => CallDisposition::Asked,
            (Enforcement::Enforce, VerdictKind::Ok | VerdictKind::Nudge) if !is_told_otherwise => {
                CallDisposition::LetRun
            }
            (
                Enforcement::Enforce,
                VerdictKind::Ok
                | VerdictKind::Nudge
                | VerdictKind::Escalate
                | VerdictKind::Block
                | VerdictKind::Halt,
            ) => CallDisposition::Refused,
            (Enforcement::Observe, _) => CallDisposition::LetRun,
        }
    }

    /// Returns whether the call was asked about or refused, or would have been, had its verdict not only been watched.
    pub fn was_stopped(&self) -> bool {
        self.verdict >= VerdictKind::Escalate || self.disposition() != CallDisposition::LetRun
    }

    /// Returns the verdict that people are shown for the call: what the client was told, where that is stricter.
    pub fn verdict_at_door(&self) -> VerdictKind {
        match self.disposition() {
            CallDisposition::Refused => self.verdict.max(VerdictKind::Block),
            CallDisposition::LetRun | CallDisposition::Asked => self.verdict,
        }
    }
}
