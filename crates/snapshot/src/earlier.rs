//! The workspace at a moment that is past: what has not changed since stands there still, and the rest an earlier snapshot holds.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::capture::{
    CaptureOptions, CaptureOutcome, CaptureRequest, CaptureSelection, Captured, capture_small_first,
};
use crate::draft::{Effort, SnapshotDraft};
use crate::error::SnapshotError;
use crate::id::{ObjectId, SnapshotId};
use crate::lookup::stat;
use crate::metadata;
use crate::node::{DirectoryTree, FileTime, Meta, Node, Root, SavedPart, SavedPath, Snapshot, TreeEntry};
use crate::second_names::NamingTimes;
use crate::store::{Reader, Store};

/// How deep directories are compared (ours). What lies deeper is taken as it stands.
const DEPTH: usize = 128;

/// The workspace at a moment that is past.
#[derive(Debug)]
pub struct EarlierWorkspace {
    store: Store,
    /// What reads it, until it is committed.
    draft: RefCell<Option<(SnapshotDraft, Captured)>>,
    /// The same from then on.
    reader: RefCell<Option<Reader>>,
    root: PathBuf,
    whole: Node,
}

impl Store {
    /// Finds out how the workspace stood at `moment`, from the present and from `bases`, earlier snapshots of the whole of it, newest first. A
    /// file whose status changed at or after the moment is that of the first base in which it is another one than now; what is gone is what the
    /// newest one holds. Returns `None` where no base is of the whole workspace, or the present is too much for the bounds.
    pub fn earlier_workspace(
        &self,
        bases: &[SnapshotId],
        moment: FileTime,
        manner: &CaptureOptions<'_>,
    ) -> Result<Option<EarlierWorkspace>, SnapshotError> {
        let mut earlier = Vec::new();
        for base in bases {
            if let Some(Node::Directory { tree: Some(tree), .. }) = self.whole(*base)? {
                earlier.push(Some(tree));
            }
        }
        if earlier.is_empty() {
            return Ok(None);
        }
        let draft = self.begin(Effort::Small)?;
        let seen = self.seen();
        let manner = CaptureOptions { seen: seen.as_ref(), ..*manner };
        let root = PathBuf::from(self.workspace());
        let wanted = CaptureRequest { path: root.clone(), selection: CaptureSelection::NotIgnored };
        let captured = match capture_small_first(&draft, &[wanted], &manner)? {
            CaptureOutcome::Whole(captured) => captured,
            CaptureOutcome::Over(_) => return Ok(None),
        };
        let node =
            captured.roots.iter().find(|one| one.path.as_path() == root).and_then(|one| one.node.clone());
        let Some(Node::Directory { meta, tree: Some(now) }) = node else { return Ok(None) };
        let past = Past { draft: &draft, moment, looked: &captured.changed, naming: self.naming_times() };
        let tree = past.tree(&root, &earlier, &now, 0)?;
        let whole = Node::Directory { meta, tree: Some(draft.put_tree(&tree)?) };
        let store = self.clone();
        let draft = RefCell::new(Some((draft, captured)));
        Ok(Some(EarlierWorkspace { store, draft, reader: RefCell::default(), root, whole }))
    }

    /// What a snapshot holds of the whole workspace.
    fn whole(&self, id: SnapshotId) -> Result<Option<Node>, SnapshotError> {
        let roots = self.snapshot(id)?.snapshot.roots;
        let whole = roots.into_iter().find(|root: &Root| root.path.as_path() == self.workspace());
        Ok(whole.and_then(|root| root.node))
    }
}

impl EarlierWorkspace {
    /// What stood at a path below the root; `None` when nothing did, or it is not saved.
    pub fn node(&self, below: &Path) -> Option<Node> {
        self.way(below, |_, _| ()).ok()?
    }

    /// The names in a directory; `None` when it was none, or not saved with what was in it.
    pub fn names(&self, below: &Path) -> Option<Vec<Vec<u8>>> {
        let Some(Node::Directory { tree: Some(tree), .. }) = self.node(below) else { return None };
        Some(self.tree(&tree).ok()?.0.into_iter().map(|entry| entry.name).collect())
    }

    /// What a file of at most so many bytes held.
    pub fn content(&self, node: &Node, most: usize) -> Option<Vec<u8>> {
        let Node::File { length, content, .. } = node else { return None };
        if *length > most as u64 {
            return None;
        }
        if let Some((draft, _)) = &*self.draft.borrow() {
            return draft.content(content).ok();
        }
        let mut whole = Vec::new();
        let take = |part: &[u8]| {
            whole.extend_from_slice(part);
            Ok(())
        };
        self.reader.borrow().as_ref()?.content(content, take).ok()?;
        Some(whole)
    }

    fn tree(&self, id: &ObjectId) -> Result<DirectoryTree, SnapshotError> {
        if let Some((draft, _)) = &*self.draft.borrow() {
            return draft.tree(id);
        }
        self.reader.borrow().as_ref().map_or_else(|| Ok(DirectoryTree::default()), |reader| reader.tree(id))
    }

