//! The answer of `check` and `check --batch` that tells a review.

use checkrein_interpreter::refused_at;
use checkrein_policy::PolicyVersion;
use checkrein_protocol::{
    Action, BatchAnswer, EffectAnswer, GovernanceAnswer, RationalityAnswer, RiskAnswer, SyntaxErrorPlace,
};
use checkrein_review::Review;
use serde_json::Value as Json;

/// Where the command of an action is broken so that no shell runs any of it; `None` where one may, and where there is no command.
pub fn syntax_error(action: &Action) -> Option<SyntaxErrorPlace> {
    let (line, column) = refused_at(action.shell_text()?)?;
    Some(SyntaxErrorPlace { line, column })
}

/// The answer to the question `id` that tells a review of an action by the policy of this version; numbers with three decimals.
pub fn batch_answer(id: Json, action: &Action, review: &Review, policy: PolicyVersion) -> BatchAnswer {
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
        scope: review.risk.reach,
        policy: policy.to_string(),
        confidence: three_decimals(review.confidence.value()),
        syntax_error: syntax_error(action),
        resources: review.side_effects.resources,
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
