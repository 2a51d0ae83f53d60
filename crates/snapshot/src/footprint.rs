//! What an action left behind, so that what somebody changed later is told apart from it.
//!
//! Right after the action, the files that it can have changed are looked at. These are the files at the places of its snapshot, and other
//! known ones whose status changed since it began. What looks the same later was changed by nobody in between; by content where that was
//! little, else by number, length and time. What has no trace is told by the clock.

use std::collections::{BTreeMap, BTreeSet};
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
use crate::lookup::stat;
use crate::metadata;
use crate::node::{FileTime, SavedPart, SavedPath};
use crate::store::{Store, create_directory};
use crate::system::Stat;

/// How many names are looked at, and for how long, while an agent waits (ours).
const ENTRIES: usize = 20_000;
const TIME: Duration = Duration::from_millis(200);

/// Of how many files that were left as they were, below the places of an action, it is noted down how they stand (ours).
const UNTOUCHED: usize = 1_000;

/// Of what length files are read, and how much in all (ours); of the others number, length and time count.
const FILE: u64 = 1024 * 1024;
pub(crate) const LOOKED_AT: u64 = 8 * 1024 * 1024;

/// What these are bound to where they are sealed.
const ANNOUNCED: &[u8] = b"announced";
const FOOTPRINT: &[u8] = b"footprint";

/// After how many seconds without a change an action counts as over of which nobody tells the end (ours).
const PAUSE: i64 = 5;

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

    /// The number of the file that was left at a path, where something was.
    pub(crate) fn number(&self, path: &SavedPath) -> Option<u64> {
        self.traces.get(path).map(|trace| trace.inode).filter(|number| *number != Trace::NOTHING.inode)
    }

    /// When the status of what was left at a path had changed last.
    pub(crate) fn changed(&self, path: &SavedPath) -> Option<FileTime> {
        self.traces.get(path).map(|trace| trace.changed).filter(|changed| *changed != Trace::NOTHING.changed)
    }

    /// Until when one thing after the other changed from a moment on: what comes behind a pause may be somebody else's work, where it is not
    /// known when the action ended.
    pub(crate) fn busy_until(&self, from: FileTime) -> FileTime {
        let mut changes: Vec<FileTime> = self.traces.values().map(|trace| trace.changed).collect();
        changes.sort_unstable();
        let goes_on = |until: FileTime, changed: FileTime| changed.seconds - until.seconds <= PAUSE;
        let later = changes.into_iter().filter(|changed| *changed > from);
        let last = later.fold(from, |until, changed| if goes_on(until, changed) { changed } else { until });
        FileTime { seconds: last.seconds + PAUSE, ..last }
    }

    /// The mode with which the action left what stands at a path, with its kind, where its status changed while it ran.
    pub(crate) fn mode(&self, path: &SavedPath) -> Option<u32> {
        self.traces.get(path).map(|trace| trace.mode)
    }
}

/// What an action was to leave, by its words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Announced {
    /// What tells the content of each file or the target of each link from others: what it may be.
    contents: BTreeMap<SavedPath, Vec<ObjectId>>,
    /// What modes it was to give, one after the other, in the words of `chmod`.
    modes: BTreeMap<SavedPath, Vec<String>>,
    /// By the directory of a repository, what git was to write into its logs.
    logged: BTreeMap<SavedPath, Vec<LoggedStart>>,
}

/// The bits of a mode that are rights.
const RIGHTS: u32 = 0o7777;

/// What `chmod` leaves alone where nobody is named, as shells are set up (ours).
const UMASKS: [u32; 4] = [0o022, 0o002, 0o077, 0];

/// The mode that `chmod` makes of another, by its words; `None` for those that are not read here.
fn mode_after(words: &str, mode: u32, umask: u32) -> Option<u32> {
    if let Ok(bits) = u32::from_str_radix(words, 8) {
        return (words.len() <= 4).then_some(bits);
    }
    words.split(',').try_fold(mode, |mode, clause| {
        let at = clause.find(['+', '-', '='])?;
        let (who, what) = clause.split_at_checked(at)?;
        let (sign, letters) = what.split_at_checked(1)?;
        let mut classes = who.chars().map(|letter| match letter {
            'u' => Some(0o700),
            'g' => Some(0o070),
            'o' => Some(0o007),
            'a' => Some(0o777),
            _ => None,
        });
        let named = classes.try_fold(0, |all, class| Some(all | class?))?;
        let concerned = if who.is_empty() { 0o777 & !umask } else { named };
        let mut rights = letters.chars().map(|letter| match letter {
            'r' => Some(0o444),
            'w' => Some(0o222),
            'x' => Some(0o111),
            _ => None,
        });
        let bits = rights.try_fold(0, |all, right| Some(all | right?))? & concerned;
        Some(match sign {
            "+" => mode | bits,
            "-" => mode & !bits,
            _ => mode & !if who.is_empty() { 0o777 } else { concerned } | bits,
        })
    })
}

/// The message of an entry in a log of git, or how it begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedStart {
    /// The text, behind the name of the reference and a tab where it counts for that one alone.
    pub text: String,
    /// Whether that is all of it.
    pub extent: LoggedExtent,
}

/// How much of the message of an entry in a log is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoggedExtent {
    /// All of it.
    Whole,
    /// Its beginning.
    Start,
    /// The beginning of any number of them.
    Several,
}

