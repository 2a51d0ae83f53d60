//! Snapshots of a whole workspace, in which only what changed is read.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::capture::{
    CaptureOptions, CaptureOutcome, CaptureRequest, CaptureSelection, Captured, LimitExceeded,
    capture_small_first,
};
use crate::draft::Effort;
use crate::error::SnapshotError;
use crate::id::SnapshotId;
use crate::index::replace;
use crate::node::Snapshot;
use crate::stat_cache::Seen;
use crate::store::Store;

/// How a snapshot of a workspace ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceCapture {
    /// It is there.
    Whole(SnapshotId),
    /// Nothing changed since this one, so there is no new one.
    Same(SnapshotId),
    /// A bound was reached; there is none.
    Over(LimitExceeded),
}

/// What the next look at a workspace will be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlook {
    /// Only what changed has to be read.
    Quick,
    /// The same, but there is so much to look at that it takes its time.
    Slow,
    /// It was too large for the bounds.
    TooLarge,
}

/// What is done when nothing changed since the last snapshot of the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unchanged {
    /// It counts again.
    Reuse,
    /// Another one of the same is made, so that this moment has its own.
    Repeat,
}

/// How much is rather read again than remembered, in bytes (ours).
const LITTLE: u64 = 1024 * 1024;

/// How long the list of what was seen is when looking at all of it again takes more than some hundredths of a second, in bytes (ours): that of
/// some 17,000 files.
const MUCH: u64 = 512 * 1024;

impl Store {
    /// Takes a snapshot of the workspace, without what version control ignores. What an earlier one saw is not read again.
    /// `beside` is saved with it, whatever is ignored; `describe` makes the snapshot of what was captured.
    pub fn take_workspace(
        &self,
        beside: &[CaptureRequest],
        manner: &CaptureOptions<'_>,
        unchanged: Unchanged,
        describe: impl FnOnce(Captured) -> Snapshot,
    ) -> Result<WorkspaceCapture, SnapshotError> {
        let draft = self.begin(Effort::Small)?;
        let (earlier, seen) = self.known().unzip();
        let manner = CaptureOptions { seen: seen.as_ref(), ..*manner };
        let mut wanted = beside.to_vec();
        wanted.push(CaptureRequest {
            path: PathBuf::from(self.workspace()),
            selection: CaptureSelection::NotIgnored,
        });
        let mut captured = match capture_small_first(&draft, &wanted, &manner)? {
            CaptureOutcome::Whole(captured) => captured,
            CaptureOutcome::Over(over) => {
                replace(&self.over_path(), b"")?;
                return Ok(WorkspaceCapture::Over(over));
            }
        };
        let sights = std::mem::take(&mut captured.seen);
        let read = captured.read;
        if unchanged == Unchanged::Reuse
            && let Some(earlier) = earlier
            && self.snapshot(earlier)?.snapshot.roots == captured.roots
        {
            drop(draft);
            self.keep_seen(&sights, earlier, read)?;
            return Ok(WorkspaceCapture::Same(earlier));
        }
        let id = draft.commit(&describe(captured))?;
        self.keep_seen(&sights, id, read)?;
        Ok(WorkspaceCapture::Whole(id))
    }

    /// Keeps what was seen, for the next time. While little is new, what was kept before is as good: that little is read again.
    fn keep_seen(&self, seen: &Seen, id: SnapshotId, read: u64) -> Result<(), SnapshotError> {
        let path = self.seen_path();
        let is_kept = seen.is_mostly_old()
            && read <= LITTLE
            && fs::File::options()
                .write(true)
                .open(&path)
                .and_then(|file| file.set_modified(SystemTime::now()))
                .is_ok();
        if is_kept { Ok(()) } else { seen.write(&path, id, self.seals()) }
    }

    /// What the last snapshot of the workspace saw, when all of that is still there.
    pub fn seen(&self) -> Option<Seen> {
        self.known().map(|(_, seen)| seen)
    }

    fn known(&self) -> Option<(SnapshotId, Seen)> {
        Seen::read(&self.seen_path(), self.seals()).filter(|(id, _)| self.has_pack(*id))
    }

    /// When the workspace was last looked at as a whole, and what came of it; `None` when it never was.
    pub fn last_look(&self) -> Option<(SystemTime, Outlook)> {
        let at = |path: PathBuf| {
            let facts = fs::metadata(path).ok()?;
            Some((facts.modified().ok()?, facts.len()))
        };
        let outlook = |bytes| if bytes > MUCH { Outlook::Slow } else { Outlook::Quick };
        let seen = at(self.seen_path()).map(|(at, bytes)| (at, outlook(bytes)));
        let over = at(self.over_path()).map(|(at, _)| (at, Outlook::TooLarge));
        match (seen, over) {
            (Some(seen), Some(over)) => Some(if over.0 > seen.0 { over } else { seen }),
            (seen, over) => seen.or(over),
        }
    }

    fn over_path(&self) -> PathBuf {
        self.directory().join("over")
    }

    fn seen_path(&self) -> PathBuf {
        self.directory().join("seen")
    }
}
