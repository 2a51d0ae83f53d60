//! Names that were one file, and are to be one again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::diff::all_link_groups;
use crate::error::SnapshotError;
use crate::node::{LinkGroup, Node, Root, SavedPath};
use crate::plan::{Behind, RestoreAction, Step, group};
use crate::second_names::{Likeness, likeness};
use crate::store::Reader;

/// How names become one file again.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    /// For every file that is put back as a further name of another: that other.
    pub(super) further: BTreeMap<SavedPath, SavedPath>,
    /// For the first of the names of a file that is not under any of them: what becomes of the names that it still has.
    pub(super) outside: BTreeMap<SavedPath, Behind>,
    /// The names of files that are under none of the names that stand.
    pub(super) lost: BTreeSet<SavedPath>,
}

/// What tells the names of files that are put back.
pub(super) struct Names<'a> {
    pub(super) reader: &'a Reader,
    pub(super) steps: &'a [Step],
    pub(super) then: &'a [Root],
    /// What becomes of files that have other names.
    pub(super) behind: &'a BTreeMap<LinkGroup, Behind>,
}

/// For every file of several names that is put back: what makes it one file with the others.
pub(super) fn anchors(names: &Names<'_>) -> Result<Anchors, SnapshotError> {
    let Names { reader, steps, then, behind } = *names;
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
    let mut outside: BTreeMap<LinkGroup, Behind> = BTreeMap::new();
    let mut lost = BTreeSet::new();
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
        if let Some(name) = stands.or_else(poured) {
            firsts.insert(*of, name.clone());
        } else {
            lost.extend(names.iter().filter(|name| written.contains_key(name)).cloned());
            outside.extend(behind.get(of).map(|behind| (*of, behind.clone())));
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
    Ok(Anchors { further: further.collect(), outside: outside.collect(), lost })
}

/// Whether a file has the content of a node.
fn holds(reader: &Reader, path: &Path, then: &Node) -> bool {
    let Node::File { content, length, .. } = then else { return false };
    // What cannot be read is like nothing.
    let Ok(parts) = reader.parts(content) else { return false };
    likeness(path, &parts, *length, |_| None) == Likeness::Same
}
