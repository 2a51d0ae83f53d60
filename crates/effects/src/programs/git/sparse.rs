//! `git sparse-checkout`: which tracked files leave the work tree, and which come back.

use std::collections::{BTreeMap, BTreeSet};

use checkrein_glob::ignore::{IgnoreDecision, PathKind, Rules};

use crate::effect::{EffectKind, Target};
use crate::interpreter::{Draft, Exit, Value};
use crate::world::{Entry, TreeDifference, VersionState};

use super::Git;
use super::compared::Files;
use super::options::Words;
use super::tree::{self, Found};

/// Runs `git sparse-checkout`.
pub(super) fn run(git: &mut Git<'_, '_>, words: &Words) -> Exit {
    if words.operand(0) == Some("list") {
        return Exit::unknown();
    }
    let files = git.thinning(words);
    let emptied = files.as_ref().map(|files| git.cleared(words, files)).unwrap_or_default();
    git.change_files(files, "files outside the chosen directories leave the work tree; they stay in git");
    for folder in emptied {
        git.machine.add(
            Draft::new(EffectKind::FileDelete, Target::Path(folder))
                .recursive()
                .possible()
                .note("with the last tracked file of a directory what is ignored in it goes"),
        );
    }
    if !matches!(words.operand(0), Some("disable" | "add")) {
        git.thin_out(words);
    }
    git.touch("")
}

/// Subcommands that fill the work tree anew, with the patterns of a sparse one (git-read-tree(1), "SPARSE CHECKOUT").
const FILLING: [&str; 11] = [
    "checkout",
    "switch",
    "reset",
    "merge",
    "pull",
    "rebase",
    "read-tree",
    "cherry-pick",
    "revert",
    "am",
    "sparse-checkout",
];

impl Git<'_, '_> {
    /// Adds the files of the guard that a subcommand leaves out of the work tree because patterns in the repository say so.
    pub(super) fn thin_by_patterns(&mut self, name: &str) {
        if !FILLING.contains(&name) || self.settings.exact("core.sparsecheckout").as_deref() != Some("true") {
            return;
        }
        let Some(directory) = self.repository_directory() else { return };
        let place = directory.join("info/sparse-checkout");
        if self.machine.entry(&place) == Entry::Missing {
            return;
        }
        let text = self.machine.text(&place);
        let rules = text.as_exact().map(Rules::parse);
        let is_changed = self.machine.has_changed_within(&place);
        self.leave_out(|path| match &rules {
            Some(rules) => !is_included(rules, path),
            // Patterns that stood there before and cannot be read have done by now what they do.
            None => is_changed,
        });
    }

    /// Which tracked files a sparse work tree takes out or brings, when these directories or patterns are chosen.
    fn thinning(&self, words: &Words) -> Files {
        let root = self.root()?;
        let tracked = self.tracked_files()?;
        let verb = words.operand(0);
        let chosen: Vec<&str> = words.operands_from(1).iter().map(Value::as_exact).collect::<Option<_>>()?;
        let is_known = !words.has("--stdin") && !words.arguments.uncertain;
        let rules = words.has("--no-cone").then(|| Rules::parse(&chosen.join("\n")));
        // Only in a work tree that is sparse already a file that is not there may be one that was left out.
        let is_sparse = self.settings.exact("core.sparsecheckout").as_deref() == Some("true");
        let mut found = BTreeMap::new();
        for path in tracked {
            let stays = match &rules {
                Some(rules) => is_included(rules, &path),
                None => is_chosen(&chosen, &path),
            };
            let is_there = self.machine.entry(&root.join(&path)) != Entry::Missing;
            match (verb, is_there) {
                (Some("disable" | "reapply"), false) => found.insert(path, TreeDifference::Added),
                (Some("add"), false) if stays || !is_known => found.insert(path, TreeDifference::Added),
                (Some("set"), true) if !stays || !is_known => found.insert(path, TreeDifference::Removed),
                (Some("set"), false) if is_sparse && (stays || !is_known) => {
                    found.insert(path, TreeDifference::Added)
                }
                _ => None,
            };
        }
        Some(found)
    }

    /// The directories of which every tracked file goes and that hold nothing else but what is ignored: git clears them away whole where
    /// directories were chosen (git-sparse-checkout(1), "Internals - cone mode").
    fn cleared(
        &self,
        words: &Words,
        files: &BTreeMap<String, TreeDifference>,
    ) -> Vec<crate::path::AbsolutePath> {
        const UNTRACKED: [VersionState; 1] = [VersionState::Untracked];
        let Some(root) = self.root().filter(|_| !words.has("--no-cone")) else { return Vec::new() };
        let Some(tracked) = self.tracked_files() else { return Vec::new() };
        let folders = |path: &String| {
            let ends: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
            ends.into_iter().filter_map(|end| path.get(..end).map(str::to_owned)).collect::<Vec<_>>()
        };
        let gone = |path: &String| files.get(path) == Some(&TreeDifference::Removed);
        let stays: BTreeSet<String> = tracked
            .iter()
            .filter(|path| !gone(path) && self.machine.entry(&root.join(path)) != Entry::Missing)
            .flat_map(folders)
            .collect();
        let all: BTreeSet<String> = files.keys().filter(|path| gone(path)).flat_map(folders).collect();
        all.into_iter()
            .filter(|folder| !stays.contains(folder))
            .map(|folder| root.join(&folder))
            .filter(|place| {
                tree::files(&self.known(), std::slice::from_ref(place), &UNTRACKED) == Found::All(Vec::new())
            })
            .collect()
    }
}

/// Whether a file is in one of the chosen directories, or directly in one above them (git-sparse-checkout(1), "cone mode").
fn is_chosen(chosen: &[&str], path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let below = |long: &str, short: &str| {
        long == short || long.strip_prefix(short).is_some_and(|rest| rest.starts_with('/'))
    };
    let mut chosen = chosen.iter().map(|place| place.trim_matches('/'));
    folder.is_empty() || chosen.any(|place| below(folder, place) || below(place, folder))
}

/// Whether patterns take a file in: what is nearest to it decides.
fn is_included(rules: &Rules, path: &str) -> bool {
    let mut part = path;
    let mut kind = PathKind::File;
    loop {
        if let Some(decision) = rules.answer(part, kind) {
            return decision == IgnoreDecision::Ignore;
        }
        match part.rsplit_once('/') {
            Some((above, _)) => (part, kind) = (above, PathKind::Directory),
            None => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_bring_the_files_above_them() {
        for (path, is) in [
            ("top", true),
            ("a/file", true),
            ("a/b/file", true),
            ("a/b/c/file", true),
            ("a/x/file", false),
            ("ab/file", false),
        ] {
            assert_eq!(is_chosen(&["/a/b/"], path), is, "{path}");
        }
    }

    #[test]
    fn the_nearest_pattern_decides() {
        let rules = Rules::parse("/src/\n!/src/cart\n*.md");
        for (path, is) in [("src/x", true), ("src/cart/y", false), ("src/cart/z.md", true), ("other", false)]
        {
            assert_eq!(is_included(&rules, path), is, "{path}");
        }
    }
}
