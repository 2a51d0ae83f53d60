//! What makes git show something else than what is there (git-replace(1), gitrepository-layout(5)): objects in place of others, branches of a
//! remote that were not fetched from it.
//!
//! Flags of the index (`--skip-worktree`, `--assume-unchanged`) are not among it: people keep settings of their own out of commits by them, and
//! the gates compare the files themselves.

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Draft, Value};
use crate::nature::Nature;

use super::Git;
use super::options::Words;

/// The references whose objects git shows in place of others.
const REPLACED: &str = "refs/replace/";
/// The references that say what the remotes have.
const REMOTES: &str = "refs/remotes/";

impl Git<'_, '_> {
    /// Adds what git shows in place of other objects.
    pub(super) fn hide_by_replacement(&mut self) {
        self.hide("refs/replace", "git shows these objects in place of others");
    }

    /// Adds what setting a reference by hand hides.
    pub(super) fn hide_behind(&mut self, name: &str) {
        let name = name.trim_start_matches('+');
        if name.starts_with(REPLACED) {
            self.hide_by_replacement();
        } else if name.starts_with(REMOTES) && !name.ends_with("/HEAD") {
            self.hide(name, "git takes it for what the remote has, and the remote does not say so");
        }
    }

    /// Adds what words such as `FROM:TO` of a fetch or a push set in this repository. What comes from a remote is what the remote says.
    pub(super) fn hide_behind_pairs(&mut self, remote: Option<&Value>, pairs: &[Value]) {
        let is_own = remote.and_then(Value::as_exact).is_some_and(|remote| self.is_own_repository(remote));
        for pair in pairs {
            let text = pair.as_exact().map(str::to_owned);
            let Some((from, to)) = text.as_deref().and_then(|text| text.rsplit_once(':')) else { continue };
            if is_own && !from.trim_start_matches('+').is_empty() {
                self.hide_behind(to);
            }
        }
    }

    /// The same of a fetch, which brings objects in place of others from anywhere.
    pub(super) fn hide_by_fetch(&mut self, words: &Words) {
        let pairs = words.operands_from(1).to_vec();
        self.hide_behind_pairs(words.operands().first(), &pairs);
        let replaces = |pair: &Value| {
            pair.as_exact()
                .and_then(|text| text.rsplit_once(':'))
                .is_some_and(|(_, to)| to.starts_with(REPLACED))
        };
        if pairs.iter().any(replaces) {
            self.hide_by_replacement();
        }
    }

    fn hide(&mut self, below: &str, note: &str) {
        let Some(repository) = self.repository_directory() else { return };
        let draft = Draft::new(EffectKind::FileModify, Target::Path(repository.join(below)))
            .severity(Severity::Medium)
            .nature(Nature::HidesChanges)
            .note(note);
        self.machine.add(draft);
    }
}
