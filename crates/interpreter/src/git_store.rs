//! What a command gives to git, as far as it is asked again.

use crate::path::AbsolutePath;

/// What git was given of secrets so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitStore {
    /// Those that are in its store of objects.
    pub secrets: Vec<AbsolutePath>,
    /// How many of them were there before: they come first.
    pub kept: usize,
    /// Directories of which everything that is not ignored was added.
    pub added: Vec<AbsolutePath>,
    /// Those of which the name of the object was asked for.
    pub named: Vec<AbsolutePath>,
    /// Directories and files that were added, with what is ignored in them or without.
    pub tracked: Vec<(AbsolutePath, IgnoredFiles)>,
}

impl GitStore {
    /// Takes up a secret that an earlier action gave to git.
    pub(crate) fn keep(&mut self, secret: AbsolutePath) {
        self.kept += 1;
        self.secrets.push(secret);
    }

    /// The secrets that this action gave to git.
    pub(crate) fn put_in_store(&self) -> &[AbsolutePath] {
        self.secrets.get(self.kept..).unwrap_or_default()
    }
}

/// Whether what is ignored was added with the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IgnoredFiles {
    /// It was.
    Added,
    /// It was left out.
    Left,
}
