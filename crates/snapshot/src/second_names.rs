//! Names of our own for files that have several names.
//!
//! What is written through one name of a file is lost under all of them, also when that name goes in the same action. The others may be
//! anywhere. So a file of several names that is saved gets one more, in the store. Through that one the saved content goes back into the
//! file itself, and a name that went becomes a name of it again, without a search. On another file system, and for files that the kernel
//! lets nobody link, and where snapshots are sealed, there is none: then it is written down how many names the file had. Pruning takes both away with the last snapshot
//! that holds the file.
//!
//! Where somebody wrote to the others since, what a restore puts back becomes a file of its own. It gets a name here too, that of the heir:
//! going further back, it stands for the file that it was.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{CStr, CString};
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode};
use rustix::io::Errno;

use crate::error::SnapshotError;
use crate::id::ObjectId;
use crate::index::replace;
use crate::lookup::stat;
use crate::metadata;
use crate::node::{FileTime, LinkGroup};
use crate::pack::PART;
use crate::store::{Store, create_directory};
use crate::system::{self, Stat};

/// How many files get a name while one snapshot is taken (ours): some 10 microseconds each, once for each file.
const MOST: usize = 5_000;

/// How much is read of what is known of the times that naming changed, in bytes (ours): that of some 50,000 files.
const LONGEST: u64 = 4 * 1024 * 1024;

/// How much of it is read to be cut when snapshots are removed (ours): what grew above that once becomes short again.
const LONGEST_CUT: u64 = 64 * LONGEST;

/// The file in which that is.
const TIMES: &str = "times";

/// Of how many files without a name it is known how many names they have (ours).
const COUNTED: usize = 20_000;

/// Gives files names while a snapshot is taken.
#[derive(Debug)]
pub(crate) struct Naming {
    store: Store,
    /// Opened with the first file of several names; `None` where the folder cannot be made.
    open: OnceLock<Option<(OwnedFd, u64)>>,
    left: AtomicUsize,
    /// The times of status change before and after each naming, as they are written down.
    times: Mutex<String>,
    /// How many names files have that get none.
    counts: Mutex<BTreeMap<LinkGroup, u64>>,
}

impl Naming {
    pub(crate) fn of(store: &Store) -> Self {
        Self {
            store: store.clone(),
            open: OnceLock::new(),
            left: AtomicUsize::new(MOST),
            times: Mutex::default(),
            counts: Mutex::default(),
        }
    }

    /// Gives a file that has several names one more, unless it has that already; `path` is where it was found.
    pub(crate) fn name(&self, place: impl AsFd, name: &CStr, found: &Stat, path: &[u8]) {
        let Some(of) = metadata::links(found) else { return };
        // Objects of git have names of their own already, and nobody writes to them.
        if is_object_of_git(path) {
            return;
        }
        // A file that runs with the rights of its owner must be able to go. A name in the store would keep the content in the clear there.
        if found.st_mode & 0o6000 != 0 || self.store.seals().is_sealing() {
            return self.count(of, found);
        }
        let Some((folder, device)) = self.open.get_or_init(|| open(&self.store.names_folder())) else {
            return;
        };
        let Ok(own) = CString::new(file_name(of)) else { return };
        if *device != of.device {
            return self.count(of, found);
        }
        if metadata::facts(folder, &own).is_ok() {
            return;
        }
        let take = |left: usize| left.checked_sub(1);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err()
            || rustix::fs::linkat(place, name, folder, &own, AtFlags::empty()).is_err()
        {
            return self.count(of, found);
        }
        match metadata::facts(folder, &own) {
            Ok(named) if (named.st_dev, named.st_ino) == (of.device, of.inode) => {
                let (before, after) = (metadata::changed(found), metadata::changed(&named));
                let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
                times.push_str(&line(of, before, after));
            }
            // Something else stands there by now.
            Ok(_) | Err(_) => drop(rustix::fs::unlinkat(folder, &own, AtFlags::empty())),
        }
    }
}

