//! `git stash`: what it takes out of the work tree, what comes back, and which entries there are by now.

use crate::interpreter::{Exit, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::world::{Committed, TreeDifference, TreeDifferences, VersionState};

use super::Git;
use super::compared::{Files, both};
use super::options::Words;

/// The name of the revision that is checked out.
const HEAD: &str = "HEAD";

/// Notes which entries the stash has since the command changed it: their numbers before, or `HEAD` for one of the command.
const STASHED: &str = ":stashed";

/// How many entries of the stash are followed (ours).
const STASHES: usize = 32;

/// An entry of the stash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stashed {
    /// The command put it there.
    Here,
    /// It had this number before the command.
    Before(usize),
}

pub(super) fn run(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    // `git stash -- file` is a push: what stands behind the dashes is no subcommand.
    match words.operand(0).filter(|_| words.before_dashes != Some(0)) {
        Some("list") => Exit::unknown(),
        Some("show") => git.own_patch("stash", words),
        // Git fails, and loses nothing.
        Some("drop" | "clear") if git.has_no_stash() => Exit::unknown(),
        Some("drop") => {
            let entry = words.operands().get(1).cloned().unwrap_or_else(|| Value::exact("stash@{0}"));
            git.lose_reference(&entry, "what was stashed is in no branch");
            git.drop_stash(entry.as_exact());
            Exit::silent()
        }
        Some("clear") => {
            git.lose_reference(&Value::exact("stash"), "what was stashed is in no branch");
            Exit::silent()
        }
        Some("pop" | "apply" | "branch") => {
            let files = git.unstashing(words);
            git.change_files(files, "what was stashed comes back");
            git.unstash_guard(words);
            if words.operand(0) != Some("apply") {
                git.drop_stash(stash_entry(words));
            }
            git.touch("")
        }
        Some("store") => {
            git.move_revision("stash", words.operands().last());
            git.touch("")
        }
        Some("create") => git.touch(""),
        Some("push" | "save") | None => {
            let files = git.stashing(words);
            if words.any(&["-a", "--all"]) {
                let note = "uncommitted changes move to the stash, also of ignored files";
                git.change_tree_as(Nature::KeptWithIgnoredFiles, note);
            } else {
                git.change_files(files, "uncommitted changes move to the stash");
            }
            if words.any(&["-a", "--all", "-u", "--include-untracked"]) {
                // Empty directories go too, which no list of files tells.
                git.change_tree("directories in which nothing stays go");
            }
            git.note_stashed();
            git.stash_guard(words);
            // In a project that is not the one of the task they are the work of somebody else, who does not look for it there. So is what
            // lies around the task in a work tree that is given.
            let workspace = &git.machine.world().place().workspace;
            let is_around = |root: &AbsolutePath| workspace.is_within(root) && git.is_natural();
            if git.root().is_some_and(|root| !root.is_within(workspace) && !is_around(&root)) {
                git.lose_changes(&[]);
            }
            git.touch("uncommitted changes are kept in the stash")
        }
        Some(_) => Exit::failure(),
    }
}

impl Git<'_, '_> {
    /// Whether nothing is stashed, as far as that can be told.
    fn has_no_stash(&self) -> bool {
        self.lacks_reference("stash") && self.machine.moved_revision(STASHED).is_none()
    }

    /// What `git stash` takes out of the work tree.
    pub(super) fn stashing(&self, words: &Words) -> Files {
        let verb = words.operand(0).filter(|_| words.before_dashes != Some(0));
        let from = usize::from(matches!(verb, Some("push" | "save")));
        let paths = if verb == Some("save") { &[] } else { words.operands_from(from) };
        let mut all = both(self.modified(paths), self.missing(paths));
        // With `-k` what is staged comes back, but not what is staged to go.
        let staged = self.differing("", HEAD);
        all = both(all, if paths.is_empty() { staged } else { self.taken(staged, paths) });
        let others: &[VersionState] = if words.any(&["-a", "--all"]) {
            &[VersionState::Untracked, VersionState::Ignored]
        } else if words.any(&["-u", "--include-untracked"]) {
            &[VersionState::Untracked]
        } else {
            &[]
        };
        if !others.is_empty() {
            let gone = self.in_state(paths, others);
            let gone =
                gone.map(|paths| paths.into_iter().map(|path| (path, TreeDifference::Removed)).collect());
            all = both(all, gone);
        }
        all
    }

    /// What comes back from a stash.
    pub(super) fn unstashing(&self, words: &Words) -> Files {
        let named = stash_entry(words)?;
        let entry = match stash_number(named) {
            Some(number) => match self.stashes()?.get(number)? {
                Stashed::Here => return self.stashed_here(),
                Stashed::Before(number) => format!("stash@{{{number}}}"),
            },
            None => named.to_owned(),
        };
        let mut all = self.differing(&format!("{entry}^1"), &entry);
        if words.operand(0) == Some("branch") {
            all = both(all, self.differing(HEAD, &format!("{entry}^1")));
        }
        // What git did not track is a third parent of its own.
        let others = format!("{entry}^3");
        let has_others = self.root().is_some_and(|root| {
            !matches!(
                self.machine.world().committed(&root, &others, ""),
                Committed::NoRevision | Committed::Nothing
            )
        });
        if has_others { both(all, self.differing(TreeDifferences::EMPTY, &others)) } else { all }
    }

    /// Notes that the newest entry of the stash is one of this command.
    pub(super) fn note_stashed(&mut self) {
        let stashes = self.stashes().map(|mut all| {
            all.insert(0, Stashed::Here);
            all
        });
        self.note_stashes(stashes);
    }

    /// Notes that an entry of the stash went: those behind it come up.
    pub(super) fn drop_stash(&mut self, entry: Option<&str>) {
        let number = entry.and_then(stash_number);
        let stashes = self.stashes().zip(number).map(|(mut all, number)| {
            if number < all.len() {
                all.remove(number);
            }
            all
        });
        self.note_stashes(stashes);
    }

    /// The entries of the stash by now, the newest first; `None` where they are not known.
    fn stashes(&self) -> Option<Vec<Stashed>> {
        match self.machine.moved_revision(STASHED) {
            None => Some((0..STASHES).map(Stashed::Before).collect()),
            Some(None) => None,
            Some(Some(text)) => Some(
                text.split(' ').map(|word| word.parse().map_or(Stashed::Here, Stashed::Before)).collect(),
            ),
        }
    }

    fn note_stashes(&mut self, stashes: Option<Vec<Stashed>>) {
        let words = stashes.filter(|_| !self.machine.is_in_doubt()).map(|all| {
            let word = |stashed: &Stashed| match stashed {
                Stashed::Here => HEAD.to_owned(),
                Stashed::Before(number) => number.to_string(),
            };
            all.iter().map(word).collect::<Vec<_>>().join(" ")
        });
        self.machine.overlay().move_revision(STASHED, words);
    }
}

/// The entry of the stash that the words of `pop`, `apply` and `branch` name; `None` for one that is not known.
fn stash_entry(words: &Words) -> Option<&str> {
    // A branch is named before the entry that is put on it.
    let at = if words.operand(0) == Some("branch") { 2 } else { 1 };
    match words.operands().get(at) {
        Some(word) => word.as_exact(),
        None => Some("stash@{0}"),
    }
}

/// The number of an entry of the stash by its name: `stash@{1}`, `1`, `stash`.
fn stash_number(name: &str) -> Option<usize> {
    match name.strip_prefix("stash") {
        Some("") => Some(0),
        Some(rest) => rest.strip_prefix("@{")?.strip_suffix('}')?.parse().ok(),
        None => name.parse().ok(),
    }
}
