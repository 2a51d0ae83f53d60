//! Other names of files that are put back, where the store has none of its own: they are looked for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::os::unix::fs::{DirEntryExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::behind::{Behind, OtherNames, fate};
use super::{Prepared, RestoreAction, Step, group};
use crate::diff::all_link_groups;
use crate::error::SnapshotError;
use crate::metadata::born;
use crate::node::{LinkGroup, Node};
use crate::second_names::{Likeness, likeness};

/// Among how many names another name of a file is looked for, and for how long outside the workspace (ours).
const SEARCHED: usize = 500_000;
const TIME: Duration = Duration::from_secs(2);

impl Prepared {
    /// Looks for other names of the files that have lost names and have none in the store. Does nothing a second time.
    pub fn look_around(&mut self) -> Result<(), SnapshotError> {
        if std::mem::replace(&mut self.has_looked, true) {
            return Ok(());
        }
        let is_written = |step: &&Step| matches!(step.deed, RestoreAction::Create | RestoreAction::Replace);
        let mut wanted: BTreeMap<LinkGroup, Node> = BTreeMap::new();
        for step in self.steps.iter().filter(is_written).chain(&self.apart) {
            if let (Some(of), Some(then)) = (group(step.then.as_ref()), &step.then) {
                let is_known = self.behind.contains_key(&of) || group(step.now.as_ref()) == Some(of);
                if !is_known {
                    wanted.insert(of, then.clone());
                }
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        // Comparing paths takes its time where trees are deep, so that is done only where something is looked for.
        let written: BTreeMap<&Path, &Step> =
            self.steps.iter().filter(is_written).map(|step| (step.path.as_path(), step)).collect();
        let groups = all_link_groups(&self.draft, &self.then)?;
        wanted.retain(|of, then| {
            let names = groups.get(of).map(Vec::as_slice).unwrap_or_default();
            // One that stands as it was is all that there is to find.
            !names.iter().any(|name| {
                let is_through =
                    || written.get(name.as_path()).is_some_and(|step| group(step.now.as_ref()) == Some(*of));
                let is_that =
                    || fs::symlink_metadata(name.as_path()).is_ok_and(|facts| number(&facts) == *of);
                is_through()
                    || !written.contains_key(name.as_path()) && is_that() && self.holds(name.as_path(), then)
            })
        });
        let store = self.draft.store().clone();
        // What is to go is no name to rely on.
        let going: BTreeSet<&Path> = self
            .steps
            .iter()
            .filter(|step| step.deed != RestoreAction::Adjust)
            .map(|step| step.path.as_path())
            .collect();
        let is_step = |path: &Path| going.contains(path);
        let beside = written.keys().filter_map(|path| path.parent().map(Path::to_owned)).collect();
        let places = (store.workspace(), store.directory());
        let found = elsewhere(places, beside, wanted.keys().copied().collect(), is_step, &mut { SEARCHED });
        let mut known: BTreeMap<LinkGroup, Behind> = BTreeMap::new();
        for (of, path) in found {
            // Another file may have got the number, and where files do not tell when they were made, that cannot be ruled out.
            let is_that_file = |fate: OtherNames| match born(&path) {
                Some(born) => born <= self.past.saved || fate.is_joined() && !fate.is_written(),
                None => !fate.is_written(),
            };
            let fate = wanted.get(&of).and_then(|then| fate(&self.draft, &self.past, &path, then));
            if let Some(fate) = fate.filter(|fate| is_that_file(*fate)) {
                known.entry(of).or_insert(Behind { path: Some(path), fate, split: None });
            }
        }
        let counts = store.naming_times();
        for of in wanted.keys().filter(|of| !known.contains_key(of)).collect::<Vec<_>>() {
            let saved = groups.get(of).map_or(0, Vec::len) as u64;
            if let Some(more) =
                counts.count(*of).and_then(|count| count.checked_sub(saved)).filter(|more| *more > 0)
            {
                self.behind.insert(*of, Behind { path: None, fate: OtherNames::NotFound(more), split: None });
            }
        }
        self.behind.extend(known);
        Ok(())
    }

    /// Whether a file has the content of a node.
    fn holds(&self, path: &Path, then: &Node) -> bool {
        let Node::File { content, length, .. } = then else { return false };
        // What cannot be read is like nothing.
        let Ok(parts) = self.draft.parts(content) else { return false };
        likeness(path, &parts, *length, |_| None) == Likeness::Same
    }
}

fn number(facts: &fs::Metadata) -> LinkGroup {
    LinkGroup { device: facts.dev(), inode: facts.ino() }
}

/// Names of files by their numbers, in the workspace, right beside what is put back, and, for those that are found in neither, below the
/// directory around the workspace; the numbers alone prove nothing. Returns one for each file, as all are the same file, and looks no
/// further when there is one for each or a file has no more names. Takes the names that it looked at from `left`.
fn elsewhere(
    (workspace, store): (&Path, &Path),
    beside: BTreeSet<PathBuf>,
    wanted: BTreeSet<LinkGroup>,
    is_step: impl Fn(&Path) -> bool,
    left: &mut usize,
) -> Vec<(LinkGroup, PathBuf)> {
    let devices: BTreeSet<u64> = wanted.iter().map(|of| of.device).collect();
    let mut found = Vec::new();
    // Of each file that is still looked for, the names that are to go: as many as it has names are all of them.
    let mut missing: BTreeMap<LinkGroup, BTreeSet<PathBuf>> =
        wanted.into_iter().map(|of| (of, BTreeSet::new())).collect();
    let mut waiting: VecDeque<PathBuf> =
        beside.into_iter().filter(|directory| !directory.starts_with(workspace)).collect();
    waiting.push_back(workspace.to_owned());
    let around = workspace.parent().filter(|around| around.parent().is_some());
    let started = Instant::now();
    let mut looks_around = false;
    while !missing.is_empty() {
        let Some(directory) = waiting.pop_front() else {
            match around {
                Some(around) if !looks_around => {
                    looks_around = true;
                    waiting.push_back(around.to_owned());
                    continue;
                }
                Some(_) | None => break,
            }
        };
        if looks_around && started.elapsed() > TIME {
            break;
        }
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let Some(rest) = left.checked_sub(1) else { return found };
            *left = rest;
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                // Names of one file lie in one file system.
                let may_hold = || entry.metadata().is_ok_and(|facts| devices.contains(&facts.dev()));
                let is_next =
                    if looks_around { path != workspace && may_hold() } else { path.starts_with(workspace) };
                if is_next && path != store {
                    waiting.push_back(path);
                }
            } else if kind.is_file() && missing.keys().any(|of| of.inode == entry.ino()) {
                let Ok(facts) = entry.metadata() else { continue };
                let of = LinkGroup { device: facts.dev(), inode: facts.ino() };
                let Some(going) = missing.get_mut(&of) else { continue };
                if is_step(&path) {
                    going.insert(path);
                    if going.len() as u64 == facts.nlink() {
                        missing.remove(&of);
                    }
                } else {
                    found.push((of, path));
                    missing.remove(&of);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many names are looked at for a file with these names beside the workspace, of which those that begin with `going` are to go, and
    /// what is found.
    fn looked_at(names: &[&str]) -> (usize, Vec<PathBuf>) {
        let around = tempfile::tempdir().unwrap();
        let workspace = around.path().join("project");
        fs::create_dir(&workspace).unwrap();
        let deep = around.path().join("deep");
        (0..300).for_each(|number| fs::create_dir_all(deep.join(number.to_string())).unwrap());
        let first = around.path().join(names[0]);
        fs::write(&first, "text").unwrap();
        names[1..].iter().for_each(|name| fs::hard_link(&first, around.path().join(name)).unwrap());
        let facts = fs::metadata(&first).unwrap();
        let wanted = BTreeSet::from([LinkGroup { device: facts.dev(), inode: facts.ino() }]);
        let is_step = |path: &Path| path.ends_with("going") || path.ends_with("going too");
        let mut left = SEARCHED;
        let store = workspace.join(".store");
        let found = elsewhere((&workspace, &store), BTreeSet::new(), wanted, is_step, &mut left);
        let found = found.into_iter().map(|(_, path)| path.strip_prefix(around.path()).unwrap().to_owned());
        (SEARCHED - left, found.collect())
    }

    #[test]
    fn nothing_is_looked_for_any_longer_when_all_names_are_known() {
        for (names, expected) in [
            (&["letter"][..], &["letter"][..]),
            (&["project/letter"], &["project/letter"]),
            (&["project/going", "letter"], &["letter"]),
            (&["project/going"], &[]),
            (&["project/going", "going too"], &[]),
        ] {
            let (count, found) = looked_at(names);
            assert_eq!(found, expected.iter().map(PathBuf::from).collect::<Vec<_>>(), "{names:?}");
            assert!(count < 10, "{names:?}: {count}");
        }
        // What is further away is looked for as long as a name is missing.
        let (count, found) = looked_at(&["project/going", "deep/0/letter"]);
        assert!(count > 300 && found == [PathBuf::from("deep/0/letter")], "{count} {found:?}");
    }
}