impl Naming {
    /// Remembers how many names a file has that gets none.
    fn count(&self, of: LinkGroup, found: &Stat) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() < COUNTED {
            counts.insert(of, found.st_nlink);
        }
    }

    /// What is not written down yet of how many names files have.
    fn new_counts(&self) -> String {
        let counts = std::mem::take(&mut *self.counts.lock().unwrap_or_else(PoisonError::into_inner));
        if counts.is_empty() || create_directory(&self.store.names_folder()).is_err() {
            return String::new();
        }
        let known = self.store.naming_times().counts;
        let room = COUNTED.saturating_sub(known.len());
        let is_new = |(of, count): &(LinkGroup, u64)| known.get(of) != Some(count);
        counts.into_iter().filter(is_new).take(room).map(|(of, count)| count_line(of, count)).collect()
    }
}

impl Drop for Naming {
    fn drop(&mut self) {
        let mut times = std::mem::take(&mut *self.times.lock().unwrap_or_else(PoisonError::into_inner));
        times.push_str(&self.new_counts());
        if times.is_empty() {
            return;
        }
        self.store.note_times(&times);
    }
}

fn open(folder: &Path) -> Option<(OwnedFd, u64)> {
    create_directory(folder).ok()?;
    let open = metadata::open_place(folder).ok()?;
    let device = system::stat_of(&open).ok()?.st_dev;
    Some((open, device))
}

/// Whether a path is that of an object of a repository, by its name.
fn is_object_of_git(path: &[u8]) -> bool {
    let has = |part: &[u8]| path.windows(part.len()).any(|window| window == part);
    has(b".git/") && has(b"/objects/")
}

fn file_name(of: LinkGroup) -> String {
    format!("{}-{}", of.device, of.inode)
}

/// Where the name is of what a restore made of a file.
fn heir_name(of: LinkGroup) -> String {
    format!("{}.heir", file_name(of))
}

fn count_line(LinkGroup { device, inode }: LinkGroup, count: u64) -> String {
    format!("{device} {inode} {count}\n")
}

fn read_count(line: &str) -> Option<(LinkGroup, u64)> {
    let parts: Vec<u64> = line.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
    match parts[..] {
        [device, inode, count] => Some((LinkGroup { device, inode }, count)),
        _ => None,
    }
}

fn line(of: LinkGroup, before: FileTime, after: FileTime) -> String {
    let LinkGroup { device, inode } = of;
    let (FileTime { seconds: s, nanoseconds: n }, FileTime { seconds: t, nanoseconds: m }) = (before, after);
    format!("{device} {inode} {s} {n} {t} {m}\n")
}

fn read_line(line: &str) -> Option<(LinkGroup, FileTime, FileTime)> {
    let mut parts = line.split(' ');
    let of = LinkGroup { device: parts.next()?.parse().ok()?, inode: parts.next()?.parse().ok()? };
    let mut time = || {
        let seconds = parts.next()?.parse().ok()?;
        Some(FileTime { seconds, nanoseconds: parts.next()?.parse().ok()? })
    };
    Some((of, time()?, time()?))
}

/// When files seem to have changed because they were named, and when they really had; and how many names those had that got none.
#[derive(Debug, Clone, Default)]
pub struct NamingTimes {
    times: HashMap<LinkGroup, Vec<(FileTime, FileTime)>>,
    counts: HashMap<LinkGroup, u64>,
}

impl NamingTimes {
    /// Whether nothing has changed of a file since it was named, so that its time of status change tells of that alone.
    pub fn explain(&self, path: &Path) -> bool {
        !self.times.is_empty() && stat(path).is_ok_and(|found| self.before(&found).is_some())
    }

    /// When something really changed of a file that has only been named since; `None` for any other.
    pub(crate) fn before(&self, found: &Stat) -> Option<FileTime> {
        let of = LinkGroup { device: found.st_dev, inode: found.st_ino };
        let changed = metadata::changed(found);
        let times = self.times.get(&of)?;
        times.iter().rev().find(|(_, after)| *after == changed).map(|(before, _)| *before)
    }

    /// How many names a file had that got none here when it was saved last.
    pub(crate) fn count(&self, of: LinkGroup) -> Option<u64> {
        self.counts.get(&of).copied()
    }
}

impl Store {
    /// The folder of the names, by its real path: no directory on the way to what is put back may be a link.
    pub(crate) fn names_folder(&self) -> PathBuf {
        let directory = fs::canonicalize(self.directory());
        directory.unwrap_or_else(|_| self.directory().to_owned()).join("names")
    }

