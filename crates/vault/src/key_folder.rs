//! The folder of the keys, outside the state directory: one file for each, and one that names the key that seals.
//!
//! A key may also be in the keyring of the system; then a mark stands in the place of its file, and the key itself in a folder in memory that
//! the system empties when the user logs out. So no call waits for the keyring.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use checkrein_files::Forced;

use crate::error::{LostKeys, VaultError};
use crate::key::{Key, KeyName, random};
use crate::past_sealing::{EarlierKeys, PastSealing};

/// The file that names the key that seals.
const CURRENT: &str = "current";
/// The ending of the file of a key: its bytes as hexadecimal digits.
const KEY: &str = ".key";
/// The ending of the mark of a key that is in the keyring.
const MARK: &str = ".keyring";
/// The longest file of a key, in bytes.
const LONGEST: u64 = 128;

/// Where a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPlace {
    /// In a file with mode 600.
    File,
    /// In the keyring, and taken out until the user logs out.
    Unlocked,
    /// In the keyring.
    Keyring,
}

/// A key as the folder lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedKey {
    /// Its name.
    pub name: KeyName,
    /// Where it is.
    pub place: KeyPlace,
    /// Whether it is the one that seals.
    pub is_current: bool,
}

/// The folder of the keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFolder {
    folder: PathBuf,
    memory: Option<PathBuf>,
    past: Option<PastSealing>,
}

