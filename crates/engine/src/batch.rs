//! The answer of `check` and `check --batch` that tells a review.

use checkrein_protocol::{BatchAnswer, EffectAnswer, GovernanceAnswer, RationalityAnswer, RiskAnswer};
use checkrein_review::Review;
use serde_json::Value as Json;

/// The answer to the question `id` that tells a review; numbers with three decimals.
pub fn batch_answer(id: Json, review: &Review) -> BatchAnswer {
    BatchAnswer {
        id,
        verdict: review.verdict.kind,
        decision: review.decision,
        flagged: review.verdict.flagged,
        risk: RiskAnswer {
            score: three_decimals(review.risk.score.value()),
            level: review.risk.level,
            factors: review.risk.factors.iter().map(|factor| factor.name.clone()).collect(),
        },
        rationality: RationalityAnswer {
            score: three_decimals(review.rationality.score.value()),
            level: review.rationality.level,
        },
        governance: GovernanceAnswer {
            ctq: three_decimals(review.governance.ctq.score.value()),
            tier: review.governance.tier.map(Into::into),
            by_thresholds: review.governance.by_thresholds,
            flag: review.governance.flag,
            fired: review.governance.fired.iter().map(|fired| fired.name.clone()).collect(),
            trust_debt: three_decimals(review.governance.trust.before),
            posture: review.governance.trust.posture,
        },
        effects: review.side_effects.effects.iter().map(EffectAnswer::from).collect(),
        rules: review.rules.iter().map(|finding| finding.rule.clone()).collect(),
        reason: review.reasoning.primary.clone(),
        reasons: review.reasoning.all.clone(),
        intent: review.intent,
        confidence: three_decimals(review.confidence.value()),
        mitigations: review.side_effects.mitigations.clone(),
        alternatives: review.alternatives.clone(),
        rewrite: review.rewrite.as_ref().map(|rewrite| rewrite.command.clone()),
        failures: review.failures.clone(),
        cached: false,
    }
}

fn three_decimals(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
