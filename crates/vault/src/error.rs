//! What can go wrong with keys and sealed values.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::key::KeyName;

/// Why a value is not sealed, or not opened.
#[derive(Debug, Clone, thiserror::Error)]
pub enum VaultError {
    /// The key is not where keys are.
    #[error("the key `{0}` of the records is not here")]
    Missing(KeyName),
    /// Keys sealed something here, and neither they nor one that seals now are where keys are.
    #[error("{names} of the records and snapshots in `{}` {} gone: what was sealed cannot be read, and nothing new is sealed", folder.display(), names.verb())]
    Lost {
        /// Where they were.
        folder: PathBuf,
        /// Which, as far as that is known.
        names: LostKeys,
    },
    /// The key is in the keyring, and nobody took it out since the user logged in.
    #[error("the key `{0}` of the records is in the keyring of the system, and not taken out yet")]
    Locked(KeyName),
    /// Others can read the key, so it protects nothing.
    #[error("others can read `{}`, so the key in it is not used", .0.display())]
    Exposed(PathBuf),
    /// It is not what was sealed, or not where it was.
    #[error("a sealed value is not what was written")]
    Altered,
    /// Nobody said where keys are.
    #[error("no folder for keys is known")]
    NoFolder,
    /// A file of the keys cannot be used.
    #[error("`{}` cannot be used: {cause}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why, in the words of the system.
        cause: String,
    },
}

/// The names of keys that are gone; empty where they are not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostKeys(pub Vec<KeyName>);

impl LostKeys {
    fn verb(&self) -> &'static str {
        if self.0.len() > 1 { "are" } else { "is" }
    }
}

impl fmt::Display for LostKeys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [] => formatter.write_str("the key"),
            [name] => write!(formatter, "the key `{name}`"),
            [name, more @ ..] => write!(formatter, "the key `{name}` and {} more", more.len()),
        }
    }
}

impl VaultError {
    /// What the user can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Missing(_) => {
                "put the key back from your copy, or make another with `checkrein audit key rotate`; what the lost one sealed stays unreadable"
            }
            Self::Lost { .. } => {
                "put the folder back from your copy; `checkrein audit verify` still checks the chains without it, and `checkrein audit key rotate` starts anew with a new key: what the lost one sealed stays unreadable"
            }
            Self::Locked(_) => "run `checkrein audit key unlock` once after you log in",
            Self::Exposed(_) => {
                "`chmod 600` it; should somebody have read it, run `checkrein audit key rotate` too"
            }
            Self::Altered => "run `checkrein audit verify`",
            Self::NoFolder | Self::File { .. } => {
                "`checkrein audit key list` shows the keys and where they are"
            }
        }
    }

    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::File { path, cause: error.to_string() }
    }
}
