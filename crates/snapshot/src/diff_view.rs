//! Looking at snapshots without going back to them: what differs, and copies elsewhere.

use std::path::Path;

use crate::capture::{CaptureOptions, CaptureOutcome, CaptureRequest, capture};
use crate::diff::{Difference, differences};
use crate::draft::{Effort, SnapshotDraft};
use crate::error::SnapshotError;
use crate::id::SnapshotId;
use crate::node::{Content, Node, Root, SavedPath};
use crate::restore::{Copied, copy};
use crate::store::Store;

/// What differs between two times, with everything at hand to look closer.
#[derive(Debug)]
pub struct Compared {
    /// What differs, a directory before what is in it.
    pub differences: Vec<Difference>,
    /// Holds what is there now; given up with this value.
    draft: SnapshotDraft,
}

impl Compared {
    /// The content of a file as text; what is no text in it is replaced.
    pub fn text(&self, content: &Content) -> Result<String, SnapshotError> {
        Ok(String::from_utf8_lossy(&self.draft.content(content)?).into_owned())
    }
}

impl Store {
    /// What differs between a snapshot and another, or what is there now.
    pub fn compare(
        &self,
        from: SnapshotId,
        to: Option<SnapshotId>,
        manner: &CaptureOptions<'_>,
    ) -> Result<Compared, SnapshotError> {
        let draft = self.begin(Effort::Small)?;
        let then = self.snapshot(from)?.snapshot.roots;
        let now = match to {
            Some(to) => self.snapshot(to)?.snapshot.roots,
            None => present(&draft, &then, manner)?,
        };
        let differences = differences(&draft, &then, &now)?.all;
        Ok(Compared { differences, draft })
    }

    /// Copies a snapshot into a new directory, each place below it under its own path.
    pub fn export(&self, id: SnapshotId, directory: &Path) -> Result<Copied, SnapshotError> {
        let listed = self.snapshot(id)?;
        let reader = self.reader()?;
        std::fs::create_dir(directory).map_err(SnapshotError::write(directory))?;
        let directory = directory.canonicalize().map_err(SnapshotError::read(directory))?;
        let mut copied = Copied::default();
        for root in listed.snapshot.roots {
            let below = root.path.as_path().strip_prefix("/").unwrap_or(root.path.as_path());
            let target = directory.join(below);
            if let (Some(node), Some(parent)) = (&root.node, target.parent()) {
                std::fs::create_dir_all(parent).map_err(SnapshotError::write(parent))?;
                copy(&reader, &SavedPath::from(target.as_path()), node, &mut copied)?;
            }
        }
        Ok(copied)
    }
}

fn present(
    draft: &SnapshotDraft,
    then: &[Root],
    manner: &CaptureOptions<'_>,
) -> Result<Vec<Root>, SnapshotError> {
    let wanted: Vec<CaptureRequest> = then
        .iter()
        .map(|root| CaptureRequest { path: root.path.as_path().to_owned(), selection: root.selection.into() })
        .collect();
    match capture(draft, &wanted, manner)? {
        CaptureOutcome::Whole(captured) => Ok(captured.roots),
        CaptureOutcome::Over(_) => Err(SnapshotError::Torn {
            path: draft.store().directory().to_owned(),
            cause: "what is there now is too large to be compared",
        }),
    }
}

impl Node {
    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        matches!(self, Self::Directory { .. })
    }
}
