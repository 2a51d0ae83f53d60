//! A review on its way to a verdict, and what is known beside it.

use std::time::Duration;

use checkrein_facts::{History, TrustDebt};
use checkrein_policy::{Config, Precedent};
use checkrein_protocol::{Action, ActorId, FlowRecord, ForeseenIssue, Timestamp};
use checkrein_review::{Escalation, Factor, Review, RiskLevel, VerdictKind, keep_contract, settle_trust};
use checkrein_session::SessionState;
use checkrein_supervise::runs::{HookLimits, HookSwitch};

use crate::change_records::Covering;
use crate::fail_closed::Failure;
use crate::lineage::Family;
use crate::push_gates::PushGates;

/// What is known beside a review when a call is decided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circumstances<'a> {
    /// What the agent wants to do.
    pub(crate) action: &'a Action,
    /// The sub-agent that wants it; `None` for the agent itself.
    pub(crate) actor: Option<&'a ActorId>,
    pub(crate) config: &'a Config,
    pub(crate) state: &'a SessionState,
    pub(crate) history: &'a History,
    pub(crate) now: Timestamp,
    /// What went wrong before the review.
    pub(crate) failures: &'a [Failure],
    /// The settings that are looser now than at the beginning, and do not count.
    pub(crate) waiting: &'a [&'static str],
    /// Why the session is halted, when it is.
    pub(crate) halted: Option<&'a str>,
    /// The limits of the run above, when there is one.
    pub(crate) run: Option<&'a HookLimits>,
    /// What the other sessions spent that it started, or that started it.
    pub(crate) family: Option<Family>,
    /// How long the review took.
    pub(crate) took: Duration,
    /// What the change records say of it, where it is on production.
    pub(crate) covering: &'a Covering,
    /// What gates say of it, where it pushes.
    pub(crate) push: &'a PushGates,
}

/// Why the session is to be stopped beside the call that is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StopCause {
    /// A tripwire halts it.
    Tripwire {
        /// Its name.
        name: String,
        /// What it says.
        reason: String,
    },
    /// Nothing is left of a limit of tokens, dollars or answers.
    Limit(HookSwitch),
}

/// A review on its way to a verdict: it can be read, and made stricter.
#[derive(Debug)]
pub(crate) struct Docket {
    review: Review,
    stop: Option<StopCause>,
    is_over_limit: bool,
}

impl Docket {
    /// A review that nothing was added to.
    pub(crate) fn open(review: Review) -> Self {
        Self { review, stop: None, is_over_limit: false }
    }

    /// What it came to.
    pub(crate) fn close(self) -> (Review, Option<StopCause>) {
        (self.review, self.stop)
    }

    /// The review as it stands.
    pub(crate) fn review(&self) -> &Review {
        &self.review
    }

    /// Makes the verdict stricter, unless it is already; answers whether it did.
    pub(crate) fn escalate(&mut self, escalation: Escalation) -> bool {
        self.review.escalate(escalation)
    }

    /// Adds a factor to the risk; answers the level where that is higher than before.
    pub(crate) fn raise_risk(&mut self, factor: Factor, config: &Config) -> Option<RiskLevel> {
        self.review.raise_risk(factor, config)
    }

    /// Says which readings of the session lead to what is said about the call.
    pub(crate) fn follow_readings(&mut self, flow: FlowRecord) {
        self.review.flow = Some(flow);
    }

    /// Says which issues would begin or grow with the call.
    pub(crate) fn foresee(&mut self, issues: Vec<ForeseenIssue>) {
        self.review.foreseen = issues;
    }

    /// Refuses the call for a limit that is used up, which is no fault of the call.
    pub(crate) fn refuse_for_limit(&mut self, reason: &str, advice: &str) {
        self.is_over_limit |=
            self.review.escalate(Escalation::new(VerdictKind::Block, reason).instead(advice));
    }

    /// Says that something did not run.
    pub(crate) fn did_not_run(&mut self, what: impl Into<String>) {
        self.review.failures.push(what.into());
    }

    /// Says that the verdict rests on what the session did before, and what to do about that.
    pub(crate) fn explain_by_session(&mut self, reason: String, advice: String) {
        self.review.explain_by_session(reason, advice);
    }

    /// Says one more sentence behind the reason. The verdict stays.
    pub(crate) fn remark(&mut self, sentence: &str) {
        let primary = &mut self.review.reasoning.primary;
        *primary = if primary.is_empty() { sentence.to_owned() } else { format!("{primary}. {sentence}") };
    }

    /// Says first what to do instead.
    pub(crate) fn advise(&mut self, advice: String) {
        self.review.alternatives.insert(0, advice);
    }

    /// Has the session stopped. A tripwire counts more than a limit.
    pub(crate) fn stop(&mut self, cause: StopCause) {
        match (&self.stop, &cause) {
            (Some(StopCause::Tripwire { .. }), _) => {}
            (None | Some(StopCause::Limit(_)), _) => self.stop = Some(cause),
        }
    }

    /// Takes the time that the review took into account, by its contract.
    pub(crate) fn keep_contract(&mut self, took_ms: u64, precedent: Precedent, config: &Config) {
        keep_contract(&mut self.review, took_ms, precedent, config);
    }

    /// Settles what the call costs in trust: it may flag the review, the verdict stays. What only a limit refused costs nothing.
    pub(crate) fn settle_trust(&mut self, trust: &TrustDebt, config: &Config) {
        if self.is_over_limit {
            return;
        }
        settle_trust(&mut self.review, trust, config);
    }
}
