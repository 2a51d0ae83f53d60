//! A merge that is under way: written down before the first file changes, so that whoever is killed meanwhile leaves what the next one takes
//! back.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use checkrein_supervise::runs::file::{read, replace};
use checkrein_supervise::runs::{RunError, RunErrorKind};

const RECORD: &str = "merging.json";

/// How far a merge is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeProgress {
    /// Files are being changed: some may be and others not.
    Begun,
    /// All are; the worktree is about to go.
    Done,
}

/// A merge that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merging {
    /// How far it is.
    pub progress: MergeProgress,
    /// The snapshot of what it changes; `None` when it changes nothing, or nothing more.
    pub snapshot: Option<u64>,
}

impl Merging {
    /// One that is about to change what is saved.
    pub fn begun(snapshot: Option<u64>) -> Self {
        Self { progress: MergeProgress::Begun, snapshot }
    }

    /// One that has changed everything.
    pub fn done() -> Self {
        Self { progress: MergeProgress::Done, snapshot: None }
    }

    /// The one that is written down in the folder of a worktree; `None` when there is none.
    pub fn load(record: &Path) -> Result<Option<Self>, RunError> {
        let Some(bytes) = read(&record.join(RECORD))? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            RunError::new(
                RunErrorKind::Damaged,
                format!("what is known of a merge that was cut off cannot be read: {error}"),
                "`checkrein snapshot list` lists what was saved before it",
            )
        })
    }

    /// Writes it down.
    pub fn save(&self, record: &Path) -> Result<(), RunError> {
        let path = record.join(RECORD);
        let bytes = serde_json::to_vec(self)
            .map_err(|error| RunError::file("write", &path)(std::io::Error::other(error)))?;
        replace(&path, &bytes)
    }

    /// Nothing is under way any more.
    pub fn forget(record: &Path) -> Result<(), RunError> {
        let path = record.join(RECORD);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(RunError::file("remove", &path)(error))
            }
            _ => Ok(()),
        }
    }
}
