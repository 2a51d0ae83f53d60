//! What an action left behind, so that what somebody changed later is told apart from it.
//!
//! Right after the action, the files that it can have changed are looked at. These are the files at the places of its snapshot, and other
//! known ones whose status changed since it began. What looks the same later was changed by nobody in between; by content where that was
//! little, else by number, length and time. What has no trace is told by the clock.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::FileType;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::databases::{log_of, settled};
use crate::error::SnapshotError;
use crate::git_index::without_times;
use crate::id::{ObjectId, SnapshotId};
use crate::index::replace;
use crate::lookup::stat;
use crate::metadata;
use crate::node::{FileTime, SavedPart, SavedPath};
use crate::pack::{decode, encode};
use crate::store::{Store, create_directory};
use crate::system::Stat;

/// How many names are looked at, and for how long, while an agent waits (ours).
const ENTRIES: usize = 20_000;
const TIME: Duration = Duration::from_millis(200);

/// Of what length files are read, and how much in all (ours); of the others number, length and time count.
const FILE: u64 = 1024 * 1024;
pub(crate) const LOOKED_AT: u64 = 8 * 1024 * 1024;

/// What an action left behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Footprint {
    /// When it was looked for: what changed later was changed by somebody else.
    pub(crate) at: FileTime,
    traces: BTreeMap<SavedPath, Trace>,
}

/// What one file looked like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Trace {
    inode: u64,
    length: u64,
    mode: u32,
    changed: FileTime,
    content: Option<ObjectId>,
}

impl Trace {
    /// Nothing stood there. No file has this number.
    const NOTHING: Self = Self {
        inode: 0,
        length: 0,
        mode: 0,
        changed: FileTime { seconds: 0, nanoseconds: 0 },
        content: None,
    };

    /// Whether a file that its owner cannot read was left so: looking at it changes its time of status change, but neither its mode nor when
    /// it was last written to.
    fn is_closed_as_left(&self, now: &Stat) -> bool {
        self.mode & 0o400 == 0 && self.mode == now.st_mode && metadata::modified(now) <= self.changed
    }
}

/// What a footprint says about what stands somewhere now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is what the action left there.
    Left,
    /// It is something else.
    Other,
    /// It does not know the place.
    NoTrace,
}

impl Footprint {
    /// Whether a file is what the action left at a path; `content` says what it holds, where that is known.
    pub(crate) fn verdict(&self, path: &SavedPath, now: &Stat, content: Option<ObjectId>) -> Verdict {
        let Some(trace) = self.traces.get(path) else { return Verdict::NoTrace };
        let is_as_left = match (trace.content, content) {
            (Some(left), Some(now_there)) => left == now_there && trace.mode == now.st_mode,
            (None, _) | (_, None) => {
                (trace.inode, trace.length) == (now.st_ino, metadata::length(now))
                    && (trace.changed == metadata::changed(now) || trace.is_closed_as_left(now))
            }
        };
        if is_as_left { Verdict::Left } else { Verdict::Other }
    }
}

impl Footprint {
    /// What tells the content of what the action left at a path from others, where that is known.
    pub(crate) fn content(&self, path: &SavedPath) -> Option<ObjectId> {
        self.traces.get(path)?.content
    }

    /// The mode with which the action left what stands at a path, with its kind, where its status changed while it ran.
    pub(crate) fn mode(&self, path: &SavedPath) -> Option<u32> {
        self.traces.get(path).map(|trace| trace.mode)
    }
}

/// What an action was to leave, by its words: what tells the content of each file or the target of each link from others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Announced(BTreeMap<SavedPath, ObjectId>);

impl Announced {
    /// Whether it is known what the action was to leave at a path.
    pub(crate) fn names(&self, path: &SavedPath) -> bool {
        self.0.contains_key(path)
    }

    /// Whether a file or link is what the action was to leave there.
    pub(crate) fn holds(&self, path: &SavedPath, content: Option<ObjectId>) -> bool {
        content.is_some() && self.0.get(path).copied() == content
    }
}

impl Store {
    /// Keeps what an action is to leave beside the snapshot that was taken for it: by path, the content of files and the targets of links.
    pub fn keep_announced<'a>(
        &self,
        of: SnapshotId,
        left: impl Iterator<Item = (PathBuf, &'a [u8])>,
    ) -> Result<(), SnapshotError> {
        let contents = left.map(|(path, bytes)| (SavedPath::from(path), ObjectId::of(bytes)));
        let path = self.announced_path(of);
        create_directory(&self.directory().join("announced"))?;
        replace(&path, &encode(&Announced(contents.collect()), &path)?)
    }

    /// What the action of a snapshot was to leave, as far as that is known.
    pub(crate) fn announced(&self, of: SnapshotId) -> Announced {
        let path = self.announced_path(of);
        fs::read(&path).ok().and_then(|bytes| decode(&bytes, &path).ok()).unwrap_or_default()
    }

    pub(crate) fn announced_path(&self, of: SnapshotId) -> PathBuf {
        self.directory().join("announced").join(of.to_string())
    }

