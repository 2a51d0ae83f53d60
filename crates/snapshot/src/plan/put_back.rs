//! What earlier restores put back, so that it counts neither as changed by somebody nor as something to do again.

use std::collections::{BTreeMap, BTreeSet};

use super::judge::deed;
use super::{Prepared, RestoreAction, Since, Step, group};
use crate::diff::{NodeLookup, all_link_groups, is_same};
use crate::error::SnapshotError;
use crate::id::SnapshotId;
use crate::lookup::stat;
use crate::metadata;
use crate::node::{FileTime, Meta, Node, Root, SavedPath};

/// A restore that was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone {
    /// The snapshot that was gone back to.
    pub back_to: SnapshotId,
    /// The one of what stood before.
    pub saved_as: SnapshotId,
}

impl Prepared {
    /// Takes it that what was put back by one of these restores, and stands so, was not changed by anybody since the action before which
    /// snapshot `of` was made. Of what was not there before the action, a restore proves only that it was there before some later one:
    /// that counts where it is as old as the action.
    pub fn excuse(&mut self, of: SnapshotId, restores: &[Gone]) -> Result<(), SnapshotError> {
        for restore in restores {
            let store = self.draft.store();
            let at = store.snapshot(restore.saved_as)?.snapshot.at;
            let put_back: BTreeSet<SavedPath> = self
                .put_back_by(*restore)?
                .into_iter()
                .filter(|one| is_as_saved(one.saved.as_ref(), one.now.as_ref()))
                .filter(|one| !is_as_saved(one.saved.as_ref(), one.earlier.as_ref()))
                .map(|one| one.path)
                .collect();
            let ended = self.past.ended();
            for step in self.steps.iter_mut().filter(|step| put_back.contains(&step.path)) {
                // What a restore to something later put there may be what somebody had made of it before.
                if step.is_known_other && restore.back_to > of {
                    continue;
                }
                let is_as_old = || step.deed != RestoreAction::Remove || is_as_old(step, ended, at);
                if step.since.is_changed() && is_as_old() {
                    step.since = Since::Untouched;
                }
            }
        }
        Ok(())
    }

    /// Gives up what would be done again after it was taken back: what stands there was put there by going back to something older. Of
    /// content, mode, owner, attributes and times each counts by itself.
    pub fn leave_taken_back(&mut self, restores: &[Gone]) -> Result<(), SnapshotError> {
        for restore in restores {
            let put_back = self.put_back_by(*restore)?;
            let by_path: BTreeMap<&SavedPath, &PutBack> =
                put_back.iter().map(|one| (&one.path, one)).collect();
            let mut apart = Vec::new();
            self.steps.retain_mut(|step| {
                let Some(one) = by_path.get(&step.path) else { return true };
                let file = group(step.then.as_ref());
                let is_left = amend(step, one);
                if let (false, Some(file), Some(Node::File { links, .. })) = (is_left, file, &mut step.then)
                    && group(step.now.as_ref()) != Some(file)
                {
                    // It stands as it is to be, and its other names may not.
                    *links = Some(file);
                    apart.push(step.clone());
                }
                is_left
            });
            self.apart.extend(apart);
        }
        Ok(())
    }

    /// What a restore did where steps are: what it put there, and what had stood there.
    fn put_back_by(&self, restore: Gone) -> Result<Vec<PutBack>, SnapshotError> {
        let store = self.draft.store();
        let then = store.snapshot(restore.back_to)?.snapshot.roots;
        let replaced = store.snapshot(restore.saved_as)?.snapshot.roots;
        let mut put_back = Vec::new();
        let is_linked = self.steps.iter().any(|step| group(step.then.as_ref()).is_some());
        let groups = if is_linked { all_link_groups(&self.draft, &then)? } else { BTreeMap::new() };
        let lookup = NodeLookup::new(&self.draft);
        for step in &self.steps {
            // What a restore wrote to a file it wrote under all of its names.
            let is_around =
                |path: &SavedPath| then.iter().any(|root| path.as_path().starts_with(root.path.as_path()));
            let other = || groups.get(&group(step.then.as_ref())?)?.first();
            let Some(place) = Some(&step.path).filter(|path| is_around(path)).or_else(other) else {
                continue;
            };
            let covers = |root: &&Root| place.as_path().starts_with(root.path.as_path());
            for root in then.iter().filter(covers) {
                let Some(other) = replaced.iter().find(|other| other.path == root.path) else { continue };
                let saved = lookup.node_at(root, place)?;
                let earlier = lookup.node_at(other, place)?;
                put_back.push(PutBack { path: step.path.clone(), saved, earlier, now: step.now.clone() });
            }
        }
        Ok(put_back)
    }
}

