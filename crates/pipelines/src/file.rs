//! A pipeline file: its inputs, reviewers and steps, with the place of everything that is wrong.
//!
//! | module | holds |
//! |---|---|
//! | `agent` | agents of a file |
//! | `fields` | reading the fields of a map |
//! | `pull_request` | pull requests of a file |
//! | `read` | a file as a whole |
//! | `steps` | the steps of a file |

mod agent;
mod fields;
mod pull_request;
mod read;
mod steps;

use std::collections::BTreeMap;
use std::time::Duration;

use checkrein_gates::Gate;
use checkrein_supervise::{Phase, TestRunner};

use crate::condition::StepCondition;
use crate::forge::ForgeAccess;
use crate::order::StepOrder;
use crate::reviewer::{ModelFamily, ModelReviewer};
use crate::strikes::LoopKind;
use crate::template::{TemplateValues, TextTemplate};

/// A pipeline, as its file says it.
#[derive(Debug, Clone)]
pub struct PipelineFile {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What it is given.
    pub inputs: Vec<PipelineInput>,
    /// Where its steps work.
    pub place: WorkPlace,
    /// How many steps run at one time, at most.
    pub parallel: usize,
    /// Settings for all of its agents.
    pub safety: Option<SafetyText>,
    /// Who reviews, in the order in which they are asked.
    pub reviewers: Vec<ModelReviewer>,
    /// Its steps, in the order of the file.
    pub steps: Vec<StepSpecification>,
    /// Which of them waits for which.
    pub order: StepOrder,
}

/// Something that a pipeline is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineInput {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// What it is where nobody says; it must be given where that is `None`.
    pub default: Option<String>,
    /// The only words that it may be; anything where there are none.
    pub one_of: Vec<String>,
}

/// Where the steps of a pipeline work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkPlace {
    /// In a worktree of the task.
    OwnWorktree,
    /// In the work tree in which the pipeline is started.
    WorkTree,
}

/// Settings as they stand in a pipeline file, in a text in which they have the same lines and columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafetyText(pub String);

/// How long a step may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepTime(pub Duration);

/// A step of a pipeline.
#[derive(Debug, Clone)]
pub struct StepSpecification {
    /// Its name.
    pub name: String,
    /// What it does.
    pub act: StepAct,
    /// Whether it is wanted; always where there is no condition.
    pub when: Option<StepCondition>,
    /// How long it may take.
    pub time: StepTime,
    /// How often it is tried again where it fails by itself.
    pub retries: u32,
    /// Where the pipeline goes back to where it fails.
    pub sends_back: Option<SendBack>,
    /// Files that it makes, by name: kept when it passed, and missed when they are not there.
    pub outputs: BTreeMap<String, String>,
    /// Settings for its agent.
    pub safety: Option<SafetyText>,
    /// Its line in the file.
    pub line: usize,
}

/// Where a pipeline goes back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendBack {
    /// The step.
    pub to: String,
    /// What the loop is about.
    pub kind: LoopKind,
    /// The most rounds, no more than the cap of its kind.
    pub at_most: u32,
}

/// What a step does.
#[derive(Debug, Clone)]
pub enum StepAct {
    /// Runs a command.
    Command(CommandStep),
    /// Asks a gate.
    Gate(GateStep),
    /// Has an agent work.
    Agent(AgentStep),
    /// Asks a reviewer.
    Review(ReviewStep),
    /// Asks a user.
    Approve(ApprovalStep),
    /// Asks a user whether the branch is to be published, and does it.
    PullRequest(PullRequestStep),
}

impl StepAct {
    /// Its key in a file.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Command(_) => "command",
            Self::Gate(_) => "gate",
            Self::Agent(_) => "agent",
            Self::Review(_) => "review",
            Self::Approve(_) => "approve",
            Self::PullRequest(_) => "pull_request",
        }
    }

    /// Whether it asks reviewers: then it has to be known whose models write.
    pub(crate) fn asks_reviewers(&self) -> bool {
        match self {
            Self::Review(_) => true,
            Self::Gate(step) => step.review.is_some(),
            Self::Command(_) | Self::Agent(_) | Self::Approve(_) | Self::PullRequest(_) => false,
        }
    }

    /// Whether nothing else of the pipeline may run meanwhile: an agent changes what the others look at.
    pub fn runs_alone(&self) -> bool {
        match self {
            // What is published is the branch as it was shown to the user.
            Self::Agent(_) | Self::PullRequest(_) => true,
            Self::Command(_) | Self::Gate(_) | Self::Review(_) | Self::Approve(_) => false,
        }
    }
}

/// The words of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// A text for `sh`. Nothing is filled in: it finds its values among its variables.
    Shell(String),
    /// A program and its arguments.
    Words(Vec<TextTemplate>),
}