    /// Our own name for a file, where it still has it.
    pub(crate) fn own_name(&self, of: LinkGroup) -> Option<PathBuf> {
        let path = self.names_folder().join(file_name(of));
        let found = stat(&path).ok()?;
        (found.st_ino == of.inode && metadata::kind(&found) == FileType::RegularFile).then_some(path)
    }

    /// The name of what a restore made of a file of which the other names had been changed since.
    pub(crate) fn heir_name(&self, of: LinkGroup) -> Option<PathBuf> {
        let path = self.names_folder().join(heir_name(of));
        let found = stat(&path).ok()?;
        (metadata::kind(&found) == FileType::RegularFile).then_some(path)
    }

    /// Gives what a restore made of a file a name, in place of what an earlier one made of it. Where that cannot be done, going further back
    /// finds the file under the names alone that are put back then.
    pub(crate) fn name_heir(&self, of: LinkGroup, path: &Path) {
        let Ok(found) = stat(path) else { return };
        let own = self.names_folder().join(heir_name(of));
        let is_ordinary = metadata::kind(&found) == FileType::RegularFile && found.st_mode & 0o6000 == 0;
        if is_ordinary && !self.seals().is_sealing() && create_directory(&self.names_folder()).is_ok() {
            drop(fs::remove_file(&own));
            if fs::hard_link(path, &own).is_ok() {
                self.heir_is_settled(of, &own);
            }
        }
    }

    /// Notes that what a restore did to an heir is no change of anybody's.
    pub(crate) fn heir_is_settled(&self, of: LinkGroup, path: &Path) {
        let own = self.names_folder().join(heir_name(of));
        if let (true, Ok(found)) = (own == path, stat(path)) {
            let number = LinkGroup { device: found.st_dev, inode: found.st_ino };
            let never = FileTime { seconds: 0, nanoseconds: 0 };
            self.note_times(&line(number, never, metadata::changed(&found)));
        }
    }

    /// Writes down what is known of the times that naming changed. Without it a file may seem to have changed when it was named.
    fn note_times(&self, times: &str) {
        let path = self.names_folder().join(TIMES);
        let mut options = OpenOptions::new();
        drop(
            checkrein_files::open_with(options.append(true).create(true).mode(0o600), &path)
                .and_then(|mut file| file.write_all(times.as_bytes())),
        );
    }

    /// Our own names for all files that have one.
    pub(crate) fn own_names(&self) -> impl Iterator<Item = PathBuf> + use<> {
        let entries = fs::read_dir(self.names_folder()).into_iter().flatten().flatten();
        entries.filter(|entry| entry.file_name() != TIMES).map(|entry| entry.path())
    }

    /// When files seem to have changed because they were named here.
    pub fn naming_times(&self) -> NamingTimes {
        let text = checkrein_files::read_text(self.names_folder().join(TIMES), LONGEST).unwrap_or_default();
        let mut found = NamingTimes::default();
        for (of, before, after) in text.lines().filter_map(read_line) {
            found.times.entry(of).or_default().push((before, after));
        }
        found.counts.extend(text.lines().filter_map(read_count));
        found
    }

    /// Takes away our names for all files but these, so that what is gone elsewhere is gone.
    pub(crate) fn forget_names(&self, needed: &BTreeSet<LinkGroup>) -> Result<(), SnapshotError> {
        let kept: BTreeSet<String> = needed.iter().flat_map(|of| [file_name(*of), heir_name(*of)]).collect();
        let is_kept = |path: &Path| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| kept.contains(name))
        };
        // What is known of the times of an heir is known by its own number.
        let number = |path: PathBuf| {
            stat(&path).ok().map(|found| LinkGroup { device: found.st_dev, inode: found.st_ino })
        };
        let named: BTreeSet<LinkGroup> =
            self.own_names().filter(|path| is_kept(path)).filter_map(number).collect();
        for path in self.own_names().filter(|path| !is_kept(path)) {
            fs::remove_file(&path).map_err(SnapshotError::write(&path))?;
        }
        let path = self.names_folder().join(TIMES);
        let Ok(text) = checkrein_files::read_text(&path, LONGEST_CUT) else { return Ok(()) };
        let times = text.lines().filter_map(read_line);
        let times = times.filter(|(of, ..)| needed.contains(of) || named.contains(of));
        let counts: BTreeMap<LinkGroup, u64> = text.lines().filter_map(read_count).collect();
        let counts = counts.into_iter().filter(|(of, _)| needed.contains(of));
        let times = times.map(|(of, before, after)| line(of, before, after));
        let still: String = times.chain(counts.map(|(of, count)| count_line(of, count))).collect();
        if still == text { Ok(()) } else { replace(&path, still.as_bytes()) }
    }
}

