//! Effects in the making.

use crate::effect::{Certainty, Depth, EffectKind, NetworkReach, Severity, Target};
use crate::guarded::HOLDS_NO_GUARD;
use crate::nature::Nature;

/// A target together with how sure it is that it is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AimedTarget {
    /// What is aimed at.
    pub target: Target,
    /// Whether it is this one, or one of several.
    pub certainty: Certainty,
    /// What is special about it; mostly nothing.
    pub nature: Nature,
    /// The same in words.
    pub note: String,
}

/// What is known of a tree that is brought over a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inspection {
    /// No path of the guard lies there, or it is not known what comes.
    Open,
    /// Paths of the guard lie there, and each that it reaches is an effect of its own.
    WithoutGuard,
}

/// Whether a talk with a host sends local data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upload {
    /// It asks only.
    No,
    /// It sends data.
    Yes,
}

/// An effect as a handler describes it; the machine adds what the control flow knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// What sort of change.
    pub(crate) kind: EffectKind,
    /// To what.
    pub(crate) target: Target,
    /// How sure.
    pub(crate) certainty: Certainty,
    /// Whether it reaches below the target.
    pub depth: Depth,
    /// The least severity, when a clause says one; stakes may raise it.
    pub(crate) severity: Option<Severity>,
    /// Where the other end is.
    pub(crate) reach: Option<NetworkReach>,
    /// Whether it can be taken back.
    pub(crate) reversible: bool,
    /// What is special about it.
    pub(crate) nature: Nature,
    /// One clause for the explanation.
    pub(crate) note: String,
}

impl Draft {
    /// A certain, reversible effect on the target alone.
    pub fn new(kind: EffectKind, target: Target) -> Self {
        Self {
            kind,
            target,
            certainty: Certainty::Certain,
            depth: Depth::Single,
            severity: None,
            reach: None,
            reversible: true,
            nature: Nature::Ordinary,
            note: String::new(),
        }
    }

    /// The effect of this kind on what a word means.
    pub fn at(kind: EffectKind, aim: AimedTarget) -> Self {
        let mut draft = Self::new(kind, aim.target);
        draft.certainty = aim.certainty;
        draft.nature = aim.nature;
        draft.note = aim.note;
        draft
    }

    /// Reaching below the target.
    #[must_use]
    pub fn recursive(mut self) -> Self {
        self.depth = Depth::Recursive;
        self
    }

    /// Of this depth.
    #[must_use]
    pub fn depth(mut self, depth: Depth) -> Self {
        self.depth = depth;
        self
    }

    /// Not sure.
    #[must_use]
    pub fn possible(mut self) -> Self {
        self.certainty = Certainty::Possible;
        self
    }

    /// With one clause for the explanation; a clause that is already there stays in front.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        let note = note.into();
        if self.note.is_empty() {
            self.note = note;
        } else if !note.is_empty() {
            self.note = format!("{}; {note}", self.note);
        }
        self
    }

    /// Of this nature; one that was said before stays.
    #[must_use]
    pub fn nature(mut self, nature: Nature) -> Self {
        if self.nature == Nature::Ordinary {
            self.nature = nature;
        }
        self
    }

    /// Brought over a directory, with what is known of it.
    #[must_use]
    pub fn brought(self, inspection: Inspection) -> Self {
        match inspection {
            Inspection::Open => self,
            Inspection::WithoutGuard => self.nature(Nature::BroughtWithoutGuard).note(HOLDS_NO_GUARD),
        }
    }

    /// Unpacked over a directory, with what is known of it.
    #[must_use]
    pub fn unpacked(self, inspection: Inspection) -> Self {
        match inspection {
            Inspection::Open => self,
            Inspection::WithoutGuard => self.nature(Nature::ArchiveWithoutGuard).note(HOLDS_NO_GUARD),
        }
    }

    /// At least this bad.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// With the other end there.
    #[must_use]
    pub fn reach(mut self, reach: NetworkReach) -> Self {
        self.reach = Some(reach);
        self
    }

    /// Not to be taken back.
    #[must_use]
    pub fn irreversible(mut self) -> Self {
        self.reversible = false;
        self
    }
}
