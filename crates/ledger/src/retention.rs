//! Removal: sessions go as a whole, and a chained record says what went, of other stores too.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::time::UNIX_EPOCH;

use checkrein_protocol::{Record, RecordBody, RecordHash, RemovedEntries, RemovedSession, Timestamp};

use crate::error::LedgerError;
use crate::ledger::Ledger;
use crate::ledger_file::LedgerFile;
use crate::locked::Locked;
use crate::projection::Projection;
use crate::read::lines;
use crate::side_chain::SideChain;
use crate::state_directory::{FolderName, StateDirectory};

/// The name under which the heads of the record of removals are kept; no session has such a folder name.
pub(crate) const RETENTION_NAME: &str = ".retention";

/// What the folder of a session is called while it is removed.
const REMOVED: &str = ".removed-";

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

/// Removes every session that is due by its state and the time of the last change of its ledger; a halt of one stays in force. What is removed
/// is written down first, durably and with the reason; then the folders go. What an earlier removal wrote down and left is not told twice.
/// Returns what went.
pub fn remove<P: Projection>(
    home: &StateDirectory,
    now: Timestamp,
    reason: &str,
    is_due: impl Fn(&P, Timestamp) -> Option<Due>,
) -> Result<Vec<RemovedSession>, LedgerError> {
    clear_leftovers(home)?;
    let told = told(home)?;
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
        let untold: Vec<RemovedSession> =
            removed.iter().filter(|one| !told.contains(&mark(one))).cloned().collect();
        if !untold.is_empty() {
            let reason = reason.to_owned();
            write_down(home, now, RecordBody::Retention { removed: untold, stores: Vec::new(), reason })?;
        }
        for (ledger, locked) in held {
            take_away(home, ledger.folder())?;
            drop(locked);
        }
        all_removed.extend(removed);
    }
    Ok(all_removed)
}

/// What tells a session as it was from any other: its name, and how far its ledger went.
fn mark(one: &RemovedSession) -> (String, u64, RecordHash) {
    (one.session.clone(), one.records, one.hash.clone())
}

/// Every session of which the removal is on record.
fn told(home: &StateDirectory) -> Result<BTreeSet<(String, u64, RecordHash)>, LedgerError> {
    let mut told = BTreeSet::new();
    for record in removals(home)? {
        if let RecordBody::Retention { removed, .. } = record.body {
            told.extend(removed.iter().map(mark));
        }
    }
    Ok(told)
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
    is_due: &impl Fn(&P, Timestamp) -> Option<Due>,
) -> Result<Option<(RemovedSession, Locked)>, LedgerError> {
    let changed = changed(&ledger.path());
    if !ledger.path().exists() {
        return Ok(None);
    }
    match ledger.current() {
        Ok(cached) if is_due(&cached.state, changed).is_some() => {}
        Ok(_) => return Ok(None),
        // Somebody else removed it since.
        Err(_) if !ledger.path().exists() => return Ok(None),
        Err(error) => return Err(error),
    }
    let locked = ledger.lock()?;
    if locked.length == 0 && is_bare(&home.session(ledger.folder())) {
        // Somebody else removed it while we waited; the lock alone made the folder again, and nothing is in it to be told of.
        take_away(home, ledger.folder())?;
        return Ok(None);
    }
    let cached = ledger.current()?;
    let gone = is_due(&cached.state, changed).map(|due| RemovedSession {
        session: ledger.folder().as_str().to_owned(),
        records: cached.position.seq,
        last: due.last,
        hash: cached.position.hash,
        reviews: due.reviews,
    });
    Ok(gone.map(|gone| (gone, locked)))
}

/// When a ledger changed last; the beginning of time where that cannot be told.
fn changed(path: &Path) -> Timestamp {
    let at = std::fs::metadata(path).and_then(|facts| facts.modified());
    let since = at.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    Timestamp(since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX)))
}

/// Whether a folder holds nothing but a ledger.
fn is_bare(folder: &Path) -> bool {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.into_iter().all(|name| name == "ledger.jsonl")
}

/// Removes what is left of sessions whose removal was written down and cut off.
fn clear_leftovers(home: &StateDirectory) -> Result<(), LedgerError> {
    let folder = home.sessions();
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(LedgerError::read(&folder)(error)),
    };
    for entry in entries.flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(REMOVED.as_bytes()) {
            remove_all(&entry.path())?;
        }
    }
    Ok(())
}

/// Removes a folder with all that is in it; who does so at the same moment is no failure. A link goes itself.
fn remove_all(path: &Path) -> Result<(), LedgerError> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(LedgerError::write(path)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Appends to the record of removals.
fn write_down(home: &StateDirectory, now: Timestamp, body: RecordBody) -> Result<(), LedgerError> {
    let chain = SideChain { path: home.retention(), name: RETENTION_NAME, vault: home.vault() };
    chain.append(home, [(now, body)])
}

/// Takes a session's folder away: out of sight in one step, then for good.
fn take_away(home: &StateDirectory, folder: &FolderName) -> Result<(), LedgerError> {
    let aside = home.sessions().join(format!("{REMOVED}{}", folder.as_str()));
    let directory = home.session(folder);
    remove_all(&aside)?;
    std::fs::rename(&directory, &aside).map_err(LedgerError::write(&directory))?;
    remove_all(&aside)?;
    home.testimony().map_or(Ok(()), |testimony| testimony.forget(folder))
}
