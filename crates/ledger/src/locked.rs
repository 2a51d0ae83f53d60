//! A ledger under lock: waiting for it, reading on, repairing its end, writing.

use std::fs::{File, TryLockError};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use checkrein_protocol::{LedgerDamage, RecordBody};
use checkrein_vault::Vault;

use crate::cache::Cached;
use crate::error::LedgerError;
use crate::hash_chain::{Checked, SEAL_LENGTH, check, claimed_hash};
use crate::projection::Projection;
use crate::read::read_line;

/// A ledger under lock; the lock ends with this value.
#[derive(Debug)]
pub(crate) struct Locked {
    file: File,
    path: PathBuf,
    pub(crate) length: u64,
}

impl Locked {
    /// A file of which the lock is held.
    pub(crate) fn new(file: File, path: PathBuf, length: u64) -> Self {
        Self { file, path, length }
    }

    /// Brings the state up to the end of the ledger and says what was found damaged. A torn last line is moved aside.
    pub(crate) fn catch_up<P: Projection>(
        &self,
        cached: Cached<P>,
        directory: &Path,
        vault: &Vault,
    ) -> Result<(Cached<P>, Vec<RecordBody>), LedgerError> {
        let mut repairs = Vec::new();
        let mut cached = cached;
        if self.length < cached.position.length {
            let lost = cached.position.length - self.length;
            repairs.push(repaired(
                LedgerDamage::Shortened,
                lost,
                None,
                format!(
                    "the ledger was {} bytes long after record {} and is now {}",
                    cached.position.length, cached.position.seq, self.length
                ),
            ));
            cached = cached.emptied();
        } else if !self.ends_with_record(&cached)? {
            repairs.push(repaired(
                LedgerDamage::Changed,
                0,
                None,
                format!("record {} is not the one that was written", cached.position.seq),
            ));
            cached = cached.emptied();
        }
        if cached.position.length == self.length {
            return Ok((cached, repairs));
        }

        let (cached, unreadable) = read_on(&self.file, &self.path, cached, vault)?;
        if unreadable > 0 {
            let reason = format!("{unreadable} lines are no records");
            repairs.push(repaired(LedgerDamage::Unreadable, 0, None, reason));
        }
        let torn = self.length.saturating_sub(cached.position.length);
        if torn > 0 {
            let kept = self.move_tail_aside(cached.position.length, directory)?;
            let reason = "the last line was not written to its end".to_owned();
            repairs.push(repaired(LedgerDamage::TornTail, torn, Some(kept), reason));
        }
        Ok((cached, repairs))
    }

    /// Whether the record that the state knows as the last one stands where it ended.
    fn ends_with_record<P>(&self, cached: &Cached<P>) -> Result<bool, LedgerError> {
        let Some(start) = cached.position.length.checked_sub(SEAL_LENGTH as u64 + 1) else {
            return Ok(cached.position.seq == 0);
        };
        let mut end = [0_u8; SEAL_LENGTH + 1];
        self.file.read_exact_at(&mut end, start).map_err(LedgerError::read(&self.path))?;
        let Some((b'\n', seal)) = end.split_last() else { return Ok(false) };
        Ok(claimed_hash(seal).as_ref() == Some(&cached.position.hash))
    }

    /// Copies everything from `start` into a file beside the ledger, then takes it out of the ledger. Returns the file's name.
    fn move_tail_aside(&self, start: u64, directory: &Path) -> Result<String, LedgerError> {
        let mut tail = Vec::new();
        let mut reader = &self.file;
        reader
            .seek(SeekFrom::Start(start))
            .and_then(|_| reader.read_to_end(&mut tail))
            .map_err(LedgerError::read(&self.path))?;
        for number in 1_u32.. {
            let name = format!("{TORN_PREFIX}{number}");
            let path = directory.join(&name);
            let mut options = std::fs::OpenOptions::new();
            options.write(true).create_new(true);
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            match options.open(&path) {
                Ok(mut file) => {
                    file.write_all(&tail)
                        .and_then(|()| file.sync_data())
                        .map_err(LedgerError::write(&path))?;
                    self.file.set_len(start).map_err(LedgerError::write(&self.path))?;
                    return Ok(name);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(LedgerError::Write { path, source }),
            }
        }
        Err(LedgerError::Write { path: directory.to_owned(), source: io::ErrorKind::AlreadyExists.into() })
    }

    /// Appends the text; when that fails, the ledger is as long as before.
    pub(crate) fn write(&self, text: &[u8], length: u64) -> Result<(), LedgerError> {
        let mut writer = &self.file;
        writer.write_all(text).map_err(|source| {
            // What was written of our own line is no record yet. Should this fail too, the next append finds a torn line.
            let _ = self.file.set_len(length);
            LedgerError::Write { path: self.path.clone(), source }
        })
    }

    pub(crate) fn sync(&self) -> Result<(), LedgerError> {
        self.file.sync_data().map_err(LedgerError::write(&self.path))
    }
}

/// Takes the lock of a file, waiting no longer than `wait` from `began` on.
pub(crate) fn wait_for_lock(
    file: &File,
    path: &Path,
    began: Instant,
    wait: Duration,
) -> Result<(), LedgerError> {
    let mut pause = Duration::from_micros(100);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if began.elapsed() >= wait => {
                return Err(LedgerError::Busy { path: path.to_owned(), waited: wait });
            }
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(4));
            }
            Err(TryLockError::Error(source)) => {
                return Err(LedgerError::Write { path: path.to_owned(), source });
            }
        }
    }
}

/// What the names of files begin with that keep torn lines.
pub(crate) const TORN_PREFIX: &str = "ledger.torn-";

/// Applies all whole lines after the known length. Returns how far that leads, and how many lines are no records.
pub(crate) fn read_on<P: Projection>(
    file: &File,
    path: &Path,
    mut cached: Cached<P>,
    vault: &Vault,
) -> Result<(Cached<P>, u64), LedgerError> {
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    reader.seek(SeekFrom::Start(cached.position.length)).map_err(LedgerError::read(path))?;
    let mut unreadable = 0;
    let mut line = Vec::new();
    loop {
        let count = read_line(&mut reader, &mut line).map_err(LedgerError::read(path))?;
        let Some((b'\n', text)) = line.split_last() else { return Ok((cached, unreadable)) };
        cached.position.length += count as u64;
        if let Some(record) = crate::hash_chain::record(text, vault) {
            cached.state.apply(&record);
            cached.position.seq = record.seq;
            cached.position.hash = record.hash;
        } else {
            unreadable += 1;
            if let Checked::Whole(header) | Checked::Altered(header) = check(text) {
                cached.position.seq = header.seq;
                cached.position.hash = header.hash;
            }
        }
    }
}

fn repaired(damage: LedgerDamage, lost_bytes: u64, kept: Option<String>, reason: String) -> RecordBody {
    RecordBody::Repaired { damage, lost_bytes, kept, reason }
}
