//! Halts: a plain file for each halted session, or one for all. Checked before everything else, with two reads.

use std::io;
use std::path::PathBuf;

use checkrein_files::Forced;
use checkrein_protocol::HaltScope;

use crate::error::LedgerError;
use crate::mask::mask_text;
use crate::state_directory::{FolderName, StateDirectory, create_directory};

/// The name of the file that halts every session; no session has it for a folder name.
const ALL: &str = "ALL";

/// How much of a halt file is read, in bytes.
const LONGEST: usize = 16 * 1024;

/// Who is halted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HaltTarget<'name> {
    /// One session.
    Session(&'name FolderName),
    /// Every session of the state directory.
    All,
}

/// A halt in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halt {
    /// Whether it is for this session or for all.
    pub scope: HaltScope,
    /// Why.
    pub reason: String,
}

/// Stops a session or all of them. The file is on the disk when this returns; who calls writes the record.
pub fn halt(home: &StateDirectory, target: HaltTarget<'_>, reason: &str) -> Result<(), LedgerError> {
    let path = file_of(home, target);
    create_directory(&home.halts())?;
    let reason = match home.mask_key() {
        Ok(key) => mask_text(reason, &key).into_owned(),
        // A halt must not fail because nothing can be masked; then its reason stays unsaid.
        Err(_) => "halted".to_owned(),
    };
    // It may quote a command.
    let sealed = home.vault().seal_text(reason.trim(), &purpose(target));
    let text = format!("{}\n", sealed.as_deref().unwrap_or("halted"));
    checkrein_files::replace(&path, text.as_bytes(), 0o600, Forced::Name).map_err(LedgerError::write(&path))
}

/// Lets a session or all of them go on. Returns whether there was such a halt.
pub fn resume(home: &StateDirectory, target: HaltTarget<'_>) -> Result<Lifted, LedgerError> {
    let path = file_of(home, target);
    match std::fs::remove_file(&path) {
        Ok(()) => Ok(Lifted::Lifted),
        Err(error) if is_missing(&error) => Ok(Lifted::WasNotHalted),
        Err(source) => Err(LedgerError::Write { path, source }),
    }
}

/// Whether there was something to lift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifted {
    /// A halt was in force and is no longer.
    Lifted,
    /// None was.
    WasNotHalted,
}

/// The halt that a session is under, if any. A file that cannot be read halts all the same: it is there.
pub fn is_halted(home: &StateDirectory, session: &FolderName) -> Option<Halt> {
    [(HaltTarget::All, HaltScope::All), (HaltTarget::Session(session), HaltScope::Session)]
        .into_iter()
        .find_map(|(target, scope)| read(home, target).map(|reason| Halt { scope, reason }))
}

/// Every session with a halt of its own, by name.
pub fn halted(home: &StateDirectory) -> Result<Vec<FolderName>, LedgerError> {
    let folder = home.halts();
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if is_missing(&error) => return Ok(Vec::new()),
        Err(source) => return Err(LedgerError::Read { path: folder, source }),
    };
    let names = entries.flatten().map(|entry| entry.file_name()).filter(|name| *name != *ALL);
    // One that begins with a dot is being written.
    let names = names.filter(|name| !name.as_encoded_bytes().starts_with(b"."));
    Ok(names.filter_map(|name| FolderName::on_disk(&name)).collect())
}

/// The reason in a halt file; `None` when there is no file.
fn read(home: &StateDirectory, target: HaltTarget<'_>) -> Option<String> {
    match checkrein_files::read(file_of(home, target), checkrein_files::SMALL) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(bytes.get(..LONGEST.min(bytes.len())).unwrap_or_default())
                .into_owned();
            let opened = home.vault().open_text(text.trim(), &purpose(target));
            let reason =
                opened.as_deref().unwrap_or("halted; the reason is encrypted, and its key is not here");
            Some(if reason.is_empty() { "halted without a reason".to_owned() } else { reason.to_owned() })
        }
        Err(error) if is_missing(&error) => None,
        Err(error) => Some(format!("the halt file cannot be read: {error}")),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn file_of(home: &StateDirectory, target: HaltTarget<'_>) -> PathBuf {
    home.halts().join(halt_name(target))
}

/// What the reason in a halt file is bound to.
fn purpose(target: HaltTarget<'_>) -> String {
    format!("halts/{}", halt_name(target))
}

/// The name of the file of a halt.
pub fn halt_name(target: HaltTarget<'_>) -> &str {
    match target {
        HaltTarget::Session(folder) => folder.as_str(),
        HaltTarget::All => ALL,
    }
}