impl KeyFolder {
    /// The folder at a path; nothing is made yet.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, memory: None, past: None }
    }

    /// The same, and keys of the keyring are kept in this folder in memory while the user is logged in.
    #[must_use]
    pub fn with_memory(self, memory: PathBuf) -> Self {
        Self { memory: Some(memory), ..self }
    }

    /// The same, and it is kept which of its keys sealed something.
    #[must_use]
    pub fn with_past(self, past: PastSealing) -> Self {
        Self { past: Some(past), ..self }
    }

    /// Whether a key of this folder sealed something already, as far as that is kept.
    pub fn has_sealed(&self) -> bool {
        self.past.as_ref().is_some_and(PastSealing::is_known)
    }

    /// The folder itself.
    pub fn path_of_folder(&self) -> &Path {
        &self.folder
    }

    /// The file of a key.
    pub fn path(&self, name: &KeyName) -> PathBuf {
        self.folder.join(format!("{name}{KEY}"))
    }

    /// Whether a key was made here that seals.
    pub fn has_current(&self) -> bool {
        self.folder.join(CURRENT).exists()
    }

    /// Every key that can be read now.
    pub fn keys(&self) -> Vec<Key> {
        self.names().iter().filter_map(|name| self.read(name).ok()).collect()
    }

    /// Every key that is known, by name.
    pub fn listed(&self) -> Vec<ListedKey> {
        let current = self.current_name().ok().flatten();
        let place = |name: &KeyName| match (self.path(name).exists(), self.in_memory(name)) {
            (true, _) => KeyPlace::File,
            (false, Some(path)) if path.exists() => KeyPlace::Unlocked,
            (false, _) => KeyPlace::Keyring,
        };
        let listed = self.names().into_iter().map(|name| ListedKey {
            place: place(&name),
            is_current: current.as_ref() == Some(&name),
            name,
        });
        listed.collect()
    }

    /// The key that seals; the first time one is made, so that of two processes at their first use both have the same. Where another one sealed
    /// before and is gone, none is made: that would look as if all were well.
    pub(crate) fn current_or_new(&self) -> Result<Key, VaultError> {
        let key = self.current_or_first()?;
        if let Some(past) = &self.past {
            past.keep(key.name())?;
        }
        Ok(key)
    }

    fn current_or_first(&self) -> Result<Key, VaultError> {
        if let Some(name) = self.current_name()? {
            return self.read(&name);
        }
        let past = self.past.as_ref().map(PastSealing::earlier).transpose()?;
        let here = self.names();
        let lost = match past {
            None => None,
            Some(EarlierKeys::Unnamed) => here.is_empty().then(Vec::new),
            Some(EarlierKeys::Named(names)) => {
                let lost: Vec<KeyName> = names.into_iter().filter(|name| !here.contains(name)).collect();
                (!lost.is_empty()).then_some(lost)
            }
        };
        if let Some(names) = lost {
            return Err(VaultError::Lost { folder: self.folder.clone(), names: LostKeys(names) });
        }
        let (key, bytes) = fresh()?;
        self.write(&key, &bytes)?;
        if self.claim(key.name())? {
            return Ok(key);
        }
        // Somebody else was first; nothing was sealed with ours.
        drop(fs::remove_file(self.path(key.name())));
        let name = self.current_name()?.ok_or(VaultError::NoFolder)?;
        self.read(&name)
    }

    /// Makes another key that seals from now on; the ones before stay to open what they sealed. A process that is killed meanwhile leaves the
    /// one before in force.
    pub fn replace(&self) -> Result<Key, VaultError> {
        let (key, bytes) = fresh()?;
        self.write(&key, &bytes)?;
        let path = self.folder.join(CURRENT);
        let line = format!("{}\n", key.name());
        checkrein_files::replace(&path, line.as_bytes(), 0o600, Forced::Name)
            .map_err(VaultError::file(&path))?;
        Ok(key)
    }

    /// The digits of a key that is kept in a file, for the keyring.
    pub fn digits(&self, name: &KeyName) -> Result<String, VaultError> {
        let path = self.path(name);
        let digits = read_private(&path).map_err(|error| missing(error, name))?;
        Ok(digits.trim().to_owned())
    }

    /// Says that a key is in the keyring now, keeps it in memory, and takes its file away.
    pub fn give_to_keyring(&self, name: &KeyName) -> Result<(), VaultError> {
        let digits = self.digits(name)?;
        self.unlock(name, &digits)?;
        let mark = self.folder.join(format!("{name}{MARK}"));
        checkrein_files::replace(&mark, b"", 0o600, Forced::Name).map_err(VaultError::file(&mark))?;
        let path = self.path(name);
        // What the disk held is overwritten before its name goes.
        let blank = "0".repeat(digits.len());
        OpenOptions::new()
            .write(true)
            .open(&path)
            .and_then(|mut file| file.write_all(blank.as_bytes()).and_then(|()| file.sync_all()))
            .and_then(|()| fs::remove_file(&path))
            .map_err(VaultError::file(&path))
    }

    /// Keeps a key that the keyring gave in memory until the user logs out.
    pub fn unlock(&self, name: &KeyName, digits: &str) -> Result<(), VaultError> {
        if key(digits).is_none_or(|key| key.name() != name) {
            return Err(VaultError::Altered);
        }
        let (Some(memory), Some(path)) = (&self.memory, self.in_memory(name)) else {
            return Err(VaultError::NoFolder);
        };
        make_folder(memory).map_err(VaultError::file(memory))?;
        checkrein_files::replace(&path, digits.as_bytes(), 0o600, Forced::Nothing)
            .map_err(VaultError::file(&path))
    }

    /// Whether keys can be kept in memory: the system made a folder for that.
    pub fn has_memory(&self) -> bool {
        self.memory.as_ref().and_then(|memory| memory.parent()).is_some_and(Path::is_dir)
    }

    fn in_memory(&self, name: &KeyName) -> Option<PathBuf> {
        Some(self.memory.as_ref()?.join(format!("{name}{KEY}")))
    }

    fn names(&self) -> Vec<KeyName> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<KeyName> = names
            .filter_map(|name| {
                KeyName::of_digits(name.strip_suffix(KEY).or_else(|| name.strip_suffix(MARK))?)
            })
            .collect();
        names.sort();
        names.dedup();
        names
    }

    fn current_name(&self) -> Result<Option<KeyName>, VaultError> {
        let path = self.folder.join(CURRENT);
        match checkrein_files::read_text(&path, LONGEST) {
            Ok(text) => match KeyName::of_digits(text.trim()) {
                Some(name) => Ok(Some(name)),
                None => Err(VaultError::File { path, cause: "it names no key".to_owned() }),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(VaultError::file(&path)(error)),
        }
    }

    fn read(&self, name: &KeyName) -> Result<Key, VaultError> {
        let digits = match read_private(&self.path(name)) {
            Err(Unread::NotThere) => match self.in_memory(name).map(|path| read_private(&path)) {
                Some(Ok(digits)) => digits,
                _ if self.folder.join(format!("{name}{MARK}")).exists() => {
                    return Err(VaultError::Locked(name.clone()));
                }
                Some(Err(error)) => return Err(missing(error, name)),
                None => return Err(VaultError::Missing(name.clone())),
            },
            read => read.map_err(|error| missing(error, name))?,
        };
        key(&digits).filter(|key| key.name() == name).ok_or_else(|| VaultError::File {
            path: self.path(name),
            cause: "it is not the key of this name".to_owned(),
        })
    }

    fn write(&self, key: &Key, bytes: &[u8; Key::LENGTH]) -> Result<(), VaultError> {
        make_folder(&self.folder).map_err(VaultError::file(&self.folder))?;
        let path = self.path(key.name());
        // It is on the disk before anything is sealed with it.
        checkrein_files::replace(&path, hex::encode(bytes).as_bytes(), 0o600, Forced::Name)
            .map_err(VaultError::file(&path))
    }

    /// Names a key as the one that seals where none is yet; whether it is now.
    fn claim(&self, name: &KeyName) -> Result<bool, VaultError> {
        let path = self.folder.join(CURRENT);
        let aside = self.folder.join(format!("{CURRENT}.{}", checkrein_files::aside()));
        let write = || {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside)?;
            file.write_all(format!("{name}\n").as_bytes())?;
            file.sync_all()?;
            let linked = fs::hard_link(&aside, &path);
            fs::remove_file(&aside)?;
            linked
        };
        match write() {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(VaultError::file(&path)(error)),
        }
    }
}

/// Why the file of a key was not read.
enum Unread {
    NotThere,
    Exposed(PathBuf),
    Other(VaultError),
}

fn missing(error: Unread, name: &KeyName) -> VaultError {
    match error {
        Unread::NotThere => VaultError::Missing(name.clone()),
        Unread::Exposed(path) => VaultError::Exposed(path),
        Unread::Other(error) => error,
    }
}

/// The text of a file that only this user can read.
fn read_private(path: &Path) -> Result<String, Unread> {
    let facts = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(Unread::NotThere),
        facts => facts.map_err(|error| Unread::Other(VaultError::file(path)(error)))?,
    };
    if facts.mode() & 0o077 != 0 {
        return Err(Unread::Exposed(path.to_owned()));
    }
    checkrein_files::read_text(path, LONGEST).map_err(|error| Unread::Other(VaultError::file(path)(error)))
}

fn key(digits: &str) -> Option<Key> {
    let bytes = hex::decode(digits.trim()).ok()?;
    bytes.first_chunk().filter(|_| bytes.len() == Key::LENGTH).map(Key::new)
}

fn fresh() -> Result<(Key, [u8; Key::LENGTH]), VaultError> {
    let mut bytes = [0_u8; Key::LENGTH];
    random(&mut bytes)?;
    Ok((Key::new(&bytes), bytes))
}

fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
