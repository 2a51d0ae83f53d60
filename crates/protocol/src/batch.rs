//! `check` and `check --batch`: the questions and answers that other tools may rely on (design 12).

use checkrein_effects::{Certainty, Depth, Effect, EffectKind, Intent, Nature, Severity, Stake};
use checkrein_policy::{Decision, Posture, Tier};
use checkrein_review::{RationalityLevel, Review, RiskLevel, VerdictKind};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// One line of questions: a shell command, or a tool call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct BatchQuestion {
    /// Comes back in the answer.
    pub id: Json,
    /// Shell text.
    pub command: Option<String>,
    /// The name of a tool, when it is not a shell command.
    pub tool: Option<String>,
    /// The input of the tool.
    pub input: Option<Json>,
    /// The working directory; that of the process by default.
    pub cwd: Option<String>,
}

/// One line of answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BatchAnswer {
    /// As in the question.
    pub id: Json,
    /// What would be done about it.
    pub verdict: VerdictKind,
    /// The decision behind the verdict.
    pub decision: Decision,
    /// Whether a person should look at it later.
    pub flagged: bool,
    /// How bad it would be.
    pub risk: RiskAnswer,
    /// Whether it makes sense.
    pub rationality: RationalityAnswer,
    /// What would change.
    pub effects: Vec<EffectAnswer>,
    /// The rules that spoke.
    pub rules: Vec<String>,
    /// One sentence.
    pub reason: String,
    /// All reasons, weightiest first.
    pub reasons: Vec<String>,
    /// What it is for.
    pub intent: Intent,
    /// How sure the picture is, 0 to 1, three decimals.
    pub confidence: f64,
    /// What softens it.
    pub mitigations: Vec<String>,
    /// What could be done instead.
    pub alternatives: Vec<String>,
    /// The safer command that would run in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rewrite: Option<String>,
    /// The quality of the trace and what follows from it.
    pub governance: GovernanceAnswer,
    /// Checks that did not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
    /// Whether the review was kept from an equal question before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
}

/// Governance on the wire.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GovernanceAnswer {
    /// The quality of the trace, 0 to 1, three decimals.
    pub ctq: f64,
    /// The tier whose thresholds hold; `null` when governance is off.
    pub tier: Option<Tier>,
    /// What these thresholds say.
    pub by_thresholds: VerdictKind,
    /// The severity of the flag; `null` when there is none.
    pub flag: Option<Severity>,
    /// The tripwires and own patterns that fired.
    pub fired: Vec<String>,
    /// The trust debt before the action, three decimals.
    pub trust_debt: f64,
    /// What the debt leads to.
    pub posture: Posture,
}

/// Risk on the wire.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RiskAnswer {
    /// 0 to 1, three decimals.
    pub score: f64,
    /// The band.
    pub level: RiskLevel,
    /// Names of the factors, the base first.
    pub factors: Vec<String>,
}

/// Rationality on the wire.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RationalityAnswer {
    /// 0 to 1, three decimals.
    pub score: f64,
    /// The band.
    pub level: RationalityLevel,
}

/// An effect on the wire.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffectAnswer {
    /// What sort of change.
    pub kind: EffectKind,
    /// To what; `null` when it is not known.
    pub target: Option<String>,
    /// How sure.
    pub certainty: Certainty,
    /// Whether it reaches below the target.
    pub recursive: bool,
    /// What would be lost.
    pub stake: Stake,
    /// Whether it can be taken back.
    pub reversible: bool,
    /// How bad it would be.
    pub severity: Severity,
    /// What is special about it, as far as anything is decided by it; left out when nothing is.
    #[serde(skip_serializing_if = "Nature::is_ordinary")]
    pub nature: Nature,
    /// Whether what it takes is saved before; left out when it is not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub saved: bool,
    /// What causes it, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cause: String,
    /// What is special about it, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl BatchAnswer {
    /// The answer that tells a review.
    pub fn new(id: Json, review: &Review) -> Self {
        Self {
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
                tier: review.governance.tier,
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
}

impl From<&Effect> for EffectAnswer {
    fn from(effect: &Effect) -> Self {
        Self {
            kind: effect.kind,
            target: effect.target.text().map(str::to_owned),
            certainty: effect.certainty,
            recursive: effect.depth == Depth::Recursive,
            stake: effect.stake,
            reversible: effect.reversible,
            severity: effect.severity,
            nature: effect.nature,
            saved: effect.saved,
            cause: effect.cause.clone(),
            note: effect.note.clone(),
        }
    }
}

fn three_decimals(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
