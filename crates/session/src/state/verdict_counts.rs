//! How often each verdict was given.

use checkrein_protocol::VerdictKind;
use serde::{Deserialize, Serialize};

/// How often each verdict was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct VerdictCounts {
    /// `ok`.
    pub ok: u64,
    /// `nudge`.
    pub nudge: u64,
    /// `escalate`.
    pub escalate: u64,
    /// `block`.
    pub block: u64,
    /// `halt`.
    pub halt: u64,
    /// Verdicts that are none of these: none in this version, where such a review is a record of an unknown type.
    pub other: u64,
    /// Reviews that were flagged, whatever the verdict.
    pub flagged: u64,
}

impl VerdictCounts {
    /// Counts one more.
    pub(super) fn count(&mut self, verdict: VerdictKind) {
        let counter = match verdict {
            VerdictKind::Ok => &mut self.ok,
            VerdictKind::Nudge => &mut self.nudge,
            VerdictKind::Escalate => &mut self.escalate,
            VerdictKind::Block => &mut self.block,
            VerdictKind::Halt => &mut self.halt,
        };
        *counter += 1;
    }
}
