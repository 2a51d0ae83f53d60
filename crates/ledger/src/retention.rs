//! Removal: sessions go as a whole, and a chained record says what went, of other stores too.

use std::io::{Read as _, Write as _};
use std::time::Instant;

use checkrein_protocol::{Record, RecordBody, RecordHash, RemovedEntries, RemovedSession, Timestamp};

use crate::anchors;
use crate::error::LedgerError;
use crate::halt::is_halted;
use crate::hash_chain::{first_prev, seal};
use crate::ledger::{LOCK_WAIT, Ledger};
use crate::ledger_file::LedgerFile;
use crate::locked::{Locked, wait_for_lock};
use crate::projection::Projection;
use crate::read::{last, lines};
use crate::state_directory::{FolderName, StateDirectory, append_private, create_directory};

/// The name under which the heads of the record of removals are kept; no session has such a folder name.
pub(crate) const RETENTION_NAME: &str = ".retention";

/// How many sessions go with one record (ours); each is locked meanwhile.
const AT_ONCE: usize = 64;

/// What is written down of a session that goes, beside how far its ledger goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// When its last record was written.
    pub last: Timestamp,
    /// How many actions were reviewed.
    pub reviews: u64,
}

/// Removes every session that is due by its state at the time `now`; halted sessions stay. What is removed is written down first, durably
/// and with the reason; then the folders go. Returns what went.
pub fn remove<P: Projection>(
    home: &StateDirectory,
    now: Timestamp,
    reason: &str,
    is_due: impl Fn(&P) -> Option<Due>,
) -> Result<Vec<RemovedSession>, LedgerError> {
    let mut all_removed = Vec::new();
    for some in home.folders()?.chunks(AT_ONCE) {
        let mut removed = Vec::new();
        let mut held = Vec::new();
        for folder in some {
            let ledger = Ledger::of_folder(home, folder.clone());
            if let Some((gone, locked)) = lock_if_due(home, &ledger, &is_due)? {
                removed.push(gone);
                held.push((ledger, locked));
            }
        }
        if removed.is_empty() {
            continue;
        }
        let reason = reason.to_owned();
        let body = RecordBody::Retention { removed: removed.clone(), stores: Vec::new(), reason };
        write_down(home, now, body)?;
        for (ledger, locked) in held {
            take_away(home, ledger.folder())?;
            drop(locked);
        }
        all_removed.extend(removed);
    }
    Ok(all_removed)
}

/// Writes down, durably and before it happens, what is removed from stores that hold no sessions.
pub fn record_removal(
    home: &StateDirectory,
    now: Timestamp,
    reason: &str,
    stores: Vec<RemovedEntries>,
) -> Result<(), LedgerError> {
    let reason = reason.to_owned();
    write_down(home, now, RecordBody::Retention { removed: Vec::new(), stores, reason })
}

/// Every record of a removal, oldest first; lines that are none are left out, and are for the verifier to tell.
pub fn removals(home: &StateDirectory) -> Result<Vec<Record>, LedgerError> {
    let path = home.retention();
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for line in lines(&LedgerFile::without_keys(path))? {
        found.extend(line?.record);
    }
    Ok(found)
}

/// Locks a session that is due, so that nobody takes it up again before it is gone.
fn lock_if_due<P: Projection>(
    home: &StateDirectory,
    ledger: &Ledger<P>,
    is_due: &impl Fn(&P) -> Option<Due>,
) -> Result<Option<(RemovedSession, Locked)>, LedgerError> {
    if !ledger.path().exists()
        || is_halted(home, ledger.folder()).is_some()
        || is_due(&ledger.current()?.state).is_none()
    {
        return Ok(None);
    }
    let locked = ledger.lock()?;
    let cached = ledger.current()?;
    let gone = is_due(&cached.state).map(|due| RemovedSession {
        session: ledger.folder().as_str().to_owned(),
        records: cached.position.seq,
        last: due.last,
        hash: cached.position.hash,
        reviews: due.reviews,
    });
    Ok(gone.map(|gone| (gone, locked)))
}

/// Appends to the record of removals.
fn write_down(home: &StateDirectory, now: Timestamp, body: RecordBody) -> Result<(), LedgerError> {
    let path = home.retention();
    create_directory(home.root())?;
    let mut file = append_private(&path).map_err(LedgerError::write(&path))?;
    wait_for_lock(&file, &path, Instant::now(), LOCK_WAIT)?;
    let (seq, prev): (u64, RecordHash) = match last(&LedgerFile::without_keys(path.clone()), 1)?.pop() {
        Some(record) => (record.seq, record.hash),
        None => (0, first_prev()),
    };
    let (record, line) = seal(seq + 1, prev, now, body, home.vault())?;
    // A line that was left unfinished is ended, so that the verifier shows it as what it is.
    let separator = if ends_line(&path)? { "" } else { "\n" };
    file.write_all(format!("{separator}{line}").as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(LedgerError::write(&path))?;
    anchors::write_named(home, RETENTION_NAME, record.seq, &record.hash)
}

fn ends_line(path: &std::path::Path) -> Result<bool, LedgerError> {
    use std::io::{Seek as _, SeekFrom};
    let mut file = checkrein_files::open(path).map_err(LedgerError::read(path))?;
    if file.metadata().map_err(LedgerError::read(path))?.len() == 0 {
        return Ok(true);
    }
    let mut end = [0_u8; 1];
    file.seek(SeekFrom::End(-1)).and_then(|_| file.read_exact(&mut end)).map_err(LedgerError::read(path))?;
    Ok(end == *b"\n")
}

/// Takes a session's folder away: out of sight in one step, then for good.
fn take_away(home: &StateDirectory, folder: &FolderName) -> Result<(), LedgerError> {
    let aside = home.sessions().join(format!(".removed-{}", folder.as_str()));
    let directory = home.session(folder);
    if aside.exists() {
        std::fs::remove_dir_all(&aside).map_err(LedgerError::write(&aside))?;
    }
    std::fs::rename(&directory, &aside)
        .and_then(|()| std::fs::remove_dir_all(&aside))
        .map_err(LedgerError::write(&directory))?;
    home.testimony().map_or(Ok(()), |testimony| testimony.forget(folder))
}
