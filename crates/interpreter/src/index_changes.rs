//! What a command has changed so far about which files version control tracks, in the order in which it did.

use crate::git_store::IgnoredFiles;
use crate::path::AbsolutePath;

/// One change of the list of tracked files, at and below a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexChange {
    /// What stands there is tracked, with what is ignored or without.
    Added(AbsolutePath, IgnoredFiles),
    /// Nothing is tracked there.
    Removed(AbsolutePath),
    /// What a revision holds there is tracked. It is named as it would have been before the command; `None` where it is not known.
    Becomes(AbsolutePath, Option<String>),
}

/// Whether a change happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    /// It did.
    Surely,
    /// It may have.
    Maybe,
}

/// The changes, the first first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexChanges(Vec<(IndexChange, Happened)>);

impl IndexChange {
    /// The path at and below which it counts.
    pub fn place(&self) -> &AbsolutePath {
        match self {
            Self::Added(place, _) | Self::Removed(place) | Self::Becomes(place, _) => place,
        }
    }
}

impl IndexChanges {
    /// Adds one that comes after those so far.
    pub(crate) fn add(&mut self, change: IndexChange, happened: Happened) {
        self.0.push((change, happened));
    }

    /// All of them, the first first.
    pub fn iter(&self) -> impl Iterator<Item = &(IndexChange, Happened)> {
        self.0.iter()
    }

    /// Those after one of two ways: what only one of them did may have happened.
    #[must_use]
    pub(crate) fn join(mut self, other: &Self) -> Self {
        let same = self.0.iter().zip(&other.0).take_while(|(one, other)| one == other).count();
        let theirs: Vec<_> = other.0.iter().skip(same).cloned().collect();
        self.0.extend(theirs);
        for (_, happened) in self.0.iter_mut().skip(same) {
            *happened = Happened::Maybe;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_of_two_ways_did_may_have_happened() {
        let place = |text: &str| AbsolutePath::new(text).unwrap();
        let mut before = IndexChanges::default();
        before.add(IndexChange::Removed(place("/a")), Happened::Surely);
        let mut one = before.clone();
        one.add(IndexChange::Removed(place("/b")), Happened::Surely);
        let joined = one.join(&before);
        let all: Vec<_> =
            joined.iter().map(|(change, happened)| (change.place().as_str(), *happened)).collect();
        assert_eq!(all, [("/a", Happened::Surely), ("/b", Happened::Maybe)]);
    }
}
