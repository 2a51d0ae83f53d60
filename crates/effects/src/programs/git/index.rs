//! What a command changes about which files are tracked, and about submodules, beside the work tree.

use crate::interpreter::git_store::IgnoredFiles;
use crate::interpreter::{Exit, IndexChange, Untracked, Value};
use crate::path::AbsolutePath;
use crate::world::{Committed, TreeDifferences, VersionState};

use super::Git;
use super::compared::nearer;
use super::options::Words;
use super::tree::{self, Found};

/// The name of the revision that is checked out.
const HEAD: &str = "HEAD";

impl Git<'_, '_> {
    /// With `--recurse-submodules`, or the setting for it, submodules become what is recorded for them as well.
    pub(super) fn change_submodules(&mut self, words: &Words) {
        let is_set = || self.settings.exact("submodule.recurse").as_deref() == Some("true");
        if words.has("--no-recurse-submodules") || !(words.has("--recurse-submodules") || is_set()) {
            return;
        }
        if words.any(&["-f", "--force", "--discard-changes", "--hard", "--reset"]) {
            self.possibly_lose_changes("submodules become what the commit records for them");
        }
        self.touch_submodules();
    }

    /// Version control does not track files at these paths any more, or without any in the whole work tree, but they stand where they stood.
    pub(super) fn untrack(&mut self, paths: &[Value], which: Untracked) {
        for place in self.starts(paths).or_else(|| self.root().map(|root| vec![root])).unwrap_or_default() {
            self.machine.overlay().untrack(&place, which);
        }
        if which == Untracked::All {
            self.untrack_files(paths);
        }
    }

    /// Files of the guard may not be tracked any more, whichever they are.
    pub(super) fn may_untrack_any(&mut self) {
        if let Some(root) = self.root() {
            self.machine.overlay().untrack(&root, Untracked::All);
        }
    }

    /// Files at these paths are not in the index any more.
    fn untrack_files(&mut self, paths: &[Value]) {
        const TRACKED: [VersionState; 2] = [VersionState::TrackedClean, VersionState::TrackedModified];
        let places = self.starts(paths).or_else(|| self.matching(paths, &TRACKED));
        match (places, self.root()) {
            (Some(places), _) => {
                for place in places {
                    self.machine.change_index(IndexChange::Removed(place));
                }
            }
            (None, Some(root)) => self.machine.change_index(IndexChange::Becomes(root, None)),
            (None, None) => {}
        }
    }

    /// The index holds at these paths, or without any everywhere, what a revision does; without one it is that which is checked out.
    pub(super) fn index_holds(&mut self, revision: Option<&Value>, paths: &[Value]) {
        let revision = match revision {
            Some(word) => word.as_exact().map(str::to_owned),
            None => Some(HEAD.to_owned()),
        };
        // A commit of the same command holds what was staged: only those before it are what the world knows.
        if revision.as_deref() == Some(HEAD) && self.has_committed() {
            return;
        }
        let revision =
            revision.map(|revision| if self.has_committed() { nearer(&revision) } else { revision });
        let meaning = revision.and_then(|revision| self.meaning(&revision));
        let places = if paths.is_empty() { None } else { self.starts(paths) };
        let (places, meaning) = match (places, self.root()) {
            (Some(places), _) => (places, meaning),
            // What patterns take becomes so, and the rest stays.
            (None, root) => (root.into_iter().collect(), meaning.filter(|_| paths.is_empty())),
        };
        for place in places {
            self.machine.change_index(IndexChange::Becomes(place, meaning.clone()));
        }
    }

    /// Files at the paths that `git add` names are tracked from now on.
    pub(super) fn note_added(&mut self, words: &Words) {
        const TAKEN: [VersionState; 2] = [VersionState::Untracked, VersionState::Ignored];
        if words.any(&["-u", "--update", "--refresh", "--renormalize"]) {
            return;
        }
        let is_all = words.any(&["-A", "--all", "--no-ignore-removal"]);
        if words.operands().is_empty() && !is_all {
            return;
        }
        let ignored = if words.any(&["-f", "--force"]) { IgnoredFiles::Added } else { IgnoredFiles::Left };
        let places: Option<Vec<AbsolutePath>> =
            self.starts(words.operands()).or_else(|| self.matching(words.operands(), &TAKEN));
        match (places, self.root()) {
            (Some(places), _) => {
                for place in places {
                    self.machine.change_index(IndexChange::Added(place, ignored));
                }
            }
            (None, Some(root)) => self.machine.change_index(IndexChange::Becomes(root, None)),
            (None, None) => {}
        }
    }

    /// What `git update-index` changes about which files are tracked.
    pub(super) fn note_updated(&mut self, words: &Words) {
        if words.any(&["--stdin", "--index-info", "--cacheinfo", "--again", "-g", "--remove"]) {
            if let Some(root) = self.root() {
                self.machine.change_index(IndexChange::Becomes(root, None));
            }
            self.lose_track_of_index();
        } else if words.has("--force-remove") {
            let named: Vec<Value> = words.arguments.values(&["--force-remove"]).cloned().collect();
            self.untrack_files(&[&named, words.operands()].concat());
        } else if words.has("--add") {
            for place in self.starts(words.operands()).unwrap_or_default() {
                self.machine.change_index(IndexChange::Added(place, IgnoredFiles::Added));
            }
        }
    }

    /// The branch that is checked out holds nothing yet.
    pub(super) fn begin_branch(&mut self) {
        self.move_revision(HEAD, Some(&Value::exact(TreeDifferences::EMPTY)));
    }

    /// Whether something is staged at the paths, or without any in the whole work tree, that is neither in the last commit nor in the work tree:
    /// it goes when the files are staged anew.
    pub(super) fn replaces_staged(&self, paths: &[Value]) -> bool {
        const MODIFIED: [VersionState; 1] = [VersionState::TrackedModified];
        let Some(root) = self.root().filter(|_| self.is_natural()) else { return false };
        let found = match self.starts(paths) {
            Some(starts) => tree::files(&self.known(), &starts, &MODIFIED),
            None => self.matching(paths, &MODIFIED).map_or(Found::Unclear, Found::All),
        };
        let Found::All(files) = found else { return false };
        let world = self.machine.world();
        files.iter().any(|file| {
            let below = file.relative_to(&root).unwrap_or_default();
            let staged = world.committed(&root, "", below);
            matches!(staged, Committed::Object(_)) && staged != world.committed(&root, "HEAD", below)
        })
    }

    /// Stages files anew. What was staged before and stands nowhere else is forgotten.
    pub(super) fn stage_anew(&mut self, replaces: bool) -> Exit {
        if replaces { self.forget("another version that was staged") } else { self.touch("") }
    }

    /// Whether the index is not what it was before the command, or another one counts: what it holds of the files at these paths may be
    /// something else than they are.
    pub(super) fn index_has_changed(&self, paths: &[Value]) -> bool {
        let starts = self.starts(paths).or_else(|| self.root().map(|root| vec![root])).unwrap_or_default();
        starts.iter().any(|start| self.machine.untracks_below(start))
    }

    /// Version control tracks what stands at these paths.
    pub(super) fn track(&mut self, paths: &[Value]) {
        for place in self.starts(paths).unwrap_or_default() {
            self.machine.overlay().track(&place);
        }
    }
}
