//! Issues: what detectors find.

use serde::{Deserialize, Serialize};

use crate::intervention::LimitedResource;
use crate::levels::Severity;

/// The behaviour patterns (seeds 000 and 001, upstream 1.2 and 3; three are combinations, the last two are ours).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternKind {
    /// The same error again and again.
    RepetitiveErrors,
    /// Work that leaves its scope.
    ScopeCreep,
    /// Actions that serve the goals less and less.
    GoalDrift,
    /// Resources that grow and grow.
    ResourceSpiral,
    /// Looking here and there without doing anything.
    ExplorationWandering,
    /// References to things that do not exist.
    Hallucination,
    /// The agent talks itself into new work.
    Cascade,
    /// Attempts that change nothing about the result.
    Stagnation,
    /// The same actions with the same results.
    StuckLoop,
    /// A change, its opposite, and the change again.
    OscillatingEdits,
    /// Repetitive errors and wandering.
    ErrorExplorationLoop,
    /// A resource spiral and drifting goals.
    RunawayExecution,
    /// Hallucination and scope creep.
    ConfusedState,
    /// Calls that are refused or hinted at for one reason, each of them another.
    RepeatedVerdicts,
    /// A pattern or tripwire of the user, or something that a plugin of theirs sees.
    OwnPattern,
}

impl PatternKind {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::RepetitiveErrors,
        Self::ScopeCreep,
        Self::GoalDrift,
        Self::ResourceSpiral,
        Self::ExplorationWandering,
        Self::Hallucination,
        Self::Cascade,
        Self::Stagnation,
        Self::StuckLoop,
        Self::OscillatingEdits,
        Self::ErrorExplorationLoop,
        Self::RunawayExecution,
        Self::ConfusedState,
        Self::RepeatedVerdicts,
        Self::OwnPattern,
    ];

    /// The name on the wire and in configuration, such as `stuck_loop`.
    pub fn name(self) -> &'static str {
        match self {
            Self::RepetitiveErrors => "repetitive_errors",
            Self::ScopeCreep => "scope_creep",
            Self::GoalDrift => "goal_drift",
            Self::ResourceSpiral => "resource_spiral",
            Self::ExplorationWandering => "exploration_wandering",
            Self::Hallucination => "hallucination",
            Self::Cascade => "cascade",
            Self::Stagnation => "stagnation",
            Self::StuckLoop => "stuck_loop",
            Self::OscillatingEdits => "oscillating_edits",
            Self::ErrorExplorationLoop => "error_exploration_loop",
            Self::RunawayExecution => "runaway_execution",
            Self::ConfusedState => "confused_state",
            Self::RepeatedVerdicts => "repeated_verdicts",
            Self::OwnPattern => "own_pattern",
        }
    }

    /// What it is called for people, as a noun, such as `the same call again and again`.
    pub fn words(self) -> &'static str {
        match self {
            Self::RepetitiveErrors => "the same error again and again",
            Self::ScopeCreep => "work outside the task",
            Self::GoalDrift => "work that moves away from the task",
            Self::ResourceSpiral => "calls that take more and more",
            Self::ExplorationWandering => "much reading without a change",
            Self::Hallucination => "names of things that do not exist",
            Self::Cascade => "new tasks that nobody asked for",
            Self::Stagnation => "attempts that do not change the result",
            Self::StuckLoop => "the same call again and again",
            Self::OscillatingEdits => "an edit made, undone and made again",
            Self::ErrorExplorationLoop => "repeated errors, and reading that leads nowhere",
            Self::RunawayExecution => "calls that take more and more, away from the task",
            Self::RepeatedVerdicts => "calls that are refused for one reason",
            Self::OwnPattern => "a pattern of your own",
            Self::ConfusedState => "names that do not exist, and work outside the task",
        }
    }

    /// The pattern of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The number of an action in its session, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActionNumber(pub u64);

/// A number from 0 to 1: how sure a detection is, how much harm it does.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Share(f64);

impl Share {
    /// The share nearest to `value`; what is not a number counts as 0.
    pub fn new(value: f64) -> Self {
        if value.is_nan() { Self(0.0) } else { Self(value.clamp(0.0, 1.0)) }
    }

    /// The number, from 0 to 1.
    pub fn value(self) -> f64 {
        self.0
    }
}

/// A detected behaviour pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Issue {
    /// Which pattern.
    pub kind: PatternKind,
    /// How grave it is.
    pub severity: Severity,
    /// How sure the detection is.
    pub confidence: Share,
    /// How much harm it does beyond its severity; the `impact_factor` of seed 000.
    pub impact: Share,
    /// How strong the signal is, in the pattern's own unit (rounds, errors, a ratio): what an intervention is measured by.
    pub signal: f64,
    /// What was seen, in one clause.
    pub summary: String,
    /// What to do instead, in one clause.
    pub advice: String,
    /// The actions that it rests on, oldest first, at most 16 (ours).
    pub actions: Vec<ActionNumber>,
    /// The growth of resources, for a spiral: the greatest mean ratio of neighbours (seed 000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<f64>,
    /// How fast each resource grew that a limit is about, for a spiral (seed 000): each limit gets tighter by its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub growths: Vec<(LimitedResource, f64)>,
}

/// An issue that would begin or grow with an action, as the detectors see it before the action runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForeseenIssue {
    /// Which pattern.
    pub kind: PatternKind,
    /// How grave it would be.
    pub severity: Severity,
    /// How sure the detection would be.
    pub confidence: Share,
    /// What would then have been seen, in one clause.
    pub summary: String,
}

impl Issue {
    /// The most actions that are named (ours).
    pub const ACTIONS: usize = 16;

    /// The action in which it began, as far as is remembered.
    pub fn onset(&self) -> Option<ActionNumber> {
        self.actions.first().copied()
    }

    /// The last action that it rests on.
    pub fn latest(&self) -> Option<ActionNumber> {
        self.actions.last().copied()
    }
}
