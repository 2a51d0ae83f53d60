//! The workers of a capture.
//!
//! | module | holds |
//! |---|---|
//! | `opening` | directories and files, few open at a time |
//! | `bounds` | what a capture may cost |
//! | `long_files` | files that wait for smaller ones |
//! | `content` | what is in a file |
//! | `grown` | directories, put together from below |
//! | `ignored` | what is saved although version control ignores it |

mod bounds;
mod content;
mod grown;
mod ignored;
mod long_files;
mod opening;

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fd::OwnedFd;
use rustix::fs::FileType;
use rustix::io::Errno;

use self::bounds::Stop;
use self::content::names;
use self::grown::Grown;
use self::ignored::{IgnoredTotals, Keeping, SMALL_DIRECTORY};
use self::long_files::Later;
use self::opening::Held;
use super::{CaptureOptions, CaptureOutcome, CaptureRequest, Captured, Closed, Mounts, unreadable};
use crate::draft::SnapshotDraft;
use crate::error::SnapshotError;
use crate::id::ObjectId;
use crate::ignore_filter::{EntryKind, Layer};
use crate::lending::Lent;
use crate::metadata::{self, open_place};
use crate::node::{FileTime, Meta, Node, Root, SavedPart, SavedPath, SkipReason, Skipped};
use crate::stat_cache::{Ruling, Seen, SeenDirectory, Sight};
use crate::system::Stat;
use crate::way::Ways;

/// How often a file that changes while it is read is tried again.
const TRIES: usize = 3;

/// The clocks of file systems tick up to every 10 ms: what changed so shortly before may change again without a trace (ours).
const TICK: Duration = Duration::from_millis(50);

/// In which order files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// As they are found. A bound that is reached ends the capture.
    AsFound,
    /// Small ones first. Others for which the bounds do not reach are skipped.
    SmallFirst,
}

/// A place from which a capture starts.
pub(super) struct Start {
    path: Vec<u8>,
    selection: SavedPart,
    /// The directory that holds it, and its name there.
    parent: PathBuf,
    name: CString,
}

impl Start {
    pub(super) fn at(wanted: &CaptureRequest, parent: &Path, name: CString) -> Self {
        Self {
            path: wanted.path.as_os_str().as_bytes().to_vec(),
            selection: wanted.selection.into(),
            parent: parent.to_owned(),
            name,
        }
    }
}

/// A directory that waits for a worker.
struct Task {
    /// Its place among the records.
    record: usize,
    /// The directory that it is in; `None` when too many are held open already, and it is looked up by its path.
    place: Option<Arc<Held>>,
    name: CString,
    path: Vec<u8>,
    selection: SavedPart,
    device: u64,
    layer: Option<Layer>,
    ruling: Ruling,
    keeping: Keeping,
}

/// What is known of a directory while its entries are read.
struct Around<'a> {
    task: &'a Task,
    open: &'a Arc<Held>,
    layer: Option<&'a Layer>,
    /// What tells the rules from others.
    rules: u64,
    earlier: Option<&'a Arc<SeenDirectory>>,
    /// Names that are never saved.
    spared: Vec<&'a [u8]>,
}

/// A directory that was read.
#[derive(Default)]
struct Record {
    path: Vec<u8>,
    rules: u64,
    attributes: Vec<(Vec<u8>, Vec<u8>)>,
    entries: Vec<(Vec<u8>, Sight, Ruling, Pending)>,
    /// Whether its entries are known; else it is saved without them.
    listed: bool,
}

/// An entry of which the node may not be known yet.
enum Pending {
    Known(Node),
    /// It waits for smaller files.
    Later,
    /// It was skipped after all.
    Skipped,
    /// As an earlier capture saw it.
    Same,
    /// A directory: its facts, and its record.
    Directory(Meta, usize),
}

#[derive(Default)]
struct State {
    waiting: Vec<Task>,
    busy: usize,
    records: Vec<Option<Record>>,
    later: Vec<Later>,
    stopped: Option<Stop>,
}

