//! Databases in files that somebody has open.
//!
//! SQLite keeps what was written last in a second file, and what it knows of that in memory. Files that are changed under it are written
//! over when it closes them, or leave it with halves of two databases. So they are put back only when nobody has them open.

use std::collections::BTreeSet;
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
