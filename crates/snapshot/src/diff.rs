//! What differs between two times.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};

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

/// How many entries of directories a lookup keeps at most (ours): some megabytes.
const KEPT: usize = 100_000;

/// Looks nodes up below roots. A directory is read once for all names that are looked up in it, so that many names in one cost no more
/// than few.
#[derive(Debug)]
pub(crate) struct NodeLookup<'a, T> {
    trees: &'a T,
    read: RefCell<HashMap<ObjectId, HashMap<Vec<u8>, Node>>>,
    entries: Cell<usize>,
}

impl<'a, T: Trees> NodeLookup<'a, T> {
    pub(crate) fn new(trees: &'a T) -> Self {
        Self { trees, read: RefCell::default(), entries: Cell::new(0) }
    }

    /// The node at a path below a root; `None` when nothing stood there.
    pub(crate) fn node_at(&self, root: &Root, path: &SavedPath) -> Result<Option<Node>, SnapshotError> {
        let Ok(below) = path.as_path().strip_prefix(root.path.as_path()) else { return Ok(None) };
        let mut node = root.node.clone();
        for part in below.components() {
            let Some(tree) = tree_of(node.as_ref()) else { return Ok(None) };
            node = self.entry(tree, part.as_os_str().as_encoded_bytes())?;
        }
        Ok(node)
    }

    fn entry(&self, tree: ObjectId, name: &[u8]) -> Result<Option<Node>, SnapshotError> {
        if let Some(known) = self.read.borrow().get(&tree) {
            return Ok(known.get(name).cloned());
        }
        let entries: HashMap<Vec<u8>, Node> =
            self.trees.entries(&tree)?.0.into_iter().map(|entry| (entry.name, entry.node)).collect();
        let found = entries.get(name).cloned();
        let mut read = self.read.borrow_mut();
        if self.entries.get().saturating_add(entries.len()) > KEPT {
            read.clear();
            self.entries.set(0);
        }
        self.entries.set(self.entries.get().saturating_add(entries.len()));
        read.insert(tree, entries);
        Ok(found)
    }
}

/// The node at a path below a root; `None` when nothing stood there. For many paths see [`NodeLookup`].
pub(crate) fn node_at(
    trees: &impl Trees,
    root: &Root,
    path: &SavedPath,
) -> Result<Option<Node>, SnapshotError> {
    NodeLookup::new(trees).node_at(root, path)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{FileTime, SavedPart, TreeEntry};

    /// Trees that count how often they are read.
    struct Counted(DirectoryTree, Cell<usize>);

    impl Trees for Counted {
        fn entries(&self, _: &ObjectId) -> Result<DirectoryTree, SnapshotError> {
            self.1.set(self.1.get() + 1);
            Ok(self.0.clone())
        }
    }

    #[test]
    fn a_directory_is_read_once_for_all_names_in_it() {
        let meta = Meta {
            mode: 0o755,
            owner: 0,
            group: 0,
            modified: FileTime { seconds: 0, nanoseconds: 0 },
            attributes: Vec::new(),
        };
        let pipe = Node::Pipe { meta: meta.clone() };
        let name = |number: usize| format!("f{number}").into_bytes();
        let entries = (0..100).map(|number| TreeEntry { name: name(number), node: pipe.clone() }).collect();
        let trees = Counted(DirectoryTree(entries), Cell::new(0));
        let node = Node::Directory { meta, tree: Some(ObjectId::of(b"tree")) };
        let path = |text: &str| SavedPath::from_bytes(text.as_bytes().to_vec());
        let root = Root { path: path("/p"), selection: SavedPart::Everything, node: Some(node) };
        let lookup = NodeLookup::new(&trees);
        for number in 0..100 {
            let found = lookup.node_at(&root, &path(&format!("/p/f{number}"))).unwrap();
            assert_eq!(found, Some(pipe.clone()), "{number}");
        }
        assert_eq!(lookup.node_at(&root, &path("/p/none")).unwrap(), None);
        assert_eq!(lookup.node_at(&root, &path("/q/f1")).unwrap(), None);
        assert_eq!(trees.1.get(), 1);
    }
}
