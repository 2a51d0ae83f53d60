//! Tighter limits (seed 000).

use checkrein_patterns::{ActionNumber, Mark};
use checkrein_policy::ReductionFactors;
use serde::{Deserialize, Serialize};

/// How fast something grows: the mean ratio of neighbours.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Growth(pub f64);

/// For how many actions limits stay tight (ours).
const LASTING: u64 = 10;

/// Limits that are tighter for a while.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Throttle {
    /// What limits are multiplied with, from 0 to 1.
    pub factor: f64,
    /// The action after which they began.
    #[serde(default)]
    pub since: ActionNumber,
    /// The last action that they hold for.
    pub until: ActionNumber,
    /// Calls that are refused meanwhile, because repeating them was the trouble; at most 8 (ours).
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
        Self { factor, since: from, until: ActionNumber(from.0 + LASTING), refused }
    }

    /// Whether they hold for an action.
    pub fn holds_for(&self, action: ActionNumber) -> bool {
        action <= self.until
    }

    /// A limit under them, rounded; at least 1.
    pub fn reduced(&self, limit: u64) -> u64 {
        // Limits are far below the numbers that a double holds exactly.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to the limit")]
        let reduced = (limit as f64 * self.factor).round() as u64;
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
        assert_eq!((throttle.reduced(101), throttle.reduced(0)), (51, 1));
        assert_eq!(throttle.refused, [Mark(1), Mark(2)]);
        assert!(throttle.holds_for(ActionNumber(17)) && !throttle.holds_for(ActionNumber(18)));
    }
}
