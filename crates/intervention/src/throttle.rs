//! Tighter limits (seed 000).

use checkrein_patterns::{ActionNumber, Mark};
use checkrein_policy::ReductionFactors;
use checkrein_protocol::Severity;
use serde::{Deserialize, Serialize};

/// How fast something grows: the mean ratio of neighbours.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Growth(pub f64);

/// For how many calls limits stay tight (ours). Of those that run, where calls are refused: refusals cost no time and show nothing.
pub(crate) const LASTING: u64 = 10;

/// The factor for an issue in which nothing grows, by its severity (ours; the seed names the steps): `severe` for critical ones, `aggressive`
/// for high ones, else `moderate`.
pub(crate) fn reduction_of(severity: Severity, factors: ReductionFactors) -> f64 {
    match severity {
        Severity::Low | Severity::Medium => factors.moderate,
        Severity::High => factors.aggressive,
        Severity::Critical => factors.severe,
    }
}

/// What a call that ran did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ran {
    /// It changed something.
    Changed,
    /// It changed nothing that is known, or failed.
    Otherwise,
}

/// Limits that are tighter for a while.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Throttle {
    /// What limits are multiplied with, from 0 to 1.
    pub factor: f64,
    /// The action after which they began.
    #[serde(default)]
    pub since: ActionNumber,
    /// How many other calls must run before the refused ones may again; what is refused does not count.
    #[serde(default)]
    pub left: u64,
    /// Calls that are refused meanwhile, because repeating them was the trouble, until something is changed; at most 8 (ours).
    pub refused: Vec<Mark>,
}

/// The factor for a growth: above 2 `aggressive` (.5), above 1.5 .7, above 1.2 `moderate` (.85), else 1 (seed 000); above 3 `severe` (.25; the seed names it
/// without a band, ours).
pub fn reduction(growth: Growth, factors: ReductionFactors) -> f64 {
    match growth.0 {
        growth if growth > 3.0 => factors.severe,
        growth if growth > 2.0 => factors.aggressive,
        growth if growth > 1.5 => 0.7,
        growth if growth > 1.2 => factors.moderate,
        _ => 1.0,
    }
}

impl Throttle {
    /// Limits by a factor, from an action on.
    pub fn new(factor: f64, from: ActionNumber, mut refused: Vec<Mark>) -> Self {
        refused.sort_unstable();
        refused.dedup();
        refused.truncate(8);
        Self { factor, since: from, left: LASTING, refused }
    }

    /// Whether they still hold.
    pub fn holds(&self) -> bool {
        self.left > 0
    }

    /// Takes up that a call ran.
    pub(crate) fn ran(&mut self, ran: Ran) {
        self.left = self.left.saturating_sub(1);
        if ran == Ran::Changed {
            // What failed before may come out otherwise now.
            self.refused.clear();
        }
    }

    /// What limits are multiplied with for an action; 1 once they have held long enough. Here every call counts, or a session whose limit is
    /// used up would stand still for good.
    pub fn factor_for(&self, action: ActionNumber) -> f64 {
        if action.0 <= self.since.0.saturating_add(LASTING) { self.factor } else { 1.0 }
    }

    /// A limit under them for an action, rounded; at least 1.
    pub fn reduced(&self, limit: u64, action: ActionNumber) -> u64 {
        // Limits are far below the numbers that a double holds exactly.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to the limit")]
        let reduced = (limit as f64 * self.factor_for(action)).round() as u64;
        reduced.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTORS: ReductionFactors = ReductionFactors { moderate: 0.85, aggressive: 0.5, severe: 0.25 };

    #[test]
    fn the_factors_of_seed_000() {
        for (growth, factor) in [(1.0, 1.0), (1.2, 1.0), (1.3, 0.85), (1.6, 0.7), (2.1, 0.5), (3.5, 0.25)] {
            assert!((reduction(Growth(growth), FACTORS) - factor).abs() < 1e-9, "{growth}");
        }
    }

    #[test]
    fn limits_are_rounded_and_never_nothing() {
        let throttle = Throttle::new(0.5, ActionNumber(7), vec![Mark(2), Mark(1), Mark(2)]);
        assert_eq!(throttle.reduced(101, ActionNumber(17)), 51);
        assert_eq!(throttle.reduced(0, ActionNumber(17)), 1);
        assert_eq!(throttle.reduced(101, ActionNumber(18)), 101);
        assert_eq!(throttle.refused, [Mark(1), Mark(2)]);
    }

    #[test]
    fn they_hold_for_calls_that_run_and_a_change_lets_the_refused_ones_through() {
        let mut throttle = Throttle::new(0.5, ActionNumber(7), vec![Mark(1)]);
        (1..LASTING).for_each(|_| throttle.ran(Ran::Otherwise));
        assert!(throttle.holds() && throttle.refused == [Mark(1)]);
        throttle.ran(Ran::Changed);
        assert!(!throttle.holds() && throttle.refused.is_empty());
    }
}