    /// Looks at what `action` left behind that began at `since` and has just ended, and keeps it beside the snapshot that was taken for
    /// it. `others` are files outside its places of which it is known that they changed.
    pub fn keep_footprint(
        &self,
        of: SnapshotId,
        action: &str,
        since: FileTime,
        at: FileTime,
        others: &[PathBuf],
    ) -> Result<(), SnapshotError> {
        let snapshot = self.snapshot(of)?.snapshot;
        if snapshot.place.as_ref().and_then(|place| place.action.as_deref()) != Some(action) {
            // Nothing had changed since it was taken for another one.
            return Ok(());
        }
        let started = Instant::now();
        let mut look = Look { since, left: ENTRIES, content: LOOKED_AT, traces: BTreeMap::new() };
        let mut waiting: Vec<(PathBuf, SavedPart)> =
            snapshot.roots.iter().map(|root| (root.path.as_path().to_owned(), root.selection)).collect();
        waiting.extend(others.iter().map(|path| (path.clone(), SavedPart::Itself)));
        while let Some((path, selection)) = waiting.pop() {
            if look.left == 0 || started.elapsed() > TIME {
                break;
            }
            look.left -= 1;
            let found = match stat(&path) {
                Ok(found) => found,
                Err(error) => {
                    if matches!(error, Errno::NOENT | Errno::NOTDIR) {
                        look.traces.insert(SavedPath::from(path), Trace::NOTHING);
                    }
                    continue;
                }
            };
            if metadata::kind(&found) != FileType::Directory {
                look.file(&path, &found);
                continue;
            }
            look.directory(&path, &found);
            if selection == SavedPart::Everything {
                let below = fs::read_dir(&path).into_iter().flatten().flatten();
                waiting.extend(below.map(|entry| (entry.path(), selection)));
            }
        }
        // What was written to a file of several names may be under none of those that were looked at.
        for path in self.own_names() {
            if look.left == 0 || started.elapsed() > TIME {
                break;
            }
            look.left -= 1;
            if let Ok(found) = stat(&path) {
                look.file(&path, &found);
            }
        }
        let path = self.footprint_path(of);
        create_directory(&self.directory().join("footprints"))?;
        replace(&path, &encode(&Footprint { at, traces: look.traces }, &path)?)?;
        // The action is over, so nobody waits for what the next one would.
        self.tidy_up();
        Ok(())
    }

    /// What the action of a snapshot left behind; `None` when nobody looked.
    pub(crate) fn footprint(&self, of: SnapshotId) -> Option<Footprint> {
        let path = self.footprint_path(of);
        decode(&fs::read(&path).ok()?, &path).ok()
    }

    pub(crate) fn footprint_path(&self, of: SnapshotId) -> PathBuf {
        self.directory().join("footprints").join(of.to_string())
    }
}

struct Look {
    since: FileTime,
    left: usize,
    content: u64,
    traces: BTreeMap<SavedPath, Trace>,
}

impl Look {
    fn file(&mut self, path: &Path, found: &Stat) {
        if metadata::changed(found) < self.since {
            return;
        }
        // What is written to a database may all be in its log, and comes into the database later.
        let database = log_of(path).and_then(|database| Some((stat(&database).ok()?, database)));
        if let Some((found, database)) = database {
            self.trace(&database, &found);
        }
        self.trace(path, found);
    }

    /// Of a directory the mode counts: its times change with what is in it.
    fn directory(&mut self, path: &Path, found: &Stat) {
        let changed = metadata::changed(found);
        if changed >= self.since {
            let trace = Trace { inode: found.st_ino, length: 0, mode: found.st_mode, changed, content: None };
            self.traces.insert(SavedPath::from(path), trace);
        }
    }

    fn trace(&mut self, path: &Path, found: &Stat) {
        let length = metadata::length(found);
        let is_file = metadata::kind(found) == FileType::RegularFile;
        let settled = if is_file { settled(path, self.content) } else { None };
        let (read, content) = match settled {
            Some(settled) => (settled.len() as u64, Some(ObjectId::of(&settled))),
            None if is_file && length <= FILE.min(self.content) => (length, content_of(path, length)),
            None => (0, None),
        };
        if content.is_some() {
            self.content = self.content.saturating_sub(read);
        }
        let changed = metadata::changed(found);
        let trace = Trace { inode: found.st_ino, length, mode: found.st_mode, changed, content };
        self.traces.insert(SavedPath::from(path), trace);
    }
}

/// What tells what a database holds from others, by its path or that of its log: with what is in the log. `None` without a log.
pub(crate) fn settled_identity(path: &Path) -> Option<ObjectId> {
    settled(path, LOOKED_AT).map(|bytes| ObjectId::of(&bytes))
}

/// What a footprint tells the content of a file by; `None` where that is too much to read, or cannot be read.
pub(crate) fn content_identity(path: &Path, found: &Stat) -> Option<ObjectId> {
    let length = metadata::length(found);
    settled_identity(path).or_else(|| (length <= FILE).then(|| content_of(path, length))?)
}

fn content_of(path: &Path, length: u64) -> Option<ObjectId> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(length + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 == length).then(|| identity(path, &bytes))
}

/// What tells a content from others. The index of git is written anew whenever somebody looks, with nothing but other times.
pub(crate) fn identity(path: &Path, bytes: &[u8]) -> ObjectId {
    let shared = |name: &str| fs::read(path.with_file_name(name)).ok();
    let entries = if is_git_index(path) { without_times(bytes, shared) } else { None };
    ObjectId::of(entries.as_deref().unwrap_or(bytes))
}

/// Whether a path has the name that git gives to its index.
pub(crate) fn is_git_index(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "index")
}
