//! Forms that scorers and scripts rely on. They stay as they are: no envelope, no `schema` field. These types only describe them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::Value as Json;

use super::parts;

/// The answer of `check --json` behind its `schema`, and each line of `check --batch`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes what another crate writes")]
pub struct Check {
    /// As in the question; `"1"` where there is one command only.
    id: Json,
    /// `ok`, `nudge`, `escalate`, `block` or `halt`.
    verdict: String,
    /// `allow`, `warn`, `modify` or `block`.
    decision: String,
    /// Whether the user should look at it later.
    flagged: bool,
    /// How bad it would be.
    risk: parts::RiskOfAction,
    /// Whether it makes sense.
    rationality: parts::RationalityOfAction,
    /// What would change.
    effects: Vec<parts::PredictedEffect>,
    /// The rules that spoke.
    rules: Vec<String>,
    /// One sentence.
    reason: String,
    /// All reasons, weightiest first.
    reasons: Option<Vec<String>>,
    /// What it is for.
    intent: String,
    /// `inside` where it stays where the task is, else `outside`.
    scope: Option<String>,
    /// The version of the policy that it was judged by: equal policies have equal versions.
    policy: Option<String>,
    /// From 0 to 1.
    confidence: Option<f64>,
    /// Where the command is broken so that no shell runs any of it.
    syntax_error: Option<parts::SyntaxErrorPlace>,
    /// What it uses of the machine, as far as that is known before it runs.
    resources: Option<parts::PredictedUse>,
    /// What softens it.
    mitigations: Option<Vec<String>>,
    /// What could be done instead.
    alternatives: Option<Vec<String>>,
    /// The safer command that would run instead.
    rewrite: Option<String>,
    /// The quality of the trace.
    governance: parts::TraceQuality,
    /// Checks that did not run.
    failures: Option<Vec<String>>,
    /// Whether the review was kept from an equal question.
    cached: Option<bool>,
}

/// A line of `check --batch` that is not a question: it is answered with a block.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes what another module writes")]
pub struct CheckFault {
    /// As in the line, where it can be read.
    id: Json,
    /// The line and what is wrong with it.
    error: String,
    /// `block`.
    verdict: String,
    /// `block`.
    decision: String,
}

/// A line of `replay --json`: one session.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes what another module writes")]
pub struct Replay {
    /// As in the recording.
    id: Json,
    /// How many steps there are, counted from 1.
    steps: u64,
    /// What the detectors found.
    detections: Vec<parts::Detection>,
    /// Detections that the user settled by speaking.
    settled: Vec<parts::Detection>,
    /// What was done about it.
    interventions: Vec<parts::ReplayedIntervention>,
    /// How often each verdict was given.
    verdicts: BTreeMap<String, u64>,
    /// The step at which the session would have ended.
    stopped_at: Option<u64>,
}

/// A line of `replay --against FILE --json`: one session.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes what another module writes")]
pub struct ReplayDifference {
    /// As in the recording.
    id: Json,
    /// How many steps there are.
    steps: u64,
    /// How many calls were compared.
    calls: u64,
    /// The calls on which the two differ.
    differences: Vec<parts::DifferentVerdict>,
}

/// A line of `log --json`: a record as the ledger holds it, and its session. Other fields depend on its type.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes what another crate writes")]
#[schemars(extend("additionalProperties" = true))]
pub struct LogRecord {
    /// Its number in the session.
    seq: u64,
    /// When it was written, in milliseconds since 1970.
    at: u64,
    /// The session.
    session: String,
}
