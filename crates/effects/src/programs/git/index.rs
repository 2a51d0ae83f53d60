//! What a command changes about which files are tracked, and about submodules, beside the work tree.

use crate::interpreter::{Untracked, Value};

use super::Git;
use super::options::Words;

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

    /// Version control tracks what stands at these paths.
    pub(super) fn track(&mut self, paths: &[Value]) {
        for place in self.starts(paths).unwrap_or_default() {
            self.machine.overlay().track(&place);
        }
    }
}