/// A command.
#[derive(Debug, Clone)]
pub struct CommandStep {
    /// Its words.
    pub line: CommandLine,
    /// Whose output it is; told by its words where that is `None`.
    pub runner: Option<TestRunner>,
    /// What is expected of it.
    pub phase: Phase,
    /// What it is held to by the kernel; nothing where that is `None`.
    pub bounds: Option<CommandBounds>,
}

/// What a command is held to besides: it may change the directory of the steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandBounds {
    /// Other places that it may change.
    pub write: Vec<String>,
    /// Who it may talk to, in the words of `checkrein exec --net`.
    pub net: String,
}

/// A gate.
#[derive(Debug, Clone)]
pub struct GateStep {
    /// Which one.
    pub gate: Gate,
    /// Its options besides, as words of its command line.
    pub options: Vec<TextTemplate>,
    /// Who reviews what it looks at; `None` where the gate asks no reviewer.
    pub review: Option<DesignReview>,
}

/// The review of a low-level design, after its form.
#[derive(Debug, Clone)]
pub struct DesignReview {
    /// The document, below the worktree.
    pub design: String,
    /// The names of the reviewers, first first.
    pub by: Vec<String>,
}

/// An agent.
#[derive(Debug, Clone)]
pub struct AgentStep {
    /// The program and its arguments.
    pub words: Vec<TextTemplate>,
    /// What it is told.
    pub prompt: TextTemplate,
    /// Files of the worktree that it is shown with the prompt.
    pub context: Vec<String>,
    /// Whose model it works with.
    pub family: Option<ModelFamily>,
    /// The agent of this step works with a model of another family.
    pub unlike: Option<String>,
    /// Which files it may change; all of them where that is `None`.
    pub scope: Option<AgentScope>,
    /// Options of `checkrein run` besides, as words of its command line.
    pub options: Vec<String>,
}

/// Which files an agent may change: its hook refuses others while the step runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentScope {
    /// A document below the worktree whose list of files counts.
    pub design: Option<String>,
    /// Patterns besides.
    pub allow: Vec<String>,
}

/// A pull request.
#[derive(Debug, Clone)]
pub struct PullRequestStep {
    /// The file below the worktree with its title, on the first line, and its text.
    pub text: String,
    /// The remote to which the branch is pushed.
    pub remote: String,
    /// The branch into which it is to be merged; the one that the remote says where that is `None`.
    pub into: Option<String>,
    /// The API of the forge that opens it; the program of the forge where that is `None`.
    pub forge: Option<ForgeAccess>,
    /// What the user is told besides, when they are asked.
    pub question: Option<TextTemplate>,
}

/// A review.
#[derive(Debug, Clone)]
pub struct ReviewStep {
    /// What is looked at.
    pub of: ReviewedThing,
    /// What is asked about it.
    pub question: TextTemplate,
    /// The names of the reviewers, first first.
    pub by: Vec<String>,
}

/// What a review looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewedThing {
    /// Everything that changed.
    Changes,
    /// One file of the worktree.
    File(String),
}

/// A question to a user.
#[derive(Debug, Clone)]
pub struct ApprovalStep {
    /// What is asked.
    pub question: TextTemplate,
}

impl PipelineFile {
    /// The step of a name.
    pub fn step(&self, name: &str) -> Option<(usize, &StepSpecification)> {
        self.steps.iter().enumerate().find(|(_, step)| step.name == name)
    }

    /// Whether a step has its turn again, and is not the first, when the one at a place sends the pipeline back to another.
    pub(crate) fn is_on_the_way(&self, step: &str, to: &str, from: usize) -> bool {
        let (Some((step, _)), Some((to, _))) = (self.step(step), self.step(to)) else { return false };
        self.order.waits_for(step, to) && self.order.waits_for(from, step)
    }

    /// The reviewer of a name.
    pub fn reviewer(&self, name: &str) -> Option<&ModelReviewer> {
        self.reviewers.iter().find(|reviewer| reviewer.name == name)
    }

    /// Whose models work in it whatever becomes of its steps: those of agents without a condition.
    pub fn authors(&self) -> Vec<ModelFamily> {
        self.steps.iter().filter(|step| step.when.is_none()).filter_map(StepSpecification::family).collect()
    }

    /// Whose models work in it, as far as is known by now: also those of agents whose condition held.
    pub fn authors_by(&self, values: &TemplateValues) -> Vec<ModelFamily> {
        let has_begun = |step: &&StepSpecification| {
            let outcome = values.0.get(&format!("steps.{}.outcome", step.name)).map(String::as_str);
            step.when.is_none() || !matches!(outcome, None | Some("left_out" | "waiting"))
        };
        self.steps.iter().filter(has_begun).filter_map(StepSpecification::family).collect()
    }
}

impl StepSpecification {
    /// Whose model works in it.
    fn family(&self) -> Option<ModelFamily> {
        match &self.act {
            StepAct::Agent(agent) => agent.family,
            StepAct::Command(_)
            | StepAct::Gate(_)
            | StepAct::Review(_)
            | StepAct::Approve(_)
            | StepAct::PullRequest(_) => None,
        }
    }
}
