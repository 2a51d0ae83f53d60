//! Which rung comes next (seed 000).

use checkrein_patterns::{PatternKind, Share};
use checkrein_protocol::{InterventionKind, Severity};

/// One up when the last intervention helped less than the threshold, else one down (seed 000).
pub fn progressive(current: InterventionKind, effectiveness: Share, threshold: Share) -> InterventionKind {
    if effectiveness < threshold { current.stronger() } else { current.milder() }
}

/// The rung of a pattern by its severity (seed 000). Combinations take the list of their graver member, patterns without a list of their own the
/// default one (ours): hint, reminder, rollback.
pub fn pattern_specific(pattern: PatternKind, severity: Severity) -> InterventionKind {
    use InterventionKind::{
        CheckpointRollback, ContextReinforcement, EmergencyStop, ResourceThrottling, SoftCorrection,
    };
    let list = match pattern {
        PatternKind::RepetitiveErrors
        | PatternKind::GoalDrift
        | PatternKind::Stagnation
        | PatternKind::OscillatingEdits
        | PatternKind::ExplorationWandering
        | PatternKind::Cascade => [SoftCorrection, ContextReinforcement, CheckpointRollback],
        PatternKind::ScopeCreep => [ContextReinforcement, ResourceThrottling, EmergencyStop],
        PatternKind::ResourceSpiral | PatternKind::RunawayExecution => {
            [ResourceThrottling, CheckpointRollback, EmergencyStop]
        }
        PatternKind::Hallucination | PatternKind::ConfusedState => {
            [ContextReinforcement, CheckpointRollback, EmergencyStop]
        }
        PatternKind::StuckLoop
        | PatternKind::ErrorExplorationLoop
        | PatternKind::RepeatedVerdicts
        | PatternKind::OwnPattern => [SoftCorrection, ContextReinforcement, ResourceThrottling],
    };
    let [low, medium, high] = list;
    match severity {
        Severity::Low => low,
        Severity::Medium => medium,
        // The last of three is also the one at index 2 (seed 000): critical is never weaker than high.
        Severity::High | Severity::Critical => high,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Source: seed 000-77
    #[test]
    fn progressive_goes_up_when_it_did_not_help_and_down_when_it_did_seed_000() {
        let threshold = Share::new(0.6);
        let next = |kind, effectiveness| progressive(kind, Share::new(effectiveness), threshold);
        assert_eq!(next(InterventionKind::SoftCorrection, 0.0), InterventionKind::ContextReinforcement);
        assert_eq!(next(InterventionKind::EmergencyStop, 0.0), InterventionKind::EmergencyStop);
        assert_eq!(next(InterventionKind::CheckpointRollback, 0.6), InterventionKind::ResourceThrottling);
        assert_eq!(next(InterventionKind::SoftCorrection, 1.0), InterventionKind::SoftCorrection);
    }

    // Source: seed 000-79, 000-80
    #[test]
    fn the_table_of_seed_000() {
        use InterventionKind as Kind;
        for (pattern, kinds) in [
            (
                PatternKind::RepetitiveErrors,
                [Kind::SoftCorrection, Kind::ContextReinforcement, Kind::CheckpointRollback],
            ),
            (
                PatternKind::ScopeCreep,
                [Kind::ContextReinforcement, Kind::ResourceThrottling, Kind::EmergencyStop],
            ),
            (
                PatternKind::ResourceSpiral,
                [Kind::ResourceThrottling, Kind::CheckpointRollback, Kind::EmergencyStop],
            ),
            (
                PatternKind::GoalDrift,
                [Kind::SoftCorrection, Kind::ContextReinforcement, Kind::CheckpointRollback],
            ),
            (
                PatternKind::Hallucination,
                [Kind::ContextReinforcement, Kind::CheckpointRollback, Kind::EmergencyStop],
            ),
        ] {
            let found = [Severity::Low, Severity::Medium, Severity::High]
                .map(|severity| pattern_specific(pattern, severity));
            assert_eq!(found, kinds);
            assert_eq!(pattern_specific(pattern, Severity::Critical), kinds[2]);
        }
        // No pattern is without a list, and critical is nowhere weaker than high.
        for pattern in PatternKind::ALL {
            let [low, high, critical] = [Severity::Low, Severity::High, Severity::Critical]
                .map(|severity| pattern_specific(pattern, severity));
            assert!(low < high && high <= critical, "{pattern:?}");
        }
    }
}
