//! Governance (seed 003, ACGP): tiers, thresholds, weights, trust, contracts, tripwires.
//!
//! What a number means and where it comes from stands beside it; how it is used is up to the review.

mod contract;
mod tier;
mod tripwire;
mod tripwire_examples;
mod trust;

pub use contract::*;
pub use tier::*;
pub use tripwire::*;
pub(crate) use tripwire_examples::play;
pub use tripwire_examples::{Expectation, TripwireProblem};
pub use trust::*;

/// The governance settings.
#[derive(Debug, Clone, PartialEq)]
pub struct GovernanceSettings {
    /// Whether thresholds and trust count at all. Tripwires always do.
    pub enabled: bool,
    /// How closely the agent is overseen.
    pub tier: Tier,
    /// Thresholds of one's own; the stricter of them and those of the tier hold.
    pub thresholds: OwnThresholds,
    /// How much each metric of the trace quality weighs.
    pub weights: Weights,
    /// What costs trust, and what lost trust leads to.
    pub trust_debt: TrustPolicy,
    /// How long a review may take, and what follows when it takes longer.
    pub contract: Contract,
    /// Conditions that stop an action whatever else is said about it.
    pub tripwires: Vec<Tripwire>,
    /// What single metrics of the trace quality must reach.
    pub floors: Vec<MetricFloor>,
    /// Files with blueprints, as they are named in the configuration.
    pub blueprints: Vec<String>,
}

impl Default for GovernanceSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            tier: Tier::Two,
            thresholds: OwnThresholds::default(),
            weights: Weights::default(),
            trust_debt: TrustPolicy::default(),
            contract: Contract::default(),
            tripwires: Vec::new(),
            floors: Vec::new(),
            blueprints: Vec::new(),
        }
    }
}

impl GovernanceSettings {
    /// The thresholds that hold in a tier: of its own and the configured ones the stricter (ACGP).
    pub fn thresholds(&self, tier: Tier) -> Thresholds {
        let own = &self.thresholds;
        let stricter = |row: f64, own: Option<f64>| own.map_or(row, |own| row.min(own));
        let row = tier.thresholds();
        Thresholds {
            ok: stricter(row.ok, own.ok),
            nudge: stricter(row.nudge, own.nudge),
            escalate: stricter(row.escalate, own.escalate),
        }
    }
}
