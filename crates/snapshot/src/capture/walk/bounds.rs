//! What a capture may cost, and what ends it.

use std::sync::atomic::Ordering;

use rustix::fs::FileType;

use super::super::{CaptureBounds, LimitExceeded};
use super::Walk;
use crate::error::SnapshotError;
use crate::metadata;
use crate::system::Stat;

/// Why no more is read.
pub(super) enum Stop {
    Over(LimitExceeded),
    Failed(SnapshotError),
}

impl From<SnapshotError> for Stop {
    fn from(error: SnapshotError) -> Self {
        Self::Failed(error)
    }
}

impl Walk<'_> {
    /// Counts an entry against the bounds, with its content.
    pub(super) fn count(&self, stat: &Stat) -> Result<(), Stop> {
        self.count_entry()?;
        let bounds = &self.manner.bounds;
        let is_file = metadata::kind(stat) == FileType::RegularFile;
        let length = metadata::stored(stat);
        if is_file && self.manner.largest.is_none_or(|largest| length <= largest) {
            let bytes = self.bytes.fetch_add(length, Ordering::Relaxed).saturating_add(length);
            if bytes > bounds.bytes {
                return Err(Stop::Over(LimitExceeded::Bytes));
            }
        }
        Ok(())
    }

    pub(super) fn count_entry(&self) -> Result<(), Stop> {
        let entries = self.entries.fetch_add(1, Ordering::Relaxed) + 1;
        if entries > self.manner.bounds.entries {
            return Err(Stop::Over(LimitExceeded::Entries));
        }
        if entries.is_multiple_of(64) {
            self.in_time()?;
        }
        Ok(())
    }

    pub(super) fn in_time(&self) -> Result<bool, Stop> {
        let little = CaptureBounds::LITTLE;
        let is_little = self.entries.load(Ordering::Relaxed) <= little.entries
            && self.bytes.load(Ordering::Relaxed) <= little.bytes;
        if !is_little && self.started.elapsed() > self.manner.bounds.time {
            Err(Stop::Over(LimitExceeded::Time))
        } else {
            Ok(true)
        }
    }
}
