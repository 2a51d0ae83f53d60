//! Reading files, links and trees into a draft.
//!
//! Names are looked up in directories that are held open, and no link is followed, so that somebody who swaps a directory for a link
//! meanwhile leads nowhere. Directories wait in one queue for any number of workers; their trees are put together from below at the end.

mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;

use crate::draft::SnapshotDraft;
use crate::error::SnapshotError;
use crate::ignore_filter::Ignoring;
use crate::lending::Lent;
use crate::metadata;
use crate::node::{Circumstances, FileTime, Meta, Root, SavedPart, SavedPath, SkipReason, Skipped, Snapshot};
use crate::stat_cache::Seen;

use walk::{Order, Start, Walk};

/// One place to save.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaptureRequest {
    /// Where, absolute.
    pub path: PathBuf,
    /// What of it, should it be a directory.
    pub selection: CaptureSelection,
}

/// [`SavedPart`], ordered from most to least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaptureSelection {
    /// Everything in it.
    Everything,
    /// What version control does not ignore.
    NotIgnored,
    /// The directory itself.
    Itself,
}

impl From<CaptureSelection> for SavedPart {
    fn from(choice: CaptureSelection) -> Self {
        match choice {
            CaptureSelection::Everything => Self::Everything,
            CaptureSelection::NotIgnored => Self::NotIgnored,
            CaptureSelection::Itself => Self::Itself,
        }
    }
}

impl From<SavedPart> for CaptureSelection {
    fn from(selection: SavedPart) -> Self {
        match selection {
            SavedPart::Everything => Self::Everything,
            SavedPart::NotIgnored => Self::NotIgnored,
            SavedPart::Itself => Self::Itself,
        }
    }
}

/// How far a capture goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptureBounds {
    /// Files, links and directories.
    pub entries: u64,
    /// The length of all files, in bytes.
    pub bytes: u64,
    /// The time it takes. So little as [`CaptureBounds::LITTLE`] is captured however long that takes: what is saved must not depend on how busy
    /// the machine is.
    pub time: Duration,
}

impl CaptureBounds {
    /// No bounds.
    pub const NONE: Self = Self { entries: u64::MAX, bytes: u64::MAX, time: Duration::MAX };

    /// What is little on any machine (ours): up to here no clock counts.
    pub const LITTLE: Self = Self { entries: 1_000, bytes: 16 * 1024 * 1024, time: Duration::MAX };
}

/// Whether a capture goes on where another file system is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mounts {
    /// It does, as a deletion would.
    Enter,
    /// It does not, and says so.
    Skip,
}

/// Whether contents are saved, or only looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapturePurpose {
    /// They are saved.
    Save,
    /// Only whether that would fit is found out; nothing is read or written.
    Measure,
}

/// How to capture.
#[derive(Debug)]
pub struct CaptureOptions<'a> {
    /// How far.
    pub bounds: CaptureBounds,
    /// The greatest file that is saved, in bytes; longer ones are skipped.
    pub largest: Option<u64>,
    /// What is never saved: the store itself and what else belongs to the guard.
    pub spared: &'a [PathBuf],
    /// Where other file systems are mounted.
    pub mounts: Mounts,
    /// What version control ignores; without it nothing is.
    pub ignoring: Option<&'a Ignoring>,
    /// How many threads share the work.
    pub threads: NonZeroUsize,
    /// What an earlier capture saw, so that what did not change is not read again.
    pub seen: Option<&'a Seen>,
}

impl CaptureOptions<'_> {
    /// Everything, without bounds, in this thread.
    pub fn whole() -> Self {
        Self {
            bounds: CaptureBounds::NONE,
            largest: None,
            spared: &[],
            mounts: Mounts::Enter,
            ignoring: None,
            threads: NonZeroUsize::MIN,
            seen: None,
        }
    }
}

/// Which bound was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitExceeded {
    /// Too many files, links and directories.
    Entries,
    /// Too much content.
    Bytes,
    /// It took too long.
    Time,
}

/// What was captured.
#[derive(Debug)]
pub struct Captured {
    /// The places, sorted by path.
    pub roots: Vec<Root>,
    /// The directories above them, outermost first.
    pub above: Vec<(SavedPath, Meta)>,
    /// What was not saved.
    pub skipped: Vec<Skipped>,
    /// How many files, links and directories.
    pub entries: u64,
    /// Their length in bytes.
    pub bytes: u64,
    /// How many bytes were read for that: what an earlier capture saw is not read again.
    pub read: u64,
    /// What was seen, for the next capture.
    pub seen: Seen,
    /// Times of status change that looking changed.
    pub(crate) changed: BTreeMap<SavedPath, FileTime>,
    /// Directories that had to be opened, and are until this is dropped.
    pub(crate) lent: Box<Lent>,
}

impl Captured {
    /// Takes up what another capture found at places that this one has not.
    pub fn add(&mut self, other: Self) {
        self.roots.extend(
            other
                .roots
                .into_iter()
                .filter(|root| self.roots.iter().all(|one| one.path != root.path))
                .collect::<Vec<_>>(),
        );
        self.roots.sort_by(|one, other| one.path.cmp(&other.path));
        self.above.extend(other.above);
        self.above.sort_by(|one, other| one.0.cmp(&other.0));
        self.above.dedup_by(|later, earlier| later.0 == earlier.0);
        self.skipped.extend(other.skipped);
        self.entries += other.entries;
        self.bytes += other.bytes;
        self.read += other.read;
    }

