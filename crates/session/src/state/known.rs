//! What the state tells others.

use checkrein_facts::{History, KnownRemotes, PastAction, SessionOrigin, TrustDebt};
use checkrein_intervention::Controller;
use checkrein_patterns::{DetectorState, Fingerprint};
use checkrein_protocol::{AbsolutePath, ActionId, Beginning, Severity, Timestamp};

use super::{CallCounts, GateAnswers, HeldPluginIssue, PluginFindings, SessionState, VerdictCounts};
use crate::spent::UsageTotals;

impl SessionState {
    /// The history as the deciding crates want it.
    pub fn history(&self) -> History {
        History {
            actions: self.actions,
            file_operations: self.file_operations,
            // They stand in other ledgers.
            related_file_operations: 0,
            in_turn: self.actions.saturating_sub(self.goals.back().map_or(0, |goal| goal.after)),
            goals: self.goals(),
            seen: self.seen.iter().copied().collect(),
            // Whoever was asked has not said yes so far: to what is made again that is a refusal.
            recent: self
                .recent
                .iter()
                .map(|action| PastAction {
                    refused: action.past.refused || action.awaited.is_some(),
                    ..action.past.clone()
                })
                .collect(),
            created: self.created.iter().cloned().collect(),
            secret_marks: self.secret_marks.iter().cloned().collect(),
            terminals: self.terminals.iter().cloned().collect(),
            active_issues: grave_issues(&self.behaviour),
            opaque_doubt: self.opaque_doubt,
            tallies: self.tallies.iter().cloned().collect(),
            trust: self.trust,
            began: self.begun_at.map(|at| {
                let beginning = self.beginning.as_ref();
                let remotes = beginning.and_then(|beginning| {
                    let hosts = beginning.remotes.clone()?;
                    Some(KnownRemotes { workspace: beginning.workspace.clone(), hosts })
                });
                SessionOrigin {
                    at,
                    commit: beginning.and_then(|beginning| beginning.commit.clone()),
                    remotes,
                }
            }),
        }
    }

    /// What plugins said about the session.
    pub fn plugins(&self) -> &PluginFindings {
        &self.plugins
    }

    /// Whether an issue of a plugin is one of the active issues of the history: it makes calls riskier already.
    pub fn is_active(&self, issue: &HeldPluginIssue) -> bool {
        self.behaviour.standing_own_pattern() == Some(issue.pattern_name().as_str())
    }

    /// Whether a user was asked about this very call, by its exact mark, and it has not ended yet.
    pub fn is_asked_about(&self, exact: u64) -> bool {
        self.recent.iter().any(|action| action.awaited.is_some() && action.past.exact == exact)
    }

    /// The newest call with this exact mark that has not ended: which one an outcome is of, where the client names no call.
    pub fn running(&self, exact: u64) -> Option<&ActionId> {
        let mut newest = self.recent.iter().rev();
        newest.find(|action| action.past.failed.is_none() && action.past.exact == exact)?.id.as_ref()
    }

    /// The calls that have not ended, the newest first.
    pub fn unended(&self) -> impl Iterator<Item = &ActionId> {
        let unended = self.recent.iter().rev().filter(|action| action.past.failed.is_none());
        unended.filter_map(|action| action.id.as_ref())
    }

    /// The session's id as its client spells it; `None` when no start was recorded.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// When the session began last: at its start, or when it was taken up again; `None` when no start was recorded.
    pub fn entered(&self) -> Option<Timestamp> {
        self.entered
    }

    /// When the session began; `None` when no start was recorded.
    pub fn started(&self) -> Option<Timestamp> {
        self.started
    }

    /// When the last record was written.
    pub fn last(&self) -> Option<Timestamp> {
        self.last
    }

    /// When its agent or client did something last; what a user did about the session afterwards does not count.
    pub fn worked(&self) -> Option<Timestamp> {
        self.worked
    }

    /// How many records were taken up.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// How many actions were reviewed.
    pub fn actions(&self) -> u64 {
        self.actions
    }

    /// How many outcomes were recorded.
    pub fn outcomes(&self) -> u64 {
        self.outcomes
    }

    /// How often something did not run.
    pub fn failures(&self) -> u64 {
        self.failures
    }

    /// How often the ledger was found damaged.
    pub fn repairs(&self) -> u64 {
        self.repairs
    }

    /// How many changes were seen that had not been predicted, and how many did not come that had.
    pub fn surprises(&self) -> u64 {
        self.surprises
    }

    /// What the detectors remember.
    pub fn behaviour(&self) -> &DetectorState {
        &self.behaviour
    }

    /// What was done about issues.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// What the user asked for, newest last.
    pub fn goals(&self) -> Vec<String> {
        self.goals.iter().map(|goal| goal.text.clone()).collect()
    }

    /// The snapshot of the workspace with which the session began; `None` when none was taken.
    pub fn baseline(&self) -> Option<u64> {
        self.baseline
    }

    /// The root of the workspace; `None` when no start was recorded.
    pub fn workspace(&self) -> Option<&AbsolutePath> {
        self.workspace.as_ref()
    }

    /// What the session began with; `None` when that is not on record.
    pub fn beginning(&self) -> Option<&Beginning> {
        self.beginning.as_ref()
    }

    /// How many file operations were made.
    pub fn file_operations(&self) -> u64 {
        self.file_operations
    }

    /// The mark of the message of the agent that was recorded last.
    pub fn said(&self) -> Fingerprint {
        self.said
    }

    /// What it has spent.
    pub fn spent(&self) -> &UsageTotals {
        &self.spent
    }

    /// The client, as it is called; `None` when no start was recorded.
    pub fn client(&self) -> Option<&str> {
        self.client.as_deref()
    }

    /// How often each verdict was given.
    pub fn verdicts(&self) -> VerdictCounts {
        self.verdicts
    }

    /// What became of its calls.
    pub fn calls(&self) -> CallCounts {
        self.calls
    }

    /// How often gates sent the agent back at the end of a turn.
    pub fn gate_answers(&self) -> &GateAnswers {
        &self.gate_answers
    }

    /// What became of the calls since the user spoke last.
    pub fn calls_of_turn(&self) -> CallCounts {
        self.calls_of_turn
    }

    /// How much trust the agent has used up, at the moment it changed last.
    pub fn trust(&self) -> TrustDebt {
        self.trust
    }

    /// Why this session was halted, as far as its records say; the halt files rule.
    pub fn halted(&self) -> Option<&str> {
        self.halted.as_deref()
    }
}

/// Issues that make an action riskier: from high on, since milder ones are of honest work too (ours).
fn grave_issues(behaviour: &DetectorState) -> u32 {
    let grave = behaviour.standing().iter().filter(|issue| issue.severity >= Severity::High).count();
    u32::try_from(grave).unwrap_or(u32::MAX)
}
