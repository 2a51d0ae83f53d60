//! Trust debt: what it grows by, how it wears off, what it leads to (ACGP, provider `acgp.core.default@1`).

use checkrein_facts::TrustDebt;
use checkrein_protocol::{Posture, Severity, Timestamp, VerdictKind};

/// What costs trust, and what lost trust leads to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrustPolicy {
    /// Whether debt is kept at all.
    pub enabled: bool,
    /// What each outcome adds.
    pub accumulation: Accumulation,
    /// What a flag is multiplied with, by its severity (1 for all, as upstream's flat weight).
    pub flag_factors: FlagFactors,
    /// How it wears off.
    pub decay: Decay,
    /// From where on it leads to what.
    pub thresholds: TrustThresholds,
}

/// What each outcome adds to the debt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accumulation {
    /// A flag, on top of the verdict, before its factor.
    pub flag: f64,
    /// A hint.
    pub nudge: f64,
    /// A question to a user.
    pub escalate: f64,
    /// A refusal.
    pub block: f64,
    /// A halt.
    pub halt: f64,
}

/// What a flag is multiplied with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlagFactors {
    /// Severity low.
    pub low: f64,
    /// Severity medium.
    pub medium: f64,
    /// Severity high.
    pub high: f64,
    /// Severity critical.
    pub critical: f64,
}

/// How debt wears off: `debt * (1 - fraction)^(time / period)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decay {
    /// The share that is gone after one period, from 0 to 1.
    pub fraction: f64,
    /// The length of a period, in hours.
    pub period_hours: f64,
    /// What it never falls below once there is any.
    pub min_debt: f64,
}

/// From which debt on something follows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrustThresholds {
    /// Warnings that would go to the record only are said.
    pub elevated_monitoring: f64,
    /// The thresholds of one tier stricter hold.
    pub restricted_mode: f64,
    /// A user is asked to look at the tier.
    pub re_tiering_review: f64,
}

impl Default for TrustPolicy {
    /// The defaults of `clarity.baseline@1.0`.
    fn default() -> Self {
        Self {
            enabled: true,
            accumulation: Accumulation { flag: 0.1, nudge: 0.5, escalate: 1.0, block: 2.0, halt: 5.0 },
            flag_factors: FlagFactors { low: 1.0, medium: 1.0, high: 1.0, critical: 1.0 },
            decay: Decay { fraction: 0.05, period_hours: 1.0, min_debt: 0.0 },
            thresholds: TrustThresholds {
                elevated_monitoring: 3.0,
                restricted_mode: 6.0,
                re_tiering_review: 10.0,
            },
        }
    }
}

impl TrustPolicy {
    /// What an outcome adds, from 0 up: the verdict, and a flag of that severity on top.
    pub fn added(&self, verdict: VerdictKind, flag: Option<Severity>) -> f64 {
        let by_verdict = match verdict {
            VerdictKind::Ok => 0.0,
            VerdictKind::Nudge => self.accumulation.nudge,
            VerdictKind::Escalate => self.accumulation.escalate,
            VerdictKind::Block => self.accumulation.block,
            VerdictKind::Halt => self.accumulation.halt,
        };
        let factor = flag.map_or(0.0, |severity| match severity {
            Severity::Low => self.flag_factors.low,
            Severity::Medium => self.flag_factors.medium,
            Severity::High => self.flag_factors.high,
            Severity::Critical => self.flag_factors.critical,
        });
        by_verdict + self.accumulation.flag * factor
    }

    /// What is left of a debt at a moment. A clock that went backwards takes nothing away.
    pub fn left(&self, trust: &TrustDebt, now: Timestamp) -> f64 {
        if !self.enabled || trust.debt <= 0.0 {
            return 0.0;
        }
        let hours = now.0.saturating_sub(trust.at.0) as f64 / 3_600_000.0;
        // Without a period nothing could be said about how fast it wears off, so it does not.
        let periods = if self.decay.period_hours > 0.0 { hours / self.decay.period_hours } else { 0.0 };
        let left = trust.debt * (1.0 - self.decay.fraction).powf(periods);
        left.max(self.decay.min_debt.min(trust.debt))
    }

