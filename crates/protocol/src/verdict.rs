//! Verdicts: what is done about an action.

use serde::{Deserialize, Serialize};

/// The five verdicts, mildest first (seed 003). The order is strictness.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// Goes ahead, unnoticed.
    #[default]
    Ok,
    /// Goes ahead, with a hint or in a safer form.
    Nudge,
    /// A user is asked.
    Escalate,
    /// Refused.
    Block,
    /// Refused, and so is everything after it until a user resumes the session.
    Halt,
}

impl VerdictKind {
    /// All verdicts, mildest first.
    pub const ALL: [Self; 5] = [Self::Ok, Self::Nudge, Self::Escalate, Self::Block, Self::Halt];

    /// What became of a call that has it, in one word for people, such as `asked`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Nudge => "hint",
            Self::Escalate => "asked",
            Self::Block => "stopped",
            Self::Halt => "halted",
        }
    }

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Nudge => "nudge",
            Self::Escalate => "escalate",
            Self::Block => "block",
            Self::Halt => "halt",
        }
    }

    /// The verdict with this name, also as the older generation of ACGP writes it (`OK`); `None` when there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name().eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Source: seed 003-1
    #[test]
    fn both_generations_of_names_are_read_and_one_is_written() {
        for verdict in VerdictKind::ALL {
            assert_eq!(VerdictKind::from_name(verdict.name()), Some(verdict));
            assert_eq!(VerdictKind::from_name(&verdict.name().to_uppercase()), Some(verdict));
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.name());
        }
        assert_eq!(VerdictKind::from_name("allow"), None);
    }
}
