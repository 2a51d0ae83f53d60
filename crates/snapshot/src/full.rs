//! Snapshots of a whole workspace, in which only what changed is read.

use std::path::PathBuf;

use crate::capture::{Captured, Choice, Ended, Manner, Over, Wanted, capture};
use crate::error::SnapshotError;
use crate::id::SnapshotId;
use crate::node::Snapshot;
use crate::seen::Seen;
use crate::store::Store;

/// How a snapshot of a workspace ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It is there.
    Whole(SnapshotId),
    /// Nothing changed since this one, so there is no new one.
    Same(SnapshotId),
    /// A bound was reached; there is none.
    Over(Over),
}

impl Store {
    /// Takes a snapshot of the workspace, without what version control ignores. What an earlier one saw is not read again.
    /// `describe` makes the snapshot of what was captured.
    pub fn take_workspace(
        &self,
        manner: &Manner<'_>,
        describe: impl FnOnce(Captured) -> Snapshot,
    ) -> Result<Taken, SnapshotError> {
        let draft = self.begin()?;
        let known = Seen::read(&self.seen_path()).filter(|(id, _)| self.snapshot(*id).is_ok());
        let (earlier, seen) = known.unzip();
        let manner = Manner { seen: seen.as_ref(), ..*manner };
        let wanted = [Wanted { path: PathBuf::from(self.workspace()), selection: Choice::NotIgnored }];
        let mut captured = match capture(&draft, &wanted, &manner)? {
            Ended::Whole(captured) => captured,
            Ended::Over(over) => return Ok(Taken::Over(over)),
        };
        let sights = std::mem::take(&mut captured.seen);
        if let Some(earlier) = earlier
            && self.snapshot(earlier)?.snapshot.roots == captured.roots
        {
            drop(draft);
            sights.write(&self.seen_path(), earlier)?;
            return Ok(Taken::Same(earlier));
        }
        let id = draft.commit(&describe(captured))?;
        // Without it the next snapshot takes longer, nothing else.
        sights.write(&self.seen_path(), id)?;
        Ok(Taken::Whole(id))
    }

    fn seen_path(&self) -> PathBuf {
        self.directory().join("seen")
    }
}
