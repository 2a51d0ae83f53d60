//! A chain beside those of sessions: of what was removed, and of who authenticated. Its beginning may go; its newest record stays, so that the
//! next one follows it.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use checkrein_protocol::{RecordBody, RecordHash, Timestamp};
use checkrein_vault::Vault;

use crate::anchors;
use crate::error::LedgerError;
use crate::hash_chain::{first_prev, seal};
use crate::ledger::LOCK_WAIT;
use crate::ledger_file::LedgerFile;
use crate::locked::wait_for_lock;
use crate::read::last;
use crate::state_directory::{StateDirectory, append_private, create_directory};

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

fn ends_line(path: &Path) -> Result<bool, LedgerError> {
    let mut file: File = checkrein_files::open(path).map_err(LedgerError::read(path))?;
    if file.metadata().map_err(LedgerError::read(path))?.len() == 0 {
        return Ok(true);
    }
    let mut end = [0_u8; 1];
    file.seek(SeekFrom::End(-1)).and_then(|_| file.read_exact(&mut end)).map_err(LedgerError::read(path))?;
    Ok(end == *b"\n")
}
