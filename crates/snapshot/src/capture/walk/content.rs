//! What is in a file: read in parts, holes left out.

use std::ffi::{CStr, CString};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use rustix::fd::OwnedFd;
use rustix::fs::{FileType, SeekFrom};
use rustix::io::Errno;

use super::super::{LimitExceeded, unreadable};
use super::{Stop, TRIES, Unread, Walk};
use crate::draft::SnapshotDraft;
use crate::id::ObjectId;
use crate::metadata;
use crate::node::{Content, Node, SkipReason};
use crate::pack::PART;
use crate::system;

/// Whether a file has less on the disk than it is long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holes {
    Some,
    None,
}

impl Walk<'_> {
    pub(super) fn file(&self, place: &OwnedFd, name: &CStr, path: &[u8]) -> Result<Option<Node>, Stop> {
        for _ in 0..TRIES {
            let open = match self.open_file(place, name, path) {
                Ok(open) => open,
                Err(error) => {
                    self.skip(path, unreadable(error));
                    return Ok(None);
                }
            };
            let (Ok(before), true) = (system::stat_of(&open), self.in_time()?) else { return Ok(None) };
            if metadata::kind(&before) != FileType::RegularFile {
                self.skip(path, SkipReason::Special);
                return Ok(None);
            }
            let (bytes, stored) = (metadata::length(&before), metadata::stored(&before));
            if self.manner.largest.is_some_and(|largest| stored > largest) {
                self.skip(path, SkipReason::TooLarge { bytes });
                return Ok(None);
            }
            let read = match self.draft {
                Some(draft) => {
                    let holes = if stored < bytes { Holes::Some } else { Holes::None };
                    self.content(draft, &open, bytes, holes)
                }
                None => Ok((Content::Whole(ObjectId::of(b"")), bytes)),
            };
            let (content, length) = match read {
                Ok(read) => read,
                Err(Unread::Refused(error)) => {
                    self.skip(path, unreadable(error));
                    return Ok(None);
                }
                Err(Unread::Stop(stop)) => return Err(stop),
            };
            let after = system::stat_of(&open).ok();
            let is_same = after.is_some_and(|after| {
                metadata::modified(&after) == metadata::modified(&before)
                    && metadata::length(&after) == length
            });
            if is_same {
                let mut meta = metadata::meta(&before);
                meta.attributes = metadata::attributes(&open);
                self.name(place, name, &before, path);
                return Ok(Some(Node::File { meta, length, content, links: metadata::links(&before) }));
            }
        }
        self.skip(path, SkipReason::Changing);
        Ok(None)
    }

    /// Reads a file to its end, in parts when it is long.
    fn content(
        &self,
        draft: &SnapshotDraft,
        open: &OwnedFd,
        expected: u64,
        holes: Holes,
    ) -> Result<(Content, u64), Unread> {
        let mut parts = Vec::new();
        let mut length = 0;
        let capacity = usize::try_from(expected).unwrap_or(PART).saturating_add(1).min(PART);
        let mut part = vec![0; capacity];
        loop {
            if holes == Holes::Some && is_hole(open, length, expected) {
                // Nothing but zeros, all of one piece: that is known without reading it.
                parts.push(self.zeros(draft)?);
                length += PART as u64;
                rustix::fs::seek(open, SeekFrom::Start(length)).map_err(Unread::Refused)?;
                continue;
            }
            let filled = fill(open, &mut part).map_err(Unread::Refused)?;
            self.read.fetch_add(filled as u64, Ordering::Relaxed);
            length += filled as u64;
            if length > expected.saturating_mul(2).saturating_add(PART as u64) {
                // It grows faster than it is read; what was counted against the bounds is long not true any more.
                return Err(Unread::Stop(Stop::Over(LimitExceeded::Bytes)));
            }
            let is_last = filled < part.len();
            let content = part.get(..filled).unwrap_or_default();
            if parts.is_empty() && is_last {
                return Ok((Content::Whole(draft.put(content).map_err(Stop::from)?), length));
            }
            if filled > 0 {
                parts.push(draft.put(content).map_err(Stop::from)?);
            }
            if is_last {
                return Ok((draft.put_parts(&parts).map_err(Stop::from)?, length));
            }
            self.in_time()?;
            if part.len() < PART {
                part.resize(PART, 0);
            }
        }
    }

    /// The object of a part that is a hole.
    fn zeros(&self, draft: &SnapshotDraft) -> Result<ObjectId, Stop> {
        if let Some(known) = self.zeros.get() {
            return Ok(*known);
        }
        let id = draft.put(&vec![0; PART])?;
        Ok(*self.zeros.get_or_init(|| id))
    }
}

/// Whether a whole part from here on is a hole. The place in the file is as before.
fn is_hole(open: &OwnedFd, from: u64, length: u64) -> bool {
    let end = from.saturating_add(PART as u64);
    if end > length {
        return false;
    }
    let next = rustix::fs::seek(open, SeekFrom::Data(from));
    // Where nothing more is, there is no data to be found either.
    let is_hole = next == Err(Errno::NXIO) || next.is_ok_and(|next| next >= end);
    rustix::fs::seek(open, SeekFrom::Start(from)).is_ok() && is_hole
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &OwnedFd, buffer: &mut [u8]) -> Result<usize, Errno> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match rustix::io::read(file, rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The names in a directory, sorted; where there are more than `most`, some that are more.
pub(super) fn names(open: &OwnedFd, buffer: &mut Vec<u8>, most: usize) -> Result<Vec<CString>, Errno> {
    let mut names = Vec::new();
    system::each_name(open, buffer, |name| {
        names.push(name);
        if names.len() > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    names.sort_unstable();
    Ok(names)
}
