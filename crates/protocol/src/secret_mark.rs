//! Places that hold secrets because an action of the session put them there.

use serde::{Deserialize, Serialize};

use crate::AbsolutePath;

/// What an action changed about a place that holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretMark {
    /// The file, archive or repository.
    pub place: AbsolutePath,
    /// Where the secret came from: the path of a file, `$NAME` of a variable, `$*` of all of them; `None` when the place holds none any more.
    pub secret: Option<String>,
    /// How the place holds it.
    pub holder: SecretHolder,
}

/// How a place holds a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretHolder {
    /// As its content.
    File,
    /// As a member of an archive.
    Archive,
    /// In the store of objects of a repository.
    Repository,
}
