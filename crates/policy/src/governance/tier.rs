//! Governance tiers, their thresholds, and the weights of the trace quality.

use crate::config::choice;
use checkrein_protocol::{TierLevel, VerdictKind};

choice! {
    /// How closely an agent is overseen (ACGP: Governance Tier, earlier ACL Tier). Later is stricter.
    Tier {
        /// Read-only bots.
        Zero = "0",
        /// Scripted agents.
        One = "1",
        /// The recommended one.
        Two = "2",
        /// Business processes.
        Three = "3",
        /// Money and critical operations.
        Four = "4",
        /// Life safety.
        Five = "5",
    }
}

/// Up to which governance risk (1 - CTQ) which verdict is given, from 0 to 1; above all of them the action is blocked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Up to here the action goes ahead.
    pub ok: f64,
    /// Up to here it goes ahead with a hint.
    pub nudge: f64,
    /// Up to here a user is asked.
    pub escalate: f64,
}

/// Thresholds of one's own. `None` means those of the tier.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OwnThresholds {
    /// Up to here the action goes ahead.
    pub ok: Option<f64>,
    /// Up to here it goes ahead with a hint.
    pub nudge: Option<f64>,
    /// Up to here a user is asked.
    pub escalate: Option<f64>,
}

/// The five metrics of the trace quality (ACGP).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Whether the step follows, is efficient and whole.
    Reasoning,
    /// Whether what it refers to is known.
    Grounding,
    /// Whether the rules have nothing against it.
    Ethical,
    /// 1 - risk.
    ToolSafety,
    /// Whether it serves the goal and stays in scope.
    Context,
}

/// What one metric must reach, and what follows where it does not. A metric that did not run is not judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricFloor {
    /// Which.
    pub metric: Metric,
    /// The least score, from 0 to 1.
    pub least: f64,
    /// The least verdict below it; never a halt.
    pub verdict: VerdictKind,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 5] =
        [Self::Reasoning, Self::Grounding, Self::Ethical, Self::ToolSafety, Self::Context];

    /// The key on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reasoning => "reasoning",
            Self::Grounding => "grounding",
            Self::Ethical => "ethical",
            Self::ToolSafety => "tool_safety",
            Self::Context => "context",
        }
    }

    /// The metric with this key; `None` when there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }
}

/// How much each metric weighs; together 1 (ACGP).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// .20 to .30.
    pub reasoning: f64,
    /// .15 to .25.
    pub grounding: f64,
    /// .15 to .25.
    pub ethical: f64,
    /// .15 to .25.
    pub tool_safety: f64,
    /// .10 to .20.
    pub context: f64,
}

impl Default for Weights {
    /// The defaults of ACGP.
    fn default() -> Self {
        Self { reasoning: 0.25, grounding: 0.20, ethical: 0.20, tool_safety: 0.20, context: 0.15 }
    }
}

impl Weights {
    /// Reasoning, grounding, ethical, tool safety, context.
    pub fn all(&self) -> [f64; 5] {
        [self.reasoning, self.grounding, self.ethical, self.tool_safety, self.context]
    }

    /// Whether each lies in its range and together they make 1.
    pub fn are_balanced(&self) -> bool {
        const RANGES: [(f64, f64); 5] =
            [(0.20, 0.30), (0.15, 0.25), (0.15, 0.25), (0.15, 0.25), (0.10, 0.20)];
        let in_range =
            self.all().iter().zip(RANGES).all(|(weight, (least, most))| (least..=most).contains(weight));
        in_range && (self.all().iter().sum::<f64>() - 1.0).abs() < 1e-6
    }
}

impl Tier {
    /// All tiers, mildest first.
    pub const ALL: [Self; 6] = [Self::Zero, Self::One, Self::Two, Self::Three, Self::Four, Self::Five];

