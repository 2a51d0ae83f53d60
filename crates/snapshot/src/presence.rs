//! What a snapshot holds at a path, and whether that is what stands there now.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::error::SnapshotError;
use crate::id::SnapshotId;
use crate::node::Node;
use crate::store::{Listed, Reader, Store};
use crate::{lookup, metadata};

impl Store {
    /// Whether a snapshot holds everything that stands at a path now, as lengths and times tell. At most `most` names are looked at: more
    /// than that is not known to be held.
    pub fn holds_present(&self, id: SnapshotId, path: &Path, most: u64) -> Result<bool, SnapshotError> {
        let listed = self.snapshot(id)?;
        let reader = self.reader()?;
        let Some(node) = node_at(&reader, &listed, path)? else { return Ok(false) };
        let mut waiting = vec![(path.to_owned(), node)];
        let mut left = most;
        while let Some((path, node)) = waiting.pop() {
            let Some(rest) = left.checked_sub(1) else { return Ok(false) };
            left = rest;
            if !is_present(&path, &node) {
                return Ok(false);
            }
            let Node::Directory { tree, .. } = node else { continue };
            let (Some(tree), Ok(names)) = (tree, fs::read_dir(&path)) else { return Ok(false) };
            let mut held: BTreeMap<Vec<u8>, Node> =
                reader.tree(&tree)?.0.into_iter().map(|entry| (entry.name, entry.node)).collect();
            for name in names {
                let Some(node) = name.as_ref().ok().and_then(|one| held.remove(one.file_name().as_bytes()))
                else {
                    return Ok(false);
                };
                waiting.extend(name.ok().map(|one| (one.path(), node)));
            }
        }
        Ok(true)
    }

    /// Whether a snapshot holds something at a path.
    pub fn holds_path(&self, listed: &Listed, path: &Path) -> Result<bool, SnapshotError> {
        Ok(node_at(&self.reader()?, listed, path)?.is_some())
    }
}

/// What a snapshot holds at a path; `None` when nothing.
fn node_at(reader: &Reader, listed: &Listed, path: &Path) -> Result<Option<Node>, SnapshotError> {
    let roots = listed.snapshot.roots.iter().filter(|root| path.starts_with(root.path.as_path()));
    let Some(root) = roots.max_by_key(|root| root.path.as_path().as_os_str().len()) else { return Ok(None) };
    let below: PathBuf = path.strip_prefix(root.path.as_path()).map(Path::to_owned).unwrap_or_default();
    let mut node = root.node.clone();
    for part in below.components() {
        let Some(Node::Directory { tree: Some(tree), .. }) = node else { return Ok(None) };
        let name = part.as_os_str().as_bytes();
        node = reader.tree(&tree)?.0.into_iter().find(|entry| entry.name == name).map(|entry| entry.node);
    }
    Ok(node)
}

/// Whether a path is what a node says, beside what is in a directory.
fn is_present(path: &Path, node: &Node) -> bool {
    let Ok(facts) = lookup::stat(path) else { return false };
    match (node, metadata::kind(&facts)) {
        (Node::File { length, meta, .. }, FileType::RegularFile) => {
            *length == metadata::length(&facts) && meta.modified == metadata::modified(&facts)
        }
        (Node::Symlink { meta, .. }, FileType::Symlink) => meta.modified == metadata::modified(&facts),
        (Node::Directory { .. }, FileType::Directory) | (Node::Pipe { .. }, FileType::Fifo) => true,
        (Node::File { .. } | Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. }, _) => false,
    }
}
