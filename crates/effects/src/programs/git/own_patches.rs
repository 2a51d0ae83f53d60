//! What git prints out of the repository itself, where something takes it in: a file as a revision holds it, and patches that leave the files of
//! the guard alone, whichever way round they are applied.

use crate::interpreter::{Exit, Input, Output, Value};
use crate::places;
use crate::world::{Committed, FileText, VersionState};

use super::Git;
use super::options::Words;

/// The greatest number of commits that `git format-patch -N` is asked for here (ours).
const COMMITS: usize = 16;

/// Two revisions, and what of the difference between them is meant.
struct Compared {
    pairs: Vec<(String, String)>,
    paths: Vec<Value>,
}

impl Git<'_, '_> {
    /// What `git show REVISION:FILE` and its like print, where it is known and something takes it in.
    pub(super) fn shown_file(&self, words: &[Value]) -> Option<Value> {
        let [word] = words else { return None };
        let (revision, path) = word.as_exact()?.split_once(':')?;
        if !self.machine.is_listened_to() || revision.is_empty() || path.is_empty() {
            return None;
        }
        let root = self.root()?;
        // From the root of the work tree, but for what begins with a dot (gitrevisions(7)).
        let below = match path.strip_prefix("./") {
            Some(rest) => self.cwd.as_ref()?.join(rest).relative_to(&root)?.to_owned(),
            None if path.starts_with("../") => self.cwd.as_ref()?.join(path).relative_to(&root)?.to_owned(),
            None => path.to_owned(),
        };
        // Of secrets it is told where they go.
        let file = root.join(&below);
        let is_secret = places::credential(&file, &self.machine.world().place().home).is_some();
        if is_secret || !self.is_as_it_was() {
            return None;
        }
        match self.machine.world().committed_text(&root, &self.meaning(revision)?, &below) {
            FileText::Whole(text) => Some(Value::Exact(text)),
            FileText::Beginning(_) | FileText::Unknown => None,
        }
    }

    /// What a subcommand prints that shows changes of the repository itself: a patch that touches no file of the guard, as the name of the work
    /// tree that it comes out of.
    pub(super) fn own_patch(&self, name: &str, words: &Words) -> Exit {
        if !self.machine.is_listened_to() || !self.is_as_it_was() {
            return Exit::unknown();
        }
        let Some(root) = self.root() else { return Exit::unknown() };
        match self.compared(name, words) {
            Some(compared) if !self.guard_files(&[]).is_empty() && self.leaves_guard(&compared) => {
                Exit { output: Output::Local(root.as_str().to_owned()), ..Exit::unknown() }
            }
            Some(_) | None => Exit::unknown(),
        }
    }

    /// Whether what comes in is a patch out of the work tree itself that touches no file of the guard.
    pub(super) fn is_given_own_patch(&self, patches: &[Value]) -> bool {
        let comes_in = match patches {
            [] => true,
            [only] => only.as_exact() == Some("-"),
            _ => false,
        };
        let root = self.root();
        // What another program passes on may say something else.
        comes_in
            && self.machine.follows_upon("git")
            && matches!((&self.machine.input, &root), (Input::Local(place), Some(root)) if place == root.as_str())
    }

    /// Whether the repository holds what it held before the command: nothing was fetched, committed or put there.
    fn is_as_it_was(&self) -> bool {
        let Some(repository) = self.repository_directory() else { return false };
        self.directory.is_none()
            && !self.is_made_here()
            && self.machine.fetched(&repository).is_empty()
            && !self.has_committed()
    }

    fn compared(&self, name: &str, words: &Words) -> Option<Compared> {
        if words.arguments.uncertain || words.any(&["--no-index", "--stdin", "--all", "--branches", "--root"])
        {
            return None;
        }
        let operands = words.operands();
        let all: Vec<&str> = operands.iter().map(Value::as_exact).collect::<Option<_>>()?;
        // `HEAD:file` is a file, and no comparison.
        if all.iter().any(|text| text.contains(':')) {
            return None;
        }
        let is_revision = |text: &&&str| {
            let start = text.split("..").next().unwrap_or(text);
            let start = if start.is_empty() { "HEAD" } else { start };
            self.holds_revision(start)
        };
        let count = words.before_dashes.unwrap_or_else(|| all.iter().take_while(is_revision).count());
        let (revisions, _) = all.split_at_checked(count)?;
        let paths = operands.get(count..)?.to_vec();
        let range = |text: &str, alone: fn(&str) -> (String, String)| match text.split_once("..") {
            Some((_, right)) if right.starts_with('.') => None,
            Some((left, right)) => {
                let named = |text: &str| if text.is_empty() { "HEAD" } else { text }.to_owned();
                Some((named(left), named(right)))
            }
            None => Some(alone(text)),
        };
        let with_parent = |text: &str| (format!("{text}^"), text.to_owned());
        let pairs: Vec<(String, String)> = match (name, revisions) {
            ("diff", []) => Vec::new(),
            ("diff", [one]) => vec![range(one, |text| (text.to_owned(), "HEAD".to_owned()))?],
            ("diff", [one, other]) => vec![((*one).to_owned(), (*other).to_owned())],
            ("show", []) => vec![with_parent("HEAD")],
            ("show", given) => given.iter().map(|text| range(text, with_parent)).collect::<Option<_>>()?,
            ("format-patch", given) => {
                let last = given.first().copied().unwrap_or("HEAD");
                let number = (1..=COMMITS).find(|number| words.has(&format!("-{number}")));
                match number {
                    Some(number) => vec![(format!("{last}~{number}"), last.to_owned())],
                    None => vec![range(given.first()?, |text| (text.to_owned(), "HEAD".to_owned()))?],
                }
            }
            ("stash", ["show"]) => vec![("stash^1".to_owned(), "stash".to_owned())],
            ("stash", ["show", entry]) => vec![(format!("{entry}^1"), (*entry).to_owned())],
            _ => return None,
        };
        Some(Compared { pairs, paths })
    }

    fn holds_revision(&self, revision: &str) -> bool {
        let Some((root, revision)) = self.root().zip(self.meaning(revision)) else { return false };
        !matches!(
            self.machine.world().committed(&root, &revision, ""),
            Committed::NoRevision | Committed::Unknown
        )
    }

    /// Whether no file of the guard is another one on the two sides of a comparison, nor in the work tree.
    fn leaves_guard(&self, compared: &Compared) -> bool {
        self.guard_files(&compared.paths).iter().all(|file| {
            let is_same = |(base, tip): &(String, String)| {
                let held = self.held(base, file);
                !matches!(held, Committed::NoRevision | Committed::Unknown) && held == self.held(tip, file)
            };
            let stands_as_committed = || {
                matches!(
                    self.machine.world().version(&file.path),
                    VersionState::TrackedClean
                        | VersionState::Missing
                        | VersionState::Ignored
                        | VersionState::Untracked
                ) && !self.machine.has_touched(&file.path)
            };
            compared.pairs.iter().all(is_same) && stands_as_committed()
        })
    }
}
