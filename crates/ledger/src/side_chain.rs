//! A chain beside those of sessions: of what was removed, of who authenticated, of what pipelines came to. Its beginning may go; its newest record stays, so that the
//! next one follows it.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use checkrein_files::Forced;
use checkrein_protocol::{Record, RecordBody, RecordHash, RemovedEntries, Timestamp};
use checkrein_vault::Vault;

use crate::anchors;
use crate::authentications;
use crate::error::LedgerError;
use crate::hash_chain::{content_hash, first_prev, seal};
use crate::ledger::LOCK_WAIT;
use crate::ledger_file::LedgerFile;
use crate::locked::wait_for_lock;
use crate::pipeline_records;
use crate::read::{last, lines};
use crate::retention::{record_removal, removals};
use crate::state_directory::{StateDirectory, append_private, create_directory};

/// The longest file of which the beginning is cut off, in bytes (ours).
const LONGEST: u64 = 256 * 1024 * 1024;

/// Where such a chain is, and how it is written.
pub(crate) struct SideChain<'a> {
    /// Its file.
    pub(crate) path: PathBuf,
    /// The name under which its heads are kept; no session has such a folder name.
    pub(crate) name: &'static str,
    /// What seals it.
    pub(crate) vault: &'a Vault,
}

impl SideChain<'_> {
    /// Appends records, durably and with one wait for the disk.
    pub(crate) fn append(
        &self,
        home: &StateDirectory,
        bodies: impl IntoIterator<Item = (Timestamp, RecordBody)>,
    ) -> Result<(), LedgerError> {
        let path = &self.path;
        create_directory(home.root())?;
        let mut file = self.lock()?;
        let newest = last(&LedgerFile::without_keys(path.clone()), 1)?.pop();
        let (mut seq, mut prev): (u64, RecordHash) =
            newest.map_or_else(|| (0, first_prev()), |record| (record.seq, record.hash));
        // A line that was left unfinished is ended, so that the verifier shows it as what it is.
        let mut text = if ends_line(path)? { String::new() } else { "\n".to_owned() };
        for (at, body) in bodies {
            let (record, line) = seal(seq + 1, prev, at, body, self.vault)?;
            (seq, prev) = (record.seq, record.hash);
            text.push_str(&line);
        }
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(LedgerError::write(path))?;
        anchors::write_named(home, self.name, seq, &prev)
    }

    /// What is told of the records that were written before `oldest`, should they go; `None` where there are none. The newest of all stays:
    /// the next one follows it.
    fn old(
        &self,
        home: &StateDirectory,
        store: &str,
        oldest: Timestamp,
    ) -> Result<Option<RemovedEntries>, LedgerError> {
        Ok(self.beginning(home, store, oldest)?.map(|(told, _)| told))
    }

    /// Removes them; what goes is written down first. Returns what went.
    fn remove_old(
        &self,
        home: &StateDirectory,
        store: &str,
        (now, oldest): (Timestamp, Timestamp),
        reason: &str,
    ) -> Result<Option<RemovedEntries>, LedgerError> {
        let path = &self.path;
        if !path.exists() {
            return Ok(None);
        }
        let locked = self.lock()?;
        let Some((told, lines)) = self.beginning(home, store, oldest)? else { return Ok(None) };
        // Whoever was ended between the two steps has written it down already.
        if told.entries > 0 {
            record_removal(home, now, reason, vec![told.clone()])?;
        }
        let bytes = checkrein_files::read(path, LONGEST).map_err(LedgerError::read(path))?;
        let kept: Vec<u8> =
            bytes.split_inclusive(|byte| *byte == b'\n').skip(lines).flatten().copied().collect();
        checkrein_files::replace(path, &kept, 0o600, Forced::Content).map_err(LedgerError::write(path))?;
        drop(locked);
        Ok(Some(told))
    }

    /// What is told of the records at the beginning that are older, and how many lines they are. A line that is none stays, with all behind
    /// it.
    fn beginning(
        &self,
        home: &StateDirectory,
        store: &str,
        oldest: Timestamp,
    ) -> Result<Option<(RemovedEntries, usize)>, LedgerError> {
        if !self.path.exists() {
            return Ok(None);
        }
        let all = lines(&LedgerFile::without_keys(self.path.clone()))?.collect::<Result<Vec<_>, _>>()?;
        let old = all.iter().map_while(|line| line.record.as_ref()).take_while(|record| record.at < oldest);
        let old: Vec<&Record> = old.take(all.len().saturating_sub(1)).collect();
        let (Some(first), Some(newest)) = (old.first(), old.last()) else { return Ok(None) };
        let gone: u64 = removals(home)?.iter().map(|record| gone_with(&record.body, store)).sum();
        let hashes: Vec<&str> = old.iter().map(|record| record.hash.as_str()).chain([""]).collect();
        let told = RemovedEntries {
            store: store.to_owned(),
            entries: newest.seq.saturating_sub(gone.max(first.seq.saturating_sub(1))),
            oldest: first.at,
            newest: newest.at,
            names: content_hash(hashes.join("\n").as_bytes()),
        };
        Ok(Some((told, old.len())))
    }

    /// The file, which nobody else writes to or puts another in place of while it is open.
    pub(crate) fn lock(&self) -> Result<File, LedgerError> {
        let path = &self.path;
        let started = Instant::now();
        loop {
            let file = append_private(path).map_err(LedgerError::write(path))?;
            wait_for_lock(&file, path, started, LOCK_WAIT)?;
            let own = file.metadata().map_err(LedgerError::read(path))?;
            // Whose beginning went meanwhile stands there as another file.
            if path.symlink_metadata().is_ok_and(|there| (there.dev(), there.ino()) == (own.dev(), own.ino()))
            {
                return Ok(file);
            }
        }
    }
}

