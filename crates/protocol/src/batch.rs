//! `check` and `check --batch`: the questions and answers that other tools may rely on (design 12).

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::action::Intent;
use crate::decision::Decision;
use crate::effect::{Certainty, Depth, Effect, Stake};
use crate::effect_kind::EffectKind;
use crate::levels::{Posture, RationalityLevel, RiskLevel, ScopeReach, Severity, TierLevel};
use crate::nature::Nature;
use crate::resource_use::ResourceUse;
use crate::verdict::VerdictKind;

/// One line of questions: a shell command, or a tool call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct BatchQuestion {
    /// Comes back in the answer; the number of the line where a file gives none.
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
    /// Whether a user should look at it later.
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
    /// Whether it stays where the task is.
    pub scope: ScopeReach,
    /// The version of the policy that it was judged by: equal policies have equal versions.
    pub policy: String,
    /// How sure the picture is, 0 to 1, three decimals.
    pub confidence: f64,
    /// Where the command is broken so that no shell runs any of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syntax_error: Option<SyntaxErrorPlace>,
    /// What it uses of the machine, as far as that is known before it runs.
    pub resources: ResourceUse,
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

/// Where a command is broken so that no shell runs any of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SyntaxErrorPlace {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

/// Governance on the wire.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GovernanceAnswer {
    /// The quality of the trace, 0 to 1, three decimals.
    pub ctq: f64,
    /// The tier whose thresholds hold; `null` when governance is off.
    pub tier: Option<TierLevel>,
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
