//! What the reviews of the calls of a run came to: how many of each verdict, and what was blocked (seed 002).

use std::collections::BTreeMap;

use checkrein_engine::environment::HostEnvironment;
use checkrein_ledger::lines;
use checkrein_protocol::{RecordBody, ReviewRecord, SessionId, VerdictKind};
use checkrein_session::SessionLedger;
use checkrein_supervise::runs::{RunId, Runs};
use serde::{Deserialize, Serialize};

use super::stream_monitor::Findings;
use crate::terminal::cut;

/// Blocked calls that are listed (ours); all are counted.
const LISTED: usize = 20;
/// The longest call and reason of the list, in characters (ours).
const LONGEST: usize = 200;

/// What reviews came to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct ReviewSum {
    /// Calls that were reviewed.
    pub(super) total: u64,
    /// How many of them by verdict.
    pub(super) verdicts: BTreeMap<String, u64>,
    /// How many were blocked or halted.
    pub(super) blocked: u64,
    /// The first of these.
    pub(super) blocked_calls: Vec<BlockedCall>,
}

/// A call that was blocked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BlockedCall {
    /// The name of the call; `checkrein show` takes it.
    pub(super) id: String,
    /// The tool, and what it was to do.
    pub(super) action: String,
    /// Why it was blocked.
    pub(super) reason: String,
}

impl ReviewSum {
    /// Adds a review.
    pub(super) fn add(&mut self, verdict: VerdictKind, blocked: impl FnOnce() -> BlockedCall) {
        self.total += 1;
        *self.verdicts.entry(verdict.name().to_owned()).or_default() += 1;
        if verdict >= VerdictKind::Block {
            self.blocked += 1;
            if self.blocked_calls.len() < LISTED {
                self.blocked_calls.push(blocked());
            }
        }
    }

    /// The same with what an earlier attempt came to in front.
    pub(super) fn after(mut self, before: &Self) -> Self {
        self.total += before.total;
        self.blocked += before.blocked;
        for (verdict, count) in &before.verdicts {
            *self.verdicts.entry(verdict.clone()).or_default() += count;
        }
        self.blocked_calls =
            before.blocked_calls.iter().chain(&self.blocked_calls).take(LISTED).cloned().collect();
        self
    }

    /// Of a run: what the hooks of its sessions wrote down since it was prepared, and what was reviewed in its stream.
    pub(super) fn of(environment: &HostEnvironment, run: &RunId, since: u64, heard: &Findings) -> Self {
        let mut sum = heard.reviews.clone();
        let sessions = Runs::new(environment.state.root()).hooked_sessions(run, 0);
        let mut names: Vec<String> =
            sessions.map_or_else(|_| Vec::new(), |(all, _)| all.into_iter().map(|one| one.session).collect());
        names.sort();
        names.dedup();
        for name in names {
            let ledger = SessionLedger::open(&environment.state, &SessionId(name));
            for line in lines(&ledger.path()).into_iter().flatten() {
                let Some(record) = line.ok().and_then(|line| line.record) else { continue };
                if record.at.0 < since {
                    continue;
                }
                if let RecordBody::Review(review) = record.body {
                    sum.add(review.verdict, || BlockedCall::of(&review));
                }
            }
        }
        sum
    }
}

impl BlockedCall {
    fn of(review: &ReviewRecord) -> Self {
        let input = &review.input;
        let text = ["command", "file_path"].iter().find_map(|field| input[*field].as_str());
        let text = text.map_or_else(|| input.to_string(), str::to_owned);
        Self::new(&review.action_id.0, &format!("{} {text}", review.tool.as_str()), &review.reason)
    }

    /// One with bounded words: the list goes through a pipe that is read when the attempt has ended, and an agent names its calls itself.
    pub(super) fn new(id: &str, action: &str, reason: &str) -> Self {
        Self { id: cut(id, LONGEST), action: cut(action, LONGEST), reason: cut(reason, LONGEST) }
    }
}
