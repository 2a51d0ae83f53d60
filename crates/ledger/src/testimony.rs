//! The testimony: what is kept of each session outside the state directory, so that the loss of its records shows.
//!
//! One folder for each session, with the head of its ledger (`head`) and a text of the caller (`kept`). The head is written with every
//! durable append, at the start of a session, every 64 records, and before each call that nobody can read, like those in the state
//! directory. It is a line of fixed length, written in place, so that the file does not grow. It bears witness that the session was there:
//! what stands in it can be behind the ledger, never before it.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use checkrein_protocol::RecordHash;
use sha2::{Digest as _, Sha256};

use crate::error::LedgerError;
use crate::hash_chain::hexadecimal;
use crate::state_directory::{FolderName, create_directory};

/// The name of the file with the head.
const HEAD: &str = "head";

/// The length of a line, in bytes: the widest number, a blank, a hash, and its end.
const LINE: usize = 20 + 1 + 64 + 1;

/// What is kept outside of one state directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Testimony {
    root: PathBuf,
}

/// What the testimony says of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Testified {
    /// How many records it had at least.
    pub records: u64,
    /// The hash of the last of these; `None` where the session only began.
    pub hash: Option<RecordHash>,
}

impl Testimony {
    /// The testimony of the state directory `state`, in a folder that may hold those of several.
    pub fn new(folder: &Path, state: &Path) -> Self {
        let digits = hexadecimal(&Sha256::digest(state.as_os_str().as_encoded_bytes()));
        Self { root: folder.join(digits.get(..16).unwrap_or(&digits)) }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.root
    }

    /// The folder of a session.
    pub fn of_session(&self, session: &FolderName) -> PathBuf {
        self.root.join(session.as_str())
    }

    /// What is known of a session; `None` when it never was there, or was removed as it should be.
    pub fn says(&self, session: &FolderName) -> Option<Testified> {
        let folder = self.of_session(session);
        let text = checkrein_files::read_text(folder.join(HEAD), LINE as u64).ok();
        let line = text.as_deref().and_then(|text| text.trim().split_once(' '));
        let head = line.and_then(|(number, hash)| {
            Some(Testified { records: number.parse().ok()?, hash: Some(RecordHash(hash.to_owned())) })
        });
        head.or_else(|| folder.is_dir().then_some(Testified { records: 0, hash: None }))
    }

    /// Every session that is known.
    pub(crate) fn sessions(&self) -> Vec<FolderName> {
        let entries = std::fs::read_dir(&self.root).into_iter().flatten().flatten();
        let mut all: Vec<FolderName> =
            entries.filter_map(|entry| FolderName::on_disk(&entry.file_name())).collect();
        all.sort();
        all
    }

    /// Writes down the head of a ledger.
    pub(crate) fn write(
        &self,
        session: &FolderName,
        records: u64,
        hash: &RecordHash,
    ) -> Result<(), LedgerError> {
        let folder = self.of_session(session);
        let path = folder.join(HEAD);
        let line = format!("{records:0>20} {}\n", hash.as_str());
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = match checkrein_files::open_with(&mut options, &path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_directory(&folder)?;
                checkrein_files::open_with(&mut options, &path)
            }
            opened => opened,
        };
        file.and_then(|file| file.write_all_at(line.as_bytes(), 0)).map_err(LedgerError::write(&path))
    }

    /// Forgets a session that was removed as it should be.
    pub(crate) fn forget(&self, session: &FolderName) -> Result<(), LedgerError> {
        let folder = self.of_session(session);
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(LedgerError::Write { path: folder, source: error })
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}
