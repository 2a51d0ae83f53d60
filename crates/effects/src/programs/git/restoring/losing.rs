//! Work in no commit that is lost when files are brought back.

use std::collections::BTreeMap;

use crate::effect::{Certainty, EffectKind, Target};
use crate::interpreter::{Draft, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::programs::git::Git;
use crate::programs::git::compared::Files;
use crate::programs::git::pathspec::is_pattern;
use crate::programs::git::tree::{self, Found, NAMED};
use crate::world::{Committed, Entry, TreeDifference, TreeDifferences, VersionState};

use super::{HEAD, Origin};

/// The greatest number of staged files that are named one by one (ours).
const STAGED: usize = 256;

impl Git<'_, '_> {
    /// Uncommitted changes of tracked files are lost, of those at the paths or, without any, of all.
    pub(in crate::programs::git) fn lose_changes(&mut self, paths: &[Value]) {
        self.lose_changes_but(paths, |_| false);
    }

    /// The same, but for files that stay.
    pub(super) fn lose_changes_but(&mut self, paths: &[Value], stays: impl Fn(&AbsolutePath) -> bool) {
        // Whatever a word names that is not known, it lies in the work tree.
        let is_unread = paths.iter().any(|path| !is_pattern(path) && path.as_exact().is_none());
        let before = self.machine.effect_count();
        let found = match self.changed_files(if is_unread { &[] } else { paths }) {
            Found::All(files) => Found::All(files.into_iter().filter(|file| !stays(file)).collect()),
            Found::Unclear => Found::Unclear,
        };
        match found {
            Found::All(files) if files.is_empty() => {}
            Found::All(files) if files.len() <= NAMED => {
                for file in files {
                    let draft = Draft::new(EffectKind::VcsLocalLoss, Target::Path(file))
                        .note("holds changes that are in no commit");
                    self.machine.add(draft);
                }
            }
            Found::All(files) => {
                let note = format!("{} files hold changes that are in no commit", files.len());
                let draft = Draft::new(EffectKind::VcsLocalLoss, self.whole_tree()).recursive().note(note);
                self.machine.add(draft);
            }
            Found::Unclear => {
                let targets: Vec<Target> = if paths.is_empty() {
                    vec![self.whole_tree()]
                } else {
                    paths.iter().flat_map(|path| self.meant(path)).collect()
                };
                for target in targets {
                    let note = "whether there are uncommitted changes could not be found out";
                    self.machine.add(Draft::new(EffectKind::VcsLocalLoss, target).recursive().note(note));
                }
            }
        }
        if is_unread {
            self.machine.amend(before, |effect| effect.certainty = Certainty::Possible);
        }
    }

    /// What is staged and in no commit is lost of the files that are no more what they were: its object stays, and nothing names it. Of files
    /// that are not known it may be any of those at the paths or, without any, of all.
    pub(in crate::programs::git) fn lose_staged(&mut self, files: &Files, paths: &[Value]) {
        // What the command has committed is in a commit.
        let root = self.root().filter(|_| self.is_natural() && !self.has_committed());
        let Some(root) = root else { return };
        let staged = self.only_staged(&root);
        let staged = if paths.is_empty() { staged } else { self.taken(staged, paths) };
        let goes = |path: &String| {
            files
                .as_ref()
                .is_none_or(|files| files.get(path).is_some_and(|how| *how != TreeDifference::Added))
        };
        let lost: Vec<AbsolutePath> = staged
            .unwrap_or_default()
            .into_keys()
            .filter(goes)
            .map(|path| root.join(&path))
            // What was changed since is lost by that.
            .filter(|file| {
                !matches!(
                    self.machine.world().version(file),
                    VersionState::TrackedModified | VersionState::Missing
                )
            })
            .collect();
        let draft = |target: Target| {
            Draft::new(EffectKind::VcsLocalLoss, target)
                .nature(Nature::OnlyStaged)
                .note("is staged, and in no commit")
        };
        if lost.len() > STAGED {
            let tree = self.whole_tree();
            return self.machine.add(draft(tree).recursive());
        }
        for file in lost {
            self.machine.add(draft(Target::Path(file)));
        }
    }

    /// The files of which the index holds what no commit that is checked out does.
    fn only_staged(&self, root: &AbsolutePath) -> Files {
        let world = self.machine.world();
        let found = match world.differences(root, "", HEAD) {
            TreeDifferences::NoRevision => world.differences(root, "", TreeDifferences::EMPTY),
            found => found,
        };
        let mut all: BTreeMap<String, TreeDifference> = match found {
            TreeDifferences::At(found) => {
                found.into_iter().filter(|(_, how)| *how != TreeDifference::Added).collect()
            }
            TreeDifferences::NoRevision | TreeDifferences::Unknown => return None,
        };
        if self.has_staged() {
            let added = self.added_here(root).unwrap_or_default();
            all.extend(added.into_iter().map(|path| (path, TreeDifference::Removed)));
        }
        Some(all)
    }

    /// The files with changes that are in no commit, of those at the paths or, without any, of all. What the index does not hold any more is
    /// overwritten all the same by what a commit holds there.
    fn changed_files(&self, paths: &[Value]) -> Found {
        const CHANGED: [VersionState; 1] = [VersionState::TrackedModified];
        let starts = if paths.is_empty() { self.root().map(|root| vec![root]) } else { self.starts(paths) };
        let (mut files, starts) = match starts {
            _ if !self.is_natural() => return Found::Unclear,
            Some(starts) => match tree::files(&self.known(), &starts, &CHANGED) {
                Found::All(files) => (files, starts),
                Found::Unclear => return Found::Unclear,
            },
            None => return self.matching(paths, &CHANGED).map_or(Found::Unclear, Found::All),
        };
        if self.machine.index_changes().iter().next().is_some() || self.has_lost_index() {
            let Found::All(before) = tree::files_of_world(self.machine.world(), &starts, &CHANGED) else {
                return Found::Unclear;
            };
            files.extend(before.into_iter().filter(|file| self.machine.entry(file) != Entry::Missing));
            files.sort();
            files.dedup();
        }
        if let Some((root, specs)) = self.root().zip(self.pathspecs(paths)) {
            files.retain(|file| {
                paths.is_empty() || file.relative_to(&root).is_none_or(|name| specs.take(name))
            });
        }
        Found::All(files)
    }

    /// The changed files at the paths that stay as they are, because the revision does not have them.
    pub(super) fn kept_without(&self, paths: &[Value], origin: Origin<'_>) -> Vec<AbsolutePath> {
        let Origin::Revision { revision, takes_away: false } = origin else { return Vec::new() };
        let (Some(revision), Some(root)) = (self.meaning(revision), self.root()) else { return Vec::new() };
        let Found::All(files) = self.changed_files(paths) else { return Vec::new() };
        let world = self.machine.world();
        let is_kept = |file: &AbsolutePath| {
            let name = file.relative_to(&root).unwrap_or_default();
            world.committed(&root, &revision, name) == Committed::Nothing
        };
        files.into_iter().filter(is_kept).collect()
    }

    /// Whether the command took the index away.
    fn has_lost_index(&self) -> bool {
        self.repository_directory().is_some_and(|own| {
            let index = own.join("index");
            self.machine.entry(&index) != self.machine.world().entry(&index)
        })
    }

    pub(in crate::programs::git) fn possibly_lose_changes(&mut self, note: &str) {
        let draft = Draft::new(EffectKind::VcsLocalLoss, self.whole_tree()).recursive().possible().note(note);
        self.machine.add(draft);
    }

    pub(super) fn possibly_lose_untracked(&mut self, note: &str) {
        let draft = Draft::new(EffectKind::FileDelete, self.whole_tree()).recursive().possible().note(note);
        self.machine.add(draft);
    }

    pub(in crate::programs::git) fn whole_tree(&self) -> Target {
        self.root().map_or(Target::Unknown, Target::Path)
    }
}
