//! Databases in files that somebody has open.
//!
//! SQLite keeps what was written last in a second file, and what it knows of that in memory. Files that are changed under it are written
//! over when it closes them, or leave it with halves of two databases. So they are put back only when nobody has them open.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::process::{Flock, FlockType, fcntl_getlk};

/// How a database begins (`fileformat2`, section 1.3).
const HEADER: &[u8; 16] = b"SQLite format 3\0";

/// What stands beside a database: what was written last, what is known of that, what was there before (`tempfiles`, section 2).
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Returns the database that somebody has open, of those that are among these files or belong to one: where, and who.
pub(crate) fn in_use<'a>(changed: impl Iterator<Item = &'a Path>) -> Option<(PathBuf, String)> {
    let databases: BTreeSet<PathBuf> = changed.filter_map(database_of).collect();
    databases.into_iter().find_map(|database| {
        let files: Vec<PathBuf> = std::iter::once(database.clone())
            .chain(BESIDE.iter().map(|end| beside(&database, end)))
            .collect();
        let who = files.iter().find_map(|file| locked_by(file)).or_else(|| opened_by(&files))?;
        Some((database, who))
    })
}

/// Whether a file is the log of a database: without the other it is worse than nothing.
pub(crate) fn log_of(path: &Path) -> Option<PathBuf> {
    let name = path.as_os_str().to_str()?;
    let database = name.strip_suffix("-wal").or_else(|| name.strip_suffix("-journal"))?;
    Some(PathBuf::from(database))
}

/// The files beside a database whose content belongs to it.
pub(crate) fn logs(database: &Path) -> [PathBuf; 2] {
    [beside(database, "-wal"), beside(database, "-journal")]
}

/// Returns what a database holds with the log beside it, of which `path` is either: the same before and after the log is carried over into
/// the database, as `SQLite` does when the last one closes it. `None` without such a log, or when both are longer than `limit` bytes.
pub(crate) fn settled(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let database = log_of(path).unwrap_or_else(|| path.to_owned());
    let [log, _] = logs(&database);
    let frames = read(&log, limit)?;
    let mut bytes = read(&database, limit.checked_sub(frames.len() as u64)?)?;
    (is_database(&bytes) && carry_over(&mut bytes, &frames).is_some()).then_some(bytes)
}

fn read(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let length = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?.len();
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(limit.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    (length > 0 && bytes.len() as u64 == length && length <= limit).then_some(bytes)
}

/// The length of the header of a log, and of that of each frame in it (`walformat`, sections 2.1 and 2.2).
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// Writes the pages of all whole commits of a log into a database (`fileformat2`, section 4). `None` when the log holds none.
fn carry_over(database: &mut Vec<u8>, log: &[u8]) -> Option<()> {
    let number = |bytes: &[u8], at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let magic = number(log, 0)?;
    if magic & !1 != 0x377f_0682 {
        return None;
    }
    let is_big_endian = magic & 1 == 1;
    let page = usize::try_from(number(log, 8)?).ok()?;
    let salts = log.get(16..24)?;
    let mut sums = summed((0, 0), log.get(..24)?, is_big_endian)?;
    if page < 512 || (number(log, 24)?, number(log, 28)?) != sums {
        return None;
    }
    let mut pages: BTreeMap<usize, &[u8]> = BTreeMap::new();
    let mut committed = None;
    for frame in log.get(LOG_HEADER..)?.chunks_exact(FRAME_HEADER + page) {
        let (header, content) = frame.split_at(FRAME_HEADER);
        sums = summed(summed(sums, header.get(..8)?, is_big_endian)?, content, is_big_endian)?;
        // What is left from before the log began anew does not count.
        if header.get(8..16)? != salts || (number(header, 16)?, number(header, 20)?) != sums {
            break;
        }
        pages.insert(usize::try_from(number(header, 0)?).ok()?.checked_sub(1)?, content);
        let length = usize::try_from(number(header, 4)?).ok()?;
        if length > 0 {
            let length = length.checked_mul(page)?;
            // A log of so few frames cannot make a database longer than both.
            if length > database.len().checked_add(log.len())? {
                return None;
            }
            database.resize(length, 0);
            for (index, content) in std::mem::take(&mut pages) {
                let start = index.checked_mul(page)?;
                if let Some(place) = database.get_mut(start..start + page) {
                    place.copy_from_slice(content);
                }
            }
            committed = Some(());
        }
    }
    committed
}

/// Goes on with the sums of a log (`walformat`, section 4.2).
fn summed((mut first, mut second): (u32, u32), bytes: &[u8], is_big_endian: bool) -> Option<(u32, u32)> {
    let number = |bytes: &[u8]| {
        let bytes = bytes.try_into().ok()?;
        Some(if is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    };
    for pair in bytes.chunks_exact(8) {
        let (one, other) = pair.split_at(4);
        first = first.wrapping_add(number(one)?).wrapping_add(second);
        second = second.wrapping_add(number(other)?).wrapping_add(first);
    }
    Some((first, second))
}

/// Whether a content is that of a database.
pub(crate) fn is_database(content: &[u8]) -> bool {
    content.starts_with(HEADER)
}

/// The database that a file is or belongs to.
fn database_of(path: &Path) -> Option<PathBuf> {
    if begins_as_database(path) {
        return Some(path.to_owned());
    }
    let text = path.as_os_str().as_encoded_bytes();
    let end = BESIDE.iter().find(|end| text.ends_with(end.as_bytes()))?;
    let name = path.file_name()?.to_str()?.strip_suffix(end)?;
    let database = path.with_file_name(name);
    database.exists().then_some(database)
}

fn begins_as_database(path: &Path) -> bool {
    let mut header = [0; HEADER.len()];
    let is_file = fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file());
    is_file && File::open(path).and_then(|mut file| file.read_exact(&mut header)).is_ok() && header == *HEADER
}

fn beside(database: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(end);
    PathBuf::from(name)
}

/// Who holds a lock on any part of a file.
fn locked_by(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    let found = fcntl_getlk(&file, &Flock::from(FlockType::WriteLock)).ok()??;
    Some(
        found
            .pid
            .map_or_else(|| "another process".to_owned(), |pid| named(&pid.as_raw_nonzero().to_string())),
    )
}

/// Which process has one of these files open, as far as one may look.
fn opened_by(files: &[PathBuf]) -> Option<String> {
    let numbers: BTreeSet<(u64, u64)> = files
        .iter()
        .filter_map(|file| fs::metadata(file).ok())
        .map(|facts| (facts.dev(), facts.ino()))
        .collect();
    let own = std::process::id().to_string();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().into_string().ok());
    let holds = |pid: &String| {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.filter_map(|entry| fs::metadata(entry.path()).ok())
            .any(|facts| numbers.contains(&(facts.dev(), facts.ino())))
    };
    pids.filter(|pid| pid.bytes().all(|byte| byte.is_ascii_digit()) && *pid != own)
        .find(holds)
        .map(|pid| named(&pid))
}

fn named(pid: &str) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    match name.trim_end() {
        "" => format!("process {pid}"),
        name => format!("process {pid} (`{name}`)"),
    }
}
