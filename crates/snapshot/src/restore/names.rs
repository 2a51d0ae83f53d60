//! Names that were one file, and are to be one again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::{DirEntryExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::diff::all_link_groups;
use crate::error::SnapshotError;
use crate::id::ObjectId;
use crate::node::{Content, LinkGroup, Node, Root, SavedPath};
use crate::pack::PART;
use crate::plan::{RestoreAction, Step};
use crate::store::{Reader, Store};

/// Among how many names another name of a file is looked for, and for how long outside the workspace (ours).
const SEARCHED: usize = 500_000;
const TIME: Duration = Duration::from_secs(2);

/// For every file that is put back as a further name of another: that other.
pub(super) fn anchors(
    store: &Store,
    reader: &Reader,
    steps: &[Step],
    then: &[Root],
) -> Result<BTreeMap<SavedPath, SavedPath>, SnapshotError> {
    let written: BTreeMap<&SavedPath, &Step> = steps
        .iter()
        .filter(|step| matches!(step.deed, RestoreAction::Create | RestoreAction::Replace))
        .map(|step| (&step.path, step))
        .collect();
    let linked: BTreeMap<LinkGroup, &Node> =
        written.values().filter_map(|step| Some((group(step.then.as_ref())?, step.then.as_ref()?))).collect();
    if linked.is_empty() {
        return Ok(BTreeMap::new());
    }
    let groups = all_link_groups(reader, then)?;
    let mut firsts: BTreeMap<LinkGroup, SavedPath> = BTreeMap::new();
    let mut alone: BTreeMap<LinkGroup, &Node> = BTreeMap::new();
    for (of, node) in &linked {
        let names = groups.get(of).map(Vec::as_slice).unwrap_or_default();
        // One that stands as it was, or one that is written through, so that names elsewhere have it too.
        let stands = names.iter().find(|name| !written.contains_key(name) && name.as_path().exists());
        let poured = || {
            names
                .iter()
                .find(|name| written.get(name).is_some_and(|step| group(step.now.as_ref()) == Some(*of)))
        };
        match stands.or_else(poured) {
            Some(name) => drop(firsts.insert(*of, name.clone())),
            None => drop(alone.insert(*of, node)),
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
    for (of, path) in elsewhere(store, beside, &alone, is_step) {
        let content = match alone.get(&of) {
            Some(Node::File { content, length, .. }) => Some((content, *length)),
            Some(Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. }) | None => None,
        };
        if content.is_some_and(|(content, length)| holds(reader, &path, content, length)) {
            firsts.entry(of).or_insert_with(|| SavedPath::from(path));
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
    Ok(further.collect())
}

/// Names of files by their numbers, in the workspace, right beside what is put back, and, for those that are found in neither, below the
/// directory around the workspace; the numbers alone prove nothing.
fn elsewhere(
    store: &Store,
    beside: BTreeSet<PathBuf>,
    wanted: &BTreeMap<LinkGroup, &Node>,
    is_step: impl Fn(&Path) -> bool,
) -> Vec<(LinkGroup, PathBuf)> {
    let numbers: BTreeSet<u64> = wanted.keys().map(|of| of.inode).collect();
    let devices: BTreeSet<u64> = wanted.keys().map(|of| of.device).collect();
    let workspace = store.workspace();
    let mut found = Vec::new();
    let mut left = if wanted.is_empty() { 0 } else { SEARCHED };
    let mut waiting: VecDeque<PathBuf> =
        beside.into_iter().filter(|directory| !directory.starts_with(workspace)).collect();
    waiting.push_back(workspace.to_owned());
    let around = workspace.parent().filter(|around| around.parent().is_some());
    let started = Instant::now();
    let mut looks_around = false;
    loop {
        let Some(directory) = waiting.pop_front() else {
            let is_missing = |of: &LinkGroup| !found.iter().any(|(other, _)| other == of);
            match around {
                Some(around) if !looks_around && wanted.keys().any(is_missing) => {
                    looks_around = true;
                    waiting.push_back(around.to_owned());
                    continue;
                }
                Some(_) | None => return found,
            }
        };
        if looks_around && started.elapsed() > TIME {
            return found;
        }
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let Some(rest) = left.checked_sub(1) else { return found };
            left = rest;
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                // Names of one file lie in one file system.
                let may_hold = || entry.metadata().is_ok_and(|facts| devices.contains(&facts.dev()));
                let is_next =
                    if looks_around { path != workspace && may_hold() } else { path.starts_with(workspace) };
                if is_next && path != store.directory() {
                    waiting.push_back(path);
                }
            } else if kind.is_file() && numbers.contains(&entry.ino()) && !is_step(&path) {
                let Ok(facts) = entry.metadata() else { continue };
                let of = LinkGroup { device: facts.dev(), inode: facts.ino() };
                if wanted.contains_key(&of) {
                    found.push((of, path));
                }
            }
        }
    }
}

/// Whether a file has this content.
fn holds(reader: &Reader, path: &Path, content: &Content, length: u64) -> bool {
    let Ok(mut file) = File::open(path) else { return false };
    let is_long_enough = file.metadata().is_ok_and(|facts| facts.len() == length);
    let Ok(parts) = reader.parts(content) else { return false };
    is_long_enough
        && parts.iter().all(|part| {
            let mut read = Vec::new();
            let limit = file.by_ref().take(PART as u64);
            { limit }.read_to_end(&mut read).is_ok() && ObjectId::of(&read) == *part
        })
}

fn group(node: Option<&Node>) -> Option<LinkGroup> {
    match node {
        Some(Node::File { links, .. }) => *links,
        Some(Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. }) | None => None,
    }
}
