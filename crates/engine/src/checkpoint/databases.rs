//! Saving a database that somebody has open: the file and the log of what is not in it yet must be of one moment.
//!
//! `SQLite` appends to the log (`-wal`) until it carries all of it over into the database, and only then begins the log anew
//! (<https://www.sqlite.org/walformat.html>). While the database stays as it is the log only grows, and what stands behind its last
//! whole commit does not count. So the two belong together when the database did not change from before it was read until after the log was.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use checkrein_protocol::AbsolutePath;
use checkrein_snapshot::{
    CaptureOptions, CaptureOutcome, CaptureRequest, SnapshotDraft, SnapshotError, capture,
};

/// How often a database that changes while it is read is read again (ours).
const TRIES: usize = 4;

/// How a capture ended.
pub(super) enum Settled {
    /// Every database in it is of one moment.
    Whole(CaptureOutcome),
    /// This one changed each time while it was read.
    Busy(PathBuf),
}

/// Captures places; a database with a log beside it again, when it changed meanwhile.
pub(super) fn capture_settled(
    draft: &SnapshotDraft,
    wanted: &[CaptureRequest],
    manner: &CaptureOptions<'_>,
) -> Result<Settled, SnapshotError> {
    let paths = wanted.iter().map(|one| one.path.as_path());
    settled(&paths.filter(|path| has_log(path)).collect::<Vec<_>>(), || capture(draft, wanted, manner))
}

/// What stands beside a database and belongs to it (`tempfiles`, section 2).
const BESIDE: [&str; 3] = ["-wal", "-journal", "-shm"];

/// The files that belong to a database, as far as they stand beside it.
pub(super) fn beside(path: &AbsolutePath) -> Vec<AbsolutePath> {
    let is_file =
        |path: &AbsolutePath| fs::symlink_metadata(path.as_str()).is_ok_and(|facts| facts.is_file());
    if !is_file(path) {
        return Vec::new();
    }
    let named = BESIDE.iter().filter_map(|end| AbsolutePath::new(&format!("{}{end}", path.as_str())));
    named.filter(is_file).collect()
}

fn settled(
    databases: &[&Path],
    mut capture: impl FnMut() -> Result<CaptureOutcome, SnapshotError>,
) -> Result<Settled, SnapshotError> {
    let mut changed = PathBuf::new();
    for _ in 0..TRIES {
        let before: Vec<_> = databases.iter().map(|path| state(path)).collect();
        let ended = capture()?;
        match databases.iter().zip(before).find(|(path, before)| state(path) != *before) {
            None => return Ok(Settled::Whole(ended)),
            Some((path, _)) => changed = path.to_path_buf(),
        }
    }
    Ok(Settled::Busy(changed))
}

fn has_log(path: &Path) -> bool {
    let mut log = OsString::from(path);
    log.push("-wal");
    fs::symlink_metadata(log).is_ok_and(|facts| facts.is_file() && facts.len() > 0)
}

/// What differs when a file was written to.
fn state(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let facts = fs::metadata(path).ok()?;
    Some((facts.ino(), facts.len(), facts.ctime(), facts.ctime_nsec()))
}

#[cfg(test)]
mod tests {
    use checkrein_snapshot::LimitExceeded;

    use super::*;

    /// How often a database is read that is written to during the first so many times.
    fn reads(writes: usize) -> (usize, Settled) {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("app.db");
        fs::write(&database, "pages").unwrap();
        fs::write(folder.path().join("app.db-wal"), "frames").unwrap();
        assert!(has_log(&database) && !has_log(&folder.path().join("other.db")));
        let mut count = 0;
        let ended = settled(&[database.as_path()], || {
            count += 1;
            if count <= writes {
                fs::write(&database, "pages".repeat(count + 1)).unwrap();
            }
            Ok(CaptureOutcome::Over(LimitExceeded::Time))
        });
        (count, ended.unwrap())
    }

    #[test]
    fn a_database_that_is_written_to_is_read_again_until_it_is_still() {
        assert!(matches!(reads(0), (1, Settled::Whole(_))));
        assert!(matches!(reads(2), (3, Settled::Whole(_))));
        let (count, ended) = reads(usize::MAX - 1);
        assert!(count == TRIES && matches!(ended, Settled::Busy(path) if path.ends_with("app.db")));
    }
}
