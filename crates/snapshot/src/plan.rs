//! What a restore would do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rustix::fs::Stat;

use crate::capture::{Captured, Choice, Ended, Manner, Over, Wanted, capture};
use crate::difference::{Difference, differences, link_groups, node_at};
use crate::draft::{Draft, Effort};
use crate::error::SnapshotError;
use crate::facts;
use crate::id::SnapshotId;
use crate::node::{Extent, FileTime, LinkGroup, Meta, Node, Root, SavedPath, Skipped};
use crate::store::Store;

/// A restore that waits to be carried out. The present is captured already; dropped, this leaves nothing behind.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) draft: Draft,
    pub(crate) of: SnapshotId,
    pub(crate) captured: Captured,
    pub(crate) then: Vec<Root>,
    pub(crate) above: Vec<(SavedPath, Meta)>,
    pub(crate) touched: Vec<(SavedPath, Meta)>,
    pub(crate) extent: Extent,
    steps: Vec<Step>,
}

/// One thing that a restore does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Where.
    pub path: SavedPath,
    /// What.
    pub deed: Deed,
    /// What stood there.
    pub then: Option<Node>,
    /// What stands there now.
    pub now: Option<Node>,
    /// Whether somebody changed it after the action that is taken back.
    pub since: Since,
    /// How it was found, so that a change in between is noticed.
    pub(crate) found: Found,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// Makes what is not there any more.
    Create,
    /// Puts back content, target or sort.
    Replace,
    /// Puts back mode, owner, times or attributes.
    Adjust,
    /// Removes what was not there.
    Remove,
}

impl Deed {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Adjust => "adjust",
            Self::Remove => "remove",
        }
    }
}

/// Whether something was changed after a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// It was not, or there is nothing.
    Untouched,
    /// It was.
    Changed,
    /// No moment is known to compare with.
    Unknown,
}

/// How a path was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Missing,
    /// Number and time of status change.
    Standing(u64, FileTime),
}

impl Found {
    pub(crate) fn at(path: &Path) -> Self {
        Self::of(rustix::fs::lstat(path).ok().as_ref())
    }

    fn of(found: Option<&Stat>) -> Self {
        found.map_or(Self::Missing, |found| Self::Standing(found.st_ino, facts::changed(found)))
    }
}

/// How preparing a restore ended.
#[derive(Debug)]
pub enum Preparation {
    /// It can be carried out.
    Ready(Box<Prepared>),
    /// The present is too large to be saved within the bounds.
    Over(Over),
}

impl Store {
    /// Finds out what it takes to bring `paths` back to what they were in a snapshot, all of it when no paths are given, and captures
    /// the present for that. `until` is when the action ended that is taken back: what changed later was not changed by it.
    pub fn prepare(
        &self,
        of: SnapshotId,
        paths: &[PathBuf],
        manner: &Manner<'_>,
        until: Option<FileTime>,
    ) -> Result<Preparation, SnapshotError> {
        let listed = self.snapshot(of)?;
        let draft = self.begin(Effort::Small)?;
        let then = narrowed(&draft, &listed.snapshot.roots, paths)?;
        let wanted: Vec<Wanted> = then.iter().map(wanted_now).collect();
        let mut captured = match capture(&draft, &wanted, manner)? {
            Ended::Whole(captured) => captured,
            Ended::Over(over) => return Ok(Preparation::Over(over)),
        };
        let mut found = differences(&draft, &then, &captured.roots)?;
        let hidden: Vec<Wanted> = found
            .all
            .iter()
            .filter(|one| one.now.is_none() && Found::at(one.path.as_path()) != Found::Missing)
            .map(|one| Wanted { path: one.path.as_path().to_owned(), selection: Choice::Everything })
            .collect();
        if !hidden.is_empty() {
            // What is ignored by now, or was skipped, stands in the way all the same and must not be lost.
            let more =
                match capture(&draft, &hidden, &Manner { seen: None, largest: None, ..reborrow(manner) })? {
                    Ended::Whole(more) => more,
                    Ended::Over(over) => return Ok(Preparation::Over(over)),
                };
            for root in &more.roots {
                if let Some(one) = found.all.iter_mut().find(|one| one.path == root.path) {
                    one.now.clone_from(&root.node);
                }
            }
            captured.roots.extend(more.roots);
            captured.skipped.extend(more.skipped);
            captured.entries += more.entries;
            captured.bytes += more.bytes;
        }
        without_equal_links(&draft, &then, &captured.roots, &mut found.all)?;
        // Places may lie in each other.
        let mut known = BTreeSet::new();
        found.all.retain(|one| known.insert(one.path.clone()));
        let skipped = &listed.snapshot.skipped;
        let steps = found.all.into_iter().filter_map(|one| step(one, skipped, until)).collect();
        let above = listed.snapshot.above;
        let touched = found.touched;
        let extent = if paths.is_empty() { Extent::Whole } else { Extent::Part };
        Ok(Preparation::Ready(Box::new(Prepared {
            draft,
            of,
            captured,
            then,
            above,
            touched,
            extent,
            steps,
        })))
    }
}

impl Prepared {
    /// The snapshot that is gone back to.
    pub fn of(&self) -> SnapshotId {
        self.of
    }

