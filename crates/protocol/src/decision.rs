//! Decisions: what a review says about an action.

use serde::{Deserialize, Serialize};

/// What a review says about an action (seed 002). The order is strictness: a later one is stricter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Run it.
    #[default]
    Allow,
    /// Run it and say what to be careful about.
    Warn,
    /// Run a safer form of it, or ask first.
    Modify,
    /// Do not run it.
    Block,
}

impl Decision {
    /// All decisions, mildest first.
    pub const ALL: [Self; 4] = [Self::Allow, Self::Warn, Self::Modify, Self::Block];

    /// The name used on the wire and in configuration, such as `modify`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Modify => "modify",
            Self::Block => "block",
        }
    }

    /// The decision with this name; `None` when there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|decision| decision.name() == name)
    }

    /// The stricter of the two.
    #[must_use]
    pub fn strictest(self, other: Self) -> Self {
        self.max(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_strictness_and_names_are_the_wire_names() {
        assert!(Decision::ALL.is_sorted());
        assert_eq!(Decision::Warn.strictest(Decision::Modify), Decision::Modify);
        for decision in Decision::ALL {
            assert_eq!(Decision::from_name(decision.name()), Some(decision));
            assert_eq!(serde_json::to_value(decision).unwrap(), decision.name());
        }
        assert_eq!(Decision::from_name("deny"), None);
    }
}
