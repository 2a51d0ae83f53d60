//! What the patterns of `git clean -e` leave out or, with `-X`, add (git-clean(1)).
//!
//! They are read as lines of a `.gitignore` at the root that count before all others: the last one that matches decides.

use checkrein_glob::ignore::{IgnoreDecision, PathKind, Rules};

use crate::programs::git::options::Words;
use crate::programs::git::tree::Sweep;

/// The patterns of one call.
pub(super) struct Exclusions {
    rules: Rules,
    asked: Sweep,
    widened: Sweep,
}

impl Exclusions {
    /// The patterns among the words of a call. One that is not known is taken to fit everything.
    pub(super) fn of(asked: Sweep, words: &Words) -> Self {
        let given = words.arguments.values(&["-e", "--exclude"]);
        let patterns: Vec<&str> = given.map(|value| value.as_exact().unwrap_or("*")).collect();
        // With `-X` a plain pattern makes more files ignored, which go then; only a negated one keeps something.
        let adds = asked == Sweep::Ignored && patterns.iter().any(|pattern| !pattern.starts_with('!'));
        Self {
            rules: Rules::parse(&patterns.join("\n")),
            asked,
            widened: if adds { Sweep::UntrackedAndIgnored } else { asked },
        }
    }

    /// What may go, before patterns that leave something out.
    pub(super) fn widened(&self) -> Sweep {
        self.widened
    }

    /// Whether the patterns leave a path alone, a directory with all in it. `is_ignored` says whether it is ignored without them,
    /// `holds_guard` whether files of the guard lie in it.
    pub(super) fn spare(
        &self,
        relative: &str,
        kind: PathKind,
        is_ignored: &dyn Fn() -> bool,
        holds_guard: &dyn Fn() -> bool,
    ) -> bool {
        match (self.asked, kind) {
            (Sweep::Untracked | Sweep::UntrackedAndIgnored, _) => {
                self.rules.answer(relative, kind) == Some(IgnoreDecision::Ignore)
            }
            (Sweep::Ignored, PathKind::File) => match self.answer(relative, kind) {
                Some(IgnoreDecision::Ignore) => false,
                Some(IgnoreDecision::Keep) => true,
                None => self.widened != self.asked && !is_ignored(),
            },
            // What lies in a directory that is not ignored any more may be ignored by itself.
            (Sweep::Ignored, PathKind::Directory) => match self.answer(relative, kind) {
                Some(IgnoreDecision::Keep) => self.widened == self.asked && !holds_guard(),
                Some(IgnoreDecision::Ignore) | None => false,
            },
        }
    }

    /// What is said of a path: a directory above it that is ignored goes as a whole.
    fn answer(&self, relative: &str, kind: PathKind) -> Option<IgnoreDecision> {
        let above = relative.match_indices('/').filter_map(|(end, _)| relative.get(..end));
        let mut said = above.map(|directory| self.rules.answer(directory, PathKind::Directory));
        if said.any(|said| said == Some(IgnoreDecision::Ignore)) {
            return Some(IgnoreDecision::Ignore);
        }
        self.rules.answer(relative, kind)
    }
}