/// What is told of the records of authentications and of pipelines that were written before `oldest`, should they go.
///
/// # Errors
///
/// A file cannot be read.
pub fn old_beginnings(home: &StateDirectory, oldest: Timestamp) -> Result<Vec<RemovedEntries>, LedgerError> {
    let vault = Vault::default();
    let of = |(chain, store): (SideChain<'_>, &str)| chain.old(home, store, oldest).transpose();
    with_beginnings(home, &vault).into_iter().filter_map(of).collect()
}

/// Removes the records of authentications and of pipelines that were written before `oldest`, but the newest of each; what goes is written
/// down first. Returns what went.
///
/// # Errors
///
/// A file cannot be read, written or locked.
pub fn remove_beginnings(
    home: &StateDirectory,
    now: Timestamp,
    oldest: Timestamp,
    reason: &str,
) -> Result<Vec<RemovedEntries>, LedgerError> {
    let vault = Vault::default();
    let of = |(chain, store): (SideChain<'_>, &str)| {
        chain.remove_old(home, store, (now, oldest), reason).transpose()
    };
    with_beginnings(home, &vault).into_iter().filter_map(of).collect()
}

/// The chains whose beginning may go, with their names in the record of removals.
fn with_beginnings<'a>(home: &StateDirectory, vault: &'a Vault) -> [(SideChain<'a>, &'static str); 2] {
    [
        (authentications::chain(home, vault), authentications::STORE),
        (pipeline_records::chain(home, vault), pipeline_records::PIPELINES_STORE),
    ]
}

/// How many records of a store went with a record of removals.
pub(crate) fn gone_with(body: &RecordBody, store: &str) -> u64 {
    let RecordBody::Retention { stores, .. } = body else { return 0 };
    stores.iter().filter(|one| one.store == store).map(|one| one.entries).sum()
}

fn ends_line(path: &Path) -> Result<bool, LedgerError> {
    let mut file: File = checkrein_files::open(path).map_err(LedgerError::read(path))?;
    if file.metadata().map_err(LedgerError::read(path))?.len() == 0 {
        return Ok(true);
    }
    let mut end = [0_u8; 1];
    file.seek(SeekFrom::End(-1)).and_then(|_| file.read_exact(&mut end)).map_err(LedgerError::read(path))?;
    Ok(end == *b"\n")
}