/// What a restore did at a path.
#[derive(Debug)]
struct PutBack {
    path: SavedPath,
    /// What it put there.
    saved: Option<Node>,
    /// What had stood there.
    earlier: Option<Node>,
    /// What stands there.
    now: Option<Node>,
}

/// Whether something new is not younger than the action that had `ended`, unless a restore `at` that time made it again, in milliseconds
/// since 1970.
fn is_as_old(step: &Step, ended: Option<FileTime>, at: u64) -> bool {
    let (Some(ended), Some(now)) = (ended, &step.now) else { return false };
    let is_made_again = |born: FileTime| {
        let since = u64::try_from(born.seconds).unwrap_or(0).saturating_mul(1_000);
        since.saturating_add(u64::from(born.nanoseconds / 1_000_000)) >= at
    };
    let born = metadata::born(step.path.as_path());
    now.meta().modified <= ended && born.is_none_or(|born| born <= ended || is_made_again(born))
}

/// Whether two nodes have the same content and facts, whatever their names are linked with and whatever is in them.
fn is_as_saved(saved: Option<&Node>, now: Option<&Node>) -> bool {
    match (saved, now) {
        (
            Some(Node::File { meta, length, content, .. }),
            Some(Node::File { meta: m, length: l, content: c, .. }),
        ) => (meta, length, content) == (m, l, c),
        (Some(Node::Directory { meta, .. }), Some(Node::Directory { meta: m, .. })) => {
            (meta.mode, meta.owner, meta.group, &meta.attributes) == (m.mode, m.owner, m.group, &m.attributes)
        }
        (saved, now) => saved == now,
    }
}

/// Takes out of a step what a restore put there and stands so; whether anything is left to do.
fn amend(step: &mut Step, done: &PutBack) -> bool {
    let PutBack { saved, earlier, now, .. } = done;
    let (Some(then), Some(now), Some(saved)) = (&mut step.then, now, saved) else {
        // It came there, or went, by that restore.
        return !is_as_saved(saved.as_ref(), now.as_ref()) || is_as_saved(saved.as_ref(), earlier.as_ref());
    };
    let earlier = earlier.as_ref();
    let is_amended = match (&mut *then, now, saved) {
        (
            Node::File { meta, length, content, links },
            Node::File { meta: m, length: l, content: c, links: k },
            Node::File { meta: saved_meta, content: saved_content, .. },
        ) => {
            let before = match earlier {
                Some(Node::File { content, .. }) => Some(content),
                Some(Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. }) | None => None,
            };
            if saved_content == c && before != Some(c) {
                (*length, *content, *links) = (*l, *c, *k);
                meta.modified = m.modified;
            }
            amend_facts(meta, m, saved_meta, earlier.map(Node::meta));
            if content == c
                && saved_meta.modified == m.modified
                && earlier.map(|one| one.meta().modified) != Some(m.modified)
            {
                meta.modified = m.modified;
            }
            true
        }
        (
            Node::Directory { meta, .. },
            Node::Directory { meta: m, .. },
            Node::Directory { meta: saved, .. },
        )
        | (Node::Pipe { meta }, Node::Pipe { meta: m }, Node::Pipe { meta: saved }) => {
            amend_facts(meta, m, saved, earlier.map(Node::meta));
            true
        }
        (
            Node::Symlink { meta, target },
            Node::Symlink { meta: m, target: now_target },
            Node::Symlink { meta: saved, target: saved_target },
        ) => {
            let before = match earlier {
                Some(Node::Symlink { target, .. }) => Some(target),
                Some(Node::File { .. } | Node::Directory { .. } | Node::Pipe { .. }) | None => None,
            };
            if saved_target == now_target && before != Some(now_target) {
                target.clone_from(now_target);
            }
            amend_facts(meta, m, saved, earlier.map(Node::meta));
            true
        }
        (Node::File { .. } | Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. }, _, _) => {
            false
        }
    };
    if !is_amended {
        return !is_as_saved(Some(saved), Some(now)) || is_as_saved(Some(saved), earlier);
    }
    if is_same(then, now) {
        return false;
    }
    step.deed = deed(then, now, stat(step.path.as_path()).ok().as_ref());
    true
}

/// Takes over from the present each fact that a restore put there.
fn amend_facts(then: &mut Meta, now: &Meta, saved: &Meta, earlier: Option<&Meta>) {
    if saved.mode == now.mode && earlier.map(|earlier| earlier.mode) != Some(now.mode) {
        then.mode = now.mode;
    }
    if saved.owner == now.owner && earlier.map(|earlier| earlier.owner) != Some(now.owner) {
        then.owner = now.owner;
    }
    if saved.group == now.group && earlier.map(|earlier| earlier.group) != Some(now.group) {
        then.group = now.group;
    }
    if saved.attributes == now.attributes
        && earlier.map(|earlier| &earlier.attributes) != Some(&now.attributes)
    {
        then.attributes.clone_from(&now.attributes);
    }
}