    /// What would be done, a directory before what is in it.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What of the present cannot be saved.
    pub fn unsaved(&self) -> &[Skipped] {
        &self.captured.skipped
    }

    /// Takes it that what stands as it was saved in one of these snapshots was not changed by anybody: it was put back there.
    pub fn excuse(&mut self, snapshots: &[SnapshotId]) -> Result<(), SnapshotError> {
        for id in snapshots {
            let roots = self.draft.store().snapshot(*id)?.snapshot.roots;
            for step in self.steps.iter_mut().filter(|step| step.since == Since::Changed) {
                for root in roots.iter().filter(|root| step.path.as_path().starts_with(root.path.as_path())) {
                    let saved = node_at(&self.draft, root, &step.path)?;
                    if is_as_saved(saved.as_ref(), step.now.as_ref()) {
                        step.since = Since::Untouched;
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives up the steps that are not wanted.
    pub fn retain(&mut self, wanted: impl FnMut(&Step) -> bool) {
        self.steps.retain(wanted);
    }
}

/// Leaves out files that differ in nothing but the number of their group of links, where the same names still are one file.
fn without_equal_links(
    draft: &Draft,
    then: &[Root],
    now: &[Root],
    found: &mut Vec<Difference>,
) -> Result<(), SnapshotError> {
    let only_links = |one: &Difference| match (&one.then, &one.now) {
        (
            Some(Node::File { meta, length, content, links }),
            Some(Node::File { meta: m, length: l, content: c, links: k }),
        ) => (meta, length, content) == (m, l, c) && links != k,
        _ => false,
    };
    if !found.iter().any(only_links) {
        return Ok(());
    }
    let (before, after) = (link_groups(draft, then)?, link_groups(draft, now)?);
    let names = |groups: &BTreeMap<LinkGroup, Vec<SavedPath>>, node: &Option<Node>| match node {
        Some(Node::File { links: Some(group), .. }) => groups.get(group).cloned().unwrap_or_default(),
        Some(Node::File { links: None, .. } | Node::Symlink { .. } | Node::Directory { .. }) | None => {
            Vec::new()
        }
    };
    found.retain(|one| !only_links(one) || names(&before, &one.then) != names(&after, &one.now));
    Ok(())
}

/// Whether two nodes have the same content and facts, whatever their names are linked with.
fn is_as_saved(saved: Option<&Node>, now: Option<&Node>) -> bool {
    match (saved, now) {
        (
            Some(Node::File { meta, length, content, .. }),
            Some(Node::File { meta: m, length: l, content: c, .. }),
        ) => (meta, length, content) == (m, l, c),
        (saved, now) => saved == now,
    }
}

fn reborrow<'a>(manner: &Manner<'a>) -> Manner<'a> {
    Manner { ..*manner }
}

/// What of the present is captured for a place.
fn wanted_now(root: &Root) -> Wanted {
    // What was not there may go, so all of it is saved.
    let selection = if root.node.is_none() { Choice::Everything } else { root.selection.into() };
    Wanted { path: root.path.as_path().to_owned(), selection }
}

fn step(one: Difference, skipped: &[Skipped], until: Option<FileTime>) -> Option<Step> {
    let Difference { path, then, now } = one;
    let deed = match (&then, &now) {
        (None, None) => return None,
        (Some(_), None) => Deed::Create,
        (None, Some(_)) => Deed::Remove,
        (Some(then), Some(now)) => deed(then, now),
    };
    if deed == Deed::Remove && skipped.iter().any(|one| one.path == path) {
        return None;
    }
    let stat = rustix::fs::lstat(path.as_path()).ok();
    let since = match (until, &stat, &now) {
        (_, None, _) | (_, _, Some(Node::Directory { .. })) => Since::Untouched,
        (None, Some(_), _) => Since::Unknown,
        (Some(until), Some(stat), _) if facts::changed(stat) > until => Since::Changed,
        (Some(_), Some(_), _) => Since::Untouched,
    };
    Some(Step { path, deed, then, now, since, found: Found::of(stat.as_ref()) })
}

fn deed(then: &Node, now: &Node) -> Deed {
    match (then, now) {
        (Node::File { content, links, .. }, Node::File { content: other, links: k, .. }) => {
            if content == other && links == k { Deed::Adjust } else { Deed::Replace }
        }
        (Node::Directory { .. }, Node::Directory { .. }) => Deed::Adjust,
        (Node::File { .. } | Node::Symlink { .. } | Node::Directory { .. }, _) => Deed::Replace,
    }
}

/// The places of a snapshot, or those parts of them that lie in `paths`.
fn narrowed(draft: &Draft, roots: &[Root], paths: &[PathBuf]) -> Result<Vec<Root>, SnapshotError> {
    if paths.is_empty() {
        return Ok(roots.to_vec());
    }
    let mut narrowed: Vec<Root> = Vec::new();
    for path in paths {
        for root in roots {
            let one = if root.path.as_path().starts_with(path) {
                root.clone()
            } else if path.starts_with(root.path.as_path()) {
                let path = SavedPath::from(path.as_path());
                let node = node_at(draft, root, &path)?;
                Root { path, selection: root.selection, node }
            } else {
                continue;
            };
            if !narrowed.iter().any(|known| known.path == one.path) {
                narrowed.push(one);
            }
        }
    }
    Ok(narrowed)
}
