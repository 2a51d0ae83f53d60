//! What differs between two times.

use std::collections::BTreeMap;

use crate::draft::SnapshotDraft;
use crate::error::SnapshotError;
use crate::id::ObjectId;
use crate::node::{DirectoryTree, Meta, Node, Root, SavedPath};
use crate::store::Reader;

/// Something that is not the same at two times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where.
    pub path: SavedPath,
    /// What stood there at the first time.
    pub then: Option<Node>,
    /// What stands there at the second.
    pub now: Option<Node>,
}

/// Differences, and the directories in which they are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Differences {
    /// What differs: a directory before what is in it.
    pub all: Vec<Difference>,
    /// Directories of the first time whose times cannot be what they were when something in them is put back.
    pub(crate) touched: Vec<(SavedPath, Meta)>,
}

/// Whoever can read trees.
pub(crate) trait Trees {
    fn entries(&self, id: &ObjectId) -> Result<DirectoryTree, SnapshotError>;
}

impl Trees for SnapshotDraft {
    fn entries(&self, id: &ObjectId) -> Result<DirectoryTree, SnapshotError> {
        self.tree(id)
    }
}

impl Trees for Reader {
    fn entries(&self, id: &ObjectId) -> Result<DirectoryTree, SnapshotError> {
        self.tree(id)
    }
}

/// What differs between places at two times. Places that only one of the times knows are left out.
pub(crate) fn differences(
    trees: &impl Trees,
    then: &[Root],
    now: &[Root],
) -> Result<Differences, SnapshotError> {
    let now: BTreeMap<&SavedPath, &Root> = now.iter().map(|root| (&root.path, root)).collect();
    let mut found = Differences::default();
    for root in then {
        if let Some(now) = now.get(&root.path) {
            let path = root.path.as_path().as_os_str().as_encoded_bytes().to_vec();
            compare(trees, path, root.node.as_ref(), now.node.as_ref(), &mut found)?;
        }
    }
    Ok(found)
}

/// Whether two nodes are the same but for what is in them: a directory's entries and time, the name of a group of links.
pub(crate) fn is_same(then: &Node, now: &Node) -> bool {
    let meta = |node: &Node| {
        let meta = node.meta();
        (meta.mode, meta.owner, meta.group, meta.attributes.clone())
    };
    match (then, now) {
        (Node::File { length, content, links, .. }, Node::File { length: l, content: c, links: k, .. }) => {
            meta(then) == meta(now)
                && then.meta().modified == now.meta().modified
                && (length, content, links) == (l, c, k)
        }
        (Node::Symlink { target, meta }, Node::Symlink { target: other, meta: other_meta }) => {
            target == other && (meta.owner, meta.group) == (other_meta.owner, other_meta.group)
        }
        (Node::Directory { .. }, Node::Directory { .. }) | (Node::Pipe { .. }, Node::Pipe { .. }) => {
            meta(then) == meta(now)
        }
        (Node::File { .. } | Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. }, _) => false,
    }
}

