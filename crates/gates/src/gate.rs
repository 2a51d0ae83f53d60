//! The gates by name.

/// A gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gate {
    /// Stubs, fake results, tests that prove nothing, dropped errors.
    Completeness,
    /// Credentials.
    Secrets,
    /// Changed files that nobody listed.
    Scope,
    /// Imports and packages that do not exist.
    Phantoms,
    /// New packages under licences that are not allowed.
    Licences,
}

impl Gate {
    /// All gates.
    pub const ALL: [Self; 5] =
        [Self::Completeness, Self::Secrets, Self::Scope, Self::Phantoms, Self::Licences];

    /// The word that is given and printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completeness => "completeness",
            Self::Secrets => "secrets",
            Self::Scope => "scope",
            Self::Phantoms => "phantoms",
            Self::Licences => "licences",
        }
    }
}
