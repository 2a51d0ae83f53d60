//! The matrix and the rules put together (seed 002, design 5).

use checkrein_policy::{Config, Decision};
use checkrein_protocol::Severity;

use crate::verdict::{RationalityLevel, RiskLevel, Score};

/// What the decision rests on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grounds {
    pub(crate) risk: RiskLevel,
    pub(crate) rationality: RationalityLevel,
    pub(crate) sense: Sense,
    pub(crate) severity: Severity,
    /// An issue is active in the session.
    pub(crate) dangerous_pattern: bool,
    pub(crate) first_time: bool,
    /// The strictest decision that a rule asks for.
    pub(crate) rules: Option<Decision>,
}

/// Whether an action makes any sense (`step_reviewer.rationality.low_threshold`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sense {
    /// It does.
    Some,
    /// Its rationality lies below the low threshold: whatever the risk, a user decides.
    None,
}

impl Sense {
    /// What a score says.
    pub(crate) fn of(rationality: Score, config: &Config) -> Self {
        if rationality.value() < config.step_reviewer.rationality.low_threshold {
            Self::None
        } else {
            Self::Some
        }
    }
}

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decided {
    pub(crate) decision: Decision,
    /// The matrix said warn, and the first-time rule made it an allow with the warning in the record.
    pub(crate) warning_recorded: bool,
}

/// In this order: matrix; critical side effect; dangerous pattern (before first time, so that a dangerous pattern is never let
/// through for being new); first time; then the rules, which can only tighten.
pub(crate) fn decide(grounds: Grounds) -> Decided {
    let base = matrix(grounds.risk, grounds.rationality);
    let (own, warning_recorded) = if grounds.severity == Severity::Critical {
        (Decision::Block, false)
    } else if grounds.sense == Sense::None {
        (base.max(Decision::Modify), false)
    } else if base == Decision::Warn && grounds.dangerous_pattern {
        (Decision::Modify, false)
    } else if base == Decision::Warn && grounds.first_time {
        (Decision::Allow, true)
    } else {
        (base, false)
    };
    let decision = own.max(grounds.rules.unwrap_or(Decision::Allow));
    Decided { decision, warning_recorded: warning_recorded && decision == Decision::Allow }
}

/// {low: allow allow warn, medium: allow warn modify, high: warn modify block, critical: block} over rationality {high medium low}.
fn matrix(risk: RiskLevel, rationality: RationalityLevel) -> Decision {
    match (risk, rationality) {
        (RiskLevel::Low, RationalityLevel::High | RationalityLevel::Medium)
        | (RiskLevel::Medium, RationalityLevel::High) => Decision::Allow,
        (RiskLevel::Low, RationalityLevel::Low)
        | (RiskLevel::Medium, RationalityLevel::Medium)
        | (RiskLevel::High, RationalityLevel::High) => Decision::Warn,
        (RiskLevel::Medium, RationalityLevel::Low) | (RiskLevel::High, RationalityLevel::Medium) => {
            Decision::Modify
        }
        (RiskLevel::High, RationalityLevel::Low)
        | (RiskLevel::Critical, RationalityLevel::High | RationalityLevel::Medium | RationalityLevel::Low) => {
            Decision::Block
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALM: Grounds = Grounds {
        risk: RiskLevel::Low,
        rationality: RationalityLevel::High,
        sense: Sense::Some,
        severity: Severity::Low,
        dangerous_pattern: false,
        first_time: false,
        rules: None,
    };

    // Source: seed 002-31
    #[test]
    fn what_makes_no_sense_is_asked_about_whatever_the_risk() {
        let senseless = Grounds { rationality: RationalityLevel::Low, sense: Sense::None, ..CALM };
        assert_eq!(decide(senseless).decision, Decision::Modify);
        assert_eq!(decide(Grounds { risk: RiskLevel::Critical, ..senseless }).decision, Decision::Block);
    }

    // Source: seed 001-14, 002-39, 002-43, 002-85
    #[test]
    fn the_matrix_is_the_one_of_the_seed() {
        use Decision::{Allow, Block, Modify, Warn};
        use RationalityLevel::{High, Low, Medium};
        let table = [
            (RiskLevel::Low, [Allow, Allow, Warn]),
            (RiskLevel::Medium, [Allow, Warn, Modify]),
            (RiskLevel::High, [Warn, Modify, Block]),
            (RiskLevel::Critical, [Block, Block, Block]),
        ];
        for (risk, row) in table {
            for (rationality, expected) in [High, Medium, Low].into_iter().zip(row) {
                let decided = decide(Grounds { risk, rationality, ..CALM });
                assert_eq!(decided.decision, expected, "{risk:?} {rationality:?}");
            }
        }
    }

    // Source: seed 002-40
    #[test]
    fn a_critical_side_effect_blocks_whatever_the_matrix_says() {
        assert_eq!(decide(Grounds { severity: Severity::Critical, ..CALM }).decision, Decision::Block);
    }

    // Source: seed 002-41
    #[test]
    fn the_first_warning_of_a_kind_goes_to_the_record_only() {
        let warned = Grounds { risk: RiskLevel::High, first_time: true, ..CALM };
        assert_eq!(decide(warned), Decided { decision: Decision::Allow, warning_recorded: true });
    }

    // Source: seed 002-42
    #[test]
    fn a_dangerous_pattern_is_not_let_through_for_being_new() {
        let warned = Grounds { risk: RiskLevel::High, first_time: true, dangerous_pattern: true, ..CALM };
        assert_eq!(decide(warned).decision, Decision::Modify);
    }

    #[test]
    fn rules_only_tighten() {
        let risky = Grounds { risk: RiskLevel::Critical, ..CALM };
        assert_eq!(decide(Grounds { rules: Some(Decision::Allow), ..risky }).decision, Decision::Block);
        assert_eq!(decide(Grounds { rules: Some(Decision::Modify), ..CALM }).decision, Decision::Modify);
        let first = Grounds { risk: RiskLevel::High, first_time: true, rules: Some(Decision::Warn), ..CALM };
        assert_eq!(decide(first), Decided { decision: Decision::Warn, warning_recorded: false });
    }
}
