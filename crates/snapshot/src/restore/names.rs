//! Names that were one file, and are to be one again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::os::unix::fs::{DirEntryExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::diff::all_link_groups;
use crate::error::SnapshotError;
use crate::metadata::born;
use crate::node::{LinkGroup, Node, Root, SavedPath};
use crate::plan::{OtherNames, Past, RestoreAction, Step, fate, group};
use crate::second_names::{Likeness, likeness};
use crate::store::{Reader, Store};

/// Among how many names another name of a file is looked for, and for how long outside the workspace (ours).
const SEARCHED: usize = 500_000;
const TIME: Duration = Duration::from_secs(2);

/// How names become one file again.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    /// For every file that is put back as a further name of another: that other.
    pub(super) further: BTreeMap<SavedPath, SavedPath>,
    /// For the first of the names of a file that is not under any of them: a name that it still has.
    pub(super) outside: BTreeMap<SavedPath, Outside>,
}

/// A name that a file still has, beside those that are put back.
#[derive(Debug, Clone)]
pub(super) struct Outside {
    pub(super) path: SavedPath,
    pub(super) fate: OtherNames,
}

/// What tells the names of files that are put back.
pub(super) struct Names<'a> {
    pub(super) store: &'a Store,
    pub(super) reader: &'a Reader,
    pub(super) steps: &'a [Step],
    pub(super) then: &'a [Root],
    pub(super) past: &'a Past,
    /// What becomes of files that have a name of ours.
    pub(super) behind: &'a BTreeMap<LinkGroup, OtherNames>,
}

/// For every file of several names that is put back: what makes it one file with the others.
pub(super) fn anchors(names: &Names<'_>) -> Result<Anchors, SnapshotError> {
    let Names { store, reader, steps, then, past, behind } = *names;
    let written: BTreeMap<&SavedPath, &Step> = steps
        .iter()
        .filter(|step| matches!(step.deed, RestoreAction::Create | RestoreAction::Replace))
        .map(|step| (&step.path, step))
        .collect();
    let linked: BTreeMap<LinkGroup, &Node> =
        written.values().filter_map(|step| Some((group(step.then.as_ref())?, step.then.as_ref()?))).collect();
    if linked.is_empty() {
        return Ok(Anchors::default());
    }
    let groups = all_link_groups(reader, then)?;
    let mut firsts: BTreeMap<LinkGroup, SavedPath> = BTreeMap::new();
    let mut alone: BTreeMap<LinkGroup, &Node> = BTreeMap::new();
    let mut outside: BTreeMap<LinkGroup, Outside> = BTreeMap::new();
    for (of, node) in &linked {
        let names = groups.get(of).map(Vec::as_slice).unwrap_or_default();
        // One that stands as it was, or one that is written through, so that names elsewhere have it too.
        let stands =
            names.iter().find(|name| !written.contains_key(name) && holds(reader, name.as_path(), node));
        let poured = || {
            names
                .iter()
                .find(|name| written.get(name).is_some_and(|step| group(step.now.as_ref()) == Some(*of)))
        };
        let own = || Some(Outside { path: store.own_name(*of)?.into(), fate: *behind.get(of)? });
        if let Some(name) = stands.or_else(poured) {
            firsts.insert(*of, name.clone());
        } else if let Some(own) = own() {
            outside.insert(*of, own);
        } else {
            alone.insert(*of, node);
        }
    }
    // What is to go is no name to rely on.
    let going: BTreeSet<&Path> = steps
        .iter()
        .filter(|step| step.deed != RestoreAction::Adjust)
        .map(|step| step.path.as_path())
        .collect();
    let is_step = |path: &Path| going.contains(path);
    let beside = written.keys().filter_map(|path| path.as_path().parent().map(Path::to_owned)).collect();
    let places = (store.workspace(), store.directory());
    for (of, path) in elsewhere(places, beside, alone.keys().copied().collect(), is_step, &mut { SEARCHED }) {
        // Where files do not tell when they were made, another one may have got the number.
        let is_that_file = |fate: OtherNames| fate != OtherNames::Written || born(&path).is_some();
        if let Some(fate) =
            alone.get(&of).and_then(|then| fate(reader, past, &path, then)).filter(|fate| is_that_file(*fate))
        {
            outside.entry(of).or_insert(Outside { path: path.into(), fate });
        }
    }
    for (of, names) in &groups {
        if let Some(first) = names.iter().find(|name| written.contains_key(name)) {
            firsts.entry(*of).or_insert_with(|| first.clone());
        }
    }
    let further = written.iter().filter_map(|(path, step)| {
        let first = firsts.get(&group(step.then.as_ref())?)?;
        (first != *path).then(|| ((*path).clone(), first.clone()))
    });
    let outside = outside.into_iter().filter_map(|(of, name)| Some((firsts.get(&of)?.clone(), name)));
    Ok(Anchors { further: further.collect(), outside: outside.collect() })
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

/// Whether a file has the content of a node.
fn holds(reader: &Reader, path: &Path, then: &Node) -> bool {
    let Node::File { content, length, .. } = then else { return false };
    // What cannot be read is like nothing.
    let Ok(parts) = reader.parts(content) else { return false };
    likeness(path, &parts, *length, |_| None) == Likeness::Same
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
