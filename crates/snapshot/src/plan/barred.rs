//! Steps that cannot be done, since something that stays stands in their way.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::{Prepared, RestoreAction, Step};
use crate::node::{Node, SavedPath};

impl Prepared {
    /// Takes out the steps that cannot be done: what belongs into a directory of which something else stands in the place, and stays, and
    /// what belongs where a directory stands in which something stays. Returns each with what stands in the way.
    pub fn take_barred(&mut self) -> Vec<(Step, PathBuf)> {
        let deeds: BTreeMap<SavedPath, RestoreAction> =
            self.steps.iter().map(|step| (step.path.clone(), step.deed)).collect();
        let mut barred: BTreeMap<SavedPath, PathBuf> = BTreeMap::new();
        for step in &self.steps {
            let way = above(step, &deeds, &barred).or_else(|| below(step, &deeds));
            if let Some(way) = way {
                barred.insert(step.path.clone(), way);
            }
        }
        let mut taken = Vec::new();
        self.steps.retain(|step| match barred.remove(&step.path) {
            Some(way) => {
                taken.push((step.clone(), way));
                false
            }
            None => true,
        });
        taken
    }
}

/// What stands above a place and is no directory, and is not made one; a step for a directory comes before those for what is in it.
fn above(
    step: &Step,
    deeds: &BTreeMap<SavedPath, RestoreAction>,
    barred: &BTreeMap<SavedPath, PathBuf>,
) -> Option<PathBuf> {
    if step.deed == RestoreAction::Remove {
        return None;
    }
    for path in step.path.as_path().ancestors().skip(1) {
        let saved = SavedPath::from(path);
        if let Some(way) = barred.get(&saved) {
            return Some(way.clone());
        }
        if deeds.contains_key(&saved) {
            return None;
        }
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => return None,
            Ok(_) => return Some(path.to_owned()),
            Err(_) => {}
        }
    }
    None
}

/// What stays in a directory that has to go for something else.
fn below(step: &Step, deeds: &BTreeMap<SavedPath, RestoreAction>) -> Option<PathBuf> {
    let is_directory = |node: &Option<Node>| matches!(node, Some(Node::Directory { .. }));
    if step.deed != RestoreAction::Replace || !is_directory(&step.now) || is_directory(&step.then) {
        return None;
    }
    let goes = |path: &Path| deeds.get(&SavedPath::from(path)) == Some(&RestoreAction::Remove);
    let mut waiting = vec![step.path.as_path().to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if !goes(&path) {
                return Some(path);
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && seen.insert(path.clone()) {
                waiting.push(path);
            }
        }
    }
    None
}