fn compare(
    trees: &impl Trees,
    path: Vec<u8>,
    then: Option<&Node>,
    now: Option<&Node>,
    found: &mut Differences,
) -> Result<(), SnapshotError> {
    // Nested as deep as the directories are, so on a list of its own instead of the stack.
    let mut waiting = vec![(path, then.cloned(), now.cloned())];
    while let Some((path, then, now)) = waiting.pop() {
        let differs = match (&then, &now) {
            (None, None) => continue,
            (Some(then), Some(now)) => !is_same(then, now),
            (Some(_), None) | (None, Some(_)) => true,
        };
        let (tree_then, tree_now) = (tree_of(then.as_ref()), tree_of(now.as_ref()));
        let saved = SavedPath::from_bytes(path.clone());
        if let Some(Node::Directory { meta, .. }) = &then {
            let time_differs = now.as_ref().is_none_or(|now| now.meta().modified != meta.modified);
            if differs || tree_then != tree_now || time_differs {
                found.touched.push((saved.clone(), meta.clone()));
            }
        }
        if tree_then != tree_now {
            // A directory of which only itself was saved says nothing about what is in it.
            let only_itself = matches!(&then, Some(Node::Directory { tree: None, .. }));
            let mut names: BTreeMap<Vec<u8>, (Option<Node>, Option<Node>)> = BTreeMap::new();
            for entry in entries(trees, tree_then)? {
                names.entry(entry.name).or_default().0 = Some(entry.node);
            }
            if !only_itself {
                for entry in entries(trees, tree_now)? {
                    names.entry(entry.name).or_default().1 = Some(entry.node);
                }
            }
            for (name, (then, now)) in names.into_iter().rev() {
                let mut below = path.clone();
                if below != b"/" {
                    below.push(b'/');
                }
                below.extend_from_slice(&name);
                waiting.push((below, then, now));
            }
        }
        if differs {
            found.all.push(Difference { path: saved, then, now });
        }
    }
    Ok(())
}

fn tree_of(node: Option<&Node>) -> Option<ObjectId> {
    match node {
        Some(Node::Directory { tree, .. }) => *tree,
        Some(Node::File { .. } | Node::Symlink { .. } | Node::Pipe { .. }) | None => None,
    }
}

fn entries(trees: &impl Trees, id: Option<ObjectId>) -> Result<Vec<crate::node::TreeEntry>, SnapshotError> {
    id.map_or_else(|| Ok(Vec::new()), |id| trees.entries(&id).map(|tree| tree.0))
}

/// The node at a path below a root; `None` when nothing stood there.
pub(crate) fn node_at(
    trees: &impl Trees,
    root: &Root,
    path: &SavedPath,
) -> Result<Option<Node>, SnapshotError> {
    let Ok(below) = path.as_path().strip_prefix(root.path.as_path()) else { return Ok(None) };
    let mut node = root.node.clone();
    for part in below.components() {
        let name = part.as_os_str().as_encoded_bytes();
        let tree = entries(trees, tree_of(node.as_ref()))?;
        node = tree.into_iter().find(|entry| entry.name == name).map(|entry| entry.node);
    }
    Ok(node)
}

/// The files below a node that are names of a group of hard links, by group.
pub(crate) fn link_groups(
    trees: &impl Trees,
    roots: &[Root],
) -> Result<BTreeMap<crate::node::LinkGroup, Vec<SavedPath>>, SnapshotError> {
    let mut groups = all_link_groups(trees, roots)?;
    groups.retain(|_, names| names.len() > 1);
    Ok(groups)
}

/// The same, with groups of which only one name is there.
pub(crate) fn all_link_groups(
    trees: &impl Trees,
    roots: &[Root],
) -> Result<BTreeMap<crate::node::LinkGroup, Vec<SavedPath>>, SnapshotError> {
    let mut groups: BTreeMap<_, Vec<SavedPath>> = BTreeMap::new();
    for root in roots {
        let path = root.path.as_path().as_os_str().as_encoded_bytes().to_vec();
        let mut waiting = vec![(path, root.node.clone())];
        while let Some((path, node)) = waiting.pop() {
            match node {
                Some(Node::File { links: Some(group), .. }) => {
                    groups.entry(group).or_default().push(SavedPath::from_bytes(path));
                }
                Some(Node::Directory { tree, .. }) => {
                    for entry in entries(trees, tree)? {
                        let mut below = path.clone();
                        below.push(b'/');
                        below.extend_from_slice(&entry.name);
                        waiting.push((below, Some(entry.node)));
                    }
                }
                Some(Node::File { .. } | Node::Symlink { .. } | Node::Pipe { .. }) | None => {}
            }
        }
    }
    groups.values_mut().for_each(|names| names.sort());
    Ok(groups)
}