    /// Makes a snapshot of what stood at `places` in the workspace, or of all of it where there are none; once, `None` after that.
    pub fn commit(
        &self,
        places: &[PathBuf],
        describe: impl FnOnce(Captured) -> Snapshot,
    ) -> Result<Option<SnapshotId>, SnapshotError> {
        let mut roots = Vec::new();
        let mut above = BTreeMap::new();
        for place in places {
            let Ok(below) = place.strip_prefix(&self.root) else { continue };
            let node = self.way(below, |path, meta| {
                above.insert(SavedPath::from(path), meta.clone());
            })?;
            let path = SavedPath::from(place.as_path());
            roots.push(Root { path, selection: SavedPart::Everything, node });
        }
        roots.sort_by(|one, other| one.path.cmp(&other.path));
        roots.dedup_by(|later, earlier| later.path == earlier.path);
        let Some((draft, mut captured)) = self.draft.take() else { return Ok(None) };
        if places.is_empty() {
            let is_whole = |one: &&mut Root| one.path.as_path() == self.root;
            captured.roots.iter_mut().filter(is_whole).for_each(|one| one.node = Some(self.whole.clone()));
        } else {
            captured.entries = roots.iter().filter(|root| root.node.is_some()).count() as u64;
            captured.bytes = roots.iter().filter_map(|root| root.node.as_ref()).map(Node::length).sum();
            captured.roots = roots;
            captured.above.extend(above);
            captured.skipped.clear();
        }
        let id = draft.commit(&describe(captured))?;
        self.reader.replace(Some(self.store.reader()?));
        Ok(Some(id))
    }

    /// What stood below the root, with a look at each directory on the way.
    fn way(&self, below: &Path, mut look: impl FnMut(&Path, &Meta)) -> Result<Option<Node>, SnapshotError> {
        let (mut at, mut node) = (self.root.clone(), self.whole.clone());
        for name in below {
            let Node::Directory { meta, tree: Some(tree) } = &node else { return Ok(None) };
            look(&at, meta);
            let mut entries = self.tree(tree)?.0.into_iter();
            let Some(next) = entries.find(|entry| entry.name == name.as_bytes()) else { return Ok(None) };
            (at, node) = (at.join(name), next.node);
        }
        Ok(Some(node))
    }
}

/// The present and earlier snapshots, put together.
struct Past<'a> {
    draft: &'a SnapshotDraft,
    moment: FileTime,
    /// Times of status change that looking changed.
    looked: &'a BTreeMap<SavedPath, FileTime>,
    naming: NamingTimes,
}

impl Past<'_> {
    /// The entries of a directory at the moment; `earlier` are those of the bases, `None` where one held none.
    fn tree(
        &self,
        at: &Path,
        earlier: &[Option<ObjectId>],
        now: &ObjectId,
        depth: usize,
    ) -> Result<DirectoryTree, SnapshotError> {
        let present = self.draft.tree(now)?;
        if depth >= DEPTH || earlier.iter().all(|id| id.as_ref() == Some(now)) {
            return Ok(present);
        }
        let mut before: Vec<BTreeMap<Vec<u8>, Node>> = Vec::new();
        for id in earlier {
            let tree = id.as_ref().map(|id| self.draft.tree(id)).transpose()?.unwrap_or_default();
            before.push(tree.0.into_iter().map(|entry| (entry.name, entry.node)).collect());
        }
        let mut found = BTreeMap::new();
        for TreeEntry { name, node } in present.0 {
            let known: Vec<Option<Node>> = before.iter_mut().map(|tree| tree.remove(&name)).collect();
            if let Some(node) = self.node(&at.join(OsStr::from_bytes(&name)), known, node, depth)? {
                found.insert(name, node);
            }
        }
        // What is gone. Of what the newest base does not hold an earlier call may have been the end.
        found.extend(before.into_iter().next().unwrap_or_default());
        Ok(DirectoryTree(found.into_iter().map(|(name, node)| TreeEntry { name, node }).collect()))
    }

    /// What stood at a path, where `before` and `now` say what is known of it.
    fn node(
        &self,
        path: &Path,
        before: Vec<Option<Node>>,
        now: Node,
        depth: usize,
    ) -> Result<Option<Node>, SnapshotError> {
        if before.iter().all(|node| node.as_ref() == Some(&now)) {
            return Ok(Some(now));
        }
        let is_changed = self.is_changed(path);
        let Node::Directory { meta, tree: Some(present) } = &now else {
            let other =
                before.into_iter().find(|node| !node.as_ref().is_some_and(|node| is_same(node, &now)));
            return Ok(if is_changed { other.unwrap_or(Some(now)) } else { Some(now) });
        };
        let newest = before.first().cloned().flatten();
        // Something else stood there, and a directory was made in its place.
        if is_changed && newest.as_ref().is_some_and(|node| !matches!(node, Node::Directory { .. })) {
            return Ok(newest);
        }
        let tree_of = |node: &Option<Node>| match node {
            Some(Node::Directory { tree, .. }) => *tree,
            Some(Node::File { .. } | Node::Symlink { .. } | Node::Pipe { .. }) | None => None,
        };
        let trees: Vec<Option<ObjectId>> = before.iter().map(tree_of).collect();
        let tree = self.tree(path, &trees, present, depth + 1)?;
        if before.iter().any(Option::is_none) && is_changed && tree.0.is_empty() {
            return Ok(None);
        }
        let meta = newest.as_ref().filter(|_| is_changed).map_or(meta, Node::meta).clone();
        Ok(Some(Node::Directory { meta, tree: Some(self.draft.put_tree(&tree)?) }))
    }

    fn is_changed(&self, path: &Path) -> bool {
        let Ok(facts) = stat(path) else { return true };
        let changed = self
            .looked
            .get(&SavedPath::from(path))
            .copied()
            .or_else(|| self.naming.before(&facts))
            .unwrap_or_else(|| metadata::changed(&facts));
        changed >= self.moment
    }
}

/// Whether two files are the same but for their times.
fn is_same(one: &Node, other: &Node) -> bool {
    match (one, other) {
        (Node::File { meta: one, content: left, .. }, Node::File { meta: other, content: right, .. }) => {
            left == right && one.mode == other.mode
        }
        (Node::Symlink { target: left, .. }, Node::Symlink { target: right, .. }) => left == right,
        (Node::Pipe { .. }, Node::Pipe { .. }) => true,
        (Node::File { .. } | Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. }, _) => false,
    }
}