    /// What a debt leads to.
    pub fn posture(&self, debt: f64) -> Posture {
        if !self.enabled {
            Posture::Normal
        } else if debt >= self.thresholds.re_tiering_review {
            Posture::ReTieringReview
        } else if debt >= self.thresholds.restricted_mode {
            Posture::RestrictedMode
        } else if debt >= self.thresholds.elevated_monitoring {
            Posture::ElevatedMonitoring
        } else {
            Posture::Normal
        }
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "the numbers are written down, not computed")]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000;

    fn debt(debt: f64) -> TrustDebt {
        TrustDebt { debt, at: Timestamp(0), review_asked: false }
    }

    // Source: seed 003-19, 003-21
    #[test]
    fn each_outcome_adds_what_acgp_says_and_a_flag_comes_on_top() {
        let policy = TrustPolicy::default();
        let verdicts = VerdictKind::ALL.map(|verdict| policy.added(verdict, None));
        assert_eq!(verdicts, [0.0, 0.5, 1.0, 2.0, 5.0]);
        assert_eq!(policy.added(VerdictKind::Ok, Some(Severity::High)), 0.1);
        assert_eq!(policy.added(VerdictKind::Block, Some(Severity::Low)), 2.1);
        let graded = FlagFactors { low: 0.5, medium: 1.0, high: 2.0, critical: 4.0 };
        let graded = TrustPolicy { flag_factors: graded, ..policy };
        assert_eq!(graded.added(VerdictKind::Ok, Some(Severity::Critical)), 0.4);
    }

    #[test]
    fn five_percent_are_gone_after_an_hour_as_acgp_says() {
        let policy = TrustPolicy::default();
        assert_eq!(policy.left(&debt(4.0), Timestamp(0)), 4.0);
        assert!((policy.left(&debt(4.0), Timestamp(HOUR)) - 3.8).abs() < 1e-12);
        assert!((policy.left(&debt(4.0), Timestamp(24 * HOUR)) - 4.0 * 0.95_f64.powi(24)).abs() < 1e-12);
        let daily = Decay { period_hours: 24.0, ..policy.decay };
        let daily = TrustPolicy { decay: daily, ..policy };
        assert!((daily.left(&debt(4.0), Timestamp(24 * HOUR)) - 3.8).abs() < 1e-12, "the blueprint example");
        let floor = TrustPolicy { decay: Decay { min_debt: 1.0, ..policy.decay }, ..policy };
        assert_eq!(floor.left(&debt(4.0), Timestamp(10_000 * HOUR)), 1.0);
        assert_eq!(floor.left(&debt(0.0), Timestamp(0)), 0.0, "a floor is no debt of its own");
    }

    #[test]
    fn a_clock_that_goes_backwards_forgives_nothing() {
        let later = TrustDebt { at: Timestamp(9 * HOUR), ..debt(4.0) };
        assert_eq!(TrustPolicy::default().left(&later, Timestamp(0)), 4.0);
    }

    #[test]
    fn the_postures_begin_at_3_6_and_10() {
        use Posture::{ElevatedMonitoring, Normal, ReTieringReview, RestrictedMode};
        let policy = TrustPolicy::default();
        let cases = [
            (2.99, Normal),
            (3.0, ElevatedMonitoring),
            (5.99, ElevatedMonitoring),
            (6.0, RestrictedMode),
            (10.0, ReTieringReview),
            (1e9, ReTieringReview),
        ];
        for (debt, posture) in cases {
            assert_eq!(policy.posture(debt), posture, "{debt}");
        }
        assert_eq!(TrustPolicy { enabled: false, ..policy }.posture(1e9), Normal);
    }
}
