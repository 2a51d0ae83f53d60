//! What a command changes about which files are tracked, and about submodules, beside the work tree.

use crate::interpreter::{Exit, Untracked, Value};
use crate::world::{Committed, VersionState};

use super::Git;
use super::options::Words;
use super::tree::{self, Found};

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
    }

    /// Whether something is staged at the paths, or without any in the whole work tree, that is neither in the last commit nor in the work tree:
    /// it goes when the files are staged anew.
    pub(super) fn replaces_staged(&self, paths: &[Value]) -> bool {
        const MODIFIED: [VersionState; 1] = [VersionState::TrackedModified];
        let Some(root) = self.root().filter(|_| self.is_natural()) else { return false };
        let found = match self.starts(paths) {
            Some(starts) => tree::files(self.machine, &starts, &MODIFIED),
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
