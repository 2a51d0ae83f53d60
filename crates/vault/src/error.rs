//! What can go wrong with keys and sealed values.

use std::path::{Path, PathBuf};

use crate::key::KeyName;

/// Why a value is not sealed, or not opened.
#[derive(Debug, Clone, thiserror::Error)]
pub enum VaultError {
    /// The key is not where keys are.
    #[error("the key `{0}` of the records is not here")]
    Missing(KeyName),
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

impl VaultError {
    /// What the user can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Missing(_) => {
                "put the key back from your copy, or make another with `checkrein audit key rotate`; what the lost one sealed stays unreadable"
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
