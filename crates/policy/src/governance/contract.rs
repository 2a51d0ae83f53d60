//! Governance contracts: how long a review may take, and what follows when it takes longer (ACGP).

use super::tier::Tier;
use crate::config::choice;
use checkrein_protocol::VerdictKind;

choice! {
    /// What an action may lead to, for the time that its review is worth (ACGP). Later is graver.
    RiskClass {
        /// It can be taken back, or changes nothing.
        Low = "low_risk",
        /// It has consequences, but no catastrophic ones.
        Elevated = "elevated_risk",
        /// It cannot be taken back, or much hangs on it.
        Critical = "critical_risk",
    }
}

choice! {
    /// What follows when a review took longer than its budget (ACGP). Later is stricter.
    Fallback {
        /// The verdict stands, and the delay is in the record.
        AllowAndLog = "allow_and_log",
        /// The verdict stands when this very action ran before in the session, else a user is asked.
        CachedDecision = "cached_decision",
        /// A user is asked.
        Escalate = "escalate",
        /// It is refused.
        Deny = "deny",
    }
}

/// How long reviews may take, in milliseconds, and what follows when one takes longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contract {
    /// The least class that every action is counted to.
    pub risk_level: RiskClass,
    /// One budget for all classes; `None`: those of the classes.
    pub latency_budget_ms: Option<u64>,
    /// What follows.
    pub fallback_on_timeout: Fallback,
}

impl Default for Contract {
    fn default() -> Self {
        Self {
            risk_level: RiskClass::Low,
            latency_budget_ms: None,
            fallback_on_timeout: Fallback::AllowAndLog,
        }
    }
}

/// Whether this very action ran before in the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precedent {
    /// It did.
    Known,
    /// It did not, or that is not known.
    Unknown,
}

impl RiskClass {
    /// How long a review of this class may take, in milliseconds (ACGP).
    pub fn budget_ms(self) -> u64 {
        match self {
            Self::Low => 100,
            Self::Elevated => 300,
            Self::Critical => 5000,
        }
    }
}

impl Contract {
    /// How long a review may take, in milliseconds; `least` is the time of an action of low risk (seed 002: `max_review_time_ms`).
    pub fn budget_ms(&self, class: RiskClass, least: u64) -> u64 {
        let of_class = || match class.max(self.risk_level) {
            RiskClass::Low => least,
            graver @ (RiskClass::Elevated | RiskClass::Critical) => graver.budget_ms(),
        };
        self.latency_budget_ms.unwrap_or_else(of_class)
    }

    /// The least verdict after a review that took longer than its budget. From tier 3 on, where every trace is looked at closely,
    /// silence is never the answer to a delay: a contract stays above the least controls of the tier (ACGP; where they begin is ours).
    pub fn least_verdict(&self, tier: Tier, precedent: Precedent) -> VerdictKind {
        let fallback = if tier >= Tier::Three {
            self.fallback_on_timeout.max(Fallback::CachedDecision)
        } else {
            self.fallback_on_timeout
        };
        match (fallback, precedent) {
            (Fallback::AllowAndLog, _) | (Fallback::CachedDecision, Precedent::Known) => VerdictKind::Ok,
            (Fallback::CachedDecision, Precedent::Unknown) | (Fallback::Escalate, _) => VerdictKind::Escalate,
            (Fallback::Deny, _) => VerdictKind::Block,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_those_of_acgp_and_a_class_can_only_be_raised() {
        let contract = Contract::default();
        let classes = [RiskClass::Low, RiskClass::Elevated, RiskClass::Critical];
        assert_eq!(classes.map(|class| contract.budget_ms(class, 100)), [100, 300, 5000]);
        assert_eq!(classes.map(|class| contract.budget_ms(class, 40)), [40, 300, 5000]);
        let raised = Contract { risk_level: RiskClass::Elevated, ..contract };
        assert_eq!(classes.map(|class| raised.budget_ms(class, 100)), [300, 300, 5000]);
        let fixed = Contract { latency_budget_ms: Some(40), ..contract };
        assert_eq!(classes.map(|class| fixed.budget_ms(class, 100)), [40, 40, 40]);
    }

    #[test]
    fn a_delay_never_goes_below_the_least_controls_of_the_tier() {
        use Precedent::{Known, Unknown};
        let contract = |fallback_on_timeout| Contract { fallback_on_timeout, ..Contract::default() };
        let least = |fallback, tier, precedent| contract(fallback).least_verdict(tier, precedent);
        assert_eq!(least(Fallback::AllowAndLog, Tier::Two, Unknown), VerdictKind::Ok);
        assert_eq!(least(Fallback::AllowAndLog, Tier::Three, Unknown), VerdictKind::Escalate);
        assert_eq!(least(Fallback::AllowAndLog, Tier::Three, Known), VerdictKind::Ok);
        assert_eq!(least(Fallback::CachedDecision, Tier::Zero, Unknown), VerdictKind::Escalate);
        assert_eq!(least(Fallback::Escalate, Tier::Zero, Known), VerdictKind::Escalate);
        assert_eq!(least(Fallback::Deny, Tier::Zero, Known), VerdictKind::Block);
    }
}
