//! What a command gives to git and takes out of it, as far as it is asked again.

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

/// Where objects came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchSource {
    /// A repository on this machine, and the name under which it was asked.
    Repository {
        /// The name of the remote, or what was written in its place.
        remote: String,
        /// Its own directory.
        place: AbsolutePath,
    },
    /// Something on this machine that is not read: a bundle, a pack, objects.
    Unread,
    /// Somewhere else.
    Elsewhere,
}

/// Which files version control does not track any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Untracked {
    /// Those that were only staged: no commit holds them.
    Staged,
    /// All.
    All,
}

/// A file of a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commitment {
    /// The root of the repository.
    pub repository: AbsolutePath,
    /// The name of the revision.
    pub revision: String,
    /// The path below the root.
    pub file: String,
}
