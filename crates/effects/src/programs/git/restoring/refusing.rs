//! When git refuses to bring files back, as things stand.

use crate::interpreter::Value;
use crate::programs::git::Git;
use crate::programs::git::options::Words;
use crate::programs::git::pathspec::is_pattern;
use crate::world::{Committed, Entry, TreeDifference, TreeDifferences, VersionState};

use super::{HEAD, Origin};

/// Whether git refuses as things stand: something has to be ended first, or another work tree has the branch.
pub(super) fn may_refuse(git: &Git<'_, '_>, name: &str, words: &Words) -> bool {
    let switches = match name {
        "switch" => true,
        "checkout" => words.before_dashes.is_none() && git.first_path(words.operands()).is_none(),
        _ => false,
    };
    let to = words.operands().first();
    if switches {
        let forced = words.any(&["-f", "--force", "--discard-changes"]);
        let merges = words.any(&["-m", "--merge"]);
        return git.is_interrupted()
            || words.operands().len() == 1 && git.is_elsewhere(to)
            || merges && git.staged_since(HEAD).is_some_and(|staged| !staged.is_empty())
            || !forced && !merges && git.is_in_the_way_of(words, to);
    }
    // What of `--merge` is refused hangs on each file.
    name == "reset" && (words.has("--keep") && git.is_in_the_way_of(words, to) || words.has("--merge"))
}

/// Whether the branch or commit that a subcommand goes to is known not to be there.
pub(super) fn names_nothing(git: &Git<'_, '_>, name: &str, words: &Words) -> bool {
    let makes =
        words.any(&["-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan", "-t", "--track"]);
    let [Value::Exact(reference)] = words.operands() else { return false };
    match name {
        "reset" | "switch" if !makes => git.lacks_reference(reference),
        "checkout" if !makes && words.before_dashes.is_none() => {
            git.first_path(words.operands()).is_none() && git.lacks_reference(reference)
        }
        _ => false,
    }
}

/// What of the paths that are to be restored is there to be restored from. Where one is not, git refuses all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finds {
    /// Every path, as far as is known.
    All,
    /// Not every path.
    NotAll,
}

impl Git<'_, '_> {
    /// Whether git refuses to go to a revision, because changes would be lost that are in no commit: in a file that is not the same there, or
    /// in one that it does not track where the revision has one.
    fn is_in_the_way_of(&self, words: &Words, to: Option<&Value>) -> bool {
        let makes = words.any(&["-b", "-B", "-c", "-C", "--create", "--force-create"]);
        if makes && to.is_none() {
            return false;
        }
        let files = if words.has("--orphan") {
            self.differing(HEAD, TreeDifferences::EMPTY)
        } else {
            self.differing_to(HEAD, to)
        };
        let (Some(files), Some(root)) = (files, self.root()) else { return false };
        let staged = self.staged_since(HEAD).unwrap_or_default();
        let world = self.machine.world();
        files.iter().any(|(path, how)| {
            let place = root.join(path);
            let state = world.version(&place);
            match how {
                TreeDifference::Added => {
                    matches!(state, VersionState::Untracked | VersionState::TrackedModified)
                        && self.machine.entry(&place) != Entry::Missing
                }
                TreeDifference::Changed | TreeDifference::Removed => {
                    state == VersionState::TrackedModified || staged.contains_key(path)
                }
            }
        })
    }

    /// Whether every path is where it is to come from (git-checkout(1); tried with git 2.47).
    pub(super) fn answer_to_paths(&self, paths: &[Value], origin: Origin<'_>) -> Finds {
        const TRACKED: [VersionState; 2] = [VersionState::TrackedClean, VersionState::TrackedModified];
        let Some(root) = self.root().filter(|_| self.is_natural()) else { return Finds::All };
        let is_lacking = |path: &Value| {
            if is_pattern(path) || path.as_exact().is_none_or(|text| text.starts_with(':')) {
                return false;
            }
            let one = std::slice::from_ref(path);
            let Some(place) = self.starts(one).and_then(|starts| starts.into_iter().next()) else {
                return false;
            };
            let Some(name) = place.relative_to(&root).filter(|name| !name.is_empty()) else { return false };
            let is_tracked = || {
                let known = self.in_state(one, &TRACKED).zip(self.missing(one));
                known.is_none_or(|(there, gone)| !there.is_empty() || !gone.is_empty())
            };
            match origin {
                Origin::Index => !is_tracked(),
                Origin::Revision { revision, takes_away } => {
                    let held = self.meaning(revision);
                    let held = held.map(|held| self.machine.world().committed(&root, &held, name));
                    match held {
                        Some(Committed::NoRevision) => true,
                        Some(Committed::Nothing) => !(takes_away && is_tracked()),
                        Some(Committed::Object(_) | Committed::Unknown) | None => false,
                    }
                }
                Origin::Commit => false,
            }
        };
        if paths.iter().any(is_lacking) { Finds::NotAll } else { Finds::All }
    }
}
