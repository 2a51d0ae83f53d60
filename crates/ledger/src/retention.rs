//! Retention: old sessions go as a whole, and a chained record says what went.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use checkrein_protocol::{RecordBody, RecordHash, RemovedSession, Timestamp};

use crate::error::LedgerError;
use crate::halt::is_halted;
use crate::heads;
use crate::home::{StateHome, append_private, create_directory};
use crate::line::{first_prev, seal};
use crate::listing::folders;
use crate::read::last;
use crate::session::{LOCK_WAIT, Locked, SessionLedger, wait_for_lock};
use crate::state::SessionState;

/// The name under which the heads of the record of removals are kept; no session has such a folder name.
pub(crate) const RETENTION_NAME: &str = ".retention";

/// How many sessions go with one record (ours); each is locked meanwhile.
const AT_ONCE: usize = 64;

/// Removes every session of which the last record is older than `keep` at the time `now`; halted sessions stay. What is
/// removed is written down first, durably; then the folders go. Returns what went.
pub fn prune(home: &StateHome, now: Timestamp, keep: Duration) -> Result<Vec<RemovedSession>, LedgerError> {
    let keep_ms = u64::try_from(keep.as_millis()).unwrap_or(u64::MAX);
    let Some(oldest) = now.0.checked_sub(keep_ms) else { return Ok(Vec::new()) };
    let days = keep.as_secs() / 86_400;
    let mut all_removed = Vec::new();
    for some in folders(home)?.chunks(AT_ONCE) {
        let mut removed = Vec::new();
        let mut held = Vec::new();
        for folder in some {
            let ledger = SessionLedger::of_folder(home, folder.clone());
            if let Some((gone, locked)) = lock_if_old(home, &ledger, oldest)? {
                removed.push(gone);
                held.push((ledger, locked));
            }
        }
        if removed.is_empty() {
            continue;
        }
        let reason = format!("older than {days} days");
        write_down(home, now, RecordBody::Retention { removed: removed.clone(), reason })?;
        for (ledger, locked) in held {
            remove(home, &ledger)?;
            drop(locked);
        }
        all_removed.extend(removed);
    }
    Ok(all_removed)
}

/// Locks a session of which the last record is older than `oldest`, so that nobody takes it up again before it is gone.
fn lock_if_old(
    home: &StateHome,
    ledger: &SessionLedger,
    oldest: u64,
) -> Result<Option<(RemovedSession, Locked)>, LedgerError> {
    let is_old = |state: &SessionState| state.last().is_none_or(|last| last.0 < oldest);
    if !ledger.path().exists()
        || is_halted(home, ledger.folder()).is_some()
        || !is_old(&ledger.current()?.state)
    {
        return Ok(None);
    }
    let locked = ledger.lock()?;
    let cached = ledger.current()?;
    if !is_old(&cached.state) {
        return Ok(None);
    }
    let gone = RemovedSession {
        session: ledger.folder().as_str().to_owned(),
        records: cached.seq,
        last: cached.state.last().unwrap_or_default(),
        hash: cached.hash,
        reviews: cached.state.actions(),
    };
    Ok(Some((gone, locked)))
}

/// Appends to the record of removals.
fn write_down(home: &StateHome, now: Timestamp, body: RecordBody) -> Result<(), LedgerError> {
    let path = home.retention();
    create_directory(home.root())?;
    let mut file = append_private(&path).map_err(LedgerError::write(&path))?;
    wait_for_lock(&file, &path, Instant::now(), LOCK_WAIT)?;
    let (seq, prev): (u64, RecordHash) = match last(&path, 1)?.pop() {
        Some(record) => (record.seq, record.hash),
        None => (0, first_prev()),
    };
    let (record, line) = seal(seq + 1, prev, now, body)?;
    // A line that was left unfinished is ended, so that the verifier shows it as what it is.
    let separator = if ends_line(&path)? { "" } else { "\n" };
    file.write_all(format!("{separator}{line}").as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(LedgerError::write(&path))?;
    heads::write_named(home, RETENTION_NAME, record.seq, &record.hash)
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
fn remove(home: &StateHome, ledger: &SessionLedger) -> Result<(), LedgerError> {
    let aside = home.sessions().join(format!(".removed-{}", ledger.folder().as_str()));
    let directory = ledger.directory();
    if aside.exists() {
        std::fs::remove_dir_all(&aside).map_err(LedgerError::write(&aside))?;
    }
    std::fs::rename(directory, &aside)
        .and_then(|()| std::fs::remove_dir_all(&aside))
        .map_err(LedgerError::write(directory))?;
    home.testimony().map_or(Ok(()), |testimony| testimony.forget(ledger.folder()))
}
