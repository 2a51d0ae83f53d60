//! Files that wait for smaller ones.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::atomic::Ordering;

use rustix::fs::FileType;

use super::super::{LimitExceeded, unreadable};
use super::bounds::Stop;
use super::{Order, Pending, Walk};
use crate::error::SnapshotError;
use crate::metadata;
use crate::node::{Node, SkipReason};
use crate::system::Stat;

/// A file that is longer than this waits for the smaller ones, in bytes (ours).
const LONG: u64 = 64 * 1024;

/// A file that waits for smaller ones.
pub(super) struct Later {
    pub(super) bytes: u64,
    pub(super) path: Vec<u8>,
    /// The record of its directory, and its place there.
    pub(super) record: usize,
    pub(super) position: usize,
}

impl Walk<'_> {
    /// Whether a file is read after the others.
    pub(super) fn waits(&self, stat: &Stat) -> bool {
        self.order == Order::SmallFirst
            && metadata::kind(stat) == FileType::RegularFile
            && metadata::stored(stat) > LONG
            && self.manner.largest.is_none_or(|largest| metadata::stored(stat) <= largest)
    }

    /// Reads the files that waited for smaller ones, the smallest first, until a bound is reached.
    pub(super) fn long_files(&self) -> Result<(), SnapshotError> {
        let mut later = std::mem::take(&mut self.state().later);
        later.sort_by(|one, other| (one.bytes, &one.path).cmp(&(other.bytes, &other.path)));
        for Later { bytes, path, record, position } in later {
            let counted = self.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
            let node = if counted > self.manner.bounds.bytes {
                Err(Stop::Over(LimitExceeded::Bytes))
            } else {
                self.long_file(&path)
            };
            let pending = match node {
                Ok(node) => node.map_or(Pending::Skipped, Pending::Known),
                Err(Stop::Over(_)) => {
                    self.bytes.fetch_sub(bytes, Ordering::Relaxed);
                    self.skip(&path, SkipReason::NoRoom { bytes });
                    Pending::Skipped
                }
                Err(Stop::Failed(error)) => return Err(error),
            };
            let mut state = self.state();
            let entries =
                state.records.get_mut(record).and_then(Option::as_mut).map(|record| &mut record.entries);
            if let Some((.., place)) = entries.and_then(|entries| entries.get_mut(position)) {
                *place = pending;
            }
        }
        Ok(())
    }

    fn long_file(&self, path: &[u8]) -> Result<Option<Node>, Stop> {
        let place = Path::new(std::ffi::OsStr::from_bytes(path));
        let (Some(parent), Some(name)) = (place.parent(), place.file_name()) else { return Ok(None) };
        let Ok(name) = CString::new(name.as_bytes()) else { return Ok(None) };
        match metadata::open_place(parent) {
            Ok(parent) => self.file(&parent, &name, path),
            Err(error) => {
                self.skip(path, unreadable(error));
                Ok(None)
            }
        }
    }
}