/// How what a file holds compares with a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// It is that.
    Same,
    /// It is the beginning of it, or nothing: whoever writes the content over it loses nothing.
    Beginning,
    /// It is something else, or cannot be read.
    Other,
}

/// Compares a file with the parts of a content of some length; `read` gives what a part holds.
pub(crate) fn likeness(
    path: &Path,
    parts: &[ObjectId],
    length: u64,
    read: impl Fn(&ObjectId) -> Option<Vec<u8>>,
) -> Likeness {
    let Ok(mut file) = open_own(path) else { return Likeness::Other };
    let Ok(facts) = file.metadata() else { return Likeness::Other };
    if facts.len() > length {
        return Likeness::Other;
    }
    for part in parts {
        let mut found = Vec::new();
        if { (&mut file).take(PART as u64) }.read_to_end(&mut found).is_err() {
            return Likeness::Other;
        }
        if ObjectId::of(&found) == *part {
            continue;
        }
        let is_beginning = read(part).is_some_and(|part| part.starts_with(&found));
        let mut is_end = || file.read(&mut [0]).is_ok_and(|more| more == 0);
        return if is_beginning && is_end() { Likeness::Beginning } else { Likeness::Other };
    }
    if facts.len() == length { Likeness::Same } else { Likeness::Other }
}

/// Opens a file for reading; one's own that is closed even to oneself too, and it is at once as it was.
fn open_own(path: &Path) -> Result<File, Errno> {
    let flags = rustix::fs::OFlags::RDONLY
        | rustix::fs::OFlags::NOFOLLOW
        | rustix::fs::OFlags::NONBLOCK
        | rustix::fs::OFlags::CLOEXEC;
    let open = || rustix::fs::open(path, flags, Mode::empty()).map(File::from);
    let opened = open();
    let (Err(Errno::ACCESS), Ok(found)) = (&opened, stat(path)) else { return opened };
    let own = rustix::process::geteuid().as_raw();
    if found.st_uid != own || metadata::kind(&found) != FileType::RegularFile {
        return opened;
    }
    let mode = found.st_mode & 0o7777;
    rustix::fs::chmod(path, system::mode(mode | 0o400))?;
    let opened = open();
    rustix::fs::chmod(path, system::mode(mode))?;
    opened
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_holds_is_compared_part_by_part() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("file");
        let whole = b"some text".to_vec();
        let parts = [ObjectId::of(&whole)];
        for (text, expected) in [
            (&b"some text"[..], Likeness::Same),
            (b"some", Likeness::Beginning),
            (b"", Likeness::Beginning),
            (b"some test", Likeness::Other),
            (b"some text, and more", Likeness::Other),
        ] {
            fs::write(&path, text).unwrap();
            let found = likeness(&path, &parts, whole.len() as u64, |_| Some(whole.clone()));
            assert_eq!(found, expected, "{:?}", String::from_utf8_lossy(text));
        }
        assert_eq!(likeness(&scratch.path().join("none"), &parts, 9, |_| None), Likeness::Other);
    }

    #[test]
    fn times_are_written_down_and_read_again() {
        let of = LinkGroup { device: 7, inode: u64::MAX };
        let before = FileTime { seconds: -3, nanoseconds: 5 };
        let after = FileTime { seconds: 8, nanoseconds: 0 };
        assert_eq!(read_line(line(of, before, after).trim_end()), Some((of, before, after)));
        assert_eq!(read_line("7 8 9"), None);
        assert_eq!(read_count(count_line(of, 3).trim_end()), Some((of, 3)));
        assert_eq!(read_count(line(of, after, after).trim_end()), None);
    }
}
