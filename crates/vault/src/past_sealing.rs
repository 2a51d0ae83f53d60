//! Which keys ever sealed something in a state directory, kept there by name: so a folder of keys that is gone is told from a first use.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::error::VaultError;
use crate::key::KeyName;

/// The names of the keys that sealed in one place: a folder with an empty file for each.
#[derive(Debug, Clone)]
pub struct PastSealing {
    folder: PathBuf,
    has_sealed: fn(&Path) -> bool,
}

impl PartialEq for PastSealing {
    fn eq(&self, other: &Self) -> bool {
        self.folder == other.folder
    }
}

impl Eq for PastSealing {}

/// What is known of earlier keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EarlierKeys {
    /// These sealed something.
    Named(Vec<KeyName>),
    /// Something was sealed before names were kept.
    Unnamed,
}

impl PastSealing {
    /// The names are kept in `folder`. Where there is none yet, `has_sealed` says of the directory around it whether something in it is sealed:
    /// earlier versions kept no names.
    pub fn new(folder: PathBuf, has_sealed: fn(&Path) -> bool) -> Self {
        Self { folder, has_sealed }
    }

    /// Keeps the name of a key that is about to seal.
    pub(crate) fn keep(&self, name: &KeyName) -> Result<(), VaultError> {
        let path = self.folder.join(name.as_str());
        if path.exists() {
            return Ok(());
        }
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .and_then(|()| {
                OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path)
            })
            .and_then(|file| file.sync_all())
            .map_err(VaultError::file(&path))
    }

    /// The keys that sealed something here.
    pub(crate) fn earlier(&self) -> Result<EarlierKeys, VaultError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let around = self.folder.parent().unwrap_or(&self.folder);
                let is_sealed = (self.has_sealed)(around);
                return Ok(if is_sealed { EarlierKeys::Unnamed } else { EarlierKeys::Named(Vec::new()) });
            }
            Err(error) => return Err(VaultError::file(&self.folder)(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(VaultError::file(&self.folder))?;
            names.extend(entry.file_name().to_str().and_then(KeyName::of_digits));
        }
        names.sort();
        Ok(EarlierKeys::Named(names))
    }

    /// Whether names are kept: something was sealed here. It costs one look at the folder.
    pub(crate) fn is_known(&self) -> bool {
        self.folder.is_dir()
    }
}
