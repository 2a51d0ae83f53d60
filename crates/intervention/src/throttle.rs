//! How much tighter limits become (seed 000).

use checkrein_policy::ReductionFactors;
use checkrein_protocol::Severity;

/// How fast something grows: the mean ratio of neighbours.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Growth(pub f64);

/// The factor for an issue in which nothing grows, by its severity (ours; the seed names the steps): `severe` for critical ones, `aggressive`
/// for high ones, else `moderate`.
pub(crate) fn reduction_of(severity: Severity, factors: ReductionFactors) -> f64 {
    match severity {
        Severity::Low | Severity::Medium => factors.moderate,
        Severity::High => factors.aggressive,
        Severity::Critical => factors.severe,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    const FACTORS: ReductionFactors = ReductionFactors { moderate: 0.85, aggressive: 0.5, severe: 0.25 };

    // Source: seed 000-29
    #[test]
    fn the_factors_of_seed_000() {
        for (growth, factor) in [(1.0, 1.0), (1.2, 1.0), (1.3, 0.85), (1.6, 0.7), (2.1, 0.5), (3.5, 0.25)] {
            assert!((reduction(Growth(growth), FACTORS) - factor).abs() < 1e-9, "{growth}");
        }
    }
}
