//! Patterns that are worse together (upstream 1.2).

use crate::issue::{Issue, PatternKind, Share};

/// A combination: its name, its members, and by how much it multiplies what a member weighs (upstream 1.2).
const COMBINATIONS: [(PatternKind, [PatternKind; 2], f64); 3] = [
    (
        PatternKind::ErrorExplorationLoop,
        [PatternKind::RepetitiveErrors, PatternKind::ExplorationWandering],
        1.5,
    ),
    (PatternKind::RunawayExecution, [PatternKind::ResourceSpiral, PatternKind::GoalDrift], 2.0),
    (PatternKind::ConfusedState, [PatternKind::Hallucination, PatternKind::ScopeCreep], 1.8),
];

/// Returns the combinations of which every member is among the issues. Each has the severity of its gravest member and the confidence of
/// its least certain one. Its impact is the multiplier minus 1, so that the score of seed 000 is multiplied by it.
pub(crate) fn detect(issues: &[Issue]) -> Vec<Issue> {
    let find = |kind: PatternKind| issues.iter().find(|issue| issue.kind == kind);
    let combine = |(kind, [one, other], multiplier): &(PatternKind, [PatternKind; 2], f64)| {
        let (one, other) = (find(*one)?, find(*other)?);
        let graver = if one.severity >= other.severity { one } else { other };
        let mut actions: Vec<_> = one.actions.iter().chain(&other.actions).copied().collect();
        actions.sort_unstable();
        actions.dedup();
        Some(Issue {
            kind: *kind,
            severity: graver.severity,
            confidence: Share::new(one.confidence.value().min(other.confidence.value())),
            impact: Share::new(multiplier - 1.0),
            signal: one.signal.max(other.signal),
            summary: format!("{}; and {}", one.summary, other.summary),
            advice: graver.advice.clone(),
            actions: crate::issue::newest(actions.into_iter()),
            growth: one.growth.or(other.growth),
            growths: if one.growths.is_empty() { other.growths.clone() } else { one.growths.clone() },
        })
    };
    COMBINATIONS.iter().filter_map(combine).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issue::ActionNumber;
    use checkrein_protocol::Severity;

    fn issue(kind: PatternKind, confidence: f64) -> Issue {
        Issue {
            kind,
            severity: Severity::Medium,
            confidence: Share::new(confidence),
            impact: Share::default(),
            signal: 1.0,
            summary: String::new(),
            advice: String::new(),
            actions: vec![ActionNumber(1)],
            growth: None,
            growths: Vec::new(),
        }
    }

    #[test]
    fn the_multipliers_of_upstream_1_2() {
        for (kind, [one, other], multiplier) in COMBINATIONS {
            let found = detect(&[issue(one, 0.9), issue(other, 0.5)]);
            assert_eq!(found.len(), 1);
            assert_eq!((found[0].kind, found[0].confidence), (kind, Share::new(0.5)));
            assert!((1.0 + found[0].impact.value() - multiplier).abs() < 1e-9);
            assert_eq!(detect(&[issue(one, 0.9)]), []);
        }
    }
}
