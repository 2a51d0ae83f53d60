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
    /// What can be told of a design document without understanding it.
    Mechanical,
    /// Requirements against planned tests.
    TestPlan,
    /// What a reviewer of another model says about a design, after its form.
    Lld,
    /// Changes against a design, and tests that were seen to pass.
    Implementation,
}

impl Gate {
    /// All gates.
    pub const ALL: [Self; 9] = [
        Self::Completeness,
        Self::Secrets,
        Self::Scope,
        Self::Phantoms,
        Self::Licences,
        Self::Mechanical,
        Self::TestPlan,
        Self::Lld,
        Self::Implementation,
    ];

    /// The word that is given and printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completeness => "completeness",
            Self::Secrets => "secrets",
            Self::Scope => "scope",
            Self::Phantoms => "phantoms",
            Self::Licences => "licences",
            Self::Mechanical => "mechanical",
            Self::TestPlan => "test-plan",
            Self::Lld => "lld",
            Self::Implementation => "implementation",
        }
    }
}
