//! The ignored files that are saved all the same. These are small files that nothing makes again, since they may be the only copy of
//! something. Whole trees that a program makes again are saved where they are so small that it costs next to nothing.

use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fd::OwnedFd;
use rustix::fs::FileType;

use super::Walk;
use super::content::names;
use crate::ignore_filter::Ignored;
use crate::metadata;
use crate::node::SkipReason;
use crate::system::Stat;

/// Bounds of the ignored files that are saved: the longest file in bytes, the most names of an ignored directory that is looked into, and
/// the number and the bytes of all these files (ours).
const SMALL: u64 = 64 * 1024;
pub(super) const SMALL_DIRECTORY: usize = 128;
const SMALL_FILES: u64 = 1_000;
const SMALL_FILES_BYTES: u64 = 8 * 1024 * 1024;

/// Bounds of a tree that a program makes again and that is saved all the same: names, bytes, depth. Then the bounds of all such trees: the
/// names that are looked at and the bytes that are saved (ours). Half of such a tree is worth nothing, so it is saved whole or not at all.
const LITTLE_TREE: u64 = 256;
const LITTLE_TREE_BYTES: u64 = 1024 * 1024;
const LITTLE_TREE_DEPTH: usize = 8;
const LITTLE_TREES: u64 = 2_000;
const LITTLE_TREES_BYTES: u64 = 4 * 1024 * 1024;

/// What was saved of what is ignored, and what was left out.
#[derive(Debug, Default)]
pub(super) struct IgnoredTotals {
    files: AtomicU64,
    bytes: AtomicU64,
    /// Names that were looked at in what is made again.
    looked_at: AtomicU64,
    made_again_bytes: AtomicU64,
    left_out: AtomicU64,
}

/// How what lies in a directory is saved that version control ignores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeping {
    /// Each name by what it says.
    ByName,
    /// Whole: it is little.
    Whole,
}

/// What a tree may still hold to be little.
struct Room {
    names: u64,
    bytes: u64,
    device: u64,
}

impl Walk<'_> {
    /// How something is saved although version control ignores it; `None` when it is left out.
    pub(super) fn keeping(
        &self,
        place: &OwnedFd,
        name: &CStr,
        beside: &[CString],
        stat: &Stat,
        path: &impl Fn() -> Vec<u8>,
    ) -> Option<Keeping> {
        let keeps = self.manner.ignoring.is_some_and(|ignoring| ignoring.ignored() == Ignored::SmallKept);
        let kind = metadata::kind(stat);
        let is_work = matches!(kind, FileType::RegularFile | FileType::Symlink | FileType::Directory);
        if !keeps || !is_work {
            return None;
        }
        let is_beside = |name: &str| beside.iter().any(|known| known.as_bytes() == name.as_bytes());
        let kept = if checkrein_facts::regenerated_when_ignored(&name.to_string_lossy(), &is_beside) {
            self.is_little(place, name, stat).then_some(Keeping::Whole)
        } else {
            self.is_small(stat).then_some(Keeping::ByName)
        };
        if kept.is_none() && self.ignored.left_out.fetch_add(1, Ordering::Relaxed) < SkipReason::MOST_IGNORED
        {
            self.skip(&path(), SkipReason::Ignored);
        }
        kept
    }

    /// Whether something that nothing makes again is small.
    fn is_small(&self, stat: &Stat) -> bool {
        let length = if metadata::kind(stat) == FileType::RegularFile { metadata::length(stat) } else { 0 };
        let totals = &self.ignored;
        totals.files.fetch_add(1, Ordering::Relaxed) < SMALL_FILES
            && length <= SMALL
            && totals.bytes.fetch_add(length, Ordering::Relaxed).saturating_add(length) <= SMALL_FILES_BYTES
    }

    /// Whether something that is made again is little, with everything in it.
    fn is_little(&self, place: &OwnedFd, name: &CStr, stat: &Stat) -> bool {
        let mut room = Room { names: LITTLE_TREE, bytes: LITTLE_TREE_BYTES, device: stat.st_dev };
        if metadata::kind(stat) != FileType::Directory {
            room.bytes = SMALL;
        }
        if !self.has_room(place, name, stat, LITTLE_TREE_DEPTH, &mut room) {
            return false;
        }
        let limit = if metadata::kind(stat) == FileType::Directory { LITTLE_TREE_BYTES } else { SMALL };
        let bytes = limit - room.bytes;
        let totals = &self.ignored.made_again_bytes;
        let is_little =
            totals.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= LITTLE_TREES_BYTES;
        if !is_little {
            // What comes later may still be little enough.
            totals.fetch_sub(bytes, Ordering::Relaxed);
        }
        is_little
    }

    fn has_room(&self, place: &OwnedFd, name: &CStr, stat: &Stat, depth: usize, room: &mut Room) -> bool {
        let looked_at = self.ignored.looked_at.fetch_add(1, Ordering::Relaxed);
        if looked_at >= LITTLE_TREES || room.names == 0 || stat.st_dev != room.device {
            return false;
        }
        room.names -= 1;
        match metadata::kind(stat) {
            FileType::RegularFile => match room.bytes.checked_sub(metadata::length(stat)) {
                Some(left) => {
                    room.bytes = left;
                    true
                }
                None => false,
            },
            FileType::Symlink => true,
            FileType::Directory if depth > 0 => {
                let most = usize::try_from(room.names).unwrap_or(usize::MAX);
                let Ok(open) = metadata::open_directory(place, name) else { return false };
                let Ok(below) = names(&open, &mut Vec::new(), most) else { return false };
                // A repository of its own below what is ignored keeps its files itself.
                below.len() <= most
                    && below.iter().all(|name| {
                        name.as_bytes() != b".git"
                            && metadata::facts(&open, name)
                                .is_ok_and(|stat| self.has_room(&open, name, &stat, depth - 1, room))
                    })
            }
            _ => false,
        }
    }
}
