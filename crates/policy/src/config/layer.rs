//! The layers of settings: their order, where each comes from, and the hash by which a user trusts one.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The layers, weakest first (design 11). What is built in lies below all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    /// What an organisation installs on the machine.
    Managed,
    /// What the user set for all projects.
    User,
    /// What came with the project: may tighten only.
    Project,
    /// Variables of the environment in which the guard was started.
    Environment,
    /// Flags of the command line.
    Flags,
}

/// One source of settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Its place in the order.
    pub kind: LayerKind,
    /// Where its settings come from.
    pub source: ConfigSource,
}

/// Where settings come from.
#[derive(Debug, Clone, PartialEq)]
pub enum ConfigSource {
    /// A configuration file.
    File {
        /// The file as messages should name it.
        name: String,
        /// Its text.
        text: String,
    },
    /// A file with a list of custom rules (`step_reviewer.rules.custom_rules_path`).
    Rules {
        /// The file as messages should name it.
        name: String,
        /// Its text.
        text: String,
    },
    /// A file with a blueprint (`governance.blueprints`). It counts last, and only makes things stricter.
    Blueprint {
        /// The file as messages should name it.
        name: String,
        /// Its text.
        text: String,
    },
    /// The variables of an environment; those that set nothing are passed over.
    Variables(Arc<BTreeMap<String, String>>),
    /// Settings by path, such as `step_reviewer.risk.high_threshold`, with their values as text.
    Flags(Vec<(String, String)>),
}

/// The SHA-256 of the text of a file, by which a user trusts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileHash(pub [u8; 32]);

impl FileHash {
    /// The hash of a text.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }
}
