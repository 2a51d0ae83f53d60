//! Answers of gates.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::answers;
use super::pipelines::PipelineReview;

/// What a gate says about what changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GateAnswer {
    /// The gate.
    pub gate: String,
    /// Whether it passed.
    pub passed: bool,
    /// `passed`, `failed`, or `not_run`: nothing fails it, and something could not be looked at.
    pub outcome: String,
    /// What the changes were compared with, in words.
    pub compared_with: String,
    /// How many changed files were examined.
    pub files: usize,
    /// How many changed functions they have.
    pub functions: usize,
    /// How many findings fail the gate.
    pub errors: usize,
    /// How many do not, unless it is strict.
    pub warnings: usize,
    /// How many findings were allowed in the code, with a reason.
    pub allowed: usize,
    /// What was found.
    pub findings: Vec<GateFindingEntry>,
    /// Changed files that were not examined.
    pub not_examined: Vec<NotExamined>,
    /// What could not be looked at for the whole gate.
    pub not_run: Vec<NotRun>,
    /// Each report of coverage that was compared.
    pub coverage: Vec<CoverageAnswer>,
    /// Who was asked to review, and what became of it; empty where nobody was.
    pub reviews: Vec<PipelineReview>,
}

/// A report of coverage that was compared.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CoverageAnswer {
    /// The report, from the root of the work tree.
    pub report: String,
    /// What it says, in words.
    pub now: String,
    /// What it said before, in words.
    pub before: String,
}

/// Something that a gate could not look at.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NotRun {
    /// What.
    pub what: String,
    /// Why.
    pub cause: String,
}

/// Something that a gate found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GateFindingEntry {
    /// The file, from the root of the work tree.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What it is: one word.
    pub kind: String,
    /// `error` or `warning`.
    pub weight: String,
    /// The function; empty outside of one.
    pub function: String,
    /// The code that shows it.
    pub text: String,
    /// What was seen, in words.
    pub seen: String,
    /// What to do about it.
    pub advice: String,
}

/// A changed file that a gate did not examine.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NotExamined {
    /// The file, from the root of the work tree.
    pub path: String,
    /// Why.
    pub cause: String,
    /// Whether that fails the gate: it could have held code.
    pub fails: bool,
}

/// A line of `gate --batch`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GateBatchAnswer {
    /// As in the question.
    pub id: Json,
    /// `stub`, `interface`, `complete`, `ambiguous` or `not_parsed`.
    pub verdict: String,
    /// Why.
    pub findings: Vec<BatchFinding>,
    /// What is wrong with the line, where it is not a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A finding in a line of `gate --batch`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BatchFinding {
    /// The line of the code, counted from 1.
    pub line: usize,
    /// What it is: one word.
    pub kind: String,
    /// `error` or `warning`.
    pub weight: String,
    /// The code that shows it.
    pub text: String,
}

answers! { GateAnswer => "gate" }