impl Announced {
    /// Whether it is known what the action was to leave at a path.
    pub(crate) fn names(&self, path: &SavedPath) -> bool {
        self.contents.contains_key(path) || self.modes.contains_key(path)
    }

    /// Whether it is known what content or target the action was to leave at a path.
    pub(crate) fn names_content(&self, path: &SavedPath) -> bool {
        self.contents.contains_key(path)
    }

    /// Whether a file or link is what the action was to leave there.
    pub(crate) fn holds(&self, path: &SavedPath, content: Option<ObjectId>) -> bool {
        let known = self.contents.get(path);
        content.zip(known).is_some_and(|(content, known)| known.contains(&content))
    }

    /// Whether the action was to leave this content at a path that ends with a name.
    pub(crate) fn holds_below(&self, name: &Path, content: ObjectId) -> bool {
        let mut named = self.contents.iter().filter(|(path, _)| path.as_path().ends_with(name));
        named.any(|(_, known)| known.contains(&content))
    }

    /// Whether what stood at a path with one mode has just the one now that the action was to give it.
    pub(crate) fn gives_mode(&self, path: &SavedPath, then: u32, now: u32) -> bool {
        let Some(words) = self.modes.get(path) else { return false };
        UMASKS.iter().any(|umask| {
            let given = words.iter().try_fold(then & RIGHTS, |mode, words| mode_after(words, mode, *umask));
            given == Some(now & RIGHTS)
        })
    }

    /// The directories of the repositories in whose logs git was to write, with the messages.
    pub(crate) fn logged(&self) -> impl Iterator<Item = (&SavedPath, &[LoggedStart])> {
        self.logged.iter().map(|(directory, messages)| (directory, messages.as_slice()))
    }
}

impl Store {
    /// Keeps what an action is to leave beside the snapshot that was taken for it: by path, the content of files, the targets of links and the
    /// modes that are `given`, and by the directory of a repository what git is to write into its logs.
    pub fn keep_announced<'a>(
        &self,
        of: SnapshotId,
        left: impl Iterator<Item = (PathBuf, &'a [u8])>,
        given: impl Iterator<Item = (PathBuf, String)>,
        logs: impl Iterator<Item = (PathBuf, LoggedStart)>,
    ) -> Result<(), SnapshotError> {
        let mut modes: BTreeMap<SavedPath, Vec<String>> = BTreeMap::new();
        for (path, words) in given {
            modes.entry(SavedPath::from(path)).or_default().push(words);
        }
        let mut contents: BTreeMap<SavedPath, Vec<ObjectId>> = BTreeMap::new();
        for (path, bytes) in left {
            contents.entry(SavedPath::from(path)).or_default().push(ObjectId::of(bytes));
        }
        let mut logged: BTreeMap<SavedPath, Vec<LoggedStart>> = BTreeMap::new();
        for (directory, message) in logs {
            logged.entry(SavedPath::from(directory)).or_default().push(message);
        }
        let path = self.announced_path(of);
        create_directory(&self.directory().join("announced"))?;
        self.seals().write(&path, &Announced { contents, modes, logged }, ANNOUNCED)
    }

    /// What the action of a snapshot was to leave, as far as that is known.
    pub(crate) fn announced(&self, of: SnapshotId) -> Announced {
        let path = self.announced_path(of);
        let read = || self.seals().value(fs::read(&path).ok()?, &path, ANNOUNCED).ok();
        read().unwrap_or_default()
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
        let mut look =
            Look { since, left: ENTRIES, untouched: UNTOUCHED, content: LOOKED_AT, traces: BTreeMap::new() };
        let mut waiting: Vec<(PathBuf, SavedPart)> =
            snapshot.roots.iter().map(|root| (root.path.as_path().to_owned(), root.selection)).collect();
        let places: BTreeSet<PathBuf> = waiting.iter().map(|(path, _)| path.clone()).collect();
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
                let is_older = metadata::changed(&found) < since;
                if is_older && (places.contains(&path) || look.takes_untouched()) {
                    look.untouched(&path, &found);
                } else {
                    look.file(&path, &found);
                }
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
        self.seals().write(&path, &Footprint { at, traces: look.traces }, FOOTPRINT)?;
        // The action is over, so nobody waits for what the next one would.
        self.tidy_up();
        Ok(())
    }

    /// What the action of a snapshot left behind; `None` when nobody looked.
    pub(crate) fn footprint(&self, of: SnapshotId) -> Option<Footprint> {
        let path = self.footprint_path(of);
        self.seals().value(fs::read(&path).ok()?, &path, FOOTPRINT).ok()
    }

    pub(crate) fn footprint_path(&self, of: SnapshotId) -> PathBuf {
        self.directory().join("footprints").join(of.to_string())
    }
}

struct Look {
    since: FileTime,
    left: usize,
    untouched: usize,
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

    /// Whether there is room for one more that the action left as it was, below what it was about.
    fn takes_untouched(&mut self) -> bool {
        let rest = self.untouched.checked_sub(1);
        self.untouched = rest.unwrap_or_default();
        rest.is_some()
    }

    /// What the action was about and left as it was.
    fn untouched(&mut self, path: &Path, found: &Stat) {
        let (length, changed) = (metadata::length(found), metadata::changed(found));
        let trace = Trace { inode: found.st_ino, length, mode: found.st_mode, changed, content: None };
        // A database may be known already by what is in its log.
        self.traces.entry(SavedPath::from(path)).or_insert(trace);
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
