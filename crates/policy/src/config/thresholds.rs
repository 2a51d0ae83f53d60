//! The thresholds of the pattern detectors, each a setting; their sources stand in the table of settings.

/// When each detector of behaviour patterns sees something, at the sensitivity `medium`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PatternThresholds {
    /// Of the detector `stuck_loop`.
    pub stuck_loop: StuckLoopThresholds,
    /// Of the detector `repetitive_errors`.
    pub repetitive_errors: RepetitiveErrorsThresholds,
    /// Of the detector `stagnation`.
    pub stagnation: StagnationThresholds,
    /// Of the detector `oscillating_edits`.
    pub oscillating_edits: OscillatingEditsThresholds,
    /// Of the detector `scope_creep`.
    pub scope_creep: ScopeCreepThresholds,
    /// Of the detector `goal_drift`.
    pub goal_drift: GoalDriftThresholds,
    /// Of the detector `resource_spiral`.
    pub resource_spiral: ResourceSpiralThresholds,
    /// Of the detector `exploration_wandering`.
    pub exploration_wandering: ExplorationWanderingThresholds,
    /// Of the detector `hallucination`.
    pub hallucination: HallucinationThresholds,
    /// Of the detector `cascade`.
    pub cascade: CascadeThresholds,
}

/// When `stuck_loop` is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StuckLoopThresholds {
    /// How often one call must give the same result (design, ours).
    pub rounds: u64,
    /// How often one call must fail in the same way (design, ours).
    pub failing_rounds: u64,
    /// How often two calls in turn must give the same results (design, ours).
    pub pair_rounds: u64,
    /// How many times as many rounds what only waits may make (ours).
    pub waiting_factor: u64,
    /// How many equal messages in a row make a monologue (ours).
    pub messages: u64,
    /// How many condensations in a row of a conversation make a loop (ours).
    pub condensations: u64,
}

impl Default for StuckLoopThresholds {
    fn default() -> Self {
        Self {
            rounds: 4,
            failing_rounds: 3,
            pair_rounds: 3,
            waiting_factor: 5,
            messages: 4,
            condensations: 10,
        }
    }
}

/// When `repetitive_errors` is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RepetitiveErrorsThresholds {
    /// How many errors of one signature (upstream, seed 001).
    pub threshold: u64,
    /// Among how many of the last errors, at most 10 (upstream).
    pub window: u64,
    /// Within how many actions (ours).
    pub horizon: u64,
}

impl Default for RepetitiveErrorsThresholds {
    fn default() -> Self {
        Self { threshold: 3, window: 10, horizon: 40 }
    }
}

/// When `stagnation` is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StagnationThresholds {
    /// How many equal results of tests of which none passes (seed 004).
    pub none_passing: u64,
    /// How many equal results of tests of which some pass (upstream).
    pub some_passing: u64,
}

impl Default for StagnationThresholds {
    fn default() -> Self {
        Self { none_passing: 2, some_passing: 3 }
    }
}

/// When `oscillating_edits` is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OscillatingEditsThresholds {
    /// How many edits that make and undo one change in turn (ours).
    pub edits: u64,
}

impl Default for OscillatingEditsThresholds {
    fn default() -> Self {
        Self { edits: 3 }
    }
}

/// When `scope_creep` is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScopeCreepThresholds {
    /// Above which share of places outside (upstream, seed 001).
    pub ratio: f64,
    /// How many places outside at least (ours).
    pub places: u64,
}

impl Default for ScopeCreepThresholds {
    fn default() -> Self {
        Self { ratio: 0.3, places: 2 }
    }
}

/// When `goal_drift` is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GoalDriftThresholds {
    /// Below which mean alignment (upstream, seed 001).
    pub alignment: f64,
    /// And when it falls by more than this (upstream; the unit is ours).
    pub fall: f64,
    /// Over how many actions, at most 20 (upstream).
    pub window: u64,
    /// How many actions at least (ours).
    pub actions: u64,
}

impl Default for GoalDriftThresholds {
    fn default() -> Self {
        Self { alignment: 0.5, fall: 0.3, window: 20, actions: 12 }
    }
}

/// When `resource_spiral` is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResourceSpiralThresholds {
    /// Above which mean ratio of neighbours (upstream).
    pub growth: f64,
    /// Over how many stretches of 5 actions, at most 5 (upstream).
    pub points: u64,
}

impl Default for ResourceSpiralThresholds {
    fn default() -> Self {
        Self { growth: 1.5, points: 3 }
    }
}

/// When `exploration_wandering` is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExplorationWanderingThresholds {
    /// Above which score (upstream).
    pub score: f64,
    /// How many looks at least, at most 24 (ours).
    pub looks: u64,
    /// How many different directories count in full (upstream, `max_unique_directories`).
    pub directories: u64,
    /// Which share of returns counts in full (upstream, `backtrack_limit`).
    pub returns: f64,
}

impl Default for ExplorationWanderingThresholds {
    fn default() -> Self {
        Self { score: 0.7, looks: 16, directories: 20, returns: 0.4 }
    }
}

/// When `hallucination` is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HallucinationThresholds {
    /// How many different things (upstream, `min_occurrences`).
    pub occurrences: u64,
    /// Within how many actions (ours).
    pub horizon: u64,
}

impl Default for HallucinationThresholds {
    fn default() -> Self {
        Self { occurrences: 2, horizon: 32 }
    }
}

/// When `cascade` is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CascadeThresholds {
    /// From which score on a message counts, where nobody reads along (seed 004: high).
    pub score: f64,
}

impl Default for CascadeThresholds {
    fn default() -> Self {
        Self { score: 0.7 }
    }
}
