//! What actions of other sessions changed that came after the one to take back: that is their work, whenever somebody looked.
//!
//! Such an action had its own places saved right before it. Where one of them holds something else by now, it was changed by that action or
//! after it. Whether the first action was over by then tells nothing: who looked at what it left may have found what the other one wrote.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Prepared, Since};
use crate::diff::NodeLookup;
use crate::error::SnapshotError;
use crate::footprint::identity;
use crate::id::SnapshotId;
use crate::node::{Node, Root, SavedPart, SavedPath};
use crate::store::{Reader, Store};

/// An action of another session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherAction {
    /// The snapshot that was taken for it.
    pub snapshot: SnapshotId,
    /// When it began.
    pub began: OtherBegan,
}

/// When an action of another session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherBegan {
    /// When the one that is taken back had ended.
    Afterwards,
    /// While that ran, or nobody told when it ended.
    Meanwhile,
}

/// What another session did, in words: its call.
pub(super) type Others = BTreeMap<SavedPath, String>;

impl Prepared {
    /// Takes it that an action of another session changed since what it was about, where something else stands there than right before it.
    /// `actions` are those of one store, oldest first.
    pub fn note_others(&mut self, store: &Store, actions: &[OtherAction]) -> Result<(), SnapshotError> {
        let reader = store.reader()?;
        let lookup = NodeLookup::new(&reader);
        for action in actions {
            let snapshot = store.snapshot(action.snapshot)?.snapshot;
            let places: Vec<&Root> =
                snapshot.roots.iter().filter(|root| root.selection != SavedPart::NotIgnored).collect();
            let mut changed = Vec::new();
            for step in &self.steps {
                // Of the data of a repository all of it is saved with any change, so its own logs tell more.
                if action.began == OtherBegan::Meanwhile && is_in_repository(step.path.as_path()) {
                    continue;
                }
                let around =
                    places.iter().filter(|root| step.path.as_path().starts_with(root.path.as_path()));
                let Some(root) = around.max_by_key(|root| root.path.as_path().as_os_str().len()) else {
                    continue;
                };
                let is_itself = root.path == step.path;
                if root.selection == SavedPart::Itself && !is_itself {
                    continue;
                }
                let before = lookup.node_at(root, &step.path)?;
                if self.is_other(&reader, step.path.as_path(), before.as_ref(), step.now.as_ref()) {
                    changed.push(step.path.clone());
                }
            }
            for path in changed {
                self.others.insert(path, snapshot.reason.clone());
            }
        }
        for step in self.steps.iter_mut().filter(|step| self.others.contains_key(&step.path)) {
            step.since = Since::Changed;
        }
        Ok(())
    }

    /// The call of another session that changed since what stands at a path, in words.
    pub fn changed_by_other(&self, path: &SavedPath) -> Option<&str> {
        self.others.get(path).map(String::as_str)
    }

    /// Whether two nodes of different times are not the same, whenever their content was written.
    fn is_other(&self, reader: &Reader, path: &Path, before: Option<&Node>, now: Option<&Node>) -> bool {
        match (before, now) {
            (None, None) => false,
            (
                Some(Node::File { meta, content, .. }),
                Some(Node::File { meta: now_meta, content: now_content, .. }),
            ) => {
                let is_same_content = || {
                    let mut bytes = Vec::new();
                    let whole = reader.content(content, |part| {
                        bytes.extend_from_slice(part);
                        Ok(())
                    });
                    let now = self.draft.content(now_content);
                    whole.is_ok() && now.is_ok_and(|now| identity(path, &now) == identity(path, &bytes))
                };
                meta.mode != now_meta.mode || content != now_content && !is_same_content()
            }
            (Some(Node::Symlink { target, .. }), Some(Node::Symlink { target: now, .. })) => target != now,
            (Some(Node::Directory { meta, .. }), Some(Node::Directory { meta: now, .. }))
            | (Some(Node::Pipe { meta }), Some(Node::Pipe { meta: now })) => meta.mode != now.mode,
            (
                None
                | Some(Node::File { .. } | Node::Symlink { .. } | Node::Directory { .. } | Node::Pipe { .. }),
                _,
            ) => true,
        }
    }
}

fn is_in_repository(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".git")
}
