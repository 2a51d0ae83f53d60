//! The index: a SQLite database over the ledgers of all sessions. It is a cache of theirs, and is made again whenever it is not one. What
//! decides about calls never opens it.
//!
//! | module | holds |
//! |---|---|
//! | `follower` | reading on where ledgers grow |
//! | `sums` | what one record adds to what is counted |
//! | `summary` | a record in one line |
//! | `query` | what is asked of it |

pub(crate) mod follower;
pub(crate) mod query;
mod summary;
mod sums;

pub(crate) use sums::DAY;

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

/// The form of the tables. Another one is made again.
const FORM: i64 = 4;
/// What tells our database from those of others: `chkr`.
const APPLICATION: i64 = 0x6368_6B72;
/// How long a reader or writer waits for another.
const PATIENCE: Duration = Duration::from_secs(5);
/// How much of the file a writer keeps in memory, in KiB (ours): what is written into an index by name lies all over it.
const CACHE: i64 = 32 * 1024;

const TABLES: &str = "
CREATE TABLE ledgers(
  number INTEGER PRIMARY KEY, folder TEXT NOT NULL UNIQUE, device INTEGER NOT NULL, inode INTEGER NOT NULL, read INTEGER NOT NULL);
CREATE TABLE sessions(
  folder TEXT PRIMARY KEY, session TEXT, client TEXT, workspace TEXT, task TEXT, started INTEGER, last INTEGER NOT NULL,
  records INTEGER NOT NULL DEFAULT 0, calls INTEGER NOT NULL DEFAULT 0, stopped INTEGER NOT NULL DEFAULT 0,
  issues INTEGER NOT NULL DEFAULT 0, open_issues INTEGER NOT NULL DEFAULT 0, rung TEXT,
  tokens INTEGER NOT NULL DEFAULT 0, micro_dollars INTEGER NOT NULL DEFAULT 0, unpriced INTEGER NOT NULL DEFAULT 0,
  last_call TEXT, last_verdict TEXT, ended INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE INDEX sessions_last ON sessions(last);
CREATE TABLE records(
  id INTEGER PRIMARY KEY, ledger INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, type TEXT NOT NULL, action TEXT,
  verdict TEXT, risk REAL, summary TEXT NOT NULL, place INTEGER NOT NULL, length INTEGER NOT NULL);
CREATE UNIQUE INDEX records_seq ON records(ledger, seq);
CREATE INDEX records_action ON records(ledger, action) WHERE action IS NOT NULL;
CREATE INDEX records_rare ON records(ledger, type, seq) WHERE type NOT IN ('review', 'outcome');
CREATE INDEX records_stopped ON records(ledger, verdict, seq) WHERE verdict IS NOT NULL AND verdict <> 'ok';
CREATE INDEX records_at ON records(at, id);
CREATE INDEX records_type ON records(type, at, id);
CREATE INDEX records_verdict ON records(verdict, at, id) WHERE verdict IS NOT NULL AND verdict <> 'ok';
CREATE TABLE sums(name TEXT NOT NULL, labels TEXT NOT NULL, value REAL NOT NULL, PRIMARY KEY(name, labels)) WITHOUT ROWID;
CREATE TABLE days(
  day INTEGER NOT NULL, what TEXT NOT NULL, name TEXT NOT NULL, value REAL NOT NULL, PRIMARY KEY(day, what, name)) WITHOUT ROWID;
CREATE TABLE open_interventions(
  folder TEXT NOT NULL, pattern TEXT NOT NULL, kind TEXT NOT NULL, PRIMARY KEY(folder, pattern)) WITHOUT ROWID;
CREATE TABLE transcripts(folder TEXT NOT NULL, file TEXT NOT NULL, offset INTEGER NOT NULL, PRIMARY KEY(folder, file)) WITHOUT ROWID;
CREATE TABLE opinions(folder TEXT NOT NULL, action TEXT NOT NULL, opinion TEXT NOT NULL, PRIMARY KEY(folder, action)) WITHOUT ROWID;
";

/// Where the index of a state directory is.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    path: PathBuf,
}

impl Index {
    /// The index of the state directory at `root`.
    pub(crate) fn of(root: &Path) -> Self {
        Self { path: root.join("index.db") }
    }

    /// A connection that writes. What is not our database, or has another form, is made again.
    pub(crate) fn writer(&self) -> rusqlite::Result<Connection> {
        if let Ok(connection) = self.open_own() {
            return Ok(connection);
        }
        self.remove();
        self.open_own()
    }

    /// Makes the index again from nothing.
    pub(crate) fn anew(&self) -> rusqlite::Result<Connection> {
        self.remove();
        self.open_own()
    }

    /// A connection that only reads.
    pub(crate) fn reader(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        Ok(connection)
    }

    /// The file by device and number; `None` where there is none.
    pub(crate) fn file(&self) -> Option<(u64, u64)> {
        let facts = std::fs::symlink_metadata(&self.path).ok()?;
        Some((facts.dev(), facts.ino()))
    }

    fn remove(&self) {
        for ending in ["", "-wal", "-shm"] {
            let mut path = self.path.clone().into_os_string();
            path.push(ending);
            drop(std::fs::remove_file(path));
        }
    }

    fn open_own(&self) -> rusqlite::Result<Connection> {
        // A link that somebody put there is not followed.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        drop(std::fs::set_permissions(&self.path, std::fs::Permissions::from_mode(0o600)));
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "normal")?;
        connection.pragma_update(None, "cache_size", -CACHE)?;
        // What was pruned must not stay readable in pages that are free.
        connection.pragma_update(None, "secure_delete", true)?;
        let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        match (number("application_id")?, number("user_version")?) {
            (APPLICATION, FORM) => {
                // A damaged file shows here, or while it is read.
                connection.query_row("SELECT count(*) FROM ledgers", [], |_| Ok(()))?;
            }
            (0, 0) => {
                connection.execute_batch(&format!(
                    "BEGIN EXCLUSIVE; {TABLES} PRAGMA application_id={APPLICATION}; PRAGMA user_version={FORM}; COMMIT;"
                ))?;
            }
            (_, _) => return Err(rusqlite::Error::InvalidQuery),
        }
        Ok(connection)
    }
}

#[cfg(test)]
mod tests;