    /// The thresholds of the tier. Those of tier 2 are of seed 003; the published text has no others, they are ours.
    pub fn thresholds(self) -> Thresholds {
        let (ok, nudge, escalate) = match self {
            Self::Zero => (0.40, 0.60, 0.80),
            Self::One => (0.30, 0.50, 0.70),
            Self::Two => (0.25, 0.40, 0.55),
            Self::Three => (0.20, 0.35, 0.50),
            Self::Four => (0.15, 0.30, 0.45),
            Self::Five => (0.10, 0.20, 0.35),
        };
        Thresholds { ok, nudge, escalate }
    }

    /// The next stricter tier; the strictest stays what it is.
    #[must_use]
    pub fn stricter(self) -> Self {
        match self {
            Self::Zero => Self::One,
            Self::One => Self::Two,
            Self::Two => Self::Three,
            Self::Three => Self::Four,
            Self::Four | Self::Five => Self::Five,
        }
    }

    /// The tier that `2`, `GT-2` or, as the older generation of ACGP says, `ACL-2` means.
    pub fn from_name(name: &str) -> Option<Self> {
        let upper = name.to_ascii_uppercase();
        let digit = upper.strip_prefix("GT-").or_else(|| upper.strip_prefix("ACL-")).unwrap_or(&upper);
        Self::from_word(digit)
    }
}

impl From<Tier> for TierLevel {
    fn from(tier: Tier) -> Self {
        match tier {
            Tier::Zero => Self::Zero,
            Tier::One => Self::One,
            Tier::Two => Self::Two,
            Tier::Three => Self::Three,
            Tier::Four => Self::Four,
            Tier::Five => Self::Five,
        }
    }
}

impl Thresholds {
    /// What a governance risk leads to: never a halt, which only tripwires and emergency stops give (ACGP).
    pub fn verdict(self, risk: f64) -> VerdictKind {
        // What is not a number is on the strict side of every threshold.
        if risk <= self.ok {
            VerdictKind::Ok
        } else if risk <= self.nudge {
            VerdictKind::Nudge
        } else if risk <= self.escalate {
            VerdictKind::Escalate
        } else {
            VerdictKind::Block
        }
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "the numbers are written down, not computed")]
mod tests {
    use super::*;

    // Source: seed 003-26
    #[test]
    fn the_thresholds_of_tier_2_are_those_of_seed_003() {
        let row = Tier::Two.thresholds();
        let cases = [
            (0.0, VerdictKind::Ok),
            (0.25, VerdictKind::Ok),
            (0.26, VerdictKind::Nudge),
            (0.40, VerdictKind::Nudge),
            (0.41, VerdictKind::Escalate),
            (0.55, VerdictKind::Escalate),
            (0.56, VerdictKind::Block),
            (1.0, VerdictKind::Block),
            (f64::NAN, VerdictKind::Block),
        ];
        for (risk, verdict) in cases {
            assert_eq!(row.verdict(risk), verdict, "{risk}");
        }
    }

    #[test]
    fn a_higher_tier_is_nowhere_milder_and_no_threshold_halts() {
        for pair in Tier::ALL.windows(2) {
            let (milder, stricter) = (pair[0].thresholds(), pair[1].thresholds());
            assert_eq!(pair[0].stricter(), pair[1]);
            for hundredths in 0..=100 {
                let risk = f64::from(hundredths) / 100.0;
                assert!(stricter.verdict(risk) >= milder.verdict(risk), "{pair:?} at {risk}");
                assert!(stricter.verdict(risk) < VerdictKind::Halt);
            }
        }
    }

    // Source: seed 003-25
    #[test]
    fn tiers_are_read_under_the_names_of_both_generations() {
        for name in ["2", "GT-2", "ACL-2", "acl-2"] {
            assert_eq!(Tier::from_name(name), Some(Tier::Two));
        }
        assert_eq!(Tier::from_name("6"), None);
    }

    #[test]
    fn the_weights_are_those_of_acgp_and_make_one() {
        let weights = Weights::default();
        assert_eq!(weights.all(), [0.25, 0.2, 0.2, 0.2, 0.15]);
        assert!(weights.are_balanced());
        assert!(!Weights { reasoning: 0.30, ..weights }.are_balanced(), "1.05 in all");
        assert!(!Weights { reasoning: 0.35, context: 0.05, ..weights }.are_balanced(), "out of range");
    }
}
