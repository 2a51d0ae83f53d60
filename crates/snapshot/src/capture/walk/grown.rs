//! Directories, put together from below.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Pending, Record};
use crate::draft::SnapshotDraft;
use crate::error::SnapshotError;
use crate::id::ObjectId;
use crate::node::{DirectoryTree, Meta, Node, TreeEntry};
use crate::stat_cache::{Seen, SeenDirectory};

/// Directories that are put together from below.
pub(super) struct Grown<'a> {
    pub(super) draft: Option<&'a SnapshotDraft>,
    pub(super) earlier: Option<&'a Seen>,
    pub(super) made: HashMap<usize, Made>,
}

pub(super) struct Made {
    tree: Option<ObjectId>,
    attributes: Vec<(Vec<u8>, Vec<u8>)>,
    /// Whether it is as an earlier capture saw it, with all below.
    is_same: bool,
}

impl Grown<'_> {
    pub(super) fn directory(
        &mut self,
        place: usize,
        record: Record,
        seen: &mut Seen,
    ) -> Result<(), SnapshotError> {
        let Record { path, rules, attributes, entries, listed } = record;
        let (Some(draft), true) = (self.draft, listed) else {
            self.made.insert(place, Made { tree: None, attributes, is_same: false });
            return Ok(());
        };
        let earlier = self.earlier.and_then(|earlier| earlier.directory(&path));
        let same_tree = earlier.filter(|earlier| {
            earlier.rules == rules
                && earlier.count() == entries.len()
                && entries.iter().all(|(name, sight, _, pending)| match pending {
                    Pending::Known(_) | Pending::Later | Pending::Skipped => false,
                    Pending::Same => true,
                    Pending::Directory(_, below) => {
                        earlier.is_same(name, sight) && self.made.get(below).is_some_and(|made| made.is_same)
                    }
                })
        });
        if let Some(earlier) = same_tree {
            let tree = earlier.tree;
            seen.add_old(path, Arc::clone(earlier));
            self.made.insert(place, Made { tree: Some(tree), attributes, is_same: true });
            return Ok(());
        }
        let mut before = None;
        let mut sights = Vec::with_capacity(entries.len());
        let mut tree = Vec::with_capacity(entries.len());
        for (name, sight, ruling, pending) in entries {
            let node = match pending {
                Pending::Known(node) => node,
                Pending::Later | Pending::Skipped => continue,
                Pending::Directory(meta, below) => self.node(meta, below),
                Pending::Same => {
                    let known: &HashMap<Vec<u8>, Node> = match &before {
                        Some(known) => known,
                        None => before.insert(nodes_of(draft, earlier)?),
                    };
                    let missing = || SnapshotError::Torn {
                        path: draft.store().directory().to_owned(),
                        cause: "what was seen and what was saved differ",
                    };
                    known.get(&name).cloned().ok_or_else(missing)?
                }
            };
            sights.push((name.clone(), sight, ruling));
            tree.push(TreeEntry { name, node });
        }
        let tree = draft.put_tree(&DirectoryTree(tree))?;
        seen.add(path, SeenDirectory::new(tree, rules, sights));
        self.made.insert(place, Made { tree: Some(tree), attributes, is_same: false });
        Ok(())
    }

    pub(super) fn node(&mut self, mut meta: Meta, record: usize) -> Node {
        let made = self.made.get_mut(&record);
        let tree = made.and_then(|made| {
            meta.attributes = std::mem::take(&mut made.attributes);
            made.tree
        });
        Node::Directory { meta, tree }
    }
}

fn nodes_of(
    draft: &SnapshotDraft,
    earlier: Option<&Arc<SeenDirectory>>,
) -> Result<HashMap<Vec<u8>, Node>, SnapshotError> {
    let Some(earlier) = earlier else { return Ok(HashMap::new()) };
    let tree = draft.tree(&earlier.tree)?;
    Ok(tree.0.into_iter().map(|entry| (entry.name, entry.node)).collect())
}