pub(super) struct Walk<'a> {
    /// Where contents go; `None` when they are only measured.
    draft: Option<&'a SnapshotDraft>,
    manner: &'a CaptureOptions<'a>,
    order: Order,
    started: Instant,
    /// What changed later than this is not taken for unchanged next time.
    settled: FileTime,
    entries: AtomicU64,
    bytes: AtomicU64,
    /// How many bytes were read.
    read: AtomicU64,
    /// What of these is ignored by version control.
    ignored: IgnoredTotals,
    skipped: Mutex<Vec<Skipped>>,
    closed: Closed,
    /// What was opened.
    lent: Mutex<Lent>,
    /// Times of status change from before that.
    changed: Mutex<BTreeMap<SavedPath, FileTime>>,
    /// The object of a part of zeros, once there is one.
    zeros: OnceLock<ObjectId>,
    /// How many directories are held open.
    held: Arc<AtomicUsize>,
    state: Mutex<State>,
    ready: Condvar,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        draft: Option<&'a SnapshotDraft>,
        manner: &'a CaptureOptions<'a>,
        closed: Closed,
        order: Order,
    ) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(TICK);
        let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        Self {
            draft,
            manner,
            order,
            started: Instant::now(),
            settled: FileTime { seconds, nanoseconds: now.subsec_nanos() },
            entries: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            read: AtomicU64::new(0),
            ignored: IgnoredTotals::default(),
            skipped: Mutex::default(),
            closed,
            lent: Mutex::default(),
            changed: Mutex::default(),
            zeros: OnceLock::new(),
            held: Arc::default(),
            state: Mutex::default(),
            ready: Condvar::new(),
        }
    }

    pub(super) fn skip(&self, path: &[u8], reason: SkipReason) {
        let path = SavedPath::from(Path::new(std::ffi::OsStr::from_bytes(path)));
        let mut skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        skipped.push(Skipped { path, reason });
    }

    pub(super) fn run(
        self,
        starts: &[Start],
        above: Vec<(SavedPath, Meta)>,
    ) -> Result<CaptureOutcome, SnapshotError> {
        let mut tops = Vec::with_capacity(starts.len());
        for start in starts {
            match self.start(start) {
                Ok(top) => tops.push(top),
                Err(Stop::Over(over)) => return Ok(CaptureOutcome::Over(over)),
                Err(Stop::Failed(error)) => return Err(error),
            }
        }
        thread::scope(|scope| {
            for _ in 1..self.manner.threads.get() {
                // Where no more threads can be had, those that there are do all of it.
                if thread::Builder::new().spawn_scoped(scope, || self.work()).is_err() {
                    break;
                }
            }
            self.work();
        });
        match self.state().stopped.take() {
            Some(Stop::Over(over)) => return Ok(CaptureOutcome::Over(over)),
            Some(Stop::Failed(error)) => return Err(error),
            None => {}
        }
        self.long_files()?;
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut grown = Grown { draft: self.draft, earlier: self.manner.seen, made: HashMap::new() };
        let mut seen = Seen::default();
        // What lies below stands behind, so from the end each directory finds those in it done.
        for (place, record) in std::mem::take(&mut state.records).into_iter().enumerate().rev() {
            let Some(record) = record else { continue };
            grown.directory(place, record, &mut seen)?;
        }
        let mut roots = Vec::with_capacity(starts.len());
        for (start, top) in starts.iter().zip(tops) {
            let node = match top {
                Top::Skipped => continue,
                Top::Nothing => None,
                Top::Node(node) => Some(node),
                Top::Directory(meta, record) => Some(grown.node(meta, record)),
            };
            let path = SavedPath::from(Path::new(std::ffi::OsStr::from_bytes(&start.path)));
            roots.push(Root { path, selection: start.selection, node });
        }
        let mut skipped = self.skipped.into_inner().unwrap_or_else(PoisonError::into_inner);
        skipped.sort_by(|one, other| one.path.cmp(&other.path));
        let lent = self.lent.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut changed = self.changed.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (path, time) in lent.changed() {
            changed.entry(SavedPath::from(path)).or_insert(time);
        }
        Ok(CaptureOutcome::Whole(Captured {
            roots,
            above,
            skipped,
            entries: self.entries.into_inner(),
            bytes: self.bytes.into_inner(),
            read: self.read.into_inner(),
            seen,
            changed,
            lent: Box::new(lent),
        }))
    }

    fn start(&self, start: &Start) -> Result<Top, Stop> {
        let name = &start.name;
        // A closed directory can be opened as a place, and lets nobody look at what is in it.
        let looked = self.above(&start.parent, || {
            let place = open_place(&start.parent)?;
            let found = metadata::facts(&place, name)?;
            Ok((place, found))
        });
        let (place, found) = match looked {
            Ok((place, found)) => (Arc::new(self.held(place)), found),
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Top::Nothing),
            Err(error) => {
                self.skip(&start.path, unreadable(error));
                return Ok(Top::Skipped);
            }
        };
        if self.is_spared(&start.path) {
            self.skip(&start.path, SkipReason::Own);
            return Ok(Top::Skipped);
        }
        self.count(&found)?;
        if metadata::kind(&found) == FileType::Directory {
            if start.selection == SavedPart::Itself {
                let mut meta = self.directory_meta(&found, &start.path);
                if let Ok(open) = metadata::open_directory(&place.directory, name) {
                    meta.attributes = metadata::attributes(open);
                }
                return Ok(Top::Node(Node::Directory { meta, tree: None }));
            }
            let layer = self.manner.ignoring.map(|ignoring| ignoring.outermost(&start.path));
            let mut state = self.state();
            let record = state.records.len();
            state.records.push(None);
            state.waiting.push(Task {
                record,
                place: self.may_hold().then_some(place),
                name: name.clone(),
                path: start.path.clone(),
                selection: start.selection,
                device: found.st_dev,
                layer: layer.flatten(),
                ruling: Ruling::Passes,
                keeping: Keeping::ByName,
            });
            return Ok(Top::Directory(self.directory_meta(&found, &start.path), record));
        }
        Ok(self.leaf(&place.directory, name, &found, &start.path)?.map_or(Top::Skipped, Top::Node))
    }

    /// Takes directories from the queue until there are none and nobody is about to find more.
    fn work(&self) {
        let mut buffer = Vec::new();
        let mut ways = Ways::default();
        let mut state = self.state();
        loop {
            if state.stopped.is_some() {
                self.ready.notify_all();
                return;
            }
            let Some(task) = state.waiting.pop() else {
                if state.busy == 0 {
                    self.ready.notify_all();
                    return;
                }
                state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state.busy += 1;
            drop(state);
            let read = self.directory(&task, &mut buffer, &mut ways);
            state = self.state();
            state.busy -= 1;
            match read {
                Ok(record) => {
                    if let Some(slot) = state.records.get_mut(task.record) {
                        *slot = Some(record);
                    }
                }
                Err(stop) => state.stopped = Some(stop),
            }
            if state.busy == 0 {
                self.ready.notify_all();
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn directory(&self, task: &Task, buffer: &mut Vec<u8>, ways: &mut Ways) -> Result<Record, Stop> {
        let mut record = Record { path: task.path.clone(), ..Record::default() };
        let place = if let Some(place) = &task.place {
            Ok(Arc::clone(&place.directory))
        } else {
            let above = Path::new(std::ffi::OsStr::from_bytes(&task.path)).parent();
            ways.open(above.unwrap_or(Path::new("/")))
        };
        let opened = place.and_then(|place| {
            self.open_up(&place, &task.name, &task.path);
            metadata::open_directory(&place, &task.name)
        });
        let open = match opened {
            Ok(open) => Arc::new(self.held(open)),
            Err(error) => {
                self.skip(&task.path, unreadable(error));
                return Ok(record);
            }
        };
        record.attributes = metadata::attributes(&open.directory);
        let is_limited = task.ruling == Ruling::Ignored && task.keeping == Keeping::ByName;
        let most = if is_limited { SMALL_DIRECTORY } else { usize::MAX };
        let names = match names(&open.directory, buffer, most) {
            Ok(names) => names,
            Err(error) => {
                self.skip(&task.path, unreadable(error));
                return Ok(record);
            }
        };
        // A repository of its own below what is ignored keeps its files itself.
        let is_much = |names: &[CString]| {
            names.len() > SMALL_DIRECTORY || names.iter().any(|name| name.as_bytes() == b".git")
        };
        if is_limited && is_much(&names) {
            self.skip(&task.path, SkipReason::Ignored);
            return Ok(record);
        }
        record.listed = true;
        let layer = match (self.manner.ignoring, task.selection) {
            (Some(ignoring), SavedPart::NotIgnored) => {
                let rules = names.iter().any(|name| name.as_bytes() == b".gitignore");
                if rules { Some(ignoring.enter(&task.path, task.layer.as_ref())) } else { task.layer.clone() }
            }
            _ => None,
        };
        let earlier = self.manner.seen.and_then(|seen| seen.directory(&task.path));
        record.rules = self.manner.ignoring.map_or(0, |ignoring| ignoring.fingerprint(layer.as_ref()));
        let spared = self.manner.spared.iter().filter_map(|spared| {
            let is_here = spared.parent()?.as_os_str().as_bytes() == task.path;
            is_here.then(|| spared.file_name().map(std::ffi::OsStr::as_bytes))?
        });
        let around = Around {
            task,
            open: &open,
            layer: layer.as_ref(),
            rules: record.rules,
            earlier,
            spared: spared.collect(),
        };
        let mut found = Vec::new();
        for name in &names {
            self.entry(&around, name, &names, &mut record, &mut found)?;
        }
        if !found.is_empty() {
            let mut state = self.state();
            for (position, mut task) in found {
                task.record = state.records.len();
                if let Some((.., Pending::Directory(_, place))) = record.entries.get_mut(position) {
                    *place = task.record;
                }
                state.records.push(None);
                state.waiting.push(task);
            }
            drop(state);
            self.ready.notify_all();
        }
        Ok(record)
    }

    fn entry(
        &self,
        around: &Around<'_>,
        name: &CString,
        beside: &[CString],
        record: &mut Record,
        found: &mut Vec<(usize, Task)>,
    ) -> Result<(), Stop> {
        let task = around.task;
        // Most entries are as they were, and nobody needs their path.
        let path = || {
            let mut path = task.path.clone();
            if path != b"/" {
                path.push(b'/');
            }
            path.extend_from_slice(name.as_bytes());
            path
        };
        let stat = match metadata::facts(&around.open.directory, name) {
            Ok(stat) => stat,
            // It went away in between.
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => {
                self.skip(&path(), unreadable(error));
                return Ok(());
            }
        };
        let kind = metadata::kind(&stat);
        let (mut ruling, mut keeping) = (task.ruling, task.keeping);
        if task.selection == SavedPart::NotIgnored {
            // A file of that name says where the repository of a submodule or of a linked work tree is.
            if name.as_bytes() == b".git" && kind == FileType::Directory {
                return Ok(());
            }
            if ruling == Ruling::Passes {
                let known = around.earlier.and_then(|earlier| earlier.ruling(name.as_bytes(), around.rules));
                ruling = known.unwrap_or_else(|| self.ruling(&path(), kind, around.layer));
            }
            if ruling == Ruling::Ignored && keeping == Keeping::ByName {
                match self.keeping(&around.open.directory, name, beside, &stat, &path) {
                    Some(kept) => keeping = kept,
                    None => return Ok(()),
                }
            }
        }
        if around.spared.contains(&name.as_bytes()) {
            self.skip(&path(), SkipReason::Own);
            return Ok(());
        }
        let sight = Sight::of(&stat, self.settled);
        let position = record.entries.len();
        let is_seen = || around.earlier.is_some_and(|earlier| earlier.is_same(name.as_bytes(), &sight));
        if self.waits(&stat) && !is_seen() {
            self.count_entry()?;
            let waiting =
                Later { bytes: metadata::stored(&stat), path: path(), record: task.record, position };
            self.state().later.push(waiting);
            record.entries.push((name.as_bytes().to_vec(), sight, ruling, Pending::Later));
            return Ok(());
        }
        self.count(&stat)?;
        if kind == FileType::Directory {
            if self.manner.mounts == Mounts::Skip && stat.st_dev != task.device {
                self.skip(&path(), SkipReason::OtherFileSystem);
                let node = Node::Directory { meta: self.directory_meta(&stat, &path()), tree: None };
                record.entries.push((name.as_bytes().to_vec(), sight, ruling, Pending::Known(node)));
                return Ok(());
            }
            let below = Task {
                record: 0,
                place: self.may_hold().then(|| Arc::clone(around.open)),
                name: name.clone(),
                path: path(),
                selection: task.selection,
                device: task.device,
                layer: around.layer.cloned(),
                ruling,
                keeping,
            };
            found.push((position, below));
            let pending = Pending::Directory(self.directory_meta(&stat, &path()), 0);
            record.entries.push((name.as_bytes().to_vec(), sight, ruling, pending));
            return Ok(());
        }
        if is_seen() {
            if kind == FileType::RegularFile && stat.st_nlink > 1 {
                self.name(&around.open.directory, name, &stat, &path());
            }
            record.entries.push((name.as_bytes().to_vec(), sight, ruling, Pending::Same));
            return Ok(());
        }
        if let Some(node) = self.leaf(&around.open.directory, name, &stat, &path())? {
            record.entries.push((name.as_bytes().to_vec(), sight, ruling, Pending::Known(node)));
        }
        Ok(())
    }

    /// What the rules say about a path that was not seen before.
    fn ruling(&self, path: &[u8], kind: FileType, layer: Option<&Layer>) -> Ruling {
        let sort = if kind == FileType::Directory { EntryKind::Directory } else { EntryKind::File };
        match self.manner.ignoring {
            Some(ignoring) if ignoring.is_ignored(path, sort, layer) => Ruling::Ignored,
            Some(_) | None => Ruling::Passes,
        }
    }

    /// A file or a link; `None` when it was skipped.
    fn leaf(&self, place: &OwnedFd, name: &CStr, stat: &Stat, path: &[u8]) -> Result<Option<Node>, Stop> {
        match metadata::kind(stat) {
            FileType::RegularFile => self.file(place, name, path),
            FileType::Symlink => match rustix::fs::readlinkat(place, name, Vec::new()) {
                Ok(target) => {
                    Ok(Some(Node::Symlink { meta: metadata::meta(stat), target: target.into_bytes() }))
                }
                Err(error) => {
                    self.skip(path, unreadable(error));
                    Ok(None)
                }
            },
            FileType::Fifo => Ok(Some(Node::Pipe { meta: metadata::meta(stat) })),
            _ => {
                self.skip(path, SkipReason::Special);
                Ok(None)
            }
        }
    }

    fn is_spared(&self, path: &[u8]) -> bool {
        self.manner.spared.iter().any(|spared| spared.as_os_str().as_bytes() == path)
    }
}

/// What a start turned out to be.
enum Top {
    Skipped,
    Nothing,
    Node(Node),
    Directory(Meta, usize),
}

enum Unread {
    Refused(Errno),
    Stop(Stop),
}

impl From<Stop> for Unread {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}
