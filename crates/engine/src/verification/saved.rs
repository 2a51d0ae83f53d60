//! What stood in the workspace right before a call, from the snapshot that was taken then.

use std::path::Path;

use checkrein_protocol::AbsolutePath;
use checkrein_snapshot::{Node as SavedNode, ObjectId, Reader, SnapshotId};
use checkrein_world::changes::PathKind;

use crate::checkpoint;
use crate::context::Context;

/// What stood in the workspace right before a call, where that was saved.
pub(super) struct Saved {
    reader: Reader,
    root: ObjectId,
}

impl Saved {
    /// What a snapshot holds of the workspace; `None` when it is one of single places.
    pub(super) fn of(context: &Context, id: SnapshotId, workspace: &AbsolutePath) -> Option<Self> {
        let store = checkpoint::store(context.environment(), context.workspace());
        let roots = store.snapshot(id).ok()?.snapshot.roots;
        let whole = roots.into_iter().find(|root| root.path.as_path() == Path::new(workspace.as_str()))?;
        let Some(SavedNode::Directory { tree: Some(root), .. }) = whole.node else { return None };
        Some(Self { reader: store.reader().ok()?, root })
    }

    /// The names in a directory; `None` when it was not saved with what is in it.
    pub(super) fn names(&self, relative: &str) -> Option<Vec<(String, PathKind)>> {
        let mut tree = self.reader.tree(&self.root).ok()?;
        for part in relative.split('/').filter(|part| !part.is_empty()) {
            let below = tree.0.into_iter().find(|entry| entry.name == part.as_bytes())?;
            let SavedNode::Directory { tree: Some(id), .. } = below.node else { return None };
            tree = self.reader.tree(&id).ok()?;
        }
        let node = |node: &SavedNode| match node {
            SavedNode::Directory { .. } => PathKind::Directory,
            SavedNode::File { .. } | SavedNode::Symlink { .. } | SavedNode::Pipe { .. } => PathKind::File,
        };
        let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Some(tree.0.iter().map(|entry| (name(&entry.name), node(&entry.node))).collect())
    }
}
