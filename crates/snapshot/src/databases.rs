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
/// `known` are those of which it is known that a database stood there, whatever stands there now.
pub(crate) fn in_use<'a>(
    changed: impl Iterator<Item = &'a Path>,
    known: impl Iterator<Item = &'a Path>,
) -> Option<(PathBuf, String)> {
    let databases: BTreeSet<PathBuf> =
        changed.filter_map(database_of).chain(known.map(Path::to_owned)).collect();
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

/// The longest page that a database may have (`fileformat2`, section 1.3.2).
const LONGEST_PAGE: usize = 65_536;

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
    if !(512..=LONGEST_PAGE).contains(&page) || (number(log, 24)?, number(log, 28)?) != sums {
        return None;
    }
    // A log of so few frames cannot make a database longer than both. What it says of itself is bounded once: each commit may name another
    // length, and the last one counts.
    let longest = database.len().checked_add(log.len())?;
    let mut written: BTreeMap<usize, &[u8]> = BTreeMap::new();
    let mut committed: BTreeMap<usize, &[u8]> = BTreeMap::new();
    let mut length = None;
    for frame in log.get(LOG_HEADER..)?.chunks_exact(FRAME_HEADER + page) {
        let (header, content) = frame.split_at(FRAME_HEADER);
        sums = summed(summed(sums, header.get(..8)?, is_big_endian)?, content, is_big_endian)?;
        // What is left from before the log began anew does not count.
        if header.get(8..16)? != salts || (number(header, 16)?, number(header, 20)?) != sums {
            break;
        }
        written.insert(usize::try_from(number(header, 0)?).ok()?.checked_sub(1)?, content);
        let pages = usize::try_from(number(header, 4)?).ok()?;
        if pages > 0 {
            length = Some(pages.checked_mul(page).filter(|length| *length <= longest)?);
            committed.extend(std::mem::take(&mut written));
        }
    }
    database.resize(length?, 0);
    for (index, content) in committed {
        let start = index.checked_mul(page)?;
        if let Some(place) = database.get_mut(start..start.checked_add(page)?) {
            place.copy_from_slice(content);
        }
    }
    Some(())
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

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const PAGE: usize = 512;

    /// A log with whole sums, of one page for each commit, that says how many pages the database has after it.
    fn log(commits: impl Iterator<Item = usize>) -> Vec<u8> {
        let bytes = |numbers: &[usize]| {
            numbers
                .iter()
                .flat_map(|number| u32::try_from(*number).unwrap().to_be_bytes())
                .collect::<Vec<u8>>()
        };
        let sums = |(first, second): (u32, u32)| [first.to_be_bytes(), second.to_be_bytes()].concat();
        let mut log = bytes(&[0x377f_0683, 3_007_000, PAGE, 0, 7, 8]);
        let mut sum = summed((0, 0), &log, true).unwrap();
        log.extend(sums(sum));
        for pages in commits {
            let header = bytes(&[1, pages]);
            let mut content = vec![b'x'; PAGE];
            content[..HEADER.len()].copy_from_slice(HEADER);
            sum = summed(summed(sum, &header, true).unwrap(), &content, true).unwrap();
            log.extend([header, bytes(&[7, 8]), sums(sum), content].concat());
        }
        log
    }

    #[test]
    fn a_log_makes_no_database_longer_than_both_however_many_commits_it_holds() {
        let database = [&HEADER[..], &[0; PAGE - HEADER.len()]].concat();
        let frames = 200;
        let length = log((0..frames).map(|_| 1)).len();
        let both = database.len() + length;
        // Each commit is within the bound only of what the one before it would have made.
        let hostile = log((1..=frames).map(|commit| commit * (length / PAGE)));
        let mut held = database.clone();
        assert_eq!(carry_over(&mut held, &hostile), None);
        assert!(held.capacity() <= 2 * both, "{} of {both}", held.capacity());
        let mut held = database;
        assert_eq!(carry_over(&mut held, &log((1..=frames).map(|commit| 1 + commit % 3))), Some(()));
        assert_eq!(held.len(), PAGE * (1 + frames % 3));
    }

    #[test]
    fn a_log_is_carried_over_as_its_program_does_it() {
        for code in [
            "c.execute('INSERT INTO t VALUES (randomblob(9000))'); c.commit()",
            "[(c.execute('INSERT INTO t VALUES (randomblob(900))'), c.commit()) for _ in range(300)]",
            "c.execute('DELETE FROM t'); c.commit(); c.execute('VACUUM'); c.execute('INSERT INTO t VALUES (randomblob(90000))'); c.commit()",
            "c.execute('DELETE FROM t'); c.commit(); c.execute('VACUUM')",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let database = folder.path().join("app.db");
            let python = |code: &str| {
                let program = format!("import sqlite3, os\nc = sqlite3.connect('app.db')\n{code}\n");
                let status = Command::new("python3").args(["-c", &program]).current_dir(&folder).status();
                assert!(status.unwrap().success(), "{program}");
            };
            python(
                "c.execute('PRAGMA journal_mode=WAL'); c.execute('CREATE TABLE t(x)')\n\
                 c.execute('INSERT INTO t VALUES (randomblob(50000))'); c.commit(); c.close()",
            );
            // One that ends without closing leaves the log.
            python(&format!("{code}\nos._exit(0)"));
            let before = settled(&database, 8 * 1024 * 1024).unwrap();
            python("c.execute('SELECT count(*) FROM t').fetchone(); c.close()");
            assert!(fs::read(&database).unwrap() == before, "{code}");
        }
    }
}
