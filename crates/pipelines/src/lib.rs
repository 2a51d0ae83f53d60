//! Pipelines: their files, what runs next, what ends a loop, what a reviewer said. Values in, decisions out.
//!
//! Nothing here reads a file, starts a program or asks for the time; the command line does that and tells what came of it.
//!
//! | module | holds |
//! |---|---|
//! | `file` | a pipeline file: its inputs, reviewers and steps, with the place of everything that is wrong |
//! | `template` | texts with `${...}` in them |
//! | `condition` | whether a step is wanted |
//! | `coverage_told` | how much tests cover, as what they print says it |
//! | `order` | which step waits for which |
//! | `state` | what is known of a run of a pipeline |
//! | `progress` | what runs next, and what becomes of the others when a step ends |
//! | `strikes` | when a loop is over: its cap, the same failure twice, rounds without progress |
//! | `reviewer` | families and ranks of models, and which reviewer may follow which |
//! | `excerpt` | the part of a long output that an agent is told |
//! | `pull_request` | the text of a pull request, and where its branch may go |
//! | `forge` | forges whose API opens a pull request |
//! | `endpoint` | models that are asked over HTTP: where, and in which form |
//! | `model_claim` | which model an answer says that it came from |
//! | `review_prompt` | what a reviewer is asked |
//! | `verdict` | what a reviewer said, or that it said nothing |
//! | `shipped` | the pipeline of a task, as it is shipped |
//!
//! **Invariants.** A step that did not run has a state of its own and never counts as passed. A reviewer can only stop a step. What is not
//! understood in a file is refused with its place.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod condition;
mod coverage_told;
mod endpoint;
mod excerpt;
mod file;
mod forge;
mod model_claim;
mod order;
mod progress;
mod pull_request;
mod review_prompt;
mod reviewer;
mod shipped;
mod state;
mod strikes;
mod template;
mod verdict;

pub use condition::StepCondition;
pub use coverage_told::coverage_told;
pub use endpoint::{EndpointForm, EndpointTrust, ModelEndpoint};
pub use excerpt::excerpt;
pub use file::{
    AgentScope, AgentStep, ApprovalStep, CommandBounds, CommandLine, CommandStep, DesignReview, GateStep,
    PipelineFile, PipelineInput, PullRequestStep, ReviewStep, ReviewedThing, SafetyText, SendBack, StepAct,
    StepSpecification, StepTime, WorkPlace,
};
pub use forge::{ForgeAccess, ForgeApi, ForgeForm, ForgeRequest};
pub use model_claim::{ModelClaim, model_claim};
pub use order::StepOrder;
pub use progress::{StepConsequence, StepEnd, StepResult};
pub use pull_request::{PullRequestText, RemotePlace, pull_request_text};
pub use review_prompt::{ReviewQuestion, ReviewToken, review_prompt};
pub use reviewer::{
    AskedModel, ModelFamily, ModelRank, ModelReviewer, ReviewerTransport, eligible_reviewers,
};
pub use shipped::{SHIPPED_TASK, SHIPPED_TASK_NAME};
pub use state::{
    KeptOutput, PipelineEnd, PipelineHalt, PipelineState, ReviewRecordEntry, StepAttempt, StepOutcome,
    StepState,
};
pub use strikes::{Likeness, LoopKind, LoopRound, LoopVerdict, RoundOutcome};
pub use template::{TemplateValues, TextTemplate};
pub use verdict::{NoVerdict, ReviewIssue, ReviewVerdict, VerdictWord, read_verdict};
