//! What programs do, as data: the form in which people write it, and what it is compiled to.
//!
//! | module | holds |
//! |---|---|
//! | `source` | catalogue files as people write them, and their compilation |
//! | `entry` | the compiled form |
//! | `text` | its texts |
//! | `variable` | variables that name what a program writes |
//!
//! **Invariants.** A file either compiles as a whole or gives an error with its line and column. A user's entry says what is graver, never
//! what takes from a stake. What an entry means for one call is nothing of this crate.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod entry;
mod source;
mod text;
mod variable;

use std::collections::BTreeMap;

use checkrein_protocol::Effect;

pub use entry::*;
pub use source::{Author, CatalogueError, CatalogueProblem, SourceFile};
pub use text::*;
pub use variable::*;

/// Entries that a user added; each replaces the built-in entry of the same name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserCatalogue {
    programs: BTreeMap<String, Program>,
    variables: BTreeMap<String, Vec<WrittenVariable>>,
    wording: Wording,
}

/// Which words effects carry for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wording {
    /// Their own.
    #[default]
    Own,
    /// One and the same for each note and each cause, from the moment a command is interpreted: whatever is decided then is decided without
    /// them. For the test that it is.
    Blank,
}

impl Wording {
    /// Puts the words on effects.
    pub fn put_on(self, effects: &mut [Effect]) {
        match self {
            Self::Own => {}
            Self::Blank => {
                for effect in effects {
                    "something".clone_into(&mut effect.cause);
                    "other words".clone_into(&mut effect.note);
                }
            }
        }
    }
}

impl UserCatalogue {
    /// Reads one catalogue file; `file` names it in errors.
    pub fn parse(text: &str, file: &str) -> Result<Self, CatalogueError> {
        let source = SourceFile::parse(text, file)?;
        let mut programs = BTreeMap::new();
        for program in source.compile(text, file, Author::Person)? {
            for name in program.names.iter() {
                programs.insert(name.to_owned(), program.clone());
            }
        }
        Ok(Self { programs, variables: source.variables(text, file)?, wording: Wording::Own })
    }

    /// With these words on the effects that are predicted with it.
    #[must_use]
    pub fn with_wording(mut self, wording: Wording) -> Self {
        self.wording = wording;
        self
    }

    /// The words on the effects that are predicted with it.
    pub fn wording(&self) -> Wording {
        self.wording
    }

    /// The entry of a program under exactly this name.
    pub fn entry(&self, name: &str) -> Option<&Program> {
        self.programs.get(name)
    }

    /// The variables by which a program of this name writes something, beside the built-in ones.
    pub fn variables(&self, program: &str) -> &[WrittenVariable] {
        self.variables.get(program).map(Vec::as_slice).unwrap_or_default()
    }

    /// Adds the entries of another file, which win over those already there; its variables are added.
    pub fn merge(&mut self, other: Self) {
        self.programs.extend(other.programs);
        for (program, variables) in other.variables {
            self.variables.entry(program).or_default().extend(variables);
        }
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty() && self.variables.is_empty()
    }
}