    /// The snapshot of what was captured.
    pub fn described(self, circumstances: Circumstances) -> Snapshot {
        let Circumstances { at, occasion, reason, place } = circumstances;
        let Self { roots, above, skipped, entries, bytes, .. } = self;
        Snapshot { at, occasion, reason, place, roots, above, skipped, entries, bytes }
    }
}

/// How a capture ended.
#[derive(Debug)]
pub enum CaptureOutcome {
    /// Everything but what is listed as skipped was captured.
    Whole(Captured),
    /// A bound was reached; nothing of it is to be used.
    Over(LimitExceeded),
}

/// Captures places into a draft.
pub fn capture(
    draft: &SnapshotDraft,
    wanted: &[CaptureRequest],
    manner: &CaptureOptions<'_>,
) -> Result<CaptureOutcome, SnapshotError> {
    run(Some(draft), wanted, manner, Closed::Skip, Order::AsFound)
}

/// The same, small files first: where the bounds do not reach for the others, these are skipped and named, and the rest is saved.
pub fn capture_small_first(
    draft: &SnapshotDraft,
    wanted: &[CaptureRequest],
    manner: &CaptureOptions<'_>,
) -> Result<CaptureOutcome, SnapshotError> {
    run(Some(draft), wanted, manner, Closed::Skip, Order::SmallFirst)
}

/// The same for what is to be put back: what of one's own is closed even to oneself is opened for that.
pub(crate) fn capture_lending(
    draft: &SnapshotDraft,
    wanted: &[CaptureRequest],
    manner: &CaptureOptions<'_>,
) -> Result<CaptureOutcome, SnapshotError> {
    run(Some(draft), wanted, manner, Closed::Open, Order::AsFound)
}

/// What is done about files and directories of one's own that their owner may not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closed {
    /// They are skipped.
    Skip,
    /// They are opened for a while.
    Open,
}

/// Finds out whether places could be captured within bounds, without reading any content or writing anything.
pub fn measure(
    wanted: &[CaptureRequest],
    manner: &CaptureOptions<'_>,
) -> Result<CaptureOutcome, SnapshotError> {
    run(None, wanted, manner, Closed::Skip, Order::AsFound)
}

fn run(
    draft: Option<&SnapshotDraft>,
    wanted: &[CaptureRequest],
    manner: &CaptureOptions<'_>,
    closed: Closed,
    order: Order,
) -> Result<CaptureOutcome, SnapshotError> {
    let walk = Walk::new(draft, manner, closed, order);
    let mut starts = Vec::new();
    let mut above = BTreeSet::new();
    let mut real = BTreeMap::new();
    let wanted: Vec<CaptureRequest> = wanted
        .iter()
        .map(|one| CaptureRequest { path: real_place(&one.path, &mut real), selection: one.selection })
        .collect();
    for one in without_inner(&wanted) {
        let (Some(parent), Some(name)) = (one.path.parent(), one.path.file_name()) else {
            walk.skip(one.path.as_os_str().as_bytes(), SkipReason::Unreadable("it is the root".to_owned()));
            continue;
        };
        above.extend(parent.ancestors().map(Path::to_owned));
        let Ok(name) = CString::new(name.as_bytes()) else { continue };
        starts.push(Start::at(one, parent, name));
    }
    let above = above.into_iter().filter_map(|path| Some((SavedPath::from(path.as_path()), meta_of(&path)?)));
    let above = above.collect();
    walk.run(&starts, above)
}

/// A path of which no directory is a link, so that restoring can insist on that.
fn real_place(path: &Path, known: &mut BTreeMap<PathBuf, PathBuf>) -> PathBuf {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return path.to_owned() };
    if let Some(real) = known.get(parent) {
        return real.join(name);
    }
    let real = match std::fs::canonicalize(parent) {
        Ok(real) => real,
        // What is not there cannot be a link; what is above it can.
        Err(_) => real_place(parent, known),
    };
    let place = real.join(name);
    known.insert(parent.to_owned(), real);
    place
}

/// The places that lie in no other place that is saved whole, sorted.
fn without_inner(wanted: &[CaptureRequest]) -> Vec<&CaptureRequest> {
    let mut sorted: Vec<&CaptureRequest> = wanted.iter().collect();
    sorted.sort();
    sorted.dedup_by(|later, earlier| later.path == earlier.path);
    let whole: BTreeSet<&Path> = sorted
        .iter()
        .filter(|one| one.selection == CaptureSelection::Everything)
        .map(|one| one.path.as_path())
        .collect();
    sorted.retain(|one| !one.path.ancestors().skip(1).any(|above| whole.contains(above)));
    sorted
}

fn meta_of(path: &Path) -> Option<Meta> {
    rustix::fs::stat(path).ok().map(|found| metadata::meta(&found.into()))
}

fn unreadable(error: Errno) -> SkipReason {
    SkipReason::Unreadable(std::io::Error::from(error).to_string())
}
