//! How much an issue weighs (seed 000).

use checkrein_patterns::{Issue, Share};
use checkrein_protocol::{InterventionKind, Severity};

/// base(severity) x confidence x (1 + impact), base .2, .5, .8, 1 (seed 000); from 0 to 2.
pub fn severity_score(issue: &Issue) -> f64 {
    let base = match issue.severity {
        Severity::Low => 0.2,
        Severity::Medium => 0.5,
        Severity::High => 0.8,
        Severity::Critical => 1.0,
    };
    base * issue.confidence.value() * (1.0 + issue.impact.value())
}

/// The score with what was tried before: + .3 for each earlier intervention on the same pattern (seed 000), clamped to 1 (upstream 5, row 4).
pub fn combined_score(severity: f64, escalation: u32) -> Share {
    Share::new(severity + f64::from(escalation) * 0.3)
}

/// The rung of a score: .9 stop, .7 rollback, .5 throttling, .3 reinforcement, else a hint; an edge belongs to the stricter side (seed 000).
pub fn band(score: Share) -> InterventionKind {
    // Sums of tenths fall a little short of the edges that they mean.
    let score = score.value() + 1e-9;
    if score >= 0.9 {
        InterventionKind::EmergencyStop
    } else if score >= 0.7 {
        InterventionKind::CheckpointRollback
    } else if score >= 0.5 {
        InterventionKind::ResourceThrottling
    } else if score >= 0.3 {
        InterventionKind::ContextReinforcement
    } else {
        InterventionKind::SoftCorrection
    }
}

#[cfg(test)]
mod tests {
    use checkrein_patterns::{ActionNumber, PatternKind};

    use super::*;

    fn issue(severity: Severity, confidence: f64, impact: f64) -> Issue {
        Issue {
            kind: PatternKind::RepetitiveErrors,
            severity,
            confidence: Share::new(confidence),
            impact: Share::new(impact),
            signal: 1.0,
            summary: String::new(),
            advice: String::new(),
            actions: vec![ActionNumber(1)],
            growth: None,
            growths: Vec::new(),
        }
    }

    // Source: seed 000-71, 000-72
    #[test]
    fn the_score_of_seed_000() {
        for (severity, base) in
            [(Severity::Low, 0.2), (Severity::Medium, 0.5), (Severity::High, 0.8), (Severity::Critical, 1.0)]
        {
            assert!((severity_score(&issue(severity, 1.0, 0.0)) - base).abs() < 1e-9);
            assert!((severity_score(&issue(severity, 0.5, 1.0)) - base).abs() < 1e-9);
        }
        assert_eq!(combined_score(0.5, 1), Share::new(0.8));
        assert_eq!(combined_score(2.0, 3), Share::new(1.0));
    }

    // Source: seed 000-69, 000-73, 001-22, 001-25
    #[test]
    fn the_bands_of_seed_000_an_edge_is_strict() {
        for (score, kind) in [
            (0.0, InterventionKind::SoftCorrection),
            (0.29, InterventionKind::SoftCorrection),
            (0.3, InterventionKind::ContextReinforcement),
            (0.5, InterventionKind::ResourceThrottling),
            (0.7, InterventionKind::CheckpointRollback),
            (0.9, InterventionKind::EmergencyStop),
            (0.3 + 0.3 + 0.3, InterventionKind::EmergencyStop),
        ] {
            assert_eq!(band(Share::new(score)), kind, "{score}");
        }
    }

    proptest::proptest! {
        /// More confidence, more impact or more tries before never ask for less.
        #[test]
        fn more_never_asks_for_less(confidence in 0.0..1.0_f64, more in 0.0..1.0_f64, impact in 0.0..1.0_f64, tries in 0_u32..5) {
            let score = |confidence: f64, tries: u32| {
                band(combined_score(severity_score(&issue(Severity::High, confidence, impact)), tries))
            };
            proptest::prop_assert!(score(confidence, tries) <= score((confidence + more).min(1.0), tries));
            proptest::prop_assert!(score(confidence, tries) <= score(confidence, tries + 1));
        }
    }
}
